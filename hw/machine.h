#pragma once
// Machine: what the computer we run on is, and which targets it can execute. Start at
// probe_machine.
//
// A fingerprint keys stored measurements: two machines with the same hash are interchangeable for
// timings, the same microarch gives good guesses, the same isa valid code.
#include <cstdint>
#include <string>
#include <vector>

#include "hw/target.h"

namespace exotune {

struct CacheLevel {
  int level = 0;      // 1 = closest to the core; data or unified caches only
  int64_t bytes = 0;  // of one instance
  int line_bytes = 0;
  int shared_by = 1;  // cores
};

struct Machine {
  std::string arch;    // "x86_64"
  std::string vendor;  // "GenuineIntel"
  std::string model_name;
  int family = 0, model = 0, stepping = 0;
  std::string microarch;              // a code name where one is known, else vendor-family-model
  std::vector<std::string> features;  // ISA extensions that CPU and system support, sorted
  int cores = 1, threads = 1;
  int64_t memory_bytes = 0;
  std::vector<CacheLevel> caches;  // by level

  bool has_feature(const std::string& feature) const;
  /// The target's levels with the sizes and lines of this machine's caches, by order of caches.
  std::vector<TargetLevel> levels_of(const Target& target) const;
};

/// Reads CPU identification and topology; some milliseconds.
Machine probe_machine();

/// The features `target` needs and `machine` lacks; empty for a target that does not run natively.
std::vector<std::string> missing_features(const Machine& machine, const Target& target);
/// Native and nothing missing.
bool supports(const Machine& machine, const Target& target);

/// Of the targets that `machine` supports, the one of highest peak for `types`, the first of them
/// first (ties: f32 peak, f64 peak, then name); null when there is none.
TargetPtr best_target(const Machine& machine, const std::vector<TargetPtr>& targets,
                      const std::vector<ScalarType>& types = {});

struct Fingerprint {
  std::string isa;  // of the target
  std::string microarch;
  std::string hash;  // of everything in Machine that timing depends on
};
Fingerprint fingerprint(const Machine& machine, const Target& target);

struct CompilerIdentity {
  std::string program;  // as the target names it
  std::string path;     // on PATH
  std::string version;  // first line of --version
  std::string hash;     // of version and flags: part of the key of stored measurements
};
/// The first line of `path --version`; nothing: it does not run, or was stopped by the thread's
/// deadline. What answers is asked once in a process, as it takes 0.1 s.
std::optional<std::string> version_of(const std::string& path);

/// The first of the target's compilers that runs. Throws Error(kUnavailable) naming all that were
/// tried.
CompilerIdentity find_compiler(const TargetCompiler& compiler);

}  // namespace exotune
