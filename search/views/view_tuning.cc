#include "search/views/view_tuning.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/cursor/provenance.h"
#include "search/complete/completion.h"
#include "search/complete/open_nests.h"
#include "search/nest.h"
#include "search/tuning_context.h"
#include "search/view_need.h"
#include "search/views/view_cost.h"
#include "search/views/whole_tiles.h"

namespace exotune {

namespace {

constexpr size_t kViews = 3;  // that are searched from
// Of the whole, for finding them: seconds at most, but of programs of a thousand statements.
constexpr double kShareOfFinding = 0.3;
constexpr double kShareOfAll = 0.3;     // of the time, beside everything else
constexpr double kShareOfEqsat = 0.6;   // where the views are what was asked for
constexpr double kGainForMore = 1.5;    // and where they promise so much
constexpr double kFewestSeconds = 3;    // a search in less finds nothing
constexpr double kShareOfFirst = 0.6;   // of the views' time: until it is known who leads
constexpr double kShareOfProbe = 0.25;  // of the whole: what the program as written comes to
// Of the cycles as written: what is said to take more than twice as many is not searched.
constexpr double kHopelessGain = 0.5;
constexpr double kLeads = 1.03;  // by more than repeated runs differ
// Of what is left then: the last search repeats a known one, and what it must do is the finals.
constexpr double kShareOfLeader = 0.6;
constexpr double kKeptForLast = 0.25;  // of the whole, whatever leads: it ends in the comparison
constexpr int kFinalists = 3, kRounds = 5;  // the finals are to come
// A sum of several factors, multiplied in order, that is so many times shorter than as written, and
// as written takes so many iterations, a third of a second or more, that no call of it is worth
// its time: each of a run's searches would wait for several.
constexpr double kFarShorter = 8, kManyIterations = 1 << 28;
constexpr double kNearBest = 0.98;  // of the best order's gain: others are not searched then

SizeBinding all_sizes(const TuneRequest& request) {
  SizeBinding sizes = request.representative;
  for (const auto& [name, value] : request.sizes) sizes[name] = value;
  return sizes;
}

size_t fused_loops(const eqsat::Candidate& c) {
  size_t count = 0;
  for (const std::vector<int>& loops : c.plan.fused) count += loops.size();
  return count;
}

ScriptEnvironment names_for(const TuneRequest& request) {
  ScriptEnvironment names = script_environment({}, {&request.target->library});
  names.start = request.proc;
  names.names[request.proc->name] = Value(request.proc);
  return names;
}

// Products in another order are a program of several nests, none of them a copy beside it.
bool is_order(const eqsat::Candidate& view) {
  return view.plan.views.empty() && view.plan.fused.empty();
}

// What a search from the view leads to; nothing to show for it is no error.
std::optional<WholeSchedule> searched(const TuneRequest& request, const eqsat::Candidate& view,
                                      double seconds, Store& store, const TuneHooks& hooks,
                                      ViewOutcome& outcome, int& measured) {
  CompletionRequest ask;
  ask.script = trace_script(view.proc);
  ask.file = "view";
  ask.environment = names_for(request);
  ask.tune = request;
  ask.tune.time_budget_seconds = seconds;
  ask.tune.with_peers = false;
  ask.tune.rivals.clear();
  ask.tune.top_k = std::min(ask.tune.top_k, kFinalists);
  ask.tune.rounds = std::min(ask.tune.rounds, kRounds);
  ask.baseline = false;
  ask.together = is_order(view);
  try {
    const Completion done = complete(ask, store, hooks);
    measured += done.result.statistics.measured;
    outcome.gflops = done.result.gflops;
    outcome.seconds = done.result.seconds;
    if (outcome.gflops <= 0) outcome.trouble = "no time to measure it";
    if (done.proc) return WholeSchedule{done.proc, done.script};
    outcome.trouble = "no schedule of it ran";
  } catch (const Error& e) {
    if (e.exit_code() == ExitCode::kInternal) throw;
    outcome.trouble = e.diagnostic().message.str();
  }
  return std::nullopt;
}

// Every view but the program as written that the strategy asks for.
void add_views(const TuneRequest& request, const ViewCosts& costs,
               const eqsat::CandidateReport& report, std::vector<ViewToTry>& found) {
  for (size_t i = 1; i < report.candidates.size(); ++i) {
    const eqsat::Candidate& c = report.candidates[i];
    const double gain = gain_of(costs, report, c);
    const bool better = report.written[static_cast<size_t>(c.product)] &&
                        (costs.multiplies_tiles() ? !c.in_steps : gain > 1);
    if (better || request.strategy == Strategy::kEqsat) found.push_back({c, gain});
  }
}

bool fits(const ViewCosts& costs, const eqsat::Candidate& c) {
  return !costs.fit(c.proc).tile.empty();
}

// Where tiles have one size, forms whose loops they do not divide fit none: these, and the program
// as written, give what is left over to the processor.
void cut_to_tiles(const ViewCosts& costs, const eqsat::CandidateReport& report,
                  std::vector<ViewToTry>& found) {
  eqsat::Candidate written = report.candidates.front();
  if (report.written.size() == 1 && report.written[0] && !fits(costs, written)) {
    written.product = 0;
    written.figures = report.written[0];
    written.proof = eqsat::CandidateProof::kReplay;
    found.push_back({std::move(written), 1});
  }
  for (ViewToTry& v : found) {
    if (fits(costs, v.view)) continue;
    const ProcPtr cut = cut_to_whole_tiles(v.view.proc, costs.device());
    if (!cut) continue;
    v.view.proc = cut;
    v.view.text += ", cut to whole tiles";
    v.gain = gain_of(costs, report, v.view);
  }
  std::erase_if(found,
                [&](const ViewToTry& v) { return v.view.proc == report.candidates[0].proc; });
}

// The same loops, every copy that `less` makes, and more of them.
bool copies_more(const eqsat::ViewPlan& plan, const eqsat::ViewPlan& less) {
  const auto made = [&](const eqsat::StagedView& v) {
    return std::find(plan.views.begin(), plan.views.end(), v) != plan.views.end();
  };
  return plan.fused == less.fused && plan.views.size() > less.views.size() &&
         std::all_of(less.views.begin(), less.views.end(), made);
}

// Of the most promising first: who copies more than one before, for no gain, takes its time only.
void leave_out_needless_copies(std::vector<ViewToTry>& found) {
  for (size_t k = 0; k < found.size(); ++k)
    if (!found[k].view.plan.views.empty())
      found.erase(std::remove_if(found.begin() + static_cast<long>(k) + 1, found.end(),
                                 [&](const ViewToTry& v) {
                                   return v.view.product == found[k].view.product &&
                                          copies_more(v.view.plan, found[k].view.plan);
                                 }),
                  found.end());
}

// Loops in blocks of what one instruction does: nothing is copied, and it is only tried where all
// was asked for, because the other searches cut loops themselves.
void add_blocks(const TuneRequest& request, const ViewCosts& costs, const ViewRules& rules,
                size_t most, std::vector<ViewToTry>& found) {
  if (request.strategy != Strategy::kEqsat || rules.blocks.empty() || found.size() >= most) return;
  const int64_t block = costs.block();
  if (block < 2) return;
  eqsat::CandidateRequest ask;
  ask.rules = rules.blocks;
  ask.blocks = {block};
  ask.sizes = all_sizes(request);
  ask.loops = most - found.size();
  eqsat::CandidateReport report =
      eqsat::find_candidates(with_folded_updates(at_sizes(request.proc, request.sizes)), ask);
  // The copies are known; without blocks they are among the others.
  std::erase_if(report.candidates, [](const eqsat::Candidate& c) {
    return c.proof == eqsat::CandidateProof::kReplay;
  });
  add_views(request, costs, report, found);
}

// The search turns an operand while it packs it: as written such a product fills its vectors.
void count_turned_vectors(const Proc& proc, eqsat::CandidateReport& report) {
  const Nest nest = inspect_nest(proc);
  const bool turned = std::any_of(nest.operands.begin(), nest.operands.end(),
                                  [](const Operand& o) { return o.turned >= 0; });
  if (!turned || !nest.ends_in_product() || report.written.size() != 1 || !report.written[0])
    return;
  const NestLoop& along = *nest.find(nest.vector_loop);
  if (along.extent) report.written[0]->along = static_cast<double>(*along.extent);
}

}  // namespace

std::vector<ViewToTry> views_to_try(const TuneRequest& request, const ViewRules& rules,
                                    size_t most) {
  std::vector<ViewToTry> found;
  if (!views_may_help(request)) return found;
  const ViewCosts costs(request.target, request.kernel.precision);
  const bool tiles = costs.multiplies_tiles();
  eqsat::CandidateRequest ask;
  ask.rules = tiles ? rules.tiles : rules.views;
  ask.reductions = rules.reductions;
  ask.sizes = all_sizes(request);
  ask.plan.fuse_sums = tiles;
  const ProcPtr proc = with_folded_updates(at_sizes(request.proc, request.sizes));
  eqsat::CandidateReport report = eqsat::find_candidates(proc, ask);
  if (!tiles) count_turned_vectors(*proc, report);
  add_views(request, costs, report, found);
  if (tiles) cut_to_tiles(costs, report, found);
  if (request.strategy != Strategy::kEqsat && !(tiles && costs.fit(proc).made))
    std::erase_if(found, [](const ViewToTry& v) { return v.gain < kHopelessGain; });
  // What fits no tile has been given to the processor as a whole; of equals, the one of fewer
  // loops.
  const auto first_of = [&](const ViewToTry& v) {
    return std::tuple(tiles && !fits(costs, v.view), -v.gain,
                      -static_cast<int64_t>(tiles ? fused_loops(v.view) : 0));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return first_of(a) < first_of(b); });
  if (!tiles && request.strategy != Strategy::kEqsat) leave_out_needless_copies(found);
  add_blocks(request, costs, rules, most, found);
  if (found.size() > most) found.resize(most);
  return found;
}

namespace {

// How much of the time the views may take, all of them.
double share_of(const TuneRequest& request, const std::vector<ViewToTry>& views) {
  const bool more = request.strategy == Strategy::kEqsat ||
                    (!views.empty() && views.front().gain >= kGainForMore);
  return more ? kShareOfEqsat : kShareOfAll;
}

// Where an order of the factors is the only way to go about it: what is left of the views are the
// orders that are about as short.
bool only_orders(const TuneRequest& request, std::vector<ViewToTry>& views) {
  if (views.empty() || !is_order(views.front().view) || views.front().gain < kFarShorter)
    return false;
  double iterations = 0;
  for (const Cursor& nest : open_nests(body_of(at_sizes(request.proc, all_sizes(request))), {}))
    iterations += work_at(nest);
  if (iterations < kManyIterations) return false;
  const double gain = views.front().gain;
  std::erase_if(views,
                [&](const ViewToTry& v) { return !is_order(v.view) || v.gain < kNearBest * gain; });
  return true;
}

// One search for each view, the more promising ones the longer; then, where one of them leads what
// the program as written comes to in a short search, that one goes on: the time is for who shows
// something. What was measured is known by then.
class ViewSearches {
 public:
  ViewSearches(const TuneRequest& request, std::vector<ViewToTry> views, Store& store,
               const TuneHooks& hooks)
      : request_(request), views_(std::move(views)), store_(store), hooks_(hooks) {}

  void each(double seconds) {
    for (size_t k = 0; k < views_.size() && !interrupted(); ++k) {
      ViewOutcome& outcome = outcomes_.emplace_back();
      outcome.text = views_[k].view.text;
      outcome.proof = eqsat::name_of(views_[k].view.proof);
      const double mine = k + 1 < views_.size() ? std::max(seconds / 2, kFewestSeconds) : seconds;
      seconds -= mine;
      search(k, mine);
    }
  }

  void leader(const Deadline& deadline) {
    size_t best = 0;
    for (size_t k = 1; k < outcomes_.size(); ++k)
      if (outcomes_[k].gflops > outcomes_[best].gflops) best = k;
    if (outcomes_.empty() || interrupted()) return;
    if (outcomes_[best].gflops <= 0) return go_on_unmeasured(deadline);
    if (request_.shorter) {
      if (const double more = leader_seconds(deadline.left()); more >= kFewestSeconds)
        search(best, more);
      return;
    }
    TuneRequest probe = request_;
    probe.time_budget_seconds = kShareOfProbe * request_.time_budget_seconds;
    probe.with_peers = false;
    probe.rivals.clear();
    probe.top_k = std::min(probe.top_k, kFinalists);
    probe.rounds = std::min(probe.rounds, kRounds);
    const double seconds = leader_seconds(deadline.left() - probe.time_budget_seconds);
    if (seconds < kFewestSeconds) return;
    const TuneResult written = tune(probe, store_, hooks_);
    as_written_ = written.statistics.measured;
    if (outcomes_[best].gflops > kLeads * written.gflops && !interrupted()) search(best, seconds);
  }

  std::vector<WholeSchedule> take_known() {
    std::vector<WholeSchedule> out;
    for (auto& [k, known] : known_) out.push_back(std::move(known));
    return out;
  }
  std::vector<ViewOutcome> take_outcomes() { return std::move(outcomes_); }

  /// What these searches measured was measured by the whole run, which finds some of it in the
  /// store.
  void enter(TuneStatistics& whole) const {
    const int found = std::min(whole.reused, as_written_);
    whole.reused -= found;
    whole.measured += of_views_ + found;
  }

 private:
  bool interrupted() const { return hooks_.interrupted && hooks_.interrupted(); }

  double leader_seconds(double left) const {
    return std::min(kShareOfLeader * left, left - kKeptForLast * request_.time_budget_seconds);
  }

  // On a busy machine the first searches may end before anything ran. What promises much goes on
  // all the same, rather than the program as written, which needs so many times the operations.
  void go_on_unmeasured(const Deadline& deadline) {
    const double seconds = leader_seconds(deadline.left());
    if (views_.front().gain >= kGainForMore && seconds >= kFewestSeconds) search(0, seconds);
  }

  // A second search of a view that finds nothing leaves the first one's result.
  void search(size_t k, double seconds) {
    ViewOutcome now = outcomes_[k];
    now.trouble.clear();
    std::optional<WholeSchedule> found =
        searched(request_, views_[k].view, seconds, store_, hooks_, now, of_views_);
    if (!found && !outcomes_[k].script.empty()) return;
    if (found && now.gflops < outcomes_[k].gflops) return;
    if (found) now.script = found->script;
    outcomes_[k] = std::move(now);
    if (found) known_[k] = std::move(*found);
  }

  const TuneRequest& request_;
  const std::vector<ViewToTry> views_;
  Store& store_;
  const TuneHooks& hooks_;
  std::vector<ViewOutcome> outcomes_;
  std::map<size_t, WholeSchedule> known_;  // of views by their number
  int of_views_ = 0, as_written_ = 0;      // trials that ran: of views, of the program as written
};

}  // namespace

TuneResult tune_with_views(TuneRequest request, const ViewRules& rules, Store& store,
                           const TuneHooks& hooks) {
  if (request.effort == Effort::kEstimate) return tune(request, store, hooks);
  const Deadline deadline = Deadline::after(request.time_budget_seconds).or_when(hooks.interrupted);
  std::vector<ViewToTry> views;
  (void)done_within(deadline.within(kShareOfFinding * request.time_budget_seconds),
                    [&] { views = views_to_try(request, rules, kViews); });
  const bool orders = only_orders(request, views);
  if (orders) request.shorter = views.front().view.proc;
  // One that is alone has all the time but for the comparison.
  const double share =
      orders && views.size() == 1 ? 1 - kKeptForLast : kShareOfFirst * share_of(request, views);
  const double seconds = share * request.time_budget_seconds;
  views.resize(std::min(views.size(), static_cast<size_t>(seconds / kFewestSeconds)));
  if (!views.empty())
    request.shared =
        std::make_shared<SharedProblem>(SharedProblem{request.proc, all_sizes(request), nullptr});
  ViewSearches searches(request, std::move(views), store, hooks);
  searches.each(seconds);
  searches.leader(deadline);
  for (WholeSchedule& known : searches.take_known()) request.known.push_back(std::move(known));
  std::vector<ViewOutcome> outcomes = searches.take_outcomes();
  request.time_budget_seconds = std::max(1.0, deadline.left());
  TuneResult result = tune(request, store, hooks);
  searches.enter(result.statistics);
  for (ViewOutcome& outcome : outcomes)
    outcome.chosen = !outcome.script.empty() && result.script.ends_with(outcome.script);
  result.views = std::move(outcomes);
  return result;
}

TuneResult tune_on_with_views(Runner& runner, TuneRequest request,
                              const std::vector<KnownSchedule>& known, const ViewRules& rules,
                              Store& store, const TuneHooks& hooks) {
  const std::vector<ViewToTry> views = views_to_try(request, rules, kViews);
  for (const ViewToTry& v : views)
    request.known.push_back({v.view.proc, trace_script(v.view.proc)});
  TuneResult result = tune_on(runner, request, known, store, hooks);
  for (size_t k = 0; k < views.size(); ++k) {
    ViewOutcome& outcome = result.views.emplace_back();
    outcome.text = views[k].view.text;
    outcome.proof = eqsat::name_of(views[k].view.proof);
    outcome.script = request.known[k].script;
    outcome.chosen = result.script.starts_with(outcome.script);
  }
  return result;
}

}  // namespace exotune
