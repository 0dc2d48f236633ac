#include "runners/loop_timing.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <set>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/base/deadline.h"
#include "runners/batch_timer.h"
#include "runners/sandbox.h"
#include "runners/shared_object.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

// Compilers run beside each other, and one file that fails takes only its units along.
constexpr size_t kUnitsPerFile = 24;
constexpr int kAdditions = 8;  // in one step of the clock

// An addition of two registers takes one cycle; one of a constant may take none.
constexpr const char* kClock = R"(#include <stdint.h>
void exo_loop_clock(int64_t steps, char* memory) {
  int64_t x = steps, y = (int64_t)(intptr_t)memory;
#define EXO_ADD __asm__ volatile("" : "+r"(x), "+r"(y)); x += y;
  for (int64_t i = 0; i < steps; ++i) { EXO_ADD EXO_ADD EXO_ADD EXO_ADD EXO_ADD EXO_ADD EXO_ADD EXO_ADD }
  __asm__ volatile("" : : "r"(x));
}
)";

using Loop = void(int64_t, char*);

double seconds_of(Loop* loop, int64_t steps, char* memory) {
  const double start = thread_seconds();
  loop(steps, memory);
  return thread_seconds() - start;
}

int64_t steps_for(Loop* loop, char* memory, double seconds) {
  // Steps: a loop that the compiler emptied would go on doubling.
  constexpr int64_t kMost = int64_t{1} << 40;
  for (int64_t steps = 1;; steps *= 4) {
    const double spent = seconds_of(loop, steps, memory);
    if (spent < seconds / 4 && steps < kMost) continue;
    return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(steps) * seconds / spent));
  }
}

// What else runs makes batches longer; a clock that was set makes one now and then far too short.
double low(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 5];
}

// In the child.
void time_unit(const std::string& library, const LoopUnit& unit, const LoopTimingOptions& options,
               double* cycles) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);  // values that shrink must not become slow
#endif
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) _exit(3);
  const auto find = [&](const char* name) {
    auto* loop = reinterpret_cast<Loop*>(dlsym(handle, name));
    if (!loop) _exit(4);
    return loop;
  };
  void* memory = mmap(nullptr, static_cast<size_t>(unit.memory_bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(5);
  madvise(memory, static_cast<size_t>(unit.memory_bytes), MADV_HUGEPAGE);
  auto* m = static_cast<char*>(memory);
  for (int64_t at = 0; at < unit.memory_bytes; at += 4096) m[at] = 1;
  Loop* clock = find("exo_loop_clock");
  const int64_t ticks = steps_for(clock, m, options.batch_seconds);
  for (size_t f = 0; f < unit.functions.size(); ++f) {
    Loop* loop = find(unit.functions[f].name.c_str());
    loop(1, m);
    const int64_t steps = steps_for(loop, m, options.batch_seconds);
    std::vector<double> spent, tick;
    for (int batch = 0; batch < std::max(1, options.batches); ++batch) {
      spent.push_back(seconds_of(loop, steps, m) / static_cast<double>(steps));
      tick.push_back(seconds_of(clock, ticks, m) / static_cast<double>(ticks));
    }
    cycles[f] = low(spent) / (low(tick) / kAdditions) / unit.functions[f].per_step;
  }
}

class LoopTimer {
 public:
  LoopTimer(const std::vector<LoopUnit>& units, const TargetToolchain& toolchain,
            const LoopTimingOptions& options)
      : units_(units),
        toolchain_(toolchain),
        options_(options),
        directory_(options.work_directory),
        libraries_(units.size()) {}

  LoopTimings run() {
    std::vector<std::vector<size_t>> files;
    for (size_t u = 0; u < units_.size(); ++u) {
      if (u % kUnitsPerFile == 0) files.emplace_back();
      files.back().push_back(u);
    }
    const size_t jobs = static_cast<size_t>(std::max(1, options_.jobs));
    const Deadline deadline = DeadlineScope::current();  // the compilers' threads have none
    for (size_t first = 0; first < files.size(); first += jobs) {
      std::vector<std::future<void>> running;
      for (size_t k = first; k < std::min(files.size(), first + jobs); ++k)
        running.push_back(std::async(std::launch::async, [&, k] {
          const DeadlineScope scope(deadline);
          compile(files[k]);
        }));
      for (auto& r : running) r.get();
    }
    LoopTimings out;
    for (size_t u = 0; u < units_.size(); ++u) out.push_back(time(u));
    return out;
  }

 private:
  // What a compiler refuses is found by halves.
  void compile(const std::vector<size_t>& members) {
    std::vector<LoopUnit> units;
    for (const size_t u : members) units.push_back(units_[u]);
    SharedObjectRequest request;
    request.compiler = toolchain_.cc;
    request.flags = toolchain_.flags;
    request.flags.push_back("-w");
    request.source = kClock + text_of(units, toolchain_);
    request.name = "loops";
    std::string error;
    const std::string library = compile_shared_object(request, directory_.path(), &error);
    if (!library.empty()) {
      for (const size_t u : members) libraries_[u] = library;
    } else if (members.size() > 1 && !DeadlineScope::current().over()) {
      const auto half = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
      compile({members.begin(), half});
      compile({half, members.end()});
    }
  }

  std::vector<LoopTiming> time(size_t u) const {
    const LoopUnit& unit = units_[u];
    std::vector<LoopTiming> out(unit.functions.size());
    std::string cause = "does not compile";
    if (DeadlineScope::current().over()) {
      cause = "there was no time for it";
    } else if (!libraries_[u].empty() && !unit.functions.empty()) {
      SharedMemory memory(sizeof(double) * unit.functions.size());
      auto* cycles = memory.as<double>();
      const ChildOutcome outcome = run_in_child(
          [&] { time_unit(libraries_[u], unit, options_, cycles); }, options_.timeout_seconds);
      cause = outcome.ok() ? "" : outcome.describe();
      for (size_t f = 0; f < out.size(); ++f) out[f].cycles = cycles[f];
    }
    for (LoopTiming& t : out)
      if (t.cycles <= 0) t.cause = cause;
    return out;
  }

  const std::vector<LoopUnit>& units_;
  const TargetToolchain& toolchain_;
  const LoopTimingOptions& options_;
  const WorkDirectory directory_;
  std::vector<std::string> libraries_;  // by unit
};

}  // namespace

std::string text_of(const std::vector<LoopUnit>& units, const TargetToolchain& toolchain) {
  std::string out;
  for (const std::string& line : toolchain.includes) out += line + "\n";
  std::set<std::string> known;
  for (const LoopUnit& unit : units)
    for (const std::string& global : unit.globals)
      if (known.insert(global).second) out += global + "\n";
  for (const LoopUnit& unit : units) out += unit.text;
  return out;
}

LoopTimings time_loops(const std::vector<LoopUnit>& units, const TargetToolchain& toolchain,
                       const LoopTimingOptions& options) {
  return LoopTimer(units, toolchain, options).run();
}

}  // namespace exotune
