// factor_sum: what a part of the factors sums to, once, ahead.
#include "core/primitives/factor.h"

#include "core/cursor/provenance.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;

const char* const kChain = R"(
def f(A: f32[4, 5], B: f32[5, 6], C: f32[6, 7], x: f32[4, 7]):
    for i in seq(0, 4):
        for l in seq(0, 7):
            for j in seq(0, 5):
                for k in seq(0, 6):
                    x[i, l] += A[i, j] * B[j, k] * C[k, l]
)";

TEST(FactorSum, sums_the_last_two_of_a_chain_ahead) {
  ProcPtr q = factor_sum(parse(kChain), "for i in _: _", "t", {"B", "C"});
  expect_proc(q, R"(
def f(A: f32[4, 5], B: f32[5, 6], C: f32[6, 7], x: f32[4, 7]):
    t: f32[5, 7]
    for j in seq(0, 5):
        for l in seq(0, 7):
            t[j, l] = 0.0
            for k in seq(0, 6):
                t[j, l] += B[j, k] * C[k, l]
    for i in seq(0, 4):
        for l in seq(0, 7):
            for j in seq(0, 5):
                x[i, l] += A[i, j] * t[j, l]
)");
  EXPECT_TRUE(reassociates(q));
}

TEST(FactorSum, sums_one_factor_over_a_loop_of_its_own) {
  expect_proc(factor_sum(parse(R"(
def f(N: size, a: f32[N], x: f32[N], y: f32[N]):
    for i in seq(0, N):
        for j in seq(0, N):
            y[i] += a[i] * x[j]
)"),
                         "for i in _: _", "t", {"x"}),
              R"(
def f(N: size, a: f32[N], x: f32[N], y: f32[N]):
    t: f32
    t = 0.0
    for j in seq(0, N):
        t += x[j]
    for i in seq(0, N):
        y[i] += a[i] * t
)");
}

TEST(FactorSum, tells_factors_of_one_buffer_by_what_they_read) {
  const char* const kForms = R"(
def f(x: f32[6, 5], A: f32[5, 5], q: f32[6]):
    for b in seq(0, 6):
        for i in seq(0, 5):
            for j in seq(0, 5):
                q[b] += x[b, i] * A[i, j] * x[b, j]
)";
  expect_proc(factor_sum(parse(kForms), "for b in _: _", "t", {"A", "x[b, j]"}), R"(
def f(x: f32[6, 5], A: f32[5, 5], q: f32[6]):
    t: f32[6, 5]
    for b in seq(0, 6):
        for i in seq(0, 5):
            t[b, i] = 0.0
            for j in seq(0, 5):
                t[b, i] += A[i, j] * x[b, j]
    for b in seq(0, 6):
        for i in seq(0, 5):
            q[b] += x[b, i] * t[b, i]
)");
  // By its name the buffer stands for both, which leave no loop to themselves.
  EXPECT_THROW((void)factor_sum(parse(kForms), "for b in _: _", "t", {"x"}), SchedulingError);
  EXPECT_THROW((void)factor_sum(parse(kForms), "for b in _: _", "t", {"A", "x[b, k]"}),
               SchedulingError);
}

TEST(FactorSum, keeps_cursors_on_the_loops_that_stay) {
  ProcPtr p = parse(kChain);
  const Cursor j = find(p, "for j in _: _");
  ProcPtr q = factor_sum(p, "for i in _: _", "t", {"B", "C"});
  EXPECT_EQ(forward(q, j).describe(), find(q, "for j in _: _ #1").describe());
}

TEST(FactorSum, refuses_what_is_no_such_sum) {
  const auto refused = [](const std::string& text, const std::vector<std::string>& factors) {
    EXPECT_THROW((void)factor_sum(parse(text), "for i in _: _", "t", factors), SchedulingError)
        << text;
  };
  refused(kChain, {"A", "C"});  // no loop is theirs alone
  refused(kChain, {"D"});
  refused(kChain, {"A", "B", "C"});
  refused(
      "def f(a: f32[4], x: f32[4]):\n    for i in seq(0, 4):\n        for j in seq(0, 4):\n"
      "            x[i] += x[i] * a[j]\n",
      {"a"});  // reads what it sums into
  refused(
      "def f(a: f32[4], b: f32[4], x: f32[4]):\n    for i in seq(0, 4):\n"
      "        x[i] = 0.0\n        for j in seq(0, 4):\n            x[i] += b[i] * a[j]\n",
      {"a"});
  refused(
      "def f(a: f32[4], b: f32[4], x: f32[4]):\n    for i in seq(0, 4):\n"
      "        for j in seq(0, i):\n            x[i] += b[i] * a[j]\n",
      {"a"});  // how many depends on i
  refused(
      "def f(a: i32[4], b: i32[4], x: i32[4]):\n    for i in seq(0, 4):\n"
      "        for j in seq(0, 4):\n            x[i] += b[i] * a[j]\n",
      {"a"});
  refused(
      "def f(a: f32[4], b: f32[4], x: f32[4]):\n    for i in seq(0, 4):\n"
      "        for j in seq(0, 4):\n            x[i] max= b[i] * a[j]\n",
      {"a"});
}

}  // namespace
}  // namespace exotune
