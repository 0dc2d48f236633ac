// Loops that come, go, and run more or less often.
#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::expect_same_meaning;
using test::parse;
using test::parse_last;
using test::refusal;

const char kCopy[] = R"(
def copy(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        y[i] = x[i]
)";

TEST(RemoveLoop, keeps_an_if_when_the_loop_may_not_run) {
  expect_proc(remove_loop(parse(R"(
def f(N: size, x: f32[1]):
    for i in seq(0, N):
        x[0] = 1.0
)"),
                          "i"),
              "def f(N: size, x: f32[1]):\n    x[0] = 1.0\n");
  expect_proc(remove_loop(parse(R"(
def f(N: size, M: size, x: f32[1]):
    for i in seq(M, N):
        x[0] = 1.0
)"),
                          "i"),
              "def f(N: size, M: size, x: f32[1]):\n    if M < N:\n        x[0] = 1.0\n");
}

TEST(RemoveLoop, refuses_a_sum) {
  EXPECT_NE(
      refusal([] {
        (void)remove_loop(
            parse("def f(N: size, x: f32[1]):\n    for i in seq(0, N):\n        x[0] += 1.0\n"),
            "i");
      }),
      "");
}

// What is left over after whole vectors: a remainder's loop runs once or not at all.
TEST(RemoveLoop, puts_the_lower_bound_in_the_place_of_a_single_iteration) {
  const ProcPtr rest = parse(R"(
def f(N: size, x: f32[N], s: f32[1]):
    for i in seq(N / 4, (N + 3) / 4):
        for l in seq(0, N - 4 * i):
            s[0] += x[4 * i + l]
)");
  const ProcPtr once = remove_loop(rest, "i");
  expect_proc(once, R"(
def f(N: size, x: f32[N], s: f32[1]):
    if N / 4 < (N + 3) / 4:
        for l in seq(0, N - 4 * (N / 4)):
            s[0] += x[4 * (N / 4) + l]
)");
  expect_same_meaning(rest, once,
                      {{{"N", 1}}, {{"N", 3}}, {{"N", 4}}, {{"N", 5}}, {{"N", 8}}, {{"N", 11}}});
  expect_proc(remove_loop(parse(R"(
def f(N: size, x: f32[N + 1]):
    for i in seq(N, N + 1):
        x[i] = 1.0
)"),
                          "i"),
              "def f(N: size, x: f32[N + 1]):\n    x[N] = 1.0\n");
}

TEST(RemoveLoop, refuses_a_body_that_depends_on_several_iterations) {
  const std::string why = refusal([] {
    (void)remove_loop(parse(R"(
def f(N: size, x: f32[N]):
    for i in seq(N / 4, (N + 4) / 4 + 1):
        if i < N:
            x[i] = 1.0
)"),
                      "i");
  });
  EXPECT_NE(why.find("the body depends on 'i', and the loop may run more than once"),
            std::string::npos)
      << why;
}

// The body changes what the lower bound reads before it asks for the iterator.
TEST(RemoveLoop, refuses_a_lower_bound_that_does_not_stay) {
  const std::string why = refusal([] {
    (void)remove_loop(parse_last(R"(
@config
class C:
    a: index

def f(x: f32[1]):
    for i in seq(C.a, C.a + 1):
        C.a = 0
        if i == 2:
            x[0] = 1.0
)"),
                      "i");
  });
  EXPECT_NE(why, "");
}

TEST(RemoveLoop, takes_a_maximum_twice_for_once) {
  for (const char* op : {"max=", "min="}) {
    const std::string y = std::string("y[0] ") + op + " x[0]\n";
    expect_proc(remove_loop(parse("def f(N: size, x: f32[1], y: f32[1]):\n"
                                  "    for i in seq(0, N):\n        " +
                                  y),
                            "i"),
                "def f(N: size, x: f32[1], y: f32[1]):\n    " + y);
    EXPECT_NE(refusal([&] {
                (void)remove_loop(
                    parse("def f(N: size, x: f32[1], y: f32[1]):\n    for i in seq(0, N):\n"
                          "        x[0] = y[0]\n        " +
                          y),
                    "i");
              }),
              "");
  }
}

TEST(UnrollLoop, copies_the_body) {
  expect_proc(unroll_loop(parse(R"(
def f(x: f32[8]):
    for i in seq(1, 4):
        t: f32
        t = x[i]
        x[i] = t + t
)"),
                          "i"),
              R"(
def f(x: f32[8]):
    t: f32
    t = x[1]
    x[1] = t + t
    t: f32
    t = x[2]
    x[2] = t + t
    t: f32
    t = x[3]
    x[3] = t + t
)");
}

// A register of four lanes of which three are wanted.
std::string three_lanes(const std::string& more = "", const std::string& element = "f32") {
  return R"(
def f(N: size, x: )" +
         element + R"([N, 4], y: )" + element + R"([3]):
    r : )" +
         element + R"([4]
    for l in seq(0, 3):
        r[l] = y[l]
    for k in seq(0, N):
        for j in seq(0, 3):
            r[j] += x[k, j]
)" + more +
         R"(    for l in seq(0, 3):
        y[l] = r[l]
)";
}

TEST(ExtendLoop, computes_what_nobody_reads) {
  ProcPtr p = parse(three_lanes());
  ProcPtr q = extend_loop(p, "j", int_const(4));
  std::string want = three_lanes();
  want.replace(want.find("for j in seq(0, 3)"), 18, "for j in seq(0, 4)");
  expect_proc(q, want);
  expect_proc(extend_loop(p, "j", int_const(3)), three_lanes());
  test::expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 3}}});
}

TEST(ExtendLoop, sums_of_integers_wrap_around_whatever_they_are) {
  ProcPtr p = parse(three_lanes("", "i32"));
  test::expect_same_meaning(p, extend_loop(p, "j", int_const(4)), {{{"N", 1}}, {{"N", 3}}});
}

TEST(ExtendLoop, refuses_integers_that_there_may_not_be) {
  const auto refused = [](const std::string& element, const std::string& rhs) {
    return refusal([&] {
      (void)extend_loop(parse("def f(x: " + element + R"([4], y: i32[3]):
    r : i32[4]
    q : i32[4]
    for l in seq(0, 3):
        q[l] = y[l]
    for j in seq(0, 3):
        r[j] = )" + rhs + R"(
    for l in seq(0, 3):
        y[l] = r[l]
)"),
                        "j", int_const(4));
    });
  };
  EXPECT_EQ(refused("i32", "x[j] * q[j] - 2"), "");
  EXPECT_NE(refused("i32", "x[j] / q[j]"), "");  // by zero
  EXPECT_NE(refused("f32", "x[j]"), "");         // beyond 32 bits
  EXPECT_NE(refused("i32", "relu(x[j])"), "");
}

TEST(ExtendLoop, refuses_what_may_be_seen) {
  const auto refused = [](const std::string& text, const char* loop, int64_t hi) {
    return refusal([&] { (void)extend_loop(parse(text), loop, int_const(hi)); });
  };
  EXPECT_NE(refused(three_lanes(), "j", 2), "");     // shorter
  EXPECT_NE(refused(three_lanes(), "j", 5), "");     // beyond the register
  EXPECT_NE(refused(three_lanes(), "l #1", 4), "");  // an argument is written
  EXPECT_NE(refused(three_lanes(), "l", 4), "");     // y has three elements
  EXPECT_NE(refused(three_lanes("    y[0] = r[3]\n"), "j", 4), "");
  EXPECT_NE(refused(three_lanes("    for l in seq(0, 4):\n        r[l] += 1.0\n"), "j", 4), "");
  EXPECT_NE(refused(three_lanes("    w = r[2:4]\n    y[0] = w[1]\n"), "j", 4), "");
  EXPECT_EQ(refused(three_lanes("    y[0] = r[2]\n"), "j", 4), "");
}

TEST(ExtendLoop, refuses_a_value_for_the_next_iteration) {
  EXPECT_NE(refusal([] {
              (void)extend_loop(parse(R"(
def f(N: size, x: f32[N, 4], y: f32[N]):
    r : f32[4]
    r[3] = 0.0
    for k in seq(0, N):
        y[k] = r[3]
        for j in seq(0, 3):
            r[j] = x[k, j]
)"),
                                "j", int_const(4));
            }),
            "");
}

TEST(AddLoop, runs_a_sum_once_but_not_twice) {
  ProcPtr p = parse("def f(x: f32[4]):\n    for i in seq(0, 4):\n        x[i] += 1.0\n");
  expect_proc(add_loop(p, "x[_] += _", "r", int_const(1), false),
              "def f(x: f32[4]):\n    for i in seq(0, 4):\n        for r in seq(0, 1):\n           "
              " x[i] += 1.0\n");
  EXPECT_NE(refusal([&] { (void)add_loop(p, "x[_] += _", "r", int_const(2), false); }), "");
}

TEST(AddLoop, refuses_a_range_that_may_be_empty) {
  ProcPtr p = parse("def f(N: size, x: f32[1]):\n    x[0] = 1.0\n");
  EXPECT_NE(
      refusal([&] {
        (void)add_loop(p, "x[_] = _", "i", parse_expr_at(p, {{Child::kBody, 0}}, "N - 1"), true);
      }),
      "");
  expect_proc(add_loop(p, "x[_] = _", "i", parse_expr_at(p, {{Child::kBody, 0}}, "N"), true),
              "def f(N: size, x: f32[1]):\n    for i in seq(0, N):\n        if i == 0:\n           "
              " x[0] = 1.0\n");
}

TEST(ParallelizeLoop, refuses_a_race) {
  ProcPtr p = parallelize_loop(parse(kCopy), "i");
  EXPECT_EQ(p->body[0]->as<For>()->mode, LoopMode::kPar);
  EXPECT_NE(
      refusal([] {
        (void)parallelize_loop(
            parse("def f(N: size, x: f32[1]):\n    for i in seq(0, N):\n        x[0] = 1.0\n"),
            "i");
      }),
      "");
}

TEST(RemoveGuard, what_runs_more_often_is_not_seen) {
  const ProcPtr p = parse(R"(def f(N: size, x: f32[N], y: f32[N]):
    assert N <= 8
    t: f32[8]
    for i in seq(0, 8):
        if i < N:
            t[i] = 2.0
    for i in seq(0, N):
        y[i] = t[i]
)");
  expect_proc(remove_guard(p, "if _: _"), R"(def f(N: size, x: f32[N], y: f32[N]):
    assert N <= 8
    t: f32[8]
    for i in seq(0, 8):
        t[i] = 2.0
    for i in seq(0, N):
        y[i] = t[i]
)");
}

TEST(RemoveGuard, what_is_read_or_out_of_bounds_is_refused) {
  const auto said = [](const std::string& body) {
    const ProcPtr p = parse("def f(N: size, x: f32[N], y: f32[N]):\n    assert N <= 8\n" + body);
    return refusal([&] { (void)remove_guard(p, "if _: _"); });
  };
  EXPECT_NE(said("    t: f32[8]\n    for i in seq(0, 8):\n        t[i] = 1.0\n"
                 "    for i in seq(0, 8):\n        if i < N:\n            t[i] = 2.0\n"
                 "    for i in seq(0, N):\n        y[i] = t[7 - i]\n")
                .find("may be seen"),
            std::string::npos);
  EXPECT_NE(said("    t: f32[8]\n    for i in seq(0, 8):\n        if i < N:\n"
                 "            t[i] = x[i]\n    for i in seq(0, N):\n        y[i] = t[i]\n")
                .find("not allowed"),
            std::string::npos);
  EXPECT_NE(said("    for i in seq(0, 8):\n        if i < N:\n            y[i] = 2.0\n"
                 "        else:\n            pass\n")
                .find("else branch"),
            std::string::npos);
  EXPECT_NE(said("    for i in seq(0, 8):\n        if i < N:\n            y[i] = 2.0\n")
                .find("is an argument"),
            std::string::npos);
}

}  // namespace
}  // namespace exotune
