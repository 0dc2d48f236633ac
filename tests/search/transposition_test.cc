// Operands and results that are turned over: which ones, and that they compute the same.
#include "search/moves/transposition.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

std::optional<Schedule> along_the_sum(const std::string& text, int64_t lanes) {
  const ProcPtr p = parsed(text);
  std::optional<Schedule> turned =
      transpose_for_sums({p, {}, false}, Cursor::stmt(p, {{Child::kBody, 0}}), {}, lanes);
  if (turned) expect_same_result(p, turned->proc, str(*turned->proc));
  return turned;
}

TEST(Transposition, brings_operands_of_few_columns_along_the_sum) {
  const std::string few = R"(
@proc
def few(A: f32[12, 40], B: f32[40, 4], C: f32[12, 4]):
    for i in seq(0, 12):
        for j in seq(0, 4):
            for k in seq(0, 40):
                C[i, j] += A[i, k] * B[k, j]
)";
  const std::optional<Schedule> turned = along_the_sum(few, 16);
  ASSERT_TRUE(turned);
  EXPECT_NE(str(*turned->proc).find("A[i, k] * B_t[j, k]"), std::string::npos)
      << str(*turned->proc);
  EXPECT_FALSE(along_the_sum(few, 4)) << "the columns are a vector";
  EXPECT_FALSE(along_the_sum(few, 32)) << "the sum is short";
}

std::optional<Schedule> turned_results(const std::string& text, int64_t lanes) {
  const ProcPtr p = parsed(text);
  std::optional<Schedule> turned =
      transpose_results({p, {}, false}, Cursor::stmt(p, {{Child::kBody, 0}}), {}, lanes);
  if (turned) expect_same_result(p, turned->proc, str(*turned->proc));
  return turned;
}

TEST(Transposition, turns_results_that_no_long_loop_runs_along) {
  const std::optional<Schedule> turned = turned_results(kScattered, 16);
  ASSERT_TRUE(turned);
  const std::string text = str(*turned->proc);
  EXPECT_NE(text.find("y_t : f32[42, 32]"), std::string::npos) << text;
  EXPECT_NE(text.find("y_t[2 * i + r, k] += "), std::string::npos) << text;
}

TEST(Transposition, leaves_results_that_would_not_gain) {
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  };
  EXPECT_FALSE(turned_results(kScattered, 4)) << "vectors run along r as it is";
  EXPECT_FALSE(turned_results(kScattered, 64)) << "no loop is long enough";
  EXPECT_FALSE(turned_results(with(kScattered, "seq(0, 8)", "seq(0, 2)"), 16)) << "few terms";
  EXPECT_FALSE(turned_results(with(kScattered, "y[k, 2 * i", "y[k / 2 + k / 2, 2 * i"), 16))
      << "not one by one";
}

// Records of points and of their neighbours, of which a condition leaves out those that there are
// not: what a scalar array of the nest's own lies along is no question.
TEST(Transposition, turns_records_that_are_read_beside_what_is_written) {
  const ProcPtr p = parsed(R"(
@proc
def springs(x: f32[20, 3], f: f32[20, 3]):
    for i in seq(0, 20):
        for d in seq(-2, 3):
            if i + d >= 0 and i + d < 20:
                r: f32[3]
                s: f32 = 1.0
                for c in seq(0, 3):
                    r[c] = x[i + d, c] - x[i, c]
                    s += r[c] * r[c]
                for c in seq(0, 3):
                    f[i, c] += s * r[c]
)");
  const Cursor nest = Cursor::stmt(p, {{Child::kBody, 0}});
  const std::optional<Schedule> results = transpose_results({p, {}, false}, nest, {}, 16);
  ASSERT_TRUE(results);
  const std::optional<Schedule> both = transpose_operands(*results, nest, {});
  ASSERT_TRUE(both);
  const std::string text = str(*both->proc);
  EXPECT_NE(text.find("x_t : f32[3, 20]"), std::string::npos) << text;
  EXPECT_NE(text.find("f_t[c, i] += "), std::string::npos) << text;
  expect_same_result(p, both->proc, text);
}

// One copy serves every member of a record, and rows beside one another.
TEST(Transposition, turns_a_table_of_records_as_a_whole) {
  const ProcPtr p = parsed(R"(
@proc
def steps(t: f32[13, 4], x: f32[8, 12], y: f32[8, 12]):
    for i in seq(0, 8):
        for k in seq(0, 12):
            y[i, k] = x[i, k] * t[k, 1] + t[k + 1, 3]
)");
  const std::optional<Schedule> turned = transpose_constants({p, {}, false}, {});
  ASSERT_TRUE(turned);
  const std::string text = str(*turned->proc);
  EXPECT_NE(text.find("t_t : f32[3, 13]"), std::string::npos) << text;
  EXPECT_EQ(text.find("x[i, k] * t["), std::string::npos) << text;
  expect_same_result(p, turned->proc, text);
}

}  // namespace
}  // namespace exotune
