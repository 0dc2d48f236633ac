#include "search/views/view_tuning.h"

#include <algorithm>
#include <tuple>

#include "core/cursor/provenance.h"
#include "search/complete/open_nests.h"
#include "search/eqsat/factoring.h"
#include "search/moves/distribution.h"
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
// Of the cycles as written: what is said to take more than twice as many is not searched.
constexpr double kHopelessGain = 0.5;
// A sum of several factors, multiplied in order, that is so many times shorter than as written, and
// as written takes so many iterations, a third of a second or more, that no call of it is worth
// its time.
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

// Products in another order are a program of several nests, none of them a copy beside it.
bool is_order(const eqsat::Candidate& view) {
  return view.plan.views.empty() && view.plan.fused.empty();
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

// A sum of several factors that its beginning, `q[b] = 0.0`, keeps from its outer loops has few
// orders: the nest with its parts apart, if sums have more loops to themselves there.
ProcPtr with_sums_alone(const ProcPtr& p) {
  constexpr size_t kSeveral = 3;  // factors: two are a product as they are
  const auto loops_of_sums = [](const Proc& q) {
    size_t loops = 0;
    for (const eqsat::SumOfFactors& sum : eqsat::lift_sums(q))
      if (sum.factors.size() >= kSeveral) loops += sum.loops.size();
    return loops;
  };
  const size_t before = loops_of_sums(*p);
  if (before == 0) return p;
  const ProcPtr apart = distribute({p, {}, false}, false).proc;
  return loops_of_sums(*apart) > before ? apart : p;
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
  const ProcPtr proc = with_sums_alone(with_folded_updates(at_sizes(request.proc, request.sizes)));
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

void enter_texts(const std::vector<ViewToTry>& views, TuneResult& result) {
  result.views.resize(views.size());  // a run that ended early has none
  for (size_t k = 0; k < views.size(); ++k) {
    result.views[k].text = views[k].view.text;
    result.views[k].proof = eqsat::name_of(views[k].view.proof);
    if (result.views[k].script.empty() && result.views[k].trouble.empty())
      result.views[k].trouble = "no time to measure it";
  }
}

}  // namespace

TuneResult tune_with_views(TuneRequest request, const ViewRules& rules, Store& store,
                           const TuneHooks& hooks) {
  if (request.effort == Effort::kEstimate) return tune(request, store, hooks);
  const Deadline deadline = Deadline::after(request.time_budget_seconds).or_when(hooks.interrupted);
  std::vector<ViewToTry> views;
  (void)done_within(deadline.within(kShareOfFinding * request.time_budget_seconds),
                    [&] { views = views_to_try(request, rules, kViews); });
  if (only_orders(request, views)) request.shorter = views.front().view.proc;
  for (const ViewToTry& v : views)
    request.starts.push_back({v.view.proc, trace_script(v.view.proc)});
  request.time_budget_seconds = std::max(1.0, deadline.left());
  TuneResult result = tune(request, store, hooks);
  enter_texts(views, result);
  return result;
}

TuneResult tune_on_with_views(Runner& runner, TuneRequest request,
                              const std::vector<KnownSchedule>& known, const ViewRules& rules,
                              Store& store, const TuneHooks& hooks) {
  const std::vector<ViewToTry> views = views_to_try(request, rules, kViews);
  for (const ViewToTry& v : views)
    request.starts.push_back({v.view.proc, trace_script(v.view.proc)});
  TuneResult result = tune_on(runner, request, known, store, hooks);
  for (const WholeSchedule& start : request.starts) {
    ViewOutcome& outcome = result.views.emplace_back();
    outcome.script = start.script;
    outcome.chosen = result.script.starts_with(outcome.script);
  }
  enter_texts(views, result);
  return result;
}

}  // namespace exotune
