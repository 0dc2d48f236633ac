#pragma once
// Recurrences: loops that need their own earlier iterations, in blocks of rows whose work is mostly
// a product. Start at blocks_of_recurrences.
#include <vector>

#include "search/moves/step.h"
#include "search/steps/builders.h"

namespace exotune {

/// for i: { for j in seq(0, i): { for k in seq(0, j): s ; t } ; ... }
///   ->  block_recurrence(i), and for each recurrence over columns that is left in a block
///       stage_panel and block_recurrence again
///
/// One schedule for each size of blocks that suits vectors of `lanes` elements: what divides the
/// loop's extent first. All loops of the procedure that have bounds following them and whose
/// iterations may not change their order are blocked alike. None: there is no such loop, or the
/// core refused everywhere.
///
/// With a `unit` what is left of few rows is written out: corners element by element (unroll_nest),
/// columns of panels in registers (solve_in_registers).
std::vector<Schedule> blocks_of_recurrences(const Schedule& s, int64_t lanes,
                                            const VectorValues* unit = nullptr);

/// The same in wide blocks, 4 to 6 times 16 rows, whose own recurrences are blocked again: of
/// arrays beyond the caches what is behind a block comes by less often. Nothing: a loop has fewer
/// than eight such blocks, or the core refused. With a `unit`, besides: the columns of a block's
/// panel in blocks twice, and sums over all rows before it a block's width of terms at a time.
std::optional<Schedule> wide_blocks_of_recurrences(const Schedule& s, int64_t lanes,
                                                   const VectorValues* unit = nullptr);

/// What rows_in_lanes made, in blocks of the rows of a register tile or two: vectors run along the
/// lanes there, and a block is as high as a tile.
std::vector<Schedule> blocks_of_lanes(const Schedule& s);

/// for i: for j: { .. x[i, j] .. for k: s }  ->  for j: for i: the same, the column of x in a
/// buffer (reorder_loops, stage_panel), where a recurrence may be computed column by column: sums
/// that go down a column then go along the buffer. For every such pair of loops. Nothing: there is
/// none, or all were refused.
std::optional<Schedule> recurrences_by_columns(const Schedule& s);

/// for i: for j: s(i, j)  ->  rows of i side by side (jam_skewed): 4, 8 and 2 of them, each with
/// the least shift that the core accepts. For every such pair of loops of which neither may change
/// its order; where there is none, of the distributed program. None: there is no such pair, or all
/// were refused.
std::vector<Schedule> wavefronts(const Schedule& s);

/// for i: { .. for j: s(i, j) .. }  ->  `lanes` rows side by side (rows_to_lanes), 2 and 4 times as
/// many, 3 times where that divides the rows; and i inside everything (sink_loop), where j's body
/// has loops of its own: one recurrence over rows of all. For every loop whose iterations may
/// change their order and whose body holds a loop that may not: one row is a chain of operations,
/// many are vectors. With a `unit`, first of all, small systems in one vector of rows with all
/// their steps written out (solve_in_registers). Arrays that such a loop uses alone and makes anew
/// for each row go inside first (sink_alloc). None: there is no such loop, or all were refused.
std::vector<Schedule> rows_in_lanes(const Schedule& s, int64_t lanes,
                                    const VectorValues* unit = nullptr);

}  // namespace exotune
