#include "runners/sim/processor.h"

#include <algorithm>
#include <cstdio>

#include "runners/sim/hart.h"

namespace exotune::sim {

// Defined and made in hart_loop.cc.
extern template Hart<uint32_t>::Leave Hart<uint32_t>::loop<false>(uint64_t);
extern template Hart<uint32_t>::Leave Hart<uint32_t>::loop<true>(uint64_t);
extern template Hart<uint64_t>::Leave Hart<uint64_t>::loop<false>(uint64_t);
extern template Hart<uint64_t>::Leave Hart<uint64_t>::loop<true>(uint64_t);

namespace {

// Of the cycle counter by the program, each kept with the account; a loop of them must end.
constexpr size_t kMostReadings = 4096;

template <class Word>
// The read-modify-write operations, by the upper bits of function 7 as the specification numbers
// them.
Word combine(uint8_t what, Word memory, Word operand) {
  using Signed = std::make_signed_t<Word>;
  const Signed a = static_cast<Signed>(memory), b = static_cast<Signed>(operand);
  switch (what) {
    case 0:
      return memory + operand;
    case 1:
      return operand;
    case 4:
      return memory ^ operand;
    case 8:
      return memory | operand;
    case 12:
      return memory & operand;
    case 16:
      return std::min(a, b);
    case 20:
      return std::max(a, b);
    case 24:
      return std::min(memory, operand);
    default:
      return std::max(memory, operand);
  }
}

}  // namespace

std::string describe(const Trap& trap) {
  // By cause, as mcause numbers them from 0.
  static const char* const kNames[] = {
      "misaligned jump to",   "no code at",
      "illegal instruction",  "breakpoint",
      "misaligned load from", "load from outside memory at",
      "misaligned store to",  "store to a place that cannot be written,"};
  char text[160];
  const unsigned long long pc = trap.pc, value = trap.value;
  if (trap.cause < std::size(kNames))
    std::snprintf(text, sizeof text, "%s 0x%08llx (pc 0x%08llx)", kNames[trap.cause], value, pc);
  else if (trap.cause == 11)
    std::snprintf(text, sizeof text, "environment call (pc 0x%08llx)", pc);
  else
    std::snprintf(text, sizeof text, "trap %llu (pc 0x%08llx)",
                  static_cast<unsigned long long>(trap.cause), pc);
  return text;
}

template <class Word>
Hart<Word>::Hart(const ProcessorOptions& options, Memory& memory, Device* device)
    : options_(options),
      memory_(memory),
      device_(device),
      control_(options.isa, floats_),
      cache_(options.isa, memory, device) {}

template <class Word>
Stop Hart<Word>::run(uint64_t instructions) {
  fault_.clear();
  // The host's rounding and flags are the program's while it runs, and are put back however it
  // ends.
  const FloatUnit::Session session;
  floats_.set_flags(kept_fcsr_ & 31);
  floats_.set_mode(kept_fcsr_ >> 5);
  // Timing is a template parameter, so that the loop without it has no tests for it.
  const uint64_t limit = retired_ + instructions;
  const Leave how = options_.with_timing ? loop<true>(limit) : loop<false>(limit);
  kept_fcsr_ = floats_.flags() | floats_.mode() << 5;
  switch (how) {
    case Leave::kLimit:
      return Stop::kLimit;
    case Leave::kHost:
      return Stop::kHost;
    case Leave::kDeviceFault:
      return Stop::kDeviceFault;
    case Leave::kTrap:
      break;
  }
  return Stop::kTrap;
}

template <class Word>
Account Hart<Word>::account() const {
  Account a;
  // The clock counts half cycles.
  a.cycles = now_ / 2;
  a.instructions = retired_;
  a.waited = waited_;
  a.waited_for_loads = waited_for_loads_;
  a.waited_for_device = waited_for_device_;
  if (device_ != nullptr) a.events = device_->events();
  return a;
}

template <class Word>
bool Hart<Word>::control_register(const Instruction& i) {
  const uint32_t number = static_cast<uint32_t>(i.immediate) >> 20;
  // What is read is the state before this instruction.
  const Clock clock{now_ / 2 - 1, retired_ - 1};
  const std::optional<uint64_t> old = control_.read(number, clock);
  // No such register here: the instruction is illegal.
  if (!old) return false;
  if (ControlRegisters::is_cycle(number) && readings_.size() < kMostReadings) {
    readings_.push_back(account());
    readings_.back().cycles = clock.cycles;
    readings_.back().instructions = clock.instructions;
  }
  // The immediate forms have their operand in the place of the register's number.
  const uint64_t operand = i.detail & 4 ? i.rs1 : x_[i.rs1];
  const int how = i.detail & 3;
  // Setting or clearing no bits does not write, so that read-only registers can be read so.
  if (how == 1 || i.rs1 != 0) {
    if (number >> 10 == 3) return false;  // read-only
    const uint64_t value = how == 1 ? operand : how == 2 ? *old | operand : *old & ~operand;
    if (!control_.write(number, static_cast<Word>(value), clock)) return false;
  }
  x_[i.rd] = static_cast<Word>(*old);
  return true;
}

template <class Word>
bool Hart<Word>::atomic(const Instruction& i, uint64_t& cause, uint64_t& value) {
  const uint64_t address = x_[i.rs1], size = i.mode == 2 ? 4 : 8;
  value = address;
  const bool load_only = i.detail == 2;
  // Within one aligned word, or the access would be no single one.
  if (address & (size - 1)) return cause = load_only ? 4 : 6, false;
  if (load_only ? !memory_.holds(address, size) : !memory_.may_write(address, size))
    return cause = load_only ? 5 : 7, false;
  const uint64_t old =
      size == 4 ? extended(static_cast<Word>(static_cast<Signed>(memory_.read<int32_t>(address))))
                : memory_.read<uint64_t>(address);
  uint64_t result = old;
  // Load-reserved; one hart, so that a reservation is an address.
  if (i.detail == 2) {
    reserved_ = address;
    // Store-conditional: 0 where the reservation held.
  } else if (i.detail == 3) {
    result = reserved_ != address;
    reserved_ = 0;
    if (result == 0) std::memcpy(memory_.at(address), &x_[i.rs2], size);
  } else if (size == 4) {
    memory_.write(address,
                  combine(i.detail, static_cast<uint32_t>(old), static_cast<uint32_t>(x_[i.rs2])));
  } else {
    memory_.write(address, combine(i.detail, old, static_cast<uint64_t>(x_[i.rs2])));
  }
  x_[i.rd] = static_cast<Word>(result);
  return true;
}

template <class Word>
uint64_t Hart<Word>::run_device(const Instruction& i, uint64_t now) {
  Device::Reply reply =
      device_->execute({static_cast<uint32_t>(i.immediate), x_[i.rs1], x_[i.rs2], now}, memory_);
  if (!reply.fault.empty()) {
    fault_ = std::move(reply.fault);
    return 0;
  }
  x_[i.rd] = static_cast<Word>(reply.rd);
  // A device's instruction takes a cycle at least.
  return std::max(reply.next, now + 1);
}

template <class Word>
bool Hart<Word>::begin_trap(uint64_t cause, uint64_t value) {
  trap_ = {cause, pc_, value, true};
  // The first one is the cause; a handler that is broken makes others.
  if (!first_trap_.happened) first_trap_ = trap_;
  control_.trap_cause = cause;
  control_.trap_pc = static_cast<Word>(pc_);
  control_.trap_value = static_cast<Word>(value);
  now_ += 2;
  // A trap at the handler's own first instruction would go on for ever.
  const bool handled = control_.trap_vector != 0 && pc_ != control_.trap_vector;
  if (handled) pc_ = control_.trap_vector;
  return handled;
}

template class Hart<uint32_t>;
template class Hart<uint64_t>;

std::unique_ptr<Processor> Processor::make(const ProcessorOptions& options, Memory& memory,
                                           Device* device) {
  if (options.isa.xlen == 32) return std::make_unique<Hart<uint32_t>>(options, memory, device);
  return std::make_unique<Hart<uint64_t>>(options, memory, device);
}

}  // namespace exotune::sim
