#pragma once
// TensorLayout: how a tensor of given extents lies in memory, as far as the search cares: the order
// of its dimensions, at most one packed strip each, and how many inner dimensions are adjacent.
// Start at TensorLayout; LayoutPool gives each one a small number.
//
// A physical dimension names a logical one. A strip (`pack` > 0) is an inner part of fixed size of
// its logical dimension; `pack` == 0 takes what the strips inside it leave. Logical dimensions of
// extent 1 do not appear. `contiguous` counts the innermost physical dimensions whose elements lie
// side by side; a fresh buffer counts all of them, a tile of one fewer (paper section 2.4.3).
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace exotune {

constexpr int kMaxRank = 4;      // logical dimensions of an operand
constexpr int kMaxPhysical = 6;  // physical ones: each logical one once, and a strip or two

struct PhysicalDim {
  uint8_t dim = 0;    // logical dimension
  uint16_t pack = 0;  // strip size; 0: whatever the strips inside leave
  bool operator==(const PhysicalDim&) const = default;
};

using Extents = std::span<const uint32_t>;

struct TensorLayout {
  uint8_t rank = 0;        // physical dimensions
  uint8_t contiguous = 0;  // innermost of them that are adjacent
  bool any = false;        // whichever layout serves best: of relaxed Specs only
  std::array<PhysicalDim, kMaxPhysical> dims{};

  bool operator==(const TensorLayout&) const = default;
  bool is_contiguous() const { return contiguous == rank; }
  static TensorLayout unknown() { return {0, 0, true, {}}; }
  bool has_strip() const;
  std::string str() const;  // "[1,0p8]c1"

  /// Dimensions in the given order, outermost first, extents of 1 left out; contiguous.
  static TensorLayout ordered(std::span<const int> order, Extents shape);
  static TensorLayout row_major(Extents shape);

  /// Extents of the physical dimensions; nothing when a strip does not divide what it packs. A
  /// tensor smaller than a strip lies inside one (once per logical dimension).
  std::optional<std::array<uint32_t, kMaxPhysical>> physical(Extents shape) const;

  /// The layout of a tile of `shape`: contiguity falls to the first dimension that the tile cuts,
  /// then extents of 1, strips that equal the tile, and adjacent parts of one dimension go away.
  /// Nothing when the tile does not fit the strips. With `tile` == `shape`: the canonical form.
  std::optional<TensorLayout> tiled(Extents shape, Extents tile) const;

  /// Cache lines that the tensor touches: the product of the extents outside the contiguous part,
  /// times the lines of that part.
  int64_t lines(Extents shape, int element_bytes, int line_bytes) const;
};

/// Layouts by number, which are stable for the pool's life. Threads may share it; which number a
/// layout gets then is chance, and nothing depends on it.
class LayoutPool {
 public:
  LayoutPool();
  uint16_t id(const TensorLayout& layout);
  const TensorLayout& at(uint16_t id) const {
    return (*chunks_[id / kChunk].load(std::memory_order_acquire))[id % kChunk];
  }
  size_t size() const { return size_; }
  ~LayoutPool();
  struct Hash {
    size_t operator()(const TensorLayout& l) const;
  };
  /// Number 0: no physical dimension (scalars, and registers without a layout).
  static constexpr uint16_t kEmpty = 0;
  static constexpr uint16_t kAny = 1;

 private:
  // 256 chunks of 256: every number that a uint16_t can hold.
  static constexpr int kChunk = 256;
  using Chunk = std::array<TensorLayout, kChunk>;
  std::array<std::atomic<Chunk*>, 256> chunks_{};  // never moved: read without the lock
  size_t size_ = 0;
  std::mutex mutex_;
  std::unordered_map<TensorLayout, uint16_t, Hash> ids_;
};

}  // namespace exotune
