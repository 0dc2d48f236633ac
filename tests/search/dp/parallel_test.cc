// Parallel tiles: tiles of a loop shared out to threads.
#include <gtest/gtest.h>

#include "search/dp/dp.h"
#include "search/dp/relaxed_floor.h"
#include "search/dp/stored_memo.h"
#include "tests/search/dp/matmul_spec.h"

namespace exotune {
namespace {

enum Loop { kRows, kColumns, kDepth };

struct World {
  World(DpMachine m, const DpRules& rules, SolverOptions options = {})
      : machine(std::move(m)),
        space(machine, rules, kinds, layouts),
        solver(space, memo, std::move(options)) {}

  Spec matmul(uint32_t m, uint32_t n, uint32_t k, ScalarType t = ScalarType::kF32) {
    Spec spec = matmul_spec(kinds, layouts, machine, {m, n, k}, t, {kRows, kColumns, kDepth});
    spec.threads = Threads::kMayStart;
    return spec;
  }
  PlanNode plan(const Spec& spec) {
    solver.solve(spec);
    return solver.plan(spec, space.codes().all());
  }
  int64_t cost(const Spec& spec) { return solver.cost(spec, space.codes().all()).value(); }

  SpecKinds kinds;
  LayoutPool layouts;
  DpMachine machine;
  ActionSpace space;
  BoxMemo memo;
  SpecSolver solver;
};

DpMachine avx512(int threads) {
  return machine_of(*load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"}), {}, threads);
}

// The paper's machine with threads that cost little, so that small products use them.
DpMachine paper(int threads, int64_t start = 3, int64_t crowd = 1) {
  DpMachine m =
      machine_of(*load_target(EXOTUNE_SOURCE_DIR "/tests/search/morello_avx2", {}), {}, threads);
  m.thread_start = start;
  m.thread_trip = 1;
  m.levels.back().cost_beside = crowd * m.levels.back().cost;
  return m;
}

DpRules parallel_paper_rules() {
  DpRules rules = paper_rules();
  rules.relayout = Relayout::kNever;
  rules.parallel_tiles = true;
  return rules;
}

const PlanNode* parallel_tile(const PlanNode& plan) {
  if (plan.action.kind == ActionKind::kParallelTile) return &plan;
  for (const PlanNode& part : plan.parts)
    if (const PlanNode* found = parallel_tile(part)) return found;
  return nullptr;
}

TEST(DpParallel, two_threads_cost_between_half_and_all_of_one) {
  for (const auto& [m, n, k] : {std::array{128u, 128u, 128u}, {96u, 160u, 64u}, {250u, 64u, 40u}}) {
    World one(avx512(1), search_rules()), two(avx512(2), search_rules());
    const int64_t alone = one.cost(one.matmul(m, n, k)), both = two.cost(two.matmul(m, n, k));
    EXPECT_LE(both, alone);
    EXPECT_GE(2 * both, alone);
  }
}

TEST(DpParallel, threads_pay_off_in_large_products_only) {
  World small(avx512(2), search_rules()), large(avx512(2), search_rules());
  EXPECT_EQ(parallel_tile(small.plan(small.matmul(16, 16, 16))), nullptr);
  EXPECT_NE(parallel_tile(large.plan(large.matmul(256, 256, 256))), nullptr);
}

// loop = ceil(trips / threads) * body + start + what a trip costs; a boundary is not shared out.
TEST(DpParallel, a_parallel_tile_costs_its_busiest_thread) {
  World world(paper(4, 5), parallel_paper_rules());
  Spec spec = world.matmul(7, 1, 1, ScalarType::kI32);
  world.space.canonicalise(spec);
  int seen = 0;
  world.space.expand(spec, world.space.codes().all(), [&](const Expansion& e) {
    if (e.action.kind != ActionKind::kParallelTile) return;
    ++seen;
    const int64_t trips = 7 / e.action.size, rounds = (trips + 3) / 4;
    EXPECT_EQ(e.part[0].times, rounds);
    EXPECT_EQ(e.own_cost, 5 + rounds);
    EXPECT_EQ(e.at_once, std::min<int64_t>(4, trips));
    EXPECT_EQ(e.parts, 7 % e.action.size == 0 ? 1 : 2);
    for (int i = 0; i < e.parts; ++i) EXPECT_NE(e.part[i].spec.threads, Threads::kMayStart);
  });
  EXPECT_EQ(seen, 2);  // one row at a time, two rows at a time
}

TEST(DpParallel, sums_are_not_shared_out) {
  World world(avx512(4), search_rules());
  Spec spec = world.matmul(64, 64, 64);
  world.space.canonicalise(spec);
  world.space.expand(spec, world.space.codes().all(), [&](const Expansion& e) {
    if (e.action.kind == ActionKind::kParallelTile) {
      EXPECT_NE(e.action.index, kDepth);
    }
  });
}

TEST(DpParallel, without_the_rule_a_machine_of_threads_is_serial) {
  DpRules rules = search_rules();
  rules.parallel_tiles = false;
  World one(avx512(1), search_rules()), off(avx512(2), rules);
  EXPECT_EQ(off.cost(off.matmul(256, 256, 64)), one.cost(one.matmul(256, 256, 64)));
}

// Threads at once have half of what all see, and all of what each has.
TEST(DpParallel, shared_levels_are_divided_and_multiplied_back) {
  World world(avx512(2), search_rules());
  const DpMachine& m = world.machine;
  EXPECT_TRUE(m.levels[m.level("DRAM")].shared && m.levels[m.level("L3")].shared);
  EXPECT_FALSE(m.levels[m.level("L2")].shared);
  const Spec spec = world.matmul(512, 512, 512);
  const PlanNode plan = world.plan(spec);
  const PlanNode* tile = parallel_tile(plan);
  ASSERT_NE(tile, nullptr);
  const LimitCodes& codes = world.space.codes();
  Limits inside;
  world.space.expand(tile->spec, tile->limits, [&](const Expansion& e) {
    if (e.action == tile->action) inside = e.part[0].limits;
  });
  for (int level = 0; level <= m.outermost(); ++level) {
    const int threads = m.levels[level].shared ? 2 : 1;
    EXPECT_LE(threads * codes.amount(level, inside.codes[level]),
              codes.amount(level, tile->limits.codes[level]));
    EXPECT_LE(threads * codes.amount(level, tile->parts[0].cost.peak.codes[level]),
              codes.amount(level, tile->cost.peak.codes[level]));
  }
  EXPECT_EQ(cost_of(plan, world.space), plan.cost);
}

TEST(DpParallel, a_crowded_memory_costs_more_never_less) {
  World even(paper(2), parallel_paper_rules()), crowded(paper(2, 3, 2), parallel_paper_rules()),
      one(paper(1), parallel_paper_rules());
  const auto cost = [](World& w) { return w.cost(w.matmul(4, 4, 4, ScalarType::kI32)); };
  EXPECT_LT(cost(even), cost(crowded));
  EXPECT_LE(cost(crowded), cost(one));
}

TEST(DpParallel, pruning_changes_no_optimum) {
  for (const int64_t crowd : {1, 2})
    for (const auto& [m, n, k] : {std::array{2u, 2u, 2u}, {3u, 2u, 1u}, {1u, 4u, 1u}}) {
      SolverOptions exhaustive, simple;
      exhaustive.prune = false;
      simple.relaxed_floor = false;
      World plain(paper(2, 3, crowd), parallel_paper_rules(), exhaustive),
          bounded(paper(2, 3, crowd), parallel_paper_rules(), simple),
          pruned(paper(2, 3, crowd), parallel_paper_rules());
      const int64_t expected = plain.cost(plain.matmul(m, n, k, ScalarType::kI32));
      EXPECT_EQ(bounded.cost(bounded.matmul(m, n, k, ScalarType::kI32)), expected);
      EXPECT_EQ(pruned.cost(pruned.matmul(m, n, k, ScalarType::kI32)), expected);
    }
}

TEST(DpParallel, floors_are_below_every_optimum) {
  SolverOptions exhaustive;
  exhaustive.prune = false;
  World plain(paper(2, 3, 2), parallel_paper_rules(), exhaustive);
  plain.cost(plain.matmul(4, 2, 2, ScalarType::kI32));
  RelaxedFloor floor(plain.space, {});
  int may_start = 0, beside = 0;
  plain.memo.visit([&](const Spec& spec, const BoxMemo::Box& box, const MemoValue& value) {
    const int64_t optimum = value.best.empty() ? kNoCost : value.best.front().cost.units;
    EXPECT_LE(floor.of(spec, box.high).value(), optimum);
    EXPECT_LE(plain.space.floor(spec), optimum);
    may_start += spec.threads == Threads::kMayStart;
    beside += spec.threads == Threads::kBeside;
  });
  EXPECT_GE(may_start, 10);
  EXPECT_GE(beside, 10);
}

// Boxes hold although a parallel tile divides limits: with less memory, down to the peak, the same.
TEST(DpParallel, solving_again_with_what_was_used_costs_the_same) {
  World world(avx512(2), search_rules());
  const Spec spec = world.matmul(256, 192, 128);
  const PlanNode plan = world.plan(spec);
  World again(avx512(2), search_rules());
  const std::optional<MemoValue> value =
      again.solver.solve(again.matmul(256, 192, 128), plan.cost.peak);
  ASSERT_FALSE(value->best.empty());
  EXPECT_EQ(value->best.front().cost.units, plan.cost.units);
}

TEST(DpParallel, a_stored_memo_is_for_one_number_of_threads) {
  EXPECT_NE(memo_identity(avx512(1), search_rules(), 8),
            memo_identity(avx512(2), search_rules(), 8));
  DpRules off = search_rules();
  off.parallel_tiles = false;
  EXPECT_NE(memo_identity(avx512(2), off, 8), memo_identity(avx512(2), search_rules(), 8));
}

}  // namespace
}  // namespace exotune
