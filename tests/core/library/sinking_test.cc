// Lanes, and copies, inside the loops of their body, against the interpreter.
#include "core/library/sinking.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "sinking.exo").procs.at(0); }

// Two loops, one in another; a scalar and an array of each iteration's own; a condition.
constexpr const char* kImperfect = R"(
@proc
def f(n: size, w: f64[3], x: f64[12, 3], y: f64[12, 2]):
    assert n <= 12
    for i in seq(0, n):
        s: f64
        t: f64[2]
        s = 0.0
        for k in seq(0, 3):
            s += w[k] * x[i, k]
            if k > 0:
                for r in seq(0, 2):
                    y[i, r] += s
            else:
                y[i, 0] = 1.0
        t[0] = s
        t[1] = 2.0 * s
        for r in seq(0, 2):
            y[i, r] += t[r]
)";

std::vector<double> result(const ProcPtr& p, int64_t n) {
  Buffer w(ScalarType::kF64, {3}, {1, 2, 3}), x(ScalarType::kF64, {12, 3}),
      y(ScalarType::kF64, {12, 2});
  for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11);
  for (double& v : y.data) v = 5;
  run(*p, {n, &w, &x, &y});
  return y.data;
}

TEST(SinkLanes, brings_every_scope_around_the_lanes) {
  // A guard stays with each statement.
  const ProcPtr p = divide_loop(parsed(kImperfect), "i", 4, {"io", "i"}, Tail::kGuard);
  const ProcPtr q = sink_lanes(p, "i", nullptr);
  for (const int64_t n : {1, 3, 4, 7, 12}) EXPECT_EQ(result(q, n), result(p, n)) << n << str(*q);
  const std::string text = str(*q);
  for (const char* part : {"s : f64[4]", "t : f64[4, 2]",
                           "for k in seq(0, 3):\n            for i in seq(0, 4):\n"
                           "                if 4 * io + i < n:\n                    s[i] +=",
                           "for r in seq(0, 2):\n            for i in seq(0, 4):\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(SinkLanes, makes_registers_of_what_is_small) {
  const auto registers = std::make_shared<Memory>();
  registers->name = "VEC";
  registers->kind = MemoryKind::kVector;
  const ProcPtr p = divide_loop(parsed(kImperfect), "i", 4, {"io", "i"}, Tail::kGuard);
  const ProcPtr q = sink_lanes(p, "i", registers);
  const std::string text = str(*q);
  // The lanes are the last dimension.
  for (const char* part : {"s : f64[4] @ VEC", "t : f64[2, 4] @ VEC", "t[r, i]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(SinkCopies, stop_at_the_lanes) {
  ProcPtr p = divide_loop(parsed(kImperfect), "i", 6, {"io", "u"}, Tail::kGuard);
  p = sink_copies(p, "u");
  for (const int64_t n : {1, 3, 6, 7, 12}) EXPECT_EQ(result(p, n), result(parsed(kImperfect), n));
  const ProcPtr nest = parsed(R"(
@proc
def g(w: f32[3], x: f32[3, 2, 4], y: f32[2, 4]):
    for u in seq(0, 2):
        s: f32[4]
        for l in seq(0, 4):
            s[l] = 0.0
        for k in seq(0, 3):
            for l in seq(0, 4):
                s[l] += w[k] * x[k, u, l]
        for l in seq(0, 4):
            y[u, l] = s[l]
)");
  const std::string text = str(*sink_copies(nest, "u", "l"));
  for (const char* part :
       {"s : f32[2, 4]", "for k in seq(0, 3):\n        for u in seq(0, 2):\n            for l in"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(SinkLanes, refuses_what_is_not_the_same_for_all_lanes) {
  for (const char* nest : {"        for k in seq(0, i + 1):\n            y[i] += x[k]\n",
                           "        if i < 2:\n            y[i] = 0.0\n        y[i] += x[i]\n",
                           "        y[i] = x[i]\n"})
    EXPECT_THROW((void)sink_lanes(parsed(std::string("@proc\ndef f(x: f32[8], y: f32[8]):\n    for "
                                                     "i in seq(0, 8):\n") +
                                         nest),
                                  "i", nullptr),
                 SchedulingError)
        << nest;
  // Iterations that do not commute.
  const ProcPtr p = parsed(R"(
@proc
def f(x: f32[9], y: f32[3]):
    for i in seq(0, 8):
        for k in seq(0, 3):
            x[i + 1] = x[i] + y[k]
)");
  EXPECT_THROW((void)sink_lanes(p, "i", nullptr), SchedulingError);
  EXPECT_THROW((void)sink_copies(p, "i"), SchedulingError);
}

}  // namespace
}  // namespace exotune
