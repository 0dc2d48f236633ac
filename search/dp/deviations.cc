#include "search/dp/deviations.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace exotune {
namespace {

class Deviations {
 public:
  Deviations(DpSession& session, int plans) : session_(session), plans_(plans) {}

  void run(const PlanNode& best, const std::function<bool(const PlanNode&)>& take) {
    collect(best, 1, {});
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.more < b.more; });
    for (const Found& f : found_) {
      PlanNode plan = best;
      PlanNode* at = &plan;
      for (const int part : f.path) at = &at->parts[part];
      *at = f.node(*this);
      plan.cost.units = best.cost.units + f.more;
      if (!take(plan)) return;
    }
  }

 private:
  // One other action at one node. Its plan is made only when it is asked for: there are many, and a
  // few are taken.
  struct Found {
    std::vector<int> path;
    Spec spec;
    Limits limits;
    Expansion expansion;
    int64_t units = 0, more = 0;

    PlanNode node(Deviations& from) const {
      PlanNode out;
      out.spec = spec;
      out.limits = limits;
      out.action = expansion.action;
      out.cost.units = units;
      out.main = expansion.main;
      for (int i = 0; i < expansion.parts; ++i) {
        out.parts.push_back(
            from.session_.solver().plan(expansion.part[i].spec, expansion.part[i].limits, 0));
        out.times.push_back(expansion.part[i].times);
      }
      return out;
    }
  };

  // What the action costs when the memo knows all of it. What it does not know is left out:
  // solving it now could take as long as the search did.
  std::optional<int64_t> cost(const Expansion& e) {
    int64_t units = e.own_cost;
    for (int i = 0; i < e.parts; ++i) {
      Spec spec = e.part[i].spec;
      Limits limits = e.part[i].limits;
      session_.space().canonicalise(spec);
      session_.space().canonicalise(spec, limits);
      const MemoValue* value = session_.memo().find(spec, limits, kNoCost, plans_);
      if (!value || value->best.empty()) return std::nullopt;
      units += e.part[i].times * value->best.front().cost.units;
    }
    return units;
  }

  // The main path only: the part that holds most of the work. An action elsewhere changes little. A
  // part that runs several times counts so often.
  void collect(const PlanNode& node, int64_t times, const std::vector<int>& path) {
    session_.space().expand(node.spec, node.limits, [&](const Expansion& e) {
      if (e.action == node.action) return;
      if (const std::optional<int64_t> units = cost(e))
        found_.push_back(
            {path, node.spec, node.limits, e, *units, times * (*units - node.cost.units)});
    });
    if (node.parts.empty()) return;
    std::vector<int> below = path;
    below.push_back(node.main);
    collect(node.parts[node.main], times * node.times[node.main], below);
  }

  DpSession& session_;
  int plans_;
  std::vector<Found> found_;
};

}  // namespace

void for_each_deviation(DpSession& session, int plans, const PlanNode& best,
                        const std::function<bool(const PlanNode&)>& take) {
  Deviations(session, plans).run(best, take);
}

}  // namespace exotune
