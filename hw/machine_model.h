#pragma once
// MachineModel: one answer to "what is this machine", for everything that reckons: the dynamic
// program, the beam, the cost model and the reports. Start at model_of.
//
// Each number has a source, and a later one outranks an earlier: the target's text (an instruction
// set says nothing of caches, so mostly hw/uarch/default.toml), the text of the microarchitecture
// (hw/uarch/NAME.toml), what was probed, what was measured here.
#include <filesystem>
#include <string>
#include <vector>

#include "hw/core_facts.h"
#include "hw/machine.h"
#include "hw/target.h"

namespace exotune {

/// One file of hw/uarch: sizes and cycles of a core's memory levels, by the names of the levels,
/// and what else is to be known of it.
struct Microarchitecture {
  std::string name;  // of the file
  std::string title;
  std::vector<std::string> microarchs;  // as Machine::microarch has them; "x*": any that begins so
  std::vector<TargetLevel> levels;      // caches, and last the memory behind them
  CoreFacts core = default_core();
  std::vector<std::string> said;  // keys of `core` that the file has

  bool describes(const std::string& microarch) const;
};

/// InputError for a file that does not parse or says what nobody reads.
Microarchitecture load_microarchitecture(const std::filesystem::path& file);

/// Beside the targets in `folder`: uarch/*.toml that describes it, else uarch/default.toml, else
/// one without levels.
Microarchitecture microarchitecture_of(const std::filesystem::path& folder,
                                       const std::string& microarch);

/// This machine with another core: the caches and cycles of a file like those of hw/uarch. Plans
/// can be made for it; nothing that was measured here counts: the file's name stands for its
/// microarchitecture.
Machine described_machine(Machine here, const std::filesystem::path& file);

struct ModelledNumber {
  std::string what;  // "L2", "L2 line"
  double value = 0;  // bytes, cycles
  std::string unit;
  std::string source;  // "target text", "uarch/zen5.toml", "probed", "measured", a file's name
};

struct MachineModel {
  std::vector<TargetLevel> levels;  // the target's, as this machine has them
  CoreFacts core = default_core();  // its latencies the target's where nobody says others
  std::vector<ModelledNumber> numbers;
};

/// `measured_lines`: cycles for a line in each cache, nearest first, and last in memory; may be
/// empty. Reads the files of hw/uarch, some milliseconds.
MachineModel model_of(const Target& target, const Machine& machine,
                      const std::vector<double>& measured_lines = {});

}  // namespace exotune
