// Parts that were solved: found again by their text, and what is alike by other names.
#include "search/solved_parts.h"

#include <gtest/gtest.h>

#include "core/ir/canonical_names.h"
#include "core/ir/printer.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

constexpr const char* kFirst = R"(
@proc
def first(A: f32[12, 16], B: f32[16, 20], C: f32[12, 20]):
    for i in seq(0, 12):
        for j in seq(0, 20):
            for k in seq(0, 16):
                C[i, j] += A[i, k] * B[k, j]
)";
// A and B change places, and the sum goes along another loop's name.
constexpr const char* kSecond = R"(
@proc
def second(B: f32[12, 16], A: f32[16, 20], D: f32[12, 20]):
    for i in seq(0, 12):
        for j in seq(0, 20):
            for l in seq(0, 16):
                D[i, j] += B[i, l] * A[l, j]
)";

std::map<std::string, std::string> swapped() { return {{"A", "B"}, {"B", "A"}, {"k", "l"}}; }

TEST(RenamedSteps, change_names_in_patterns_expressions_lists_and_steps_inside) {
  const Steps steps = {{"stage_mem",
                        {Value("for k in _: _"), Value("A[i, 4 * k:4 * k + 4]"), Value("A_own")},
                        {{"reorder_loops", {Value("for k in _: _ #1")}}},
                        {{"names", Value::strings({"ko", "k"})}}}};
  const std::vector<std::string> lines = lines_of(renamed(steps, swapped()));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  EXPECT_NE(text.find("'for l in _: _', 'B[i, 4 * l:4 * l + 4]', 'B_own'"), std::string::npos)
      << text;
  EXPECT_NE(text.find("['ko', 'l']"), std::string::npos) << text;
  EXPECT_EQ(text.find("'for k "), std::string::npos) << text;
}

TEST(CanonicalNames, stand_at_the_same_places_in_texts_that_are_alike) {
  const ProcPtr first = parsed(kFirst), second = parsed(kSecond);
  ASSERT_EQ(canonical_text(*first), canonical_text(*second));
  EXPECT_EQ(canonical_names(*first), (std::vector<std::string>{"A", "B", "C", "i", "j", "k"}));
  EXPECT_EQ(canonical_names(*second), (std::vector<std::string>{"B", "A", "D", "i", "j", "l"}));
}

class SolvedPartsTest : public ::testing::Test {
 protected:
  // One plan that cuts the sum and copies an operand, one that is refused everywhere else.
  std::vector<PartPlan> plans() {
    Schedule s{parsed(kFirst), {}, false};
    EXPECT_FALSE(
        apply(s, "divide_loop",
              {Value("for k in _: _"), Value(4), Value::strings({"ko", "k"}), Value("perfect")}));
    EXPECT_FALSE(
        apply(s, "stage_mem", {Value("for ko in _: _"), Value("A[i, 0:16]"), Value("A_own")}));
    PartPlan plan = pricing_.plan_of(s, "copied");
    plan.for_caches = true;
    PartPlan refused = plan;
    refused.steps.push_back({"unroll_loop", {Value("for C in _: _")}});
    return {plan, refused};
  }
  const BeamContext context_;
  const PartPricing pricing_{context_};
  SolvedParts solved_{pricing_};
};

TEST_F(SolvedPartsTest, replays_what_it_knows_of_a_part_that_is_alike) {
  const ProcPtr first = parsed(kFirst), second = parsed(kSecond);
  EXPECT_EQ(solved_.find(first, "", 1), nullptr);
  solved_.add(first, "", 1, plans());
  const std::vector<PartPlan>* same = solved_.find(first, "", 1);
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(same->size(), 2u);
  const std::vector<PartPlan>* alike = solved_.find(second, "", 2);
  ASSERT_NE(alike, nullptr);
  ASSERT_EQ(alike->size(), 1u);
  EXPECT_TRUE(alike->front().for_caches);
  Schedule s{second, {}, false};
  ASSERT_FALSE(replay(s, alike->front().steps));
  EXPECT_NE(str(*s.proc).find("B_own"), std::string::npos) << str(*s.proc);
  expect_same_result(second, s.proc, str(*s.proc));
}

TEST_F(SolvedPartsTest, knows_nothing_of_what_was_solved_otherwise_or_farther_in) {
  const ProcPtr first = parsed(kFirst), second = parsed(kSecond);
  solved_.add(first, "of a triangle", 2, plans());
  EXPECT_EQ(solved_.find(first, "", 2), nullptr);
  EXPECT_EQ(solved_.find(first, "of a triangle", 1), nullptr);
  EXPECT_EQ(solved_.find(second, "", 2), nullptr);
  EXPECT_EQ(solved_.find(second, "of a triangle", 1), nullptr);
  EXPECT_NE(solved_.find(second, "of a triangle", 2), nullptr);
}

}  // namespace
}  // namespace exotune
