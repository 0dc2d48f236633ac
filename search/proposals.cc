#include "search/proposals.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

#include "hw/half_width.h"
#include "hw/machine_model.h"
#include "search/dp/ahead_layout.h"
#include "search/function_estimates.h"
#include "search/joined_rows.h"
#include "search/moves/dot_tiles.h"
#include "search/moves/gathers.h"
#include "search/moves/stencils.h"
#include "search/short_rows.h"
#include "search/steps/builders.h"
#include "search/tuning_context.h"
#include "search/turns.h"
#include "search/weights.h"

namespace exotune {

namespace {

constexpr double kShareAsWritten = 0.5;   // of the search's time, where there are other starts
constexpr size_t kLoopsOfManyOrders = 4;  // more than these: a plan has one of many
constexpr size_t kSharedOut = 24;         // programs
constexpr double kShareOfHalf = 0.3;      // of the time: of whole vectors there is more to find
constexpr size_t kPerformed = 16;         // rehearsed schedules made of the kernel itself, at least
constexpr double kCallsAtPeak = 8;  // at the machine's peak: checks, samples, the compiler's time
constexpr double kFewestTrials = 16;
constexpr int kStatesOfATrial = 2;
constexpr int64_t kPartsOfLast = 4;    // of the last cache, of which others have the rest
constexpr size_t kStreamed = 2;        // of each family, past the caches
constexpr size_t kRefinedByModel = 1;  // the model that chose the plans has little to add

bool cheaper(const BeamState& a, const BeamState& b) { return a.cost.cycles < b.cost.cycles; }

std::vector<BeamState> cheapest_of(std::vector<BeamState> states) {
  std::stable_sort(states.begin(), states.end(), cheaper);
  if (states.size() > kRefinedByModel) states.resize(kRefinedByModel);
  return states;
}

double least_cycles(std::initializer_list<const std::vector<BeamState>*> families) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::vector<BeamState>* family : families)
    for (const BeamState& s : *family) least = std::min(least, s.cost.cycles);
  return least;
}

// Does anything in the program add up?
bool has_sum(const Proc& p) {
  bool found = false;
  for_each_stmt(p.body, [&](const StmtPtr& s) { found = found || s->as<Reduce>(); });
  return found;
}

BeamContext context_of(const TuningState& run) {
  BeamContext out;
  const TuneRequest& request = run.request;
  if (request.partial) out.constraints = request.partial->constraints;
  out.instructions = allowed_instructions(instruction_values(*request.target), out.constraints);
  out.sizes = run.sizes;
  out.weights = weights_of(*request.target, request.machine, &run.store, request.kernel.operation(),
                           request.costs);
  return out;
}

}  // namespace

Proposals::Proposals(TuningState& run)
    : run_(run),
      request_(run.request),
      levels_(request_.machine.levels_of(*request_.target)),
      context_(context_of(run)),
      starts_(request_.starts, context_) {
  const ProcPtr from = asked();
  BeamState start = first_state(from, context_);
  if (!request_.partial)
    if (const auto refusal = extend(start, fixing_steps(*from, request_.sizes), context_))
      run_.count(*refusal);
  BeamState untouched = start;
  // What stands in procedures of its own is the nest's all the same, phases that a loop counts are
  // programs of their own, powers are products, and what is computed alike is computed once; a
  // refusal: there is nothing of the kind.
  if (!request_.partial)
    for (const char* first : {"inline_calls", "unroll_phases", "powers_as_products",
                              "share_operations", "lead_with_terms", "convert_ahead"})
      (void)extend(start, {{first, {}, {}}}, context_);
  // Sums are sums however they are spelled; a refusal: there are no others.
  (void)extend(start, {{"fold_updates", {}, {}}}, context_);
  if (!request_.partial && request_.kernel.ahead.empty()) {
    const Schedule rows = rows_joined({start.proc, {}, false}, run_.sizes, *request_.target);
    (void)extend(start, records_joined(rows, run_.sizes, *request_.target).steps, context_);
  }
  seen_.insert(start.text_hash);
  states_.push_back(std::move(start));
  has_untouched_ = seen_.insert(untouched.text_hash).second;
  if (has_untouched_) states_.push_back(std::move(untouched));
  if (worth_rehearsing()) rehearse();
}

ProcPtr Proposals::asked() const {
  return request_.partial ? request_.partial->proc : request_.proc;
}

// Register tiles with what they leave: their steps take long at open sizes. Other kinds are
// searched as they are, since schedules that differ at other sizes may be one at these. So are a
// user's lines, which may speak of the sizes.
bool Proposals::worth_rehearsing() const {
  const bool open = std::any_of(start().proc->args.begin(), start().proc->args.end(),
                                [](const Arg& a) { return a.type.scalar == ScalarType::kSize; });
  const NestKind kind = inspect_nest(*start().proc).kind;
  return open && !request_.partial && (kind == NestKind::kContraction || kind == NestKind::kSums);
}

void Proposals::rehearse() {
  try {
    rehearsal_.emplace(start(), run_.sizes, context_);
  } catch (const SchedulingError&) {
    // These sizes cannot be fixed: the search works on open ones.
  }
}

void Proposals::read_nest() {
  nest_ = inspect_nest(*start().proc);
  if (request_.kernel.ahead.empty()) return;
  const TargetFigures figures = figures_here();
  for (const std::string& operand : request_.kernel.ahead)
    for (const AheadLayout& l :
         ahead_layouts(*start().proc, operand, *request_.target, figures, 6, plan_deadline()))
      nest_.packed_orders.push_back({operand, l.tiles, l.order, l.depth});
}

void Proposals::search() {
  const double begun = run_.clock.seconds();
  deadline_ = run_.budget.search(run_.can_measure);
  run_.report("search", 0, 0);
  FoundFamilies found;
  // Forms with so many fewer operations that no schedule of the nest as written comes near.
  const bool enough = request_.shorter && !request_.partial && starts_.size() > 0;
  const Deadline whole = deadline_;
  if (starts_.size() > 0) deadline_ = whole.within(kShareAsWritten * whole.left());
  // What a family has when the time is over stands.
  (void)done_within(deadline_, [&] {
    read_nest();
    if (!enough) search(found);
    if (!enough) found.streamed = streamed(found);
  });
  deadline_ = whole;
  search_starts(found);
  const double as_written = least_cycles({&found.plans, &found.programs, &found.beams});
  // What the model prefers is measured first; the others have their turns.
  std::vector<Family> families, behind;
  for (std::vector<BeamState>& of_start : found.of_starts)
    (least_cycles({&of_start}) < as_written ? families : behind).push_back({std::move(of_start)});
  for (std::vector<BeamState>* family :
       {&found.plans, &found.large_plans, &found.programs, &found.narrow})
    families.push_back({std::move(*family)});
  std::move(behind.begin(), behind.end(), std::back_inserter(families));
  for (std::vector<BeamState>* family : {&found.streamed, &found.around, &found.beams})
    families.push_back({std::move(*family)});
  add(in_turns(std::move(families)));
  if (!enough && deadline_.over()) run_.result.stop = stop_of(deadline_);
  run_.result.statistics.search_seconds = run_.since(begun);
}

Proposals::Form Proposals::form() const {
  Form out;
  // A nest that is in tiles already has its plan, and many more loops to plan for.
  out.tiled = std::any_of(nest_.loops.begin(), nest_.loops.end(),
                          [](const NestLoop& loop) { return !loop.outer.empty(); });
  // The beam knows no instruction that sums groups of narrower elements.
  const bool dots = nest_.converts && has_dot_instruction(nest_.precision, context_.instructions);
  out.known = nest_.kind != NestKind::kOther && is_one_nest(start().proc) && !dots;
  // Nor what neighbours share, which loads of one line and rows of one image are, nor that a sum
  // may be told by its results.
  if (!out.known || !request_.target->vector_memory) return out;
  const Outline o = outline_of(*start().proc, run_.sizes);
  const bool few_loops = nest_.kind == NestKind::kElements || nest_.kind == NestKind::kRows;
  out.neighbours = (few_loops && reads_neighbours(o, *request_.target)) || scatters_sums(o);
  return out;
}

void Proposals::search(FoundFamilies& found) {
  const Form form = this->form();
  half_ = narrower();
  const bool by_beam = request_.strategy != Strategy::kDp;
  // Where nothing adds up the dynamic program plans every level of a hierarchy, and whole programs
  // are proposed in a fraction of that time.
  const bool sumless = by_beam && !form.known && !has_sum(*start().proc);
  if (request_.strategy != Strategy::kBeam && !form.tiled && !sumless) found.plans = plans();
  const bool planned = !found.plans.empty();
  if (planned && rehearsal_ && run_.can_measure) found.large_plans = plans_for_large();
  // Nothing is measured for an estimate: where the plans' tiles divide the loops, the beam has
  // nothing that the model would prefer, and takes most of the time.
  const bool settled = request_.effort == Effort::kEstimate && planned && request_.threads == 1 &&
                       run_.result.statistics.dp->dividing;
  const bool beams_too = !planned || (by_beam && !settled);
  if (by_beam && (!form.known || (form.neighbours && !form.tiled))) found.programs = programs();
  if (by_beam && !form.tiled) found.narrow = narrow_programs();
  // A nest of a kind that the beam knows and nobody planned: what is known of the kind may fit it
  // badly (two sums in one statement's loops, operands that slide), and other orders or a split may
  // be better. What is in tiles has its order; it is asked for where nothing of the kind fits.
  // Of many loops a plan has one order, too, and where its tiles divide no loop it is for others.
  const bool any_form = !request_.partial && !form.tiled;
  const bool many = nest_.loops.size() > kLoopsOfManyOrders;
  const bool other_orders =
      by_beam && form.known && !form.neighbours &&
      (!planned || (!settled && (many || !run_.result.statistics.dp->dividing)));
  // Most take a fraction of the beam's time, which takes all that there is.
  constexpr double kShareBeforeBeam = 0.5;  // so that the beam has a turn whatever the nest
  if (other_orders && any_form) found.programs = programs(beams_too ? kShareBeforeBeam : 1);
  // Before what stands around the plans: a search that is cut short has both.
  if (beams_too) found.beams = beams();
  if (other_orders && !any_form && !is_scheduled(found.beams)) found.programs = programs();
  // Of long calls there is time for few: those around what is the fastest then.
  if (!planned || trials_in_time() < request_.trials) return;
  const int most = std::max(1, beams_too ? request_.trials / 3 : request_.trials);
  const bool by_model = request_.effort == Effort::kEstimate;
  const auto good = by_model ? cheapest_of(found.plans) : found.plans;
  found.around = around(good, static_cast<size_t>(most), deadline_);
}

void Proposals::search_starts(FoundFamilies& found) {
  for (size_t k = 0; k < starts_.size(); ++k) {
    const Deadline mine =
        deadline_.within(deadline_.left() / static_cast<double>(starts_.size() - k));
    (void)done_within(mine, [&] {
      found.of_starts.push_back(
          for_threads(starts_.search(k, program_request(), mine, run_.result.statistics)));
    });
  }
}

WholeSchedule Proposals::whole(const BeamState& s) const {
  if (s.form > 0) return starts_.whole(s);
  if (request_.partial) return request_.partial->whole(s.steps);
  return {s.proc, script_text(*request_.proc, s.steps)};
}

bool Proposals::is_scheduled(const std::vector<BeamState>& states) const {
  return std::any_of(states.begin(), states.end(),
                     [&](const BeamState& s) { return !is_as_written(s); });
}

std::vector<size_t> Proposals::cheapest_first() const {
  std::vector<size_t> order(states_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return cheaper(states_[a], states_[b]); });
  return order;
}

void Proposals::add(std::vector<BeamState> more) {
  for (BeamState& state : more) {
    if (seen_.insert(state.text_hash).second)
      states_.push_back(std::move(state));
    else
      ++run_.result.statistics.duplicates;
  }
}

bool Proposals::add_schedule(const Steps& steps) {
  const size_t before = states_.size();
  add(kept(extend_all(start(), {steps}, context_, run_.deadline)));
  return states_.size() > before;
}

// --- whole programs -----------------------------------------------------------------------------

// What the outline of the whole program suggests, whatever its form.
std::vector<BeamState> Proposals::programs(double share) {
  constexpr double kShareOfWhole = 0.7;  // of the time, where half vectors have the rest
  program_ = std::make_unique<ProgramSearch>(program_request());
  const bool shared = half_ && !narrow_program_;
  if (shared) share *= kShareOfWhole;
  const Deadline mine = share < 1 ? deadline_.within(share * deadline_.left()) : deadline_;
  ProgramSearchResult found = program_->run(start(), deadlines_within(mine));
  count(found, run_.result.statistics);
  return for_threads(std::move(found.states));
}

TargetPtr Proposals::narrower() const {
  const bool short_rows = !request_.partial && request_.target->vector_memory &&
                          has_rows_of_half(outline_of(*start().proc, run_.sizes), *request_.target);
  return short_rows ? half_width_of(*request_.target) : nullptr;
}

std::vector<BeamState> Proposals::narrow_programs() {
  if (!half_) return {};
  half_context_ = context_;
  half_context_.instructions =
      allowed_instructions(instruction_values(*half_), context_.constraints);
  half_context_.weights = weights_of(*half_, request_.machine, &run_.store,
                                     request_.kernel.operation(), request_.costs);
  ProgramSearchRequest ask = program_request();
  ask.target = half_.get();
  ask.context = &half_context_;
  narrow_program_ = std::make_unique<ProgramSearch>(ask);
  // What the search for whole vectors left; where there was none, a part.
  const double share = program_ ? 1 : kShareOfHalf;
  const Deadline mine = deadline_.within(share * deadline_.left());
  ProgramSearchResult found = narrow_program_->run(start(), deadlines_within(mine));
  count(found, run_.result.statistics);
  return for_threads(std::move(found.states));
}

std::vector<BeamState> Proposals::for_threads(std::vector<BeamState> programs) const {
  if (request_.threads < 2) return programs;
  std::vector<BeamState> out;
  for (size_t k = 0; k < std::min(kSharedOut, programs.size()) && !deadline_.over(); ++k)
    if (std::optional<BeamState> shared = shared_out(programs[k], request_.threads, context_))
      out.push_back(std::move(*shared));
  std::move(programs.begin(), programs.end(), std::back_inserter(out));
  return out;
}

ProgramSearchRequest Proposals::program_request() const {
  ProgramSearchRequest ask;
  ask.target = request_.target.get();
  ask.levels = levels_;
  ask.context = &context_;
  ask.beam = request_.beam;
  ask.keep = std::max(1, request_.trials - request_.trials / 5);
  return ask;
}

bool Proposals::add_recombined(const std::map<std::string, double>& seconds,
                               const Deadline& deadline) {
  if (!program_ && !narrow_program_ && starts_.size() == 0) return false;
  for (const auto* program : {&program_, &narrow_program_})
    if (*program) add((*program)->recombine(seconds, deadline));
  add(starts_.recombine(seconds, deadline));
  return true;
}

// --- the beam -----------------------------------------------------------------------------------

// With threads: once for each loop that may be shared out to them, and what no thread helps last.
std::vector<BeamState> Proposals::beams() {
  std::vector<BeamState> found;
  if (request_.threads > 1)
    for (const SharedLoop& shared : shared_loops(nest_, *request_.target, request_.threads))
      for (BeamState& state : beam(shared.part, &shared).states)
        if (state.steps.size() > start().steps.size()) found.push_back(std::move(state));
  std::stable_sort(found.begin(), found.end(), cheaper);
  for (BeamState& state : beam(nest_, nullptr).states) found.push_back(std::move(state));
  return found;
}

// As many as there is time for, were all calls at the machine's peak.
int Proposals::trials_in_time() const {
  if (!run_.can_measure || run_.result.peak_gflops <= 0 || request_.kernel.flops.text().empty())
    return request_.trials;
  const double call = request_.kernel.flops.evaluate(run_.sizes) / (1e9 * run_.result.peak_gflops);
  const double trials = run_.budget.measuring().left() / (kCallsAtPeak * call);
  return static_cast<int>(std::min<double>(request_.trials, std::max(trials, kFewestTrials)));
}

BeamResult Proposals::beam(const Nest& nest, const SharedLoop* shared) {
  SearchSpace space = space_for(nest, *request_.target, levels_, context_.constraints);
  if (shared) {
    space.prologue.insert(space.prologue.begin(), shared->share_out);
    space.stages.push_back({"threads", {{{shared->parallelize}, "", ""}}});
  }
  if (!rehearsal_)
    space.prologue.insert(space.prologue.begin(), start().steps.begin(), start().steps.end());
  BeamOptions options;
  options.width = request_.beam;
  options.keep = std::max(1, request_.trials);
  // Of long calls few are measured: several states for each of those, and no more are made.
  if (const int trials = trials_in_time(); trials < request_.trials)
    options.enough = kStatesOfATrial * trials;
  options.seed = request_.seed;
  options.deadline = deadline_;
  options.progress = [&](int done, int planned) { run_.report("search", done, planned); };
  BeamResult beam =
      beam_search(rehearsal_ ? rehearsal_->start().proc : asked(), space, context_, options);
  if (rehearsal_) beam.states = performed(std::move(beam.states), deadline_);
  TuneStatistics& s = run_.result.statistics;
  s.states += beam.made;
  s.refused += beam.refused;
  s.duplicates += beam.duplicates;
  for (const auto& [op, n] : beam.refusals) s.refusals[op] += n;
  for (const auto& [op, reason] : beam.reasons) s.reasons.emplace(op, reason);
  if (s.first_refusal.empty()) s.first_refusal = beam.first_refusal;
  return beam;
}

// What was found at fixed sizes, the best of it, made of the kernel itself.
std::vector<BeamState> Proposals::performed(std::vector<BeamState> rehearsed,
                                            const Deadline& deadline) {
  const bool measured = request_.effort != Effort::kEstimate;
  const size_t most = std::max<size_t>(
      kPerformed, measured ? static_cast<size_t>(request_.trials) / 4 : kPerformed);
  if (rehearsed.size() > most) rehearsed.resize(most);
  std::vector<Steps> lists;
  for (BeamState& state : rehearsed) lists.push_back(std::move(state.steps));
  return kept(rehearsal_->perform(lists, deadline));
}

// Those that became schedules; the others are counted.
std::vector<BeamState> Proposals::kept(std::vector<Extended> extended) {
  std::vector<BeamState> out;
  for (Extended& e : extended) {
    run_.result.statistics.states += e.reached;
    if (e.refusal) run_.count(*e.refusal);
    if (e.reached && !e.refusal) out.push_back(std::move(e.state));
  }
  return out;
}

// --- the dynamic program ------------------------------------------------------------------------

// Of the machine that is planned for, whoever plans.
TargetFigures Proposals::figures_here() const {
  return dp_figures(*request_.target, request_.machine, &run_.store, request_.kernel.operation(),
                    request_.costs);
}

// An estimate depends on its input alone, however busy the machine: its time is what was asked for.
Deadline Proposals::plan_deadline() const {
  const bool alone = request_.strategy == Strategy::kDp;  // nothing else follows
  const bool estimate = request_.effort == Effort::kEstimate;
  return alone || estimate ? deadline_ : run_.budget.plan(deadline_);
}

DpRequest Proposals::dp_request() {
  DpRequest ask;
  ask.plans = request_.dp_plans;
  ask.threads = request_.threads;
  // One thread for an estimate: how far several get with their Specs is not the same each time.
  ask.jobs = request_.effort == Effort::kEstimate ? 1 : request_.jobs;
  ask.specs = request_.dp_specs;
  ask.deadline = plan_deadline();
  ask.memo_file = request_.memo_file;
  ask.figures = figures_here();
  ask.instructions = context_.instructions;
  for (const ProcPtr& p : request_.target->instructions())
    if (std::none_of(context_.instructions.begin(), context_.instructions.end(),
                     [&](const Value& v) { return *v.as<ProcPtr>() == p; }))
      ask.avoided.push_back(p->name);
  return ask;
}

// Its plans, each made a schedule by the core.
std::vector<BeamState> Proposals::plans() {
  run_.report("plan", 0, 0);
  TuneStatistics& s = run_.result.statistics;
  const ProcPtr planned = rehearsal_ ? rehearsal_->start().proc : start().proc;
  s.dp = dp_plans(*planned, *request_.target, dp_request());
  if (s.dp->outcome == DpOutcome::kOutOfTime && request_.strategy == Strategy::kDp)
    run_.result.stop = StopReason::kTimeBudget;
  return performed_plans(*s.dp);
}

std::vector<BeamState> Proposals::performed_plans(const DpPlans& found) {
  const int64_t lanes = request_.target->lanes_of(nest_.precision);
  std::vector<Steps> lists;
  for (const DpPlan& p : found.plans)
    lists.push_back(rehearsal_ ? with_open_ends(p.steps, lanes) : p.steps);
  std::vector<Extended> made = extend_all(start(), lists, context_, deadline_);
  for (const Extended& e : made) run_.result.statistics.plans_refused += e.refusal.has_value();
  return kept(std::move(made));
}

// What packs nothing is good where the operands fit a cache; where they do not, no plan for smaller
// ones is among the best, and the finals would have nobody to send there.
std::vector<BeamState> Proposals::plans_for_large() {
  const std::optional<SizeBinding> large = run_.large_sizes();
  if (!large) return {};
  std::vector<BeamState> made =
      performed_plans(dp_plans(*at_sizes(start().proc, *large), *request_.target, dp_request()));
  for (const BeamState& state : made) for_large_.insert(state.text_hash);
  return made;
}

// --- around good ones ---------------------------------------------------------------------------

void Proposals::add_around(const std::vector<BeamState>& good, size_t most,
                           const Deadline& deadline) {
  add(around(good, most, deadline));
}

std::vector<BeamState> Proposals::around(const std::vector<BeamState>& good, size_t most,
                                         const Deadline& deadline) {
  const Target& target = *request_.target;
  const Neighbourhood where{target.lanes_of(nest_.precision),
                            target.vector_memory ? target.vector_memory->count : 0,
                            nest_.vector_loop,
                            nest_.row_loop,
                            streaming(),
                            estimating_steps(*start().proc, *request_.target),
                            reads_beyond(second_cache()),
                            half_vectors()};
  std::vector<BeamState> out;
  for (size_t form = 0; form <= starts_.size(); ++form) {
    std::vector<BeamState> of_form;
    std::copy_if(good.begin(), good.end(), std::back_inserter(of_form),
                 [&](const BeamState& s) { return s.form == form; });
    if (of_form.empty()) continue;
    const size_t share = std::max<size_t>(1, most * of_form.size() / good.size());
    Surroundings found = form == 0
                             ? surroundings(of_form, share, where, deadline)
                             : starts_.around(form - 1, of_form, share, where, seen_, deadline);
    for (const StepRefusal& r : found.refusals) run_.count(r);
    run_.result.statistics.states += found.made;
    run_.result.statistics.neighbours += found.made;
    if (form == 0 && rehearsal_) found.states = performed(std::move(found.states), deadline);
    std::move(found.states.begin(), found.states.end(), std::back_inserter(out));
  }
  return out;
}

int64_t Proposals::second_cache() const {
  const std::vector<TargetLevel> caches = caches_of(levels_);
  return caches.size() < 2 ? 0 : caches[1].bytes;
}

bool Proposals::reads_beyond(int64_t cache) const {
  const Outline o = outline_of(*start().proc, run_.sizes);
  return cache > 0 && std::any_of(o.accesses.begin(), o.accesses.end(), [&](const auto& a) {
           const auto buffer =
               std::find_if(o.buffers.begin(), o.buffers.end(),
                            [&](const OutlineBuffer& b) { return b.name == a.what.buffer; });
           return a.what.kind != Access::Kind::kWrite && buffer != o.buffers.end() &&
                  buffer->argument &&
                  buffer->elements * bytes_of(a.scalar) > static_cast<double>(cache);
         });
}

// Where what is only written is larger than what of the last cache one program has to itself, its
// lines come from memory only to be overwritten. Smaller results are nearer to who reads them next
// than memory is, which no measurement of the kernel sees.
Steps Proposals::streaming() const {
  const Target& target = *request_.target;
  const std::vector<TargetLevel> caches = caches_of(levels_);
  if (target.streams.empty() || request_.threads > 1 || caches.size() < 2) return {};
  const int64_t least = std::max(caches[1].bytes, caches.back().bytes / kPartsOfLast);
  const Outline o = outline_of(*start().proc, run_.sizes);
  for (const OutlineBuffer& b : o.buffers) {
    const auto reads = [&](const OutlineAccess& a) {
      return a.what.buffer == b.name && a.what.kind != Access::Kind::kWrite;
    };
    const auto access = std::find_if(o.accesses.begin(), o.accesses.end(),
                                     [&](const auto& a) { return a.what.buffer == b.name; });
    if (!b.argument || access == o.accesses.end() ||
        b.elements * bytes_of(access->scalar) < static_cast<double>(least) ||
        std::any_of(o.accesses.begin(), o.accesses.end(), reads))
      continue;
    const ValueList stores(target.streams.begin(), target.streams.end());
    const auto rows = static_cast<int64_t>(model_of(target, request_.machine).core.combined_lines);
    return {{"stream_results", {Value(stores), Value(target.stream_fence), Value(rows)}, {}}};
  }
  return {};
}

// Rows in the first cache, or made once in a register tile, are no question of width.
std::optional<HalfVectors> Proposals::half_vectors() {
  const std::vector<TargetLevel> caches = caches_of(levels_);
  if (request_.partial || caches.empty() || !reads_beyond(caches[0].bytes)) return std::nullopt;
  if (!neighbour_width_) neighbour_width_ = half_width_of(*request_.target);
  if (!neighbour_width_) return std::nullopt;
  return HalfVectors{
      Value(neighbour_width_->vector_memory),
      Value(allowed_instructions(instruction_values(*neighbour_width_), context_.constraints))};
}

// The first schedules of each family with their results past the caches: a search whose time ends
// before it refines has seen what that is worth.
std::vector<BeamState> Proposals::streamed(const FoundFamilies& found) {
  const Steps more = streaming();
  if (more.empty() || rehearsal_) return {};
  std::vector<Steps> lists;
  for (const std::vector<BeamState>* family : {&found.plans, &found.programs, &found.beams})
    for (size_t k = 0; k < std::min(kStreamed, family->size()); ++k) {
      std::optional<Steps> own = steps_behind(start().steps, (*family)[k].steps);
      if (!own) continue;
      own->insert(own->end(), more.begin(), more.end());
      lists.push_back(std::move(*own));
    }
  return kept(extend_all(start(), lists, context_, deadline_));
}

Surroundings Proposals::surroundings(const std::vector<BeamState>& good, size_t most,
                                     const Neighbourhood& where, const Deadline& deadline) {
  if (!rehearsal_) return surroundings_of(good, most, start(), where, context_, seen_, deadline);
  const std::vector<BeamState> rehearsed = rehearsal_->rehearsed(good, deadline);
  for (const BeamState& state : rehearsed) seen_rehearsed_.insert(state.text_hash);
  return surroundings_of(rehearsed, most, rehearsal_->start(), where, context_, seen_rehearsed_,
                         deadline);
}

}  // namespace exotune
