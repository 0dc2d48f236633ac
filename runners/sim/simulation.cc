#include "runners/sim/simulation.h"

#include <chrono>

#include "core/base/diagnostic.h"

namespace exotune::sim {

namespace {

using End = SimulationResult::End;

constexpr uint64_t kSlice = 20'000'000;  // instructions between looks at the clock
constexpr uint64_t kWrite = 64;          // number of the system call

class Running {
 public:
  Running(const ElfImage& image, const SimulationOptions& options, Device* device,
          const SimulationLimits& limits)
      : image_(image),
        limits_(limits),
        memory_(options.memory_base, options.memory_bytes),
        tohost_(image.symbol("tohost")),
        fromhost_(image.symbol("fromhost")) {
    if (image.xlen != options.isa.xlen)
      throw InputError({}, "a program for " + std::to_string(image.xlen) +
                               " bits on a machine of " + std::to_string(options.isa.xlen));
    image.load(memory_);
    if (device != nullptr) device->reset();
    processor_ = Processor::make({options.isa, options.with_timing, options.timing, tohost_},
                                 memory_, device);
    processor_->set_pc(image.entry);
  }

  SimulationResult run() {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    bool over = false;
    while (!over) {
      const uint64_t done = processor_->account().instructions;
      if (done >= limits_.instructions)
        end(End::kInstructionLimit,
            "still running after " + std::to_string(done) + " instructions");
      else if (seconds() > limits_.seconds)
        end(End::kTimeLimit,
            "still running after " + std::to_string(done) + " instructions, when the time was up");
      else if (limits_.interrupted && limits_.interrupted())
        end(End::kInterrupted, "interrupted");
      else
        over = step(std::min(kSlice, limits_.instructions - done));
      over = over || result_.end != End::kExit;
    }
    if (processor_->first_trap().happened && result_.end != End::kDeviceFault)
      result_.cause = trap_text();
    result_.total = processor_->account();
    result_.readings = processor_->readings();
    result_.seconds = seconds();
    return std::move(result_);
  }

 private:
  void end(End how, const std::string& cause) {
    result_.end = how;
    result_.cause = cause + in_function(processor_->pc());
  }

  // True when the program has ended.
  bool step(uint64_t instructions) {
    switch (processor_->run(instructions)) {
      case Stop::kLimit:
        return false;
      case Stop::kHost:
        return serve();
      case Stop::kTrap:
        end(End::kTrap, describe(processor_->trap()));
        return true;
      case Stop::kDeviceFault:
        end(End::kDeviceFault, processor_->fault());
        return true;
    }
    return true;
  }

  // The program has written to tohost. True when that was its exit.
  bool serve() {
    const uint64_t value = memory_.read<uint64_t>(tohost_);
    if (value & 1) {
      result_.exit_code = value >> 1;
      return true;
    }
    uint64_t answer = ~uint64_t{0};
    uint64_t call[4] = {};
    if (memory_.holds(value, sizeof call)) {
      std::memcpy(call, memory_.at(value), sizeof call);
      if (call[0] == kWrite && memory_.holds(call[2], call[3])) {
        const size_t room =
            limits_.console_bytes - std::min(limits_.console_bytes, result_.console.size());
        result_.console.append(reinterpret_cast<const char*>(memory_.at(call[2])),
                               std::min<size_t>(room, call[3]));
        answer = call[3];
      }
      if (memory_.may_write(value, 8)) memory_.write(value, answer);
    }
    memory_.write<uint64_t>(tohost_, 0);
    if (fromhost_ != 0 && memory_.holds(fromhost_, 8)) memory_.write<uint64_t>(fromhost_, 1);
    return false;
  }

  std::string in_function(uint64_t pc) const {
    const std::string where = image_.locate(pc);
    return where.empty() ? "" : " in " + where;
  }

  // A fault just below the stack is an overflow of it.
  std::string trap_text() const {
    const Trap& trap = processor_->first_trap();
    const uint64_t bottom = image_.symbol("exo_stack_bottom");
    const bool access = trap.cause == 5 || trap.cause == 7;
    if (access && bottom != 0 && trap.value < bottom && bottom - trap.value <= kBelowStack)
      return "stack overflow" + in_function(trap.pc);
    return describe(trap) + in_function(trap.pc);
  }
  // A fault so near below the stack is said to be an overflow of it.
  static constexpr uint64_t kBelowStack = 1 << 20;

  const ElfImage& image_;
  const SimulationLimits& limits_;
  Memory memory_;
  uint64_t tohost_, fromhost_;
  std::unique_ptr<Processor> processor_;
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(const ElfImage& image, const SimulationOptions& options, Device* device,
                          const SimulationLimits& limits) {
  return Running(image, options, device, limits).run();
}

}  // namespace exotune::sim
