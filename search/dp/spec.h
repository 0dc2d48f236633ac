#pragma once
// Spec: what a loop nest computes, never how. Start at Spec; lift.h reads one off a proc.
//
// A Spec splits into a SpecKind (the statement, which loops are sums, which dims each operand's
// subscripts mention: shared by all sizes) and numbers: extents, and for each operand where it
// lies. The memory that an implementation may use is separate (limits.h), so that the memo can
// treat it as a coordinate. Operands are the inputs in the order of the statement, then the output.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/ir/type.h"
#include "search/dp/tensor_layout.h"

namespace exotune {

constexpr int kMaxDims = 7;      // loops of a Spec: a convolution has seven
constexpr int kMaxOperands = 4;  // three inputs and the output

/// One subscript of an operand: a sum of loops with positive coefficients (`h + r`); empty: 0.
struct SubscriptTerm {
  uint8_t dim = 0;
  uint16_t coefficient = 1;
  bool operator==(const SubscriptTerm&) const = default;
};
using Subscript = std::vector<SubscriptTerm>;

/// What is the same for an operand at all sizes.
struct OperandKind {
  ScalarType type = ScalarType::kF32;
  std::vector<Subscript> subscripts;  // one for each dimension of the operand
  bool has_halo() const;              // some subscript is of several loops
  bool operator==(const OperandKind&) const = default;
};

/// What is the same for a nest at all sizes. Equal kinds are one question, whatever the names of
/// loops and buffers were.
struct SpecKind {
  std::string statement;        // "+= $0 * $1", "= $0", "= 0": operands by number
  bool accumulates = false;     // reads its output
  std::vector<bool> reduction;  // of each loop: the output's subscripts do not mention it
  std::vector<OperandKind> operands;
  std::vector<std::vector<int>>
      symmetries;       // orders of the inputs that leave the statement the same
  std::string initial;  // accumulating forms: the value they start from, "0"

  int dims() const { return static_cast<int>(reduction.size()); }
  int output() const { return static_cast<int>(operands.size()) - 1; }
  bool sums() const;
  /// The loop that vectors of the output run along; -1: none.
  int vector_loop() const;
  /// The loop of the output that register tiles block: the innermost one that some input along the
  /// vector loop does not mention, so that its vectors serve all rows; else the innermost one
  /// beside the vector loop. -1: none.
  int row_loop() const;
  /// A sum that shares a subscript with another loop: `r` in image[h + r].
  bool is_tap(int loop) const;
  bool has_taps() const;
  /// Of a product of two inputs: the dimension of `input` that the vector loop moves where that is
  /// not its last, as the first of B in A B', and rows of the result read it again. -1: none.
  int turned(int input) const;
  /// Every operand is subscripted by all loops, in order: a move or a fill.
  bool is_elementwise() const;
  bool operator==(const SpecKind&) const = default;
};

/// Where an operand lies.
struct OperandState {
  uint8_t level = 0;    // index into DpMachine::levels
  uint8_t vector = 0;   // elements of one vector register; 0 where the level has none
  uint16_t layout = 0;  // in the LayoutPool
  bool operator==(const OperandState&) const = default;
};

/// Who else runs. What may start threads is all there is; a tile that a thread works on runs beside
/// the others' and starts none (serial only).
enum class Threads : uint8_t { kAlone, kMayStart, kBeside };

/// The memo's key. Trivially copyable, compared byte by byte. 48 bytes, hashed and compared a
/// hundred million times in a large search: hence fixed arrays, no pointers, and kinds by number.
/// Unused extents and operands are zero, since all bytes count.
struct Spec {
  uint16_t kind = 0;
  uint8_t relayouted = 0;  // bit per operand: its one copy within its level is spent
  Threads threads = Threads::kAlone;
  std::array<uint32_t, kMaxDims> extents{};
  std::array<OperandState, kMaxOperands> operands{};

  bool operator==(const Spec& o) const { return std::memcmp(this, &o, sizeof *this) == 0; }
};
static_assert(sizeof(Spec) == 4 + 4 * kMaxDims + 4 * kMaxOperands);
struct SpecHash {
  size_t operator()(const Spec& s) const;
};

/// The kinds by number, each once. Threads may share them. Numbers are given in the order in which
/// kinds are met, so they differ between runs with several threads: nothing that is stored or
/// printed may contain one.
class SpecKinds {
 public:
  /// The number of an equal kind, or a new one. Throws InternalError beyond kMostKinds: kinds come
  /// from statements of the program, of which there are dozens.
  int id(const SpecKind& kind);
  const SpecKind& at(int id) const { return *kinds_[id]; }
  int size() const { return size_; }
  /// out[i, j] = in[i, j]: copies an operand elsewhere.
  int move(int rank, ScalarType type);
  /// out[i, j] = value.
  int fill(int rank, ScalarType type, const std::string& value);
  /// "= $0 * $1" for "+= $0 * $1": the same without reading the output.
  int initializing(int accumulating);
  /// The reverse, which exists when the kind is a sum.
  int accumulating(int initializing);

 private:
  // A table that never moves: other threads read it without a lock.
  static constexpr int kMostKinds = 512;
  std::array<std::unique_ptr<const SpecKind>, kMostKinds> kinds_;  // never moved
  std::atomic<int> size_ = 0;
  std::mutex mutex_;
  std::array<std::array<std::atomic<int>, 16>, kMaxRank + 1> moves_{};  // id + 1
};

/// The extents of what an operand covers, without an allocation.
struct OperandShape {
  std::array<uint32_t, kMaxRank> extents{};
  int rank = 0;
  operator Extents() const { return {extents.data(), static_cast<size_t>(rank)}; }
  int64_t volume() const;
};
/// The box that `operand` covers when the loops have these extents (a sum of loops has a halo).
OperandShape operand_shape(const OperandKind& operand, const uint32_t* extents);

/// "matmul"-like text for messages: statement, extents, operands.
std::string str(const Spec& spec, const SpecKinds& kinds, const LayoutPool& layouts,
                const std::vector<std::string>& level_names);

}  // namespace exotune
