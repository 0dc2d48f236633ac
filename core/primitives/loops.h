#pragma once
// Loops: divided, interchanged, cut, split, fused, unrolled, run in parallel.
// How to read an entry: core/primitives/primitives.h.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/where.h"

namespace exotune {

/// What a division does with iterations that fill no whole tile.
enum class Tail : uint8_t { kPerfect, kGuard, kCut, kCutAndGuard, kShort };

/// for i in seq(lo, hi): s
///   ->  for io in seq(0, (hi - lo) / q):                          perfect, cut, cut_and_guard
///         for ii in seq(0, q): s[i := lo + q*io + ii]
///       for ii in seq(0, (hi - lo) % q):                          cut; cut_and_guard puts an `if
///         s[i := lo + q*((hi - lo) / q) + ii]                     (hi - lo) % q > 0` around it
///   ->  for io in seq(0, (hi - lo + q - 1) / q):                  guard
///         for ii in seq(0, q):
///           if lo + q*io + ii < hi: s[i := lo + q*io + ii]
///   ->  for io in seq(0, t):                                      short, t = ceil((hi - lo) / q):
///         for ii in seq(0, q - (q*t - (hi - lo)) * (io / (t - 1))):  the last tile is as long as
///           s[i := lo + q*io + ii]                                is left
/// Obligation: perfect: q divides hi - lo; short: hi - lo is a positive literal. The bounds keep
/// their value in the loop; where they read configuration, the places they come to stand in may. A
/// tail that is surely empty is left out; a tail after a loop whose range may be negative gets an
/// `if lo < hi`. Forwarding: the loop becomes the io loop; its statements, those of the main loop.
/// Proposed by the dynamic program, for accelerators and sweeps: the plan's tile, a device's tile,
/// block sizes; neighbours halve and double a size.
[[nodiscard]] ProcPtr divide_loop(ProcPtr p, const Where& loop, int64_t q,
                                  const std::vector<std::string>& names, Tail tail);

/// for i: for j: s  ->  for j: for i: s
/// Triangles too, exactly where their edge says so: for i in seq(lo, hi): for j in seq(l, i + c)
///   ->  for j in seq(l, hi - 1 + c): for i in seq(j - c + 1, hi)        when lo <= l - c + 1
/// likewise for bounds c - i and i / q + c, lower or upper; other affine bounds get the smallest
/// and the largest range of j, and `if` the old bounds hold around s.
/// Obligation: no bound of j but an affine one (or i / q) depends on i; iterations that swap
/// commute; no bound changes in the loops; a `par` loop that comes to stand outside has no race.
/// Forwarding: each loop cursor follows its loop.
/// Proposed for every legal order of a band, and of an accelerator's loops.
[[nodiscard]] ProcPtr reorder_loops(ProcPtr p, const Where& nested);  // "i j", or the outer one

/// `scope` is the only statement in the body (or orelse) of the for or if around it:
/// for i: for j: s                        ->  reorder_loops
/// for i: if e: s else: t                 ->  if e: for i: s else: for i: t
/// if e: for i: s                         ->  for i: if e: s
/// if e: (if f: s else: t) else: u        ->  if f: (if e: s else: u) else: (if e: t else: u)
/// if e: s else: (if f: t else: u)        ->  if f: (if e: s else: t) else: (if e: s else: u)
/// Obligation: an `if` and a loop: the condition is free of the iterator and nothing in the loop
/// changes it; the if around a loop has no orelse. Two ifs: none (conditions have no effects).
/// What is written to configuration stays known.
/// Forwarding: cursors follow their statements; of a branch that is there twice, the body's copy.
/// Proposed where a guard stands between an accelerator's loop and the load of its tile.
[[nodiscard]] ProcPtr lift_scope(ProcPtr p, const Where& scope);

/// for i in seq(lo, hi): s
///   ->  for i in seq(lo, e): s
///       for i in seq(e, hi): s
/// Obligation: lo <= e <= hi; the bounds and e keep their values in the loop.
/// Forwarding: the loop and its statements are those of the first half.
/// Proposed where triangles and sweeps split: at the end of the part that is full.
[[nodiscard]] ProcPtr cut_loop(ProcPtr p, const Where& loop, const ExprPtr& cut_point);
[[nodiscard]] ProcPtr cut_loop(ProcPtr p, const Where& loop, int64_t cut_point);

/// for i in seq(lo, hi): s  ->  for i in seq(e, hi + e - lo): s[i := i + lo - e]
/// Obligation: e >= 0; the bounds and e keep their values in the loop; configuration in them as in
/// divide_loop.
/// Forwarding: every statement stays.
/// Proposed for sweeps that are fused: by the distance that keeps their order.
[[nodiscard]] ProcPtr shift_loop(ProcPtr p, const Where& loop, const ExprPtr& new_lo);

/// for i in seq(lo, n): s  ->  for i in seq(lo, hi): s
/// Obligation: n <= hi is proved; the further iterations are within bounds, race with nothing, and
/// write elements of allocations that nothing reads but further iterations (vector units compute
/// whole registers: the lanes beyond n hold undefined values, and nobody looks). Integers get
/// sums and products of integers only: no divisor that may be zero, nothing out of range converted.
/// Forwarding: everything stays.
[[nodiscard]] ProcPtr extend_loop(ProcPtr p, const Where& loop, const ExprPtr& hi);

/// for i in seq(lo, m): s ; for i in seq(m, hi): s  ->  for i in seq(lo, hi): s
/// Obligation: the loops are neighbours, the bodies equal up to bound names, the first's hi equals
/// the second's lo, lo <= m <= hi, and the first loop changes none of the bounds.
/// Forwarding: the first loop and its statements stay; the second is gone.
[[nodiscard]] ProcPtr join_loops(ProcPtr p, const Where& first, const Where& second);

/// for i: { s1; s2 }            ->  for i: s1 ; for i: s2            (n_lifts times, outwards)
/// if e: { s1; s2 } else: t     ->  if e: s1 else: t ; if e: s2
/// if e: s else: { t1; t2 }     ->  if e: s else: t1 ; if e: pass else: t2
/// Obligation: loops: s2 of an iteration commutes with s1 of every later one, and no bound changes;
/// ifs: what runs first does not change e, and configuration stays known. Nothing that s1 allocates
/// or windows is used in s2. Forwarding: the scope stays the first of the two; the statements after
/// the gap move to the second.
/// Proposed where a body holds several statements, if that lets one of them be vectors.
[[nodiscard]] ProcPtr fission(ProcPtr p, const Cursor& gap, int n_lifts = 1);

/// for i in r: s1 ; for j in r: s2           ->  for i in r: { s1; s2[j := i] }
/// if e: s1 else: t1 ; if e: s2 else: t2     ->  if e: { s1; s2 } else: { t1; t2 }
/// Obligation: the two are neighbours; the ranges (the conditions) are equal and unchanged by the
/// first; each iteration of s2 commutes with every later one of s1, or s1 only computes: from what
/// neither changes, one value per element however often, and in each iteration all that s2 reads.
/// Forwarding: the first scope stays and takes in the second's statements; the second is gone.
/// Proposed for neighbouring loops of equal bounds, and sweeps after a shift.
[[nodiscard]] ProcPtr fuse(ProcPtr p, const Where& first, const Where& second);

/// for i in seq(lo, hi): s  ->  s[i := lo]                     when lo < hi is proved
///                          ->  if lo < hi: s[i := lo]         otherwise
/// Obligation: hi <= lo + 1, and s does not change what lo reads; or s is free of i and running it
/// again right after itself changes nothing.
/// Forwarding: the statements stay; the loop is gone (or has become the if).
/// Proposed around what an accelerator does once for all iterations; for the one vector that is
/// left over.
[[nodiscard]] ProcPtr remove_loop(ProcPtr p, const Where& loop);

/// for i in seq(a, b): s  ->  s[i := a]; s[i := a + 1]; ...; s[i := b - 1]       (pass when a >= b)
/// Obligation: a and b are literals.
/// Forwarding: the statements are those of the first iteration; the loop is gone.
/// Proposed for short loops around what becomes vectors, of known length.
[[nodiscard]] ProcPtr unroll_loop(ProcPtr p, const Where& loop);

/// for i in seq(lo, hi): s  ->  for i in par(lo, hi): s
/// Obligation: no two iterations touch one location unless both read (sums: parallelize_reduction).
/// Forwarding: everything stays.
/// Proposed with --threads: the outermost loops of a program that are free of races.
[[nodiscard]] ProcPtr parallelize_loop(ProcPtr p, const Where& loop);

/// for i in seq(lo, hi): for j in seq(l, l + c): s
///   ->  for k in seq(0, c*(hi - lo)): s[i := lo + k / c, j := l + k % c]
/// Obligation: c is a positive literal, l is free of i, bounds keep their values as in divide_loop.
/// Forwarding: the outer loop becomes the new one, the statements stay; the inner loop is gone.
/// Proposed for an accelerator's rows and columns of results that are gathered as one loop.
[[nodiscard]] ProcPtr mult_loops(ProcPtr p, const Where& nested, const std::string& name);

/// s  ->  for name in seq(0, hi): s                   guard = false
///    ->  for name in seq(0, hi): if name == 0: s     guard = true
/// Obligation: hi > 0 is proved; without the guard, hi is 1 or s is idempotent. Nothing that s
/// allocates is used after it. What s writes to configuration stays known.
/// Forwarding: the statements stay, inside.
[[nodiscard]] ProcPtr add_loop(ProcPtr p, const Where& block, const std::string& name,
                               const ExprPtr& hi, bool guard);

/// for i in seq(lo, hi): s
///   ->  for io in seq(0, n):
///         for ii in seq(0, q + (hi - lo) - n*q): s[i := lo + q*io + ii]
/// Obligation: n*q <= hi - lo, and n >= 1 unless the loop is empty; every iteration that runs again
/// writes the same values again, whatever ran in between; configuration in the bounds as in
/// divide_loop. A `par` loop becomes sequential (two outer iterations write one location).
/// Forwarding: the loop becomes the io loop; its statements stay inside.
[[nodiscard]] ProcPtr divide_with_recompute(ProcPtr p, const Where& loop, const ExprPtr& n,
                                            int64_t q, const std::vector<std::string>& names);

/// for i in seq(lo, hi): s  ->  for name in seq(lo, hi): s[i := name]
/// Obligation: none.
/// Forwarding: everything stays.
[[nodiscard]] ProcPtr rename_loop(ProcPtr p, const Where& loop, const std::string& name);

}  // namespace exotune
