#pragma once
// Does a problem fit into a machine? Decided before anything is made of it, from its text alone.
#include "core/ir/proc.h"
#include "hw/machine.h"
#include "hw/size_formula.h"

namespace exotune {

/// Bytes of the proc's arguments at these sizes, in double: sizes may be beyond what can be
/// addressed. Extents whose sizes are not given count as 1.
double operand_bytes(const Proc& proc, const SizeBinding& sizes);

/// InputError, with what is needed and what there is, when the arguments do not fit into the
/// machine's memory; with `measured`, when they do not fit beside what a check takes: the reference
/// interpreter's inputs and results, and a guarded copy.
void require_memory(const Proc& proc, const SizeBinding& sizes, const Machine& machine,
                    bool measured);

}  // namespace exotune
