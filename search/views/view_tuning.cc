#include "search/views/view_tuning.h"

#include <algorithm>
#include <cmath>

#include "core/cursor/provenance.h"
#include "search/complete/completion.h"
#include "search/tuning_context.h"
#include "search/view_need.h"

namespace exotune {

namespace {

constexpr size_t kViews = 3;                // that are searched from
constexpr double kShareOfAll = 0.3;         // of the time, beside everything else
constexpr double kShareOfEqsat = 0.6;       // where the views are what was asked for
constexpr double kGainForMore = 1.5;        // and where they promise so much
constexpr double kFewestSeconds = 3;        // a search in less finds nothing
constexpr int kFinalists = 3, kRounds = 5;  // the finals are to come

// Vector operations, copies included: a vector that is copied is loaded and stored, an element that
// is copied by itself counts as one.
double operations(const eqsat::ViewFigures& f, int64_t lanes) {
  const auto width = static_cast<double>(lanes);
  return f.products / f.along * std::ceil(f.along / width) + (f.copied - f.across) * 2 / width +
         f.across;
}

int64_t lanes_of(const TuneRequest& request) {
  return std::max<int64_t>(1, request.target->lanes_of(request.kernel.precision));
}

SizeBinding all_sizes(const TuneRequest& request) {
  SizeBinding sizes = request.representative;
  for (const auto& [name, value] : request.sizes) sizes[name] = value;
  return sizes;
}

// A machine without vectors, whose instructions multiply tiles: what counts is that loops are long.
bool multiplies_tiles(const TuneRequest& request) {
  return request.target->vector_memory == nullptr;
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

// What a search from the view leads to; nothing to show for it is no error.
std::optional<WholeSchedule> searched(const TuneRequest& request, const eqsat::Candidate& view,
                                      double seconds, Store& store, const TuneHooks& hooks,
                                      ViewOutcome& outcome) {
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
  try {
    const Completion done = complete(ask, store, hooks);
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

}  // namespace

std::vector<ViewToTry> views_to_try(const TuneRequest& request,
                                    const std::vector<eqsat::RuleText>& rules, size_t most) {
  std::vector<ViewToTry> found;
  if (!views_may_help(request)) return found;
  eqsat::CandidateRequest ask;
  ask.rules = rules;
  ask.sizes = all_sizes(request);
  const bool tiles = multiplies_tiles(request);
  ask.plan.fuse_sums = tiles;
  eqsat::CandidateReport report =
      eqsat::find_candidates(at_sizes(request.proc, request.sizes), ask);
  const int64_t lanes = lanes_of(request);
  for (size_t i = 1; i < report.candidates.size(); ++i) {
    eqsat::Candidate& c = report.candidates[i];
    const auto& written = report.written[static_cast<size_t>(c.product)];
    const double gain =
        written && c.figures ? operations(*written, lanes) / operations(*c.figures, lanes) : 1;
    const bool better = written && (tiles || gain > 1);
    if (better || request.strategy == Strategy::kEqsat) found.push_back({std::move(c), gain});
  }
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    return tiles ? fused_loops(a.view) > fused_loops(b.view) : a.gain > b.gain;
  });
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

}  // namespace

TuneResult tune_with_views(TuneRequest request, const std::vector<eqsat::RuleText>& rules,
                           Store& store, const TuneHooks& hooks) {
  if (request.effort == Effort::kEstimate) return tune(request, store, hooks);
  const Deadline deadline = Deadline::after(request.time_budget_seconds);
  std::vector<ViewToTry> views = views_to_try(request, rules, kViews);
  double seconds = share_of(request, views) * request.time_budget_seconds;
  views.resize(std::min(views.size(), static_cast<size_t>(seconds / kFewestSeconds)));
  std::vector<ViewOutcome> outcomes;
  for (size_t k = 0; k < views.size(); ++k) {
    if (hooks.interrupted && hooks.interrupted()) break;
    ViewOutcome& outcome = outcomes.emplace_back();
    outcome.text = views[k].view.text;
    outcome.proof = eqsat::name_of(views[k].view.proof);
    // The more promising ones get more.
    const double mine = k + 1 < views.size() ? std::max(seconds / 2, kFewestSeconds) : seconds;
    seconds -= mine;
    if (auto found = searched(request, views[k].view, mine, store, hooks, outcome)) {
      outcome.script = found->script;
      request.known.push_back(std::move(*found));
    }
  }
  request.time_budget_seconds = std::max(1.0, deadline.left());
  TuneResult result = tune(request, store, hooks);
  for (ViewOutcome& outcome : outcomes)
    outcome.chosen = !outcome.script.empty() && result.script.ends_with(outcome.script);
  result.views = std::move(outcomes);
  return result;
}

TuneResult tune_on_with_views(Runner& runner, TuneRequest request,
                              const std::vector<KnownSchedule>& known,
                              const std::vector<eqsat::RuleText>& rules, Store& store,
                              const TuneHooks& hooks) {
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
