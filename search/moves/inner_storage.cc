#include "search/moves/inner_storage.h"

#include <set>

#include "search/outline/outline.h"

namespace exotune {

namespace {

// Does nothing but this statement of the body use the buffer? An array: an element already is one.
bool used_by_one_nest(const Outline& o, const OutlineBuffer& b) {
  if (b.argument || b.first < 0 || b.first != b.last) return false;
  for (const OutlineAccess& a : o.accesses)
    if (a.what.buffer == b.name) return !a.what.idx.empty();
  return false;
}

// The array inside the loops around what else the nest writes, the innermost that takes it.
bool store_inside(Schedule& s, const Outline& o, const OutlineBuffer& b) {
  std::set<std::pair<Sym, int>> seen;
  for (const OutlineAccess& a : o.accesses) {
    if (!a.writes() || a.what.buffer == b.name || a.what.stmt.front().index != b.first) continue;
    for (auto loop = a.loops.rbegin(); loop != a.loops.rend(); ++loop) {
      if (!seen.insert({a.what.buffer, *loop}).second) continue;
      const std::string inside = o.loops[static_cast<size_t>(*loop)].iter.name();
      if (!apply(s, "store_at", {b.name.name(), a.what.buffer.name(), inside})) return true;
    }
  }
  return false;
}

}  // namespace

Schedule with_storage_inside(const Schedule& s) {
  Schedule out = s;
  std::set<Sym> tried;
  for (bool again = true; again;) {
    again = false;
    const Outline o = outline_of(*out.proc);
    for (const OutlineBuffer& b : o.buffers)
      if (!again && used_by_one_nest(o, b) && tried.insert(b.name).second)
        again = store_inside(out, o, b);
  }
  return out;
}

}  // namespace exotune
