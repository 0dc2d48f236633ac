#pragma once
// The contract between a bare-metal benchmark and whoever runs it, on a simulator or a board: one
// line a measurement, in whatever else the run prints.
//
//   EXO_TUNE v1 kernel=ID run=I cycles=N instret=N check=ok|bad hash=HEX
//   EXO_TUNE v1 found arg=A what=mismatch|poison|input|guard at=N got=HEX want=HEX
//   EXO_TUNE v1 trap cause=N pc=HEX value=HEX
//   EXO_TUNE v1 counted instret=N
//   EXO_TUNE v1 end n=COUNT
//
// `counted` is said by what runs the program, where a program itself cannot read a counter: the
// instructions of the measured run, which are also its cycles (cycles=0 in the run's own line).
//
// A run counts only when the last line is there, COUNT is that of the first kind, and every check
// is ok. Lines may end in CR LF and begin with what a console puts before them.
#include <cstdint>
#include <string>
#include <vector>

namespace exotune {

struct ContractRun {
  std::string kernel;
  int64_t run = 0;
  uint64_t cycles = 0, instructions = 0;
  bool ok = false;
  std::string hash;  // of the outputs
};

struct ContractOutput {
  std::vector<ContractRun> runs;
  bool complete = false;  // the end line is there and its count is right
  /// What the program found wrong; "" when nothing.
  std::string what;  // "mismatch", "poison", "input", "guard"
  uint64_t argument = 0, at = 0;
  std::string got, want;  // hexadecimal
  bool trapped = false;
  uint64_t trap_cause = 0;
  std::string trap_pc, trap_value;
  std::vector<uint64_t> counted;  // by the runner, for runs that counted nothing themselves
  bool all_ok() const;
};

/// Never refuses: what cannot be read as a line of the contract is noise.
ContractOutput read_contract(const std::string& text);

}  // namespace exotune
