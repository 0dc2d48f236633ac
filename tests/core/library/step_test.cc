// Steps: they run, print as what the script says, and come back as refusals, never as exceptions.
#include "core/library/step.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/script.h"

namespace exotune {
namespace {

const char* const kSource = R"(
@proc
def f(x: f32[64], y: f32[64]):
    for i in seq(0, 64):
        x[i] = y[i]
    for j in seq(0, 64):
        y[j] += 1.0
)";

ProcPtr kernel() { return parse_module(kSource, "f.exo").procs.front(); }

ScheduleStep divide(const char* loop, int by) {
  return {"divide_loop",
          {loop, by, Value::strings({std::string(loop) + "o", loop})},
          {},
          {{"tail", "perfect"}}};
}

const Steps kSteps = {divide("i", 8),
                      {"unroll_loop", {"i"}},
                      {"extract_subproc", {"for j in _: _", "part"}, {divide("j", 4)}}};

TEST(Steps, print_as_lines_that_make_the_same_procedure) {
  const Stepped made = run_steps(kernel(), kSteps);
  ASSERT_FALSE(made.refusal) << made.refusal->text();
  ScriptEnvironment env;
  env.start = kernel();
  EXPECT_EQ(canonical_text(*run_script(key_of(kSteps), "f.sched", env).proc),
            canonical_text(*made.proc));
  EXPECT_EQ(lines_of(kSteps).front(), "p = divide_loop(p, 'i', 8, ['io', 'i'], tail='perfect')");
}

TEST(Steps, print_in_terms_of_another_variable) {
  const std::vector<std::string> lines = lines_of(kSteps, "q");
  EXPECT_EQ(lines.front(), "q = divide_loop(q, 'i', 8, ['io', 'i'], tail='perfect')");
  EXPECT_EQ(lines.back(), "q = inline(q, 'part(_)')");
}

TEST(Steps, a_part_that_nothing_is_done_to_has_no_line) {
  EXPECT_TRUE(lines_of({{"extract_subproc", {"for j in _: _", "part"}}}).empty());
}

TEST(Steps, a_refusal_is_a_value_with_its_step) {
  const Stepped made = run_step(kernel(), divide("i", 7));
  EXPECT_FALSE(made.proc);
  ASSERT_TRUE(made.refusal);
  EXPECT_EQ(made.refusal->op, "divide_loop");
  EXPECT_EQ(made.refusal->place, "i");
  EXPECT_EQ(made.refusal->text().find("p = divide_loop(p, 'i', 7"), 0u);
}

TEST(Steps, what_does_not_fit_an_operator_is_refused_too) {
  EXPECT_EQ(run_step(kernel(), {"divide_loop", {"i"}}).refusal->op, "divide_loop");
  EXPECT_TRUE(run_step(kernel(), {"no_such_operator", {}}).refusal);
  EXPECT_TRUE(run_step(kernel(), {"unroll_loop", {"nowhere"}}).refusal);
}

TEST(Steps, a_refused_step_of_a_part_refuses_the_part) {
  const Steps steps = {{"extract_subproc", {"for j in _: _", "part"}, {divide("j", 7)}}};
  EXPECT_EQ(run_steps(kernel(), steps).refusal->op, "divide_loop");
}

TEST(Steps, keep_the_constraints_they_are_given) {
  const ProcPtr p = kernel();
  const ScriptConstraint unrolled{"max_unroll", {Value(int64_t{4})}, p, {}};
  const Stepped refused = run_steps(p, {divide("i", 8), {"unroll_loop", {"i"}}}, {unrolled});
  ASSERT_TRUE(refused.refusal);
  EXPECT_EQ(refused.refusal->op, "max_unroll");
  EXPECT_FALSE(run_steps(p, {divide("i", 4), {"unroll_loop", {"i"}}}, {unrolled}).refusal);
}

TEST(Steps, values_are_found_by_the_name_of_the_parameter) {
  const ScheduleStep step = divide("i", 8);
  EXPECT_EQ(*value_of(step, "q")->as<int64_t>(), 8);
  EXPECT_EQ(*value_of(step, "tail")->as<std::string>(), "perfect");
  EXPECT_FALSE(*value_of(step, "perfect")->as<bool>()) << "the parameter's default";
  EXPECT_EQ(value_of(step, "nothing"), nullptr);
  EXPECT_EQ(*value_of(with_value(step, "q", 16), "q")->as<int64_t>(), 16);
  EXPECT_TRUE(*value_of(with_value(step, "perfect", true), "perfect")->as<bool>());
}

TEST(Steps, behind_the_first_ones_are_told_by_their_operators) {
  const Steps first = {divide("i", 8)}, longer = {divide("i", 4), {"simplify", {}, {}}};
  const std::optional<Steps> own = steps_behind(first, longer);
  ASSERT_TRUE(own);
  ASSERT_EQ(own->size(), 1u);
  EXPECT_EQ(own->front().op, "simplify");
  EXPECT_TRUE(steps_behind(first, first)->empty());
  EXPECT_FALSE(steps_behind(longer, first)) << "shorter";
  EXPECT_FALSE(steps_behind({{"simplify", {}, {}}}, longer)) << "begins otherwise";
}

}  // namespace
}  // namespace exotune
