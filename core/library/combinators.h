#pragma once
// Strategies: scheduling steps with a place of reference, put together by combinators as in
// ELEVATE. Exo 2 sections 3.4 and 6.3.1. Start at Combinator.
//
//   Combinator hoist = repeat(try_else(seq({fission_after, remove_parent_loop}), reorder_before));
//   p = hoist({p, c}).proc;
//
// A strategy fails by throwing SchedulingError or InvalidCursorError; what it was given is a value
// and stays as it was. Traversals (traversal.h) list places; `reduce` applies a strategy at each.
#include <functional>
#include <string>
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// A program and the place in it that the next step is about. The cursor may be of an older
/// version.
struct Focus {
  ProcPtr proc;
  Cursor cursor;
};
using Combinator = std::function<Focus(const Focus&)>;
using Navigation = std::function<Cursor(const Cursor&)>;
using Traversal = std::function<std::vector<Cursor>(const Cursor&)>;

/// An operator at the focus; the focus stays on what it was on. InvalidCursorError when it is gone.
Combinator apply(std::function<ProcPtr(ProcPtr, const Cursor&)> op);
/// One after the other; fails where the first of them fails.
Combinator seq(std::vector<Combinator> steps);
/// As often as it succeeds and changes something; never fails. At most `limit` times.
Combinator repeat(Combinator step, int limit = 1000);
/// `first`, or where it fails `second`.
Combinator try_else(Combinator first, Combinator second);
/// `step` at every place of the traversal that still exists when its turn comes; places where it
/// fails are left as they are. The focus stays.
Combinator reduce(Combinator step, Traversal places);
/// Moves the focus. Fails where the move leads nowhere.
Combinator nav(Navigation move);
/// `step`, then back to the focus as it was.
Combinator savec(Combinator step);
/// `step` at the place that `move` leads to, then back: savec(seq({nav(move), step})).
Combinator reframe(Navigation move, Combinator step);

}  // namespace exotune
