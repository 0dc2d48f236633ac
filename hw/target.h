#pragma once
// Target: what a folder of text says about a machine: instructions, memories, figures, compiler,
// runner. Start at load_target.
//
// A target is `FOLDER/NAME/target.toml` plus `FOLDER/NAME/*.exo`; nothing in C++ names one, so a
// new accelerator is a new folder. docs/targets.md has the keys of target.toml; an unknown key, a
// wrong type, a memory that the text does not define or an instruction that does not parse is an
// InputError that stands where the offence stands.
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/frontend/parser.h"
#include "hw/comparison.h"
#include "hw/toml_table.h"

namespace exotune {

/// One level of the memory hierarchy.
struct TargetLevel {
  std::string name;          // "registers", "L1", "DRAM", "scratchpad"
  MemoryPtr memory;          // what a program places here; null: a cache, managed by the hardware
  int64_t bytes = 0;         // capacity; 0 = unlimited
  int line_bytes = 0;        // unit of transfer from the next level out; 0 = element by element
  double cost_per_line = 0;  // cycles to touch a line that lies here
  bool is_cache() const { return memory == nullptr; }
};
/// Those that are caches of a known size, the nearest to the core first.
std::vector<TargetLevel> caches_of(const std::vector<TargetLevel>& levels);

struct TargetCompiler {
  std::vector<std::string> programs;  // in order of preference, found on PATH
  std::vector<std::string> flags;     // explicit ISA flags, never "native"
  std::vector<std::string> headers;   // "<immintrin.h>"
  /// Flags for what a CPU may have beyond the required features, by feature: of use to compilers
  /// alone, where they make vectors of plain loops themselves.
  std::map<std::string, std::vector<std::string>> further;
};

/// How the target's code runs. `kind` "native" runs in a child process here; other kinds are known
/// to runners/. `options` are the strings the runner of that kind reads.
struct TargetRunner {
  std::string kind = "native";
  std::map<std::string, std::string> options;
  /// The code is this machine's own: its CPU must have the features, and what runs here can meet.
  bool is_this_machine() const { return kind == "native"; }
};

/// A folder of `hw/` as read: instructions and memories as object code, and the numbers of its
/// target.toml. What no key says is zero or empty, and means unknown. Never changed once loaded.
struct Target {
  std::string name;   // of the folder
  std::string title;  // one line for lists
  std::string isa;    // records of the same isa can stand in for each other
  std::filesystem::path folder;
  std::string hash;  // content hash of target.toml and every .exo file

  std::vector<std::string> required_features;  // of the CPU, for runner "native"; see hw/machine.h
  TargetCompiler compiler;
  TargetRunner runner;

  int vector_bits = 0;                    // 0: no vector unit
  std::map<ScalarType, int> lanes;        // elements of one vector register
  MemoryPtr vector_memory;                // the vector register file; null: none
  bool predication = false;               // masked tails pay off
  std::vector<ProcPtr> streams;           // stores past the caches, and what orders them
  ProcPtr stream_fence;                   // null where there are none
  std::vector<ProcPtr> estimates;         // that do what others do, by estimates
  std::map<ScalarType, double> peak;      // arithmetic operations a cycle and core (an FMA is two)
  std::map<std::string, double> latency;  // cycles by class of instruction: "fma", "load"
  std::map<std::string, double> parameters;  // anything else that costs and models read by name
  std::vector<TargetLevel> levels;           // from the fastest to main memory

  PeerLimits peers;                      // what the libraries it meets are held to
  std::map<ScalarType, RoofLoop> roofs;  // what their peak is measured with
  std::optional<TomlTable> search;       // [search], which the dynamic program reads (search/dp)

  Module library;  // instructions, memories, configs, constants and helper procs of the text

  /// The instructions in the order of the text, which is the order replace_all tries them in.
  std::vector<ProcPtr> instructions() const;
  /// Elements in one vector register; 1 when the target has no vectors of that precision.
  int lanes_of(ScalarType t) const;
  double peak_of(ScalarType t) const;  // 0 when not given
  const TargetLevel* find_level(const std::string& level) const;
};
using TargetPtr = std::shared_ptr<const Target>;

/// `name_or_folder`: a folder that holds a target.toml, else the name of one inside `folders` (the
/// first that has it). Refuses (InputError) an unknown name, naming the nearest, and bad text.
TargetPtr load_target(const std::string& name_or_folder,
                      const std::vector<std::filesystem::path>& folders);

/// Names of the targets in `folders`, sorted, each once. Their text is not read.
std::vector<std::string> list_targets(const std::vector<std::filesystem::path>& folders);

/// Loads each target at most once, and resolves `from NAME import *` for parse_module.
class TargetLibrary {
 public:
  explicit TargetLibrary(std::vector<std::filesystem::path> folders);
  const std::vector<std::filesystem::path>& folders() const { return folders_; }
  /// As load_target; the same object for the same name.
  TargetPtr load(const std::string& name_or_folder);
  std::vector<std::string> names() const { return list_targets(folders_); }
  /// An importer that lives as long as this library.
  Importer importer();

 private:
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, TargetPtr> loaded_;
};

}  // namespace exotune
