#pragma once
// Processor: one RISC-V hart in machine mode with its memory and at most one device. Start at
// Processor::make, then run. Traps are precise; `cycle` and `instret` depend on the program and the
// timing only, never on the host.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runners/sim/decoder.h"
#include "runners/sim/device.h"
#include "runners/sim/float_unit.h"
#include "runners/sim/memory.h"
#include "runners/sim/timing.h"

namespace exotune::sim {

/// Why run() came back.
enum class Stop : uint8_t {
  kLimit,        // the instruction limit was reached; run may go on
  kHost,         // a store to `tohost`: the caller looks at it, then run may go on
  kTrap,         // a trap and no handler (mtvec is 0): see trap()
  kDeviceFault,  // see fault()
};

/// The cause as mcause has it, where, and the address or instruction it is about.
struct Trap {
  uint64_t cause = 0, pc = 0, value = 0;
  bool happened = false;
};
/// "illegal instruction 0x0000006b at 0x80000010".
std::string describe(const Trap& trap);

/// What is fixed for the processor's life.
struct ProcessorOptions {
  Isa isa;
  bool with_timing = true;  // false: every instruction takes one cycle
  Timing timing;
  uint64_t tohost = 0;  // address that the host is told through; 0: none
};

/// State can be read and set between runs; a program's memory is the caller's. Not thread-safe, but
/// for different processors.
class Processor {
 public:
  /// `memory` and `device` (may be null) outlive it.
  static std::unique_ptr<Processor> make(const ProcessorOptions& options, Memory& memory,
                                         Device* device);
  virtual ~Processor() = default;

  /// Executes from pc() until `instructions` more have retired or something stops it.
  virtual Stop run(uint64_t instructions) = 0;

  /// As after power-on: pc and all registers 0, until they are set.
  virtual uint64_t pc() const = 0;
  virtual void set_pc(uint64_t pc) = 0;
  virtual uint64_t x(int n) const = 0;  // sign-extended on RV32
  virtual void set_x(int n, uint64_t value) = 0;
  virtual FloatBits f(int n) const = 0;
  virtual void set_f(int n, FloatBits bits) = 0;
  /// fcsr: the rounding mode above the flags.
  virtual uint32_t fcsr() const = 0;
  virtual void set_fcsr(uint32_t value) = 0;

  /// Up to now.
  virtual Account account() const = 0;
  /// One entry each time the program read `cycle` or `mcycle`, at most 4096: the parts of a
  /// measurement.
  virtual const std::vector<Account>& readings() const = 0;
  /// The last trap, taken or not; and the first.
  virtual const Trap& trap() const = 0;
  virtual const Trap& first_trap() const = 0;
  virtual const std::string& fault() const = 0;
};

}  // namespace exotune::sim
