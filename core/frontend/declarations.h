#pragma once
// The declarations of a file that are no procedures: memories, configurations, and what an @instr
// says besides its body. Used by parser.cc.
#include "core/frontend/lexer.h"
#include "core/ir/memory.h"
#include "core/ir/proc.h"

namespace exotune {

/// `("template", "global", cost = 0.5)` after `@instr`.
InstrInfo parse_instr_info(TokenStream& t);
/// `(readwrite=False)` after `@config`, or nothing.
bool parse_config_readable(TokenStream& t);
/// `class NAME:` and its fields.
ConfigPtr parse_config(TokenStream& t, bool readable);
MemoryPtr parse_memory(TokenStream& t);

/// The value of control arithmetic on literals alone; nothing for anything else or on overflow.
std::optional<int64_t> literal_value(const ExprPtr& e);
/// The value of data arithmetic on literals alone, which may be no finite number; nothing for
/// anything else.
std::optional<double> literal_number(const ExprPtr& e);

}  // namespace exotune
