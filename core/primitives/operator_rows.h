#pragma once
// Which files of this folder have rows of the operator table: each beside the rewrites that its
// rows call. Start at primitive_operators.
#include <span>
#include <vector>

#include "core/primitives/operator.h"

namespace exotune {

using OperatorRows = std::vector<Operator>();

/// The rows of FILE.cc are FILE_operators().
OperatorRows annotations_operators, bindings_operators, buffers_operators, conditions_operators,
    config_operators, distribute_operators, expand_scalar_operators, expressions_operators,
    factor_operators, inline_operators, inline_window_operators, layout_operators,
    layout_resize_operators, loops_divide_operators, loops_fission_operators, loops_order_operators,
    loops_remove_operators, prefetch_operators, procs_operators, reduce_ahead_operators,
    reindex_operators, replace_operators, simplify_operators, stage_operators, statements_operators,
    unstage_operators, view_operators;

inline constexpr OperatorRows* kPrimitiveRows[] = {
    annotations_operators,   bindings_operators,      buffers_operators,
    conditions_operators,    config_operators,        distribute_operators,
    expand_scalar_operators, expressions_operators,   factor_operators,
    inline_operators,        inline_window_operators, layout_operators,
    layout_resize_operators, loops_divide_operators,  loops_fission_operators,
    loops_order_operators,   loops_remove_operators,  prefetch_operators,
    procs_operators,         reduce_ahead_operators,  reindex_operators,
    replace_operators,       simplify_operators,      stage_operators,
    statements_operators,    unstage_operators,       view_operators};

/// All of them. Names and argument order are Exo 2's.
std::vector<Operator> primitive_operators();
/// One list of several.
std::vector<Operator> joined(std::span<OperatorRows* const> files);

}  // namespace exotune
