#include "runners/conditions.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "runners/batch_timer.h"

namespace exotune {
namespace {

namespace fs = std::filesystem;

// The first line of a file; "" when it cannot be read.
std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string text(const char* format, double value) {
  char out[100];
  snprintf(out, sizeof out, format, value);
  return out;
}

// The load of the last minute; negative when unknown.
double load_of(const fs::path& root) {
  const std::string line = line_of(root / "proc/loadavg");
  return line.empty() ? -1 : strtod(line.c_str(), nullptr);
}

// One program may run: ours.
constexpr double kRoom = 0.5;

// CPUs' worth of time the cgroup grants; 0 when there is no limit.
double quota_of(const fs::path& root) {
  std::string line = line_of(root / "sys/fs/cgroup/cpu.max");  // "200000 100000" or "max 100000"
  if (line.empty()) {
    const std::string quota = line_of(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    if (!quota.empty() && quota[0] != '-')
      line = quota + " " + line_of(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us");
  }
  char* end = nullptr;
  const double granted = strtod(line.c_str(), &end);
  const double period = end ? strtod(end, nullptr) : 0;
  return granted > 0 && period > 0 ? granted / period : 0;
}

}  // namespace

std::string load_warning(int cores, const fs::path& root) {
  const double load = load_of(root);
  if (load < 0 || load <= cores - 1 + kRoom) return "";
  return text("the load is %.1f", load) + " on " + std::to_string(cores) +
         (cores == 1 ? " core" : " cores") +
         ": other programs take turns with what is measured; expect wide intervals";
}

std::vector<Condition> measuring_conditions(int cores, const fs::path& root) {
  std::vector<Condition> out;
  if (const double load = load_of(root); load >= 0) {
    const bool good = load_warning(cores, root).empty();
    out.push_back(
        {"load", good,
         text("%.2f in the last minute", load) + (good ? "" : "; measure when nothing else runs")});
  }
  if (const std::string governor =
          line_of(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
      !governor.empty()) {
    const bool good = governor == "performance";
    out.push_back({"governor", good,
                   governor + (good ? ""
                                    : "; the clock changes while measuring: cpupower "
                                      "frequency-set -g performance")});
  }
  if (const std::string active = line_of(root / "sys/devices/system/cpu/smt/active");
      !active.empty()) {
    const bool good = active != "1";
    out.push_back({"SMT", good,
                   good ? "off, or one thread a core"
                        : "on: a program on the sibling takes half of the core"});
  }
  if (const double quota = quota_of(root); quota > 0) {
    const bool good = quota >= 1;
    out.push_back({"CPU quota", good,
                   text("%.2f CPUs by the cgroup", quota) +
                       (good ? "" : "; what is measured is stopped in between")});
  }
  if (const std::string pages = line_of(root / "sys/kernel/mm/transparent_hugepage/enabled");
      !pages.empty())
    out.push_back({"huge pages", pages.find("[never]") == std::string::npos, pages});
  return out;
}

NoiseFloor measure_noise() {
  // Of a millisecond each: what disturbs a machine every few of them is seen.
  constexpr int kSamples = 50;
  constexpr int kAdditions = 2'000'000;  // about a millisecond
  std::vector<double> seconds;
  int preempted = 0;
  for (int s = 0; s < kSamples; ++s) {
    rusage before{}, after{};
    getrusage(RUSAGE_THREAD, &before);
    const double start = thread_seconds();
    uint64_t x = 1, y = static_cast<uint64_t>(s);
    for (int i = 0; i < kAdditions; ++i) {
      __asm__ volatile("" : "+r"(x), "+r"(y));
      x += y;
    }
    seconds.push_back(thread_seconds() - start);
    getrusage(RUSAGE_THREAD, &after);
    preempted += after.ru_nivcsw != before.ru_nivcsw;
  }
  std::sort(seconds.begin(), seconds.end());
  NoiseFloor out;
  out.spread = seconds[kSamples * 9 / 10] / std::max(seconds[kSamples / 10], 1e-12) - 1;
  out.preempted = static_cast<double>(preempted) / kSamples;
  return out;
}

}  // namespace exotune
