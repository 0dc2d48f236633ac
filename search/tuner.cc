#include "search/tuner.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <numeric>
#include <set>

#include "core/base/hashing.h"
#include "core/cursor/provenance.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "cost/static_cost.h"
#include "runners/arena.h"
#include "runners/native_runner.h"
#include "runners/threads.h"
#include "search/beam.h"
#include "search/dp/ahead_layout.h"
#include "search/finals.h"
#include "search/operand_memory.h"
#include "search/phase_budget.h"
#include "search/program_search.h"
#include "search/rehearsal.h"
#include "search/semifinal.h"
#include "search/shared_loops.h"
#include "search/steps/builders.h"
#include "search/surroundings.h"
#include "search/trials.h"
#include "search/tuning_context.h"
#include "search/turns.h"
#include "search/weights.h"

namespace exotune {

const char* name_of(StopReason r) {
  static const char* const names[] = {"complete", "trials", "time budget", "interrupted"};
  return names[static_cast<int>(r)];
}

const char* name_of(Strategy s) {
  static const char* const names[] = {"dp", "beam", "eqsat", "all"};
  return names[static_cast<int>(s)];
}

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One search from kernel to shoot-out; the parts share what is here.
class Tuning {
 public:
  Tuning(const TuneRequest& request, Store& store, const TuneHooks& hooks)
      : request_(request),
        store_(store),
        hooks_(hooks),
        deadline_(
            Deadline::after(until_written(request.time_budget_seconds)).or_when(hooks.interrupted)),
        budget_(deadline_, request.time_budget_seconds),
        levels_(request.machine.levels_of(*request.target)) {
    all_sizes_ = request.representative;
    for (const auto& [name, value] : request.sizes) all_sizes_[name] = value;
    if (request.partial) context_.constraints = request.partial->constraints;
    context_.instructions =
        allowed_instructions(instruction_values(*request.target), context_.constraints);
    context_.sizes = all_sizes_;
    context_.weights = weights_of(*request.target, request.machine, &store,
                                  request.kernel.operation(), request.costs);
  }

  TuneResult run() {
    prepare();
    begin();
    if (can_measure_) measure_written();
    search();
    if (request_.effort != Effort::kEstimate) {
      measure();
      shoot();
      // The end came before the shoot-out had a result, or before anything was measured.
      if (!result_.winner && (deadline_.over() || finals_deadline_.over())) take_fastest();
    }
    if (!result_.winner && !found_wrong()) estimate();
    return std::move(result_);
  }

 private:
  // Was something that is not slowness the end of a candidate, and is there nothing else?
  bool found_wrong() const {
    const auto slow = [](const auto& cause) {
      return cause.first == status_name(TrialStatus::kTimeout);
    };
    const auto& causes = measured_.causes;
    return !deadline_.over() && !std::all_of(causes.begin(), causes.end(), slow);
  }

  bool interrupted() const { return deadline_.interrupted(); }
  double per_second(const SizeFormula& formula, double seconds) const {
    return formula.text().empty() || seconds <= 0 ? 0
                                                  : formula.evaluate(all_sizes_) / seconds * 1e-9;
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

  ElementType peak_type() const {
    return request_.kernel.precision == ScalarType::kF64 ? ElementType::kF64 : ElementType::kF32;
  }

  // For orientation while measuring; the result's is of the shoot-out's own rounds.
  // Measured before and after: while another program shares the core's power and caches it is low.
  void measure_peak_again() {
    if (request_.kernel.flops.text().empty() || deadline_.over()) return;
    const DeadlineScope scope(deadline_);
    try {
      result_.peak_gflops =
          std::max(result_.peak_gflops, request_.threads * arena_->peak(peak_type()));
    } catch (const Error&) {
      if (!deadline_.over()) throw;  // else it was stopped, and nothing is known
    }
  }

  void prepare() {
    const Target& target = *request_.target;
    // Nothing runs for an estimate: what must come out need not be known.
    const bool runs = request_.effort != Effort::kEstimate;
    require_memory(*request_.proc, all_sizes_, request_.machine, runs);
    problem_ = make_problem(request_.proc, all_sizes_, {.inputs = false});
    const std::string sizes = sizes_text(all_sizes_) +
                              (request_.sizes.empty() ? " (symbolic)" : "") +
                              threads_text(request_.threads);
    if (!runs) {
      result_.key = context_key(*request_.proc, sizes, target, request_.machine);
      return;
    }
    toolchain_ = with_threads(toolchain_of(target), request_.threads);
    arena_ = native_arena(toolchain_, native());
    runner_ = std::make_unique<NativeRunner>(toolchain_, native());
    result_.key = enter_context(request_.proc, request_.kernel.name, sizes, target,
                                request_.machine, toolchain_, store_);
    find_expected();
    measure_peak_again();
  }

  // What must come out; not when there is no time for it, and then nothing is measured.
  void find_expected() {
    ProblemOptions data{.seed = request_.seed};
    data.runner = runner_.get();
    data.target = request_.target.get();
    const Deadline deadline = budget_.reference();
    try {
      const DeadlineScope scope(deadline);
      problem_ = make_problem(request_.proc, all_sizes_, data);
      can_measure_ = true;
    } catch (const Error&) {
      if (!deadline.over()) throw;
    }
  }

  ProcPtr asked() const { return request_.partial ? request_.partial->proc : request_.proc; }

  // The first state: the kernel as the search will see it, with its fixed sizes.
  void begin() {
    const ProcPtr from = asked();
    start_ = first_state(from, context_);
    if (!request_.partial)
      if (const auto refusal = extend(start_, fixing_steps(*from, request_.sizes), context_))
        count(*refusal);
    seen_.insert(start_.text_hash);
    states_.push_back(start_);
    if (worth_rehearsing()) rehearse();
  }

  // Register tiles with what they leave: their steps take long at open sizes. Other kinds are
  // searched as they are, since schedules that differ at other sizes may be one at these. So are a
  // user's lines, which may speak of the sizes.
  bool worth_rehearsing() const {
    const bool open = std::any_of(start_.proc->args.begin(), start_.proc->args.end(),
                                  [](const Arg& a) { return a.type.scalar == ScalarType::kSize; });
    const NestKind kind = inspect_nest(*start_.proc).kind;
    return open && !request_.partial && (kind == NestKind::kContraction || kind == NestKind::kSums);
  }
  void rehearse() {
    try {
      rehearsal_.emplace(start_, all_sizes_, context_);
    } catch (const SchedulingError&) {
      // These sizes cannot be fixed: the search works on open ones.
    }
  }

  // Before there is anything else, so that a run never ends with nothing; what it takes bounds the
  // others. Where one call is too long for its share of the time, the others come first.
  void measure_written() {
    const auto start = Clock::now();
    const Deadline deadline = budget_.written();
    std::optional<Trial> written = keep(emit(start_), 0);
    if (!written || deadline.over()) return;
    measure_batch({std::move(*written)}, 1, deadline, request_.timeout_seconds, true);
    if (measured_.trials.back().status == TrialStatus::kSkipped) measured_.trials.pop_back();
    written_ran_ = !measured_.trials.empty();
    // What other compilers make of it, as far as the time goes: nothing found may be slower.
    if (written_ran_)
      measure_batch(otherwise(measured_.trials.front()), 1, deadline, request_.timeout_seconds,
                    false);
    result_.statistics.measure_seconds += since(start);
  }

  void search() {
    const auto start = Clock::now();
    search_deadline_ = budget_.search(can_measure_);
    report("search", 0, 0);
    const ProcPtr from = asked();
    nest_ = inspect_nest(*start_.proc);
    for (const std::string& operand : request_.kernel.ahead)
      for (const AheadLayout& l : ahead_layouts(*start_.proc, operand, *request_.target, 6,
                                                budget_.plan(search_deadline_)))
        nest_.packed_orders.push_back({operand, l.tiles, l.order, l.depth});
    // A nest that is in tiles already has its plan, and many more loops to plan for.
    const bool tiled = std::any_of(nest_.loops.begin(), nest_.loops.end(),
                                   [](const NestLoop& loop) { return !loop.outer.empty(); });
    std::vector<Family> families;
    if (request_.strategy != Strategy::kBeam && !tiled) families.push_back({plan()});
    const bool planned = !families.empty() && !families[0].states.empty();
    // Nothing is measured for an estimate: where the plans' tiles divide the loops, the beam has
    // nothing that the model would prefer, and takes most of the time.
    const bool settled = request_.effort == Effort::kEstimate && planned && request_.threads == 1 &&
                         result_.statistics.dp->dividing;
    const bool beams = !planned || (request_.strategy != Strategy::kDp && !settled);
    const bool known = nest_.kind != NestKind::kOther && is_one_nest(start_.proc);
    if (request_.strategy != Strategy::kDp && !tiled && !known)
      families.push_back({program_states()});
    // Before what stands around the plans: a search that is cut short has both.
    std::vector<BeamState> found;
    if (beams) found = run_beams(from);
    // A nest of a kind that the beam knows, and nothing of that kind fits it.
    if (!planned && known && !tiled && request_.strategy != Strategy::kDp && !is_scheduled(found))
      families.push_back({program_states()});
    if (planned)
      families.push_back(
          {around(settled ? cheapest_of(families[0].states) : families[0].states,
                  static_cast<size_t>(std::max(1, beams ? request_.trials / 3 : request_.trials)),
                  search_deadline_)});
    if (beams) families.push_back({std::move(found)});
    families.insert(families.begin(), {known_states()});
    add_states(in_turns(std::move(families)));
    if (search_deadline_.over()) result_.stop = stop_of(search_deadline_);
    result_.statistics.search_seconds = since(start);
  }

  // Finished schedules: measured early, and nothing is tried around them.
  std::vector<BeamState> known_states() {
    std::vector<BeamState> states;
    for (const WholeSchedule& known : request_.known) {
      states.push_back(first_state(known.proc, context_));
      known_.emplace(states.back().text_hash, &known);
    }
    return states;
  }

  // The model that chose the plans has little to add around the others.
  static constexpr size_t kRefinedByModel = 1;
  static std::vector<BeamState> cheapest_of(std::vector<BeamState> states) {
    std::stable_sort(states.begin(), states.end(), [](const BeamState& a, const BeamState& b) {
      return a.cost.cycles < b.cost.cycles;
    });
    if (states.size() > kRefinedByModel) states.resize(kRefinedByModel);
    return states;
  }

  void count(const StepRefusal& refusal) {
    TuneStatistics& s = result_.statistics;
    ++s.refused;
    if (++s.refusals[refusal.op] == 1) s.reasons[refusal.op] = refusal.text();
    if (s.first_refusal.empty()) s.first_refusal = refusal.text();
  }

  static constexpr double kProgramShare = 0.7;  // of the search's time, for proposing
  // What the outline of the whole program suggests, whatever its form.
  std::vector<BeamState> program_states() {
    ProgramSearchRequest ask;
    ask.target = request_.target.get();
    ask.levels = levels_;
    ask.context = &context_;
    ask.beam = request_.beam;
    ask.keep = std::max(1, request_.trials - request_.trials / 5);
    program_deadline_ = search_deadline_.within(kProgramShare * search_deadline_.left());
    ask.interrupted = [this] { return program_deadline_.over(); };
    program_end_ = search_deadline_;
    ask.deadline = Deadline().or_when([this] { return program_end_.over(); });
    program_ = std::make_unique<ProgramSearch>(ask);
    ProgramSearchResult found = program_->run(start_);
    TuneStatistics& s = result_.statistics;
    s.states += found.made;
    for (const StepRefusal& r : found.refusals)
      if (s.reasons.emplace(r.op, r.text()).second && s.first_refusal.empty())
        s.first_refusal = r.text();
    for (const auto& [op, n] : found.refused) {
      s.refusals[op] += n;
      s.refused += n;
    }
    return std::move(found.states);
  }

  bool is_scheduled(const std::vector<BeamState>& states) const {
    return std::any_of(states.begin(), states.end(),
                       [&](const BeamState& s) { return s.text_hash != start_.text_hash; });
  }

  // With threads: once for each loop that may be shared out to them, and what no thread helps last.
  std::vector<BeamState> run_beams(const ProcPtr& from) {
    std::vector<BeamState> found;
    if (request_.threads > 1)
      for (const SharedLoop& shared : shared_loops(nest_, *request_.target, request_.threads))
        for (BeamState& state : run_beam(from, shared.part, &shared).states)
          if (state.steps.size() > start_.steps.size()) found.push_back(std::move(state));
    std::stable_sort(found.begin(), found.end(), [](const BeamState& a, const BeamState& b) {
      return a.cost.cycles < b.cost.cycles;
    });
    for (BeamState& state : run_beam(from, nest_, nullptr).states)
      found.push_back(std::move(state));
    return found;
  }

  BeamResult run_beam(const ProcPtr& from, const Nest& nest, const SharedLoop* shared) {
    SearchSpace space = space_for(nest, *request_.target, levels_, context_.constraints);
    if (shared) {
      space.prologue.insert(space.prologue.begin(), shared->share_out);
      space.stages.push_back({"threads", {{{shared->parallelize}, "", ""}}});
    }
    if (!rehearsal_)
      space.prologue.insert(space.prologue.begin(), start_.steps.begin(), start_.steps.end());
    BeamOptions options;
    options.width = request_.beam;
    options.keep = std::max(1, request_.trials);
    options.seed = request_.seed;
    options.deadline = search_deadline_;
    options.progress = [&](int done, int planned) { report("search", done, planned); };
    BeamResult beam =
        beam_search(rehearsal_ ? rehearsal_->start().proc : from, space, context_, options);
    if (rehearsal_) beam.states = performed(std::move(beam.states), search_deadline_);
    TuneStatistics& s = result_.statistics;
    s.states += beam.made;
    s.refused += beam.refused;
    s.duplicates += beam.duplicates;
    for (const auto& [op, n] : beam.refusals) s.refusals[op] += n;
    for (const auto& [op, reason] : beam.reasons) s.reasons.emplace(op, reason);
    if (s.first_refusal.empty()) s.first_refusal = beam.first_refusal;
    return beam;
  }

  // What was found at fixed sizes, the best of it, made of the kernel itself.
  std::vector<BeamState> performed(std::vector<BeamState> rehearsed, const Deadline& deadline) {
    const size_t most =
        request_.effort == Effort::kEstimate
            ? kEstimated
            : std::max<size_t>(kEstimated, static_cast<size_t>(request_.trials) / 4);
    if (rehearsed.size() > most) rehearsed.resize(most);
    std::vector<Steps> lists;
    for (BeamState& state : rehearsed) lists.push_back(std::move(state.steps));
    return kept(rehearsal_->perform(lists, deadline));
  }
  static constexpr size_t kEstimated = 16;

  // Those that became schedules; the others are counted.
  std::vector<BeamState> kept(std::vector<Extended> extended) {
    std::vector<BeamState> out;
    for (Extended& e : extended) {
      result_.statistics.states += e.reached;
      if (e.refusal) count(*e.refusal);
      if (e.reached && !e.refusal) out.push_back(std::move(e.state));
    }
    return out;
  }

  static StopReason stop_of(const Deadline& d) {
    return d.interrupted() ? StopReason::kInterrupted : StopReason::kTimeBudget;
  }

  // The dynamic program's plans, each made a schedule by the core.
  std::vector<BeamState> plan() {
    report("plan", 0, 0);
    DpRequest ask;
    ask.plans = request_.dp_plans;
    ask.threads = request_.threads;
    ask.jobs = request_.jobs;
    ask.specs = request_.dp_specs;
    ask.deadline = budget_.plan(search_deadline_);
    ask.memo_file = request_.memo_file;
    ask.figures = dp_figures(*request_.target, request_.machine, &store_,
                             request_.kernel.operation(), request_.costs);
    ask.instructions = context_.instructions;
    for (const ProcPtr& p : request_.target->instructions()) {
      const ValueList& allowed = context_.instructions;
      if (std::none_of(allowed.begin(), allowed.end(),
                       [&](const Value& v) { return *v.as<ProcPtr>() == p; }))
        ask.avoided.push_back(p->name);
    }
    TuneStatistics& s = result_.statistics;
    // One thread for an estimate: how far several get with their Specs is not the same each time.
    if (request_.effort == Effort::kEstimate) ask.jobs = 1;
    const ProcPtr planned = rehearsal_ ? rehearsal_->start().proc : start_.proc;
    s.dp = dp_plans(*planned, *request_.target, ask);
    if (s.dp->outcome == DpOutcome::kOutOfTime && request_.strategy == Strategy::kDp)
      result_.stop = StopReason::kTimeBudget;
    const int64_t lanes = request_.target->lanes_of(nest_.precision);
    std::vector<Steps> lists;
    for (const DpPlan& p : s.dp->plans)
      lists.push_back(rehearsal_ ? with_open_ends(p.steps, lanes) : p.steps);
    std::vector<Extended> made = extend_all(start_, lists, context_, search_deadline_);
    for (const Extended& e : made) s.plans_refused += e.refusal.has_value();
    return kept(std::move(made));
  }

  void add_states(std::vector<BeamState> more) {
    for (BeamState& state : more) {
      if (seen_.insert(state.text_hash).second)
        states_.push_back(std::move(state));
      else
        ++result_.statistics.duplicates;
    }
  }

  std::vector<BeamState> around(const std::vector<BeamState>& good, size_t most,
                                const Deadline& deadline) {
    const Neighbourhood where{
        request_.target->lanes_of(nest_.precision),
        request_.target->vector_memory ? request_.target->vector_memory->count : 0,
        nest_.vector_loop, nest_.row_loop};
    Surroundings found = surroundings(good, most, where, deadline);
    for (const StepRefusal& r : found.refusals) count(r);
    result_.statistics.states += found.made;
    result_.statistics.neighbours += found.made;
    return rehearsal_ ? performed(std::move(found.states), deadline) : std::move(found.states);
  }
  Surroundings surroundings(const std::vector<BeamState>& good, size_t most,
                            const Neighbourhood& where, const Deadline& deadline) {
    if (!rehearsal_) return surroundings_of(good, most, start_, where, context_, seen_, deadline);
    const std::vector<BeamState> rehearsed = rehearsal_->rehearsed(good, deadline);
    for (const BeamState& state : rehearsed) seen_rehearsed_.insert(state.text_hash);
    return surroundings_of(rehearsed, most, rehearsal_->start(), where, context_, seen_rehearsed_,
                           deadline);
  }

  // The schedule of a state, as it is measured and written.
  WholeSchedule whole(const BeamState& state) const {
    if (const auto known = known_.find(state.text_hash); known != known_.end())
      return *known->second;
    if (request_.partial) return request_.partial->whole(state.steps);
    return {state.proc, script_text(*request_.proc, state.steps)};
  }

  // What a state comes to: a trial, or why not.
  struct Emission {
    std::optional<Trial> trial;
    ProcPtr proc;
    std::optional<StepRefusal> refusal;
  };

  Emission emit(const BeamState& state) const {
    std::string op = request_.partial ? "whole script" : "emit";
    Emission out;
    try {
      const WholeSchedule made = whole(state);
      op = "emit";
      Trial t;
      t.candidate = make_candidate(made.proc, *request_.target, problem_);
      t.script = made.script;
      t.as_written = state.text_hash == start_.text_hash;
      const bool moved = state.reassociated || reassociates(made.proc);
      t.proof = moved ? ProofLevel::kProvedModuloReassociation : ProofLevel::kProved;
      out.proc = made.proc;
      out.trial = std::move(t);
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::kInternal) op = kInternalError;
      out.refusal = {op, "", e.diagnostic().where.str() + ": " + e.diagnostic().message.str()};
    }
    return out;
  }

  // Nothing when it does not become a whole schedule or has no C.
  std::optional<Trial> keep(Emission made, size_t index) {
    if (made.refusal) count(*made.refusal);
    if (!made.trial) return std::nullopt;
    procs_[made.trial->candidate.id] = made.proc;
    state_of_[made.trial->candidate.id] = index;
    return std::move(made.trial);
  }

  // The trials of these states; emitted in parallel but for parts of a user's script.
  std::vector<Trial> trials_of(const std::vector<size_t>& states) {
    std::vector<Emission> made(states.size());
    const auto one = [&](size_t k) {
      if (!deadline_.over()) made[k] = emit(states_[states[k]]);
    };
    if (request_.partial)
      for (size_t k = 0; k < states.size(); ++k) one(k);
    else
      tbb::parallel_for(size_t{0}, states.size(), one);
    std::vector<Trial> out;
    for (size_t k = 0; k < states.size(); ++k)
      if (std::optional<Trial> t = keep(std::move(made[k]), states[k])) {
        const std::optional<Trial> written = t->as_written ? t : std::nullopt;
        if (!t->as_written || !written_ran_) out.push_back(std::move(*t));
        if (!written) continue;
        for (Trial& other : otherwise(*written)) out.push_back(std::move(other));
      }
    return out;
  }

  // The same code in the other ways to compile it that are not among the trials yet.
  std::vector<Trial> otherwise(const Trial& usual) {
    std::vector<Trial> out;
    for (const Compilation& how : unusual_compilations(toolchain_)) {
      Trial t = compiled(usual, how);
      if (std::none_of(measured_.trials.begin(), measured_.trials.end(), [&](const Trial& m) {
            return m.candidate.id == t.candidate.id && m.status != TrialStatus::kSkipped;
          }))
        out.push_back(std::move(t));
    }
    return out;
  }

  // The same code, made machine code in another way.
  Trial compiled(const Trial& usual, const Compilation& how) {
    Trial t;
    t.candidate = compiled_as(usual.candidate, how);
    t.script = lines_of(how) + usual.script;
    t.proof = how.any_order ? ProofLevel::kProvedModuloReassociation : usual.proof;
    t.compilation = how;
    procs_[t.candidate.id] = procs_[usual.candidate.id];
    state_of_[t.candidate.id] = state_of_[usual.candidate.id];
    return t;
  }

  std::vector<size_t> cheapest_first() const {
    std::vector<size_t> order(states_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return states_[a].cost.cycles < states_[b].cost.cycles;
    });
    return order;
  }

  // Nothing ran, or nothing in time: the winner is the cheapest schedule by the cost model that has
  // C and was not found wrong.
  void estimate() {
    std::set<size_t> wrong;
    for (const Trial& t : measured_.trials)
      if (t.status != TrialStatus::kOk && t.status != TrialStatus::kSkipped &&
          t.status != TrialStatus::kTimeout)
        wrong.insert(state_of_.at(t.candidate.id));
    for (const size_t k : cheapest_first()) {
      if (wrong.count(k)) continue;
      const std::optional<Trial> t = keep(emit(states_[k]), k);
      if (!t) continue;
      take(*t);
      return;
    }
  }

  void take(const Trial& t) {
    result_.winner = procs_[t.candidate.id];
    result_.script = t.script;
    result_.steps = states_[state_of_[t.candidate.id]].steps;
    result_.candidate_id = t.candidate.id;
    result_.proof = t.proof;
    result_.as_written = states_[state_of_[t.candidate.id]].text_hash == start_.text_hash;
    result_.compilation = t.compilation;
  }

  // The fastest trial, as it was measured.
  void take_fastest() {
    const Trial* best = nullptr;
    for (const Trial& t : measured_.trials)
      if (t.status == TrialStatus::kOk && t.median > 0 && (!best || t.median < best->median))
        best = &t;
    if (!best) return;
    take(*best);
    note_speed(best->median);
    result_.failures.push_back("no shoot-out: the time was over; the winner is the fastest trial");
  }

  void note_speed(double seconds) {
    result_.seconds = seconds;
    result_.gflops = per_second(request_.kernel.flops, seconds);
    result_.gbytes = per_second(request_.kernel.bytes, seconds);
  }

  // Neighbours of the fastest are tried while that helps, with what is left of the trials.
  static constexpr int kRefinements = 2;
  static constexpr size_t kRefined = 3;
  static constexpr int kSemifinalRounds = 5;

  void measure() {
    const auto start = Clock::now();
    const Deadline deadline = budget_.measuring();
    if (deadline_.over() || !can_measure_) {
      result_.stop = stop_of(deadline_);
      return;
    }
    const size_t most = static_cast<size_t>(std::max(1, request_.trials));
    const size_t kept = most / 5;  // for refinement
    if (states_.size() > most - kept && !search_deadline_.over())
      result_.stop = StopReason::kTrials;
    measure_states(0, most - kept, share_of(deadline, kShareOfStates));
    if (best_seconds_ == 0 ? !found_wrong() : deadline.over() && !found_schedule()) rescue();
    if (program_ && !deadline.over()) {
      const size_t first = states_.size();
      program_deadline_ = program_end_ = deadline;
      add_states(program_->recombine(seconds_of_states()));
      measure_states(first, most - std::min(most, measured_.trials.size()),
                     share_of(deadline, kShareOfStates));
    }
    const Deadline refining = share_of(deadline, kShareOfStates);
    for (int round = 0; round < kRefinements && !refining.over(); ++round) {
      compare_fastest(refining);
      const double before = best_seconds_;
      const size_t first = states_.size(), room = most - std::min(most, measured_.trials.size());
      if (room == 0 || before == 0 || refining.over()) break;
      add_states(
          around(fastest(), std::min(room, std::max<size_t>(1, kept / kRefinements)), refining));
      measure_states(first, room, refining);
      if (best_seconds_ >= 0.995 * before) break;
    }
    compile_otherwise(deadline);
    const TrialRun& all = measured_;
    result_.statistics.measured = all.measured;
    result_.statistics.reused = all.reused;
    result_.statistics.causes = all.causes;
    result_.failures = all.first_causes;
    result_.statistics.measure_seconds += since(start);
    if (deadline.over()) result_.stop = stop_of(deadline);
  }

  // Each step of measuring leaves time to the next ones: what the parts' fastest are together, what
  // is around the fastest, and what other compilers make of it change more than one schedule more
  // does.
  static constexpr double kShareOfStates = 0.75;
  static Deadline share_of(const Deadline& deadline, double share) {
    return deadline.within(share * deadline.left());
  }

  bool is_as_written(const Trial& t) const {
    return states_[state_of_.at(t.candidate.id)].text_hash == start_.text_hash;
  }
  // Is some schedule ok, and not the nest as written alone?
  bool found_schedule() const {
    return std::any_of(measured_.trials.begin(), measured_.trials.end(), [&](const Trial& t) {
      return t.status == TrialStatus::kOk && !is_as_written(t);
    });
  }

  // On a machine that is busy the finals' time is better spent on having a result at all: for the
  // cheapest by the model, as long as there is.
  void rescue() {
    std::set<size_t> known;
    for (const Trial& t : measured_.trials)
      if (t.status != TrialStatus::kSkipped && t.status != TrialStatus::kTimeout)
        known.insert(state_of_.at(t.candidate.id));
    size_t tried = 0;
    for (const size_t k : cheapest_first()) {
      if (known.count(k)) continue;
      if (found_schedule() || deadline_.over() || ++tried > kFewest) return;
      // What is slower than the nest as written is of no use.
      const double timeout =
          best_seconds_ > 0 ? request_.timeout_seconds
                            : std::max(request_.timeout_seconds, kShareOfRescue * deadline_.left());
      measure_batch(trials_of({k}), static_cast<int>(measured_.trials.size()) + 1, deadline_,
                    timeout, best_seconds_ == 0);
    }
  }
  static constexpr double kShareOfRescue = 0.4;

  // What the compiler makes of the fastest schedules is part of them: loops that were left to it,
  // sums beside vectors, registers. The other ways to compile them, for the two fastest.
  static constexpr size_t kOtherwise = 2;
  void compile_otherwise(const Deadline& deadline) {
    if (measured_.measured == 0) return;  // a run that repeats another one repeats it whole
    std::set<size_t> done;
    std::vector<Trial> trials;
    for (const Trial* t : ranked()) {
      if (done.size() >= kOtherwise) break;
      if (!done.insert(state_of_.at(t->candidate.id)).second) continue;
      if (!t->compilation.is_usual()) continue;
      for (Trial& other : otherwise(*t)) trials.push_back(std::move(other));
    }
    const double each = seconds_each();
    for (size_t k = 0; k < trials.size() && !deadline.over(); ++k)
      if (each <= deadline.left())
        measure_batch({trials[k]}, static_cast<int>(measured_.trials.size() + trials.size() - k),
                      deadline, request_.timeout_seconds, false);
  }

  // Seconds that a candidate took so far, compiled, checked and timed; what one more will take.
  double seconds_each() const {
    return measured_.measured == 0 ? 0 : measured_seconds_ / measured_.measured;
  }

  // What whole programs took, by the text of their procedures.
  std::map<std::string, double> seconds_of_states() const {
    std::map<std::string, double> out;
    for (const Trial& t : measured_.trials)
      if (t.status == TrialStatus::kOk && t.compilation.is_usual())
        out[states_[state_of_.at(t.candidate.id)].text_hash] = t.median;
    return out;
  }

  // Times of one run for those that may win; what it takes is part of the measuring.
  void compare_fastest(const Deadline& deadline) {
    if (request_.top_k * seconds_each() > deadline.left()) return;  // it would not end
    const DeadlineScope scope(deadline);
    time_side_by_side(measured_.trials, static_cast<size_t>(request_.top_k), kSemifinalRounds,
                      *arena_, problem_);
    best_seconds_ = 0;
    for (const Trial& t : measured_.trials) note_best(t);
  }

  std::vector<BeamState> fastest() const {
    std::vector<BeamState> out;
    std::set<size_t> known;  // the same schedule may be there in several compilations
    for (const Trial* t : ranked()) {
      const size_t state = state_of_.at(t->candidate.id);
      if (known_.contains(states_[state].text_hash)) continue;
      if (out.size() < kRefined && known.insert(state).second) out.push_back(states_[state]);
    }
    return out;
  }

  std::vector<const Trial*> ranked() const {
    std::vector<const Trial*> ok;
    for (const Trial& t : measured_.trials)
      if (t.status == TrialStatus::kOk) ok.push_back(&t);
    std::stable_sort(ok.begin(), ok.end(),
                     [](const Trial* a, const Trial* b) { return a->median < b->median; });
    return ok;
  }

  // At first a few, so that something is known soon; then as many as take a small part of the time
  // that is left.
  static constexpr size_t kFirstBatch = 6, kLargestBatch = 16, kFewest = 2;
  static constexpr double kShareOfBatch = 0.125;
  size_t batch_size(const Deadline& deadline) const {
    const double each = seconds_each();
    if (measured_.trials.empty())
      return std::clamp(static_cast<size_t>(request_.time_budget_seconds / 10), kFewest,
                        kFirstBatch);
    if (each <= 0) return kLargestBatch;
    const double fit = kShareOfBatch * std::min(1e6, deadline.left()) / each;
    return std::clamp(static_cast<size_t>(fit), size_t{2}, kLargestBatch);
  }

  // Measures states from `first` on, at most `most` of them, and adds the trials to what is known.
  void measure_states(size_t first, size_t most, const Deadline& deadline) {
    const size_t last = first + std::min(most, states_.size() - std::min(first, states_.size()));
    const int planned = static_cast<int>(measured_.trials.size()) + static_cast<int>(last - first);
    for (size_t next = first; next < last && !deadline.over();) {
      std::vector<size_t> batch;
      for (size_t n = batch_size(deadline); n > 0 && next < last; --n) batch.push_back(next++);
      measure_batch(trials_of(batch), planned, deadline, request_.timeout_seconds, false);
    }
  }

  // `rescue`: TrialLimits has it.
  void measure_batch(std::vector<Trial> trials, int planned, const Deadline& deadline,
                     double timeout_seconds, bool rescue) {
    const auto start = Clock::now();
    TrialLimits limits;
    limits.timeout_seconds = timeout_seconds;
    limits.rescue = rescue;
    limits.deadline = deadline;
    limits.best_known = best_seconds_;
    limits.fresh = request_.fresh;
    const int done_before = static_cast<int>(measured_.trials.size());
    const int ok_before = ok_, bad_before = bad_;
    limits.progress = [&](const std::vector<Trial>& all, size_t done) {
      ok_ = ok_before, bad_ = bad_before;
      for (const Trial& t : all) {
        ok_ += t.status == TrialStatus::kOk;
        bad_ += t.status != TrialStatus::kOk && t.status != TrialStatus::kSkipped;
        note_best(t);
      }
      report("measure", done_before + static_cast<int>(done), planned);
    };
    TrialRun run = run_trials(std::move(trials), result_.key, problem_, *runner_, store_, limits);
    if (run.measured > 0) measured_seconds_ += since(start);
    for (const Trial& t : run.trials) note_best(t);
    measured_.measured += run.measured;
    measured_.reused += run.reused;
    for (const auto& [cause, n] : run.causes)
      if ((measured_.causes[cause] += n) == n)
        for (std::string& text : run.first_causes)
          if (text.rfind(cause + ":", 0) == 0) measured_.first_causes.push_back(std::move(text));
    for (Trial& t : run.trials) measured_.trials.push_back(std::move(t));
  }

  void note_best(const Trial& t) {
    if (t.status == TrialStatus::kOk && t.median > 0 &&
        (best_seconds_ == 0 || t.median < best_seconds_))
      best_seconds_ = t.median;
  }

  // Many loops at odd sizes make more work than a check is worth: the largest sizes are halved.
  static constexpr double kCheckedOperations = 3e7;
  void shrink_to(double operations, const std::vector<std::string>& free,
                 SizeBinding& sizes) const {
    if (request_.kernel.flops.text().empty()) return;
    while (request_.kernel.flops.evaluate(sizes) > operations) {
      int64_t* largest = &sizes[free.front()];
      for (const std::string& name : free)
        if (sizes[name] > *largest) largest = &sizes[name];
      if (*largest <= 1) return;
      *largest /= 2;
    }
  }

  // What to compute at the other sizes, each made once for all finalists; null when the deadline is
  // over.
  static constexpr std::array<int64_t, 10> kOtherExtents = {1, 2, 3, 5, 17, 63, 64, 65, 100, 129};
  const TuningProblem* other_problem(size_t place, const std::vector<std::string>& free,
                                     const Deadline& deadline) {
    const DeadlineScope scope(deadline);
    if (deadline.over()) return nullptr;
    if (place < other_problems_.size()) return &other_problems_[place];
    SizeBinding sizes = all_sizes_;
    for (size_t d = 0; d < free.size(); ++d)
      sizes[free[d]] = kOtherExtents[(place + d * 3) % kOtherExtents.size()];
    shrink_to(kCheckedOperations, free, sizes);
    try {
      other_problems_.push_back(
          make_problem(request_.proc, sizes, {.seed = request_.seed + place}));
    } catch (const InterpError&) {
      if (!deadline.over()) throw;
      return nullptr;
    }
    return &other_problems_.back();
  }

  // Correct at other sizes too: a symbolic kernel is checked where every boundary is met. Nothing
  // when the deadline was over before all was seen.
  std::optional<bool> correct_elsewhere(const Trial& t, const Deadline& deadline) {
    std::vector<std::string> free;
    for (const auto& [name, value] : all_sizes_)
      if (!request_.sizes.count(name)) free.push_back(name);
    if (free.empty()) return true;
    for (size_t place = 0; place < kOtherExtents.size(); ++place) {
      const TuningProblem* problem = other_problem(place, free, deadline);
      if (problem == nullptr) return std::nullopt;
      Candidate c = make_candidate(procs_[t.candidate.id], *request_.target, *problem);
      c = compiled_as(std::move(c), t.compilation);
      RunOptions options;
      options.measure = false;
      options.timeout_seconds = request_.timeout_seconds;
      const DeadlineScope scope(deadline);
      TrialResult r = runner_->run(std::span(&c, 1), problem->test, options)[0];
      if (r.ok()) continue;
      if (r.status == TrialStatus::kSkipped) return std::nullopt;
      const std::string cause = "at " + sizes_text(problem->sizes) + ": " + r.cause;
      result_.failures.push_back(std::string(status_name(r.status)) + " " + cause);
      ++result_.statistics.causes[status_name(r.status)];
      retract(t, r.status, cause);
      return false;
    }
    return true;
  }

  // Who goes to the shoot-out: the fastest that are correct at other sizes too, as many as the time
  // allows for; one that there was no time to check only when no other is there.
  std::vector<const Trial*> choose_finalists() {
    const std::vector<const Trial*> all = ranked();
    const Deadline deadline = budget_.other_sizes();
    size_t most = static_cast<size_t>(request_.top_k);
    constexpr double kShareOfCompiling = 0.3;
    if (const double each = seconds_each(); each > 0)
      most = std::clamp(static_cast<size_t>(kShareOfCompiling * deadline_.left() / each),
                        std::min<size_t>(2, most), most);
    std::vector<const Trial*> chosen;
    for (const Trial* t : all) {
      if (chosen.size() >= most) break;
      const std::optional<bool> correct = correct_elsewhere(*t, deadline);
      report("other sizes", static_cast<int>(chosen.size()), static_cast<int>(most));
      if (!correct) {
        if (!chosen.empty()) break;
        result_.failures.push_back("not checked at other sizes: the time was over");
        chosen.push_back(t);
        break;
      }
      if (*correct) chosen.push_back(t);
    }
    return chosen;
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

  NativeOptions native() const {
    return {.work_directory = request_.work_directory, .jobs = request_.jobs};
  }

  // Sizes besides the tuned one that a kernel for every size should be good at.
  std::vector<SizeBinding> listed_sizes() const {
    std::vector<SizeBinding> out;
    for (const SizeBinding& listed : request_.kernel.sizes) {
      SizeBinding sizes = all_sizes_;
      for (auto& [name, value] : sizes)
        if (auto it = listed.find(name); it != listed.end() && !request_.sizes.count(name))
          value = it->second;
      if (sizes != all_sizes_) out.push_back(std::move(sizes));
    }
    return out;
  }

  // The winner among the finalists; of a kernel for every size, over the sizes it lists.
  size_t winner_of(const std::vector<const Trial*>& finalists, const ShootoutResult& shot) {
    FinalsAtSizes finals;
    for (const Trial* t : finalists) {
      finals.finalists.push_back(procs_[t->candidate.id]);
      finals.compilations.push_back(t->compilation);
    }
    finals.kernel = request_.proc;
    finals.target = request_.target.get();
    finals.arena = arena_.get();
    finals.seed = request_.seed;
    finals.deadline = deadline_;
    finals.sizes = listed_sizes();
    report("finals", 0, static_cast<int>(finals.sizes.size()));
    return best_over_sizes(finals, shot);
  }

  // Who else does the same: the libraries, or where no library does, the compilers on their own.
  void add_peers(std::vector<Contender>& contenders, const Deadline& deadline) {
    const std::optional<PeerProblem> peer = peer_problem(request_.kernel, problem_);
    if (!peer) {
      // Whoever compares would write the sizes that are known into the loops, too.
      const Candidate plain = make_candidate(at_sizes(request_.proc, request_.sizes),
                                             *request_.target, problem_, "plain");
      const DeadlineScope scope(deadline);
      for (Contender& c : arena_->plain_code(plain)) contenders.push_back(std::move(c));
      return;
    }
    report("peers", 0, 0);
    const DeadlineScope scope(deadline);
    result_.peer_report = arena_->peers();
    for (const Peer& p : result_.peer_report.peers)
      if (p.supports(*peer))
        contenders.push_back(contender_of(shown_name(p, toolchain_), PeerCall{p, *peer}));
  }

  // The peak as the rounds of the shoot-out saw it beside the winner.
  void take_peak(const ShootoutResult& shot, size_t winner, size_t roof, const Roof& loop) {
    const Ratio ratio = shot.ratio(winner, roof);
    if (ratio.rounds == 0 || result_.gflops <= 0) return;
    const double flops = request_.threads * loop.flops_per_step * static_cast<double>(kRoofSteps);
    const double share = request_.kernel.flops.evaluate(all_sizes_) / flops * ratio.median;
    if (share > 0) result_.peak_gflops = result_.gflops / share;
  }
  // Of the time that is left, for finding and compiling the peers: the first time takes longest.
  static constexpr double kShareOfPeers = 0.4;

  // The machine's roof, where there is time to find it.
  void add_roof(std::vector<Contender>& contenders) {
    if (request_.kernel.flops.text().empty() || deadline_.over()) return;
    const DeadlineScope scope(deadline_);
    try {
      if (std::optional<Contender> peak = arena_->roof(peak_type()))
        contenders.push_back(std::move(*peak));
    } catch (const Error&) {
      if (!deadline_.over()) throw;
    }
  }

  void shoot() {
    const auto start = Clock::now();
    if (deadline_.over() || ranked().empty()) return;
    const std::vector<const Trial*> finalists = choose_finalists();
    if (finalists.empty() || deadline_.over()) return;
    std::vector<Contender> contenders;
    for (const Trial* t : finalists)
      contenders.push_back(contender_of("#" + std::to_string(contenders.size() + 1), t->candidate));
    for (const Rival& rival : request_.rivals)
      contenders.push_back(contender_of(
          rival.name,
          make_candidate(at_sizes(rival.proc, request_.sizes), *request_.target, problem_)));
    const size_t first_peer = contenders.size();
    if (request_.with_peers)
      add_peers(contenders, deadline_.within(kShareOfPeers * deadline_.left()));
    const size_t roof = contenders.size();
    add_roof(contenders);
    ShootoutOptions options;
    options.rounds = request_.rounds;
    report("shoot-out", 0, static_cast<int>(contenders.size()));
    finals_deadline_ = budget_.shootout(!listed_sizes().empty());
    const ShootoutResult shot = [&] {
      const DeadlineScope scope(finals_deadline_);
      return arena_->compete(contenders, problem_.args, problem_.test, options);
    }();
    result_.statistics.shootout_seconds = since(start);
    if (shot.winner < 0) {
      for (const ContenderResult& c : shot.contenders)
        if (c.status != TrialStatus::kOk)
          result_.failures.push_back(c.name + ": " + status_name(c.status) + ": " + c.cause);
      return;
    }
    const size_t w = winner_of(finalists, shot);
    if (shot.contenders[w].status != TrialStatus::kOk) return;
    const Trial& best = *finalists[w];
    take(best);
    note_speed(shot.contenders[w].median);
    if (roof < contenders.size()) take_peak(shot, w, roof, *contenders[roof].roof);
    for (size_t k = finalists.size(); k < roof; ++k) {
      const ContenderResult& c = shot.contenders[k];
      if (c.status != TrialStatus::kOk) {
        result_.failures.push_back(c.name + ": " + status_name(c.status) + ": " + c.cause);
        continue;
      }
      (k < first_peer ? result_.rivals : result_.peers)
          .push_back({c.name, per_second(request_.kernel.flops, c.median), shot.ratio(w, k)});
    }
    // What a constrained search found is a trial like others, not the kernel's winner.
    if (request_.partial) return;
    if (auto record = store_.find_trial(result_.key, best.candidate.id)) {
      record->samples = shot.contenders[w].samples;
      store_.replace_trial(*record);
      store_.set_winner(result_.key, best.candidate.id);
    }
  }

  const TuneRequest& request_;
  Store& store_;
  const TuneHooks& hooks_;
  const Deadline deadline_;  // of everything
  const PhaseBudget budget_;
  Deadline search_deadline_, finals_deadline_;
  Deadline program_deadline_, program_end_;  // of its proposals, and of all it does
  std::vector<TargetLevel> levels_;
  SizeBinding all_sizes_;
  BeamContext context_;
  BeamState start_;  // with its sizes fixed
  Nest nest_;
  TuningProblem problem_;
  TargetToolchain toolchain_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<NativeRunner> runner_;  // one for all phases: what was compiled stays so
  std::vector<BeamState> states_;
  std::unique_ptr<ProgramSearch> program_;  // null: the nest is of a kind the beam knows
  std::optional<Rehearsal> rehearsal_;      // where sizes are open
  std::set<std::string> seen_rehearsed_;
  std::map<std::string, const WholeSchedule*> known_;  // by hash of the procedure
  std::set<std::string> seen_;                         // hashes of the procedures of states_
  std::map<std::string, ProcPtr> procs_;               // by candidate
  std::map<std::string, size_t> state_of_;             // candidate -> index into states_
  TrialRun measured_;
  std::deque<TuningProblem> other_problems_;  // by place among the other sizes
  bool can_measure_ = false;                  // it is known what must come out
  bool written_ran_ = false;                  // the nest as written is among the trials
  TuneResult result_;
  int ok_ = 0, bad_ = 0;
  double best_seconds_ = 0;
  double measured_seconds_ = 0;
};

}  // namespace

TuneResult tune(const TuneRequest& request, Store& store, const TuneHooks& hooks) {
  return Tuning(request, store, hooks).run();
}

}  // namespace exotune
