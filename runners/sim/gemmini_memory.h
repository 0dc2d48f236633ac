#pragma once
// GemminiMemory: the scratchpad and the accumulator, by rows, with what each row waits for. Times
// are when a row's last read or write by each unit ends; commands of one unit keep their own order
// and do not wait for each other.
#include <cstdint>
#include <string>
#include <vector>

#include "runners/sim/gemmini_figures.h"

namespace exotune::sim {

/// A local address and an extent as a command has them. As the hardware reads it from one register:
/// the flags at the top, then the row.
struct GemminiTile {
  bool none = false;  // all ones: no place
  bool accumulator = false, accumulate = false, full = false;
  uint64_t row = 0, columns = 0, rows = 0;
  /// Takes the 64 bits of a command apart; checks nothing.
  static GemminiTile of(uint64_t word);
};

/// Addresses are rows; callers ask refusal() first, so that rows are in range.
class GemminiMemory {
 public:
  explicit GemminiMemory(const GemminiFigures& figures);

  /// The row's elements; a row is as wide as the array.
  int8_t* scratch(uint64_t row) { return &scratch_[row * size_]; }
  int32_t* sums(uint64_t row) { return &sums_[row * size_]; }
  /// "rows 16380 to 16395 of a scratchpad of 16384", or "" when they are there.
  std::string refusal(bool accumulator, uint64_t row, uint64_t count) const;

  struct Times {
    uint64_t loaded = 0, computed = 0, used = 0,
             stored = 0;  // ends of load, result, operand, store
  };
  /// By row, the accumulator's behind the scratchpad's.
  Times& times(bool accumulator, uint64_t row) {
    return times_[accumulator ? scratch_rows_ + row : row];
  }

 private:
  uint64_t size_, scratch_rows_, sum_rows_;
  std::vector<int8_t> scratch_;
  std::vector<int32_t> sums_;
  std::vector<Times> times_;
};

}  // namespace exotune::sim
