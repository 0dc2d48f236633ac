#include "search/neighbours.h"

#include <map>
#include <optional>
#include <regex>
#include <set>

#include "search/script_lines.h"

namespace exotune {

namespace {

using Lines = std::vector<std::string>;

// "p = block_loop(p, 'k', 256, ['ko', 'k'], outside='i')", or with the tiles of what is left:
// "[48, 32, 16]".
struct BlockLine {
  std::string head, loop, tail;
  int64_t size = 0, last = 0;  // the smallest tile; 0: there is one size
  std::string with(int64_t s) const {
    return head + (last > 0 && s > last ? halving(s, last) : std::to_string(s)) + tail;
  }
};

std::optional<BlockLine> block_line(const std::string& line) {
  static const std::regex form(
      R"re((p = block_loop\(p, '(\w+)', )(?:(\d{1,9})|\[(\d{1,9})(?:, \d{1,9})*, (\d{1,9})\])(, .*))re");
  std::smatch m;
  if (!std::regex_match(line, m, form)) return std::nullopt;
  if (m[3].matched) return BlockLine{m[1], m[2], m[6], std::stoll(m[3]), 0};
  return BlockLine{m[1], m[2], m[6], std::stoll(m[4]), std::stoll(m[5])};
}

// "p = register_block(p, 'i', 'j', 'k', 16, AVX512, instrs)", or sum_block: a micro-kernel's loops.
struct KernelLine {
  std::string rows, columns, sum;  // sum "": it takes several
};

std::optional<KernelLine> kernel_line(const std::string& line) {
  static const std::regex form(R"re(.*(register|sum)_block\(p, '(\w+)', '(\w+)'(, '(\w+)')?.*)re");
  std::smatch m;
  if (!std::regex_match(line, m, form)) return std::nullopt;
  return KernelLine{m[2], m[3], m[5]};
}

// "p = divide_loop(p, 'r', 256, ['rb', 'r'], tail='perfect')": tiles that several nests share.
std::optional<BlockLine> division_line(const std::string& line) {
  static const std::regex form(R"re((p = divide_loop\(p, '(\w+)', )(\d{1,9})(, .*))re");
  std::smatch m;
  if (!std::regex_match(line, m, form)) return std::nullopt;
  return BlockLine{m[1], m[2], m[4], std::stoll(m[3])};
}

// "p = pack_operand(p, 'B', 'i', 48, 16, AVX512, instrs)": the strip.
struct PackLine {
  std::string head, buffer, tail;
  int64_t strip = 0;
  std::string with(int64_t s) const { return head + std::to_string(s) + tail; }
};

std::optional<PackLine> pack_line(const std::string& line) {
  static const std::regex form(R"re((p = pack_operand\(p, '(\w+)', '\w+', )(\d{1,9})(, .*))re");
  std::smatch m;
  if (!std::regex_match(line, m, form)) return std::nullopt;
  return PackLine{m[1], m[2], m[4], std::stoll(m[3])};
}

std::optional<size_t> line_with(const Lines& lines, const std::string& text) {
  for (size_t k = 0; k < lines.size(); ++k)
    if (lines[k].find(text) != std::string::npos) return k;
  return std::nullopt;
}

class Walk {
 public:
  Walk(const Lines& lines, const Neighbourhood& where) : lines_(lines), where_(where) {
    columns_.insert(where.vector_loop);
    rows_.insert(where.row_loop);
    for (size_t k = 0; k < lines.size(); ++k)
      if (const auto kernel = kernel_line(lines[k])) {
        if (kernels_.empty()) first_kernel_ = k;
        kernels_.push_back(*kernel);
        columns_.insert(kernel->columns);
        rows_.insert(kernel->rows);
      }
  }

  std::vector<Neighbour> run() {
    for (size_t k = 0; k < lines_.size(); ++k)
      if (const auto block = block_line(lines_[k])) sizes(k, *block);
    for (size_t k = 0; k < lines_.size(); ++k)
      if (const auto tile = division_line(lines_[k]))
        for (const int64_t size : {tile->size / 2, tile->size * 2})
          if (size > 1) {
            Lines changed = lines_;
            changed[k] = tile->with(size);
            add(std::move(changed), Change::kSize);
          }
    for (size_t k = 0; k < lines_.size(); ++k)
      if (pack_line(lines_[k])) {
        Lines without = lines_;
        without.erase(without.begin() + static_cast<long>(k));
        add(std::move(without), Change::kPacking);
      }
    if (!kernels_.empty() && !line_with(lines_, "interleave_loop(")) interleaves();
    if (!kernels_.empty() && !line_with(lines_, "prefetch_ahead(")) prefetches();
    return std::move(out_);
  }

 private:
  void add(Lines lines, Change change) { out_.push_back({std::move(lines), change}); }

  // The last line that blocks a loop makes its register tile.
  bool is_last_of(size_t line, const std::string& loop) const {
    for (size_t k = line + 1; k < lines_.size(); ++k)
      if (const auto block = block_line(lines_[k]); block && block->loop == loop) return false;
    return true;
  }

  void sizes(size_t line, const BlockLine& block) {
    const int64_t s = block.size;
    const bool tile = !kernels_.empty() && is_last_of(line, block.loop);
    std::set<int64_t> sizes;
    const bool columns = columns_.count(block.loop) > 0;
    if (columns) {
      const int64_t lanes = where_.lanes;
      for (const int64_t t : {s - lanes, s + lanes, 2 * s, s / 2}) sizes.insert(t / lanes * lanes);
    } else if (tile && rows_.count(block.loop) > 0) {
      for (const int64_t by : {-4, -3, -2, -1, 1, 2, 3, 4}) sizes.insert(s + by);
    } else {
      for (const int64_t t : {s / 2, s * 3 / 4, s * 3 / 2, s * 2}) sizes.insert(t);
    }
    for (const int64_t size : sizes) {
      if (size < 1 || size == s || (tile && size > where_.registers * where_.lanes)) continue;
      Lines changed = lines_;
      changed[line] = block.with(size);
      // An operand in strips follows the loop that the strips serve.
      if (columns && tile)
        for (const size_t other : packs_for(line, s))
          changed[other] = pack_line(changed[other])->with(size);
      add(std::move(changed), Change::kSize);
    }
  }

  // The lines that pack into strips for the tiles made here: all of them when there is only one
  // kind of tile, else the nearest one before.
  std::vector<size_t> packs_for(size_t line, int64_t strip) const {
    std::vector<size_t> out;
    for (size_t k = 0; k < lines_.size(); ++k)
      if (const auto pack = pack_line(lines_[k]); pack && pack->strip == strip) out.push_back(k);
    if (kernels_.size() < 2) return out;
    std::erase_if(out, [&](size_t k) { return k > line; });
    if (out.size() > 1) out.erase(out.begin(), out.end() - 1);
    return out;
  }

  void interleaves() {
    for (const char* factor : {"2", "4"}) {
      Lines changed = lines_;
      for (const KernelLine& kernel : kernels_)
        if (!kernel.sum.empty())
          changed.push_back("p = interleave_loop(p, '" + kernel.sum + "', " + factor + ")");
      if (changed != lines_) add(std::move(changed), Change::kInterleaving);
    }
  }

  // The loop over a micro-kernel's tiles: what the last blocking of its rows calls the outer loop.
  std::optional<std::string> tiles_of(const std::string& rows) const {
    static const std::regex form(
        R"re(p = block_loop\(p, '(\w+)', (?:\d{1,9}|\[[\d, ]+\]), \['(\w+)'.*)re");
    std::optional<std::string> out;
    std::smatch m;
    for (const std::string& line : lines_)
      if (std::regex_match(line, m, form) && m[1] == rows) out = m[2];
    return out;
  }

  // In front of the first micro-kernel, where operands are still read as they lie.
  void prefetches() {
    spread_prefetches();
    std::vector<std::string> tiles;
    for (const KernelLine& kernel : kernels_)
      if (const auto outer = tiles_of(kernel.rows)) tiles.push_back(*outer);
    std::vector<std::vector<std::string>> choices{tiles};
    if (tiles.size() > 1)
      for (const std::string& one : tiles) choices.push_back({one});
    for (const std::vector<std::string>& choice : choices)
      for (const char* distance : {"1", "2"}) {
        Lines changed = lines_;
        for (const std::string& outer : choice)
          changed.insert(changed.begin() + static_cast<long>(first_kernel_),
                         "p = prefetch_ahead(p, '" + outer + "', distance=" + distance + ")");
        if (!choice.empty()) add(std::move(changed), Change::kPrefetching);
      }
  }

  // The loop over panels of columns in which the operand that line `pack` packs goes by.
  std::optional<std::string> panels_of(const std::string& columns, size_t pack) const {
    static const std::regex form(
        R"re(p = block_loop\(p, '(\w+)', (?:\d{1,9}|\[[\d, ]+\]), \['(\w+)'.*)re");
    std::smatch m;
    for (size_t k = 0; k < pack; ++k)
      if (std::regex_match(lines_[k], m, form) && m[1] == columns) return m[2];
    return std::nullopt;
  }

  // The result's lines asked for while a tile is computed, with the next rows' lines between the
  // terms of the sums and the lines of later rows while strips are packed, and where panels go by
  // with the lines of the next one too; and without these.
  void spread_prefetches() {
    if (kernels_.size() != 1 || line_with(lines_, "prefetch_meanwhile(")) return;
    const KernelLine& kernel = kernels_.front();
    const std::string& line = lines_[first_kernel_];
    if (line.find("register_block(") == std::string::npos || line.back() != ')' ||
        line.find("apart=") != std::string::npos)
      return;
    Lines apart = lines_;
    apart[first_kernel_] = line.substr(0, line.size() - 1) + ", apart=True)";
    if (const auto outer = tiles_of(kernel.rows)) {
      Lines all = apart;
      all.insert(all.begin() + static_cast<long>(first_kernel_) + 1,
                 "p = prefetch_meanwhile(p, '" + *outer + "', '" + kernel.sum + "')");
      Lines panels;
      for (size_t k = first_kernel_; k-- > 0;)
        if (const auto pack = pack_line(lines_[k])) {
          const auto asks = [&](const std::string& loop) {
            return "p = prefetch_meanwhile(p, '" + loop + "', '" + kernel.sum + "', '" +
                   pack->buffer + "', locality=2)";
          };
          if (const auto panel = panels_of(kernel.columns, k)) panels.push_back(asks(*panel));
          all.insert(all.begin() + static_cast<long>(k) + 1,
                     "p = prefetch_ahead(p, 'i0', '" + pack->buffer + "', distance=8)");
        }
      if (!panels.empty()) {
        Lines both = all;
        const auto last = line_with(both, "prefetch_meanwhile(");
        both.insert(both.begin() + static_cast<long>(*last) + 1, panels.begin(), panels.end());
        add(std::move(both), Change::kPrefetching);
      }
      add(std::move(all), Change::kPrefetching);
    }
    add(std::move(apart), Change::kPrefetching);
  }

  const Lines& lines_;
  const Neighbourhood& where_;
  std::set<std::string> columns_, rows_;  // of the micro-kernels
  std::vector<KernelLine> kernels_;
  size_t first_kernel_ = 0;  // its line
  std::vector<Neighbour> out_;
};

}  // namespace

std::vector<Neighbour> neighbours_of(const std::vector<std::string>& lines,
                                     const Neighbourhood& where) {
  return Walk(lines, where).run();
}

std::vector<std::string> with_open_ends(std::vector<std::string> lines, int64_t lanes) {
  std::map<std::string, int64_t> smallest;  // tile of a micro-kernel's loop
  for (size_t k = lines.size(); k-- > 0;) {
    if (const auto kernel = kernel_line(lines[k])) {
      smallest[kernel->rows] = 1;
      smallest[kernel->columns] = lanes;
    }
    const auto block = block_line(lines[k]);
    if (!block || !smallest.count(block->loop)) continue;
    // The last line that blocks a loop makes its register tile.
    const int64_t last = smallest[block->loop];
    smallest.erase(block->loop);
    if (block->last == 0 && block->size > last) {
      BlockLine open = *block;
      open.last = last;
      lines[k] = open.with(block->size);
    }
  }
  return lines;
}

}  // namespace exotune
