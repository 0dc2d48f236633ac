// The dynamic program as the tuner asks it: plans as schedules that differ, a memo that is kept,
// time that runs out.
#include "search/dp/dp_plans.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/library/script.h"
#include "tests/search/machines.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

namespace fs = std::filesystem;

Module matmul(int m, int n, int k) {
  const auto text = [](int v) { return std::to_string(v); };
  return parse_module("@proc\ndef matmul(A: f32[" + text(m) + ", " + text(k) + "], B: f32[" +
                          text(k) + ", " + text(n) + "], C: f32[" + text(m) + ", " + text(n) +
                          "]):\n    for i in seq(0, " + text(m) + "):\n        for j in seq(0, " +
                          text(n) + "):\n            for k in seq(0, " + text(k) +
                          "):\n                C[i, j] += A[i, k] * B[k, j]\n",
                      "matmul.exo");
}

class MemoFile {
 public:
  explicit MemoFile(const std::string& name)
      : path_(fs::path(testing::TempDir()) / ("dp_plans_" + name)) {
    remove();
  }
  ~MemoFile() { remove(); }
  std::string str() const { return path_.string(); }

 private:
  void remove() const {
    for (const auto& entry : fs::directory_iterator(path_.parent_path()))
      if (entry.path().filename().string().starts_with(path_.filename().string()))
        fs::remove(entry.path());
  }
  fs::path path_;
};

TEST(DpPlans, differ_as_schedules_and_mean_the_same) {
  const TargetPtr target = avx512();
  for (const auto& [m, n, k] : {std::tuple{48, 48, 48}, {63, 42, 97}, {1, 64, 64}, {31, 21, 49}}) {
    const Module module = matmul(m, n, k);
    const ProcPtr before = module.procs.front();
    const DpPlans plans = dp_plans(*before, *target, {.plans = 8});
    ASSERT_EQ(plans.outcome, DpOutcome::kSolved);
    EXPECT_GE(plans.plans.size(), 2u);
    std::set<std::string> seen;
    int applied = 0;
    for (const DpPlan& plan : plans.plans) {
      EXPECT_TRUE(seen.insert(key_of(plan.steps)).second);
      std::string script = "p = matmul\n";
      script += key_of(plan.steps);
      const ProcPtr after =
          run_script(script, "s", script_environment(module, {&target->library})).proc;
      expect_same_result(before, after, script);
      ++applied;
    }
    EXPECT_EQ(applied, static_cast<int>(plans.plans.size()));
    for (size_t i = 1; i < plans.plans.size(); ++i)
      EXPECT_LE(plans.plans[0].units, plans.plans[i].units);
  }
}

// Tiles that do not divide 1000 would leave boundaries of a hundred sizes.
TEST(DpPlans, take_large_extents_for_powers_of_two) {
  const TargetPtr target = avx512();
  const DpPlans plans = dp_plans(*matmul(1000, 16, 900).procs.front(), *target, {.plans = 8});
  const DpPlans powers = dp_plans(*matmul(1024, 16, 1024).procs.front(), *target, {.plans = 8});
  ASSERT_EQ(plans.outcome, DpOutcome::kSolved);
  EXPECT_EQ(plans.solved, powers.solved);
  EXPECT_FALSE(plans.dividing);
  EXPECT_TRUE(powers.dividing);
  // The sum is cut evenly: each rest is code of its own.
  const std::regex outermost("block_loop\\(p, 'k', (\\d+), \\['ko\\d*', 'k'\\]");
  int cut = 0;
  for (const DpPlan& plan : plans.plans) {
    std::smatch found;
    const std::string text = key_of(plan.steps);
    if (!std::regex_search(text, found, outermost)) continue;
    const int size = std::stoi(found[1]), pieces = (900 + size - 1) / size;
    EXPECT_LT(pieces * size - 900, pieces) << text;
    ++cut;
  }
  EXPECT_GT(cut, 0);
}

TEST(DpPlans, mean_the_same_where_planned_for_another_extent) {
  const TargetPtr target = avx512();
  for (const auto& [m, n, k] : {std::tuple{265, 16, 9}, {6, 16, 300}, {5, 300, 7}}) {
    const Module module = matmul(m, n, k);
    const DpPlans plans = dp_plans(*module.procs.front(), *target, {.plans = 8});
    ASSERT_EQ(plans.outcome, DpOutcome::kSolved);
    for (const DpPlan& plan : plans.plans) {
      const std::string script = "p = matmul\n" + key_of(plan.steps);
      const ProcPtr after =
          run_script(script, "s", script_environment(module, {&target->library})).proc;
      expect_same_result(module.procs.front(), after, script);
    }
  }
}

TEST(DpPlans, are_only_read_the_second_time) {
  const MemoFile file("again");
  const TargetPtr target = avx512();
  const Module module = matmul(32, 48, 40);
  const DpRequest ask{.plans = 8, .memo_file = file.str()};
  const DpPlans first = dp_plans(*module.procs.front(), *target, ask);
  const DpPlans second = dp_plans(*module.procs.front(), *target, ask);
  EXPECT_GT(first.solved, 0);
  EXPECT_EQ(first.known, 0);
  EXPECT_EQ(second.solved, 0);
  EXPECT_GT(second.known, 0);
  ASSERT_EQ(first.plans.size(), second.plans.size());
  for (size_t i = 0; i < first.plans.size(); ++i)
    EXPECT_EQ(key_of(first.plans[i].steps), key_of(second.plans[i].steps));
}

TEST(DpPlans, of_other_costs_are_in_a_memo_of_their_own) {
  const MemoFile file("costs");
  const TargetPtr target = avx512();
  const Module module = matmul(32, 48, 40);
  const DpRequest text{.plans = 4, .memo_file = file.str()};
  DpRequest known = text;
  known.figures.lines = {0.5, 2, 4, 60};
  const DpPlans first = dp_plans(*module.procs.front(), *target, text);
  const DpPlans second = dp_plans(*module.procs.front(), *target, known);
  ASSERT_FALSE(first.plans.empty() || second.plans.empty());
  EXPECT_EQ(second.known, 0);
  EXPECT_GT(second.plans.front().units, first.plans.front().units);
  // Neither has emptied the other's.
  EXPECT_EQ(dp_plans(*module.procs.front(), *target, text).solved, 0);
  EXPECT_EQ(dp_plans(*module.procs.front(), *target, known).solved, 0);
}

// Stopped after a while, again and again: what each run solved is not solved by the next.
TEST(DpPlans, go_on_where_a_run_was_stopped) {
  const MemoFile file("stopped");
  const TargetPtr target = avx512();
  const Module module = matmul(64, 64, 64);
  const DpPlans whole =
      dp_plans(*module.procs.front(), *target, {.plans = 8, .specs = 100'000'000});
  int64_t solved = 0;
  int stopped = 0;
  DpPlans last;
  for (int run = 0; run < 100; ++run) {
    int polls = 0;
    DpRequest ask{.plans = 8, .specs = 100'000'000, .memo_file = file.str()};
    ask.deadline = Deadline().or_when([&] { return ++polls > 20 * (run + 1); });
    last = dp_plans(*module.procs.front(), *target, ask);
    solved += last.solved;
    if (last.outcome == DpOutcome::kSolved) break;
    EXPECT_EQ(last.outcome, DpOutcome::kInterrupted);
    ++stopped;
  }
  EXPECT_GE(stopped, 1);
  ASSERT_EQ(last.outcome, DpOutcome::kSolved);
  EXPECT_EQ(key_of(last.plans.front().steps), key_of(whole.plans.front().steps));
  EXPECT_EQ(last.plans.front().units, whole.plans.front().units);
  // Each stop costs at most the questions that were open, one below the other.
  EXPECT_LE(solved, whole.solved + 200 * stopped);
}

TEST(DpPlans, run_out_of_time_and_say_so) {
  const TargetPtr target = avx512();
  const Module module = matmul(512, 512, 512);
  const DpPlans plans =
      dp_plans(*module.procs.front(), *target, {.plans = 8, .deadline = Deadline::after(0)});
  EXPECT_EQ(plans.outcome, DpOutcome::kOutOfTime);
  EXPECT_TRUE(plans.plans.empty());
}

// The limit is in Specs, so that the answer is the same on a busy machine.
TEST(DpPlans, run_out_of_specs_and_say_so) {
  const TargetPtr target = avx512();
  const Module module = matmul(512, 512, 512);
  const DpRequest ask{.plans = 8, .specs = 2048};
  const DpPlans plans = dp_plans(*module.procs.front(), *target, ask);
  EXPECT_EQ(plans.outcome, DpOutcome::kOutOfSpecs);
  EXPECT_TRUE(plans.plans.empty());
  EXPECT_EQ(dp_plans(*module.procs.front(), *target, ask).solved, plans.solved);
}

TEST(DpPlans, stop_where_memory_ends) {
  const TargetPtr target = avx512();
  const Module module = matmul(512, 512, 512);
  const DpPlans plans = dp_plans(*module.procs.front(), *target, {.plans = 8, .memory_bytes = 1});
  EXPECT_EQ(plans.outcome, DpOutcome::kOutOfMemory);
}

// Half the L2 takes other blocks: the plans are for the machine we run on, not for the text's.
TEST(DpPlans, are_for_the_machine_and_not_for_the_text) {
  const TargetPtr target = avx512();
  const Module module = matmul(512, 512, 512);
  DpRequest here{.plans = 1};
  here.figures.levels = target->levels;
  for (TargetLevel& level : here.figures.levels)
    if (level.name == "L2") level.bytes /= 4;
  const DpPlans small = dp_plans(*module.procs.front(), *target, here);
  const DpPlans text = dp_plans(*module.procs.front(), *target, {.plans = 1});
  ASSERT_FALSE(small.plans.empty() || text.plans.empty());
  EXPECT_NE(key_of(small.plans[0].steps), key_of(text.plans[0].steps));
}

TEST(DpPlans, avoid_an_instruction) {
  const MemoFile file("avoid");
  const TargetPtr target = avx512();
  const Module module = matmul(32, 32, 32);
  const Proc& proc = *module.procs.front();
  const std::string name = "mm512_fmadd_bcast_ps";
  DpRequest ask{.plans = 8, .memo_file = file.str()};
  dp_plans(proc, *target, ask);
  EXPECT_NE(explain_plan(proc, *target, ask, {}).find(name + "\n"), std::string::npos);
  ask.avoided = {name};
  // Nothing else of this target takes one factor from memory.
  EXPECT_EQ(dp_plans(proc, *target, ask).outcome, DpOutcome::kNoPlan);
  // One memo does not drive out the other.
  ask.avoided.clear();
  EXPECT_EQ(dp_plans(proc, *target, ask).solved, 0);
}

TEST(DpPlans, explain_themselves_from_the_memo) {
  const MemoFile file("explain");
  const TargetPtr target = avx512();
  const Module module = matmul(32, 48, 40);
  const DpRequest ask{.plans = 8, .memo_file = file.str()};
  const Proc& proc = *module.procs.front();
  EXPECT_EQ(explain_plan(proc, *target, ask, {}), "");  // nothing is stored yet
  const DpPlans plans = dp_plans(proc, *target, ask);
  const std::string tree = explain_plan(proc, *target, ask, lines_of(plans.plans.front().steps));
  EXPECT_EQ(tree.rfind("plan 1 of the ", 0), 0u) << tree;
  EXPECT_NE(tree.find("mm512_fmadd_bcast_ps"), std::string::npos) << tree;
  EXPECT_NE(tree.find("instead: "), std::string::npos) << tree;
  EXPECT_NE(tree.find(" in all"), std::string::npos) << tree;
}

TEST(DpPlans, leave_what_is_no_nest_to_others) {
  const Module module = parse_module(
      "@proc\ndef f(x: f32[8]):\n    for i in seq(0, 8):\n        x[i] = 0.0\n    for i in seq(0, "
      "8):\n        x[i] += 1.0\n",
      "f.exo");
  EXPECT_EQ(dp_plans(*module.procs.front(), *avx512(), {}).outcome, DpOutcome::kNotLifted);
}

}  // namespace
}  // namespace exotune
