// Guards told by loops' bounds, against the interpreter.
#include "core/library/guards.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "guards.exo").procs.at(0); }

std::vector<double> result(const ProcPtr& p, int64_t n, int64_t m) {
  Buffer x(ScalarType::kF32, {n}), y(ScalarType::kF32, {m});
  for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11);
  for (double& e : y.data) e = 1.0;
  run(*p, {&x, &y});
  return y.data;
}

TEST(CutAtGuards, borders_become_strips_without_guards) {
  const ProcPtr p = parsed(R"(
@proc
def smooth(x: f32[9], y: f32[9]):
    for i in seq(0, 9):
        y[i] = 1.0
        for d in seq(0, 3):
            if 1 <= i + d and i + d < 10:
                y[i] += x[i + d - 1]
)");
  const ProcPtr q = cut_at_guards(p, "i");
  EXPECT_EQ(result(p, 9, 9), result(q, 9, 9)) << str(*q);
  EXPECT_EQ(str(*q).find("if"), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("for i in seq(1, 8):"), std::string::npos) << str(*q);
}

TEST(CutAtGuards, strips_of_an_outer_loop_are_nests_of_their_own) {
  const ProcPtr p = parsed(R"(
@proc
def rows(x: f32[8], y: f32[32]):
    for b in seq(0, 4):
        for i in seq(0, 8):
            y[8 * b + i] = 1.0
            for d in seq(0, 3):
                if 1 <= i + d and i + d < 9:
                    y[8 * b + i] += x[i + d - 1]
)");
  const ProcPtr q = cut_at_guards(p, "b");
  EXPECT_EQ(result(p, 8, 32), result(q, 8, 32)) << str(*q);
  EXPECT_EQ(q->body.size(), 3u) << str(*q);
}

TEST(CutAtGuards, takes_steps_and_wide_borders) {
  const ProcPtr p = parsed(R"(
@proc
def strided(x: f32[13], y: f32[7]):
    for i in seq(0, 7):
        for d in seq(0, 5):
            if 2 <= 2 * i + d and 2 * i + d <= 14:
                y[i] += x[2 * i + d - 2]
)");
  const ProcPtr q = cut_at_guards(p, "i");
  EXPECT_EQ(result(p, 13, 7), result(q, 13, 7)) << str(*q);
  EXPECT_EQ(str(*q).find("if"), std::string::npos) << str(*q);
}

TEST(CutAtGuards, triangles_told_by_a_guard_are_loops_with_bounds) {
  const ProcPtr p = parsed(R"(
@proc
def half(x: f32[8], y: f32[8]):
    for i in seq(0, 8):
        for j in seq(0, 8):
            if j <= i:
                y[i] += x[j]
)");
  const ProcPtr q = cut_at_guards(p, "i");
  EXPECT_EQ(result(p, 8, 8), result(q, 8, 8)) << str(*q);
  EXPECT_NE(str(*q).find("for j in seq(0, i + 1):"), std::string::npos) << str(*q);
  EXPECT_EQ(str(*q).find("if"), std::string::npos) << str(*q);
}

// The diagonal: in a loop of its own extent it is one statement.
TEST(CutAtGuards, a_point_that_is_left_out_lies_between_two_loops) {
  for (const std::string op : {"!=", "=="}) {
    const ProcPtr p = parsed(R"(
@proc
def others(x: f32[8], y: f32[8]):
    for i in seq(0, 8):
        for j in seq(0, 8):
            y[j] = 0.5 * y[j] + x[i]
            if i )" + op + R"( j:
                y[i] += x[j]
)");
    const ProcPtr q = cut_at_guards(p, "i");
    EXPECT_EQ(result(p, 8, 8), result(q, 8, 8)) << str(*q);
    EXPECT_EQ(str(*q).find("if"), std::string::npos) << str(*q);
    EXPECT_NE(str(*q).find("for j in seq(0, i):"), std::string::npos) << str(*q);
    EXPECT_NE(str(*q).find("for j in seq(i + 1, 8):"), std::string::npos) << str(*q);
    EXPECT_NE(str(*q).find("        y[i] = 0.5 * y[i] + x[i]"), std::string::npos) << str(*q);
  }
}

TEST(CutAtGuards, refuses_where_nothing_is_told) {
  EXPECT_THROW((void)cut_at_guards(parsed(R"(
@proc
def plain(x: f32[8]):
    for i in seq(0, 8):
        x[i] = 0.0
)"),
                                   "i"),
               SchedulingError);
  EXPECT_THROW((void)cut_at_guards(parsed(R"(
@proc
def even(x: f32[8]):
    for i in seq(0, 8):
        if i % 2 == 0:
            x[i] = 0.0
)"),
                                   "i"),
               SchedulingError);
}

const char* const kHeun = R"(
@proc
def heun(x: f32[8], y: f32[8]):
    m: f32[8]
    for t in seq(0, 3):
        for s in seq(0, 2):
            for i in seq(0, 8):
                k: f32 = 0.5 * x[i]
                if s == 1:
                    k = 0.25 * m[i]
                    x[i] += k
                else:
                    m[i] = x[i] + k
                y[i] += k
)";

TEST(UnrollPhases, writes_out_what_conditions_tell_apart) {
  const ProcPtr p = parsed(kHeun), q = unroll_phases(p);
  EXPECT_EQ(result(p, 8, 8), result(q, 8, 8)) << str(*q);
  EXPECT_EQ(str(*q).find("if"), std::string::npos) << str(*q);
  EXPECT_EQ(str(*q).find("for s in"), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("for t in seq(0, 3)"), std::string::npos) << "no phases: " << str(*q);
}

TEST(UnrollPhases, leaves_other_loops) {
  std::string text = kHeun;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string out = text;
    out.replace(out.find(from), from.size(), to);
    return out;
  };
  EXPECT_THROW((void)unroll_phases(parsed(with("seq(0, 2)", "seq(0, 5)"))), SchedulingError);
  EXPECT_THROW((void)unroll_phases(parsed(with("s == 1", "s < i"))), SchedulingError);
  EXPECT_THROW((void)unroll_phases(parsed(R"(
@proc
def components(x: f32[8, 3]):
    for i in seq(0, 8):
        for c in seq(0, 3):
            if c == 1:
                x[i, c] -= 9.81
)")),
               SchedulingError)
      << "no loops inside";
}

}  // namespace
}  // namespace exotune
