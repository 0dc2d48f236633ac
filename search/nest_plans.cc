#include "search/nest_plans.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "search/finished_nests.h"
#include "search/moves.h"
#include "search/moves/dot_tiles.h"
#include "search/moves/outer_vectors.h"
#include "search/moves/parts.h"
#include "search/moves/tiles.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

constexpr size_t kOrders = 4;  // that get all finishes

// The orders of a band, and of a deep one, which is not tried in all orders, that of a product or
// of sums: rows that share an operand, vectors, what is summed over.
std::vector<LoopOrder> orders_of(const Schedule& start, const Path& band) {
  std::vector<LoopOrder> orders = loop_orders(start, band);
  const Nest nest = inspect_nest(*start.proc);
  if (nest.kind != NestKind::kContraction && nest.kind != NestKind::kSums) return orders;
  std::vector<std::string> inside = {nest.row_loop, nest.vector_loop};
  for (const NestLoop& l : nest.loops)
    if (nest.kind == NestKind::kSums ? !l.in_output : l.name == nest.reduction_loop)
      inside.push_back(l.name);
  if (auto product = with_innermost(orders.front(), band, inside))
    if (std::none_of(orders.begin(), orders.end(),
                     [&](const LoopOrder& o) { return o.order == product->order; }))
      orders.push_back(std::move(*product));
  return orders;
}

}  // namespace

void NestPlans::add(const Schedule& nest, const NestEffort& effort,
                    std::vector<PartPlan>& plans) const {
  const std::vector<LoopOrder> orders = orders_of(nest, parts_of(nest.proc).front().path());
  std::set<int> innermost;
  size_t taken = 0;
  bool tiled = false;  // one order of rows, vectors and sum is enough
  for (const size_t k : cheapest_first(orders)) {
    if (effort.until.over()) return;
    const Schedule& s = orders[k].schedule;
    if (!tiled) tiled = finish(s, tiles_of(s), effort.until, plans);
    const bool first_inside = innermost.insert(orders[k].order.back()).second;
    if (taken >= kOrders && !first_inside) continue;
    // A part that tiles fit is not tried in all other ways, too: the time is for the whole.
    if (tiled && effort.part && (taken > 0 || effort.brief)) continue;
    ++taken;
    tally_.accept(s);
    const Outline o = outline_of(*s.proc, pricing_.sizes_of(*s.proc));
    (void)finish(s, finishes_of(o, target_, levels_, instructions_), effort.until, plans);
  }
}

void NestPlans::add_around(const Schedule& program, const Deadline& until,
                           std::vector<PartPlan>& plans) const {
  if (!target_.vector_memory) return;
  const Outline o = outline_of(*program.proc, pricing_.sizes_of(*program.proc));
  (void)finish(program, outer_vectors_of(o, target_, instructions_), until, plans);
}

std::vector<size_t> NestPlans::cheapest_first(const std::vector<LoopOrder>& orders) const {
  std::vector<double> cycles;
  for (const LoopOrder& o : orders) cycles.push_back(pricing_.plan_of(o.schedule, "order").cycles);
  std::vector<size_t> out(orders.size());
  std::iota(out.begin(), out.end(), size_t{0});
  std::stable_sort(out.begin() + 1, out.end(),
                   [&](size_t a, size_t b) { return cycles[a] < cycles[b]; });
  return out;
}

std::vector<Finish> NestPlans::tiles_of(const Schedule& s) const {
  std::vector<Finish> tiles = dot_tiles_of(s.proc, target_, levels_, instructions_);
  for (Finish& f : register_tiles_of(inspect_nest(*s.proc), target_, levels_, instructions_))
    tiles.push_back(std::move(f));
  return tiles;
}

// Adds what the finishes make of the schedule; false: nothing.
bool NestPlans::finish(const Schedule& s, const std::vector<Finish>& finishes,
                       const Deadline& until, std::vector<PartPlan>& plans) const {
  std::vector<FinishedNest> done = finish_all(s, finishes, pricing_, until);
  bool any = false;
  for (size_t k = 0; k < finishes.size(); ++k) {
    ++tally_.made;
    for (const ScheduleStep& step : finishes[k].steps) ++tally_.proposed[step.op];
    for (const StepRefusal& r : done[k].refusals) tally_.refuse(r);
    if (!done[k].plan) continue;
    any = true;
    for (size_t n = s.steps.size(); n < done[k].plan->steps.size(); ++n)
      ++tally_.accepted[done[k].plan->steps[n].op];
    plans.push_back(std::move(*done[k].plan));
  }
  return any;
}

}  // namespace exotune
