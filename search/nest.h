#pragma once
// What the beam reads off a kernel before it proposes schedules: the loops, which one vectors run
// along, and what is reused where. Nothing here knows a kernel's name. Start at inspect_nest.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

/// One loop of a nest, outside of which stand those that it is in.
struct NestLoop {
  std::string name;               // as it is spelled now: a move speaks of it by this name
  std::optional<int64_t> extent;  // literal
  std::optional<int64_t> most;    // iterations at most: the extent, or 5 of `M % 6`
  int64_t period = 0;             // of a multiple of outer loops, 64 * b + 20: 64; else 0
  bool in_output = false;         // an index of the written buffer mentions it
  std::string outer;              // the loop that this one is a tile of; "" when it is whole
};

/// How vectors meet the statement.
enum class NestKind : uint8_t {
  kContraction,  // out[.., j] += a * b over three loops or more: register tiles, packing
  kSums,         // sums of several loops, several sums, or with a beginning and an end of their own
  kRows,         // two loops, the inner contiguous: matrix-vector products, rank-1 updates
  kElements,     // one loop over elements
  kOther,        // nothing that the beam knows how to start; stays as it is
};
const char* name_of(NestKind k);

/// A buffer that the statement reads, and how.
struct Operand {
  std::string buffer;              // its name
  std::vector<std::string> loops;  // that its indices mention, by dimension's order
  bool along_vector = false;       // an index runs along the vector loop: its last, or `turned`
  bool halo = false;               // and along other loops too, as in data[x + dx]
  int64_t strip = 0;               // it lies in strips of this many elements along it; 0: as it is
  /// It runs along the vector loop (so `along_vector`), but in this dimension, which is not its
  /// last: vectors of it are there once it is packed in strips of it. -1: no.
  int turned = -1;
  /// Of the loops that move one dimension alone, and no other loop moves that: which.
  std::map<std::string, int> dimension;
  std::vector<std::set<std::string>> moved;  // by dimension: the loops that move it
  int rank = 0;
  bool one_way = true;  // the statement reads it at one element at a time

  /// Neighbouring iterations of the loop read the same elements, as those of y do in image[y + r].
  bool is_shared_along(const std::string& loop) const;
};

/// An order for an operand that the caller packs ahead (pack_ahead), and how many iterations of the
/// sum the instruction it is made for adds up at once.
struct PackedOrder {
  std::string buffer;
  std::vector<int64_t> tiles;
  std::vector<int> order;
  int64_t depth = 1;
};

/// One perfect nest with one statement, as the beam sees it.
struct Nest {
  NestKind kind = NestKind::kOther;
  ScalarType precision = ScalarType::kF32;
  std::vector<NestLoop> loops;    // outermost first
  std::string vector_loop;        // the loop that contiguous indices run along; "" when none
  std::string row_loop;           // contraction, sums: the output loop that register tiles block
  std::string reduction_loop;     // contraction, sums: the innermost sum
  std::vector<Operand> operands;  // data read by the statement, the output excepted
  std::string output;
  std::vector<PackedOrder> packed_orders;  // worth trying, best first; filled by who knows them
  bool converts = false;                   // operands are narrower than the sum they go into
  bool rectangular = true;                 // no loop's bounds move with another loop
  bool slides = false;      // rows: all that moves with the rows lies side by side along them too
  int functions = 0;        // elements: that the statement computes (functions_in)
  bool adds = false;        // one sum: as against the largest term
  int shared = 1;           // vectors of operands that all rows of a tile read
  int results = 1;          // different ones that the statements add to
  bool unit_stride = true;  // the vector loop runs along elements that lie side by side

  /// Null when there is none of that name.
  const NestLoop* find(const std::string& loop) const;
  /// Do neighbouring rows read the same elements of an operand that vectors are read of?
  bool rows_overlap() const;
  /// Loops of the sum, of known length, that move what vectors are read of as the rows do, r of
  /// image[y + r, ..].
  std::vector<std::string> windows() const;
  /// Are the innermost loops rows, vectors and sum, in that order, as register_block wants them?
  bool ends_in_product() const;
};

/// The loop nest of the proc; kOther when it has none or several, or one that is not perfect.
Nest inspect_nest(const Proc& p);

}  // namespace exotune
