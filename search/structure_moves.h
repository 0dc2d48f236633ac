#pragma once
// Structure moves: other structures of the same program, in a table. Which parts they fall into and
// how those are solved is the program search's affair. Start at kStructureMoves.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hw/target.h"
#include "search/moves/panels.h"
#include "search/moves/step.h"
#include "search/steps/builders.h"

namespace exotune {

/// What a move may need to know beside the schedule.
struct StructureContext {
  std::map<std::string, int64_t> sizes;  // values of the procedure's control arguments
  NearestCaches caches;
  int64_t page = 0;                         // bytes
  int64_t lanes = 1;                        // of what is written
  bool vectors = false;                     // the target has some
  const ValueList* instructions = nullptr;  // as a script's `instrs`
  const VectorValues* unit = nullptr;       // of what is written; the target has some
};

struct NewStructure {
  std::string move;  // "blocks of rows"
  Schedule schedule;
  bool for_caches = false;  // it is there for what the cost model does not see
};

/// Other structures, the best guess first; none: it is not for this program, or the core refused.
using StructureMove = std::vector<NewStructure> (*)(const Schedule& s, const StructureContext& c);

/// Those to be tried before the program's nests are distributed, and those after it, in the order
/// in which they are tried. What is best of two that make the same is that it comes once: who tries
/// them knows texts that were made.
std::span<const StructureMove> moves_before_distribution();
/// Of those the ones that come ahead of everything where a triangle is cut: what they leave is cut.
std::span<const StructureMove> moves_on_guards();
std::span<const StructureMove> moves_after_distribution();

}  // namespace exotune
