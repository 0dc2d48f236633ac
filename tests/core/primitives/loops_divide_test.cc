// Loops by arithmetic on their range: divide, cut, shift, multiply, rename.
#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;
using test::refusal;

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

TEST(ShiftLoop, moves_the_range) {
  expect_proc(
      shift_loop(parse("def f(N: size, x: f32[N]):\n    for i in seq(0, N):\n        x[i] = 1.0\n"),
                 "i", int_const(2)),
      "def f(N: size, x: f32[N]):\n    for i in seq(2, N + 2):\n        x[i - 2] = 1.0\n");
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

TEST(RenameLoop, is_the_same_loop_under_another_name) {
  const ProcPtr p = parse(
      "def f(N: size, x: f32[N]):\n    for i in seq(0, N):\n"
      "        x[i] = 1.0\n");
  expect_proc(rename_loop(p, "i", "k"),
              "def f(N: size, x: f32[N]):\n    for k in seq(0, N):\n        x[k] = 1.0\n");
  EXPECT_NE(refusal([&] { (void)rename_loop(p, "i", "a b"); }), "");
}

}  // namespace
}  // namespace exotune
