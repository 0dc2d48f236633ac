// Loops taken apart and put together.
#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;
using test::refusal;

TEST(Fission, splits_two_levels) {
  ProcPtr p = parse(R"(
def f(N: size, x: f32[N, N], y: f32[N, N]):
    for i in seq(0, N):
        for j in seq(0, N):
            x[i, j] = 1.0
            y[i, j] = x[i, j]
)");
  Cursor store = find(p, "y[_] = _");
  ProcPtr q = fission(p, store.before(), 2);
  expect_proc(q, R"(
def f(N: size, x: f32[N, N], y: f32[N, N]):
    for i in seq(0, N):
        for j in seq(0, N):
            x[i, j] = 1.0
    for i in seq(0, N):
        for j in seq(0, N):
            y[i, j] = x[i, j]
)");
  EXPECT_EQ(str(forward(q, store).path()), "body[1].body[0].body[0]");
}

TEST(Fission, refuses_a_value_carried_backwards) {
  ProcPtr p = parse(R"(
def f(N: size, x: f32[N + 1], y: f32[N]):
    for i in seq(0, N):
        x[i + 1] = 1.0
        y[i] = x[i]
)");
  EXPECT_EQ(refusal([&] { (void)fission(p, find(p, "y[_] = _").before()); }), "");
  ProcPtr q = parse(R"(
def f(N: size, x: f32[N + 1], y: f32[N]):
    for i in seq(0, N):
        x[i] = 1.0
        y[i] = x[i + 1]
)");
  EXPECT_NE(refusal([&] { (void)fission(q, find(q, "y[_] = _").before()); }), "");
}

TEST(Fission, refuses_an_if_whose_condition_changes) {
  ProcPtr p = parse(R"(
@config
class C:
    a: index
def f(x: f32[1]):
    if C.a == 0:
        C.a = 1
        x[0] = 1.0
)");
  EXPECT_NE(refusal([&] { (void)fission(p, find(p, "x[_] = _").before()); }), "");
}

TEST(Fuse, needs_equal_lower_bounds) {
  ProcPtr p = parse(R"(
def f(N: size, x: f32[N + 1], y: f32[N + 1]):
    for i in seq(0, N):
        x[i] = 1.0
    for j in seq(1, N):
        y[j] = 2.0
)");
  EXPECT_NE(refusal([&] { (void)fuse(p, "i", "j"); }), "");
}

TEST(Fuse, joins_two_ifs_of_one_condition) {
  expect_proc(fuse(parse(R"(
def f(N: size, x: f32[1], y: f32[1]):
    if N < 4:
        x[0] = 1.0
    if N + 1 <= 4:
        y[0] = x[0]
)"),
                   "if _: _", "if _: _ #1"),
              R"(
def f(N: size, x: f32[1], y: f32[1]):
    if N < 4:
        x[0] = 1.0
        y[0] = x[0]
)");
}

TEST(Fuse, joins_the_other_branches_of_ifs_too) {
  const auto source = [](const std::string& first, const std::string& second) {
    return "def f(N: size, x: f32[1], y: f32[1]):\n    if N < 4:\n        x[0] = 1.0\n" + first +
           "    if N < 4:\n        y[0] = x[0]\n" + second;
  };
  const std::string one = "    else:\n        x[0] = 2.0\n",
                    two = "    else:\n        y[0] = 3.0\n";
  const std::string both =
      "def f(N: size, x: f32[1], y: f32[1]):\n    if N < 4:\n        x[0] = 1.0\n        y[0] = "
      "x[0]\n";
  expect_proc(fuse(parse(source(one, two)), "if _: _", "if _: _ #1"),
              both + one + "        y[0] = 3.0\n");
  expect_proc(fuse(parse(source("", two)), "if _: _", "if _: _ #1"), both + two);
  expect_proc(fuse(parse(source(one, "")), "if _: _", "if _: _ #1"), both + one);
}

TEST(Fuse, refuses_ifs_whose_condition_differs_or_changes) {
  const auto said = [](const std::string& text, const char* second) {
    return refusal([&] { (void)fuse(parse(text), "if _: _", second); });
  };
  EXPECT_NE(said("def f(N: size, x: f32[1]):\n    if N < 4:\n        x[0] = 1.0\n    if N < 5:\n"
                 "        x[0] = 2.0\n",
                 "if _: _ #1"),
            "");
  EXPECT_NE(said("@config\nclass C:\n    a: index\n\ndef f(x: f32[1]):\n    if C.a == 0:\n        "
                 "C.a = 1\n"
                 "    if C.a == 0:\n        x[0] = 2.0\n",
                 "if _: _ #1"),
            "");
  EXPECT_NE(
      said(
          "def f(N: size, x: f32[1]):\n    if N < 4:\n        x[0] = 1.0\n    for i in seq(0, N):\n"
          "        x[0] = 2.0\n",
          "for i in _: _"),
      "");
}

TEST(Fuse, puts_the_second_body_behind_the_first) {
  expect_proc(fuse(parse(R"(
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        x[i] = 1.0
    for j in seq(0, N):
        y[j] = x[j]
)"),
                   "i", "j"),
              R"(
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        x[i] = 1.0
        y[i] = x[i]
)");
}

// Each iteration computes three rows, two of which the next one computes again.
std::string recomputing(const std::string& value, const std::string& used) {
  return R"(
def f(N: size, x: f32[N + 2], y: f32[N]):
    t : f32[N + 2]
    for i in seq(0, N):
        for k in seq(0, 3):
            t[i + k] = )" +
         value + R"(
    for j in seq(0, N):
        )" +
         used + "\n";
}

TEST(Fuse, may_compute_again_what_was_read_when_the_value_is_the_same) {
  expect_proc(fuse(parse(recomputing("2.0 * x[i + k]", "y[j] = t[j] + t[j + 2]")), "i", "j"), R"(
def f(N: size, x: f32[N + 2], y: f32[N]):
    t : f32[N + 2]
    for i in seq(0, N):
        for k in seq(0, 3):
            t[i + k] = 2.0 * x[i + k]
        y[i] = t[i] + t[i + 2]
)");
}

TEST(Fuse, computes_again_only_the_same_value_from_what_stays) {
  const auto refused = [](const std::string& value, const std::string& used) {
    return refusal([&] { (void)fuse(parse(recomputing(value, used)), "i", "j"); }) != "";
  };
  EXPECT_TRUE(refused("x[i]", "y[j] = t[j + 1]"));  // another value each time
  EXPECT_TRUE(refused("x[k]", "y[j] = t[j + 1]"));
  EXPECT_TRUE(refused("x[i + k]", "x[j] = t[j + 1]"));             // what is read changes
  EXPECT_TRUE(refused("x[i + k]", "t[j + 1] = x[j]"));             // both write
  EXPECT_TRUE(refused("x[i + k] + t[i + k]", "y[j] = t[j + 1]"));  // reads itself
}

TEST(Fuse, needs_each_iteration_to_compute_what_it_uses) {
  const char* two_of_three = R"(
def f(N: size, x: f32[N + 2], y: f32[N]):
    t : f32[N + 2]
    for i in seq(0, N):
        for k in seq(0, 2):
            t[i + k] = x[i + k]
    for j in seq(0, N):
        y[j] = t[j + )";
  EXPECT_EQ(refusal([&] { (void)fuse(parse(std::string(two_of_three) + "1]\n"), "i", "j"); }), "");
  EXPECT_NE(refusal([&] { (void)fuse(parse(std::string(two_of_three) + "2]\n"), "i", "j"); }), "");
}

}  // namespace
}  // namespace exotune
