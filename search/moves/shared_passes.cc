#include "search/moves/shared_passes.h"

#include <algorithm>
#include <set>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "search/moves/loop_order.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

using LoopNames = std::vector<std::string>;

Path top(int k) { return {{Child::kBody, k}}; }

// The loops of the access by its dimensions, where each dimension is one loop and each loop one
// dimension; else nothing.
std::optional<LoopNames> loops_by_dimension(const Outline& o, const OutlineAccess& a) {
  if (a.what.idx.size() != a.loops.size()) return std::nullopt;
  LoopNames out;
  std::set<int> met;
  for (const ExprPtr& index : a.what.idx) {
    const std::optional<Affine> form = affine(index);
    if (!form) return std::nullopt;
    int along = -1;
    for (const int l : a.loops) {
      const int64_t step = form->coeff_of(o.loops[static_cast<size_t>(l)].iter);
      if (step == 0) continue;
      if (step != 1 || along >= 0) return std::nullopt;
      along = l;
    }
    if (along < 0 || !met.insert(along).second) return std::nullopt;
    out.push_back(o.loops[static_cast<size_t>(along)].iter.name());
  }
  return out;
}

// Two nests and the array that both go through.
struct SharedArray {
  LoopNames earlier, later;  // the loops by the array's dimensions
  double elements = 0;
};

std::optional<SharedArray> shared_by(const Outline& o, int earlier, int later) {
  const auto in = [](const OutlineAccess& a, int nest) {
    return is_prefix(top(nest), a.what.stmt);
  };
  std::optional<SharedArray> most;
  for (const OutlineBuffer& b : o.buffers) {
    if (most && most->elements >= b.elements) continue;
    for (const OutlineAccess& a : o.accesses) {
      if (a.what.buffer != b.name || a.what.idx.size() < 2 || !in(a, earlier)) continue;
      const std::optional<LoopNames> first = loops_by_dimension(o, a);
      if (!first) continue;
      for (const OutlineAccess& c : o.accesses) {
        if (c.what.buffer != b.name || !in(c, later)) continue;
        if (const std::optional<LoopNames> second = loops_by_dimension(o, c))
          most = SharedArray{*first, *second, b.elements};
      }
    }
  }
  return most;
}

// The band's loops in this order; false: it has others, or they may not change places.
bool in_order(Schedule& s, int nest, const LoopNames& loops) {
  if (band_depth(*s.proc, top(nest)) != static_cast<int>(loops.size())) return false;
  LoopOrder as_written{s, {}};
  for (int k = 0; k < static_cast<int>(loops.size()); ++k) as_written.order.push_back(k);
  std::optional<LoopOrder> ordered = with_innermost(as_written, top(nest), loops);
  if (!ordered) return false;
  s = std::move(ordered->schedule);
  return true;
}

bool swap_with_next(Schedule& s, int k) {
  return !apply(s, "reorder_stmts", {Value(Cursor::block(s.proc, top(k), 2))});
}

// The later nest right behind the earlier one: what stands between goes in front of both where it
// may, else behind both. `earlier` follows the nest.
bool stand_together(Schedule& s, int& earlier, int later) {
  for (int between = earlier + 1; between < later; ++between) {
    Schedule tried = s;
    int at = between;
    while (at > earlier && swap_with_next(tried, at - 1)) --at;
    if (at > earlier) continue;
    s = std::move(tried);
    ++earlier;
  }
  for (; later > earlier + 1; --later)
    if (!swap_with_next(s, later - 1)) return false;
  return true;
}

// `earlier` follows what the two became.
bool share(Schedule& s, int& earlier, int later) {
  const Outline o = outline_of(*s.proc);
  const std::optional<SharedArray> array = shared_by(o, earlier, later);
  if (!array || !in_order(s, earlier, array->earlier) || !in_order(s, later, array->later) ||
      !stand_together(s, earlier, later))
    return false;
  Path first = top(earlier), second = top(earlier + 1);
  for (size_t level = 0; level < array->earlier.size(); ++level) {
    if (apply(s, "fuse", {Value(Cursor::stmt(s.proc, first)), Value(Cursor::stmt(s.proc, second))}))
      return false;
    // The earlier nest's body stands in front of the one that came in last.
    const int statements = static_cast<int>(body_of(*stmt_at(*s.proc, first)).size());
    second = child(first, statements - 1);
    first = child(first, 0);
  }
  return true;
}

}  // namespace

Schedule share_passes(const Schedule& s) {
  Schedule out = s;
  for (int earlier = 0; earlier < static_cast<int>(out.proc->body.size()); ++earlier)
    for (int later = earlier + 1; later < static_cast<int>(out.proc->body.size());) {
      Schedule tried = out;
      int both = earlier;
      if (!share(tried, both, later)) {
        ++later;
        continue;
      }
      out = std::move(tried);
      earlier = both;
      later = both + 1;
    }
  return out;
}

}  // namespace exotune
