// What one point has a few of, as scalars.
#include "search/moves/point_scalars.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

std::string in_scalars(const char* text) {
  const ProcPtr p = parsed(text);
  const std::optional<Schedule> s = points_in_scalars({p, {}, false});
  if (!s) return "";
  expect_same_result(p, s->proc, str(*s->proc));
  return str(*s->proc);
}

// Cross products: indices that go round are numbers once the loops are written out.
TEST(PointScalars, what_goes_round_three_components_is_written_out) {
  const std::string text = in_scalars(R"(
@proc
def torque(c: f64[3], x: f64[5, 3], f: f64[5, 3], out: f64[5, 3]):
    for i in seq(0, 5):
        r: f64[3]
        for k in seq(0, 3):
            r[k] = x[i, k] - c[k]
        n: f64 = 0.0
        for k in seq(0, 3):
            n += x[i, k] * x[i, k]
        for k in seq(0, 3):
            out[i, k] = n + r[(k + 1) % 3] * f[i, (k + 2) % 3] - r[(k + 2) % 3] * f[i, (k + 1) % 3]
)");
  EXPECT_NE(text.find("r_2 : f64 "), std::string::npos) << text;
  EXPECT_NE(text.find("r_1 * f[i, 2]"), std::string::npos) << text;
  EXPECT_EQ(text.find("for k in"), std::string::npos) << text;
}

// Two dimensions, and a loop of steps that no index moves along.
TEST(PointScalars, small_matrices_come_apart_and_steps_stay_a_loop) {
  const std::string text = in_scalars(R"(
@proc
def steps(A: f64[5, 2, 2], v: f64[5, 2]):
    for i in seq(0, 5):
        m: f64[2, 2]
        for a in seq(0, 2):
            for b in seq(0, 2):
                m[a, b] = A[i, b, a]
        w: f64[2]
        for it in seq(0, 3):
            for a in seq(0, 2):
                w[a] = 0.0
                for b in seq(0, 2):
                    w[a] += m[a, b] * v[i, b]
            for a in seq(0, 2):
                v[i, a] = w[a]
)");
  EXPECT_NE(text.find("m_1_0 : f64 "), std::string::npos) << text;
  EXPECT_NE(text.find("for it in seq(0, 3)"), std::string::npos) << text;
  EXPECT_EQ(text.find("for a in"), std::string::npos) << text;
}

// Normal equations: of a triangle the inner loop's end is a number once the outer one is written
// out.
TEST(PointScalars, triangles_of_a_point_are_written_out_from_the_outside) {
  const std::string text = in_scalars(R"(
@proc
def normal(J: f64[9, 3], A: f64[3, 3]):
    for i in seq(0, 9):
        v: f64[3]
        for r in seq(0, 3):
            v[r] = J[i, r] * J[i, r]
        for r in seq(0, 3):
            for c in seq(0, r + 1):
                A[r, c] += v[r] * v[c]
)");
  EXPECT_NE(text.find("A[2, 1] += v_2 * v_1"), std::string::npos) << text;
  EXPECT_EQ(text.find("A[1, 2] +="), std::string::npos) << text;
}

// A long loop beside them may have the name of a short one.
TEST(PointScalars, a_long_loop_stays_whatever_its_name) {
  const std::string text = in_scalars(R"(
@proc
def sums(x: f64[5, 3], z: f64[40], y: f64[5]):
    for i in seq(0, 5):
        r: f64[3]
        for k in seq(0, 3):
            r[k] = x[i, k]
        s: f64 = 0.0
        for k in seq(0, 40):
            s += z[k]
        y[i] = s * r[0] + r[1] * r[2]
)");
  EXPECT_NE(text.find("r_2 : f64 "), std::string::npos) << text;
  EXPECT_NE(text.find("for k in seq(0, 40)"), std::string::npos) << text;
}

// Nothing to be taken apart: a loop over elements holds a long one; the array belongs to no
// point; an index is no number; there would be a page of statements.
TEST(PointScalars, leave_what_is_not_short) {
  EXPECT_EQ(in_scalars(R"(
@proc
def long_inside(x: f64[5, 3, 40], y: f64[5]):
    for i in seq(0, 5):
        s: f64[3]
        for k in seq(0, 3):
            s[k] = 0.0
            for n in seq(0, 40):
                s[k] += x[i, k, n]
        y[i] = s[0] + s[1] + s[2]
)"),
            "");
  EXPECT_EQ(in_scalars(R"(
@proc
def of_all(x: f64[5, 3], y: f64[3]):
    s: f64[3]
    for k in seq(0, 3):
        s[k] = 0.0
    for i in seq(0, 5):
        for k in seq(0, 3):
            s[k] += x[i, k]
    for k in seq(0, 3):
        y[k] = s[k]
)"),
            "");
  EXPECT_EQ(in_scalars(R"(
@proc
def ring(x: f64[40], y: f64[40]):
    for i in seq(0, 10):
        r: f64[4]
        for k in seq(0, 4):
            r[k] = x[4 * i + k]
        for n in seq(0, 40):
            y[n] += r[n % 4]
)"),
            "");
  EXPECT_EQ(in_scalars(R"(
@proc
def page(x: f64[3, 12, 12], y: f64[3]):
    for i in seq(0, 3):
        r: f64[12]
        for k in seq(0, 12):
            r[k] = 0.0
            for l in seq(0, 12):
                r[k] += x[i, k, l] * x[i, l, k]
                r[l % 12] += 1.0
        y[i] = r[0]
)"),
            "");
}

}  // namespace
}  // namespace exotune
