#pragma once
// Where buffers live: staging with an inferred window, lifting with added dimensions. Made of
// primitives only; the names are Exo 2's. Exo 2 sections 3.2, 6.1; appendix C (Gemmini).
#include <set>
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// What a staging made: cursors of `proc`.
struct Staged {
  ProcPtr proc;
  Cursor alloc;
  Cursor load;  // invalid when nothing is loaded
  Cursor block;
  Cursor store;  // invalid when nothing is stored
};

/// s  ->  t : T[...]; t = x[window]; s[x -> t]; x[window] = t
///
/// stage_mem with the smallest window that holds every access of the block to `buffer`.
/// SchedulingError when that is not a rectangle, or the block does not touch the buffer.
/// Proposed for accelerators: each operand in the memory that instructions take; and for an array
/// that each iteration of a loop makes anew.
Staged auto_stage_mem(ProcPtr p, const Where& block, const std::string& buffer,
                      const std::string& name, bool accum = false);

/// for i in seq(0, c): x : T; s  ->  x : T[c]; for i in seq(0, c): s[x -> x[i]]
///
/// Lifts the allocation as far out as it goes. On the way it gets a dimension for each loop of
/// literal extent whose iterator is in `loops` (all of them when empty), as long as it then has at
/// most `max_size` elements.
ProcPtr autolift_alloc(ProcPtr p, const Where& alloc, const std::set<std::string>& loops,
                       int64_t max_size);

/// for i in seq(0, c): { x : T; x = a; s(x) }
///   ->  x : T[c]; for i in seq(0, c): x[i] = a; for i in seq(0, c): s(x[i])
///
/// Loop distribution with the buffers of an iteration kept apart: each allocation of the body gets
/// a dimension for the loop and stands in front of it, then the loop is split after every statement
/// that allows it. Of several vectors at a time, unrolled, all loads then stand before the first
/// store. Made of expand_dim, lift_alloc and fission, each proved; statements that must stay
/// together do. SchedulingError: the loop's bounds are not literal.
ProcPtr distribute_loop(ProcPtr p, const Where& loop);

/// for i: s1; s2  ->  s1; for i: s2: fission, and each half leaves the loop if it may.
ProcPtr autofission(ProcPtr p, const Cursor& gap, int n_lifts = 1);

/// for i: ...; s; ...  ->  s; for i: ...: moves one statement out in front of the loop around it.
/// SchedulingError when what stands before it is in the way, or the loop may run zero times.
ProcPtr hoist_stmt(ProcPtr p, const Where& stmt);

/// Takes `stmt` out of the `num` nearest loops around it that do not concern it, splitting the
/// loops in between. Without any left it stops.
ProcPtr remove_redundant_loops(ProcPtr p, const Where& stmt, int num);

/// Copies every vector argument (a window of one dimension) whose stride is not known to be 1 into
/// a buffer of its own for the whole procedure, and what is written back at the end: what follows
/// finds unit strides. SchedulingError when there is no such argument.
/// Proposed for few columns: whole vectors collected from several rows.
ProcPtr gather_vectors(ProcPtr p);

}  // namespace exotune
