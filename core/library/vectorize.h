#pragma once
// Vectorization by rewrites: every operand and result of a loop of one vector's width becomes a
// vector register, the loop splits into one loop per operation, and each becomes an instruction.
// Exo 2 section 6.1.1.
#include <functional>
#include <optional>
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// A user's rule: brings one assignment or reduction inside the lane loop nearer to the form of an
/// instruction, by primitives; nothing when it has nothing (more) to do there. Asked before the
/// automation, again and again, so it must come to an end. Exo 2 section 6.1.1 ("rules").
using VectorRule = std::function<std::optional<ProcPtr>(const ProcPtr& p, const Cursor& stmt)>;

/// The vector unit to aim at, as a target's text states it.
struct VectorUnit {
  int lanes = 0;     // elements per register at the loop's precision
  MemoryPtr memory;  // the register file
  std::vector<ProcPtr> instrs;
  std::vector<VectorRule> rules;
};

/// The loop has exactly `unit.lanes` iterations (its body may stand under one guard). Every
/// statement in it becomes an instruction, or SchedulingError says which has none.
ProcPtr vectorize_lanes(ProcPtr p, const Where& lane_loop, const VectorUnit& unit);

enum class VectorTail : uint8_t { kPerfect, kCut, kCutAndGuard, kPredicate, kCutAndPredicate };
/// Divides the loop by the unit's width and vectorizes it. Tails: perfect (the width divides the
/// loop), cut (a scalar loop does the rest), cut_and_guard (that under an `if`), predicate (every
/// vector is guarded), cut_and_predicate (whole vectors, then one guarded vector).
/// Proposed by the dynamic program, for a loop that its plan says is vectors.
ProcPtr vectorize(ProcPtr p, const Where& loop, const VectorUnit& unit, VectorTail tail);

}  // namespace exotune
