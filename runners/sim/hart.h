#pragma once
// Hart: the Processor for one register width. Its loop is in hart_loop.cc, made for both widths.
#include <string>
#include <type_traits>
#include <vector>

#include "runners/sim/code_cache.h"
#include "runners/sim/control_registers.h"
#include "runners/sim/processor.h"

namespace exotune::sim {

/// One instance runs one program from its first instruction on. State that the loop uses in every
/// instruction is kept in locals of the loop and brought back to the members when it leaves: the
/// compiler cannot keep members in registers across stores to the program's memory.
template <class Word>
class Hart final : public Processor {
 public:
  Hart(const ProcessorOptions& options, Memory& memory, Device* device);

  /// Runs until that many instructions have retired, the program exits, or something stops it; Stop
  /// says which. May be called again to go on, but for after a fault.
  Stop run(uint64_t instructions) override;
  /// Valid between calls of run(), as set by the program or from outside.
  uint64_t pc() const override { return pc_; }
  void set_pc(uint64_t pc) override { pc_ = pc; }
  uint64_t x(int n) const override { return extended(x_[n]); }
  void set_x(int n, uint64_t value) override {
    if (n != 0) x_[n] = static_cast<Word>(value);
  }
  FloatBits f(int n) const override { return f_[n]; }
  void set_f(int n, FloatBits bits) override { f_[n] = bits; }
  uint32_t fcsr() const override { return kept_fcsr_; }
  void set_fcsr(uint32_t value) override { kept_fcsr_ = value & 255; }
  /// Cycles, instructions and waits so far; readings are those at each time the program looked at a
  /// counter.
  Account account() const override;
  const std::vector<Account>& readings() const override { return readings_; }
  /// The last trap, and the first one, which is usually the cause of the others; fault() is the
  /// device's complaint in words.
  const Trap& trap() const override { return trap_; }
  const Trap& first_trap() const override { return first_trap_; }
  const std::string& fault() const override { return fault_; }

 private:
  using Signed = std::make_signed_t<Word>;
  // Of a register.
  static constexpr int kBits = 8 * sizeof(Word);
  static uint64_t extended(Word w) {
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<Signed>(w)));
  }

  // How the loop ended; it is entered again for what it leaves to the rest.
  enum class Leave : uint8_t { kLimit, kHost, kTrap, kDeviceFault };
  template <bool kTiming>
  Leave loop(uint64_t limit);

  // What the loop does out of line. Each works on the members, which the loop has brought up to
  // date.
  bool control_register(const Instruction& i);
  bool atomic(const Instruction& i, uint64_t& cause, uint64_t& value);
  /// When the processor goes on; 0 and fault_ when the program broke a rule of the device.
  uint64_t run_device(const Instruction& i, uint64_t now);
  /// False when there is no handler, or the trap is the handler's own first instruction's.
  bool begin_trap(uint64_t cause, uint64_t value);

  ProcessorOptions options_;
  Memory& memory_;
  Device* device_;
  FloatUnit floats_;
  ControlRegisters control_;
  CodeCache cache_;
  /// Register 0 is always zero: writes to it go to x_[32], which nobody reads, so that the loop
  /// needs no test.
  Word x_[33] = {};
  FloatBits f_[32] = {};
  // Twice the cycle at which the register may be used, plus one when a load writes it.
  uint64_t ready_[33] = {};
  uint64_t float_ready_[32] = {};
  uint64_t now_ = 0;  // twice the next cycle
  uint64_t retired_ = 0;
  uint64_t waited_ = 0, waited_for_loads_ = 0, waited_for_device_ = 0;
  uint64_t pc_ = 0;
  uint64_t reserved_ = 0;  // address of an lr, or 0
  uint32_t kept_fcsr_ = 0;
  std::vector<Account> readings_;
  Trap trap_, first_trap_;
  std::string fault_;
};

}  // namespace exotune::sim
