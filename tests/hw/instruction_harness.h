#pragma once
// Runs every instruction of a target twice, as the interpreter understands its body and as the C
// its template becomes, on the same inputs. Works on any target with a vector register file that
// runs here, or under an emulator of this machine that takes programs for Linux (qemu).
//
// Each instruction is wrapped in a proc over DRAM that loads all register operands, calls it once
// and stores all registers back, so lanes and memory that it must leave alone are compared too.
#include <string>
#include <vector>

#include "hw/machine.h"
#include "hw/target.h"

namespace exotune {

class InstructionHarness {
 public:
  /// Wraps and compiles all instructions of `target` with the target's own compiler and flags, or
  /// with `flags` instead. `importer` resolves the target's name.
  InstructionHarness(TargetPtr target, const Importer& importer);
  InstructionHarness(TargetPtr target, const Importer& importer, std::vector<std::string> flags);
  ~InstructionHarness();
  InstructionHarness(const InstructionHarness&) = delete;
  InstructionHarness& operator=(const InstructionHarness&) = delete;

  /// What the compiler said; empty when it built without a word under -Wall -Wextra.
  const std::string& build_log() const { return build_log_; }
  const std::vector<ProcPtr>& wrappers() const { return wrappers_; }
  /// Instructions that could not be wrapped: a register operand that nothing loads or stores.
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// "" when both ways agree on inputs drawn from `seed`; else the first difference in words.
  std::string compare(const Proc& wrapper, int64_t n, uint64_t seed) const;

  struct Call {
    ProcPtr wrapper;
    int64_t n = 1;
    uint64_t seed = 1;
  };
  /// The same for a target that does not run here, all calls in one program that `emulator` (a
  /// command and its options) runs: by call, "" or the difference.
  std::vector<std::string> compare_under(const std::vector<std::string>& emulator,
                                         const std::vector<Call>& calls) const;

 private:
  struct Prepared;
  Prepared prepare(const Proc& wrapper, int64_t n, uint64_t seed) const;
  TargetPtr target_;
  std::vector<ProcPtr> wrappers_;
  std::vector<std::string> left_out_;
  std::string directory_, build_log_;
  void* library_ = nullptr;
};

}  // namespace exotune
