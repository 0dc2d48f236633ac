#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;
using test::refusal;
using ::testing::Test;

const char kCopy[] = R"(
def copy(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        y[i] = x[i]
)";

TEST(DivideLoop, cut_leaves_a_tail) {
  expect_proc(divide_loop(parse(kCopy), "i", 8, {"io", "ii"}, Tail::kCut), R"(
def copy(N: size, x: f32[N], y: f32[N]):
    for io in seq(0, N / 8):
        for ii in seq(0, 8):
            y[8 * io + ii] = x[8 * io + ii]
    for ii in seq(0, N % 8):
        y[8 * (N / 8) + ii] = x[8 * (N / 8) + ii]
)");
}

TEST(DivideLoop, guard_checks_every_iteration) {
  expect_proc(divide_loop(parse(kCopy), "i", 8, {"io", "ii"}, Tail::kGuard), R"(
def copy(N: size, x: f32[N], y: f32[N]):
    for io in seq(0, (N + 7) / 8):
        for ii in seq(0, 8):
            if 8 * io + ii < N:
                y[8 * io + ii] = x[8 * io + ii]
)");
}

TEST(DivideLoop, perfect_needs_a_proof) {
  EXPECT_NE(refusal([] {
              (void)divide_loop(parse(kCopy), "i", 8, {"io", "ii"}, Tail::kPerfect);
            }),
            "");
  expect_proc(divide_loop(parse(R"(
def copy(N: size, x: f32[N]):
    assert N % 8 == 0
    for i in seq(0, N):
        x[i] = 0.0
)"),
                          "i", 8, {"io", "ii"}, Tail::kPerfect),
              R"(
def copy(N: size, x: f32[N]):
    assert N % 8 == 0
    for io in seq(0, N / 8):
        for ii in seq(0, 8):
            x[8 * io + ii] = 0.0
)");
}

TEST(DivideLoop, the_last_tile_is_as_long_as_is_left) {
  expect_proc(divide_loop(parse(R"(
def f(x: f32[23]):
    for i in seq(2, 21):
        x[i] = 0.0
)"),
                          "i", 8, {"io", "ii"}, Tail::kShort),
              R"(
def f(x: f32[23]):
    for io in seq(0, 3):
        for ii in seq(0, 8 - 5 * (io / 2)):
            x[2 + (8 * io + ii)] = 0.0
)");
  expect_proc(divide_loop(parse(R"(
def f(x: f32[5]):
    for i in seq(0, 5):
        x[i] = 0.0
)"),
                          "i", 8, {"io", "ii"}, Tail::kShort),
              R"(
def f(x: f32[5]):
    for io in seq(0, 1):
        for ii in seq(0, 5):
            x[8 * io + ii] = 0.0
)");
  EXPECT_NE(refusal([] {
              (void)divide_loop(parse(kCopy), "i", 8, {"io", "ii"}, Tail::kShort);
            }),
            "");
}

TEST(DivideLoop, constant_bounds_fold_and_a_lower_bound_is_added) {
  expect_proc(divide_loop(parse(R"(
def f(x: f32[20]):
    for i in seq(2, 19):
        x[i] = 0.0
)"),
                          "i", 4, {"io", "ii"}, Tail::kCut),
              R"(
def f(x: f32[20]):
    for io in seq(0, 4):
        for ii in seq(0, 4):
            x[2 + (4 * io + ii)] = 0.0
    for ii in seq(0, 1):
        x[18 + ii] = 0.0
)");
}

TEST(DivideLoop, no_tail_when_the_factor_divides) {
  ProcPtr p = divide_loop(parse(R"(
def f(x: f32[16]):
    for i in seq(0, 16):
        x[i] = 0.0
)"),
                          "i", 4, {"io", "ii"}, Tail::kCut);
  EXPECT_EQ(p->body.size(), 1u);
}

TEST(DivideLoop, a_range_that_may_be_negative_guards_its_tail) {
  ProcPtr p = divide_loop(parse(R"(
def f(N: size, M: size, x: f32[N]):
    for i in seq(M, N):
        x[i] = 0.0
)"),
                          "i", 4, {"io", "ii"}, Tail::kCut);
  EXPECT_NO_THROW(check(*p));
  ASSERT_EQ(p->body.size(), 2u);
  EXPECT_NE(p->body[1]->as<If>(), nullptr);
}

TEST(DivideLoop, cursors_to_the_loop_become_the_outer_loop) {
  ProcPtr p = parse(kCopy);
  Cursor loop = find_loop(p, "i"), store = loop.body()[0];
  ProcPtr q = divide_loop(p, loop, 8, {"io", "ii"}, Tail::kCut);
  EXPECT_EQ(forward(q, loop).as<For>().iter.name(), "io");
  EXPECT_TRUE(forward(q, store).is<Assign>());
  EXPECT_EQ(str(forward(q, store).path()), "body[0].body[0].body[0]");
}

const char kNest[] = R"(
def f(N: size, A: f32[N, N]):
    for i in seq(0, N):
        for j in seq(0, i + 1):
            A[i, j] = 1.0
)";

TEST(ReorderLoops, triangular_bounds_are_exact) {
  expect_proc(reorder_loops(parse(kNest), "i j"), R"(
def f(N: size, A: f32[N, N]):
    for j in seq(0, N):
        for i in seq(j, N):
            A[i, j] = 1.0
)");
}

TEST(ReorderLoops, refuses_a_recurrence) {
  EXPECT_NE(refusal([] {
              (void)reorder_loops(parse(R"(
def f(N: size, A: f32[N + 1, N + 1]):
    for i in seq(0, N):
        for j in seq(0, N):
            A[i + 1, j] = A[i, j + 1]
)"),
                                  "i j");
            }),
            "");
}

TEST(ReorderLoops, cursors_follow_their_loops) {
  ProcPtr p = parse(kNest);
  Cursor i = find_loop(p, "i"), j = find_loop(p, "j"), store = j.body()[0];
  ProcPtr q = reorder_loops(p, i);
  EXPECT_EQ(forward(q, i).as<For>().iter.name(), "i");
  EXPECT_EQ(forward(q, j).as<For>().iter.name(), "j");
  EXPECT_EQ(str(forward(q, j).path()), "body[0]");
  EXPECT_TRUE(forward(q, store).is<Assign>());
}

TEST(LiftScope, an_if_leaves_a_loop_with_its_else) {
  expect_proc(lift_scope(parse(R"(
def f(N: size, x: f32[N]):
    for i in seq(0, N):
        if N < 8:
            x[i] = 1.0
        else:
            x[i] = 2.0
)"),
                         "if _: _"),
              R"(
def f(N: size, x: f32[N]):
    if N < 8:
        for i in seq(0, N):
            x[i] = 1.0
    else:
        for i in seq(0, N):
            x[i] = 2.0
)");
}

TEST(LiftScope, a_loop_leaves_an_if) {
  expect_proc(lift_scope(parse(R"(
def f(N: size, x: f32[N]):
    if N < 8:
        for i in seq(0, N):
            x[i] = 1.0
)"),
                         "i"),
              R"(
def f(N: size, x: f32[N]):
    for i in seq(0, N):
        if N < 8:
            x[i] = 1.0
)");
}

TEST(LiftScope, an_if_leaves_an_if) {
  expect_proc(lift_scope(parse(R"(
def f(N: size, M: size, x: f32[1]):
    if N < 8:
        if M < 8:
            x[0] = 1.0
        else:
            x[0] = 2.0
    else:
        x[0] = 3.0
)"),
                         "if M < 8: _"),
              R"(
def f(N: size, M: size, x: f32[1]):
    if M < 8:
        if N < 8:
            x[0] = 1.0
        else:
            x[0] = 3.0
    else:
        if N < 8:
            x[0] = 2.0
        else:
            x[0] = 3.0
)");
}

TEST(LiftScope, refuses_a_condition_that_depends_on_the_iterator) {
  EXPECT_NE(refusal([] {
              (void)lift_scope(parse(R"(
def f(N: size, x: f32[N]):
    for i in seq(0, N):
        if i < 8:
            x[i] = 1.0
)"),
                               "if _: _");
            }),
            "");
}

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

TEST(CutLoop, joins_again) {
  ProcPtr p = parse(R"(
def f(N: size, x: f32[N]):
    assert N >= 3
    for i in seq(0, N):
        x[i] = 1.0
)");
  ProcPtr q = cut_loop(p, "i", 3);
  expect_proc(q, R"(
def f(N: size, x: f32[N]):
    assert N >= 3
    for i in seq(0, 3):
        x[i] = 1.0
    for i in seq(3, N):
        x[i] = 1.0
)");
  EXPECT_EQ(str(*join_loops(q, "i", "i #1")), str(*p));
  EXPECT_NE(refusal([&] { (void)cut_loop(p, "i", 4); }), "");
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

TEST(ShiftLoop, moves_the_range) {
  expect_proc(
      shift_loop(parse("def f(N: size, x: f32[N]):\n    for i in seq(0, N):\n        x[i] = 1.0\n"),
                 "i", int_const(2)),
      "def f(N: size, x: f32[N]):\n    for i in seq(2, N + 2):\n        x[i - 2] = 1.0\n");
}

// The window may not depend on a field that is written: its bounds are looked at again and again.
const char kConfigBounds[] = R"(
@config
class Cfg:
    a: index

def f(x: f32[16], y: f32[1]):
    Cfg.a = 2
    for i in seq(Cfg.a, Cfg.a + 4):
        for j in seq(0, 2):
            w = x[i + j:i + j + 2]
            y[0] += w[0]
    Cfg.a = 1
)";

TEST(ConfigurationInBounds, does_not_come_to_stand_in_a_window) {
  ProcPtr p = parse(kConfigBounds);
  ASSERT_NO_THROW(check(*p));
  const std::string said = "may not stand where it comes to stand";
  EXPECT_NE(refusal([&] { (void)shift_loop(p, "i", int_const(0)); }).find(said), std::string::npos);
  EXPECT_NE(refusal([&] {
              (void)divide_loop(p, "i", 2, {"io", "ii"}, Tail::kPerfect);
            }).find(said),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)mult_loops(p, "i j", "k"); }).find(said), std::string::npos);
  EXPECT_NO_THROW(check(*shift_loop(p, "j", int_const(1))));
  ProcPtr once = parse(R"(
@config
class Cfg:
    a: index

def f(x: f32[16], y: f32[16]):
    Cfg.a = 2
    for i in seq(Cfg.a, Cfg.a + 6):
        w = x[i:i + 2]
        y[i] = w[0]
    Cfg.a = 1
)");
  EXPECT_NE(refusal([&] {
              (void)divide_with_recompute(once, "i", int_const(2), 2, {"io", "ii"});
            }).find(said),
            std::string::npos);
}

TEST(ConfigurationInBounds, may_reach_an_index) {
  ProcPtr p = parse(R"(
@config
class Cfg:
    a: index

def f(x: f32[16]):
    Cfg.a = 2
    for i in seq(Cfg.a, Cfg.a + 4):
        x[i] = 1.0
    Cfg.a = 1
)");
  EXPECT_NO_THROW(check(*shift_loop(p, "i", int_const(0))));
  EXPECT_NO_THROW(check(*divide_loop(p, "i", 2, {"io", "ii"}, Tail::kPerfect)));
}

TEST(MultLoops, recovers_both_iterators) {
  expect_proc(mult_loops(parse(R"(
def f(N: size, x: f32[N, 4]):
    for i in seq(0, N):
        for j in seq(0, 4):
            x[i, j] = 1.0
)"),
                         "i j", "k"),
              R"(
def f(N: size, x: f32[N, 4]):
    for k in seq(0, 4 * N):
        x[k / 4, k % 4] = 1.0
)");
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

TEST(DivideWithRecompute, covers_the_range_with_overlap) {
  ProcPtr p = parse(R"(
def f(N: size, x: f32[4 * N + 2], y: f32[4 * N + 2]):
    for i in seq(0, 4 * N + 2):
        y[i] = x[i]
)");
  expect_proc(
      divide_with_recompute(p, "i", parse_expr_at(p, {{Child::kBody, 0}}, "N"), 4, {"io", "ii"}),
      R"(
def f(N: size, x: f32[4 * N + 2], y: f32[4 * N + 2]):
    for io in seq(0, N):
        for ii in seq(0, 6):
            y[4 * io + ii] = x[4 * io + ii]
)");
}

std::string interchanged(const std::string& loops) {
  return str(*reorder_loops(parse("def f(N: size, M: size, x: f32[2 * N + M, N + M]):\n" + loops +
                                  "            x[i, j] = 1.0\n"),
                            "i j"));
}

TEST(ReorderLoops, other_edges_of_triangles_are_exact) {
  EXPECT_NE(interchanged("    for i in seq(0, N):\n        for j in seq(0, N - i):\n")
                .find("for j in seq(0, N):\n        for i in seq(0, N - j):"),
            std::string::npos);
  EXPECT_NE(interchanged("    for i in seq(1, M):\n        for j in seq(0, M - i):\n")
                .find("for j in seq(0, M - 1):\n        for i in seq(1, M - j):"),
            std::string::npos);
  const std::string halves =
      interchanged("    for i in seq(0, 2 * N):\n        for j in seq(i / 2, N):\n");
  EXPECT_NE(halves.find("for i in seq(0, 2 * j + 2):"), std::string::npos) << halves;
  EXPECT_EQ(halves.find("if "), std::string::npos) << halves;
}

TEST(ReorderLoops, bounds_without_a_straight_edge_stand_inside) {
  const std::string halves =
      interchanged("    for i in seq(0, N):\n        for j in seq(i / 2, N):\n");
  EXPECT_NE(halves.find("if i / 2 <= j:"), std::string::npos) << halves;
  const std::string band =
      interchanged("    for i in seq(0, N):\n        for j in seq(i, i + M):\n");
  EXPECT_NE(band.find("if i <= j and j < i + M:"), std::string::npos) << band;
}

TEST(RenameLoop, is_the_same_loop_under_another_name) {
  const ProcPtr p = parse(
      "def f(N: size, x: f32[N]):\n    for i in seq(0, N):\n"
      "        x[i] = 1.0\n");
  expect_proc(rename_loop(p, "i", "k"),
              "def f(N: size, x: f32[N]):\n    for k in seq(0, N):\n        x[k] = 1.0\n");
  EXPECT_NE(refusal([&] { (void)rename_loop(p, "i", "a b"); }), "");
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
