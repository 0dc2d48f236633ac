#pragma once
// Which files of this folder have rows of the operator table: each beside the functions that its
// rows call. Start at operator_table (operators.h).
#include "core/primitives/operator_rows.h"

namespace exotune {

/// The rows of FILE.cc are FILE_operators(), and those of statements.cc
/// statement_chains_operators().
OperatorRows ahead_operators, arithmetic_operators, blocking_operators, cleanup_operators,
    closures_operators, columns_operators, configuration_operators, contraction_operators,
    dot_block_operators, factors_operators, gathering_operators, gemm_operators, guards_operators,
    halide_operators, inspection_operators, lane_rows_operators, lane_sums_operators,
    level1_operators, level2_operators, overlap_operators, packing_operators, panels_operators,
    prefetching_operators, reads_first_operators, rearranging_operators, recurrences_operators,
    reduction_operators, replacement_operators, row_hints_operators, row_products_operators,
    shifted_loads_operators, short_recurrences_operators, sinking_operators, skewing_operators,
    skinny_operators, stages_operators, staging_operators, statement_chains_operators,
    streaming_operators, sum_block_operators, sums_beside_operators, tile_block_operators,
    tiling_operators, transposition_operators, triangles_operators, twin_operators,
    vectorize_operators;

inline constexpr OperatorRows* kLibraryRows[] = {
    ahead_operators,         arithmetic_operators,
    blocking_operators,      cleanup_operators,
    closures_operators,      columns_operators,
    configuration_operators, contraction_operators,
    dot_block_operators,     factors_operators,
    gathering_operators,     gemm_operators,
    guards_operators,        halide_operators,
    inspection_operators,    lane_rows_operators,
    lane_sums_operators,     level1_operators,
    level2_operators,        overlap_operators,
    packing_operators,       panels_operators,
    prefetching_operators,   reads_first_operators,
    rearranging_operators,   recurrences_operators,
    reduction_operators,     replacement_operators,
    row_hints_operators,     row_products_operators,
    shifted_loads_operators, short_recurrences_operators,
    sinking_operators,       skewing_operators,
    skinny_operators,        stages_operators,
    staging_operators,       statement_chains_operators,
    streaming_operators,     sum_block_operators,
    sums_beside_operators,   tile_block_operators,
    tiling_operators,        transposition_operators,
    triangles_operators,     twin_operators,
    vectorize_operators};

}  // namespace exotune
