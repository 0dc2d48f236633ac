// reduce_ahead: windows one direction after the other.
#include "core/primitives/reduce_ahead.h"

#include "core/cursor/provenance.h"
#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;
using test::refusal;

const char* const kPool = R"(
def f(C: size, Y: size, X: size, a: f32[C, 2 * Y + 1, 2 * X + 1], out: f32[C, Y, X]):
    for c in seq(0, C):
        for y in seq(0, Y):
            for x in seq(0, X):
                out[c, y, x] = a[c, 2 * y, 2 * x]
                for r in seq(0, 3):
                    for s in seq(0, 3):
                        out[c, y, x] max= a[c, 2 * y + r, 2 * x + s]
)";

TEST(ReduceAhead, a_maximum_over_rows_then_over_columns) {
  ProcPtr q = reduce_ahead(parse(kPool), "for c in _: _", "for r in _: _", "t");
  expect_proc(q, R"(
def f(C: size, Y: size, X: size, a: f32[C, 2 * Y + 1, 2 * X + 1], out: f32[C, Y, X]):
    t: f32[C, Y, 2 * X + 1]
    for c in seq(0, C):
        for y in seq(0, Y):
            for w in seq(0, 2 * X + 1):
                t[c, y, w] = a[c, 2 * y, w]
                for r in seq(1, 3):
                    t[c, y, w] max= a[c, 2 * y + r, w]
    for c in seq(0, C):
        for y in seq(0, Y):
            for x in seq(0, X):
                out[c, y, x] = a[c, 2 * y, 2 * x]
                for s in seq(0, 3):
                    out[c, y, x] max= t[c, y, 2 * x + s]
)");
  EXPECT_FALSE(reassociates(q));
  test::expect_same_meaning(parse(kPool), q,
                            {{{"C", 1}, {"Y", 1}, {"X", 1}},
                             {{"C", 2}, {"Y", 3}, {"X", 2}},
                             {{"C", 1}, {"Y", 2}, {"X", 5}}});
}

// A sum begins at zero, and what is multiplied with it stays where it is. The inner direction
// first.
TEST(ReduceAhead, a_sum_and_its_other_factors) {
  const char* const mean = R"(
def f(Y: size, X: size, a: f32[Y + 2, X + 1], w: f32[3], out: f32[Y, X]):
    for y in seq(0, Y):
        for x in seq(0, X):
            out[y, x] = 0.0
            for r in seq(0, 3):
                for s in seq(0, 2):
                    out[y, x] += w[r] * a[y + r, x + s] * 0.25
            out[y, x] = out[y, x] / 6.0
)";
  ProcPtr q = reduce_ahead(parse(mean), "for y in _: _", "for s in _: _", "t");
  expect_proc(q, R"(
def f(Y: size, X: size, a: f32[Y + 2, X + 1], w: f32[3], out: f32[Y, X]):
    t: f32[Y + 2, X]
    for w_1 in seq(0, Y + 2):
        for x in seq(0, X):
            t[w_1, x] = 0.0
            for s in seq(0, 2):
                t[w_1, x] += a[w_1, x + s]
    for y in seq(0, Y):
        for x in seq(0, X):
            out[y, x] = 0.0
            for r in seq(0, 3):
                out[y, x] += w[r] * (0.25 * t[y + r, x])
            out[y, x] = out[y, x] / 6.0
)");
  EXPECT_TRUE(reassociates(q));
  test::expect_same_meaning(parse(mean), q, {{{"Y", 1}, {"X", 1}}, {{"Y", 4}, {"X", 3}}});
}

TEST(ReduceAhead, a_minimum_under_a_guard_and_in_a_loop) {
  const char* const least = R"(
def f(T: size, N: size, a: f32[T, N + 1], out: f32[T]):
    for t in par(0, T):
        for n in seq(0, N):
            if n < 3:
                for r in seq(0, 2):
                    out[t] min= a[t, n + r]
)";
  ProcPtr q = reduce_ahead(parse(least), "for n in _: _", "for r in _: _", "row");
  expect_proc(q, R"(
def f(T: size, N: size, a: f32[T, N + 1], out: f32[T]):
    for t in par(0, T):
        row: f32[N]
        for n in seq(0, N):
            row[n] = a[t, n]
            for r in seq(1, 2):
                row[n] min= a[t, n + r]
        for n in seq(0, N):
            if n < 3:
                out[t] min= row[n]
)");
  test::expect_same_meaning(parse(least), q, {{{"T", 1}, {"N", 1}}, {{"T", 2}, {"N", 5}}});
}

TEST(ReduceAhead, the_loop_alone) {
  expect_proc(reduce_ahead(parse("def f(a: i32[4], x: i32):\n    for r in seq(0, 4):\n"
                                 "        x max= a[r]\n"),
                           "for r in _: _", "for r in _: _", "t"),
              "def f(a: i32[4], x: i32):\n    t: i32\n    t = a[0]\n    for r in seq(1, 4):\n"
              "        t max= a[r]\n    x max= t\n");
}

TEST(ReduceAhead, keeps_cursors_on_the_loops_that_stay) {
  ProcPtr p = parse(kPool);
  const Cursor x = find(p, "for x in _: _"), s = find(p, "for s in _: _"),
               r = find(p, "for r in _: _"), sum = find(p, "out[_] max= _");
  ProcPtr q = reduce_ahead(p, "for c in _: _", "for r in _: _", "t");
  EXPECT_EQ(forward(q, x).path(), find(q, "for x in _: _").path());
  EXPECT_EQ(forward(q, s).path(), find(q, "for s in _: _").path());
  EXPECT_EQ(forward(q, sum).path(), find(q, "out[_] max= _").path());
  EXPECT_FALSE(forward(q, r).valid());
}

// What a refusal says of `body`, the lines of a nest `for y`, with a loop `for r` in it.
std::string said(const std::string& body, const std::string& arguments =
                                              "N: size, a: f32[N + 4, N + 4], b: f32[N + 4], "
                                              "d: f64[N + 4, N + 4], i: i32[N + 4, N + 4], "
                                              "out: f32[N + 4], k: i32[N + 4]") {
  return refusal([&] {
    (void)reduce_ahead(parse("def f(" + arguments + "):\n    for y in seq(0, N):\n" + body),
                       "for y in _: _", "for r in _: _", "t");
  });
}

#define EXPECT_SAID(body, part) EXPECT_TRUE(test::contains(said(body), part)) << said(body)

TEST(ReduceAhead, refuses_what_is_no_reduction_over_the_loop) {
  EXPECT_EQ(said("        for r in seq(0, 3):\n            out[y] max= a[y + r, 0]\n"), "");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] = a[y + r, 0]\n",
              "more than one sum or maximum");
  EXPECT_SAID(
      "        for r in seq(0, 3):\n            out[y] max= a[y + r, 0]\n            b[y] = 0.0\n",
      "more than one sum or maximum");
  EXPECT_SAID(
      "        for r in seq(0, 3):\n            if y < r:\n"
      "                out[y] max= a[y + r, 0]\n",
      "more than one sum or maximum");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[r] max= a[y + r, 0]\n",
              "the element depends on the loop");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] max= a[y, 0]\n",
              "no operand depends on the loop");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] += a[y + r, 0] * b[r]\n",
              "two operands depend on the loop");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] max= a[y + r, 0] * b[0]\n",
              "is no element of a buffer");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] += -a[y + r, 0]\n",
              "is no element of a buffer");
}

TEST(ReduceAhead, refuses_loops_that_may_not_run_or_whose_bounds_move) {
  const std::string sum = "            out[y] max= a[y + r, 0]\n";
  EXPECT_SAID("        for r in seq(1, 3):\n" + sum, "does not begin at 0");
  EXPECT_SAID("        for r in seq(0, N - 1):\n            out[y] max= a[r, 0]\n",
              "may have no iteration");
  EXPECT_SAID("        for r in seq(0, y + 1):\n            out[y] max= a[r, 0]\n",
              "depends on a loop around it");
  EXPECT_SAID("        for r in seq(0, 0):\n" + sum, "may have no iteration");
  EXPECT_SAID(
      "        for r in seq(0, 3):\n            for s in seq(0, r + 1):\n"
      "                out[y] max= a[y + r, s]\n",
      "depend on the loop");
  EXPECT_SAID(
      "        for r in seq(0, 3):\n            for s in seq(r, 3):\n"
      "                out[y] max= a[y + r, s]\n",
      "depend on the loop");
  // An axis of the new buffer has a positive, fixed extent too.
  EXPECT_SAID(
      "        for x in seq(0, N - 1):\n            for r in seq(0, 3):\n"
      "                out[y] max= a[x + r, y]\n",
      "`x` may have no iteration");
  EXPECT_SAID(
      "        for x in seq(0, y):\n            for r in seq(0, 3):\n"
      "                out[y] max= a[x + r, y]\n",
      "the bound of `x` depends on a loop around it");
  EXPECT_SAID(
      "        for x in seq(1, 3):\n            for r in seq(0, 2):\n"
      "                out[y] max= a[x + r, y]\n",
      "`x` does not begin at 0");
}

TEST(ReduceAhead, refuses_where_the_nest_changes_what_it_reads) {
  const std::string sum = "        for r in seq(0, 3):\n            out[y] max= a[y + r, 0]\n";
  EXPECT_SAID(sum + "        a[0, 0] = 1.0\n", "the nest writes what");
  EXPECT_SAID("        a[y, 0] += 1.0\n" + sum, "the nest writes what");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] max= out[r]\n",
              "the nest writes what");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] += a[y + r, 0] * out[N]\n",
              "reads what is summed into");
  // Through another name, and in code that is not looked into.
  EXPECT_SAID("        v = a[0:2, 0:2]\n        v[0, 0] = 1.0\n" + sum, "the nest holds `v = ");
  EXPECT_SAID(
      "        t: f32[4]\n        for j in seq(0, 4):\n            t[j] = b[j]\n"
      "        for r in seq(0, 3):\n            out[y] max= t[r]\n",
      "is not there before the nest");
  const std::string window = R"(
def f(a: f32[8, 8], out: f32[8]):
    v = a[0:4, 0:4]
    for y in seq(0, 2):
        v[y, 0] = 1.0
        for r in seq(0, 3):
            out[y] max= a[y + r, 0]
)";
  EXPECT_TRUE(test::contains(
      refusal([&] { (void)reduce_ahead(parse(window), "for y in _: _", "for r in _: _", "t"); }),
      "the nest writes what"));
}

TEST(ReduceAhead, refuses_configuration) {
  const auto says = [](const std::string& before, const std::string& bound,
                       const std::string& index) {
    const std::string text =
        "@config\nclass Cfg:\n    at: index\n    f: f32\n\n@proc\ndef f(N: size, a: f32[N + 8], "
        "out: f32[N]):\n" +
        before + "        for r in seq(0, " + bound + "):\n            out[y] += " + index + "\n";
    const ProcPtr p = parse_module(text, "test.exo").procs.back();
    return refusal([&] { (void)reduce_ahead(p, "for y in _: _", "for r in _: _", "t"); });
  };
  const std::string loop = "    for y in seq(0, N):\n";
  EXPECT_EQ(says(loop, "3", "a[y + r]"), "");
  EXPECT_TRUE(
      test::contains(says(loop + "        Cfg.at = 1\n", "3", "a[y + r]"), "the nest holds"));
  EXPECT_TRUE(test::contains(says(loop, "3", "a[y + r] * Cfg.f"), "reads configuration"));
  EXPECT_TRUE(
      test::contains(says("    Cfg.at = 2\n" + loop, "Cfg.at", "a[y + r]"), "reads configuration"));
  EXPECT_TRUE(test::contains(says("    Cfg.at = 2\n" + loop, "3", "a[y + r + Cfg.at]"),
                             "reads configuration"));
}

TEST(ReduceAhead, refuses_calls_that_may_write) {
  const std::string text = R"(
def clear(n: size, x: [f32][n]):
    for i in seq(0, n):
        x[i] = 0.0

def f(a: f32[8], out: f32[8]):
    for y in seq(0, 2):
        clear(4, a[0:4])
        for r in seq(0, 3):
            out[y] max= a[y + r]
)";
  EXPECT_TRUE(test::contains(
      refusal([&] { (void)reduce_ahead(parse(text), "for y in _: _", "for r in _: _", "t"); }),
      "the nest holds `clear("));
}

// A guard around the nest's reads is not around those ahead.
TEST(ReduceAhead, refuses_reads_of_what_may_not_exist) {
  const std::string guarded = R"(
def f(N: size, a: f32[N], out: f32[N]):
    for y in seq(0, N):
        if y + 2 < N:
            for r in seq(0, 3):
                out[y] max= a[y + r]
)";
  const auto says = [](const std::string& text) {
    return refusal([&] { (void)reduce_ahead(parse(text), "for y in _: _", "for r in _: _", "t"); });
  };
  EXPECT_TRUE(test::contains(says(guarded), "may not exist outside the nest")) << says(guarded);
}

TEST(ReduceAhead, refuses_other_types_and_sums_of_whole_numbers) {
  EXPECT_SAID("        for r in seq(0, 3):\n            k[y] += i[y + r, 0]\n",
              "holds no floating-point numbers");
  EXPECT_EQ(said("        for r in seq(0, 3):\n            k[y] max= i[y + r, 0]\n"), "");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] max= d[y + r, 0]\n", "is converted");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] += d[y + r, 0]\n", "is converted");
  EXPECT_SAID("        for r in seq(0, 3):\n            out[y] += a[y + r, 0] * d[0, 0]\n",
              "is converted");
}

TEST(ReduceAhead, refuses_parallel_loops_and_loops_elsewhere) {
  EXPECT_SAID("        for r in par(0, 3):\n            out[y] += a[y + r, 0]\n",
              "is no sequential loop");
  const auto elsewhere = [] {
    (void)reduce_ahead(parse("def f(a: f32[8], out: f32[8]):\n    for y in seq(0, 2):\n"
                             "        out[y] = 0.0\n    for r in seq(0, 3):\n"
                             "        out[0] max= a[r]\n"),
                       "for y in _: _", "for r in _: _", "t");
  };
  EXPECT_TRUE(test::contains(refusal(elsewhere), "does not stand in the nest"));
}

// Every nest of a small grammar, every loop ahead of every loop around it: what is accepted
// computes the same.
class EveryNest {
 public:
  void run() {
    for (const char* row : {"y + r", "2 * y + r", "r", "y - r + 2"})
      for (const char* column : {"x + s", "x", "r", "y + s"})
        for (const char* before : {"", "out[y] = a[y, 0]", "a[y + 1, 1] = 2.0", "b[y] += out[y]"})
          for (const char* guard : {"", "x < 2", "x + y < N"})
            for (const char* term : {"max= ", "min= ", "+= b[x] * ", "+= b[s] * "})
              one(text_of(row, column, before, guard, term));
  }
  int accepted() const { return accepted_; }
  int refused() const { return refused_; }

 private:
  static std::string text_of(const std::string& row, const std::string& column,
                             const std::string& before, const std::string& guard,
                             const std::string& term) {
    std::string text =
                    "def f(N: size, a: f32[2 * N + 3, N + 3], b: f32[N + 3], out: f32[N]):\n"
                    "    for y in seq(0, N):\n        for x in seq(0, N):\n",
                in(12, ' ');
    if (!before.empty()) text += in + before + "\n";
    if (!guard.empty()) text += in + "if " + guard + ":\n", in += "    ";
    text += in + "for r in seq(0, 3):\n" + in + "    for s in seq(0, 2):\n";
    return text + in + "        out[y] " + term + "a[" + row + ", " + column + "]\n";
  }

  void one(const std::string& text) {
    const ProcPtr p = parse(text);
    ASSERT_NO_THROW(check(*p)) << text;
    const std::string loops[] = {"y", "x", "r", "s"};
    for (size_t inner = 0; inner < 4; ++inner)
      for (size_t outer = 0; outer <= inner; ++outer) try {
          const ProcPtr q = reduce_ahead(p, "for " + loops[outer] + " in _: _",
                                         "for " + loops[inner] + " in _: _", "t");
          ++accepted_;
          test::expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 3}}});
        } catch (const SchedulingError&) {
          ++refused_;
        }
  }

  int accepted_ = 0, refused_ = 0;
};

TEST(ReduceAhead, computes_the_same_in_every_small_nest) {
  EveryNest nests;
  nests.run();
  EXPECT_GT(nests.accepted(), 500);
  EXPECT_GT(nests.refused(), 500);
}

}  // namespace
}  // namespace exotune
