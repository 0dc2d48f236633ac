// Loops and scopes changing places.
#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;
using test::refusal;

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

}  // namespace
}  // namespace exotune
