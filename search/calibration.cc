#include "search/calibration.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/hashing.h"
#include "core/base/parallel.h"
#include "core/cursor/provenance.h"
#include "cost/features.h"
#include "cost/fit.h"
#include "cost/static_cost.h"
#include "runners/arena.h"
#include "runners/machine_peak.h"
#include "runners/statistics.h"
#include "search/nest.h"
#include "search/random_schedules.h"
#include "search/trials.h"
#include "search/tuning_context.h"
#include "search/weights.h"

namespace exotune {

namespace {

// Only the unit of cycles then: ratios between runs, which a fit is made of, do not depend on it.
constexpr double kGhzWithoutPeak = 3;

double kernel_operations(const KernelEntry& kernel, const SizeBinding& sizes) {
  for (const SizeFormula* f : {&kernel.flops, &kernel.bytes})
    if (!f->text().empty()) return std::max(1.0, f->evaluate(sizes));
  return 1;
}

// Draws schedules, runs them, fits the cost model's weights to what came out, and judges the fit on
// runs that it did not see.
class Calibration {
 public:
  Calibration(const CalibrationRequest& request, Store& store, const CalibrationHooks& hooks)
      : request_(request),
        store_(store),
        hooks_(hooks),
        toolchain_(toolchain_of(*request.target)),
        deadline_(request.deadline) {}

  CalibrationResult run() {
    const DeadlineScope scope(deadline_);
    result_.before = unfitted_weights(*request_.target, request_.machine, &store_);
    measure_clock();
    const std::unique_ptr<Runner> runner = native_runner(
        toolchain_, {.work_directory = request_.work_directory, .jobs = request_.jobs});
    // Kernel by kernel, size by size: whoever stops it has whole sets for those before.
    for (const CalibrationKernel& k : request_.kernels)
      for (size_t s = 0; s < k.sizes.size() && !ended(); ++s) measure(k, s, *runner);
    // Ended before anything ran: nothing to fit, and no error.
    if (!request_.fit || (ended() && result_.samples.empty())) return std::move(result_);
    if (result_.samples.empty())
      throw Error(Diagnostic{{},
                             "no run to fit the cost model to",
                             {},
                             "exo-tune db ls --status mismatch shows what failed"},
                  ExitCode::kNoCandidate);
    fit();
    return std::move(result_);
  }

 private:
  bool ended() {
    result_.interrupted = result_.interrupted || deadline_.interrupted();
    result_.out_of_budget = result_.out_of_budget || deadline_.expired();
    return result_.interrupted || result_.out_of_budget;
  }

  void measure_clock() {
    const double peak = request_.target->peak_of(ScalarType::kF32);
    result_.ghz = kGhzWithoutPeak;
    if (peak <= 0) return;
    double most = 0;  // the other core's work can only lower it
    for (int n = 0; n < 3 && !ended(); ++n)
      most = std::max(most, measure_peak(toolchain_, ElementType::kF32));
    if (most > 0) result_.ghz = most / peak;
  }

  struct Drawn {
    Trial trial;
    Features features;
    bool ok = false;
  };

  // One size of one kernel: its share of the draws, each scheduled, proved, emitted and measured.
  void measure(const CalibrationKernel& k, size_t size, Runner& runner) {
    const SizeBinding& sizes = k.sizes[size];
    const TuningProblem problem = make_problem(k.proc, sizes, {.seed = request_.seed});
    const TrialKey key = enter_context(k.proc, k.kernel.name, sizes_text(sizes), *request_.target,
                                       request_.machine, toolchain_, store_);
    const Steps fixing = fixing_steps(*k.proc, sizes);
    const ProcPtr fixed = without_provenance(at_sizes(k.proc, sizes));
    // Every size gets as many, however many it could have.
    const int share = std::max(1, request_.draws / static_cast<int>(k.sizes.size()));
    std::vector<Steps> schedules =
        random_schedules(inspect_nest(*fixed), *request_.target, share,
                         // Seeded by kernel and size: another list of kernels draws the same
                         // schedules for each.
                         hash_combine(request_.seed, hash_bytes(k.kernel.name + key.sizes)));
    for (Steps& steps : schedules) steps.insert(steps.begin(), fixing.begin(), fixing.end());
    std::vector<Trial> trials;
    std::map<std::string, Features> features;  // by candidate: draws that make the same C are one
    for (Drawn& d : schedule_all(k, schedules, problem)) {
      ++result_.drawn;
      if (!d.ok)
        ++result_.refused;
      else if (features.emplace(d.trial.candidate.id, d.features).second)
        trials.push_back(std::move(d.trial));
    }
    const TrialLimits limits = limits_of(k.kernel.name + " " + key.sizes, trials.size());
    TrialRun run = run_trials(std::move(trials), key, problem, runner, store_, limits);
    // The first pass was run_trials.
    for (int pass = 1; pass < request_.passes && !ended(); ++pass)
      measure_again(run.trials, key, problem, runner);
    count(run);
    for (const Trial& t : run.trials)
      if (t.status == TrialStatus::kOk && t.minimum > 0)
        result_.samples.push_back(sample_of(k, size, key.sizes, t, features[t.candidate.id]));
  }

  std::vector<Drawn> schedule_all(const CalibrationKernel& k, const std::vector<Steps>& schedules,
                                  const TuningProblem& problem) const {
    std::vector<Drawn> drawn(schedules.size());
    in_parallel(schedules.size(), [&](size_t n) { drawn[n] = schedule(k, schedules[n], problem); });
    return drawn;
  }

  TrialLimits limits_of(const std::string& what, size_t planned) const {
    TrialLimits limits;
    limits.timeout_seconds = request_.timeout_seconds;
    limits.deadline = deadline_;
    limits.fresh = request_.fresh;
    limits.progress = [this, what, planned](const std::vector<Trial>&, size_t done) {
      if (hooks_.progress) hooks_.progress(what, static_cast<int>(done), static_cast<int>(planned));
    };
    return limits;
  }

  void count(const TrialRun& run) {
    result_.measured += run.measured;
    result_.reused += run.reused;
    result_.interrupted = result_.interrupted || run.interrupted;
    result_.out_of_budget = result_.out_of_budget || run.out_of_budget;
    for (const auto& [cause, times] : run.causes) result_.causes[cause] += times;
  }

  // The minimum, not the median: what disturbs a run only ever slows it down, and the model is of
  // the undisturbed one.
  CalibrationSample sample_of(const CalibrationKernel& k, size_t size, const std::string& sizes,
                              const Trial& t, const Features& features) const {
    CalibrationSample s;
    s.kernel = k.kernel.name;
    s.operation = k.kernel.operation();
    s.sizes = sizes;
    s.candidate_id = t.candidate.id;
    s.script = t.script;
    s.features = features;
    s.cycles = t.minimum * result_.ghz * 1e9;
    s.operations = kernel_operations(k.kernel, k.sizes[size]);
    return s;
  }

  // What else runs on the machine slows some runs for longer than one measurement takes, so each is
  // measured again after all of the others; the samples of a trial are those of all passes.
  void measure_again(std::vector<Trial>& trials, const TrialKey& key, const TuningProblem& problem,
                     Runner& runner) {
    std::vector<Trial*> again;
    std::vector<Candidate> candidates;
    RunOptions options;
    options.timeout_seconds = request_.timeout_seconds;
    for (Trial& t : trials) {
      if (t.reused || t.status != TrialStatus::kOk || t.median <= 0) continue;
      again.push_back(&t);
      candidates.push_back(t.candidate);
      // What is far slower than the fastest gets one sample, not all.
      if (options.best_known == 0 || t.minimum < options.best_known) options.best_known = t.minimum;
    }
    if (again.empty()) return;
    const std::vector<TrialResult> results = runner.run(candidates, problem.test, options);
    for (size_t k = 0; k < again.size(); ++k) {
      std::optional<TrialRecord> record = store_.find_trial(key, candidates[k].id);
      if (!results[k].ok() || results[k].samples.empty() || !record) continue;
      again[k]->minimum = std::min(again[k]->minimum, results[k].minimum);
      record->samples.insert(record->samples.end(), results[k].samples.begin(),
                             results[k].samples.end());
      store_.replace_trial(*record);
    }
  }

  Drawn schedule(const CalibrationKernel& k, const Steps& steps,
                 const TuningProblem& problem) const {
    Drawn out;
    const Stepped made = run_steps(k.proc, steps);
    if (made.refusal) {
      // A draw that is refused is usual; a fault of ours is not.
      EXO_CHECK(made.refusal->op != kInternalError);
      return out;
    }
    const ProcPtr& p = made.proc;
    try {
      out.trial.candidate = make_candidate(p, *request_.target, problem);
      out.trial.script = script_text(*k.proc, steps);
      out.trial.proof =
          reassociates(p) ? ProofLevel::kProvedModuloReassociation : ProofLevel::kProved;
      out.features = features_of(*p, problem.sizes, result_.before.machine);
      out.ok = true;
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::kInternal) throw;
    }
    return out;
  }

  // Each kernel counts alike, however many of its schedules were valid.
  CostWeights fit_to(const std::function<bool(const CalibrationSample&)>& chosen) const {
    std::map<std::string, double> runs_of;
    for (const CalibrationSample& s : result_.samples)
      if (chosen(s)) ++runs_of[s.kernel];
    std::vector<MeasuredRun> runs;
    for (const CalibrationSample& s : result_.samples)
      if (chosen(s)) runs.push_back({s.features, s.cycles, 1 / std::sqrt(runs_of[s.kernel])});
    FitOptions options;
    options.without = request_.without;
    return fit_weights(runs, result_.before, options);
  }

  // Splits judge how well a fit does; the weights that are kept are fitted to all runs.
  void fit() {
    std::vector<std::vector<KernelCorrelation>> splits;
    for (int n = 0; n < std::max(1, request_.splits); ++n) {
      split_samples(result_.samples, request_.held_back, hash_combine(request_.seed, n));
      const CostWeights fitted = fit_to([](const CalibrationSample& s) { return !s.held_back; });
      splits.push_back(judge_weights(result_.samples, result_.before, fitted));
    }
    result_.kernels = summary_of(splits);
    result_.after = fit_to([](const CalibrationSample&) { return true; });
    for (CalibrationSample& s : result_.samples) s.after = cost_of(s.features, result_.after);
    std::vector<std::string> worse;
    for (const KernelSpread& k : result_.kernels)
      if (k.worse()) worse.push_back(k.operation);
    if (!result_.interrupted)
      keep_weights(*request_.target, request_.machine, result_.after, worse, store_);
  }

  const CalibrationRequest& request_;
  Store& store_;
  const CalibrationHooks& hooks_;
  TargetToolchain toolchain_;
  CalibrationResult result_;
  const Deadline deadline_;
};

}  // namespace

CalibrationResult calibrate(const CalibrationRequest& request, Store& store,
                            const CalibrationHooks& hooks) {
  return Calibration(request, store, hooks).run();
}

}  // namespace exotune
