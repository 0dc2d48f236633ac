#pragma once
// Conditions: what on this machine makes measurements worse, read from /proc and /sys. Start at
// measuring_conditions; `doctor` prints them, `kernel` warns of load.
#include <filesystem>
#include <string>
#include <vector>

namespace exotune {

struct Condition {
  std::string what;    // "load", "governor", ...
  bool good = true;    // false: figures will be worse than they could be
  std::string detail;  // what it is, and what to do
};

/// Load, frequency governor, SMT siblings, CPU quota of the cgroup and huge pages, as far as the
/// files under `root` tell; what they do not tell is left out. `cores` is what the machine has.
std::vector<Condition> measuring_conditions(int cores, const std::filesystem::path& root = "/");

/// What `kernel` says before it measures on a busy machine; "" when there is room.
std::string load_warning(int cores, const std::filesystem::path& root = "/");

/// The spread of a loop that does the same each time: a few milliseconds of the thread's CPU clock
/// and of the wall's. Takes about 0.1 s.
struct NoiseFloor {
  double spread = 0;     // 90th over 10th percentile, less 1, of CPU time
  double preempted = 0;  // share of the samples in which another program ran
};
NoiseFloor measure_noise();

}  // namespace exotune
