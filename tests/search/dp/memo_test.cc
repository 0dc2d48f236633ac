// Properties of the memo of boxes and of the solver on it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "search/dp/dp.h"
#include "search/dp/stored_memo.h"

namespace exotune {
namespace {

struct World {
  explicit World(SpecMemo& memo, SolverOptions options = {}, DpRules rules = rules_without_copies())
      : machine(machine_of(*load_target(EXOTUNE_SOURCE_DIR "/tests/search/morello_avx2", {}))),
        space(machine, rules, kinds, layouts),
        solver(space, memo, std::move(options)) {}

  static DpRules rules_without_copies() {
    DpRules rules = paper_rules();
    rules.relayout = Relayout::kNever;
    return rules;
  }

  // A product with each operand in the given level, by number.
  Spec matmul(uint32_t m, uint32_t k, uint32_t n, std::array<int, 3> levels = {3, 3, 3}) {
    const ScalarType t = ScalarType::kI32;
    const Subscript i{{0, 1}}, p{{1, 1}}, j{{2, 1}};
    const SpecKind kind{"+= $0 * $1",         true,
                        {false, true, false}, {{t, {i, p}}, {t, {p, j}}, {t, {i, j}}},
                        {{0, 1}, {1, 0}},     "0"};
    Spec spec;
    spec.kind = static_cast<uint16_t>(kinds.id(kind));
    spec.extents = {m, k, n};
    for (int o = 0; o < 3; ++o) {
      const OperandShape shape = operand_shape(kind.operands[o], spec.extents.data());
      spec.operands[o].level = static_cast<uint8_t>(levels[o]);
      if (machine.levels[levels[o]].layouts)
        spec.operands[o].layout = layouts.id(TensorLayout::row_major(shape));
    }
    return spec;
  }

  SpecKinds kinds;
  LayoutPool layouts;
  DpMachine machine;
  ActionSpace space;
  SpecSolver solver;
};

// Limits of registers and lines, from none to more than these Specs can use.
Limits random_limits(std::mt19937& random, const Limits& all) {
  Limits out;
  for (int i = 0; i < kMaxLevels; ++i)
    out.codes[i] = static_cast<uint8_t>(random() % (all.codes[i] + 1));
  return out;
}

TEST(DpMemo, boxes_agree_with_a_plain_map_at_every_point) {
  std::mt19937 random(7);
  BoxMemo boxes;
  World fast(boxes);
  for (int round = 0; round < 60; ++round) {
    PointMemo points;
    SolverOptions slow;
    slow.prune = false;
    slow.widest_limits_first = false;
    World plain(points, slow);
    const uint32_t m = 1 + random() % 3, k = 1 + random() % 2, n = 1 + random() % 3;
    const std::array<int, 3> levels{2 + static_cast<int>(random() % 2), 2,
                                    2 + static_cast<int>(random() % 2)};
    const Limits limits = random_limits(random, fast.space.codes().all());
    const MemoValue expected = *plain.solver.solve(plain.matmul(m, k, n, levels), limits);
    const MemoValue got = *fast.solver.solve(fast.matmul(m, k, n, levels), limits);
    ASSERT_EQ(got.best.empty(), expected.best.empty());
    if (got.best.empty()) continue;
    EXPECT_EQ(got.best[0].cost.units, expected.best[0].cost.units);
    EXPECT_EQ(got.best[0].cost.peak, expected.best[0].cost.peak);
  }
}

TEST(DpMemo, what_is_put_is_found_in_the_whole_box_and_nowhere_else) {
  BoxMemo memo;
  Spec spec;
  Alternative a;
  a.cost.units = 10;
  a.cost.peak.codes = {1, 2, 3};
  Limits high;
  high.codes = {4, 4, 4};
  memo.put(spec, high, {{a}, kNoCost});
  for (uint8_t x = 0; x <= 5; ++x)
    for (uint8_t y = 0; y <= 5; ++y)
      for (uint8_t z = 0; z <= 5; ++z) {
        Limits at;
        at.codes = {x, y, z};
        const bool inside = x >= 1 && x <= 4 && y >= 2 && y <= 4 && z >= 3 && z <= 4;
        EXPECT_EQ(memo.find(spec, at, kNoCost, 1, nullptr) != nullptr, inside);
      }
}

TEST(DpMemo, neighbouring_boxes_of_one_value_become_one) {
  BoxMemo memo;
  Spec spec;
  Limits high;
  high.codes = {2};
  memo.put(spec, high, {{}, kNoCost});  // infeasible up to 2
  high.codes = {4};
  memo.put(spec, high, {{}, kNoCost});
  EXPECT_EQ(memo.boxes(spec)->size(), 1u);
  EXPECT_EQ(memo.statistics().values, 1);
  EXPECT_EQ(memo.statistics().points, 5);  // limits 0 to 4
}

TEST(DpMemo, an_answer_below_a_bound_does_not_answer_above_it) {
  BoxMemo memo;
  Spec spec;
  Limits all;
  memo.put(spec, all, {{}, 50});  // nothing costs 50 or less
  EXPECT_NE(memo.find(spec, all, 50, 1, nullptr), nullptr);
  EXPECT_EQ(memo.find(spec, all, 51, 1, nullptr), nullptr);
}

TEST(DpSolver, more_memory_is_never_worse) {
  std::mt19937 random(11);
  BoxMemo memo;
  World world(memo);
  for (int round = 0; round < 40; ++round) {
    const Spec spec = world.matmul(2, 2, 4);
    const Limits small = random_limits(random, world.space.codes().all());
    Limits large = small;
    const int level = static_cast<int>(random() % 4);
    large.codes[level] = world.space.codes().all().codes[level];
    const MemoValue with_less = *world.solver.solve(spec, small),
                    with_more = *world.solver.solve(spec, large);
    if (with_less.best.empty()) continue;
    ASSERT_FALSE(with_more.best.empty());
    EXPECT_LE(with_more.best[0].cost.units, with_less.best[0].cost.units);
  }
}

TEST(DpSolver, solving_again_at_the_reported_peak_gives_the_same) {
  BoxMemo memo, fresh;
  World first(memo), second(fresh);
  for (const uint32_t n : {1u, 2u, 4u, 8u}) {
    const MemoValue value = *first.solver.solve(first.matmul(n, 2, n));
    const MemoValue again = *second.solver.solve(second.matmul(n, 2, n), value.best[0].cost.peak);
    ASSERT_FALSE(again.best.empty());
    EXPECT_EQ(again.best[0].cost.units, value.best[0].cost.units);
  }
}

TEST(DpSolver, rebuilt_plans_cost_what_was_stored) {
  BoxMemo memo;
  SolverOptions options;
  options.k = 8;
  World world(memo, options);
  const Spec spec = world.matmul(4, 3, 8);
  const MemoValue value = *world.solver.solve(spec);
  ASSERT_EQ(value.best.size(), 8u);
  for (int rank = 0; rank < 8; ++rank) {
    const PlanNode plan = world.solver.plan(spec, world.space.codes().all(), rank);
    EXPECT_EQ(cost_of(plan, world.space), value.best[rank].cost) << str(plan, world.space);
    EXPECT_LE(value.best[0].cost.units, value.best[rank].cost.units);
  }
}

TEST(DpSolver, the_best_of_eight_is_the_best_of_one) {
  BoxMemo one_memo, eight_memo;
  SolverOptions eight;
  eight.k = 8;
  World one(one_memo), many(eight_memo, eight);
  for (const uint32_t n : {2u, 3u, 5u})
    EXPECT_EQ(one.solver.solve(one.matmul(n, n, n))->best[0].cost.units,
              many.solver.solve(many.matmul(n, n, n))->best[0].cost.units);
}

TEST(DpSolver, an_interrupted_run_answers_nothing_and_goes_on_later) {
  BoxMemo memo;
  bool stop = true;
  SolverOptions options;
  options.interrupted = [&] { return stop && memo.statistics().specs > 0; };
  World world(memo, options);
  const Spec spec = world.matmul(128, 128, 128);
  EXPECT_FALSE(world.solver.solve(spec).has_value());
  EXPECT_GT(memo.statistics().specs, 0);
  stop = false;
  EXPECT_TRUE(world.solver.solve(spec).has_value());
}

class DpStoredMemo : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("exotune_memo_" + std::to_string(::getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Solves with the stored memo and says how many Specs had to be worked out.
  int64_t solve(const std::string& identity, int64_t* cost) {
    SpecKinds kinds;
    LayoutPool layouts;
    const DpMachine machine =
        machine_of(*load_target(EXOTUNE_SOURCE_DIR "/tests/search/morello_avx2", {}));
    StoredMemo memo((folder_ / "memo.db").string(), identity, kinds, layouts);
    ActionSpace space(machine, World::rules_without_copies(), kinds, layouts);
    SpecSolver solver(space, memo);
    BoxMemo unused;
    World world(unused);
    const Spec pattern = world.matmul(4, 4, 8);
    Spec spec = pattern;
    spec.kind = static_cast<uint16_t>(kinds.id(world.kinds.at(pattern.kind)));
    for (int o = 0; o < 3; ++o)
      spec.operands[o].layout = layouts.id(world.layouts.at(pattern.operands[o].layout));
    const PlanNode plan = solver.plan(spec, space.codes().all());
    *cost = plan.cost.units;
    EXPECT_EQ(cost_of(plan, space), plan.cost);
    memo.save();
    return solver.statistics().solved;
  }

  std::filesystem::path folder_;
};

TEST_F(DpStoredMemo, what_was_solved_is_not_solved_again) {
  int64_t first = 0, second = 0;
  EXPECT_GT(solve("a", &first), 50);
  EXPECT_EQ(solve("a", &second), 0);
  EXPECT_EQ(first, second);
}

TEST_F(DpStoredMemo, a_stale_memo_is_not_read) {
  int64_t first = 0, second = 0;
  const int64_t solved = solve("a", &first);
  EXPECT_EQ(solve("b", &second), solved);
  EXPECT_EQ(first, second);
}

// Two processes, which both began with an empty file and numbered their kinds in their own order.
TEST_F(DpStoredMemo, one_of_two_that_numbered_differently_keeps_its_work_to_itself) {
  const std::string file = (folder_ / "memo.db").string();
  SpecKinds ours, theirs, later;
  LayoutPool layouts, their_layouts, later_layouts;
  StoredMemo first(file, "a", ours, layouts), second(file, "a", theirs, their_layouts);
  Spec spec{};
  spec.kind = static_cast<uint16_t>(ours.move(1, ScalarType::kF32));
  ASSERT_EQ(theirs.move(2, ScalarType::kF32), spec.kind);
  first.put(spec, Limits{}, MemoValue{{}, 7});
  second.put(spec, Limits{}, MemoValue{{}, 8});
  first.save();
  second.save();
  StoredMemo third(file, "a", later, later_layouts);
  EXPECT_EQ(later.at(spec.kind), ours.at(spec.kind));
  const MemoValue* found = third.find(spec, Limits{}, 7, 1, nullptr);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->complete_to, 7);
}

TEST_F(DpStoredMemo, what_others_saved_is_read_after_a_save) {
  const std::string file = (folder_ / "memo.db").string();
  SpecKinds ours, theirs;
  LayoutPool layouts, their_layouts;
  StoredMemo first(file, "a", ours, layouts), second(file, "a", theirs, their_layouts);
  Spec spec{};
  spec.kind = static_cast<uint16_t>(ours.move(1, ScalarType::kF32));
  first.put(spec, Limits{}, MemoValue{{}, 7});
  first.save();
  EXPECT_EQ(second.find(spec, Limits{}, 7, 1, nullptr), nullptr);
  second.save();
  EXPECT_EQ(theirs.size(), ours.size());
  EXPECT_NE(second.find(spec, Limits{}, 7, 1, nullptr), nullptr);
}

TEST(DpMemo, its_identity_depends_on_target_rules_and_plans) {
  DpMachine machine = machine_of(*load_target(EXOTUNE_SOURCE_DIR "/tests/search/morello_avx2", {}));
  const std::string id = memo_identity(machine, paper_rules(), 1);
  EXPECT_EQ(id, memo_identity(machine, paper_rules(), 1));
  EXPECT_NE(id, memo_identity(machine, paper_rules(), 8));
  EXPECT_NE(id, memo_identity(machine, search_rules(), 1));
  machine.hash += "x";
  EXPECT_NE(id, memo_identity(machine, paper_rules(), 1));
}

}  // namespace
}  // namespace exotune
