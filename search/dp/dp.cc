#include "search/dp/dp.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "search/dp/action_forms.h"
#include "search/dp/relaxed_floor.h"
#include "search/dp/solver_team.h"

namespace exotune {
// The solver: depth first through what an action leaves, best first among actions, with a bound.
// Exactness rests on three things: floors never above a true cost, "complete up to" in every answer
// of the memo (memo.h), and ranks that count alternatives of the main part alone.

namespace {

// Looking at the clock and the budget costs more than a memo's hit: not at every Spec.
constexpr int64_t kSpecsPerLook = 256;  // a power of two

}  // namespace

SpecSolver::SpecSolver(ActionSpace& space, SpecMemo& memo, SolverOptions options,
                       SharedWork* shared)
    : space_(space), memo_(memo), options_(std::move(options)) {
  EXO_CHECK(options_.k >= 1 && options_.k <= 255 && options_.threads >= 1);
  if (options_.threads > 1) {
    team_ = std::make_unique<SolverTeam>(space, memo, options_);
    shared = &team_->shared();
  }
  if (shared) busy_ = &shared->busy;
  if (options_.prune && options_.relaxed_floor)
    relaxed_floor_ = std::make_unique<RelaxedFloor>(space, options_.interrupted, shared);
}

SpecSolver::~SpecSolver() = default;

SolverStatistics SpecSolver::statistics() const {
  SolverStatistics s = statistics_;
  if (relaxed_floor_) s.relaxed = relaxed_floor_->work().solved;
  if (team_)
    for (const auto& helper : team_->helpers()) {
      const SolverStatistics more = helper->statistics();
      s.solved += more.solved;
      s.expanded += more.expanded;
      s.pruned += more.pruned;
      s.relaxed += more.relaxed;
    }
  return s;
}

// The floor by the relaxed problem where it is in use, else that of the endings.
int64_t SpecSolver::floor(const Spec& spec, const Limits& limits) {
  if (!relaxed_floor_) return space_.floor(spec);
  const std::optional<int64_t> relaxed = relaxed_floor_->of(spec, limits);
  if (!relaxed) throw Interrupted{};
  return *relaxed;
}

std::optional<MemoValue> SpecSolver::solve(Spec spec, Limits limits) {
  space_.canonicalise(spec);
  space_.canonicalise(spec, limits);
  if (const MemoValue* known = memo_.find(spec, limits, kNoCost, options_.k)) return *known;
  if (!team_) return solve_alone(spec, limits);
  std::optional<MemoValue> value;
  team_->run(spec, limits, [&] { value = solve_alone(spec, limits); });
  return value;
}

// A bound that is raised in steps: the first that holds a plan ends the search, and what was cut
// off below it is worked out no further. Every step starts from what the earlier ones left in the
// memo.
std::optional<MemoValue> SpecSolver::solve_alone(const Spec& spec, const Limits& limits) {
  try {
    if (relaxed_floor_) {
      // Deeper and deeper: with a bound just above the optimum little is worked out.
      const int64_t floor = this->floor(spec, limits);
      for (int64_t slack = std::max<int64_t>(1, floor >> 7); floor < kNoCost && slack < floor;
           slack *= 2) {
        const MemoValue* value = ask(spec, limits, floor + slack);
        const int enough = options_.near_plans ? 1 : options_.k;
        if (static_cast<int>(value->best.size()) >= enough) return *value;
      }
      if (options_.budget) options_.budget->give_up_early();
    }
    return *ask(spec, limits, kNoCost);
  } catch (const Interrupted&) {
    open_.clear();
    return std::nullopt;
  }
}

std::optional<int64_t> SpecSolver::cost(Spec spec, Limits limits) {
  const auto best = [](const MemoValue& v) {
    return v.best.empty() ? kNoCost : v.best.front().cost.units;
  };
  space_.canonicalise(spec);
  space_.canonicalise(spec, limits);
  if (const MemoValue* known = memo_.find(spec, limits, kNoCost, 1)) return best(*known);
  const std::optional<MemoValue> value = solve(spec, limits);
  if (!value) return std::nullopt;
  return best(*value);
}

// All questions come through here: canonical form, then the memo, then the work.
const MemoValue* SpecSolver::ask(const Spec& spec, Limits limits, int64_t bound) {
  space_.canonicalise(spec, limits);
  if (const MemoValue* known = memo_.find(spec, limits, bound, options_.k)) return known;
  if (options_.prune) {
    const int64_t floor = this->floor(spec, limits);
    if (floor > bound) {
      nothing_below_.complete_to = std::max(bound, floor - 1);
      return &nothing_below_;
    }
    // Large copies are asked for again and again, each time by one who cares a little more: the
    // whole answer at once is less work.
    const SpecKind& kind = space_.kinds().at(spec.kind);
    if (kind.dims() > 2 && kind.is_elementwise()) bound = kNoCost;
  }
  if (options_.widest_limits_first && !open_.contains(spec)) {
    Limits widest = space_.codes().all();
    space_.canonicalise(spec, widest);
    if (widest != limits && !memo_.find(spec, widest, bound, options_.k)) {
      open_.insert(spec);
      memo_.put(spec, widest, work_out(spec, widest, bound));
      open_.erase(spec);
      if (const MemoValue* known = memo_.find(spec, limits, bound, options_.k)) return known;
    } else if (widest == limits) {
      open_.insert(spec);
      const MemoValue* value = memo_.put(spec, limits, work_out(spec, limits, bound));
      open_.erase(spec);
      return value;
    }
  }
  return memo_.put(spec, limits, work_out(spec, limits, bound));
}

namespace {

// Notes that a Spec is being worked out, for as long as it is.
class Busy {
 public:
  Busy(BusySpecs* busy, const Spec& spec) : busy_(busy), spec_(spec) {
    if (busy_) busy_->begin(spec_);
  }
  ~Busy() {
    if (busy_) busy_->end(spec_);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  BusySpecs* busy_;
  const Spec& spec_;
};

}  // namespace

// Expands the actions, orders them by what they cost at least, and looks at each until the cutoff
// says that none of the rest can be among the best k.
MemoValue SpecSolver::work_out(const Spec& spec, const Limits& limits, int64_t bound) {
  if ((++statistics_.solved & (kSpecsPerLook - 1)) == 0) {
    if (options_.budget && !options_.budget->spend(kSpecsPerLook)) throw Interrupted{};
    if (options_.interrupted && options_.interrupted()) throw Interrupted{};
  }
  const Busy note(busy_, spec);
  Ranking ranking;
  const int64_t cutoff = options_.prune ? bound : kNoCost;
  // The cheapest at the first look first: what is found early settles the dearer ones unseen.
  std::vector<Prospect> prospects;
  int64_t order = 0;
  space_.expand(spec, limits, [&](const Expansion& e) {
    ++statistics_.expanded;
    if (std::optional<Prospect> p = look(e, ++order, cutoff, ranking)) prospects.push_back(*p);
  });
  std::stable_sort(prospects.begin(), prospects.end(),
                   [](const Prospect& a, const Prospect& b) { return a.total < b.total; });
  std::vector<const Prospect*> later;
  for (const Prospect& p : prospects)
    if (!try_prospect(p, limits, cutoff, busy_ != nullptr, ranking)) later.push_back(&p);
  for (const Prospect* p : later) try_prospect(*p, limits, cutoff, false, ranking);
  MemoValue value = std::move(ranking.value);
  // All that was left out costs more than was asked for, and how much more is known: who cares a
  // little more next time has the answer already.
  value.complete_to = static_cast<int>(value.best.size()) >= options_.k || ranking.next >= kNoCost
                          ? kNoCost
                          : std::max(cutoff, ranking.next - 1);
  return value;
}

// Costs at least this much and was not looked at: the answer is complete up to there and no
// further.
void SpecSolver::leave_out(int64_t at_least, Ranking& from) {
  ++statistics_.pruned;
  from.next = std::min(from.next, at_least);
}

// What an action costs at least: its own cost and, of each part, what the memo knows or the floor
// says. No part is worked out for this.
std::optional<SpecSolver::Prospect> SpecSolver::look(const Expansion& e, int64_t order,
                                                     int64_t cutoff, Ranking& into) {
  Prospect out{e, order, e.own_cost, {}};
  for (int i = 0; i < e.parts; ++i) {
    out.floors[i] = floor(e.part[i].spec, e.part[i].limits);
    if (out.floors[i] >= kNoCost) return std::nullopt;
    out.floors[i] *= e.part[i].times;
    out.total += out.floors[i];
  }
  if (out.total <= cutoff) return out;
  leave_out(out.total, into);
  return std::nullopt;
}

// With k plans in hand, one dearer than the last of them is of no use.
int64_t SpecSolver::cutoff_of(const Ranking& found, int64_t bound) const {
  const std::vector<Alternative>& best = found.value.best;
  return options_.prune && static_cast<int>(best.size()) >= options_.k
             ? std::min(bound, best.back().cost.units)
             : bound;
}

// Parts from the dearest bound down; as soon as their sum passes the cutoff the rest need not be
// known.
bool SpecSolver::try_prospect(const Prospect& prospect, const Limits& limits, int64_t bound,
                              bool may_leave, Ranking& into) {
  const Expansion& e = prospect.expansion;
  const int64_t cutoff = cutoff_of(into, bound);
  int64_t total = prospect.total;
  if (total > cutoff) {
    leave_out(total, into);
    return true;
  }
  if (may_leave && e.parts > 0 && busy_->busy(e.part[e.main].spec)) return false;
  PartsFound found{};
  int64_t main_complete_to = kNoCost;
  for (int i = 0; i < e.parts; ++i) {
    const int64_t rest = total - prospect.floors[i];
    const int64_t allowed = cutoff >= kNoCost ? kNoCost : (cutoff - rest) / e.part[i].times;
    const MemoValue* value = ask(e.part[i].spec, e.part[i].limits, allowed);
    if (value->best.empty()) {
      if (value->complete_to < kNoCost)
        leave_out(rest + e.part[i].times * (value->complete_to + 1), into);
      return true;
    }
    found[i] = &value->best;
    total = rest + e.part[i].times * value->best.front().cost.units;
    if (total > cutoff) {
      leave_out(total, into);
      return true;
    }
    if (i == e.main && static_cast<int>(value->best.size()) < options_.k)
      main_complete_to = value->complete_to;
  }

  keep_ways(prospect, found, limits, bound, into);
  if (main_complete_to < kNoCost) {
    const int64_t known = found[e.main]->front().cost.units;
    into.next = std::min(into.next, total + e.part[e.main].times * (main_complete_to + 1 - known));
  }
  return true;
}

// Every way to go on with the main part that is known.
void SpecSolver::keep_ways(const Prospect& prospect, const PartsFound& found, const Limits& limits,
                           int64_t bound, Ranking& into) {
  const Expansion& e = prospect.expansion;
  // The other parts are done in the best way.
  std::array<const PlanCost*, kMaxParts> costs{};
  for (int i = 0; i < e.parts; ++i) costs[i] = &found[i]->front().cost;
  const size_t ways = e.parts == 0 ? 1 : found[e.main]->size();
  for (size_t rank = 0; rank < ways; ++rank) {
    Alternative a;
    const int64_t place = prospect.order * 256 + static_cast<int64_t>(rank);
    if (e.parts > 0) costs[e.main] = &(*found[e.main])[rank].cost;
    a.cost = combine(e, costs, space_.codes());
    a.action = e.action;
    a.rank = static_cast<uint8_t>(rank);
    if (a.cost.units > bound && options_.prune) {
      into.next = std::min(into.next, a.cost.units);
      break;
    }
    if (static_cast<int>(into.value.best.size()) >= options_.k &&
        !into.before(a.cost, place, into.value.best.size() - 1))
      break;
    EXO_CHECK(a.cost.peak.fits(limits));
    a.identity = identity_of(e, e.parts > 0 ? &(*found[e.main])[rank] : nullptr,
                             space_.machine().levels[e.action.to.level].registers);
    into.keep(a, place, options_.k);
  }
}

// The action that made the alternative is found by expanding the Spec again: storing the expansion
// with each alternative would multiply the memo's size by what one plan of thousands needs.
PlanNode SpecSolver::plan(Spec spec, Limits limits, int rank) {
  space_.canonicalise(spec);
  space_.canonicalise(spec, limits);
  Limits solved_at;
  const MemoValue* value = memo_.find(spec, limits, kNoCost, rank + 1, &solved_at);
  if (!value) {
    solve(spec, limits);
    value = memo_.find(spec, limits, kNoCost, rank + 1, &solved_at);
  }
  EXO_CHECK(value && rank < static_cast<int>(value->best.size()));
  limits = solved_at;  // the parts' ranks count from there
  const Alternative chosen = value->best[rank];
  PlanNode node;
  node.spec = spec;
  node.limits = limits;
  node.action = chosen.action;
  node.cost = chosen.cost;
  std::optional<Expansion> expansion;
  space_.expand(spec, limits, [&](const Expansion& e) {
    if (e.action == chosen.action) expansion = e;
  });
  EXO_CHECK(expansion.has_value());
  node.main = expansion->main;
  for (int i = 0; i < expansion->parts; ++i) {
    node.parts.push_back(plan(expansion->part[i].spec, expansion->part[i].limits,
                              i == expansion->main ? chosen.rank : 0));
    node.times.push_back(expansion->part[i].times);
  }
  return node;
}

}  // namespace exotune
