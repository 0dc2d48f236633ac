#include "search/dp/dp.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "search/dp/relaxed_floor.h"

namespace exotune {

PlanCost combine(const Expansion& e, const std::array<const PlanCost*, kMaxParts>& parts,
                 const LimitCodes& codes) {
  PlanCost out;
  out.units = e.own_cost;
  out.peak = e.used;
  for (int i = 0; i < e.parts; ++i) {
    out.units += e.part[i].times * parts[i]->units;
    out.depth =
        std::max<uint8_t>(out.depth, static_cast<uint8_t>(std::min(254, parts[i]->depth + 0)));
    for (int level = 0; level < kMaxLevels; ++level) {
      uint8_t code = parts[i]->peak.codes[level];
      if (level == e.allocated_level)
        code = codes.up(level, codes.amount(level, code) + e.allocated);
      out.peak.codes[level] = std::max(out.peak.codes[level], code);
    }
  }
  if (e.parts > 0) ++out.depth;
  return out;
}

SpecSolver::SpecSolver(ActionSpace& space, SpecMemo& memo, SolverOptions options)
    : space_(space), memo_(memo), options_(std::move(options)) {
  EXO_CHECK(options_.k >= 1 && options_.k <= 255);
  if (options_.prune && options_.relaxed_floor)
    relaxed_floor_ = std::make_unique<RelaxedFloor>(space, options_.interrupted);
}

SpecSolver::~SpecSolver() = default;

int64_t SpecSolver::floor(const Spec& spec, const Limits& limits) {
  const int64_t simple = space_.floor(spec);
  if (!relaxed_floor_ || simple >= kNoCost) return simple;
  const std::optional<int64_t> relaxed = relaxed_floor_->of(spec, limits);
  if (!relaxed) throw Interrupted{};
  return std::max(simple, *relaxed);
}

std::optional<MemoValue> SpecSolver::solve(Spec spec, Limits limits) {
  space_.canonicalise(spec);
  try {
    space_.canonicalise(spec, limits);
    if (const MemoValue* known = memo_.find(spec, limits, kNoCost, options_.k)) return *known;
    if (relaxed_floor_) {
      // Deeper and deeper: with a bound just above the optimum little is worked out.
      const int64_t floor = this->floor(spec, limits);
      for (int64_t slack = std::max<int64_t>(1, floor >> 7); floor < kNoCost && slack < floor;
           slack *= 2) {
        const MemoValue* value = ask(spec, limits, floor + slack);
        if (static_cast<int>(value->best.size()) >= options_.k) return *value;
      }
    }
    return *ask(spec, limits, kNoCost);
  } catch (const Interrupted&) {
    open_.clear();
    return std::nullopt;
  }
}

const MemoValue* SpecSolver::ask(const Spec& spec, Limits limits, int64_t bound) {
  space_.canonicalise(spec, limits);
  if (const MemoValue* known = memo_.find(spec, limits, bound, options_.k)) return known;
  if (options_.prune) {
    const int64_t floor = this->floor(spec, limits);
    if (floor > bound) {
      nothing_below_.complete_to = bound;
      return &nothing_below_;
    }
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

MemoValue SpecSolver::work_out(const Spec& spec, const Limits& limits, int64_t bound) {
  if ((++statistics_.solved & 255) == 0 && options_.interrupted && options_.interrupted())
    throw Interrupted{};
  MemoValue value;
  const int64_t cutoff = options_.prune ? bound : kNoCost;
  space_.expand(spec, limits, [&](const Expansion& e) { try_expansion(e, limits, cutoff, value); });
  value.complete_to = static_cast<int>(value.best.size()) >= options_.k ? kNoCost : cutoff;
  return value;
}

void SpecSolver::try_expansion(const Expansion& e, const Limits& limits, int64_t bound,
                               MemoValue& into) {
  ++statistics_.expanded;
  const int k = options_.k;
  int64_t cutoff = bound;
  if (options_.prune && static_cast<int>(into.best.size()) >= k)
    cutoff = std::min(cutoff, into.best.back().cost.units);

  std::array<int64_t, kMaxParts> floors{};
  int64_t total = e.own_cost;
  for (int i = 0; i < e.parts; ++i) {
    floors[i] = floor(e.part[i].spec, e.part[i].limits);
    if (floors[i] >= kNoCost) return;
    floors[i] *= e.part[i].times;
    total += floors[i];
  }
  if (total > cutoff) {
    ++statistics_.pruned;
    return;
  }
  std::array<const std::vector<Alternative>*, kMaxParts> found{};
  for (int i = 0; i < e.parts; ++i) {
    const int64_t rest = total - floors[i];
    const int64_t allowed = cutoff >= kNoCost ? kNoCost : (cutoff - rest) / e.part[i].times;
    const MemoValue* value = ask(e.part[i].spec, e.part[i].limits, allowed);
    if (value->best.empty()) {
      statistics_.pruned += value->complete_to < kNoCost;
      return;
    }
    found[i] = &value->best;
    total = rest + e.part[i].times * value->best.front().cost.units;
    if (total > cutoff) {
      ++statistics_.pruned;
      return;
    }
  }

  // The k cheapest ways to choose an alternative for each part.
  const auto keep = [&](const std::array<uint8_t, kMaxParts>& ranks) {
    std::array<const PlanCost*, kMaxParts> costs{};
    for (int i = 0; i < e.parts; ++i) costs[i] = &(*found[i])[ranks[i]].cost;
    const Alternative a{combine(e, costs, space_.codes()), e.action, ranks};
    if (a.cost.units > bound && options_.prune) return false;
    if (static_cast<int>(into.best.size()) >= k && !(a.cost < into.best.back().cost)) return false;
    EXO_CHECK(a.cost.peak.fits(limits));
    const auto at = std::upper_bound(
        into.best.begin(), into.best.end(), a,
        [](const Alternative& x, const Alternative& y) { return x.cost < y.cost; });
    into.best.insert(at, a);
    if (static_cast<int>(into.best.size()) > k) into.best.pop_back();
    return true;
  };
  std::array<uint8_t, kMaxParts> ranks{};
  if (e.parts == 0 || k == 1) {
    keep(ranks);
    return;
  }
  const size_t n0 = found[0]->size(), n1 = e.parts > 1 ? found[1]->size() : 1,
               n2 = e.parts > 2 ? found[2]->size() : 1;
  // (a + 1)(b + 1)(c + 1) combinations are no dearer than ranks (a, b, c): beyond k it cannot
  // matter.
  for (size_t a = 0; a < n0; ++a)
    for (size_t b = 0; b < n1 && (a + 1) * (b + 1) <= static_cast<size_t>(k); ++b)
      for (size_t c = 0; c < n2 && (a + 1) * (b + 1) * (c + 1) <= static_cast<size_t>(k); ++c) {
        ranks = {static_cast<uint8_t>(a), static_cast<uint8_t>(b), static_cast<uint8_t>(c)};
        if (!keep(ranks)) break;
      }
}

// --- plans --------------------------------------------------------------------------------------

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
  for (int i = 0; i < expansion->parts; ++i) {
    node.parts.push_back(plan(expansion->part[i].spec, expansion->part[i].limits, chosen.ranks[i]));
    node.times.push_back(expansion->part[i].times);
  }
  return node;
}

PlanCost cost_of(const PlanNode& plan, ActionSpace& space) {
  std::optional<Expansion> expansion;
  space.expand(plan.spec, plan.limits, [&](const Expansion& e) {
    if (e.action == plan.action) expansion = e;
  });
  EXO_CHECK(expansion && expansion->parts == static_cast<int>(plan.parts.size()));
  std::array<PlanCost, kMaxParts> costs;
  std::array<const PlanCost*, kMaxParts> pointers{};
  for (size_t i = 0; i < plan.parts.size(); ++i) {
    costs[i] = cost_of(plan.parts[i], space);
    pointers[i] = &costs[i];
  }
  return combine(*expansion, pointers, space.codes());
}

namespace {

void print(const PlanNode& plan, ActionSpace& space, int indent, std::string& text) {
  const DpMachine& m = space.machine();
  const DpAction& a = plan.action;
  text += std::string(indent, ' ') + std::to_string(plan.cost.units) + "  " +
          str(plan.spec, space.kinds(), space.layouts(), m.level_names()) + ": ";
  switch (a.kind) {
    case ActionKind::kSelect:
      text += m.kernels[a.index].name;
      break;
    case ActionKind::kInitialise:
      text += "initialise";
      break;
    case ActionKind::kTile:
      text += "tile " + std::to_string(a.index) + " by " + std::to_string(a.size);
      break;
    case ActionKind::kMove:
      text += "move $" + std::to_string(a.index) + " to " + m.levels[a.to.level].name +
              space.layouts().at(a.to.layout).str();
      break;
  }
  text += "\n";
  for (const PlanNode& part : plan.parts) print(part, space, indent + 2, text);
}

}  // namespace

std::string str(const PlanNode& plan, ActionSpace& space) {
  std::string text;
  print(plan, space, 0, text);
  return text;
}

}  // namespace exotune
