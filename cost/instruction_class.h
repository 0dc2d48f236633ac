#pragma once
// What an instruction does to the ports of a core, read off its body: an @instr that copies from
// memory into a vector is a load, one that computes is arithmetic, and so on. Start at classify.
#include <vector>

#include "core/ir/proc.h"
#include "cost/instruction_figures.h"
#include "hw/core_facts.h"

namespace exotune {

/// Cycles on each port, as its figure says, else the instruction's `cost`.
struct PortCycles {
  double arithmetic = 0, load = 0, store = 0, other = 0;
  void add(const PortCycles& o, double times = 1);
  double busiest() const;
};

struct InstructionClass {
  PortCycles ports;
  int written = -1;          // the argument that the body writes; -1: none
  bool accumulates = false;  // the result depends on what the written argument held
  bool writes_memory = false;
  bool partial = false;  // of a vector: the body asks for each element
  double latency = 0;    // of a chain of them, where there is a figure; else 0
};

/// `figures` may name it; of `core`, what a load inside an arithmetic instruction costs.
InstructionClass classify(const Proc& instruction, const InstructionFigures& figures = {},
                          const CoreFacts& core = default_core());

}  // namespace exotune
