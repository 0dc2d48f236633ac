// What plans take, by the target's text: no simulator, no run.
#include "search/device/plan_costs.h"

#include <algorithm>

namespace exotune {

namespace {

constexpr double kCyclesPerElement = 6;  // that the processor itself copies or computes
constexpr double kCyclesPerCommand = 4;  // to issue it
constexpr double kProductsAhead = 8;     // that wait while the processor issues other commands

double cost_of(const ProcPtr& p) { return p->instr ? p->instr->cost : 1; }

}  // namespace

PlanCosts::PlanCosts(const ProductInstruction& product, const DeviceInstructions& instructions,
                     const Target& target)
    : product_(product), instructions_(instructions) {
  for (const TargetLevel& l : target.levels)
    // What a byte from main memory costs, by the target's own text.
    if (l.memory && l.memory->kind == MemoryKind::kHeap && l.line_bytes > 0) {
      cycles_per_byte_ = l.cost_per_line / l.line_bytes;
      line_bytes_ = l.line_bytes;
    }
}

bool PlanCosts::in_registers() const {
  return product_.out.memory->kind == MemoryKind::kRegisterFile;
}

int64_t PlanCosts::tile_bytes(const TileArgument& t, ScalarType element) const {
  int64_t out = bytes_of(element);
  for (const int l : t.loops) out *= product_.loops[static_cast<size_t>(l)].most;
  return out;
}

double PlanCosts::loads_of(const DevicePlan& plan, const SumFactor& f, const PlanOperand& o) {
  // The tiles kept at a time, as often as the loops outside of them run.
  double out = static_cast<double>(plan.tiles_of(f, o) / o.turns);
  for (size_t k = 0; k + o.kept < plan.order.size(); ++k) out *= iterations_of(plan, plan.order[k]);
  return out;
}

double PlanCosts::iterations_of(const DevicePlan& plan, const PlanLoop& l) {
  const auto trips = static_cast<double>(l.trips);
  if (l.part != LoopPart::kWhole || !plan.uneven(l.loop)) return trips;
  return trips * static_cast<double>(plan.tiles_along(l.loop)) /
         static_cast<double>(plan.places_along(l.loop));
}

// A tile smaller than the instruction can do takes less as far as the outermost loop goes.
double PlanCosts::product_cycles(const DevicePlan& plan) const {
  return cost_of(product_.proc) * static_cast<double>(plan.mapping.tiles.front()) /
         static_cast<double>(product_.loops.front().most);
}

double PlanCosts::estimate(const DevicePlan& plan) const {
  // Runs of the product; stores of results; iterations outside of all sums.
  double products = 1, results = 1, outside = 1;
  for (size_t k = 0; k < plan.order.size(); ++k) {
    const PlanLoop& l = plan.order[k];
    products *= iterations_of(plan, l);
    if (!plan.reduces(l)) results *= iterations_of(plan, l);
    if (k < plan.sums_begin()) outside *= iterations_of(plan, l);
  }
  const double product = product_cycles(plan), array = products * product;
  double transfers = 0, commands = products + 2 * results, processor = 0, stalls = 0;
  for (const auto& [f, o] :
       {std::pair(&plan.sum->first, &plan.first), std::pair(&plan.sum->second, &plan.second)}) {
    const double loads = loads_of(plan, *f, *o), each = load_cycles(plan, *f, *o);
    transfers += loads * each;
    commands +=
        loads / static_cast<double>(o->grouped ? instructions_.families[o->family].tiles : 1);
    stalls += first_pass_stall(plan, *f, *o, products * product, each);
    // One place for all: each load waits for the last use of what it replaces.
    if (plan.tiles_of(*f, *o) == 1 && !in_registers()) stalls += loads * each;
    if (f->made(product_)) processor += made_elements(plan, *f) * kCyclesPerElement;
  }
  const double store =
      static_cast<double>(tile_bytes(product_.out, product_.operand)) * cycles_per_byte_;
  const int64_t together = results_together(plan);
  const MemoryPtr& from = product_.out.memory;
  transfers += results * std::max(store, leaving_cycles(plan, together));
  processor += commands * kCyclesPerCommand;
  // Sums end together: their stores follow each other, and other commands wait behind them.
  const auto at_once = static_cast<double>(std::min(together, instructions_.tiles_taken(from)));
  const double burst = 2 * store * results / at_once / outside;
  const double hidden = plan.rotated > 0 ? kProductsAhead * product : 0;
  stalls += outside * std::max(0.0, burst - hidden);
  return std::max({array, transfers, processor}) + stalls + 0.1 * (array + transfers + processor);
}

// Of one tile of results, where so many side by side are finished together. Rows that are no
// whole number of tiles begin anywhere in a line of memory: part of them touches one line more.
double PlanCosts::leaving_cycles(const DevicePlan& plan, int64_t together) const {
  const MemoryPtr& from = product_.out.memory;
  const double each = instructions_.cost_of_leaving(from, together);
  const size_t along = plan.along_rows();
  if (!plan.ragged(along) || line_bytes_ == 0) return each;
  const double row = static_cast<double>(bytes_of(product_.operand) * plan.tile_of(along) *
                                         std::min(together, instructions_.tiles_taken(from)));
  return each * (1 + (row - 1) / line_bytes_);
}

// Tiles of results side by side that are finished together.
int64_t PlanCosts::results_together(const DevicePlan& plan) const {
  int64_t together = 1;
  const size_t along = plan.along_rows();
  for (size_t k = plan.sums_begin(); k < plan.order.size(); ++k) {
    const PlanLoop& l = plan.order[k];
    if (l.loop != along) continue;
    // A shorter one at the end leaves on its own.
    const bool whole = !plan.ragged(l.loop) || plan.blocks_before_last(l.loop);
    together = l.trips - (whole ? 0 : 1);
  }
  return std::max<int64_t>(1, together);
}

// Of one tile.
double PlanCosts::load_cycles(const DevicePlan& plan, const SumFactor& f,
                              const PlanOperand& o) const {
  const TransferFamily& family = instructions_.families[o.family];
  const TileArgument& tile = plan.argument_of(f);
  const double bytes = static_cast<double>(tile_bytes(tile, product_.operand));
  // A tile of more than rows and columns is loaded by several instructions.
  double parts = 1;
  for (size_t d = 0; d + 2 < tile.loops.size(); ++d)
    parts *= static_cast<double>(plan.mapping.tiles[static_cast<size_t>(tile.loops[d])]);
  const double each = o.grouped
                          ? cost_of(family.instructions.front()) / static_cast<double>(family.tiles)
                          : cost_of(family.alone);
  return std::max(bytes * cycles_per_byte_, parts * each);
}

// What is kept while a loop repeats is loaded in its first iteration: as far as that takes longer
// than the products of that iteration, the array waits.
double PlanCosts::first_pass_stall(const DevicePlan& plan, const SumFactor& f, const PlanOperand& o,
                                   double array, double each) const {
  // How often what is kept is loaded anew.
  double regions = 1;
  for (size_t k = 0; k + o.kept < plan.order.size(); ++k)
    regions *= static_cast<double>(plan.order[k].trips);
  for (size_t k = plan.order.size() - o.kept; k + o.spanned < plan.order.size(); ++k) {
    if (plan.concerns(f, plan.order[k])) continue;
    // Only the innermost such loop has a first pass that loads: the others find it there.
    const double pass = array / regions / static_cast<double>(plan.order[k].trips);
    const double loading = static_cast<double>(plan.tiles_of(f, o)) * each;
    return regions * std::max(0.0, loading - pass);
  }
  return 0;
}

// A made operand is computed again wherever a loop outside of those it leaves runs.
double PlanCosts::made_elements(const DevicePlan& plan, const SumFactor& f) const {
  double out = 1;
  for (const int l : plan.argument_of(f).loops)
    out *= static_cast<double>(plan.mapping.tiles[static_cast<size_t>(l)]);
  size_t left = 0;
  while (left < plan.order.size() && !plan.concerns(f, plan.order[plan.order.size() - 1 - left]) &&
         !plan.reduces(plan.order[plan.order.size() - 1 - left]))
    ++left;
  for (size_t k = 0; k + left < plan.order.size(); ++k)
    out *= static_cast<double>(plan.order[k].trips);
  return out;
}

}  // namespace exotune
