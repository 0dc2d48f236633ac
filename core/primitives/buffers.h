#pragma once
// Buffers: where they live, their shape, copies of parts of them, memory and precision.
// How to read an entry: core/primitives/primitives.h.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/where.h"

namespace exotune {

/// a : T[sz]          a : T[size, sz]
/// s(a[i])      ->    s(a[index, i])
/// Obligation: size > 0; `index` reads only names visible at the allocation (so it keeps one value
/// throughout the scope) and no configuration; 0 <= index < size wherever `a` is used.
/// Proposed for a value that each iteration needs for itself; an accelerator's tiles.
[[nodiscard]] ProcPtr expand_dim(ProcPtr p, const Where& alloc, const ExprPtr& size,
                                 const ExprPtr& index);

/// for i in ..:              a : T[sz]
///     a : T[sz]       ->    for i in ..:
///     s                         s                       n_lifts times; also out of an `if`
/// Obligation: sz does not depend on i or on configuration and is positive outside; no iteration
/// reads what it did not write itself, or each has elements of its own; a `par` loop's iterations
/// do not come to share elements. Cursors follow the allocation.
/// Proposed out of the loops that need not repeat it.
[[nodiscard]] ProcPtr lift_alloc(ProcPtr p, const Where& alloc, int n_lifts = 1);

/// a : T[sz]                 for i in ..:
/// for i in ..:        ->        a : T[sz]
///     s                         s
/// Obligation: the loop (or `if`) is the only statement that uses `a` or a window of it, and no
/// iteration reads what it did not write itself. With an `else` that uses `a`, that branch gets an
/// allocation of its own. Cursors follow the allocation.
/// Proposed for scratch arrays of loops whose rows become lanes.
[[nodiscard]] ProcPtr sink_alloc(ProcPtr p, const Where& alloc);

/// a : T[.., n, ..]            a : T[.., n/q, q, ..]
/// s(a[.., i, ..])       ->    s(a[.., i/q, i%q, ..])
/// Obligation: q divides n. A window interval in that dimension must lie within one run of q.
/// Proposed for numbers of a few parts that lie one after the other: a dimension for the parts.
[[nodiscard]] ProcPtr divide_dim(ProcPtr p, const Where& alloc, int dim, int64_t q);

/// a : T[.., n, .., c, ..]          a : T[.., n*c, .., ..]
/// s(a[.., i, .., j, ..])     ->    s(a[.., c*i + j, .., ..])       (at hi_dim; lo_dim goes)
/// Obligation: c is a literal. Windows: hi_dim must be a point, and lo_dim's interval keeps its
/// order.
/// Proposed beside join_dims, for local arrays.
[[nodiscard]] ProcPtr mult_dim(ProcPtr p, const Where& alloc, int hi_dim, int lo_dim);

/// a : T[n0, n1, ..]       a : T[n_p0, n_p1, ..]
/// s(a[i0, i1, ..])   ->   s(a[i_p0, i_p1, ..])
/// Obligation: a permutation; no window or call sees its dimensions in another order.
/// Proposed for accelerators: the order that an instruction takes; and for results that no long
/// loop runs along, in a copy turned over.
[[nodiscard]] ProcPtr rearrange_dim(ProcPtr p, const Where& alloc,
                                    const std::vector<int>& permutation);

/// New size of one dimension and offset subtracted from every index; `fold`: indices modulo size.
/// a : T[.., n, ..]           a : T[.., size, ..]
/// s(a[.., i, ..])      ->    s(a[.., i - offset, ..])      fold: (i - offset) % size
/// Obligation: size > 0; 0 <= i - offset < size for every access (proved where it stands); with
/// `fold`, size is a literal, no access lies size or more below one made earlier, and no `par` loop
/// comes to race.
/// Proposed for accelerators: whole rows.
[[nodiscard]] ProcPtr resize_dim(ProcPtr p, const Where& alloc, int dim, const ExprPtr& size,
                                 const ExprPtr& offset, bool fold = false);

/// a : T[.., c, ..]           a_0 : T[.., ..] ; ... ; a_{c-1} : T[.., ..]      (a when c == 1)
/// s(a[.., k, ..])      ->    s(a_k[.., ..])
/// Obligation: c is a literal and so is every index in that dimension (once simplified); windows
/// have a point there. The allocation's cursor goes to the first new one.
/// Proposed for the few elements that a point of a loop has of its own, once the loops over them
/// are written out.
[[nodiscard]] ProcPtr unroll_buffer(ProcPtr p, const Where& alloc, int dim);

/// a : T[sz] ; s1                a : T[sz] ; s1
/// b : T[sz] ; s2(b)       ->    s2(a)
/// Obligation: same precision, sizes and memory; `a` is dead where b is allocated, and nothing uses
/// `a` or a window of it as long as b lives, later iterations of loops around b included.
[[nodiscard]] ProcPtr reuse_buffer(ProcPtr p, const Where& kept, const Where& replaced);

/// a : T[sz] ; a[..] = e ; s   ->   s
/// Obligation: nothing but writes into `a` (and its windows) uses it.
/// Proposed for what is left of sums that went elsewhere.
[[nodiscard]] ProcPtr delete_buffer(ProcPtr p, const Where& alloc);

/// s(A[i])      ->      tmp : T[hi - lo]
///                      for i0 in seq(0, hi - lo): tmp[i0] = A[lo + i0]   unless surely written
///                      first s(tmp[i - lo]) for i0 in seq(0, hi - lo): A[lo + i0] = tmp[i0]   only
///                      when written
/// accum:               tmp = 0 before, A[lo + i0] += tmp[i0] after; for max= tmp = A before, as a
///                      maximum may take a value twice, and A max= tmp after
/// per (with accum, loops over l in [a, b) of the block): tmp : T[hi - lo, b - a], where iteration
/// l
///                      reduces into tmp[.., l - a]; all of them go into A after
/// `window`: "C[4*io:4*io+4, 0:N]" or "A[i, 0:8]" as text in the scope of the block.
/// Obligation: every access of the block to A, through windows and calls too, is proved inside the
/// window (and becomes one of tmp) or proved outside (and stays). Every element stored back was
/// loaded, or surely written; the block uses the window at all. Copies are guarded where the window
/// may leave A. accum: the block only reduces into the window, with one operation; per: it does so
/// only inside those loops, which surely run. A window of A made in the block and used after it
/// refuses. `par` loops around are proved race-free again.
/// Forwarding: cursors stay on the block's statements; allocation and load stand before it, the
/// store after.
/// Proposed for a part of a sweep that must be kept.
[[nodiscard]] ProcPtr stage_mem(ProcPtr p, const Where& block, const std::string& window,
                                const std::string& name, bool accum = false,
                                const std::vector<Where>& per = {});

/// stage_mem; where the window may be empty ("x[0:i]", i from 0),
///   s  ->  if i > 0: { t : T[i]; t = x[0:i]; s[x -> t] } else: s
[[nodiscard]] ProcPtr stage_mem_if_any(ProcPtr p, const Where& block, const std::string& window,
                                       const std::string& name, bool accum = false,
                                       const std::vector<Where>& per = {});

/// t : T; t = x[i]; s(t); x[i] = e(t)  ->  s(x[i]); x[i] = e(x[i])      (x[i] = x[i] goes)
/// Obligation: the inverse of stage_mem: x[i] staged around the result is proved, and makes the
/// same program again. t is not used after the store. Forwarding: the statements between load and
/// store stay, as does a store of more than t.
/// Proposed for sums that a scalar holds, where their loops are in blocks.
[[nodiscard]] ProcPtr unstage(ProcPtr p, const Where& alloc);

/// One dimension of a view: a new name and its extent, text in the scope of the block.
struct ViewAxis {
  std::string name, extent;
};

/// A buffer whose element at each index is the one that `element` names ("data[c, 4*jo + j + r]"
/// over the axes), or `otherwise` where `where` is false; it replaces reads in the block.
/// s(A[4*jo + j + r])   ->   name : T[4, 3]
///                           for j in seq(0, 4): for r in seq(0, 3): name[j, r] = A[4*jo + j + r]
///                           s(name[j, r])
/// With `where`, elements for which it is false get `otherwise` (padding) and A is not read there.
/// Obligation: the map stays in A for all indices of the view for which `where` holds; the block
/// does not write A, through aliases and calls too; a read is replaced only where view indices are
/// found that are in range, satisfy `where` and name the same element; at least one read is. The
/// `par` loops around are proved free of races again: the fill may read what the block did not.
/// Cursors stay on the block's statements; allocation and fill stand before it.
/// Proposed for an operand that is read across: its transposed copy.
[[nodiscard]] ProcPtr stage_view(ProcPtr p, const Where& block, const std::string& name,
                                 const std::vector<ViewAxis>& axes, const std::string& element,
                                 const std::string& where = "", double otherwise = 0);

/// a : T[sz] @ M  ->  a : T[sz] @ memory
/// Obligation: none here: `check` before code is made has it. Cursors stay.
/// Proposed for accelerators: memories that instructions take.
[[nodiscard]] ProcPtr set_memory(ProcPtr p, const Where& buffer, MemoryPtr memory);

/// a : T[sz]  ->  a : precision[sz], and so for windows of `a` and the expressions that read it;
/// for each of `buffers`. Obligation: floating-point values stay what they are over the reals,
/// integers what they are: a floating-point type may become another one, R anything, and an integer
/// where no step took it for a real number. Integers that are only assigned to, and read as a whole
/// right side or where one of several is chosen (select, fmax, fmin of reads and literals), may
/// become an integer type that holds every value assigned (a + 128.0 of a byte `a` is an unsigned
/// byte), an argument's a wider one: what is computed from them is computed in the type it was. A
/// valid program stays one:
/// no operator mixes precisions, no call gets another one than it wants. Cursors stay.
[[nodiscard]] ProcPtr set_precision(ProcPtr p, const Where& buffer, ScalarType precision);
[[nodiscard]] ProcPtr set_precision(ProcPtr p, const std::vector<Where>& buffers,
                                    ScalarType precision);

/// x : T[sz]  <->  x : [T][sz]      for a tensor argument. Cursors stay.
/// Obligation: a window is not handed on to a call that wants a dense tensor.
[[nodiscard]] ProcPtr set_window(ProcPtr p, const Where& arg, bool window);

/// A tensor argument with its dimensions permuted (reversed when none is given): callers change
/// too.
/// def f(A: T[n, m]): s(A[i, j])   ->   def f(A: T[m, n]): s(A[j, i])
/// Obligation: as for rearrange_dim; no assert and no code reads a stride of A. Callers must pass
/// the transposed tensor, so equivalence does not cross the step.
[[nodiscard]] ProcPtr transpose(ProcPtr p, const Where& arg,
                                const std::vector<int>& permutation = {});

/// A dense tensor argument seen as the same memory with two adjacent dimensions as one; its C
/// function takes the very same pointers.
/// def f(x: T[n, c]): s(x[i, j])   ->   def f(x: T[n*c]): s(x[c*i + j])
/// Obligation: as for mult_dim; the argument is in main memory and no window; no assert and no
/// code reads a stride of it. Calls in the object language pass another shape, so equivalence does
/// not cross the step.
/// Proposed for loops over rows that are no whole number of vectors.
[[nodiscard]] ProcPtr join_dims(ProcPtr p, const Where& arg, int dim);

}  // namespace exotune
