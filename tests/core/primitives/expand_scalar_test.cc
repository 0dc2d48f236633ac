// expand_scalar: what one iteration hands to the next in a scalar, as an array of its values.
#include "core/primitives/expand_scalar.h"

#include "core/cursor/provenance.h"
#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;
using test::refusal;

const char* const kDifferences = R"(
def f(N: size, x: f32[N + 1], y: f32[N]):
    before: f32
    before = x[0]
    for i in seq(0, N):
        y[i] = x[i + 1] - before
        before = x[i + 1]
)";

TEST(ExpandScalar, the_value_of_the_iteration_before) {
  const ProcPtr q = expand_scalar(parse(kDifferences), "i", "before", "row");
  expect_proc(q, R"(
def f(N: size, x: f32[N + 1], y: f32[N]):
    before: f32
    before = x[0]
    row: f32[N + 1]
    row[0] = before
    for i in seq(0, N):
        y[i] = x[i + 1] - row[i]
        row[i + 1] = x[i + 1]
)");
  EXPECT_FALSE(reassociates(q));
  test::expect_same_meaning(parse(kDifferences), q, {{{"N", 1}}, {{"N", 4}}});
}

// An argument keeps its last value; a loop may begin anywhere; the assignment reads the value
// before it, what follows the one behind.
TEST(ExpandScalar, an_argument_in_a_loop_that_begins_at_one) {
  const char* const sums = R"(
def f(N: size, state: i32, x: i32[N + 1], y: i32[N + 1, 2]):
    for i in seq(1, N + 1):
        for j in seq(0, 2):
            y[i, j] = state
        state = 3 * state + x[i]
        y[i, 0] += state
)";
  const ProcPtr q = expand_scalar(parse(sums), "i", "state", "states");
  expect_proc(q, R"(
def f(N: size, state: i32, x: i32[N + 1], y: i32[N + 1, 2]):
    states: i32[N + 1]
    states[0] = state
    for i in seq(1, N + 1):
        for j in seq(0, 2):
            y[i, j] = states[i - 1]
        states[i] = 3 * states[i - 1] + x[i]
        y[i, 0] += states[i]
    state = states[N]
)");
  test::expect_same_meaning(parse(sums), q, {{{"N", 1}}, {{"N", 3}}});
}

// Read after the loop, or in the next iteration of one around it: the last value goes back.
TEST(ExpandScalar, a_scalar_that_is_read_later) {
  const char* const later = R"(
def f(N: size, x: f32[N], y: f32[N]):
    s: f32
    s = 0.0
    for r in seq(0, 2):
        for i in seq(0, N):
            y[i] += s
            s = x[i]
)";
  const ProcPtr q = expand_scalar(parse(later), "i", "s", "t");
  EXPECT_TRUE(test::contains(str(*q), "s = t[N]")) << str(*q);
  test::expect_same_meaning(parse(later), q, {{{"N", 1}}, {{"N", 3}}});
}

std::string said(const std::string& body, const char* head = "seq(0, N)") {
  const std::string text =
      "def g(x: [f32][3]):\n    pass\n\n"
      "def h(x: f32):\n    x = 2.0\n\n"
      "def f(N: size, M: size, a: f32, v: f32[N], y: f32[N + M]):\n"
      "    for i in " +
      std::string(head) + ":\n" + body;
  const ProcPtr p = test::parse_last(text);
  return refusal([&] { (void)expand_scalar(p, "i", "a", "t"); });
}

TEST(ExpandScalar, refuses_what_is_not_one_assignment_in_each_iteration) {
  EXPECT_EQ(said("        y[i] = a\n        a = v[i]\n"), "");
  EXPECT_TRUE(test::contains(said("        y[i] = a\n"), "does not write `a`"));
  EXPECT_TRUE(test::contains(said("        a += v[i]\n"), "not every iteration assigns `a` once"));
  EXPECT_TRUE(test::contains(said("        if i > 0:\n            a = v[i]\n"),
                             "not every iteration assigns `a` once"));
  EXPECT_TRUE(test::contains(said("        for j in seq(0, M):\n            a = y[j]\n"),
                             "not every iteration assigns `a` once"));
  EXPECT_TRUE(test::contains(said("        a = v[i]\n        a = a * a\n"), "in several places"));
  EXPECT_TRUE(test::contains(said("        a = v[i]\n        h(a)\n"), "is used by"));
}

// What a loop writes into configuration is one value for all of its iterations.
TEST(ExpandScalar, refuses_what_configuration_would_take_from_each_iteration) {
  const ProcPtr p = test::parse_last(
      "@config\nclass Cfg:\n    scale: f32\n\n@proc\n"
      "def f(N: size, a: f32, v: f32[N]):\n"
      "    for i in seq(0, N):\n        Cfg.scale = a\n"
      "        a = v[i]\n");
  const std::string why = refusal([&] { (void)expand_scalar(p, "i", "a", "t"); });
  EXPECT_TRUE(test::contains(why, "would depend on the loop over 'i'")) << why;
}

TEST(ExpandScalar, refuses_loops_in_parallel_and_of_unknown_length) {
  EXPECT_TRUE(test::contains(said("        y[i] = a\n        a = v[0]\n", "seq(M, N)"),
                             "may end before it begins"));
  const auto parallel = [] {
    (void)expand_scalar(test::parse_last("def f(N: size, y: f32[N]):\n    a: f32\n    a = 1.0\n"
                                         "    for i in par(0, N):\n        y[i] = 2.0\n"),
                        "i", "a", "t");
  };
  EXPECT_TRUE(test::contains(refusal(parallel), "is no sequential loop"));
  const auto tensor = [] {
    (void)expand_scalar(test::parse_last("def f(N: size, y: f32[N]):\n    for i in seq(0, N):\n"
                                         "        y[i] = 2.0\n"),
                        "i", "y", "t");
  };
  EXPECT_TRUE(test::contains(refusal(tensor), "is no scalar that the loop sees"));
}

// Every body of three statements out of a small grammar, with the scalar as a local or as an
// argument: what is accepted computes the same.
class EveryBody {
 public:
  void run() {
    for (const char* a : kStatements)
      for (const char* b : kStatements)
        for (const char* c : kStatements)
          for (const bool local : {false, true})
            for (const char* bounds : {"0, N", "1, N", "2, N + 1"})
              for (const bool twice : {false, true}) one(text_of({a, b, c}, local, bounds, twice));
  }
  int accepted() const { return accepted_; }
  int refused() const { return refused_; }

 private:
  static constexpr const char* kStatements[] = {"a = x[i]", "a = a * x[i] + a",
                                                "y[i] = a", "y[i + 1] += a * x[i]",
                                                "x[i] = a", "if i > 1:\n                a = 3.0"};

  static std::string text_of(std::initializer_list<const char*> body, bool local,
                             const std::string& bounds, bool twice) {
    std::string text = "def f(N: size, " + std::string(local ? "" : "a: f32, ") +
                       "x: f32[N + 2], y: f32[N + 3]):\n";
    if (local) text += "    a: f32\n    a = 5.0\n";
    text += twice ? "    for r in seq(0, 2):\n" : "    if N > 0:\n";
    text += "        for i in seq(" + bounds + "):\n";
    for (const char* s : body) text += "            " + std::string(s) + "\n";
    return text + (twice ? "" : "        y[N] += a\n");
  }

  void one(const std::string& text) {
    const ProcPtr p = parse(text);
    ASSERT_NO_THROW(check(*p)) << text;
    try {
      const ProcPtr q = expand_scalar(p, "i", "a", "t");
      ++accepted_;
      test::expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 4}}});
    } catch (const SchedulingError&) {
      ++refused_;
    }
  }

  int accepted_ = 0, refused_ = 0;
};

TEST(ExpandScalar, computes_the_same_with_every_small_body) {
  EveryBody bodies;
  bodies.run();
  EXPECT_GT(bodies.accepted(), 500);
  EXPECT_GT(bodies.refused(), 500);
}

}  // namespace
}  // namespace exotune
