#include "search/moves/finishes.h"

#include <algorithm>
#include <set>

#include "core/library/level1.h"
#include "core/library/shifted_loads.h"
#include "core/library/transposition.h"
#include "search/moves.h"
#include "search/moves/filters.h"
#include "search/moves/lane_sums.h"
#include "search/moves/outer_vectors.h"
#include "search/moves/stencils.h"
#include "search/moves/strips.h"
#include "search/short_rows.h"

namespace exotune {

namespace {

class Finishing {
 public:
  Finishing(const Outline& o, const Target& target, const std::vector<TargetLevel>& levels,
            const ValueList& instructions)
      : o_(o), target_(target), instructions_(instructions) {
    if (const std::vector<TargetLevel> caches = caches_of(levels); !caches.empty())
      line_bytes_ = caches.front().line_bytes;
    for (const Value& v : instructions) {
      shifts_ = shifts_ || shifts_registers(**v.as<ProcPtr>());
      reverses_ = reverses_ || loads_reversed(**v.as<ProcPtr>());
    }
  }

  std::vector<Finish> run() {
    out_.push_back({"compiled", {}});
    if (!target_.vector_memory) return std::move(out_);
    // Every body of a program is finished in each of these ways, so there are few: what the beam
    // tries for a nest of its own (search/moves.cc) would be tried for each part of each plan.
    for (const int64_t vectors : {1, 2, 4}) along_elements(vectors, false);
    for (const int64_t vectors : {1, 2}) along_elements(vectors, true);
    functions_apart();
    reads_first();
    std::set<std::pair<std::string, std::string>> pairs;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k)
      if (o_.loops[static_cast<size_t>(k)].children.empty() && vectors_run(k))
        if (const int outer = o_.loops[static_cast<size_t>(k)].parent; outer >= 0)
          pairs.emplace(name(outer), name(k));
    for (const auto& [outer, inner] : pairs) {
      for (const int64_t rows : {4, 2, 8}) along_rows(outer, inner, rows, false);
      // What several statements read of a row is loaded once.
      if (statements_in(loop_named(inner)) > 1)
        for (const int64_t rows : {4, 2, 8}) along_rows(outer, inner, rows, true);
      if (sums_along(loop_named(outer), loop_named(inner)))
        for (const int64_t vectors : {4, 8, 2}) by_columns(outer, inner, vectors);
      by_strips(outer, inner);
      over_blocks(outer, inner);
      rows_by_rows(outer, inner);
    }
    std::set<int> written_out;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k) {
      if (over_short_loops(k)) written_out.insert(k);
      along_neighbours(k);
    }
    for (Finish& f : lane_sums_of(o_, target_, instructions_)) out_.push_back(std::move(f));
    for (Finish& f : outer_vectors_of(o_, target_, instructions_, written_out))
      out_.push_back(std::move(f));
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k)
      if (const int outer = o_.loops[static_cast<size_t>(k)].parent;
          outer >= 0 && o_.loops[static_cast<size_t>(k)].children.empty()) {
        turned_over(outer, k);
        if (loop_named(name(k)) == k) windows_of_a_row(outer, k);
      }
    return std::move(out_);
  }

 private:
  const std::string& name(int loop) const {
    return o_.loops[static_cast<size_t>(loop)].iter.name();
  }

  // The precision that the loop's statements work in: the widest of what they touch.
  ScalarType precision(int loop) const {
    ScalarType widest = ScalarType::kF32;
    int bytes = 0;
    for (const OutlineAccess& a : o_.accesses)
      if (std::find(a.loops.begin(), a.loops.end(), loop) != a.loops.end() &&
          bytes_of(a.scalar) > bytes)
        widest = a.scalar, bytes = bytes_of(a.scalar);
    return widest;
  }

  // Everything that moves along the loop lies side by side, forwards or back, and something does.
  // With `apart`, what is read only may lie any number of elements apart (every third byte, a
  // column), and some of it does: whether an instruction has it the step that asks is told.
  bool vectors_run(int loop, bool apart = false) const {
    if (!fills_lanes(o_.loops[static_cast<size_t>(loop)].extent, target_.lanes_of(precision(loop))))
      return false;
    bool some = false, far = false;
    for (const OutlineAccess& a : o_.accesses) {
      if (a.loops.empty() || a.loops.back() != loop) continue;
      const std::optional<int64_t> step = o_.stride(a, loop);
      const bool reversed = reverses_ && step == -1;
      const bool beside = step && (*step == 0 || *step == 1 || reversed);
      if (!step || (!beside && (!apart || a.writes() || *step < 0))) return false;
      some = some || (beside && *step != 0);
      far = far || !beside;
    }
    return some && far == apart;
  }

  // What the inner loop writes stays where it is while the outer one goes on.
  bool sums_along(int outer, int inner) const {
    return std::all_of(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
      return !a.writes() || a.loops.empty() || a.loops.back() != inner || o_.stride(a, outer) == 0;
    });
  }

  // Rows that are short, all of which are added up into the same elements.
  void over_blocks(const std::string& outer, const std::string& inner) {
    constexpr int64_t kShortRow = 8;  // vectors: beside more of them an addition of lanes is little
    const int rows = loop_named(outer), row = loop_named(inner);
    const auto u = unit(row);
    const std::optional<int64_t> extent = o_.loops[static_cast<size_t>(row)].extent;
    if (!u || !extent || !sums_along(rows, row) || !sums_along(row, row)) return;
    const int64_t lanes = target_.lanes_of(precision(row));
    if (*extent < lanes || *extent > kShortRow * lanes) return;
    out_.push_back({"blocks of " + outer + " " + inner,
                    {{"optimize_block_sums", joined({Value(outer), Value(inner)}, *u), {}}}});
  }

  // Sums of rows with rows, C = A B', where both run along the sum: tiles of both, whose results
  // are added up together. For few rows of one of them, which packing the other would not pay for.
  void rows_by_rows(const std::string& inner, const std::string& sum) {
    constexpr int64_t kFewRows = 24;      // more of both are for tiles of vectors of results
    constexpr int64_t kLeastVectors = 2;  // of a row, beside the addition of its lanes
    const int along = loop_named(sum), columns = loop_named(inner);
    const int rows = o_.loops[static_cast<size_t>(columns)].parent;
    const auto u = unit(along);
    if (!u || rows < 0 || !sums_along(along, along)) return;
    const auto extent = [&](int loop) { return o_.loops[static_cast<size_t>(loop)].extent; };
    const int64_t lanes = target_.lanes_of(precision(along));
    if (extent(along).value_or(kLeastVectors * lanes) < kLeastVectors * lanes) return;
    const int64_t m = extent(rows).value_or(kFewRows), n = extent(columns).value_or(kFewRows);
    if (m < 2 || n < 2 || std::min(m, n) > kFewRows || !share_rows(rows, columns, along)) return;
    const int64_t registers = registers_of(target_);
    // The others hold what is added to them: a row's vector each, or one after the other.
    const std::vector<int64_t> results = {registers * 3 / 4, registers / 2};
    std::set<std::pair<int64_t, int64_t>> tiles;
    for (const int64_t most : {int64_t{4}, int64_t{2}, int64_t{8}})
      for (const int64_t held : results) {
        const int64_t height = std::min(m, most), width = std::min(n, held / height);
        if (!tiles.emplace(height, width).second || width < 2) continue;
        const VectorValues values(target_, precision(along), instructions_);
        Finish f{
            "rows by rows=" + std::to_string(height) + "x" + std::to_string(width) + " " + inner,
            {}};
        f.together = true;
        // The few rows stay near, in the inner loop: those of the other factor go by once.
        const ScheduleStep by_rows = block_step(name(rows), halving(height, 1), name(rows) + "o"),
                           by_columns =
                               block_step(inner, halving(width, 1), inner + "o", name(rows));
        f.steps = m > n ? Steps{by_rows, by_columns} : Steps{by_columns, by_rows};
        f.steps.push_back(
            values.step("multiply_rows", {Value(name(rows)), Value(inner), Value(sum)}));
        out_.push_back(std::move(f));
      }
  }
  // y[i] += x[i + k] * h[k], more taps than two vectors have lanes: vectors of results are the rows
  // of a tile, and what lies a vector apart is a window that goes down them. A vector of x, at each
  // offset, is loaded once for all results in whose windows it lies.
  void windows_of_a_row(int row, int sum) {
    constexpr int64_t kOthers = 8;  // registers that hold no results: taps, and what is read
    if (!unit(row) || !slides_along(o_, row, sum)) return;
    const std::string &outer = name(row), &taps = name(sum);
    const VectorValues values(target_, precision(row), instructions_);
    const int64_t lanes = values.lanes(), registers = values.registers();
    const auto count = o_.loops[static_cast<size_t>(sum)].extent;
    if (!count || *count < 2 * lanes || as_int(o_.loops[static_cast<size_t>(sum)].lo) != 0) return;
    int64_t apart = lanes;
    while (apart > 1 && *count % apart != 0) apart /= 2;
    if (4 * apart < lanes) return;
    const bool in_parts = *count > kLongestWindow * apart;
    if (in_parts && *count % (kWindowOfAPart * apart) != 0) return;
    const ScheduleStep part = {"divide_loop",
                               {Value(taps), Value(kWindowOfAPart * apart),
                                Value::strings({taps + "o", taps}), Value("perfect")},
                               {}};
    for (const int64_t height : {registers - kOthers, registers / 2}) {
      Finish f{"windows of a row=" + std::to_string(height) + " " + outer, {}};
      f.together = true;
      f.steps = {{"divide_loop",
                  {Value(outer), Value(lanes), Value::strings({outer + "v", outer}), Value("cut")},
                  {}},
                 {"divide_loop",
                  {Value(taps), Value(apart), Value::strings({taps + "q", taps}), Value("perfect")},
                  {}},
                 block_step(outer + "v", halving(height, 1), outer + "o"),
                 sum_block_step(outer + "v", outer, values, taps + "q")};
      if (in_parts) f.steps.insert(f.steps.begin() + 1, part);
      out_.push_back(std::move(f));
      if (height <= registers / 2) break;
    }
  }
  // Is there what only the one of the two loops moves along the sum, and what only the other does?
  bool share_rows(int rows, int columns, int along) const {
    bool of_rows = false, of_columns = false;
    for (const OutlineAccess& a : o_.accesses) {
      if (a.writes() || a.loops.empty() || a.loops.back() != along || o_.stride(a, along) != 1)
        continue;
      const bool with_rows = o_.stride(a, rows) != 0, with_columns = o_.stride(a, columns) != 0;
      of_rows = of_rows || (with_rows && !with_columns);
      of_columns = of_columns || (with_columns && !with_rows);
    }
    return of_rows && of_columns;
  }

  std::optional<ValueList> unit(int loop) const { return unit_of(precision(loop)); }
  std::optional<ValueList> unit_of(ScalarType precision) const {
    const int lanes = target_.lanes_of(precision);
    if (lanes <= 1) return std::nullopt;
    return ValueList{Value(lanes), Value(target_.vector_memory), Value(instructions_)};
  }
  int loop_named(const std::string& wanted) const {
    for (int k = static_cast<int>(o_.loops.size()) - 1; k >= 0; --k)
      if (name(k) == wanted) return k;
    return -1;
  }

  static ValueList joined(ValueList a, const ValueList& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  // Every innermost loop that vectors may run along, each for itself; with `apart` also those that
  // read across what they go along, if there are any.
  void along_elements(int64_t vectors, bool apart) {
    Finish f{(apart ? "elements apart, vectors=" : "vectors=") + std::to_string(vectors), {}};
    std::set<std::string> done;
    bool some = !apart;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k) {
      if (!o_.loops[static_cast<size_t>(k)].children.empty()) continue;
      const bool reads_apart = apart && vectors_run(k, true);
      if (!reads_apart && !vectors_run(k)) continue;
      if (!done.insert(name(k)).second) continue;
      const auto u = unit(k);
      if (!u) continue;
      some = some || reads_apart;
      f.steps.push_back(
          {"optimize_level_1", joined({Value(name(k))}, joined(*u, {Value(vectors)})), {}});
    }
    if (some && !f.steps.empty()) out_.push_back(std::move(f));
  }

  // Loops that write several arrays read all vectors of an iteration before they write the first;
  // the other loops as ever.
  void reads_first() {
    const size_t read_ahead = static_cast<size_t>(registers_of(target_) / 2);  // vectors
    Finish f{"reads first", {}};
    std::set<std::string> done;
    bool some = false;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k) {
      const auto u = unit(k);
      if (!u || !o_.loops[static_cast<size_t>(k)].children.empty() || !vectors_run(k) ||
          !done.insert(name(k)).second)
        continue;
      std::set<Sym> written, read;
      for (const OutlineAccess& a : o_.accesses) {
        if (a.loops.empty() || a.loops.back() != k || o_.stride(a, k) == 0) continue;
        if (a.writes()) written.insert(a.what.buffer);
        if (a.what.kind != Access::Kind::kWrite) read.insert(a.what.buffer);
      }
      const bool several = written.size() > 1 && !read.empty() && 2 * read.size() <= read_ahead;
      const int64_t vectors = 4 * read.size() <= read_ahead ? 4 : 2;
      f.steps.push_back({several ? "read_then_write" : "optimize_level_1",
                         joined({Value(name(k))}, joined(*u, {Value(several ? vectors : 4)})),
                         {}});
      some = some || several;
    }
    if (some) out_.push_back(std::move(f));
  }

  // Loops of one statement with several functions: each function in a loop of its own over strips.
  void functions_apart() {
    // Long enough that a function's loop gets going, short beside the nearest cache.
    constexpr int64_t kStripVectors = 16;
    Finish f{"functions apart", {}};
    std::set<std::string> done;
    for (int k = 0; k < static_cast<int>(o_.loops.size()); ++k) {
      const auto u = unit(k);
      if (!u || functions_of(k) < 2 || !vectors_run(k) || !done.insert(name(k)).second) continue;
      const int64_t strip = kStripVectors * target_.lanes_of(precision(k));
      f.steps.push_back({"stage_functions", {Value(name(k)), Value(strip)}, {}});
      f.steps.push_back(
          {"optimize_level_1", joined({Value(name(k))}, joined(*u, {Value(int64_t{2})})), {}});
    }
    if (!f.steps.empty()) out_.push_back(std::move(f));
  }
  int functions_of(int loop) const {
    const StmtPtr s = stmt_at(*o_.proc, o_.loops[static_cast<size_t>(loop)].path);
    const Block& body = body_of(*s);
    if (body.size() != 1) return 0;
    if (const Assign* a = body.front()->as<Assign>()) return functions_in(a->rhs);
    if (const Reduce* r = body.front()->as<Reduce>()) return functions_in(r->rhs);
    return 0;
  }

  // Statements that write, in the innermost loop.
  size_t statements_in(int loop) const {
    std::vector<Path> out;
    for (const OutlineAccess& a : o_.accesses)
      if (a.writes() && !a.loops.empty() && a.loops.back() == loop &&
          std::find(out.begin(), out.end(), a.what.stmt) == out.end())
        out.push_back(a.what.stmt);
    return out.size();
  }

  void along_rows(const std::string& outer, const std::string& inner, int64_t rows, bool fused) {
    const auto u = unit(loop_named(inner));
    if (!u) return;
    ValueList values = joined({Value(outer), Value(inner)}, joined(*u, {Value(rows), Value(1)}));
    if (fused) values.push_back(Value(true));
    out_.push_back({"rows=" + std::to_string(rows) + (fused ? " fused " : " ") + outer,
                    {{"optimize_level_2", values, {}}}});
  }

  void by_columns(const std::string& outer, const std::string& inner, int64_t vectors) {
    if (const auto u = unit(loop_named(inner)))
      out_.push_back({"columns=" + std::to_string(vectors) + " " + outer,
                      {{"optimize_columns",
                        joined({Value(outer), Value(inner)}, joined(*u, {Value(vectors)})),
                        {}}}});
  }

  // What all rows read or add to along them, y of A[i, j] += x[i] * y[j], stays in registers a
  // strip at a time while the rows go by; sums that nothing else stands beside are for by_columns.
  void by_strips(const std::string& outer, const std::string& inner) {
    const int rows = loop_named(outer), row = loop_named(inner);
    if (!unit(row)) return;
    const StmtPtr around = stmt_at(*o_.proc, o_.loops[static_cast<size_t>(rows)].path);
    if (sums_along(rows, row) && body_of(*around).size() == 1) return;
    std::set<Sym> shared;
    for (const OutlineAccess& a : o_.accesses)
      if (!a.loops.empty() && a.loops.back() == row && a.what.idx.size() == 1 &&
          o_.stride(a, rows) == 0 && o_.stride(a, row) == 1)
        shared.insert(a.what.buffer);
    if (shared.empty()) return;
    const VectorValues unit(target_, precision(row), instructions_);
    const std::optional<int64_t> extent = o_.loops[static_cast<size_t>(row)].extent;
    for (const int64_t vectors : strips_of(unit, static_cast<int64_t>(shared.size()), extent))
      out_.push_back({"strips=" + std::to_string(vectors) + " " + outer,
                      strip_steps(outer, inner, unit, extent, vectors), true});
  }

  // The loops inside `loop`, outer before inner.
  std::vector<int> inside(int loop) const {
    std::vector<int> out = o_.loops[static_cast<size_t>(loop)].children;
    for (size_t k = 0; k < out.size(); ++k)
      for (const int child : o_.loops[static_cast<size_t>(out[k])].children) out.push_back(child);
    return out;
  }
  // Iterations; nothing when the bounds are no literals or there are many.
  std::optional<int64_t> few_iterations(int loop) const {
    // Loops of taps, of channels of a pixel, of unknowns of a small system.
    constexpr int64_t kFew = 16;
    const OutlineLoop& l = o_.loops[static_cast<size_t>(loop)];
    const std::optional<int64_t> lo = as_int(l.lo), hi = as_int(l.hi);
    return lo && hi && *hi > *lo && *hi - *lo <= kFew ? std::optional(*hi - *lo) : std::nullopt;
  }

  // Short loops (coefficients, channels, taps) inside one that vectors run along: they are
  // unrolled, and what they carry from one to the next stays in registers. False: not here.
  bool over_short_loops(int loop) {
    // Copies of the body at most: what grows beyond is code.
    constexpr int64_t kMostCopies = 64;
    // And accesses: each of them is bound and moved past all others.
    constexpr int64_t kMostUnrolled = 128;
    std::vector<int> inner = inside(loop);
    if (inner.empty()) return false;
    const bool outside = std::any_of(inner.begin(), inner.end(), [&](int k) {
      return std::count_if(o_.loops.begin(), o_.loops.end(),
                           [&](const OutlineLoop& l) { return l.iter.name() == name(k); }) >
             std::count_if(inner.begin(), inner.end(), [&](int i) { return name(i) == name(k); });
    });
    if (outside) return false;
    int64_t most = 1;
    for (const int k : inner) {
      int64_t copies = 1;
      for (int at = k; at != loop; at = o_.loops[static_cast<size_t>(at)].parent) {
        const std::optional<int64_t> n = few_iterations(at);
        copies = n ? copies * *n : kMostCopies + 1;
        if (copies > kMostCopies) return false;
      }
      most = std::max(most, copies);
    }
    if (accesses_unrolled(loop) > kMostUnrolled) return false;
    bool some = false;
    ScalarType widest = ScalarType::kI8;
    for (const OutlineAccess& a : o_.accesses) {
      if (std::find(a.loops.begin(), a.loops.end(), loop) == a.loops.end()) continue;
      const std::optional<int64_t> step = o_.stride(a, loop);
      // Elements a few apart come out of registers beside one another (load_second, ..).
      constexpr int64_t kApart = 4;
      if (!step || *step < 0 || *step > (a.writes() ? 1 : kApart)) return false;
      some = some || *step > 0;
      if (bytes_of(a.scalar) > bytes_of(widest)) widest = a.scalar;
    }
    const auto u = some ? unit_of(widest) : std::nullopt;
    if (!u) return false;
    Steps unrolled;
    for (auto k = inner.rbegin(); k != inner.rend(); ++k)
      unrolled.push_back({"unroll_loop", {Value(name(*k))}, {}});
    const bool sums = holds_array_sums(o_, loop);
    // The unrolled loops already are that many independent statements: few vectors beside them.
    for (const int64_t vectors : {1, 2, 4}) {
      Finish f{"short loops unrolled, vectors=" + std::to_string(vectors), {}};
      if (sums) f.steps.push_back({"keep_sums", {Value(name(loop))}, {}});
      f.steps.insert(f.steps.end(), unrolled.begin(), unrolled.end());
      f.steps.push_back(
          {"optimize_level_1", joined({Value(name(loop))}, joined(*u, {Value(vectors)})), {}});
      out_.push_back(std::move(f));
    }
    const int around = o_.loops[static_cast<size_t>(loop)].parent;
    if (!taps_along(around, loop)) return true;
    // Four rows of one vector or two of two, as the copies leave room for; of long statements
    // fewer, since each copy is asked about beside all others.
    constexpr int64_t kMostAccesses = 4 * kMostCopies;
    const int64_t accesses =
        std::count_if(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
          return std::find(a.loops.begin(), a.loops.end(), loop) != a.loops.end();
        });
    const int64_t room = std::min(kMostCopies, kMostAccesses / std::max<int64_t>(1, accesses));
    const bool four = 4 * most <= room;
    if (four || 2 * most <= room)
      jammed({"short loops unrolled", unrolled}, {{around, four ? 4 : 2}}, loop, four ? 1 : 2,
             shifts_ && taps_along(loop, loop));
    return true;
  }
  // Accesses in the loop once those inside it are unrolled.
  int64_t accesses_unrolled(int loop) const {
    int64_t sum = 0;
    for (const OutlineAccess& a : o_.accesses) {
      const auto from = std::find(a.loops.begin(), a.loops.end(), loop);
      if (from == a.loops.end()) continue;
      int64_t copies = 1;
      for (auto k = from + 1; k != a.loops.end(); ++k) copies *= few_iterations(*k).value_or(1);
      sum += copies;
    }
    return sum;
  }
  // Does a loop inside `loop` go on where `along` goes, so that both come to the same places?
  bool taps_along(int along, int loop) const {
    return along >= 0 &&
           std::any_of(o_.accesses.begin(), o_.accesses.end(), [&](const OutlineAccess& a) {
             const auto from = std::find(a.loops.begin(), a.loops.end(), loop);
             const auto step = o_.stride(a, along);
             return !a.writes() && from != a.loops.end() && step && *step != 0 &&
                    std::any_of(from + 1, a.loops.end(),
                                [&](int k) { return o_.stride(a, k) == step; });
           });
  }

  // Stencils: neighbours in a row come out of registers (shift_loads), and rows that several rows
  // of results read are loaded for all of them (unroll_and_jam).
  void along_neighbours(int loop) {
    if (!o_.loops[static_cast<size_t>(loop)].children.empty() || !vectors_run(loop)) return;
    const Neighbours n = neighbours_along(o_, target_, loop);
    const bool in_row = n.in_row && shifts_;
    // One vector needs two loads in the place of three; of several side by side the next one's
    // first is the last one's second.
    if (in_row)
      for (const int64_t vectors : {1, 4}) jammed({"", {}}, {}, loop, vectors, true);
    // As many registers as two rows of two vectors: more would not stay in them.
    for (const int around : n.across) {
      jammed({"", {}}, {{around, 2}}, loop, 2, in_row);
      jammed({"", {}}, {{around, 4}}, loop, 1, in_row);
    }
    if (n.across.size() > 1)
      jammed({"", {}}, {{*n.across.begin(), 2}, {*n.across.rbegin(), 2}}, loop, 1, in_row);
  }
  // `f` so far, then so many rows of each loop at once and vectors along `loop`.
  void jammed(Finish f, const std::vector<std::pair<int, int64_t>>& rows, int loop, int64_t vectors,
              bool in_row) {
    const auto u = unit(loop);
    if (!u) return;
    if (f.name.empty()) f.name = "vectors=" + std::to_string(vectors);
    for (const auto& [outer, count] : rows) {
      f.name += ", " + std::to_string(count) + " of " + name(outer) + " jammed";
      f.steps.push_back({"unroll_and_jam", {Value(name(outer)), Value(count)}, {}});
    }
    f.steps.push_back(
        {"optimize_level_1", joined({Value(name(loop))}, joined(*u, {Value(vectors)})), {}});
    out_.push_back(in_row ? shifted(std::move(f), loop, vectors) : std::move(f));
  }
  // In the loops that optimize_level_1 makes of several vectors an iteration, and of single ones.
  Finish shifted(Finish f, int loop, int64_t vectors) const {
    f.name += ", shifted";
    for (const char* part : {"o", "v"})
      if (vectors > 1 || part[0] == 'v')
        f.steps.push_back(
            {"shift_loads",
             {Value(name(loop) + part), Value(target_.vector_memory), Value(instructions_)},
             {}});
    return f;
  }

  // A copy that runs along rows of one side and columns of the other: tiles of it in registers,
  // where an instruction transposes.
  void turned_over(int outer, int inner) {
    const OutlineAccess *to = nullptr, *from = nullptr;
    for (const OutlineAccess& a : o_.accesses) {
      if (a.loops.empty() || a.loops.back() != inner) continue;
      const OutlineAccess*& side = a.writes() ? to : from;
      if (side != nullptr) return;
      side = &a;
    }
    if (!to || !from || to->scalar != from->scalar || o_.stride(*to, inner) != 1 ||
        o_.stride(*from, outer) != 1)
      return;
    for (const Value& v : instructions_) {
      const ProcPtr& instr = *v.as<ProcPtr>();
      if (!is_transpose(*instr) || instr->args.front().type.scalar != to->scalar) continue;
      Finish f{"transposed tiles " + name(outer), {{"tile_to_instr", {Value(name(outer)), v}, {}}}};
      out_.push_back(f);
      // Where what is written stays in the nearest cache, whole lines of what is read.
      Finish along = f;
      along.name += ", along what is read";
      along.together = true;
      along.steps.push_back({"reorder_loops", {Value(name(outer) + "o " + name(inner) + "o")}, {}});
      out_.push_back(std::move(along));
      // A line that is used in parts comes again for each, where it does not stay that long.
      // Some caches bring lines in pairs.
      const int64_t line = calls_in_line(*instr);
      for (const int64_t block : {line, 2 * line}) {
        if (block <= 1) continue;
        Finish lines = f;
        lines.name += block == line ? ", whole lines" : ", pairs of lines";
        lines.steps.front().named = {{"block", block}};
        out_.push_back(std::move(lines));
      }
    }
  }
  int64_t calls_in_line(const Proc& transpose) const {
    const Type& type = transpose.args.front().type;
    const std::optional<int64_t> row = as_int(type.shape.back());
    return row ? line_bytes_ / (*row * bytes_of(type.scalar)) : 0;
  }

  const Outline& o_;
  const Target& target_;
  const ValueList& instructions_;
  int64_t line_bytes_ = 0;                  // of the first cache
  bool shifts_ = false, reverses_ = false;  // the target has instructions for it
  std::vector<Finish> out_;
};

}  // namespace

std::vector<Finish> finishes_of(const Outline& o, const Target& target,
                                const std::vector<TargetLevel>& levels,
                                const ValueList& instructions) {
  return Finishing(o, target, levels, instructions).run();
}

}  // namespace exotune
