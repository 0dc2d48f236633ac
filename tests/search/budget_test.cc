// What a run may take: time by phase, turns of families, memory.
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "core/frontend/parser.h"
#include "search/operand_memory.h"
#include "search/phase_budget.h"
#include "search/turns.h"

namespace exotune {
namespace {

TEST(PhaseBudget, keeps_time_for_the_finals) {
  ManualTime clock;
  const PhaseBudget budget(Deadline::after(100, clock), 100);
  EXPECT_LT(budget.search(true).left(), budget.measuring().left());
  EXPECT_DOUBLE_EQ(budget.measuring().left(), 75);
  clock.advance(80);
  EXPECT_TRUE(budget.measuring().over());
  EXPECT_DOUBLE_EQ(budget.shootout(false).left(), 20);
  EXPECT_LT(budget.shootout(true).left(), 20);
}

TEST(PhaseBudget, the_search_leaves_most_of_what_is_left_when_it_begins) {
  ManualTime clock;
  const PhaseBudget budget(Deadline::after(100, clock), 100);
  EXPECT_DOUBLE_EQ(budget.written(false).left(), 100 * BudgetShares().written);
  EXPECT_DOUBLE_EQ(budget.written(true).left(), 100 * BudgetShares().written_far);
  clock.advance(70);
  EXPECT_DOUBLE_EQ(budget.search(true).left(), 30 * BudgetShares().search);
}

TEST(PhaseBudget, keeps_time_for_the_files) {
  EXPECT_DOUBLE_EQ(until_written(5), 4.5);
  EXPECT_DOUBLE_EQ(until_written(240), 239);
}

TEST(PhaseBudget, never_keeps_more_than_the_finals_can_use) {
  ManualTime clock;
  const PhaseBudget budget(Deadline::after(10000, clock), 10000);
  EXPECT_DOUBLE_EQ(budget.measuring().left(), 10000 - BudgetShares().finals_most);
}

TEST(PhaseBudget, gives_the_search_nearly_all_when_nothing_is_measured) {
  ManualTime clock;
  const PhaseBudget budget(Deadline::after(100, clock), 100);
  EXPECT_GT(budget.search(false).left(), 90);
  EXPECT_LE(budget.plan(budget.search(false)).left(), budget.search(false).left());
}

TEST(PhaseBudget, ends_plans_that_do_not_end_also_without_a_limit) {
  const PhaseBudget none;
  EXPECT_LE(none.plan(none.search(false)).left(), BudgetShares().plan_most);
}

TEST(PhaseBudget, hears_the_user_in_every_phase) {
  ManualTime clock;
  bool stop = false;
  const PhaseBudget budget(Deadline::after(100, clock).or_when([&] { return stop; }), 100);
  const Deadline phases[] = {budget.reference(), budget.written(false), budget.search(true),
                             budget.measuring(), budget.other_sizes(),  budget.shootout(true)};
  stop = true;
  for (const Deadline& phase : phases) EXPECT_TRUE(phase.interrupted());
}

const char* const kKernels = R"(
@memory
class REGS:
    kind = "vector"

@proc
def plain(x: f32[8]):
    for i in seq(0, 8):
        x[i] = 0.0

@proc
def vectors(x: f32[8]):
    for i in seq(0, 8):
        t: f32[8] @ REGS
        x[i] = 0.0
)";

BeamState state_of(const Module& module, const std::string& proc, const std::string& name) {
  BeamState state;
  state.proc = module.find_proc(proc);
  state.steps = {{name, {}}};
  return state;
}

std::string order(const std::vector<BeamState>& states) {
  std::string text;
  for (const BeamState& s : states) text += s.steps.front().op + " ";
  return text;
}

TEST(Turns, each_family_is_seen_early) {
  const Module module = parse_module(kKernels, "k.exo");
  Family a, b;
  for (const char* name : {"a1", "a2", "a3"}) a.states.push_back(state_of(module, "plain", name));
  for (const char* name : {"b1", "b2"}) b.states.push_back(state_of(module, "plain", name));
  EXPECT_EQ(order(in_turns({a, b})), "a1 b1 a2 b2 a3 ");
}

TEST(Turns, schedules_without_vectors_never_crowd_out) {
  const Module module = parse_module(kKernels, "k.exo");
  Family a, b;
  for (int k = 0; k < 20; ++k) a.states.push_back(state_of(module, "plain", "p"));
  for (int k = 0; k < 14; ++k) b.states.push_back(state_of(module, "vectors", "v"));
  EXPECT_EQ(order(in_turns({a, b})),
            "v v v v v v v p v v v v v v v p p p p p p p p p p p p p p p p p p p ");
}

TEST(OperandMemory, is_known_beyond_what_can_be_addressed) {
  const Module module = parse_module(R"(
@proc
def f(M: size, N: size, A: f32[M, N], b: f64[2 * N + 1]):
    pass
)",
                                     "k.exo");
  const Proc& f = *module.procs.front();
  EXPECT_DOUBLE_EQ(operand_bytes(f, {{"M", 10}, {"N", 100}}), 4000 + 201 * 8);
  EXPECT_GT(operand_bytes(f, {{"M", INT64_MAX}, {"N", INT64_MAX}}), 1e38);
}

TEST(OperandMemory, what_does_not_fit_is_refused_with_both_figures) {
  const Module module = parse_module("@proc\ndef f(N: size, A: f32[N, N]):\n    pass\n", "k.exo");
  Machine machine;
  machine.memory_bytes = 23'000'000'000;
  const Proc& f = *module.procs.front();
  require_memory(f, {{"N", 1000}}, machine, true);
  try {
    require_memory(f, {{"N", 200000}}, machine, false);
    FAIL() << "160 GB are not refused";
  } catch (const InputError& e) {
    const std::string text = e.diagnostic().message.str();
    EXPECT_NE(text.find("160 GB"), std::string::npos) << text;
    EXPECT_NE(text.find("23 GB"), std::string::npos) << text;
  }
  EXPECT_THROW(require_memory(f, {{"N", 50000}}, machine, true), InputError);
  require_memory(f, {{"N", 50000}}, machine, false);
}

}  // namespace
}  // namespace exotune
