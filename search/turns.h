#pragma once
// Families of schedules take turns in the trials, so that a short budget sees each of them. Start
// at in_turns.
#include <cstddef>
#include <vector>

#include "search/beam.h"

namespace exotune {

/// One family's schedules, in the order in which they are worth measuring.
struct Family {
  std::vector<BeamState> states;
  /// How many of it come in a row when its turn comes.
  size_t at_once = 1;
};

/// Does the procedure keep data where only instructions reach: in vector registers, or in the
/// memories of an accelerator? What does not is left to the compiler's own vectors.
bool uses_vectors(const Proc& p);

/// All states of all families, the families in turn. Where some schedules use vectors, those that
/// do not are a family of their own: one for every `kVectorsFirst` of the rest, so that they are
/// seen and never crowd out.
std::vector<BeamState> in_turns(std::vector<Family> families);

// Candidates that use instructions to each one of plain statements.
constexpr size_t kVectorsFirst = 7;

}  // namespace exotune
