#pragma once
// Arena: the seam between whoever compares finished code and whatever machine the comparison is run
// on. Start at Arena::compete; NativeArena is this machine. Beside Runner (runner.h), which judges
// candidates one by one, an arena lets a few of them, their peers and the machine's roof meet.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runners/memory_roof.h"
#include "runners/shootout.h"

namespace exotune {

class Arena {
 public:
  virtual ~Arena() = default;
  /// All take the arguments `test` was made for. Never throws for what a contender does.
  virtual ShootoutResult compete(std::span<const Contender> contenders,
                                 const std::vector<ArgSpec>& args, const TestCase& test,
                                 const ShootoutOptions& options) = 0;
  /// GFLOP/s of one core at this moment, for orientation; 0 when unknown.
  virtual double peak(ElementType precision) = 0;
  /// Roofs to run among the contenders: of arithmetic, and of memory; nothing where there is none.
  virtual std::optional<Contender> roof(ElementType precision) = 0;
  virtual std::optional<Contender> memory_roof(const Traffic& traffic) = 0;
  /// The libraries that can be asked to compete in `problem`.
  virtual PeerReport peers(const PeerProblem& problem) = 0;
  /// What other compilers, or this one when it may do as it likes, make of the nest as written.
  virtual std::vector<Contender> plain_code(const Candidate& as_written) = 0;
};

/// This machine, which judges candidates one by one: a child each (native_runner.h). Error(
/// kUnavailable) when the compiler is missing or the CPU lacks the toolchain's isa.
std::unique_ptr<Runner> native_runner(TargetToolchain toolchain, NativeOptions options = {});
/// This machine: contenders of one process at a time (shootout.h), with code by `toolchain`.
std::unique_ptr<Arena> native_arena(TargetToolchain toolchain, NativeOptions options = {});

}  // namespace exotune
