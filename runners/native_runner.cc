#include "runners/native_runner.h"

#include <dlfcn.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"
#include "runners/batch_timer.h"
#include "runners/compile_cache.h"
#include "runners/judge.h"
#include "runners/loaded_candidate.h"
#include "runners/statistics.h"
#include "runners/threads.h"
#include "runners/timing_arguments.h"

namespace exotune {

namespace {

constexpr int kMaxSamples = 512;

struct TrialShared {
  ChildReport report;
  int64_t calls;
  int32_t dropped, count;
  double samples[kMaxSamples];
};

/// In the child: as many samples as asked for, within the time.
void time_candidate(const BoundCall& call, const TimingArguments& arguments, int threads,
                    const RunOptions& options, TrialShared* shared) {
  const double deadline = wall_seconds() + options.timeout_seconds * 0.6;
  BatchTimer timer(arguments.ranges(), options.cold, threads);
  shared->calls = timer.calibrate(call, options.batch_seconds);
  int wanted = std::clamp(options.batches, 1, kMaxSamples);
  while (shared->count < wanted) {
    const BatchTimer::Sample s = timer.sample(call, shared->calls);
    // Preempted samples are taken again, but not for ever: long calls on a crowded machine all are.
    if (s.preempted && shared->dropped < 2 * wanted && wall_seconds() < deadline) {
      ++shared->dropped;
      continue;
    }
    shared->samples[shared->count++] = s.seconds;
    if (options.best_known > 0 && s.seconds > options.give_up_factor * options.best_known)
      wanted = 1;
    if (wall_seconds() > deadline) break;
  }
}

void child_main(const CompiledCandidate& unit, const PreparedCase& prepared,
                const RunOptions& options, TrialShared* shared) {
  ChildReport* report = &shared->report;
  watch_faults(report, {});
  std::string error;
  const Binder bind = load_candidate(unit, &error);
  if (!bind) {
    report->set(TrialStatus::kCrash, "cannot be loaded: " + error);
    report->stage = ChildReport::kDone;
    return;
  }
  if (judge(prepared, bind, report) && options.measure) {
    report->stage = ChildReport::kTiming;
    const TimingArguments arguments(prepared, options.cold);
    watch_faults(report, arguments.all());
    time_candidate(bind(arguments.sets()), arguments, unit.threads, options, shared);
    watch_faults(report, {});
  }
  report->stage = ChildReport::kDone;
}

TrialResult run_one(const CompiledCandidate& unit, const PreparedCase& prepared,
                    const RunOptions& options) {
  TrialResult result;
  if (!unit.ok()) {
    result.status = TrialStatus::kCompileError;
    result.cause = unit.error;
    return result;
  }
  SharedMemory memory(sizeof(TrialShared));
  auto* shared = memory.as<TrialShared>();
  const ChildOutcome outcome =
      run_in_child([&] { child_main(unit, prepared, options, shared); }, options.timeout_seconds);
  const Finding found = conclude(shared->report, outcome, options.timeout_seconds);
  result.status = found.status;
  result.cause = found.cause;
  if (found.status == TrialStatus::kCrash)
    result.signal = outcome.signal ? outcome.signal : shared->report.signal;
  const int count = std::clamp(shared->count, 0, kMaxSamples);
  result.samples.assign(shared->samples, shared->samples + count);
  result.calls_per_sample = shared->calls;
  result.dropped = shared->dropped;
  if (count > 0) {
    result.median = median_of(result.samples);
    result.minimum = *std::min_element(result.samples.begin(), result.samples.end());
  }
  return result;
}

}  // namespace

Binder load_candidate(const CompiledCandidate& unit, std::string* error) {
  if (unit.threads > 1) announce_threads(unit.threads);
  void* library = dlopen(unit.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library && unit.threads > 1) limit_threads(library, unit.threads);
  void* entry = library ? dlsym(library, unit.symbol.c_str()) : nullptr;
  if (!entry) {
    const char* text = dlerror();
    *error = text ? text : "no such symbol";
    return {};
  }
  const auto call = reinterpret_cast<void (*)(void** const*, int64_t, int64_t)>(entry);
  return [call](const std::vector<void**>& sets) -> BoundCall {
    return [call, sets](int64_t calls) {
      call(sets.data(), static_cast<int64_t>(sets.size()), calls);
    };
  };
}

struct NativeRunner::Impl {
  TargetToolchain toolchain;
  size_t at_once;  // candidates compiled before they are run
  CompileCache cache;
};

NativeRunner::NativeRunner(TargetToolchain toolchain, NativeOptions options) {
  if (find_program(toolchain.cc).empty())
    throw Error(Diagnostic{{},
                           "the compiler '" + toolchain.cc + "' is not on PATH",
                           {},
                           "apt install gcc, or name another with cc in the target's file"},
                ExitCode::kUnavailable);
  if (!cpu_supports(toolchain.isa))
    throw Error(Diagnostic{{},
                           "this CPU cannot run " + toolchain.isa + " code",
                           {},
                           "choose another target or runner"},
                ExitCode::kUnavailable);
  const int batch = std::max(1, options.batch_size), jobs = std::max(1, options.jobs);
  CompileCache::Options cache;
  cache.parent_directory = options.work_directory;
  cache.batch_size = batch;
  cache.jobs = jobs;
  cache.timeout_seconds = options.compile_timeout_seconds;
  impl_.reset(new Impl{toolchain, static_cast<size_t>(batch) * static_cast<size_t>(jobs),
                       CompileCache(toolchain, std::move(cache))});
}

NativeRunner::~NativeRunner() = default;
const TargetToolchain& NativeRunner::toolchain() const { return impl_->toolchain; }
int64_t NativeRunner::compiled() const { return impl_->cache.compiled(); }

std::vector<TrialResult> NativeRunner::run(std::span<const Candidate> candidates,
                                           const TestCase& test, const RunOptions& options) {
  std::vector<TrialResult> results(candidates.size());
  for (size_t k = 0; k < candidates.size(); ++k) {
    results[k].candidate_id = candidates[k].id;
    results[k].cause = "interrupted before it ran";
  }
  if (candidates.empty()) return results;
  const PreparedCase prepared = prepare(candidates[0].args, test);
  const auto interrupted = [&] { return options.interrupted && options.interrupted(); };
  // Some are compiled, by several compilers at once; then nothing else runs while they are timed.
  for (size_t from = 0; from < candidates.size() && !interrupted(); from += impl_->at_once) {
    const size_t count = std::min(impl_->at_once, candidates.size() - from);
    const std::vector<CompiledCandidate> units =
        impl_->cache.compile(candidates.subspan(from, count));
    for (size_t k = 0; k < count && !interrupted(); ++k) {
      TrialResult r = run_one(units[k], prepared, options);
      r.candidate_id = candidates[from + k].id;
      results[from + k] = std::move(r);
    }
  }
  return results;
}

}  // namespace exotune
