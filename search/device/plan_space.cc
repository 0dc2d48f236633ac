#include "search/device/plan_space.h"

#include <algorithm>
#include <map>

#include "search/device/plan_costs.h"

namespace exotune {

namespace {

constexpr size_t kInnerSums = 2;     // that may run inside a group of tiles
constexpr int64_t kMostPanels = 64;  // that results are cut into along one loop

// A memory is filled by whole tiles where it is a register file, else by bytes.
struct Room {
  double bytes = 0;
  double tiles = 0;  // of a register file; 0: counted in bytes
};

class Space {
 public:
  Space(const KernelSum& sum, const ProductInstruction& product,
        const DeviceInstructions& instructions, const Target& target)
      : sum_(sum),
        product_(product),
        instructions_(instructions),
        costs_(product, instructions, target) {}

  // Depth first: a mapping of the product's loops to the sum's, then a split of each loop, then an
  // order of the pieces, then how long each operand stays.
  std::vector<RankedPlan> run() {
    for (const SumMapping& m : mappings_of(sum_, product_)) {
      DevicePlan plan;
      plan.sum = &sum_;
      plan.product = &product_;
      plan.mapping = m;
      split(plan, 0, {});
    }
    return std::move(out_);
  }

  std::vector<RankedPlan> like(DevicePlan plan) {
    // Everything but what is kept how long is the given plan's.
    plan.first = plan.second = {};
    plan.rotated = 0;
    keep(plan, plan.sums_begin());
    std::vector<RankedPlan> all = std::move(out_);
    for (RankedPlan& p : rest_) all.push_back(std::move(p));
    std::stable_sort(all.begin(), all.end(), cheaper);
    return all;
  }

 private:
  static std::vector<int64_t> divisors(int64_t n, int64_t most) {
    std::vector<int64_t> out;
    for (int64_t d = 1; d <= std::min(n, most); ++d)
      if (n % d == 0) out.push_back(d);
    return out;
  }

  // In tiles. Eight where a register file does not say how many it has; sums are wider than their
  // factors, four bytes an element.
  int64_t room_for_results() const {
    const MemoryPtr& m = product_.out.memory;
    if (m->kind == MemoryKind::kRegisterFile) return m->count > 0 ? m->count : 8;
    return std::max<int64_t>(1, m->bytes / costs_.tile_bytes(product_.out, ScalarType::kI32));
  }

  // The loops of a plan by where they may stand: parts of results outermost, then panels, then
  // what is summed over, then blocks.
  struct Parts {
    std::vector<PlanLoop> whole, panels, sums, groups, blocks;
  };

  // Does the instruction itself run along this loop?
  bool is_tiled(const DevicePlan& plan, size_t k) const {
    return std::find(plan.mapping.loops.begin(), plan.mapping.loops.end(), k) !=
           plan.mapping.loops.end();
  }

  // Chooses how each kernel loop is split, then the orders.
  void split(const DevicePlan& plan, size_t k, const Parts& parts) {
    if (k == sum_.loops.size()) {
      // Every loop has been split.
      order(plan, parts);
      return;
    }
    const int64_t trips = plan.tiles_along(k);
    if (!is_tiled(plan, k)) {
      // Not in the instruction: all its trips are loops of the program, in one piece.
      Parts more = parts;
      (plan.reduces({k}) ? more.sums : more.panels).push_back({k, trips});
      split(plan, k + 1, more);
      // One tile covers it: there is no loop left.
    } else if (trips == 1) {
      split(plan, k + 1, parts);
    } else if (plan.reduces({k})) {
      Parts more = parts;
      // The most tiles that one transfer brings and that divide the trips.
      const int64_t group = divisors(trips, most_grouped()).back();
      if (group > 1 && group < trips) more.groups.push_back({k, group, LoopPart::kBlock});
      more.sums.push_back({k, group < trips ? trips / group : trips});
      split(plan, k + 1, more);
    } else {
      split_results(plan, k, trips, parts);
    }
  }

  void split_results(const DevicePlan& plan, size_t k, int64_t trips, const Parts& parts) {
    // Every product of three factors: parts of results that are finished one after the other,
    // panels within, blocks of tiles that are summed side by side.
    for (const int64_t block : divisors(trips, room_for_results()))
      for (const int64_t panel : divisors(trips / block, trips)) {
        const int64_t whole = trips / block / panel;
        if (whole > 1 && panel == 1 && block < trips) continue;  // the same as a panel alone
        // More parts mean that operands are loaded more often, for nothing.
        if (whole > kMostPanels) continue;
        Parts more = parts;
        if (whole > 1) more.whole.push_back({k, whole, LoopPart::kWhole});
        if (panel > 1)
          more.panels.push_back({k, panel, whole > 1 ? LoopPart::kPanel : LoopPart::kWhole});
        if (block > 1)
          more.blocks.push_back(
              {k, block, whole > 1 || panel > 1 ? LoopPart::kBlock : LoopPart::kWhole});
        split(plan, k + 1, more);
      }
    split_unevenly(plan, k, trips, parts);
  }

  // Where no instruction's number of tiles divides a row of results: blocks of that many, and the
  // rest.
  void split_unevenly(const DevicePlan& plan, size_t k, int64_t trips, const Parts& parts) {
    const int64_t block = instructions_.tiles_taken(product_.out.memory);
    const bool along = plan.along_rows() == k;
    if (!along || block < 2 || trips <= block || trips % block == 0) return;
    Parts more = parts;
    more.panels.push_back({k, (trips + block - 1) / block, LoopPart::kWhole});
    more.blocks.push_back({k, block, LoopPart::kBlock});
    split(plan, k + 1, more);
  }

  int64_t most_grouped() const {
    int64_t most = 1;
    // 1 where no transfer brings several tiles.
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
    // Not all n! orders: which loop is outermost or innermost decides what can be kept; the order
    // of the others hardly counts.
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

  // As the kernel has them, and with those over tiles outside: what is left inside are taps.
  std::vector<std::vector<PlanLoop>> sum_orders(const DevicePlan& plan,
                                                const std::vector<PlanLoop>& given) const {
    std::vector<PlanLoop> taps_inside = given;
    // Where a sum runs over a window's taps, keeping them inside lets neighbouring results share
    // what was loaded.
    std::stable_partition(taps_inside.begin(), taps_inside.end(),
                          [&](const PlanLoop& l) { return is_tiled(plan, l.loop); });
    std::vector<std::vector<PlanLoop>> out = {given};
    add_order(out, std::move(taps_inside));
    return out;
  }

  void order(const DevicePlan& plan, const Parts& parts) {
    for (const auto& w : variants(parts.whole))
      for (const auto& p : variants(parts.panels))
        for (const auto& r : sum_orders(plan, parts.sums))
          for (const auto& b : variants(parts.blocks)) {
            // What one transfer brings together, inside all sums or outside the innermost ones.
            for (size_t last = 0;
                 last <= (parts.groups.empty() ? 0 : std::min(r.size(), kInnerSums)); ++last) {
              DevicePlan next = plan;
              const auto middle = r.end() - static_cast<std::ptrdiff_t>(last);
              // Outermost first.
              for (const std::vector<PlanLoop>& part :
                   {w, p, {r.begin(), middle}, parts.groups, {middle, r.end()}, b})
                next.order.insert(next.order.end(), part.begin(), part.end());
              if (around_target(next)) keep(next, w.size() + p.size());
            }
          }
  }

  // Do the loops around the target's allocation stay outside of all others?
  bool around_target(const DevicePlan& plan) const {
    return std::is_partitioned(plan.order.begin(), plan.order.end(),
                               [&](const PlanLoop& l) { return l.loop < sum_.outside; });
  }

  std::vector<PlanOperand> choices(const DevicePlan& plan, const SumFactor& f,
                                   size_t family) const {
    std::vector<PlanOperand> out;
    for (const size_t spanned : spans(plan, f))
      for (const PlanOperand& o : choices(plan, f, family, spanned)) out.push_back(o);
    // Registers in turns: a load need not wait for the product before.
    for (int64_t turns = 2; turns <= 3 && is_register_file() && !plan.order.empty(); ++turns)
      if (plan.order.back().trips >= turns) out.push_back({0, family, false, 0, turns});
    return out;
  }

  // How many of the innermost loops a tile of the factor may span: each that concerns it moves the
  // tile along one of its own dimensions, by so little that one transfer still brings it.
  std::vector<size_t> spans(const DevicePlan& plan, const SumFactor& f) const {
    std::vector<size_t> out = {0};
    // What the processor makes or a constant is not read along any loop.
    if (f.made(product_) || f.idx.empty()) return out;
    // How much longer the tile has to be along each of the product's loops.
    std::map<size_t, int64_t> longer;  // by loop of the product
    for (size_t k = 0; k < plan.order.size(); ++k) {
      const PlanLoop& l = plan.order[plan.order.size() - 1 - k];
      if (!plan.concerns(f, l)) continue;
      const Sym iter = sum_.loops[l.loop].iter;
      bool moves = false;
      for (const int q : plan.argument_of(f).loops) {
        const size_t own = plan.mapping.loops[static_cast<size_t>(q)];
        if (is_tiled(plan, l.loop)) break;
        // A subscript with both iterators, as `i + r` in a convolution: the loop over r slides the
        // tile along i.
        const bool together = std::any_of(f.idx.begin(), f.idx.end(), [&](const ExprPtr& e) {
          return mentions(e, iter) && mentions(e, sum_.loops[own].iter);
        });
        if (!together) continue;
        int64_t& extra = longer[static_cast<size_t>(q)];
        // A window over `trips` places is so many elements longer.
        extra += l.trips - 1;
        moves = plan.mapping.tiles[static_cast<size_t>(q)] + extra <=
                product_.loops[static_cast<size_t>(q)].most;
      }
      // Loops further out could only be spanned through this one.
      if (!moves) break;
      out.push_back(k + 1);
    }
    return out;
  }

  // How long each operand is kept: the choices that load less than every smaller one, and with as
  // many loads the ones with most room, where loads need not wait for the last use of a tile.
  std::vector<PlanOperand> choices(const DevicePlan& plan, const SumFactor& f, size_t family,
                                   size_t spanned) const {
    std::vector<PlanOperand> out;
    const MemoryPtr& memory = plan.argument_of(f).memory;
    const int64_t each = costs_.tile_bytes(plan.argument_of(f), product_.operand);
    double least = 0, tiles = 0;
    for (size_t kept = spanned; kept <= plan.order.size(); ++kept) {
      PlanOperand o{kept, family, false, spanned};
      const double now = static_cast<double>(plan.tiles_of(f, o));
      // More is kept with every loop further out: what does not fit now never will.
      if (!fits(memory, now, each)) break;
      const double loads = PlanCosts::loads_of(plan, f, o);
      const bool roomier = !is_register_file() && now > tiles;
      if (!out.empty() && loads >= least && !roomier) continue;
      // Of those with equal loads the first two and the last stay.
      const size_t n = out.size();
      if (n > 2 && loads >= least && PlanCosts::loads_of(plan, f, out[n - 3]) <= least)
        out.pop_back();
      least = loads;
      tiles = now;
      o.grouped = can_group(plan, f, o);
      out.push_back(o);
    }
    return out;
  }

  // The innermost loop that concerns it counts tiles side by side in memory, few enough.
  bool can_group(const DevicePlan& plan, const SumFactor& f, const PlanOperand& o) const {
    const TransferFamily& family = instructions_.families[o.family];
    // Grouping is for transfers that bring several tiles at once, each as wide as the product's.
    if (family.tiles <= 1 || f.made(product_) || f.idx.empty()) return false;
    const auto last = static_cast<size_t>(plan.argument_of(f).loops.back());
    if (plan.mapping.tiles[last] < product_.loops[last].most) return false;
    for (size_t k = o.spanned; k < o.kept; ++k) {
      const PlanLoop& l = plan.order[plan.order.size() - 1 - k];
      // The same tile in each iteration; inside a sum that would repeat the transfer.
      if (!plan.concerns(f, l)) {
        if (plan.reduces(l)) return false;
        continue;
      }
      // Only the innermost part of a loop steps from tile to tile.
      if (!plan.steps_by_tile(l)) return false;
      // Side by side: the last subscript, and no tile at the end that is smaller than the others.
      return l.trips <= family.tiles && !plan.ragged(l.loop) && !plan.uneven(l.loop) &&
             mentions(f.idx.back(), sum_.loops[l.loop].iter);
    }
    return false;
  }

  bool fits(const MemoryPtr& m, double tiles, int64_t each) const {
    if (m->kind == MemoryKind::kRegisterFile) return m->count == 0 || tiles <= m->count;
    // A memory that says no size holds anything.
    return m->bytes == 0 || tiles * static_cast<double>(each) <= static_cast<double>(m->bytes);
  }

  // Does everything that shares a memory fit into it together?
  bool fits_together(const DevicePlan& plan) const {
    std::map<MemoryPtr, double> tiles, bytes;
    const auto add = [&](const TileArgument& t, int64_t n, ScalarType element) {
      tiles[t.memory] += static_cast<double>(n);
      bytes[t.memory] += static_cast<double>(n * costs_.tile_bytes(t, element));
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

  // Transfers into the memory that the product reads this factor from, of its element type. The
  // first of them is what the target's text names first.
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
        // Results in turns over the outer loops, as far as they fit: a store then need not be
        // waited for.
        for (size_t r = 0; r < outside && !is_register_file(); ++r) {
          DevicePlan wider = next;
          wider.rotated = r + 1;
          if (!fits_together(wider)) break;
          next = wider;
        }
        found.push_back({next, costs_.estimate(next)});
      }
    std::stable_sort(found.begin(), found.end(), cheaper);
    // The best of each order is measured before the second of any.
    for (size_t k = 0; k < found.size(); ++k)
      (k == 0 ? out_ : rest_).push_back(std::move(found[k]));
  }
  bool is_register_file() const { return product_.out.memory->kind == MemoryKind::kRegisterFile; }

  static bool cheaper(const RankedPlan& a, const RankedPlan& b) { return a.estimate < b.estimate; }

 public:
  // The best of each order first, then the others.
  static std::vector<RankedPlan> ranked(std::vector<RankedPlan> best, std::vector<RankedPlan> rest,
                                        size_t most) {
    std::stable_sort(best.begin(), best.end(), cheaper);
    std::stable_sort(rest.begin(), rest.end(), cheaper);
    // A quarter of the places is for second choices, where there are any.
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
  const PlanCosts costs_;
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

std::vector<RankedPlan> plans_like(const DevicePlan& plan, const DeviceInstructions& instructions,
                                   const Target& target) {
  return Space(*plan.sum, *plan.product, instructions, target).like(plan);
}

}  // namespace exotune
