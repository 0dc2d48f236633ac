#pragma once
// The control and status registers that machine mode without interrupts needs.
#include <cstdint>
#include <optional>

#include "runners/sim/decoder.h"

namespace exotune::sim {

/// What the registers show of the processor's clock at one moment.
struct Clock {
  uint64_t cycles = 0, instructions = 0;
};

class FloatUnit;

class ControlRegisters {
 public:
  ControlRegisters(const Isa& isa, FloatUnit& floats) : isa_(isa), floats_(floats) {}

  uint64_t trap_vector = 0, trap_pc = 0, trap_cause = 0, trap_value = 0;

  /// Nothing when there is no such register.
  std::optional<uint64_t> read(uint32_t number, const Clock& clock) const;
  /// False when there is no such register or it cannot be written.
  bool write(uint32_t number, uint64_t value, const Clock& clock);
  /// True for cycle and mcycle.
  static bool is_cycle(uint32_t number) { return number == 0xc00 || number == 0xb00; }

 private:
  Isa isa_;
  FloatUnit& floats_;
  uint64_t scratch_ = 0, status_ = 0x6000, interrupts_ = 0, inhibit_ = 0, enable_ = 0;
  uint64_t cycle_base_ = 0, instruction_base_ = 0;
};

}  // namespace exotune::sim
