#include "runners/native_runner.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "core/base/deadline.h"
#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
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

// What the child leaves room for; more of them narrow no interval.
constexpr int kMaxSamples = 512;
// Seconds of one sample from which a preemption is no reason to take it again: all such samples
// meet one, and it is a small part of them. They vary little, and a few tell; one, where it is no
// best: those not far behind are timed side by side once more before the end. A call that takes as
// long is a sample, and nothing has to be warmed up or calibrated for it.
constexpr double kLongSample = 10e-3;
constexpr int kLongSamples = 3;
constexpr double kNearTheBest = 1.1;
// Calls of the fastest known after which a candidate is stopped: it is far behind. Beside what
// starting it takes, and filling and comparing its arguments, on a busy machine. Of short calls
// thousands fit in that.
constexpr double kCallsOfTheHopeless = 10, kSecondsBesideCalls = 0.5, kSecondsOfAByte = 10e-9;

// Memory that the child writes and we read: what is there when the child dies counts.
struct TrialShared {
  ChildReport report;
  int64_t calls;
  int32_t dropped, count;
  double samples[kMaxSamples];
};

/// In the child, which has `left` seconds to live: as many samples as asked for, within the time.
void time_candidate(const BoundCall& call, const TimingArguments& arguments, int threads,
                    double left, const RunOptions& options, TrialShared* shared) {
  const double deadline = wall_seconds() + std::min(options.timeout_seconds * 0.6, left);
  // The check's own call is a sample until there are better ones; where calls are long, the only.
  const double checked = shared->report.call_seconds;
  shared->calls = 1;
  shared->samples[0] = checked;
  shared->count = 1;
  // Not enough time to calibrate and to take a sample: the check's own call is the result.
  if (checked > 0 && 4 * checked > left) return;
  // The check's call is as good a sample as another. Within a tenth of the best it is taken again.
  const bool very_long = checked > kLongestCall;
  if (very_long && options.best_known > 0 && checked > kNearTheBest * options.best_known) return;
  // Far behind, and each call takes time that is others'.
  if (options.best_known > 0 && checked >= kLongSample &&
      checked > options.give_up_factor * options.best_known)
    return;
  BatchTimer timer(arguments.ranges(), options.cold, threads);
  // So many calls that a sample is long against the clock's steps.
  const bool alone = checked >= std::max(kLongSample, options.batch_seconds);
  const int64_t calls = alone ? 1 : timer.calibrate(call, options.batch_seconds);
  int wanted = very_long ? 1 : std::clamp(options.batches, 1, kMaxSamples);
  for (int taken = 0; taken < wanted;) {
    const BatchTimer::Sample s = timer.sample(call, calls);
    // Preempted samples are taken again, but not for ever: long calls on a crowded machine all are.
    const bool is_long = s.seconds * static_cast<double>(calls) >= kLongSample;
    if (is_long) wanted = std::min(wanted, kLongSamples);
    if (s.preempted && !is_long && shared->dropped < 2 * wanted && wall_seconds() < deadline) {
      ++shared->dropped;
      continue;
    }
    shared->calls = calls;
    shared->samples[taken++] = s.seconds;
    shared->count = taken;
    // Far behind the best: one sample tells, and the time is others'.
    const double near = alone ? kNearTheBest : options.give_up_factor;
    if (options.best_known > 0 && s.seconds > near * options.best_known) wanted = 1;
    if (wall_seconds() > deadline) break;
  }
}

void child_main(const CompiledCandidate& unit, const PreparedCase& prepared,
                const RunOptions& options, TrialShared* shared) {
  const double start = wall_seconds();
  ChildReport* report = &shared->report;
  // Until arguments are there, a fault has no address that could tell an argument's bounds.
  watch_faults(report, {});
  std::string error;
  const Binder bind = load_candidate(unit, &error);
  if (!bind) {
    report->set(TrialStatus::kCrash, "cannot be loaded: " + error);
    report->stage = ChildReport::kDone;
    return;
  }
  if (judge(prepared, bind, report, options.measure) && options.measure) {
    report->stage = ChildReport::kTiming;
    const TimingArguments arguments(prepared, options.cold);
    watch_faults(report, arguments.all());
    // From what is left: judging took some of the candidate's time.
    time_candidate(bind(arguments.sets()), arguments, unit.threads,
                   options.timeout_seconds - (wall_seconds() - start), options, shared);
    watch_faults(report, {});
  }
  report->stage = ChildReport::kDone;
}

TrialResult run_one(const CompiledCandidate& unit, const PreparedCase& prepared,
                    const RunOptions& options) {
  TrialResult result;
  if (!unit.ok()) {
    result.status = unit.stopped ? TrialStatus::kSkipped : TrialStatus::kCompileError;
    result.cause = unit.error;
    result.late = unit.late;
    return result;
  }
  // Zeroed, so that a child that dies at once has said nothing.
  SharedMemory memory(sizeof(TrialShared));
  auto* shared = memory.as<TrialShared>();
  const ChildOutcome outcome =
      run_in_child([&] { child_main(unit, prepared, options, shared); }, options.timeout_seconds);
  Finding found = conclude(shared->report, outcome, options.timeout_seconds);
  // It computes the right thing and a call of it was timed: slow, but a result.
  if (found.status == TrialStatus::kTimeout && shared->report.stage == ChildReport::kTiming &&
      shared->count > 0)
    found = {};
  result.status = found.status;
  result.cause = found.cause;
  if (found.status == TrialStatus::kCrash)
    // Killed by it, or reported by the handler before the child went.
    result.signal = outcome.signal ? outcome.signal : shared->report.signal;
  // A child that has gone wild may have written anything.
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

/// Bytes of all arguments, of the written ones alone.
size_t argument_bytes(const PreparedCase& prepared, bool written_only) {
  size_t bytes = 0;
  for (size_t a = 0; a < prepared.specs.size(); ++a)
    if (prepared.specs[a].is_data() && (!written_only || prepared.specs[a].is_written))
      bytes += prepared.args[a].image(0).size();
  return bytes;
}

// The limits of one more candidate, once the fastest of those before it is known.
RunOptions beside(double best_known, const PreparedCase& prepared, RunOptions options) {
  options.best_known = best_known;
  if (best_known > 0)
    options.timeout_seconds =
        std::min(options.timeout_seconds,
                 kCallsOfTheHopeless * best_known + kSecondsBesideCalls +
                     kSecondsOfAByte * static_cast<double>(argument_bytes(prepared, false)));
  return options;
}

// visit(argument, element) for each integer among the outputs that two calls left as it was before
// them, with one poison and another; without a second call, that the first one did. Floats tell by
// themselves, as NaN.
template <class Visit>
void for_each_poison(const PreparedCase& prepared, const uint8_t* first, const uint8_t* second,
                     const Visit& visit) {
  size_t begin = 0;
  for (size_t a = 0; a < prepared.specs.size(); ++a) {
    const ArgSpec& arg = prepared.specs[a];
    if (!arg.is_data() || !arg.is_written) continue;
    const PreparedCase::Arg& before = prepared.args[a];
    const size_t width = element_bytes(arg.type);
    const auto kept = [&](const uint8_t* outputs, int variant, size_t at) {
      return memcmp(outputs + begin + at, before.image(variant).data() + at, width) == 0;
    };
    if (!is_floating(arg.type) && !before.images[1].empty()) {
      const std::vector<int64_t> offsets =
          arg.kind == ArgSpec::Kind::kWindow ? arg.element_offsets() : std::vector<int64_t>{};
      for (size_t i = 0; i < static_cast<size_t>(arg.elements()); ++i) {
        const size_t at = width * (offsets.empty() ? i : static_cast<size_t>(offsets[i]));
        if (kept(first, 0, at) && (!second || kept(second, 1, at))) visit(a, i);
      }
    }
    begin += before.image(0).size();
  }
}

bool has_poison(const PreparedCase& prepared, const uint8_t* outputs) {
  bool found = false;
  for_each_poison(prepared, outputs, nullptr, [&](size_t, size_t) { found = true; });
  return found;
}

std::vector<std::vector<double>> read_outputs(const PreparedCase& prepared, const uint8_t* from) {
  std::vector<std::vector<double>> out(prepared.specs.size());
  for (size_t a = 0; a < prepared.specs.size(); ++a) {
    const ArgSpec& arg = prepared.specs[a];
    if (!arg.is_data() || !arg.is_written) continue;
    const size_t width = element_bytes(arg.type);
    out[a].resize(static_cast<size_t>(arg.elements()));
    if (arg.kind != ArgSpec::Kind::kWindow) {
      load_elements(arg.type, from, out[a].data(), out[a].size());
    } else {  // without the gaps
      const std::vector<int64_t> offsets = arg.element_offsets();
      for (size_t i = 0; i < offsets.size(); ++i)
        out[a][i] = load_element(arg.type, from + static_cast<size_t>(offsets[i]) * width);
    }
    from += prepared.args[a].image(0).size();
  }
  return out;
}

using Values = std::vector<std::vector<double>>;

uint64_t hash_of(const Values& values) {
  uint64_t h = values.size();
  for (const std::vector<double>& v : values)
    h = hash_combine(h, hash_bytes({reinterpret_cast<const char*>(v.data()), 8 * v.size()}));
  return h;
}

// The bytes of the latest test case: batches of candidates follow one another on the same one, and
// preparing large arrays takes as long as a candidate does.
class LastPrepared {
 public:
  std::shared_ptr<const PreparedCase> of(const std::vector<ArgSpec>& args, const TestCase& test) {
    const uint64_t key = key_of(args, test);
    if (!last_ || key != key_) {
      last_.reset();  // never two of them
      last_ = std::make_shared<const PreparedCase>(prepare(args, test));
      key_ = key;
    }
    return last_;
  }

 private:
  static uint64_t key_of(const std::vector<ArgSpec>& args, const TestCase& test) {
    uint64_t h = hash_combine(hash_of(test.inputs), hash_of(test.expected));
    h = hash_combine(hash_combine(h, hash_of(test.slack)), hash_bytes({bytes(test.tolerance), 8}));
    for (const ArgSpec& a : args) {
      h = hash_combine(h, hash_bytes(a.name + "/" + a.c_type));
      for (const int64_t v : {static_cast<int64_t>(a.kind), a.value, static_cast<int64_t>(a.type),
                              int64_t{a.is_read}, int64_t{a.is_written}, int64_t{a.in_lines}})
        h = hash_combine(h, static_cast<uint64_t>(v));
      for (const auto* numbers : {&a.shape, &a.strides})
        for (const int64_t v : *numbers) h = hash_combine(h, static_cast<uint64_t>(v));
      h = hash_combine(h, a.shape.size());
    }
    return h;
  }
  static const char* bytes(const double& v) { return reinterpret_cast<const char*>(&v); }

  uint64_t key_ = 0;
  std::shared_ptr<const PreparedCase> last_;
};

// Calls that evaluate() made and that took long, by candidate, inputs and outputs. A trial that
// would call the same code on the same data to be told the same takes the call as its own.
class LongCalls {
 public:
  void note(const std::string& id, const Values& inputs, const Values& outputs, double seconds) {
    if (seconds > kLongestCall) seconds_[{id, hash_of(inputs), hash_of(outputs)}] = seconds;
  }
  // 0: there was none.
  double seconds(const std::string& id, const TestCase& test) const {
    const auto of_id = [&](const auto& entry) { return std::get<0>(entry.first) == id; };
    if (std::none_of(seconds_.begin(), seconds_.end(), of_id)) return 0;  // hashes take long, too
    const auto it = seconds_.find({id, hash_of(test.inputs), hash_of(test.expected)});
    return it == seconds_.end() ? 0 : it->second;
  }

 private:
  std::map<std::tuple<std::string, uint64_t, uint64_t>, double> seconds_;
};

TrialResult result_of_call(double seconds) {
  TrialResult r;
  r.status = TrialStatus::kOk;
  r.samples = {seconds};
  r.median = r.minimum = seconds;
  r.calls_per_sample = 1;
  return r;
}

}  // namespace

Binder load_candidate(const CompiledCandidate& unit, std::string* error) {
  // OpenMP's runtime reads the environment when it is loaded.
  if (unit.threads > 1) announce_threads(unit.threads);
  void* library = dlopen(unit.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library && unit.threads > 1) limit_threads(library, unit.threads);
  void* entry = library ? dlsym(library, unit.symbol.c_str()) : nullptr;
  if (!entry) {
    const char* text = dlerror();
    *error = text ? text : "no such symbol";
    return {};
  }
  // The trampoline that batch_compiler.cc writes.
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
  std::shared_ptr<CompileCache> cache;
  LongCalls evaluated;
  LastPrepared prepared;
};

std::shared_ptr<CompileCache> shared_compiler(const TargetToolchain& toolchain,
                                              const NativeOptions& options) {
  CompileCache::Options cache;
  cache.parent_directory = options.work_directory;
  cache.batch_size = std::max(1, options.batch_size);
  cache.jobs = std::max(1, options.jobs);
  cache.timeout_seconds = options.compile_timeout_seconds;
  return std::make_shared<CompileCache>(toolchain, std::move(cache));
}

NativeRunner::NativeRunner(TargetToolchain toolchain, NativeOptions options) {
  if (find_program(toolchain.cc).empty())
    throw Error(Diagnostic{{},
                           "the compiler '" + toolchain.cc + "' is not on PATH",
                           {},
                           "apt install gcc, or name another with cc in the target's file"},
                ExitCode::kUnavailable);
  // An illegal instruction would be each candidate's fault otherwise.
  require_cpu(toolchain);
  const int batch = std::max(1, options.batch_size), jobs = std::max(1, options.jobs);
  impl_.reset(new Impl{toolchain,
                       static_cast<size_t>(batch) * static_cast<size_t>(jobs),
                       options.compiler ? options.compiler : shared_compiler(toolchain, options),
                       {}});
}

NativeRunner::~NativeRunner() = default;
const TargetToolchain& NativeRunner::toolchain() const { return impl_->toolchain; }
int64_t NativeRunner::compiled() const { return impl_->cache->compiled(); }

Evaluation NativeRunner::evaluate(const Candidate& candidate,
                                  const std::vector<std::vector<double>>& inputs,
                                  double timeout_seconds) {
  const CompiledCandidate unit = impl_->cache->compile(std::span(&candidate, 1)).front();
  if (!unit.ok()) return {{}, unit.error};
  const PreparedCase prepared = prepare_inputs(candidate.args, inputs);
  // The report, and behind it the outputs by poison.
  const size_t bytes = argument_bytes(prepared, true);
  SharedMemory memory(sizeof(ChildReport) + 2 * bytes);
  auto* report = memory.as<ChildReport>();
  auto* results = reinterpret_cast<uint8_t*>(report + 1);
  const ChildOutcome outcome = run_in_child(
      [&] {
        watch_faults(report, {});
        std::string error;
        const Binder bind = load_candidate(unit, &error);
        if (!bind) return report->set(TrialStatus::kCrash, "cannot be loaded: " + error);
        report->stage = ChildReport::kChecking;
        GuardedArguments arguments(prepared, GuardedArguments::Placement::kFlushEnd);
        arguments.fill(0);
        const BoundCall call = bind({arguments.pointers()});
        watch_faults(report, {&arguments});
        const double start = thread_seconds();
        call(1);
        report->call_seconds = thread_seconds() - start;
        arguments.copy_outputs(results);
        // An integer that looks like its poison was left alone if it looks like another one, too.
        if (has_poison(prepared, results)) {
          arguments.fill(1);
          call(1);
          arguments.copy_outputs(results + bytes);
        }
        report->stage = ChildReport::kDone;
      },
      timeout_seconds);
  const Finding found = conclude(*report, outcome, timeout_seconds);
  if (!found.ok()) return {{}, found.cause};
  Evaluation out{read_outputs(prepared, results), ""};
  for_each_poison(prepared, results, results + bytes,
                  [&](size_t a, size_t i) { out.outputs[a][i] = std::nan(""); });
  impl_->evaluated.note(candidate.id, inputs, out.outputs, report->call_seconds);
  return out;
}

std::vector<TrialResult> NativeRunner::run(std::span<const Candidate> candidates,
                                           const TestCase& test, const RunOptions& options) {
  std::vector<TrialResult> results(candidates.size());
  for (size_t k = 0; k < candidates.size(); ++k) {
    results[k].candidate_id = candidates[k].id;
    // What the default status, skipped, means unless it is overwritten.
    results[k].cause = "interrupted before it ran";
  }
  if (candidates.empty()) return results;
  const std::shared_ptr<const PreparedCase> kept = impl_->prepared.of(candidates[0].args, test);
  const PreparedCase& prepared = *kept;
  double best_known = options.best_known;
  const auto interrupted = [&] {
    return (options.interrupted && options.interrupted()) || DeadlineScope::current().over();
  };
  // Some are compiled, by several compilers at once; then nothing else runs while they are timed.
  for (size_t from = 0; from < candidates.size() && !interrupted(); from += impl_->at_once) {
    const size_t count = std::min(impl_->at_once, candidates.size() - from);
    const std::vector<CompiledCandidate> units =
        impl_->cache->compile(candidates.subspan(from, count));
    for (size_t k = 0; k < count && !interrupted(); ++k) {
      const Candidate& candidate = candidates[from + k];
      const double known = options.measure ? impl_->evaluated.seconds(candidate.id, test) : 0;
      TrialResult r = known > 0
                          ? result_of_call(known)
                          : run_one(units[k], prepared, beside(best_known, prepared, options));
      r.candidate_id = candidate.id;
      if (options.measure && r.ok() && r.median > 0 && (best_known == 0 || r.median < best_known))
        best_known = r.median;
      results[from + k] = std::move(r);
      // One by one, so that a result is in the database before the next candidate can hang.
      if (options.finished) options.finished(from + k, results[from + k]);
    }
  }
  return results;
}

}  // namespace exotune
