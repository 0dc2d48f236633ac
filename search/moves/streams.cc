#include "search/moves/streams.h"

#include <optional>
#include <set>

#include "core/analysis/queries.h"
#include "core/library/inspection.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

constexpr int64_t kSideBySide =
    4;  // elements from one access to the next: parts of a number, colours

struct LongPass {
  Path loop;
  int64_t extent = 0;
  int64_t element = 8;  // bytes that an iteration goes on by, the fewest of an array
  bool sums = false;    // what it writes stays
};

// A long pass over memory: all that moves goes on by an element, or a few, and no cache holds it.
std::optional<LongPass> pass_of(const Outline& o, int loop, int64_t last_cache) {
  const OutlineLoop& l = o.loops[static_cast<size_t>(loop)];
  if (l.parent >= 0 || !l.children.empty() || !l.extent || as_int(l.lo) != 0) return std::nullopt;
  LongPass out{l.path, *l.extent};
  std::set<Sym> seen;
  double bytes = 0;
  for (const OutlineAccess& a : o.accesses) {
    if (a.loops.empty() || a.loops.back() != loop) continue;
    const std::optional<int64_t> step = o.stride(a, loop);
    if (!step || *step < 0 || *step > kSideBySide) return std::nullopt;
    if (*step == 0) {
      out.sums |= a.writes();
      continue;
    }
    const int64_t element = bytes_of(a.scalar) * *step;
    out.element = std::min(out.element, element);
    if (seen.insert(a.what.buffer).second)
      bytes += static_cast<double>(element) * static_cast<double>(*l.extent);
  }
  if (2 * bytes < static_cast<double>(last_cache) || role_of(o, loop) == LoopRole::kRecurrence)
    return std::nullopt;
  return out;
}

// Elements of each of so many parts: they begin a part of a page, and a line, behind one another.
std::optional<int64_t> elements_of_part(const LongPass& pass, int64_t parts, int64_t page,
                                        int64_t line) {
  const int64_t whole = page / pass.element, behind = (page / parts + line) / pass.element;
  const int64_t part = (pass.extent / parts - behind) / whole * whole + behind;
  // What is left over is some pages, and no part.
  return part > 2 * parts * whole ? std::optional(part) : std::nullopt;
}

bool divide(Schedule& s, const LongPass& pass, int64_t part) {
  const std::string name = stmt_at(*s.proc, pass.loop)->as<For>()->iter.name();
  const Cursor loop = Cursor::stmt(s.proc, pass.loop);
  if (apply(s, "divide_loop",
            {Value(loop), Value(part), Value::strings({name + "s", name}), Value("cut")}))
    return false;
  if (!pass.sums) return true;
  // Streams inside, each with a sum of its own.
  return !apply(s, "reorder_loops", {Value(Cursor::stmt(s.proc, pass.loop))}) &&
         !apply(
             s, "parallelize_reduction",
             {Value(Cursor::stmt(s.proc, pass.loop)), Value(name + "_sums"), Value(dram_stack())});
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
      const std::optional<LongPass> pass = pass_of(o, k, caches.last);
      const std::optional<int64_t> part =
          pass ? elements_of_part(*pass, parts, page, caches.line) : std::nullopt;
      Schedule tried = made;
      if (part && divide(tried, *pass, *part)) made = std::move(tried);
    }
    if (made.steps.size() > s.steps.size()) out.push_back(std::move(made));
  }
  return out;
}

}  // namespace exotune
