#pragma once
// Simulation: one bare-metal program from its first instruction to its exit, with the console and
// the exit of HTIF (the host-target interface of RISC-V's simulators). Start at simulate.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runners/sim/elf_image.h"
#include "runners/sim/processor.h"

namespace exotune::sim {

/// Whichever is met first ends the run, with that as its End; a program that loops for ever is the
/// usual case while searching.
struct SimulationLimits {
  uint64_t instructions = 10'000'000'000;
  double seconds = 60;                // of the host's clock
  size_t console_bytes = 1 << 20;     // what is printed beyond is lost
  std::function<bool()> interrupted;  // may be empty
};

/// The machine: memory begins where RISC-V's simulators put it, so that programs link alike.
struct SimulationOptions {
  Isa isa;
  bool with_timing = true;
  Timing timing;
  uint64_t memory_base = 0x80000000;
  uint64_t memory_bytes = uint64_t{1} << 28;
};

/// How it ended, what it printed, and what it took. kTrap: a trap without a handler, or one that
/// the program took and did not survive.
struct SimulationResult {
  enum class End : uint8_t {
    kExit,
    kInstructionLimit,
    kTimeLimit,
    kInterrupted,
    kTrap,
    kDeviceFault
  };
  End end = End::kExit;
  uint64_t exit_code = 0;  // of kExit
  std::string console;
  /// What went wrong, in words, with the function it went wrong in: a trap the program took or did
  /// not, a rule of the device, a limit. "" when nothing did.
  std::string cause;
  Account total;
  std::vector<Account> readings;  // see Processor::readings
  double seconds = 0;             // that it took here
  bool ok() const { return end == End::kExit && exit_code == 0; }
};

/// `device` may be null; it is reset first. InputError when the program does not fit the machine.
SimulationResult simulate(const ElfImage& image, const SimulationOptions& options, Device* device,
                          const SimulationLimits& limits = {});

}  // namespace exotune::sim
