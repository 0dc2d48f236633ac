#include "search/moves/streams.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/analysis/queries.h"
#include "core/library/inspection.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

constexpr double kShareOfLast = 4;  // of the last cache: a part of it is others'
// Elements from one access to the next: parts of a number, colours.
constexpr int64_t kSideBySide = 4;

struct LongPass {
  Path loop;
  int64_t extent = 0;
  int64_t bytes = 1;  // that an iteration goes on by, the most of an array
  bool rows = false;  // there are loops inside
  bool sums = false;  // what it writes stays
};

// A long pass over memory: all that moves goes on by an element, or a few, or by short rows where
// there are loops inside, and the caches do not hold it.
std::optional<LongPass> pass_of(const Outline& o, int loop, int64_t last_cache, int64_t page) {
  const OutlineLoop& l = o.loops[static_cast<size_t>(loop)];
  if (l.parent >= 0 || !l.extent || as_int(l.lo) != 0) return std::nullopt;
  LongPass out{l.path, *l.extent};
  out.rows = !l.children.empty();
  std::set<Sym> seen;
  double bytes = 0;
  for (const OutlineAccess& a : o.accesses) {
    if (a.loops.empty() || a.loops.front() != loop) continue;
    const std::optional<int64_t> step = o.stride(a, loop);
    const int64_t element = bytes_of(a.scalar);
    if (!step || *step < 0 || *step > (out.rows ? page / element : kSideBySide))
      return std::nullopt;
    if (*step == 0) continue;
    out.bytes = std::max(out.bytes, element * *step);
    if (seen.insert(a.what.buffer).second)
      bytes += static_cast<double>(element * *step) * static_cast<double>(*l.extent);
  }
  if (kShareOfLast * bytes < static_cast<double>(last_cache)) return std::nullopt;
  const LoopRole role = role_of(o, loop);
  out.sums = role == LoopRole::kReduction;
  if (role == LoopRole::kRecurrence || (out.rows && role != LoopRole::kParallel))
    return std::nullopt;
  return out;
}

// Iterations of each of so many parts: they begin a part of a page, and a line, behind one another.
std::optional<int64_t> length_of_part(const LongPass& pass, int64_t parts, int64_t page,
                                      int64_t line) {
  const int64_t whole = std::max<int64_t>(1, page / pass.bytes),
                behind = (page / parts + line) / pass.bytes;
  const int64_t part = (pass.extent / parts - behind) / whole * whole + behind;
  // What is left over is some pages, and no part.
  return part > 2 * parts * whole ? std::optional(part) : std::nullopt;
}

bool divide(Schedule& s, const LongPass& pass, int64_t part) {
  const std::string name = stmt_at(*s.proc, pass.loop)->as<For>()->iter.name();
  const auto loop = [&] { return Value(Cursor::stmt(s.proc, pass.loop)); };
  if (apply(s, "divide_loop",
            {loop(), Value(part), Value::strings({name + "s", name}), Value("cut")}))
    return false;
  // Rows in turn, streams inside, each with a sum of its own.
  if ((pass.rows || pass.sums) && apply(s, "reorder_loops", {loop()})) return false;
  return !pass.sums ||
         !apply(s, "parallelize_reduction", {loop(), Value(name + "_sums"), Value(dram_stack())});
}

}  // namespace

std::vector<Schedule> in_streams(const Schedule& s, const std::map<std::string, int64_t>& sizes,
                                 const NearestCaches& caches, int64_t page) {
  std::vector<Schedule> out;
  if (caches.last == 0 || page <= 0) return out;
  const Outline o = outline_of(*s.proc, sizes);
  for (const int64_t parts : {4, 8, 2}) {
    Schedule made = s;
    // The last first: places in front of it stay.
    for (int k = static_cast<int>(o.loops.size()) - 1; k >= 0; --k) {
      const std::optional<LongPass> pass = pass_of(o, k, caches.last, page);
      const std::optional<int64_t> part =
          pass ? length_of_part(*pass, parts, page, caches.line) : std::nullopt;
      Schedule tried = made;
      if (part && divide(tried, *pass, *part)) made = std::move(tried);
    }
    if (made.steps.size() > s.steps.size()) out.push_back(std::move(made));
  }
  return out;
}

}  // namespace exotune
