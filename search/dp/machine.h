#pragma once
// DpMachine: what the dynamic program knows of a target: levels an operand can lie in, what a line
// costs there, and the kernels that end a plan. Start at machine_of.
//
// All of it is text of the target's folder. Kernels are its @instr procs, read by lift_nest. The
// table [search] of target.toml (docs/targets.md) states levels and kernel costs; without one they
// follow from the [[level]] tables, the vector memory and the instructions' `cost`; figures that
// were measured on this machine outrank those.
#include <map>
#include <string>
#include <vector>

#include "cost/target_figures.h"
#include "hw/target.h"
#include "search/dp/lift.h"
#include "search/dp/spec.h"

namespace exotune {

// Registers, four caches, memory; a Spec keeps a limit for each in one byte.
constexpr int kMaxLevels = 6;

struct DpLevel {
  std::string name;
  bool registers = false;  // capacity counts registers; else cache lines
  bool cache = false;   // filled by the hardware: an unchanged operand is not copied, only touched
  bool layouts = true;  // false: single elements without an order (scalar registers)
  int64_t capacity = 0;
  int64_t cost = 0;               // to touch one line, in cost units
  std::vector<int> vectors;       // register widths in bytes; empty: elements
  std::vector<int> destinations;  // levels an operand can move to from here, this one included
  bool shared = false;            // one for all threads: those that run at once divide its capacity
  int64_t cost_beside = 0;        // of a line for a thread that runs beside others
};

/// A leaf: an instruction, or (no instruction) one execution of any statement, left to the
/// compiler.
struct DpKernel {
  std::string name;
  ProcPtr instruction;
  SpecKind kind;                 // of the instruction's body
  std::vector<int64_t> extents;  // of its loops; 0: any multiple of `multiples`
  std::vector<int64_t> multiples;
  std::vector<uint32_t> levels;  // bit set of levels allowed, for each operand (statement: for all)
  int64_t base = 0, per_vector = 0;  // cost units
  int64_t per_element = 0;           // cost units for each execution of the statement
  int64_t strip = 0;                 // elements of one "vector"; 0: of the operands' registers
  uint32_t charged = 0;              // operands whose lines are charged as by a move
  std::vector<int> registers;        // used inside, by level
  int64_t max_vectors = 0;           // 0: any number
  bool same_vectors = true;          // all vector operands have one width

  bool block = false;   // a register block of the instruction (register_block.h)
  int64_t load = 0;     // of a block: units for a vector or broadcast
  double crowding = 0;  // a block: share of the other ports' work that delays the busiest one
  int64_t latency = 0;  // units until a sum may be added to; 0: not known

  bool copies_only = false;  // a statement: of moves only, as tails of sums are masked

  bool is_statement() const { return instruction == nullptr; }
  uint32_t levels_of(int operand) const { return is_statement() ? levels[0] : levels[operand]; }
};

struct DpMachine {
  std::string name;
  std::string hash;  // of the text and the figures all of this came from
  int line_bytes = 64;
  // Lines of rows that lie apart: what touching them costs in quarters of adjacent ones, and, as
  // they compete for the same sets, how many lines of a cache one of them takes.
  int apart_cost_quarters = 8;
  int apart_footprint = 1;
  bool fine_limits = false;     // lines in quarters of a doubling, not only powers of two
  int units_per_cycle = 1;      // costs are whole numbers of units
  std::vector<DpLevel> levels;  // fastest first
  std::vector<DpKernel> kernels;
  bool predicated = false;  // a vector may be filled in part: tails are planned as whole vectors
  std::vector<int> strip_bytes;  // widths that packed strips are tried in, and 2 elements
  int threads = 1;               // that a plan may use
  int64_t thread_start = 0;      // units to start them and to wait for the last
  int64_t thread_trip = 0;       // units more for each tile that one of them takes

  int level(const std::string& name) const;  // -1: none
  std::vector<std::string> level_names() const;
  int outermost() const { return static_cast<int>(levels.size()) - 1; }
};

/// InputError for a [search] table that does not fit the target's text. Such a table stands as it
/// is: `figures` count without one. `threads` more than one: plans may run tiles at once. What that
/// costs are [parameters] of the target: thread_start and thread_trip in cycles, and thread_memory,
/// how many threads memory serves as fast as one.
DpMachine machine_of(const Target& target, const TargetFigures& figures = {}, int threads = 1);

}  // namespace exotune
