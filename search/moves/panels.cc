#include "search/moves/panels.h"

#include <algorithm>
#include <set>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "search/moves/parts.h"
#include "search/moves/triangle_blocks.h"
#include "search/nest.h"
#include "search/outline/outline.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

constexpr int64_t kVectorsOfATile = 2;   // that a panel's terms are wide, at least
constexpr int64_t kVectorsOfAWidth = 6;  // a strip is a multiple: tiles of two and three fit it

std::optional<int64_t> extent_from_zero(const For& f) {
  return as_int(f.lo) == 0 ? as_int(f.hi) : std::nullopt;
}

Path nested_in(Path loop, int depth) {
  for (int d = 0; d < depth; ++d) loop.push_back({Child::kBody, 0});
  return loop;
}

Path child_of(Path block, int k) {
  block.push_back({Child::kBody, k});
  return block;
}

const For& loop_at(const ProcPtr& p, const Path& path) { return *stmt_at(*p, path)->as<For>(); }

bool follows_any(const ExprPtr& e, const std::vector<int>& loops, const Outline& o, Sym but) {
  return std::any_of(loops.begin(), loops.end(), [&](int l) {
    const Sym iter = o.loops[static_cast<size_t>(l)].iter;
    return iter != but && mentions(e, iter);
  });
}

// What a nest reads: all of it in bytes, and in how many arrays elements lie side by side along
// other loops than the sum's.
struct Reading {
  double bytes = 0;
  int64_t vectored = 0;
  int64_t element = 8;
};
Reading reading_of(const Outline& o, Sym sum) {
  Reading out;
  std::set<Sym> seen, vectored;
  for (const OutlineAccess& a : o.accesses) {
    if (a.writes() || a.what.idx.empty()) continue;
    out.element = bytes_of(a.scalar);
    if (!mentions(a.what.idx.back(), sum) && follows_any(a.what.idx.back(), a.loops, o, sum))
      vectored.insert(a.what.buffer);
    if (!seen.insert(a.what.buffer).second) continue;
    for (const OutlineBuffer& b : o.buffers)
      if (b.name == a.what.buffer)
        out.bytes += b.elements * static_cast<double>(bytes_of(a.scalar));
  }
  out.vectored = static_cast<int64_t>(vectored.size());
  return out;
}

// Does everything in the nest add to something, and none of the places move with the loop?
bool is_summed(const Outline& o, Sym iter) {
  return std::all_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& a) {
    if (!a.writes()) return true;
    return a.what.kind == Access::Kind::kReduceAdd &&
           std::none_of(a.what.idx.begin(), a.what.idx.end(),
                        [&](const ExprPtr& e) { return mentions(e, iter); });
  });
}

// A loop of a nest's band that all it writes lies side by side along.
struct ColumnLoop {
  int depth = 0;
  int64_t extent = 0;
};
std::vector<ColumnLoop> column_loops_of(const ProcPtr& p, const Path& nest) {
  std::vector<ColumnLoop> out;
  const std::vector<Access> accesses = accesses_of(*p, nest, 1);
  int depth = 0;
  for (const For* f = stmt_at(*p, nest)->as<For>(); f; f = only_loop_in(*f), ++depth) {
    const std::optional<int64_t> extent = extent_from_zero(*f);
    const bool along =
        extent && std::all_of(accesses.begin(), accesses.end(), [&](const Access& a) {
          return a.kind == Access::Kind::kRead ||
                 (!a.idx.empty() && mentions(a.idx.back(), f->iter));
        });
    if (along) out.push_back({depth, *extent});
  }
  return out;
}

// One recurrence on its way into strips.
class Strips {
 public:
  Strips(const Schedule& s, Path rows, const NearestCaches& caches, int64_t lanes)
      : s_(s), rows_(std::move(rows)), caches_(caches), lanes_(lanes) {}

  // False: there are no common columns, too few of them, or a step was refused.
  bool run() {
    const std::optional<int64_t> width = find_columns();
    return width && columns_outside() && cut(*width) && columns_inside();
  }
  Schedule take() { return std::move(s_); }

 private:
  bool step(const std::string& op, ValueList args) { return !apply(s_, op, std::move(args)); }
  Value at(const Path& path) const { return Value(Cursor::stmt(s_.proc, path)); }

  // The columns that all nests of the rows have, and how many of them make a strip.
  std::optional<int64_t> find_columns() {
    const For& rows = loop_at(s_.proc, rows_);
    const std::optional<int64_t> extent = extent_from_zero(rows);
    if (!extent) return std::nullopt;
    for (int n = 0; n < static_cast<int>(rows.body.size()); ++n) {
      const std::vector<ColumnLoop> loops = column_loops_of(s_.proc, child_of(rows_, n));
      const auto fits = [&](const ColumnLoop& c) { return n == 0 || c.extent == columns_; };
      const auto found = std::find_if(loops.begin(), loops.end(), fits);
      if (found == loops.end()) return std::nullopt;
      columns_ = found->extent;
      depths_.push_back(found->depth);
    }
    int64_t element = 8;
    for (const OutlineAccess& a : outline_of(*s_.proc).accesses)
      if (a.writes()) element = bytes_of(a.scalar);
    const int64_t column = *extent * element, unit = kVectorsOfAWidth * lanes_;
    if (column * columns_ <= caches_.second) return std::nullopt;
    const int64_t width = std::max<int64_t>(1, caches_.second / column / unit) * unit;
    if (columns_ < 2 * width) return std::nullopt;
    return width;
  }

  // for i: { .. for j: a ; for j: b }  ->  for i: for j: { a ; b }
  bool columns_outside() {
    for (int n = 0; n < static_cast<int>(depths_.size()); ++n) {
      for (int d = depths_[static_cast<size_t>(n)]; d > 0; --d)
        if (!step("reorder_loops", {at(nested_in(child_of(rows_, n), d - 1))})) return false;
      statements_.push_back(static_cast<int>(loop_at(s_.proc, child_of(rows_, n)).body.size()));
    }
    for (size_t n = 1; n < depths_.size(); ++n)
      if (!step("fuse", {at(child_of(rows_, 0)), at(child_of(rows_, 1))})) return false;
    return true;
  }

  // for i: for j: s  ->  for jo: for i: for j: s, the strip in a buffer where that is possible.
  bool cut(int64_t width) {
    const For &rows = loop_at(s_.proc, rows_), &columns = loop_at(s_.proc, child_of(rows_, 0));
    const std::string i = rows.iter.name(), j = columns.iter.name();
    const std::vector<Access> accesses = accesses_of(*s_.proc, rows_, 1);
    const auto written = std::find_if(accesses.begin(), accesses.end(), [](const Access& a) {
      return a.kind != Access::Kind::kRead;
    });
    const std::string array = written == accesses.end() ? "x" : written->buffer.name();
    if (!step("block_loop", {at(child_of(rows_, 0)), Value::ints({equal_parts(columns_, width)}),
                             Value::strings({j + "o", j}), Value(i)}))
      return false;
    rows_ = nested_in(rows_, 1);
    const Cursor loop = Cursor::stmt(s_.proc, rows_);
    if (step("stage_panel", {Value(loop), Value(j), Value(array + "_strip")}))
      rows_ = forward(s_.proc, loop).path();
    return true;
  }

  // for i: for j: { a ; b }  ->  for i: { .. for j: a ; for j: b }
  bool columns_inside() {
    int last = 0;
    for (const int n : statements_) last += n;
    for (size_t n = depths_.size(); n-- > 1;) {
      last -= statements_[n];
      if (!step("fission", {at(child_of(child_of(rows_, 0), last - 1))})) return false;
    }
    for (int n = 0; n < static_cast<int>(depths_.size()); ++n)
      for (int d = 0; d < depths_[static_cast<size_t>(n)]; ++d)
        if (!step("reorder_loops", {at(nested_in(child_of(rows_, n), d))})) return false;
    (void)step("simplify", {});
    return true;
  }

  Schedule s_;
  Path rows_;  // the loop over them
  const NearestCaches& caches_;
  const int64_t lanes_;
  int64_t columns_ = 0;
  std::vector<int> depths_;      // of the columns in each nest of the rows
  std::vector<int> statements_;  // of each nest, in its columns
};

// The outermost loops that may not change their order and hold nothing but loops.
void find_recurrences(const ProcPtr& p, const Block& body, const Path& around,
                      std::vector<Path>& out) {
  for (int k = 0; k < static_cast<int>(body.size()); ++k) {
    const For* f = body[static_cast<size_t>(k)]->as<For>();
    if (!f) continue;
    const Path path = child_of(around, k);
    const bool loops = std::all_of(f->body.begin(), f->body.end(),
                                   [](const StmtPtr& s) { return s->as<For>() != nullptr; });
    if (loops && f->body.size() > 1 && !iterations_commute(*p, path))
      out.push_back(path);
    else
      find_recurrences(p, f->body, path, out);
  }
}

}  // namespace

int64_t equal_parts(int64_t extent, int64_t most) {
  const int64_t fewest = ceil_div(extent, most);
  for (int64_t n = fewest; n <= fewest + fewest / 2; ++n)
    if (extent % n == 0) return extent / n;
  return ceil_div(extent, fewest);
}

int64_t equal_parts_about(int64_t extent, int64_t most) {
  const int64_t parts = equal_parts(extent, most);
  if (extent % parts == 0) return parts;
  const int64_t more = most + most / 4;
  for (int64_t n = ceil_div(extent, more); n * most < extent; ++n)
    if (extent % n == 0) return extent / n;
  return parts;
}

NearestCaches nearest_caches(const std::vector<TargetLevel>& levels) {
  const std::vector<TargetLevel> caches = caches_of(levels);
  NearestCaches out;
  if (caches.empty()) return out;
  out.first = caches[0].bytes;
  out.second = caches.size() < 2 ? 0 : caches[1].bytes;
  out.last = caches.back().bytes;
  out.line = caches[0].line_bytes;
  return out;
}

int64_t strip_of(const NearestCaches& caches) {
  constexpr int64_t kLeast = 64;  // iterations: below it a loop does not get going
  constexpr int64_t kShare = 4;   // of the cache
  return std::max(kLeast, caches.first / kShare / bytes_of(ScalarType::kF64));
}

std::optional<Schedule> sums_in_panels(const Schedule& s,
                                       const std::map<std::string, int64_t>& sizes,
                                       const NearestCaches& caches, int64_t lanes) {
  const std::vector<Cursor> parts = parts_of(s.proc);
  if (parts.size() != 1 || !is_whole(s.proc, parts)) return std::nullopt;
  const Nest nest = inspect_nest(*s.proc);
  if (nest.kind == NestKind::kContraction && nest.rectangular) return std::nullopt;
  const Path band = parts.front().path();
  const Outline o = outline_of(*s.proc, sizes);
  const For* longest = nullptr;
  int depth = 0, at = 0;
  for (const For* f = stmt_at(*s.proc, band)->as<For>(); f; f = only_loop_in(*f), ++depth) {
    const std::optional<int64_t> extent = extent_from_zero(*f);
    if (depth == 0 || !extent || !is_summed(o, f->iter)) continue;
    if (!longest || *extent > *as_int(longest->hi)) longest = f, at = depth;
  }
  if (!longest) return std::nullopt;
  const Reading reading = reading_of(o, longest->iter);
  if (reading.bytes <= static_cast<double>(caches.second)) return std::nullopt;
  const int64_t terms =
      caches.first / 2 /
      (kVectorsOfATile * lanes * reading.element * std::max<int64_t>(1, reading.vectored));
  const int64_t extent = *as_int(longest->hi);
  if (terms == 0 || extent < 2 * terms) return std::nullopt;
  Schedule out = s;
  const std::string k = longest->iter.name();
  if (apply(out, "block_loop",
            {Value(Cursor::stmt(s.proc, nested_in(band, at))),
             Value::ints({equal_parts_about(extent, terms)}), Value::strings({k + "o", k}),
             Value(loop_at(s.proc, band).iter.name())}))
    return std::nullopt;
  return out;
}

std::optional<Schedule> triangle_in_panels(const Schedule& s, const Path& nest,
                                           const std::map<std::string, int64_t>& sizes,
                                           const NearestCaches& caches, int64_t lanes,
                                           int64_t corner_block) {
  const Reading reading = reading_of(outline_of(*s.proc, sizes), Sym());
  const int64_t columns = caches.first / 2 / (kVectorsOfATile * lanes * reading.element);
  if (columns == 0 || reading.bytes <= static_cast<double>(caches.second)) return std::nullopt;
  return triangle_in_blocks(s, nest, columns, corner_block);
}

std::optional<Schedule> recurrence_in_strips(const Schedule& s, const NearestCaches& caches,
                                             int64_t lanes) {
  Schedule out = s;
  std::vector<Path> recurrences;
  find_recurrences(s.proc, s.proc->body, {}, recurrences);
  // The last first: paths of those before it stay.
  for (auto rows = recurrences.rbegin(); rows != recurrences.rend(); ++rows)
    if (Strips strips(out, *rows, caches, lanes); strips.run()) out = strips.take();
  if (out.steps.size() == s.steps.size()) return std::nullopt;
  return out;
}

}  // namespace exotune
