#pragma once
// Limits: memory that an implementation may still use, one byte per level, ordered like the amounts
// themselves. Registers count exactly; lines are powers of two (or none), so that what is left
// after an allocation rounds down and what a plan needs rounds up (paper section 2.4.4). A machine
// may ask for quarters of each doubling: up to 8 exactly, then 10, 12, 14, 16, 20, ...
#include <array>
#include <bit>
#include <cstdint>

#include "search/dp/machine.h"

namespace exotune {

/// A point in the space that the memo's boxes divide: smaller in every component means less memory.
/// Levels are those of DpMachine, in its order; unused components are 0.
struct Limits {
  /// One code a level, in bytes so that a Spec's key with its limits stays within a cache line.
  std::array<uint8_t, kMaxLevels> codes{};

  bool operator==(const Limits&) const = default;
  /// An implementation that needs *this may run where `other` is free. Component by component.
  bool fits(const Limits& other) const {
    for (int i = 0; i < kMaxLevels; ++i)
      if (codes[i] > other.codes[i]) return false;
    return true;
  }
};

/// Codes to amounts and back, for one machine. down() never promises more than there is, up() never
/// asks for less than is needed: a plan that fits by its codes fits by its bytes.
class LimitCodes {
 public:
  explicit LimitCodes(const DpMachine& m) {
    fine_ = m.fine_limits;
    for (size_t i = 0; i < m.levels.size(); ++i) registers_[i] = m.levels[i].registers;
    for (size_t i = 0; i < m.levels.size(); ++i)
      all_.codes[i] = down(static_cast<int>(i), m.levels[i].capacity);
  }
  /// What the machine has: the limits at the root.
  const Limits& all() const { return all_; }
  /// Of the level's unit: registers, or lines.
  int64_t amount(int level, uint8_t code) const {
    if (registers_[level] || code == 0) return code;
    if (fine_) return code <= 8 ? code : int64_t{4 + code % 4} << (code / 4 - 1);
    return int64_t{1} << (code - 1);
  }
  /// The largest code whose amount is at most this; 0 for none.
  uint8_t down(int level, int64_t amount) const {
    if (registers_[level] || amount <= 0) return static_cast<uint8_t>(amount < 0 ? 0 : amount);
    if (fine_) return fine(amount);
    return static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(amount)));
  }
  /// The smallest code whose amount is at least this.
  uint8_t up(int level, int64_t amount) const {
    if (registers_[level] || amount <= 1) return static_cast<uint8_t>(amount);
    if (fine_) {
      const uint8_t code = fine(amount);
      return static_cast<uint8_t>(code + (this->amount(level, code) < amount));
    }
    return static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(amount - 1)) + 1);
  }

 private:
  /// Two bits below the leading one: codes 4t-4 .. 4t-1 are the quarters of [2^t, 2^(t+1)).
  static uint8_t fine(int64_t amount) {
    if (amount <= 8) return static_cast<uint8_t>(amount);
    const int top = std::bit_width(static_cast<uint64_t>(amount)) - 1;
    return static_cast<uint8_t>(4 * top - 4 + ((amount >> (top - 2)) & 3));
  }

  bool fine_ = false;
  std::array<bool, kMaxLevels> registers_{};
  Limits all_;
};

}  // namespace exotune
