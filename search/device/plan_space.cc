#include "search/device/plan_space.h"

#include <algorithm>
#include <map>

namespace exotune {

namespace {

constexpr double kCyclesPerElement = 6;  // that the processor itself copies or computes
constexpr double kCyclesPerCommand = 4;  // to issue it

struct Room {
  double bytes = 0;
  double tiles = 0;  // of a register file; 0: counted in bytes
};

class Space {
 public:
  Space(const KernelSum& sum, const ProductInstruction& product,
        const DeviceInstructions& instructions, const Target& target)
      : sum_(sum), product_(product), instructions_(instructions), target_(target) {
    for (const TargetLevel& l : target.levels)
      if (l.memory && l.memory->kind == MemoryKind::kHeap && l.line_bytes > 0)
        cycles_per_byte_ = l.cost_per_line / l.line_bytes;
  }

  std::vector<RankedPlan> run() {
    for (const SumMapping& m : mappings_of(sum_, product_)) {
      DevicePlan plan;
      plan.sum = &sum_;
      plan.product = &product_;
      plan.mapping = m;
      split(plan, 0, {}, {});
    }
    return std::move(out_);
  }

 private:
  static std::vector<int64_t> divisors(int64_t n, int64_t most) {
    std::vector<int64_t> out;
    for (int64_t d = 1; d <= std::min(n, most); ++d)
      if (n % d == 0) out.push_back(d);
    return out;
  }

  int64_t room_for_results() const {
    const MemoryPtr& m = product_.out.memory;
    if (m->kind == MemoryKind::kRegisterFile) return m->count > 0 ? m->count : 8;
    return std::max<int64_t>(1, m->bytes / tile_bytes(product_.out, ScalarType::kI32));
  }

  int64_t tile_bytes(const TileArgument& t, ScalarType element) const {
    int64_t out = bytes_of(element);
    for (const int l : t.loops) out *= product_.loops[static_cast<size_t>(l)].most;
    return out;
  }

  // Chooses how each kernel loop is split, then the orders.
  void split(const DevicePlan& plan, size_t k, std::vector<PlanLoop> outer,
             std::vector<PlanLoop> inner) {
    if (k == sum_.loops.size()) {
      order(plan, outer, inner);
      return;
    }
    const SumLoop& l = sum_.loops[k];
    const bool tiled =
        plan.tile_of(k) > 1 || std::find(plan.mapping.loops.begin(), plan.mapping.loops.end(), k) !=
                                   plan.mapping.loops.end();
    const int64_t trips = l.extent / plan.tile_of(k);
    if (trips == 1 && tiled) return split(plan, k + 1, outer, inner);
    const int64_t most = !tiled ? 1 : l.reduction ? most_grouped() : room_for_results();
    for (const int64_t b : divisors(trips, most)) {
      if (l.reduction && most > 1 && b != divisors(trips, most).back()) continue;
      if (b > 1 && b < trips) {
        auto more = outer, within = inner;
        more.push_back({k, trips / b, false});
        within.push_back({k, b, true});
        split(plan, k + 1, more, within);
      } else {
        auto more = outer, within = inner;
        (b == 1 || l.reduction ? more : within).push_back({k, trips, false});
        split(plan, k + 1, more, within);
      }
    }
  }

  int64_t most_grouped() const {
    int64_t most = 1;
    for (const TransferFamily& f : instructions_.families) most = std::max(most, f.tiles);
    return most;
  }

  static void add_order(std::vector<std::vector<PlanLoop>>& orders, std::vector<PlanLoop> one) {
    if (std::find(orders.begin(), orders.end(), one) == orders.end())
      orders.push_back(std::move(one));
  }
  // The given order, and those with one loop moved to the front or the back.
  static std::vector<std::vector<PlanLoop>> variants(const std::vector<PlanLoop>& given) {
    std::vector<std::vector<PlanLoop>> out = {given};
    for (size_t k = 0; k < given.size(); ++k) {
      std::vector<PlanLoop> rest = given;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      std::vector<PlanLoop> first = rest, last = rest;
      first.insert(first.begin(), given[k]);
      last.push_back(given[k]);
      add_order(out, first);
      add_order(out, last);
    }
    return out;
  }

  void order(const DevicePlan& plan, const std::vector<PlanLoop>& outer,
             const std::vector<PlanLoop>& inner) {
    std::vector<PlanLoop> parallel, reductions, blocks, parts;
    for (const PlanLoop& l : outer) (plan.reduces(l) ? reductions : parallel).push_back(l);
    for (const PlanLoop& l : inner) (plan.reduces(l) ? parts : blocks).push_back(l);
    for (const auto& p : variants(parallel))
      for (const auto& r : variants(reductions))
        for (const auto& b : variants(blocks)) {
          DevicePlan next = plan;
          next.order = p;
          next.order.insert(next.order.end(), r.begin(), r.end());
          next.order.insert(next.order.end(), parts.begin(), parts.end());
          next.order.insert(next.order.end(), b.begin(), b.end());
          keep(next, p.size());
        }
  }

  // How long each operand is kept: the choices that load less than every smaller one.
  std::vector<PlanOperand> choices(const DevicePlan& plan, const SumFactor& f,
                                   size_t family) const {
    std::vector<PlanOperand> out;
    double least = 0;
    for (size_t kept = 0; kept <= plan.order.size(); ++kept) {
      PlanOperand o{kept, family, false};
      if (!fits(plan.argument_of(f).memory, static_cast<double>(plan.tiles_of(f, o)),
                tile_bytes(plan.argument_of(f), product_.operand)))
        break;
      const double loads = loads_of(plan, f, o);
      if (!out.empty() && loads >= least) continue;
      least = loads;
      o.grouped = can_group(plan, f, o);
      out.push_back(o);
    }
    return out;
  }

  static double loads_of(const DevicePlan& plan, const SumFactor& f, const PlanOperand& o) {
    double out = static_cast<double>(plan.tiles_of(f, o));
    for (size_t k = 0; k + o.kept < plan.order.size(); ++k)
      out *= static_cast<double>(plan.order[k].trips);
    return out;
  }

  // The innermost loop that concerns it counts tiles side by side in memory, few enough.
  bool can_group(const DevicePlan& plan, const SumFactor& f, const PlanOperand& o) const {
    const TransferFamily& family = instructions_.families[o.family];
    if (family.tiles <= 1 || f.made(product_) || f.idx.empty()) return false;
    for (size_t k = 0; k < o.kept; ++k) {
      const PlanLoop& l = plan.order[plan.order.size() - 1 - k];
      if (!plan.concerns(f, l)) {
        if (plan.reduces(l)) return false;
        continue;
      }
      return l.trips <= family.tiles && mentions(f.idx.back(), sum_.loops[l.loop].iter);
    }
    return false;
  }

  bool fits(const MemoryPtr& m, double tiles, int64_t each) const {
    if (m->kind == MemoryKind::kRegisterFile) return m->count == 0 || tiles <= m->count;
    return m->bytes == 0 || tiles * static_cast<double>(each) <= static_cast<double>(m->bytes);
  }

  // Does everything that shares a memory fit into it together?
  bool fits_together(const DevicePlan& plan) const {
    std::map<MemoryPtr, double> tiles, bytes;
    const auto add = [&](const TileArgument& t, int64_t n, ScalarType element) {
      tiles[t.memory] += static_cast<double>(n);
      bytes[t.memory] += static_cast<double>(n * tile_bytes(t, element));
    };
    add(product_.out, plan.result_tiles(), ScalarType::kI32);
    add(plan.argument_of(sum_.first), plan.tiles_of(sum_.first, plan.first), product_.operand);
    add(plan.argument_of(sum_.second), plan.tiles_of(sum_.second, plan.second), product_.operand);
    return std::all_of(tiles.begin(), tiles.end(), [&](const auto& used) {
      const MemoryPtr& m = used.first;
      if (m->kind == MemoryKind::kRegisterFile) return m->count == 0 || used.second <= m->count;
      return m->bytes == 0 || bytes.at(m) <= static_cast<double>(m->bytes);
    });
  }

  std::vector<size_t> families_for(const DevicePlan& plan, const SumFactor& f) const {
    std::vector<size_t> out;
    for (size_t k = 0; k < instructions_.families.size(); ++k)
      if (instructions_.families[k].memory == plan.argument_of(f).memory &&
          instructions_.families[k].element == product_.operand)
        out.push_back(k);
    return out;
  }

  void keep(const DevicePlan& plan, size_t outside) {
    const std::vector<size_t> a = families_for(plan, sum_.first),
                              b = families_for(plan, sum_.second);
    if (a.empty() || b.empty()) return;
    const size_t other =
        b.size() > 1 ? b[1] : b[0];  // settings of its own where there are two sets
    std::vector<RankedPlan> found;
    for (const PlanOperand& first : choices(plan, sum_.first, a[0]))
      for (const PlanOperand& second : choices(plan, sum_.second, other)) {
        DevicePlan next = plan;
        next.first = first;
        next.second = second;
        if (!fits_together(next)) continue;
        for (size_t r = 0; r < outside && !is_register_file(); ++r) {
          DevicePlan wider = next;
          wider.rotated = r + 1;
          if (!fits_together(wider)) break;
          next = wider;
        }
        found.push_back({next, estimate(next)});
      }
    std::stable_sort(found.begin(), found.end(), cheaper);
    for (size_t k = 0; k < found.size(); ++k)
      (k == 0 ? out_ : rest_).push_back(std::move(found[k]));
  }
  bool is_register_file() const { return product_.out.memory->kind == MemoryKind::kRegisterFile; }

  static double cost_of(const ProcPtr& p) { return p->instr ? p->instr->cost : 1; }

  double estimate(const DevicePlan& plan) const {
    double products = 1, results = 1;
    for (const PlanLoop& l : plan.order) {
      products *= static_cast<double>(l.trips);
      if (!plan.reduces(l)) results *= static_cast<double>(l.trips);
    }
    const double array = products * cost_of(product_.proc);
    double transfers = 0, commands = products + 2 * results, processor = 0;
    for (const auto& [f, o] :
         {std::pair(&sum_.first, &plan.first), std::pair(&sum_.second, &plan.second)}) {
      const TransferFamily& family = instructions_.families[o->family];
      const double loads = loads_of(plan, *f, *o);
      const double bytes = static_cast<double>(tile_bytes(plan.argument_of(*f), product_.operand));
      const double alone = cost_of(family.instructions.front());
      transfers += loads * std::max(bytes * cycles_per_byte_, o->grouped ? 0 : alone);
      commands += loads / (o->grouped ? 4 : 1);
      if (f->made(product_)) processor += made_elements(plan, *f) * kCyclesPerElement;
    }
    const double result_bytes = static_cast<double>(tile_bytes(product_.out, product_.operand));
    transfers += results * result_bytes * cycles_per_byte_;
    processor += commands * kCyclesPerCommand;
    return std::max({array, transfers, processor}) + 0.2 * (array + transfers + processor);
  }

  // A made operand is computed again wherever a loop outside of those it leaves runs.
  double made_elements(const DevicePlan& plan, const SumFactor& f) const {
    double out = 1;
    for (const int l : plan.argument_of(f).loops)
      out *= static_cast<double>(plan.mapping.tiles[static_cast<size_t>(l)]);
    size_t left = 0;
    while (left < plan.order.size() &&
           !plan.concerns(f, plan.order[plan.order.size() - 1 - left]) &&
           !plan.reduces(plan.order[plan.order.size() - 1 - left]))
      ++left;
    for (size_t k = 0; k + left < plan.order.size(); ++k)
      out *= static_cast<double>(plan.order[k].trips);
    return out;
  }

  static bool cheaper(const RankedPlan& a, const RankedPlan& b) { return a.estimate < b.estimate; }

 public:
  // The best of each order first, then the others.
  static std::vector<RankedPlan> ranked(std::vector<RankedPlan> best, std::vector<RankedPlan> rest,
                                        size_t most) {
    std::stable_sort(best.begin(), best.end(), cheaper);
    std::stable_sort(rest.begin(), rest.end(), cheaper);
    const size_t share = std::min(best.size(), most - std::min(rest.size(), most / 4));
    best.resize(share);
    for (RankedPlan& p : rest)
      if (best.size() < most) best.push_back(std::move(p));
    return best;
  }
  std::vector<RankedPlan> take_rest() { return std::move(rest_); }

 private:
  const KernelSum& sum_;
  const ProductInstruction& product_;
  const DeviceInstructions& instructions_;
  const Target& target_;
  double cycles_per_byte_ = 0.25;
  std::vector<RankedPlan> out_, rest_;
};

}  // namespace

std::vector<RankedPlan> plans_of(const KernelSum& sum, const ProductInstruction& product,
                                 const DeviceInstructions& instructions, const Target& target,
                                 size_t most) {
  Space space(sum, product, instructions, target);
  std::vector<RankedPlan> best = space.run();
  return Space::ranked(std::move(best), space.take_rest(), most);
}

}  // namespace exotune
