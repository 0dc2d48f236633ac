#include "runners/sim/control_registers.h"

#include "runners/sim/float_unit.h"

namespace exotune::sim {

namespace {

uint64_t misa(const Isa& isa) {
  uint64_t letters = 1u << ('i' - 'a');
  const auto add = [&](bool has, char letter) { letters |= has ? 1u << (letter - 'a') : 0u; };
  add(isa.multiply, 'm');
  add(isa.atomic, 'a');
  add(isa.single, 'f');
  add(isa.twice, 'd');
  add(isa.compressed, 'c');
  return letters | (isa.xlen == 64 ? 2ull << 62 : 1ull << 30);
}

}  // namespace

std::optional<uint64_t> ControlRegisters::read(uint32_t number, const Clock& clock) const {
  const bool narrow = isa_.xlen == 32;
  const uint64_t cycles = clock.cycles + cycle_base_;
  const uint64_t instructions = clock.instructions + instruction_base_;
  switch (number) {
    case 0x001:
      return isa_.single ? std::optional<uint64_t>(floats_.flags()) : std::nullopt;
    case 0x002:
      return isa_.single ? std::optional<uint64_t>(floats_.mode()) : std::nullopt;
    case 0x003:
      return isa_.single ? std::optional<uint64_t>(floats_.flags() | floats_.mode() << 5)
                         : std::nullopt;
    case 0xc00:
    case 0xc01:
    case 0xb00:
      return cycles;
    case 0xc02:
    case 0xb02:
      return instructions;
    case 0xc80:
    case 0xc81:
    case 0xb80:
      return narrow ? std::optional<uint64_t>(cycles >> 32) : std::nullopt;
    case 0xc82:
    case 0xb82:
      return narrow ? std::optional<uint64_t>(instructions >> 32) : std::nullopt;
    case 0x300:
      return status_;
    case 0x301:
      return misa(isa_);
    case 0x304:
      return interrupts_;
    case 0x305:
      return trap_vector;
    case 0x306:
      return enable_;
    case 0x320:
      return inhibit_;
    case 0x340:
      return scratch_;
    case 0x341:
      return trap_pc;
    case 0x342:
      return trap_cause;
    case 0x343:
      return trap_value;
    case 0x344:
    case 0xf11:
    case 0xf12:
    case 0xf13:
    case 0xf14:
      return 0;
    default:
      return std::nullopt;
  }
}

bool ControlRegisters::write(uint32_t number, uint64_t value, const Clock& clock) {
  switch (number) {
    case 0x001:
      if (isa_.single) floats_.set_flags(value & 31);
      return isa_.single;
    case 0x002:
      if (isa_.single) floats_.set_mode(value & 7);
      return isa_.single;
    case 0x003:
      if (isa_.single) {
        floats_.set_flags(value & 31);
        floats_.set_mode(value >> 5 & 7);
      }
      return isa_.single;
    case 0xb00:
      cycle_base_ = value - clock.cycles;
      return true;
    case 0xb02:
      instruction_base_ = value - clock.instructions;
      return true;
    case 0x300:
      status_ = value;
      return true;
    case 0x301:
    case 0x344:
      return true;
    case 0x304:
      interrupts_ = value;
      return true;
    case 0x305:
      trap_vector = value & ~uint64_t{3};
      return true;
    case 0x306:
      enable_ = value;
      return true;
    case 0x320:
      inhibit_ = value;
      return true;
    case 0x340:
      scratch_ = value;
      return true;
    case 0x341:
      trap_pc = value & ~uint64_t{1};
      return true;
    case 0x342:
      trap_cause = value;
      return true;
    case 0x343:
      trap_value = value;
      return true;
    default:
      return false;
  }
}

}  // namespace exotune::sim
