#pragma once
// Hints to the machine, and configuration state.
// How to read an entry: core/primitives/primitives.h.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/where.h"

namespace exotune {

/// `window` may leave its buffer: what does not exist is not asked for. locality as in C: 0..3.
/// s1 ; s2   ->   s1 ; prefetch of each cache line of the window ; s2
/// Obligation: none but that elements named exist: indices not proved in bounds are guarded.
/// Cursors stay.
[[nodiscard]] ProcPtr add_prefetch(ProcPtr p, const Cursor& gap, const std::string& window,
                                   int locality = 3);

/// `args` as text in the scope of the gap.
/// s1 ; s2   ->   s1 ; f(args) ; s2
/// Obligation: f's body does nothing, and the call is right. Cursors stay.
/// Proposed for accelerators: a fence before what the processor reads of stores.
[[nodiscard]] ProcPtr insert_noop_call(ProcPtr p, const Cursor& gap, const ProcPtr& callee,
                                       const std::vector<std::string>& args);

/// s1 ; s2   ->   s1 ; config.field = e ; s2
/// Obligation: the field has the value e there already; or nothing that runs afterwards reads it
/// before it is written again. e has the field's type and does not depend on a loop around.
/// Equivalent modulo the field, and fully where it had the value or every path writes it again.
/// Cursors stay.
[[nodiscard]] ProcPtr write_config(ProcPtr p, const Cursor& gap, const ConfigPtr& config,
                                   const std::string& field, const ExprPtr& e);

/// s(e)   ->   config.field = e ; s(config.field)
/// Obligation: s and what runs after it read the field no more before it is written again, and s
/// does not write it; a data field holds every value of e. Equivalent modulo the field, and fully
/// where every path writes it again. Cursors to s stay, those into e die.
/// Proposed for accelerators: settings that come from arguments.
[[nodiscard]] ProcPtr bind_config(ProcPtr p, const Where& expr, const ConfigPtr& config,
                                  const std::string& field);

/// config.field = e ; s   ->   s
/// f(args) ; s            ->   s                    where f only writes configuration
/// Obligation: each field written has that value already; or nothing that runs afterwards reads it
/// before it is written again. Equivalent modulo the fields of which only the latter holds and some
/// path writes no more.
[[nodiscard]] ProcPtr delete_config(ProcPtr p, const Where& stmt);

}  // namespace exotune
