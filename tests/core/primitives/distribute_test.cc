// distribute_factor: what multiplies a sum goes into it.
#include "core/primitives/distribute.h"

#include "core/cursor/provenance.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;

const char* const kGroups = R"(
def f(q: i8[3, 4, 8], s: f32[3, 4], x: f32[4, 8], y: f32[3]):
    for i in seq(0, 3):
        for g in seq(0, 4):
            t: f32
            t = 0.0
            for k in seq(0, 8):
                q_f32: f32
                q_f32 = q[i, g, k]
                t += q_f32 * x[g, k]
            y[i] += 2.0 * t * s[i, g]
)";

TEST(DistributeFactor, takes_the_factors_of_a_group_to_its_terms) {
  const ProcPtr q = distribute_factor(parse(kGroups), "y[_] += _");
  expect_proc(q, R"(
def f(q: i8[3, 4, 8], s: f32[3, 4], x: f32[4, 8], y: f32[3]):
    for i in seq(0, 3):
        for g in seq(0, 4):
            t: f32
            for k in seq(0, 8):
                q_f32: f32
                q_f32 = q[i, g, k]
                y[i] += 2.0 * (s[i, g] * (q_f32 * x[g, k]))
)");
  EXPECT_TRUE(reassociates(q));
}

TEST(DistributeFactor, knows_several_loops_and_no_factor) {
  expect_proc(distribute_factor(parse(R"(
def f(N: size, a: f64[N, N], y: f64[1]):
    t: f64
    t = 0.0
    for i in seq(0, N):
        for j in seq(0, i):
            t += a[i, j]
    y[0] += t
)"),
                                "y[_] += _"),
              R"(
def f(N: size, a: f64[N, N], y: f64[1]):
    t: f64
    for i in seq(0, N):
        for j in seq(0, i):
            y[0] += a[i, j]
)");
}

// A dot product of bytes, of so many terms, and its factor.
std::string bytes(const std::string& terms, const std::string& narrow = "i8",
                  const std::string& between = "") {
  return "def f(N: size, q: " + narrow + "[" + terms + "], x: " + narrow + "[" + terms +
         "], s: f32, y: f32[3]):\n    t: i32\n    t = 0\n    for k in seq(0, " + terms +
         "):\n        t += i32(q[k]) * i32(x[k])\n" + between + "    y[0] += s * f32(t)\n";
}

TEST(DistributeFactor, converts_the_terms_of_a_sum_of_integers) {
  const ProcPtr q = distribute_factor(parse(bytes("32")), "y[_] += _");
  expect_proc(q, R"(
def f(N: size, q: i8[32], x: i8[32], s: f32, y: f32[3]):
    t: i32
    for k in seq(0, 32):
        q_i32: i32
        q_i32 = q[k]
        x_i32: i32
        x_i32 = x[k]
        t_f32: f32
        t_f32 = q_i32 * x_i32
        y[0] += s * t_f32
)");
  EXPECT_TRUE(reassociates(q));
}

TEST(DistributeFactor, refuses_a_sum_of_integers_that_may_wrap_around) {
  const auto answer = [](const std::string& text) {
    return test::refusal([&] { (void)distribute_factor(parse(text), "y[_] += _"); });
  };
  EXPECT_EQ(answer(bytes("131071")), "");
  EXPECT_NE(answer(bytes("131072")).find("`t` may wrap around"), std::string::npos);
  EXPECT_NE(answer(bytes("3", "i16")).find("`t` may wrap around"), std::string::npos);
  EXPECT_NE(answer(bytes("N")).find("no literal extent"), std::string::npos);
  EXPECT_NE(answer(bytes("8", "i8", "    y[1] = f32(t)\n")), "");
}

// What lanes have added up is known where their loops are counted.
TEST(DistributeFactor, knows_what_accumulators_hold) {
  const auto lanes = [](const std::string& rounds) {
    return "def f(q: i8[" + rounds + ", 4], y: f32[3]):\n    v: i32[4]\n" +
           "    for l in seq(0, 4):\n        v[l] = 0\n    for k in seq(0, " + rounds +
           "):\n        for l in seq(0, 4):\n            v[l] += i32(q[k, l]) * i32(q[k, l])\n" +
           "    t: i32\n    t = 0\n    for l in seq(0, 4):\n        t += v[l]\n    y[0] += "
           "f32(t)\n";
  };
  EXPECT_EQ(test::refusal([&] { (void)distribute_factor(parse(lanes("32767")), "y[_] += _"); }),
            "");
  EXPECT_NE(test::refusal([&] { (void)distribute_factor(parse(lanes("32768")), "y[_] += _"); }),
            "");
}

TEST(DistributeFactor, keeps_cursors_on_the_loops) {
  const ProcPtr p = parse(kGroups);
  const Cursor k = find(p, "for k in _: _");
  EXPECT_EQ(forward(distribute_factor(p, "y[_] += _"), k).describe(), k.describe());
}

TEST(DistributeFactor, refuses_what_is_no_such_sum) {
  const auto refused = [](const std::string& body, const std::string& why) {
    EXPECT_THROW(
        (void)distribute_factor(
            parse("def f(a: f32[8], s: f32, z: f32, y: f32[8], b: i32[8], c: i32):\n" + body),
            "y[_] += _"),
        SchedulingError)
        << why;
  };
  const std::string begin = "    t: f32\n    t = 0.0\n", loop = "    for k in seq(0, 8):\n",
                    sum = "        t += a[k]\n", end = "    y[0] += s * t\n";
  refused("    t: f32\n    t = 1.0\n" + loop + sum + end, "begins at 1");
  refused(begin + loop + sum + end + "    z = t\n", "t is used behind it");
  try {
    (void)distribute_factor(parse("def f(a: f32[8], z: f32, y: f32[8]):\n" + begin + loop + sum +
                                  "    y[0] += t\n    z = t\n"),
                            "y[_] += _");
    FAIL();
  } catch (const SchedulingError& error) {
    EXPECT_NE(std::string(error.what()).find("is used in `z = t`, too"), std::string::npos);
  }
  refused("    z = 0.0\n" + loop + "        z += a[k]\n    y[0] += s * z\n", "an argument");
  refused(begin + loop + sum + "    y[0] += s * t * t\n", "a square");
  refused(begin + loop + sum + "    y[0] += s + t\n", "no factor");
  refused(begin + loop + sum + "    y[0] += s * a[0]\n", "another sum");
  refused(begin + loop + sum + "    y[0] += s * fabs(t)\n", "a function of it");
  refused(begin + loop + "        t += y[k]\n" + end, "reads what is summed into");
  refused(begin + loop + sum + "    y[0] += y[1] * t\n", "the factor changes");
  refused(begin + loop + "        t max= a[k]\n" + end, "a maximum");
  refused(begin + loop + "        z = a[k]\n" + sum + end, "something else in the loop");
  refused("    t: f32[2]\n    t[0] = 0.0\n" + loop + "        t[0] += a[k]\n    y[0] += s * t[0]\n",
          "an element");
  refused("    t: f64\n    t = 0.0\n" + loop + sum + end, "more precise");
  refused(begin + "    for k in par(0, 8):\n" + sum + end, "a parallel loop");
}

}  // namespace
}  // namespace exotune
