#include "search/eqsat/reduction_steps.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "search/eqsat/factoring.h"
#include "search/eqsat/pooling.h"

namespace exotune::eqsat {
namespace {

constexpr size_t kOrders = 3;  // of the factors of one sum

void add_orders_of(const ProcPtr& p, const SumOfFactors& sum, const CandidateRequest& request,
                   CandidateReport& report) {
  const std::optional<Contraction> c = contraction_of(sum, request.sizes);
  if (!c) {
    report.not_lifted.push_back({{},
                                 "the best order of " + sum.factors.front() +
                                     " and the other factors depends on the sizes"});
    return;
  }
  double points = static_cast<double>(sum.factors.size() - 1);
  for (const double extent : c->extents) points *= extent;
  const double along = sum.last < 0 ? 1 : c->extents[static_cast<size_t>(sum.last)];
  report.written.push_back(ViewFigures{points, 0, along});
  const ContractionOrders orders = contraction_orders(*c, std::min(kOrders, request.k));
  report.nodes += orders.nodes;
  report.classes += orders.classes;
  if (orders.stop != StopReason::kSaturated) report.stop = orders.stop;
  for (const ContractionTree& tree : orders.trees) {
    if (tree.multiplications >= points) continue;
    Candidate out;
    try {
      out.proc = factor(p, sum, tree);
    } catch (const SchedulingError& e) {
      ++report.refused[e.diagnostic().message.str()];
      continue;
    }
    out.text = text_of(sum, tree);
    out.proof = CandidateProof::kReplay;
    out.rules = {"either-order", "either-pair"};
    out.figures = ViewFigures{tree.multiplications, 0, along};
    out.product = static_cast<int>(report.written.size()) - 1;
    report.candidates.push_back(std::move(out));
  }
}

// Both forms' figures: what is reduced first is stored once and read again.
void describe(const WindowFigures& f, Candidate& c, std::optional<ViewFigures>& written) {
  written = ViewFigures{f.written, 0, f.along};
  c.figures = ViewFigures{f.steps, f.stored, f.along};
}

const char* step_rule(const Proc& p, const WindowReduction& windows) {
  switch (stmt_at(p, windows.reduce)->as<Reduce>()->op) {
    case ReduceOp::kAdd:
      return "sum-of-sums";
    case ReduceOp::kMax:
      return "maximum-of-maxima";
    case ReduceOp::kMin:
      return "minimum-of-minima";
  }
  return "";
}

void add_steps_of(const ProcPtr& p, const WindowReduction& windows, const CandidateRequest& request,
                  CandidateReport& report) {
  const size_t product = report.written.size();
  report.written.emplace_back();
  for (const Path& tap : windows.taps) {
    Candidate out;
    try {
      out.proc = one_direction_ahead(p, windows, tap);
    } catch (const SchedulingError& e) {
      ++report.refused[e.diagnostic().message.str()];
      continue;
    }
    out.text = text_of(*p, windows, tap);
    out.proof = CandidateProof::kReplay;
    out.rules = {step_rule(*p, windows)};
    out.product = static_cast<int>(product);
    out.in_steps = true;
    if (const auto f = figures_of(*p, windows, tap, *out.proc, request.sizes))
      describe(*f, out, report.written[product]);
    report.candidates.push_back(std::move(out));
    // Whether it is a product of views as well is of no interest.
    const std::string here = stmt_at(*p, windows.reduce)->where.str();
    std::erase_if(report.not_lifted,
                  [&](const NotLifted& n) { return n.where.known() && n.where.str() == here; });
  }
}

}  // namespace

void add_orders(const ProcPtr& p, const CandidateRequest& request, CandidateReport& report) {
  for (const SumOfFactors& sum : lift_sums(*p)) add_orders_of(p, sum, request, report);
}

void add_steps_of_windows(const ProcPtr& p, const CandidateRequest& request,
                          CandidateReport& report) {
  for (const WindowReduction& w : lift_windows(*p, request.sizes))
    add_steps_of(p, w, request, report);
}

}  // namespace exotune::eqsat
