#include "search/neighbours.h"

#include <optional>
#include <regex>
#include <set>

namespace exotune {

namespace {

using Lines = std::vector<std::string>;

// "p = block_loop(p, 'k', 256, ['ko', 'k'], outside='i')"
struct BlockLine {
  std::string head, loop, tail;
  int64_t size = 0;
  std::string with(int64_t s) const { return head + std::to_string(s) + tail; }
};

std::optional<BlockLine> block_line(const std::string& line) {
  static const std::regex form(R"re((p = block_loop\(p, '(\w+)', )(\d{1,9})(, .*))re");
  std::smatch m;
  if (!std::regex_match(line, m, form)) return std::nullopt;
  return BlockLine{m[1], m[2], m[4], std::stoll(m[3])};
}

// "p = pack_operand(p, 'B', 'i', 48, 16, AVX512, instrs)": the strip.
struct PackLine {
  std::string head, tail;
  int64_t strip = 0;
  std::string with(int64_t s) const { return head + std::to_string(s) + tail; }
};

std::optional<PackLine> pack_line(const std::string& line) {
  static const std::regex form(R"re((p = pack_operand\(p, '\w+', '\w+', )(\d{1,9})(, .*))re");
  std::smatch m;
  if (!std::regex_match(line, m, form)) return std::nullopt;
  return PackLine{m[1], m[3], std::stoll(m[2])};
}

std::optional<size_t> line_with(const Lines& lines, const std::string& text) {
  for (size_t k = 0; k < lines.size(); ++k)
    if (lines[k].find(text) != std::string::npos) return k;
  return std::nullopt;
}

class Walk {
 public:
  Walk(const Lines& lines, const Neighbourhood& where) : lines_(lines), where_(where) {
    kernel_ = line_with(lines, "register_block(");
    if (!kernel_) kernel_ = line_with(lines, "sum_block(");
  }

  std::vector<Lines> run() {
    for (size_t k = 0; k < lines_.size(); ++k)
      if (const auto block = block_line(lines_[k])) sizes(k, *block);
    for (size_t k = 0; k < lines_.size(); ++k)
      if (pack_line(lines_[k])) {
        Lines without = lines_;
        without.erase(without.begin() + static_cast<long>(k));
        out_.push_back(std::move(without));
      }
    if (kernel_ && !line_with(lines_, "interleave_loop(")) interleaves();
    return std::move(out_);
  }

 private:
  // The last line that blocks a loop makes its register tile.
  bool is_last_of(size_t line, const std::string& loop) const {
    for (size_t k = line + 1; k < lines_.size(); ++k)
      if (const auto block = block_line(lines_[k]); block && block->loop == loop) return false;
    return true;
  }

  void sizes(size_t line, const BlockLine& block) {
    const int64_t s = block.size;
    const bool tile = kernel_ && is_last_of(line, block.loop);
    std::set<int64_t> sizes;
    if (block.loop == where_.vector_loop) {
      const int64_t lanes = where_.lanes;
      for (const int64_t t : {s - lanes, s + lanes, 2 * s, s / 2}) sizes.insert(t / lanes * lanes);
    } else if (tile && block.loop == where_.row_loop) {
      for (const int64_t by : {-4, -3, -2, -1, 1, 2, 3, 4}) sizes.insert(s + by);
    } else {
      for (const int64_t t : {s / 2, s * 3 / 4, s * 3 / 2, s * 2}) sizes.insert(t);
    }
    for (const int64_t size : sizes) {
      if (size < 1 || size == s || (tile && size > where_.registers * where_.lanes)) continue;
      Lines changed = lines_;
      changed[line] = block.with(size);
      // An operand in strips follows the loop that the strips serve.
      if (block.loop == where_.vector_loop && tile)
        for (std::string& other : changed)
          if (const auto pack = pack_line(other); pack && pack->strip == s)
            other = pack->with(size);
      out_.push_back(std::move(changed));
    }
  }

  void interleaves() {
    static const std::regex form(R"re(.*register_block\(p, '\w+', '\w+', '(\w+)'.*)re");
    std::smatch m;
    if (!std::regex_match(lines_[*kernel_], m, form)) return;
    for (const char* factor : {"2", "4"}) {
      Lines changed = lines_;
      changed.push_back("p = interleave_loop(p, '" + m[1].str() + "', " + factor + ")");
      out_.push_back(std::move(changed));
    }
  }

  const Lines& lines_;
  const Neighbourhood& where_;
  std::optional<size_t> kernel_;
  std::vector<Lines> out_;
};

}  // namespace

std::vector<std::vector<std::string>> neighbours_of(const std::vector<std::string>& lines,
                                                    const Neighbourhood& where) {
  return Walk(lines, where).run();
}

}  // namespace exotune
