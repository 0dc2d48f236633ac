// Two schedules for a kernel of any size: which sizes go to which, and the procedure that asks.
#include "search/size_classes.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "tests/core/primitives/differential.h"

namespace exotune {
namespace {

const std::vector<std::string> kNames = {"M", "N"};

SizeTable table_of(std::vector<std::pair<int64_t, int64_t>> sizes,
                   std::vector<std::vector<double>> seconds) {
  SizeTable out;
  for (const auto& [m, n] : sizes) out.sizes.push_back({{"M", m}, {"N", n}});
  out.seconds = std::move(seconds);
  return out;
}

TEST(SizeClasses, each_schedule_takes_the_sizes_it_is_good_at) {
  const auto classes = size_classes(
      table_of({{16, 16}, {64, 64}, {1024, 1024}}, {{1, 1, 4}, {2, 2, 2}, {1.5, 1.5, 3}}), kNames);
  ASSERT_TRUE(classes);
  EXPECT_EQ(classes->condition, "M >= 256");
  EXPECT_EQ(classes->where, 1u);
  EXPECT_EQ(classes->elsewhere, 0u);
  EXPECT_EQ(classes->holds, (std::vector<bool>{false, false, true}));
}

TEST(SizeClasses, bounds_of_several_sizes_where_one_does_not_tell_them_apart) {
  const auto classes =
      size_classes(table_of({{4, 900}, {900, 4}, {900, 900}}, {{1, 1, 4}, {2, 2, 2}}), kNames);
  ASSERT_TRUE(classes);
  EXPECT_EQ(classes->condition, "M >= 60 and N >= 60");
}

TEST(SizeClasses, those_that_must_be_whole_are_beaten_by_two_others_or_stay) {
  SizeTable table = table_of({{16, 16}, {1024, 1024}}, {{1, 2.2}, {1, 4}, {2, 2}});
  table.whole = {true, false, false};
  const auto classes = size_classes(table, kNames);
  ASSERT_TRUE(classes);
  EXPECT_EQ(classes->elsewhere, 1u);
  EXPECT_EQ(classes->where, 2u);
  table.seconds[0] = {1, 2};
  EXPECT_FALSE(size_classes(table, kNames));
}

TEST(SizeClasses, one_schedule_that_is_as_good_everywhere_is_enough) {
  EXPECT_FALSE(size_classes(table_of({{16, 16}, {64, 64}}, {{1, 1}, {1.01, 1}}), kNames));
  EXPECT_FALSE(size_classes(table_of({{16, 16}, {64, 64}}, {{1, 1}, {2, 2}}), kNames));
  EXPECT_FALSE(size_classes(table_of({{16, 16}, {64, 64}}, {{1, 1}}), kNames));
}

TEST(SizeClasses, the_procedure_asks_for_its_sizes_once) {
  const ProcPtr f = parse_module(R"(
@proc
def f(M: size, N: size, x: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            x[i, j] += 1.0
)",
                                 "f.exo")
                        .find_proc("f");
  SizeClasses classes;
  classes.condition = "M >= 3";
  const Steps large = {{"reorder_loops", {Value("i")}}};
  const Steps small = {{"divide_loop",
                        {Value("j"), Value(int64_t{2}), Value::strings({"jo", "ji"})},
                        {},
                        {{"tail", Value("cut")}}}};
  const Stepped made = run_steps(f, steps_of(classes, *f, large, small));
  ASSERT_FALSE(made.refusal) << made.refusal->text();
  const std::string text = str(*made.proc);
  EXPECT_NE(text.find("if M >= 3:\n        for j in seq(0, N):\n            for i"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("for jo in seq(0, N / 2):"), std::string::npos) << text;
  test::expect_same_meaning(f, made.proc, {{{"M", 2}, {"N", 5}}, {{"M", 4}, {"N", 5}}});
}

}  // namespace
}  // namespace exotune
