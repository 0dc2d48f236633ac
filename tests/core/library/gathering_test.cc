// Scattered sums element by element, against the interpreter.
#include "core/library/gathering.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "sums.exo").procs.at(0); }

// Runs both on three buffers of these shapes, the sizes in front.
void expect_same(const ProcPtr& p, const ProcPtr& q, const std::vector<int64_t>& sizes,
                 const std::vector<std::vector<int64_t>>& shapes) {
  const auto results = [&](const ProcPtr& proc) {
    std::vector<Buffer> buffers;
    for (size_t b = 0; b < shapes.size(); ++b) {
      buffers.emplace_back(ScalarType::kF64, shapes[b]);
      for (size_t k = 0; k < buffers[b].data.size(); ++k)
        buffers[b].data[k] = static_cast<double>((k * 7 + b) % 11);
    }
    std::vector<ArgValue> args(sizes.begin(), sizes.end());
    for (Buffer& b : buffers) args.emplace_back(&b);
    run(*proc, args);
    return buffers.back().data;
  };
  EXPECT_EQ(results(p), results(q)) << str(*q);
}

constexpr const char* kProduct = R"(
@proc
def product(M: size, N: size, a: f64[M], b: f64[N], c: f64[M + N]):
    assert N >= 4
    for i in seq(0, M):
        for j in seq(0, N):
            c[i + j] += a[i] * b[j]
)";

constexpr const char* kSpread = R"(
@proc
def spread(x: f64[2, 5, 6], w: f64[3, 3], y: f64[2, 12, 14]):
    for c in seq(0, 2):
        for i in seq(0, 5):
            for j in seq(0, 6):
                for u in seq(0, 3):
                    for v in seq(0, 3):
                        y[c, 2 * i + u, 2 * j + v] += x[c, i, j] * w[u, v]
)";

TEST(GatherSums, takes_rows_of_a_long_loop_together) {
  const ProcPtr p = parsed(kProduct), q = gather_sums(p, "j", "i", 4);
  for (const int64_t m : {1, 3, 4, 9})
    for (const int64_t n : {4, 5, 17}) expect_same(p, q, {m, n}, {{m}, {n}, {m + n}});
  const std::string text = str(*q);
  EXPECT_NE(text.find("for j in seq(3, N):\n            for i in seq(0, 4):\n"
                      "                c[4 * io + j] += a[i + 4 * io] * b[j - i]"),
            std::string::npos)
      << text;
}

TEST(GatherSums, leaves_what_is_too_short_for_its_corners) {
  const ProcPtr p = parsed(kProduct), q = gather_sums(p, "j", "i", 8);
  EXPECT_NE(str(*q).find("if "), std::string::npos) << str(*q);
  for (const int64_t n : {4, 6, 7, 8, 20}) expect_same(p, q, {19, n}, {{19}, {n}, {19 + n}});
}

TEST(GatherSums, finds_the_loops_wherever_they_stand) {
  const ProcPtr p = parsed(R"(
@proc
def whole(x: f64[6, 7], w: f64[3, 2], y: f64[8, 8]):
    for i in seq(0, 6):
        for j in seq(0, 7):
            for u in seq(0, 3):
                for v in seq(0, 2):
                    y[i + u, j + v] += x[i, j] * w[u, v]
)");
  // The second time in all nests that the first one left.
  const ProcPtr q = gather_sums(gather_sums(p, "j", "v"), "i", "u");
  expect_same(p, q, {}, {{6, 7}, {3, 2}, {8, 8}});
  EXPECT_EQ(str(*q).find("y[i + u"), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("y[i, j] += x[i - u, j - v] * w[u, v]"), std::string::npos) << str(*q);
  const ProcPtr r = parsed(R"(
@proc
def outside(a: f64[9], b: f64[4], r: f64[12]):
    for v in seq(0, 4):
        for i in seq(0, 9):
            r[i + v] += a[i] * b[v]
)");
  expect_same(r, gather_sums(r, "i", "v"), {}, {{9}, {4}, {12}});
}

TEST(GatherSums, goes_back_where_the_window_does) {
  const ProcPtr p = parsed(R"(
@proc
def correlated(a: f64[20], b: f64[9], r: f64[28]):
    for i in seq(0, 20):
        for j in seq(0, 9):
            r[i - j + 8] += a[i] * b[j]
)");
  for (const int64_t rows : {0, 2, 4}) {
    const ProcPtr q = gather_sums(p, "i", "j", rows);
    expect_same(p, q, {}, {{20}, {9}, {28}});
    EXPECT_NE(str(*q).find("for i in seq("), std::string::npos);
  }
}

TEST(GatherSums, takes_remainders_apart_where_windows_step) {
  const ProcPtr p = parsed(kSpread);
  const ProcPtr q = gather_sums(gather_sums(p, "j", "v"), "i", "u");
  expect_same(p, q, {}, {{2, 5, 6}, {3, 3}, {2, 12, 14}});
  const ProcPtr windows = parsed(R"(
@proc
def windows(f: f64[6, 8], w: f64[8], y: f64[30]):
    for t in seq(0, 6):
        for k in seq(0, 8):
            y[4 * t + k] += f[t, k] * w[k]
)");
  const ProcPtr r = gather_sums(windows, "t", "k");
  expect_same(windows, r, {}, {{6, 8}, {8}, {30}});
  EXPECT_NE(str(*r).find("for t in seq(1, 6):"), std::string::npos) << str(*r);
}

TEST(GatherSums, refuses_what_is_no_such_sum) {
  // Each element once; the element is read; no whole steps; the window is longer than the loop, or
  // of no known length.
  const std::string head = "@proc\ndef f(n: size, a: f64[64], b: f64[64], y: f64[300]):\n";
  const std::string loops = "    for i in seq(0, 9):\n        for j in seq(0, 4):\n            ";
  for (const char* body : {"y[4 * i + j] += a[i]", "y[i + j] = a[i]", "y[i] += a[j]",
                           "y[i + j] += y[i] * a[j]", "y[2 * i + 3 * j] += a[i] * b[j]"})
    EXPECT_THROW((void)gather_sums(parsed(head + loops + body + "\n"), "i", "j"), SchedulingError)
        << body;
  EXPECT_THROW((void)gather_sums(parsed(head + loops + "y[i + j] += a[i]\n"), "j", "i"),
               SchedulingError);
  EXPECT_THROW((void)gather_sums(parsed(kProduct), "j", "i"), SchedulingError);
  EXPECT_THROW((void)gather_sums(parsed(kProduct), "j", "i", 1), SchedulingError);
}

}  // namespace
}  // namespace exotune
