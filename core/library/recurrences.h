#pragma once
// Schedules for recurrences: loops whose iterations need the ones before, factorizations and
// triangular solves among them, in blocks of rows of which most work is a product. Start at
// block_recurrence.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// for i: { for j in seq(0, i): { for k in seq(0, j): s ; t } ; for k in seq(0, i): u }
///   ->  for ib:                                                            blocks of `block` rows
///           for j in seq(0, block * ib): for i in seq(0, block): { for k in seq(0, j): s ; t }
///           for i in seq(0, block): for k in seq(0, block * ib): u
///           for i in seq(0, block):                                        what is left
///               { for j in seq(block * ib, ..): .. ; for k in seq(block * ib, ..): u }
///       and the same for the rows left over
///
/// What a block's rows need of the rows before the block comes first, in nests of its own with
/// rectangular bounds: inner loops whose bounds follow the rows (or follow loops that do) are cut
/// where the block begins or ends, the parts move ahead (reorder_stmts) and leave the loop
/// (fission), halves of one loop are joined again. Where such a nest is itself a recurrence, its
/// rows go inside, for vectors. What the iterations of a block leave for the rest goes behind them
/// alike: steps that each change all of a matrix beyond their own row and column (elimination, by
/// columns or by rows) change it a block at a time, by a product. Each of these steps is proved,
/// and one that is refused leaves its place as it was. The result iterates over `i`b and i.
///
/// SchedulingError: nothing of the body could be taken out of a block.
/// Proposed for loops that need their own earlier iterations and have bounds that follow them:
/// blocks of 2 to 6 vectors.
[[nodiscard]] ProcPtr block_recurrence(ProcPtr p, const Where& loop, int64_t block);

/// for j: for i in seq(0, R): s(A[r + i, j])
///   ->  P : T[J, R] ; P[j, i] = A[r + i, j]
///       for j: for i in seq(0, R): s(P[j, i])
///       A[r + i, j] = P[j, i]                        (if J > 0, where that is not known)
///
/// The part of the one array that the loop's body writes is held in a buffer, with the dimension
/// that moves along `rows` as the last: vectors along it are contiguous. Made of stage_mem and
/// rearrange_dim. Where that is refused (other elements of the column are read), with what is read
/// of the array in the same column. As many statements `behind` the loop read the buffer, too,
/// before it leaves: a product of the panel with itself then has both operands side by side along
/// the rows. SchedulingError: the body writes several arrays, or what it writes is no rectangle in
/// which one dimension moves along `rows`, or fewer statements stand behind.
///
/// Proposed for what a blocked recurrence still solves column by column, with the product behind it
/// that reads the panel.
[[nodiscard]] ProcPtr stage_panel(ProcPtr p, const Where& loop, const std::string& rows,
                                  const std::string& name, int64_t behind = 0);

}  // namespace exotune
