#include "search/dp/explainer.h"

#include <algorithm>
#include <map>

#include "search/dp/action_forms.h"

namespace exotune {
// A plan in words, a line an action, with what the actions that were not taken would have cost. All
// costs come out of the memo: what was pruned is known only to cost at least so much, and printed
// so.
namespace {

class Explainer {
 public:
  Explainer(DpSession& session, const LiftedNest& nest, int plans)
      : session_(session), nest_(nest), plans_(plans) {}

  std::string run(const PlanNode& plan) {
    print(plan, 0);
    return text_;
  }

 private:
  ActionSpace& space() { return session_.space(); }
  const DpMachine& machine() { return space().machine(); }

  std::string cycles(int64_t units) {
    const double value = static_cast<double>(units) / machine().units_per_cycle;
    char text[32];
    std::snprintf(text, sizeof text, value < 100 ? "%.3g" : "%.0f", value);
    return text;
  }

  std::string operand(const Spec& spec, int index) {
    const SpecKind& kind = space().kinds().at(spec.kind);
    // Copies have operands of their own.
    if (kind.operands.size() != nest_.buffers.size()) return index == 0 ? "source" : "target";
    return nest_.buffers[index].name();
  }

  std::string loop(const Spec& spec, int dim) {
    const SpecKind& kind = space().kinds().at(spec.kind);
    if (kind.operands.size() != nest_.buffers.size()) return "dimension " + std::to_string(dim);
    return nest_.loops[dim].name();
  }

  std::string action(const Spec& spec, const DpAction& a) {
    return text_of(a, spec, space(),
                   {[&](int dim) { return loop(spec, dim); },
                    [&](int index) { return operand(spec, index); }});
  }

  // What an action costs by the memo: exact, or what it costs at least when it was pruned.
  struct Known {
    int64_t units = 0;
    bool exact = true;
  };
  Known cost(const Expansion& e) {
    Known out{e.own_cost, true};
    for (int i = 0; i < e.parts; ++i) {
      Spec spec = e.part[i].spec;
      Limits limits = e.part[i].limits;
      space().canonicalise(spec);
      space().canonicalise(spec, limits);
      const MemoValue* value = session_.memo().find(spec, limits, 0, plans_);
      int64_t part = space().floor(spec);
      bool exact = false;
      if (value && !value->best.empty()) {
        part = value->best.front().cost.units;
        exact = true;
      } else if (value) {
        part = std::max(part, value->complete_to);
      }
      if (part >= kNoCost) return {kNoCost, true};
      out.units += e.part[i].times * part;
      out.exact = out.exact && exact;
    }
    return out;
  }

  // The best of each kind of action that was not taken, cheapest first; what was pruned can only
  // have cost more than what was.
  std::string siblings(const PlanNode& node) {
    struct Sibling {
      int64_t units;
      DpAction action;
    };
    std::map<ActionKind, Sibling> best;
    int others = 0, pruned = 0;
    space().expand(node.spec, node.limits, [&](const Expansion& e) {
      if (e.action == node.action) return;
      const Known known = cost(e);
      if (known.units >= kNoCost) return;
      ++others;
      pruned += !known.exact;
      const auto it = best.find(e.action.kind);
      if (known.exact && (it == best.end() || known.units < it->second.units))
        best[e.action.kind] = {known.units, e.action};
    });
    if (others == 0) return "";
    std::vector<Sibling> sorted;
    for (const auto& [kind, s] : best) sorted.push_back(s);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Sibling& a, const Sibling& b) { return a.units < b.units; });
    std::string text = "instead: ";
    for (const Sibling& s : sorted) {
      char percent[32];
      std::snprintf(
          percent, sizeof percent, "%+.1f %%",
          100.0 * (static_cast<double>(s.units) / static_cast<double>(node.cost.units) - 1));
      text += action(node.spec, s.action) + " " + cycles(s.units) + " (" + percent + "); ";
    }
    text += std::to_string(others) + " in all";
    if (pruned > 0) text += ", " + std::to_string(pruned) + " of them pruned as dearer";
    return text;
  }

  void print(const PlanNode& first, int indent) {
    // Tiles of tiles of one loop are one line.
    const PlanNode* node = &first;
    std::string what = action(node->spec, node->action);
    int64_t times = node->times.empty() ? 1 : node->times[0];
    while (node->action.kind == ActionKind::kTile && node->parts.size() == 1 &&
           node->parts[0].action.kind == ActionKind::kTile &&
           node->parts[0].action.index == node->action.index && node->parts[0].parts.size() == 1) {
      node = &node->parts[0];
      what += ", " + std::to_string(node->action.size);
      times *= node->times[0];
    }
    text_ += std::string(static_cast<size_t>(indent), ' ') + cycles(first.cost.units) + "  " +
             what + (times > 1 ? "  (" + std::to_string(times) + " times)" : "") + "\n";
    const std::string other = siblings(first);
    if (!other.empty()) text_ += std::string(static_cast<size_t>(indent) + 6, ' ') + other + "\n";
    for (const PlanNode& part : node->parts) print(part, indent + 2);
  }

  DpSession& session_;
  const LiftedNest& nest_;
  int plans_;
  std::string text_;
};

}  // namespace

std::string explained(DpSession& session, const LiftedNest& nest, int plans, const PlanNode& plan) {
  return Explainer(session, nest, plans).run(plan);
}

}  // namespace exotune
