#pragma once
// Register blocks: the inner kernel of a sum as one leaf. The output's vectors stay in registers
// while the sums run; each step loads one vector or broadcasts one element of every input and
// feeds them to a multiply-add for each output vector. Start at register_blocks.
//
// What it costs is no sum of its parts: the ports for arithmetic and for loads work side by side
// and the slower one decides, and a step cannot be shorter than the latency of the accumulation.
// A leaf keeps that out of the affine model.
#include "search/dp/machine.h"

namespace exotune {

/// One block for each accumulating instruction over a single vector loop, by what it takes from
/// registers and what it broadcasts. `latency`: cycles until an accumulation may be read, where the
/// instruction's own is not known; `crowding`: of CoreFacts.
std::vector<DpKernel> register_blocks(const DpMachine& machine, double latency, double crowding);

/// Is the Spec a block of this kernel: output in vector registers, along the loop that the other
/// vectors run along; inputs in the nearest memory, adjacent along that loop or broadcast?
bool is_register_block(const DpKernel& block, const Spec& spec, const SpecKind& kind,
                       const LayoutPool& layouts);

/// Vector registers beside those of the output.
int64_t block_registers(const DpKernel& block, const Spec& spec, const SpecKind& kind);

/// Units: the steps of the sums times the busiest port, or the sum of all ports without `ports`.
int64_t block_cost(const DpKernel& block, const Spec& spec, const SpecKind& kind, bool ports);

}  // namespace exotune
