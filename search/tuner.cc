#include "search/tuner.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/hashing.h"
#include "core/ir/printer.h"
#include "cost/static_cost.h"
#include "runners/native_runner.h"
#include "search/beam.h"
#include "search/trials.h"

namespace exotune {

const char* name_of(StopReason r) {
  static const char* const names[] = {"complete", "trials", "time budget", "interrupted"};
  return names[static_cast<int>(r)];
}

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string sizes_text(const SizeBinding& sizes) {
  std::string out;
  for (const auto& [name, value] : sizes) out += (out.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return out;
}

// "p = partial_eval(p, K=512, M=512, N=512)" for the sizes the proc has and the user fixed.
std::string fixing_line(const Proc& p, const SizeBinding& sizes) {
  std::string out;
  for (const auto& [name, value] : sizes)
    for (const Arg& a : p.args)
      if (a.name.name() == name && is_integer_control(a.type.scalar))
        out += ", " + name + "=" + std::to_string(value);
  return out.empty() ? "" : "p = partial_eval(p" + out + ")";
}

CostWeights weights_of(const Target& target, const std::vector<TargetLevel>& levels) {
  CostWeights w;
  auto latency = target.latency.find("fma");
  if (latency != target.latency.end()) w.latency = latency->second;
  for (const TargetLevel& l : levels)
    if (l.is_cache() && l.bytes > 0)
      w.caches.push_back({l.bytes, std::max(1, l.line_bytes), l.cost_per_line});
  return w;
}

// One search from kernel to shoot-out; the parts share what is here.
class Tuning {
 public:
  Tuning(const TuneRequest& request, Store& store, const TuneHooks& hooks)
      : request_(request), store_(store), hooks_(hooks), levels_(request.machine.levels_of(*request.target)) {
    all_sizes_ = request.representative;
    for (const auto& [name, value] : request.sizes) all_sizes_[name] = value;
    environment_.names["instrs"] = Value(instruction_values());
    for (const auto& [name, memory] : request.target->library.memories) environment_.names[name] = Value(memory);
    for (const ProcPtr& p : request.target->instructions()) environment_.names[p->name] = Value(p);
    environment_.names["DRAM"] = Value(dram());
  }

  TuneResult run() {
    prepare();
    search();
    if (request_.effort == Effort::kEstimate) {
      estimate();
      return std::move(result_);
    }
    measure();
    if (result_.stop != StopReason::kInterrupted || !measured_.trials.empty()) shoot();
    return std::move(result_);
  }

 private:
  ValueList instruction_values() const {
    ValueList out;
    for (const ProcPtr& p : request_.target->instructions()) out.emplace_back(p);
    return out;
  }
  bool interrupted() const { return hooks_.interrupted && hooks_.interrupted(); }
  double per_second(const SizeFormula& formula, double seconds) const {
    return formula.text().empty() || seconds <= 0 ? 0 : formula.evaluate(all_sizes_) / seconds * 1e-9;
  }
  void report(const std::string& phase, int done, int planned) {
    if (!hooks_.progress) return;
    Progress p;
    p.phase = phase;
    p.done = done;
    p.planned = planned;
    p.ok = ok_;
    p.bad = bad_;
    p.best = per_second(request_.kernel.flops, best_seconds_);
    if (p.best == 0) p.best = per_second(request_.kernel.bytes, best_seconds_);
    if (result_.peak_gflops > 0) p.percent_of_peak = 100 * p.best / result_.peak_gflops;
    hooks_.progress(p);
  }

  // Measured before and after: while another program shares the core's power and caches it is low.
  void measure_peak_again() {
    if (request_.kernel.flops.text().empty()) return;
    const ElementType t =
        request_.kernel.precision == ScalarType::kF64 ? ElementType::kF64 : ElementType::kF32;
    result_.peak_gflops =
        std::max(result_.peak_gflops, measure_peak(toolchain_.isa, t, toolchain_.cc));
  }

  void prepare() {
    const Target& target = *request_.target;
    problem_ = make_problem(request_.proc, all_sizes_, {.seed = request_.seed});
    toolchain_ = toolchain_of(target);
    CompilerIdentity compiler = find_compiler(target.compiler);
    Fingerprint machine = fingerprint(request_.machine, target);
    TrialKey& key = result_.key;
    key.kernel_hash = content_hash(canonical_text(*request_.proc));
    SizeBinding named = all_sizes_;
    key.sizes = sizes_text(named) + (request_.sizes.empty() ? " (symbolic)" : "");
    key.target = target.name;
    key.fingerprint = machine.hash;
    key.compiler = toolchain_.describe();
    store_.put_machine({machine.hash, machine.microarch, machine.isa, request_.machine.model_name});
    store_.put_kernel(key.kernel_hash, request_.kernel.name);
    if (request_.effort != Effort::kEstimate) measure_peak_again();
  }

  void search() {
    const auto start = Clock::now();
    report("search", 0, 0);
    // Inspect the kernel as the search will see it: with its fixed sizes.
    ProcPtr fixed = request_.proc;
    std::string line = fixing_line(*fixed, request_.sizes);
    if (!line.empty()) {
      ScriptEnvironment env = environment_;
      env.start = fixed;
      fixed = run_script(line, "<search>", env).proc;
    }
    SearchSpace space = space_for(inspect_nest(*fixed), *request_.target, levels_, all_sizes_);
    if (!line.empty()) space.prologue.insert(space.prologue.begin(), line);
    BeamOptions options;
    options.width = request_.beam;
    options.keep = std::max(1, request_.trials);
    options.seed = request_.seed;
    options.interrupted = hooks_.interrupted;
    options.progress = [&](int done, int planned) { report("search", done, planned); };
    BeamResult beam = beam_search(request_.proc, space, environment_, all_sizes_,
                                  weights_of(*request_.target, levels_), options);
    TuneStatistics& s = result_.statistics;
    s.states = beam.made;
    s.refused = beam.refused;
    s.duplicates = beam.duplicates;
    s.refusals = beam.refusals;
    s.first_refusal = beam.first_refusal;
    s.search_seconds = since(start);
    if (beam.interrupted) result_.stop = StopReason::kInterrupted;
    states_ = std::move(beam.states);
  }

  std::string script_of(const BeamState& state) const {
    std::string out = "p = " + request_.proc->name + "\n";
    for (const std::string& line : state.lines) out += line + "\n";
    return out;
  }

  // Nothing runs: the winner is the cheapest schedule by the cost model that has C.
  void estimate() {
    for (const BeamState& state : states_) {
      try {
        result_.candidate_id = make_candidate(state.proc, *request_.target, problem_).id;
      } catch (const Error& e) {
        if (e.exit_code() == ExitCode::kInternal) throw;
        ++result_.statistics.refused;
        ++result_.statistics.refusals["emit"];
        continue;
      }
      result_.winner = state.proc;
      result_.script = script_of(state);
      result_.proof =
          state.reassociated ? ProofLevel::kProvedModuloReassociation : ProofLevel::kProved;
      return;
    }
  }

  void measure() {
    const auto start = Clock::now();
    std::vector<Trial> trials;
    for (const BeamState& state : states_) {
      if (static_cast<int>(trials.size()) >= request_.trials) {
        result_.stop = StopReason::kTrials;
        break;
      }
      Trial t;
      try {
        t.candidate = make_candidate(state.proc, *request_.target, problem_);
      } catch (const Error& e) {
        if (e.exit_code() == ExitCode::kInternal) throw;
        ++result_.statistics.refused;
        ++result_.statistics.refusals["emit"];
        if (result_.statistics.first_refusal.empty()) result_.statistics.first_refusal = e.diagnostic().str();
        continue;
      }
      t.script = script_of(state);
      t.proof = state.reassociated ? ProofLevel::kProvedModuloReassociation : ProofLevel::kProved;
      procs_[t.candidate.id] = state.proc;
      trials.push_back(std::move(t));
    }
    NativeRunner runner(toolchain_, {.work_directory = request_.work_directory, .jobs = request_.jobs});
    TrialLimits limits;
    limits.timeout_seconds = request_.timeout_seconds;
    limits.budget_seconds = request_.time_budget_seconds;
    limits.fresh = request_.fresh;
    limits.interrupted = hooks_.interrupted;
    const int planned = static_cast<int>(trials.size());
    limits.progress = [&](const std::vector<Trial>& all, size_t done) {
      ok_ = bad_ = 0;
      for (const Trial& t : all) {
        ok_ += t.status == TrialStatus::kOk;
        bad_ += t.status != TrialStatus::kOk && t.status != TrialStatus::kSkipped;
        if (t.status == TrialStatus::kOk && t.median > 0 && (best_seconds_ == 0 || t.median < best_seconds_))
          best_seconds_ = t.median;
      }
      report("measure", static_cast<int>(done), planned);
    };
    measured_ = run_trials(std::move(trials), result_.key, problem_, runner, store_, limits);
    result_.statistics.measured = measured_.measured;
    result_.statistics.reused = measured_.reused;
    result_.statistics.causes = measured_.causes;
    result_.failures = measured_.first_causes;
    result_.statistics.measure_seconds = since(start);
    if (measured_.interrupted) result_.stop = StopReason::kInterrupted;
    else if (measured_.out_of_budget) result_.stop = StopReason::kTimeBudget;
  }

  // Many loops at odd sizes make more work than a check is worth: the largest sizes are halved.
  static constexpr double kCheckedOperations = 3e7;
  void shrink_to(double operations, const std::vector<std::string>& free, SizeBinding& sizes) const {
    if (request_.kernel.flops.text().empty()) return;
    while (request_.kernel.flops.evaluate(sizes) > operations) {
      int64_t* largest = &sizes[free.front()];
      for (const std::string& name : free)
        if (sizes[name] > *largest) largest = &sizes[name];
      if (*largest <= 1) return;
      *largest /= 2;
    }
  }

  // Correct at other sizes too: a symbolic kernel is checked where every boundary is met.
  bool correct_elsewhere(const Trial& t, Runner& runner) {
    std::vector<std::string> free;
    for (const auto& [name, value] : all_sizes_)
      if (!request_.sizes.count(name)) free.push_back(name);
    if (free.empty()) return true;
    const int64_t extents[] = {1, 2, 3, 5, 17, 63, 64, 65, 100, 129};
    const size_t n = std::size(extents);
    for (size_t shift = 0; shift < n; ++shift) {
      SizeBinding sizes = all_sizes_;
      for (size_t d = 0; d < free.size(); ++d) sizes[free[d]] = extents[(shift + d * 3) % n];
      shrink_to(kCheckedOperations, free, sizes);
      TuningProblem problem = make_problem(request_.proc, sizes, {.seed = request_.seed + shift});
      Candidate c = make_candidate(procs_[t.candidate.id], *request_.target, problem);
      RunOptions options;
      options.measure = false;
      options.timeout_seconds = request_.timeout_seconds;
      TrialResult r = runner.run(std::span(&c, 1), problem.test, options)[0];
      if (r.ok()) continue;
      const std::string cause = "at " + sizes_text(sizes) + ": " + r.cause;
      result_.failures.push_back(std::string(status_name(r.status)) + " " + cause);
      ++result_.statistics.causes[status_name(r.status)];
      retract(t, r.status, cause);
      return false;
    }
    return true;
  }

  // What failed at another size is not ok in the store either.
  void retract(const Trial& t, TrialStatus status, const std::string& cause) {
    std::optional<TrialRecord> record = store_.find_trial(result_.key, t.candidate.id);
    if (!record) return;
    record->status = status_name(status);
    record->cause = cause;
    record->samples.clear();
    store_.replace_trial(*record);
  }

  // A kernel for every size must be good at more than one: of the finalists that passed the
  // shoot-out, the one with the least geometric mean time over the kernel's listed sizes.
  size_t best_over_sizes(const std::vector<const Trial*>& finalists, const ShootoutResult& shot) {
    const size_t winner = static_cast<size_t>(shot.winner);
    std::vector<double> score(finalists.size(), 0);
    int compared = 0;
    auto add = [&](const ShootoutResult& r) {
      ++compared;
      for (size_t k = 0; k < finalists.size(); ++k) {
        const ContenderResult& c = r.contenders[k];
        score[k] += c.status == TrialStatus::kOk && c.median > 0 ? std::log(c.median) : INFINITY;
      }
    };
    for (const SizeBinding& listed : request_.kernel.sizes) {
      SizeBinding sizes = all_sizes_;
      for (auto& [name, value] : sizes)
        if (auto it = listed.find(name); it != listed.end() && !request_.sizes.count(name)) value = it->second;
      if (sizes == all_sizes_ || interrupted()) continue;
      const TuningProblem problem = make_problem(request_.proc, sizes, {.seed = request_.seed, .expected = false});
      std::vector<Contender> contenders;
      for (size_t k = 0; k < finalists.size(); ++k)
        contenders.push_back({"#" + std::to_string(k + 1),
                              make_candidate(procs_[finalists[k]->candidate.id], *request_.target, problem),
                              std::nullopt});
      ShootoutOptions options;
      options.rounds = 9;
      add(shootout(toolchain_, contenders, problem.args, problem.test, options,
                   {.work_directory = request_.work_directory, .jobs = request_.jobs}));
    }
    if (compared == 0) return winner;
    add(shot);
    const size_t best = static_cast<size_t>(std::min_element(score.begin(), score.end()) - score.begin());
    return std::isfinite(score[best]) ? best : winner;
  }

  void shoot() {
    const auto start = Clock::now();
    report("shoot-out", 0, 1);
    std::vector<const Trial*> ranked;
    for (const Trial& t : measured_.trials)
      if (t.status == TrialStatus::kOk) ranked.push_back(&t);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Trial* a, const Trial* b) { return a->median < b->median; });
    if (ranked.empty()) return;
    NativeRunner runner(toolchain_, {.work_directory = request_.work_directory, .jobs = request_.jobs});
    std::vector<Contender> contenders;
    std::vector<const Trial*> finalists;
    for (const Trial* t : ranked) {
      if (static_cast<int>(finalists.size()) >= request_.top_k) break;
      if (!correct_elsewhere(*t, runner)) continue;
      finalists.push_back(t);
      contenders.push_back({"#" + std::to_string(finalists.size()), t->candidate, std::nullopt});
    }
    if (finalists.empty()) return;
    std::optional<PeerProblem> peer = peer_problem(request_.kernel, problem_);
    if (request_.with_peers && peer) {
      result_.peer_report = discover_peers(toolchain_);
      for (const Peer& p : result_.peer_report.peers)
        if (p.supports(*peer)) contenders.push_back({p.name, std::nullopt, PeerCall{p, *peer}});
    }
    ShootoutOptions options;
    options.rounds = request_.rounds;
    ShootoutResult shot = shootout(toolchain_, contenders, problem_.args, problem_.test, options,
                                   {.work_directory = request_.work_directory, .jobs = request_.jobs});
    measure_peak_again();
    result_.statistics.shootout_seconds = since(start);
    if (shot.winner < 0) {
      for (const ContenderResult& c : shot.contenders)
        if (c.status != TrialStatus::kOk)
          result_.failures.push_back(c.name + ": " + status_name(c.status) + ": " + c.cause);
      return;
    }
    const size_t w = best_over_sizes(finalists, shot);
    const Trial& best = *finalists[w];
    result_.winner = procs_[best.candidate.id];
    result_.script = best.script;
    result_.candidate_id = best.candidate.id;
    result_.proof = best.proof;
    result_.seconds = shot.contenders[w].median;
    result_.gflops = per_second(request_.kernel.flops, result_.seconds);
    result_.gbytes = per_second(request_.kernel.bytes, result_.seconds);
    for (size_t k = finalists.size(); k < shot.contenders.size(); ++k) {
      const ContenderResult& c = shot.contenders[k];
      if (c.status != TrialStatus::kOk) {
        result_.failures.push_back(c.name + ": " + status_name(c.status) + ": " + c.cause);
        continue;
      }
      result_.peers.push_back({c.name, per_second(request_.kernel.flops, c.median), shot.ratio(w, k)});
    }
    if (auto record = store_.find_trial(result_.key, best.candidate.id)) {
      record->samples = shot.contenders[w].samples;
      store_.replace_trial(*record);
      store_.set_winner(result_.key, best.candidate.id);
    }
  }

  const TuneRequest& request_;
  Store& store_;
  const TuneHooks& hooks_;
  std::vector<TargetLevel> levels_;
  SizeBinding all_sizes_;
  ScriptEnvironment environment_;
  TuningProblem problem_;
  TargetToolchain toolchain_;
  std::vector<BeamState> states_;
  std::map<std::string, ProcPtr> procs_;
  TrialRun measured_;
  TuneResult result_;
  int ok_ = 0, bad_ = 0;
  double best_seconds_ = 0;
};

}  // namespace

TuneResult tune(const TuneRequest& request, Store& store, const TuneHooks& hooks) {
  return Tuning(request, store, hooks).run();
}

}  // namespace exotune
