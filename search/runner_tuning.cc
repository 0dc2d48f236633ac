#include "search/runner_tuning.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/analysis/queries.h"
#include "core/base/hashing.h"
#include "core/base/parallel.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/script.h"
#include "core/primitives/primitives.h"
#include "cost/work.h"
#include "runners/arena.h"
#include "search/device/device_search.h"
#include "search/device/processor_loops.h"
#include "search/problem.h"
#include "search/proposals.h"
#include "search/smaller_run.h"
#include "search/trials.h"
#include "search/tuning_context.h"

namespace exotune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kAtOnce = 12;        // schedules made and measured before the best is looked at
constexpr int kInVain = 2;            // times in a row
constexpr double kLeastGain = 0.998;  // of the cycles: what is less is nothing
constexpr size_t kTried = 4;          // from there, at first: several products take turns
constexpr size_t kEarlier = 6;        // of the best plans, that are made with earlier loads
constexpr size_t kApart = 3;          // of them, that are made with zeros and stores apart
constexpr double kHopeless = 0.25;    // of the time, while no plan of the nest as written holds
constexpr double kWorthMore = 1.5;    // of the best: a start whose first schedule is further off
// Of the nest as written; half a second of the embedded simulator. A larger one is reckoned.
constexpr double kMostOperations = 2e7;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Types and shapes of all data arguments: two schedules with the same are candidates for one test.
std::string types_of(const Proc& p) {
  std::string text;
  for (const Arg& arg : p.args)
    if (is_data(arg.type.scalar)) text += str(arg.type) + ";";
  return text;
}

// The tuner for whatever counts: candidates are run once each, as counts do not scatter, and the
// best is the one with the fewest cycles.
class RunnerTuning {
 public:
  RunnerTuning(Runner& runner, const TuneRequest& request, const std::vector<KnownSchedule>& known,
               Store& store, const TuneHooks& hooks)
      : runner_(runner), request_(request), known_(known), store_(store), hooks_(hooks) {}

  TuneResult run() {
    const auto start = Clock::now();
    deadline_ = Deadline::after(request_.time_budget_seconds).or_when(hooks_.interrupted);
    prepare();
    // Schedules by hand are measured first: what the search finds has to be better.
    for (const KnownSchedule& schedule : known_) add(schedule);
    measure_smaller();
    DeviceSearch search(request_.proc, request_.sizes, *request_.target);
    // Those were not searched for; what the search adds is counted on top.
    result_.statistics.states = static_cast<int>(trials_.size());
    result_.statistics.search_seconds = since(start);
    search_plans(search);
    search_other_sums();
    if (request_.target->vector_memory) measure_proposals();
    for (const WholeSchedule& form : request_.starts) {
      if (result_.stop == StopReason::kTimeBudget || result_.stop == StopReason::kInterrupted)
        break;
      result_.stop = StopReason::kComplete;
      from_ = &form;
      DeviceSearch more(form.proc, {}, *request_.target);
      if (worth_more(more)) search_plans(more);
    }
    unroll_processor_loops();
    // Nothing that was found runs: then the nest as written, however long the simulator takes for
    // it.
    if (smaller_.times > 1 && best_of(done_) == nullptr) {
      add_written();
      (void)measure();
    }
    choose(done_);
    return std::move(result_);
  }

 private:
  // What must come out may be computed by this machine: plain C means the same everywhere.
  TuningProblem problem_at(const SizeBinding& sizes) const {
    const std::unique_ptr<Runner> here = native_runner(plain_toolchain());
    return make_problem(
        request_.proc, sizes,
        {.seed = request_.seed, .runner = here.get(), .target = request_.target.get()});
  }
  void prepare() {
    const TargetToolchain toolchain = toolchain_of(*request_.target);
    problem_ = problem_at(request_.sizes);
    result_.key = enter_context(request_.proc, request_.kernel.name, sizes_text(request_.sizes),
                                *request_.target, request_.machine, toolchain, store_);
    // Cycles belong to the runner and to what the target's text says, not to this machine.
    result_.key.fingerprint =
        content_hash(runner_.name() + unit_name(runner_.unit()) + request_.target->hash);
    // Runs on other machines are of one size; a size that stays an argument is set here.
    written_ = at_sizes(request_.proc, request_.sizes);
    const SizeFormula& given = request_.kernel.flops;
    smaller_ = smaller_run(request_.proc,
                           given.text().empty() ? work_of(*request_.proc).operations : given,
                           request_.sizes, kMostOperations);
    if (smaller_.times == 1) add_written();
  }
  void add_written() {
    add(written_, script_text(*request_.proc, fixing_steps(*request_.proc, request_.sizes)));
  }

  // What the nest as written takes, where it is not run at the sizes asked for.
  void measure_smaller() {
    // times: how many runs of the smaller one make one of the size asked for, by operations.
    if (smaller_.times == 1) return;
    const TuningProblem problem = problem_at(smaller_.sizes);
    TrialKey key = result_.key;
    key.sizes = sizes_text(smaller_.sizes);
    Trial t;
    t.candidate =
        make_candidate(at_sizes(request_.proc, smaller_.sizes), *request_.target, problem);
    t.script = script_text(*request_.proc, fixing_steps(*request_.proc, smaller_.sizes));
    TrialLimits limits;
    limits.timeout_seconds = request_.timeout_seconds;
    limits.deadline = deadline_;
    limits.fresh = request_.fresh;
    limits.rescue = false;
    const TrialRun run = run_trials({std::move(t)}, key, problem, runner_, store_, limits);
    if (run.trials.front().status == TrialStatus::kOk)
      as_written_ = smaller_.times * run.trials.front().median;
  }

  // A schedule by hand that does not fit is refused with its reason, and the tuning goes on.
  void add(const KnownSchedule& schedule) {
    try {
      ScriptEnvironment names = script_environment({}, {&request_.target->library});
      // `p` of the first line is the kernel, under whatever name the script calls it.
      names.start = request_.proc;
      names.names[request_.proc->name] = Value(request_.proc);
      const ProcPtr made = run_script(schedule.text, schedule.name, names).proc;
      const ProcPtr whole = at_sizes(made, request_.sizes);
      if (types_of(*whole) != types_of(*written_))
        throw InputError({}, "the schedule is for other sizes");
      add(whole, schedule.text + key_of(fixing_steps(*made, request_.sizes)));
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::kInternal) throw;
      ++result_.statistics.refused;
      ++result_.statistics.refusals[schedule.name];
      result_.statistics.reasons.emplace(schedule.name, e.diagnostic().message.str());
      if (result_.statistics.first_refusal.empty())
        result_.statistics.first_refusal = e.diagnostic().message.str();
    }
  }

  // Plans of the nest as written that are all refused leave most of the time to other starts. Some
  // have to have been: on a busy machine what comes before them may take long.
  bool gives_up(const DeviceSearch& search) const {
    if (hooks_.interrupted && hooks_.interrupted()) return true;
    const bool hopeless = from_ == nullptr && plan_of_.empty() && !request_.starts.empty() &&
                          !search.refusals().empty();
    return hopeless && deadline_.left() < (1 - kHopeless) * request_.time_budget_seconds;
  }

  // From the plain nest, by what the target's instructions do. Once nothing better comes, what
  // resembles the best.
  void search_plans(DeviceSearch& search) {
    // Numbers of plans belong to one search.
    plan_of_.clear();
    search_and_measure([&](size_t count) {
      return take(search, [&] { return search.next(count, [&] { return gives_up(search); }); });
    });
    // Trials that are used up end one search, not the variations of its best.
    if (stopped() && result_.stop != StopReason::kTrials) return;
    const Trial* best = best_of(done_);
    const auto plan = best ? plan_of_.find(best->candidate.id) : plan_of_.end();
    if (plan == plan_of_.end()) return;
    take(search, [&] { return search.like(plan->second, kAtOnce, hooks_.interrupted); });
    (void)measure();
    load_earlier(search);
  }

  // Numbers of the best plans, the best first.
  std::vector<size_t> best_plans(size_t count) const {
    std::vector<const Trial*> best;
    for (const Trial& t : done_)
      if (t.status == TrialStatus::kOk && plan_of_.contains(t.candidate.id)) best.push_back(&t);
    std::stable_sort(best.begin(), best.end(),
                     [](const Trial* a, const Trial* b) { return a->median < b->median; });
    std::vector<size_t> numbers;
    for (const Trial* t : best)
      if (numbers.size() < count) numbers.push_back(plan_of_.at(t->candidate.id));
    return numbers;
  }

  // The best plans with loads that begin earlier, and then with zeros and stores apart: which of
  // them gains by it, no estimate says.
  void load_earlier(DeviceSearch& search) {
    for (const size_t number : best_plans(kEarlier))
      take(search, [&] { return search.earlier_loads(number); });
    (void)measure();
    for (const size_t number : best_plans(kApart))
      take(search, [&] { return search.taken_apart(number); });
    (void)measure();
  }

  // A network of layers has several sums: what is left of the best schedule is planned next, until
  // nothing comes of it.
  void search_other_sums() {
    for (double before = 0; !stopped() || result_.stop == StopReason::kTrials;) {
      const Trial* best = best_of(done_);
      // Nothing ran, the best is not of a plan (nothing left to plan in it), or the last round
      // brought nothing.
      if (best == nullptr || !plan_of_.contains(best->candidate.id) || best->median == before)
        return;
      before = best->median;
      const WholeSchedule start{procs_[best->candidate.id], best->script};
      DeviceSearch rest(start.proc, {}, *request_.target);
      if (rest.empty()) return;
      from_ = &start;
      result_.stop = StopReason::kComplete;
      search_plans(rest);
      from_ = nullptr;
    }
  }

  // What the best schedule leaves to the processor, with fewer branches. Instructions counted on
  // another machine are not spared so: its compiler vectorizes such loops.
  void unroll_processor_loops() {
    const Trial* best = best_of(done_);
    if (best == nullptr || request_.target->vector_memory ||
        result_.stop == StopReason::kInterrupted || result_.stop == StopReason::kTimeBudget)
      return;
    const std::string script = best->script;
    for (const Schedule& s : unrolled_loops(procs_[best->candidate.id])) {
      add(s.proc, script + key_of(s.steps));
      ++result_.statistics.states;
    }
    (void)measure();
  }

  // Is one of the most promising schedules from there near the best? Copies that another view of
  // the operands costs are the processor's work, which no plan makes less.
  bool worth_more(DeviceSearch& search) {
    const Trial* best = best_of(done_);
    if (best == nullptr) return true;
    // First schedules of two starts are compared, not what either becomes.
    const double most = kWorthMore * best->median;
    const size_t before = done_.size();
    if (!take(search, [&] { return search.next(kTried, hooks_.interrupted); })) return false;
    (void)measure();
    const auto near = [&](const Trial& t) {
      return t.status == TrialStatus::kOk && t.median <= most;
    };
    return !stopped() &&
           std::any_of(done_.begin() + static_cast<std::ptrdiff_t>(before), done_.end(), near);
  }

  // Makes candidates of what is found. False: there is nothing.
  bool take(const DeviceSearch& search, const std::function<std::vector<DeviceSchedule>()>& find) {
    const auto start = Clock::now();
    const size_t before = search.refusals().size();
    const std::vector<DeviceSchedule> found = find();
    TuneStatistics& s = result_.statistics;
    for (size_t k = before; k < search.refusals().size(); ++k)
      refused(search.refusals()[k].op, search.refusals()[k].reason);
    std::vector<std::optional<Trial>> made(found.size());
    std::vector<std::string> reasons(found.size());
    // Checking and emitting take the time here; each writes its own place, so that the order is
    // that of the search.
    in_parallel(found.size(), [&](size_t k) {
      try {
        made[k] = trial_of(found[k].schedule.proc, script_of(found[k].schedule.steps));
      } catch (const Error& e) {
        if (e.exit_code() == ExitCode::kInternal) throw;
        reasons[k] = e.diagnostic().message.str();
      }
    });
    // In the order found, whichever thread was first: the same trials in the same order each time.
    for (size_t k = 0; k < found.size(); ++k) {
      if (!made[k]) {
        refused("check", found[k].plan + ": " + reasons[k]);
        continue;
      }
      plan_of_[made[k]->candidate.id] = found[k].number;
      add(found[k].schedule.proc, std::move(*made[k]));
    }
    s.states += static_cast<int>(found.size());
    s.search_seconds += since(start);
    return !found.empty();
  }
  std::string script_of(const Steps& steps) const {
    return from_ ? from_->script + key_of(steps) : script_text(*request_.proc, steps);
  }
  void refused(const std::string& op, const std::string& reason) {
    TuneStatistics& s = result_.statistics;
    ++s.refused;
    ++s.refusals[op];
    s.reasons.emplace(op, reason);
    if (s.first_refusal.empty()) s.first_refusal = op + ": " + reason;
  }

  Trial trial_of(const ProcPtr& p, const std::string& script) const {
    Trial t;
    t.candidate = make_candidate(p, *request_.target, problem_);
    t.script = script;
    t.proof = reassociates(p) ? ProofLevel::kProvedModuloReassociation : ProofLevel::kProved;
    return t;
  }
  void add(const ProcPtr& p, const std::string& script) { add(p, trial_of(p, script)); }
  // The same C from two schedules is one candidate; the procedure of the later one is kept, which
  // emits the same.
  void add(const ProcPtr& p, Trial trial) {
    procs_[trial.candidate.id] = p;
    trials_.push_back(std::move(trial));
  }

  // What is known of vector machines, wherever they are: found as for this one, counted there.
  void measure_proposals() {
    if (stopped() && result_.stop != StopReason::kTrials) return;
    result_.stop = StopReason::kComplete;
    // What the dynamic program weighs are lines of caches, which cost no instruction.
    // Proposals are made as if for measuring here; nothing of that state but its statistics is
    // kept.
    TuneRequest request = request_;
    if (runner_.unit() == SampleUnit::kInstret && request.strategy == Strategy::kAll)
      request.strategy = Strategy::kBeam;
    TuningState run(request, store_, hooks_, TimeSource::steady());
    run.problem = make_problem(request_.proc, request_.sizes, {.inputs = false});
    Proposals proposals(run);
    proposals.search();
    TuneStatistics& s = result_.statistics;
    const TuneStatistics& more = run.result.statistics;
    s.refused += more.refused;
    for (const auto& [op, n] : more.refusals) s.refusals[op] += n;
    s.reasons.insert(more.reasons.begin(), more.reasons.end());
    s.search_seconds += more.search_seconds;
    size_t next = 1;  // the first is the nest as written
    search_and_measure([&](size_t count) {
      const std::vector<BeamState>& states = proposals.states();
      const size_t before = next;
      for (; next < states.size() && next - before < count; ++next)
        try_state(proposals.whole(states[next]), states[next].reassociated);
      s.states += static_cast<int>(next - before);
      return next > before;
    });
  }
  void try_state(const WholeSchedule& made, bool reassociated) {
    try {
      add(made.proc, made.script);
      if (reassociated) trials_.back().proof = ProofLevel::kProvedModuloReassociation;
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::kInternal) throw;
      refused("emit", e.diagnostic().message.str());
    }
  }

  // A few at a time, the most promising first, until some in a row bring nothing.
  void search_and_measure(const std::function<bool(size_t)>& find) {
    int in_vain = 0;
    // What was added before (schedules by hand, the nest as written) is what the first round has
    // to beat.
    double best = measure();
    for (size_t left = static_cast<size_t>(std::max(0, request_.trials)); left > 0;) {
      if (stopped() || in_vain >= kInVain) return;
      const size_t count = std::min(left, kAtOnce);
      left -= count;
      if (!find(count)) return;
      const double now = measure();
      // best == 0: nothing has run yet, which is no reason to stop.
      in_vain = now < kLeastGain * best || best == 0 ? 0 : in_vain + 1;
      best = best == 0 ? now : std::min(best, now);
    }
    if (result_.stop == StopReason::kComplete) result_.stop = StopReason::kTrials;
  }
  bool stopped() const { return result_.stop != StopReason::kComplete; }

  // Runs what was added since, and returns the fewest cycles so far; 0: nothing ran.
  double measure() {
    const auto start = Clock::now();
    TrialLimits limits;
    limits.timeout_seconds = request_.timeout_seconds;
    limits.deadline = deadline_;
    limits.batch = std::max(1, request_.jobs);
    limits.fresh = request_.fresh;
    limits.progress = [&](const std::vector<Trial>& all, size_t done) {
      if (!hooks_.progress) return;
      Progress p;
      p.phase = "measure";
      p.done = static_cast<int>(done_.size() + done);
      p.planned = static_cast<int>(done_.size() + all.size());
      hooks_.progress(p);
    };
    // Known ones are taken from the database unless they are to be fresh.
    TrialRun run = run_trials(std::move(trials_), result_.key, problem_, runner_, store_, limits);
    trials_.clear();
    TuneStatistics& s = result_.statistics;
    s.measured += run.measured;
    s.reused += run.reused;
    for (const auto& [cause, count] : run.causes) s.causes[cause] += count;
    s.measure_seconds += since(start);
    result_.failures.insert(result_.failures.end(), run.first_causes.begin(),
                            run.first_causes.end());
    if (run.interrupted) result_.stop = StopReason::kInterrupted;
    if (run.out_of_budget) result_.stop = StopReason::kTimeBudget;
    for (Trial& t : run.trials) done_.push_back(std::move(t));
    double best = 0;
    for (const Trial& t : done_)
      if (t.status == TrialStatus::kOk && (best == 0 || t.median < best)) best = t.median;
    return best;
  }

  // The fewest cycles; among equals the first, which is the simpler.
  static const Trial* best_of(const std::vector<Trial>& trials) {
    const Trial* best = nullptr;
    for (const Trial& t : trials)
      if (t.status == TrialStatus::kOk && (best == nullptr || t.median < best->median)) best = &t;
    return best;
  }
  void choose(const std::vector<Trial>& trials) {
    const Trial* best = best_of(trials);
    if (best == nullptr) return;
    result_.winner = procs_[best->candidate.id];
    result_.script = best->script;
    result_.candidate_id = best->candidate.id;
    result_.proof = best->proof;
    CycleCount cycles;
    cycles.unit = runner_.unit();
    cycles.count = best->median;
    if (smaller_.times > 1) {
      cycles.as_written = as_written_;
      cycles.written_at = sizes_text(smaller_.sizes);
    } else if (trials.front().status == TrialStatus::kOk) {
      cycles.as_written = trials.front().median;
    }
    // Instructions are no time.
    if (cycles.unit != SampleUnit::kInstret)
      cycles.share_of_peak = share_of_peak(request_.kernel, *request_.proc, request_.sizes,
                                           *request_.target, best->median);
    result_.cycles = cycles;
    store_.set_winner(result_.key, best->candidate.id);
  }

  Runner& runner_;
  const TuneRequest& request_;
  const std::vector<KnownSchedule>& known_;
  Store& store_;
  const TuneHooks& hooks_;
  TuningProblem problem_;
  ProcPtr written_;
  SmallerRun smaller_;                   // of the nest as written
  double as_written_ = 0;                // reckoned from that; 0: it did not run, or runs as it is
  const WholeSchedule* from_ = nullptr;  // null: the kernel as written
  std::vector<Trial> trials_, done_;     // to be run; that were
  Deadline deadline_;
  std::map<std::string, ProcPtr> procs_;
  std::map<std::string, size_t> plan_of_;  // candidates of the search that is under way
  TuneResult result_;
};

}  // namespace

// Of the fastest type among the operands: a product of bytes into words is held to what the
// machine does with bytes.
double share_of_peak(const KernelEntry& entry, const Proc& kernel, const SizeBinding& sizes,
                     const Target& target, double cycles) {
  double peak = target.peak_of(entry.precision);
  for (const Arg& arg : kernel.args)
    if (is_data(arg.type.scalar)) peak = std::max(peak, target.peak_of(arg.type.scalar));
  if (peak <= 0 || entry.flops.text().empty()) return 0;
  return entry.flops.evaluate(sizes) / (peak * cycles);
}

TuneResult tune_on(Runner& runner, const TuneRequest& request,
                   const std::vector<KnownSchedule>& known, Store& store, const TuneHooks& hooks) {
  return RunnerTuning(runner, request, known, store, hooks).run();
}

}  // namespace exotune
