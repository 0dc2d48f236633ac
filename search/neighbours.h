#pragma once
// Neighbours: schedules one step away from a good one. A tile is a little larger or smaller, the
// inner sums run several terms at a time, an operand is packed or not, the arguments' next tiles
// are prefetched or rows further on, results go past the caches, roots and quotients are taken by
// estimates, vectors are of half the width. Start at neighbours_of.
//
// Reads the values of the library's steps, whoever made them; others are left alone. Untrusted: the
// caller runs the steps through the core.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/library/step.h"

namespace exotune {

/// Vectors of half a target's width (half_width.h), as steps take them.
struct HalfVectors {
  Value memory = {}, instructions = {};
};

struct Neighbourhood {
  int64_t lanes = 1;        // of a vector: the loop that vectors run along keeps to multiples
  int64_t registers = 32;   // register tiles stay below
  std::string vector_loop;  // "" when unknown
  std::string row_loop;
  /// What sends results past the caches (stream_results), where they are large; empty: nothing.
  Steps streaming;
  /// What calls instructions that do the same by estimates (call_twins): roots, quotients, or all
  /// that the nest has.
  std::vector<Steps> estimates;
  bool far = false;  // is more read than the second cache holds? Then rows are asked for
  std::optional<HalfVectors> half = {};  // nothing: there are none, or they are no question
};

/// What is changed. The static cost compares changes of one kind; between kinds it says little.
enum class Change : uint8_t {
  kSize,
  kPacking,
  kInterleaving,
  kPrefetching,
  kStreaming,
  kEstimates,
  kWidth
};
// Of the enumeration above.
constexpr int kChanges = 7;

struct Neighbour {
  Steps steps;  // all of them
  Change change = Change::kSize;
};

/// The steps of a schedule for fixed sizes as they suit open ones: what a register tile leaves of a
/// loop whose extent is not known goes to smaller tiles, down to one row, or one vector.
Steps with_open_ends(Steps steps, int64_t lanes);

/// Each with one thing changed, in one of its parts too (ScheduleStep::inside); the original is not
/// among them.
std::vector<Neighbour> neighbours_of(const Steps& steps, const Neighbourhood& where);

}  // namespace exotune
