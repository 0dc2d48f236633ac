#pragma once
// Neighbours: schedules one step away from a good one. A tile is a little larger or smaller, the
// inner sums run several terms at a time, an operand is packed or not, the arguments' next tiles
// are prefetched. Start at neighbours_of.
//
// Works on script lines of the library's operators, whoever wrote them; what a line does not say in
// that form is left alone. Untrusted: the caller runs the lines through the core.
#include <cstdint>
#include <string>
#include <vector>

namespace exotune {

struct Neighbourhood {
  int64_t lanes = 1;        // of a vector: the loop that vectors run along keeps to multiples
  int64_t registers = 32;   // register tiles stay below
  std::string vector_loop;  // "" when unknown
  std::string row_loop;
};

/// What is changed. The static cost compares changes of one kind; between kinds it says little.
enum class Change : uint8_t { kSize, kPacking, kInterleaving, kPrefetching };
constexpr int kChanges = 4;

struct Neighbour {
  std::vector<std::string> lines;  // all of them
  Change change = Change::kSize;
};

/// The lines of a schedule for fixed sizes as they suit open ones: what a register tile leaves of a
/// loop whose extent is not known goes to smaller tiles, down to one row, or one vector.
std::vector<std::string> with_open_ends(std::vector<std::string> lines, int64_t lanes);

/// Each with one thing changed; the original is not among them.
std::vector<Neighbour> neighbours_of(const std::vector<std::string>& lines,
                                     const Neighbourhood& where);

}  // namespace exotune
