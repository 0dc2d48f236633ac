// Work that begins earlier, against the interpreter, and what may not.
#include "core/library/overlap.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "overlap.exo").procs.at(0); }
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// y of 8 by 4 from x of 8 by 6.
void expect_same(const ProcPtr& p, const ProcPtr& q) {
  const auto result = [](const ProcPtr& proc) {
    Buffer x(ScalarType::kF64, {8, 6}), y(ScalarType::kF64, {8, 4});
    for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11);
    for (double& value : y.data) value = 3;
    run(*proc, {&x, &y});
    return y.data;
  };
  EXPECT_EQ(result(p), result(q)) << str(*q);
}

constexpr const char* kSums = R"(
@proc
def sums(x: f64[8, 6], y: f64[8, 4]):
    for r in seq(0, 2):
        t : f64[4, 6]
        for b in seq(0, 2):
            for i in seq(0, 2):
                for j in seq(0, 4):
                    y[4 * r + 2 * b + i, j] = 0.0
        for ko in seq(0, 3):
            for c in seq(0, 4):
                t[c, 2 * ko] = x[4 * r + c, 2 * ko]
                t[c, 2 * ko + 1] = x[4 * r + c, 2 * ko + 1]
            for b in seq(0, 2):
                for kb in seq(0, 2):
                    for i in seq(0, 2):
                        for j in seq(0, 4):
                            for k in seq(0, 1):
                                y[4 * r + 2 * b + i, j] += t[2 * b + i, 2 * ko + kb + k]
)";

TEST(BeginSums, the_first_product_begins_them) {
  const ProcPtr p = parsed(kSums);
  const ProcPtr q = begin_sums(p, "for b in _: _", "for i in _: _ #1");
  expect_same(p, q);
  // One nest does both; the zeros of other iterations and their conditions are gone.
  const std::string text = str(*q);
  EXPECT_TRUE(has(text, R"(                    if ko == 0 and kb == 0:
                        for i in seq(0, 2):
                            for j in seq(0, 4):
                                y[4 * r + 2 * b + i, j] = 0.0
                                for k in seq(0, 1):
                                    y[)"))
      << text;
  EXPECT_EQ(text.find("= 0.0"), text.rfind("= 0.0")) << text;
  EXPECT_EQ(text.find(" if "), text.rfind(" if ")) << text;
}

TEST(BeginSums, refuses_what_is_read_in_between_and_what_is_no_sum_of_it) {
  const ProcPtr p = parsed(R"(
@proc
def f(x: f64[8, 6], y: f64[8, 4]):
    for i in seq(0, 8):
        y[i, 0] = 0.0
    x[0, 0] = y[1, 0]
    for k in seq(0, 6):
        for i in seq(0, 8):
            y[i, 0] += x[i, k]
)");
  EXPECT_THROW((void)begin_sums(p, "for i in _: _", "for i in _: _ #1"), SchedulingError);
  EXPECT_THROW((void)begin_sums(p, "x[_] = _", "for i in _: _ #1"), SchedulingError);
  EXPECT_THROW((void)begin_sums(parsed(kSums), "for i in _: _", "for i in _: _ #1"),
               SchedulingError);
}

constexpr const char* kLoads = R"(
@proc
def loads(x: f64[8, 6], y: f64[8, 4]):
    t : f64[8, 4]
    for i in seq(0, 8):
        for j in seq(0, 4):
            t[i, j] = x[i, j]
        for j in seq(0, 4):
            y[i, j] = 2.0 * t[i, j]
)";

TEST(RunAhead, loads_the_next_while_it_works) {
  const ProcPtr p = parsed(kLoads);
  const ProcPtr q = run_ahead(p, "for j in _: _");
  expect_same(p, q);
  const std::string text = str(*q);
  EXPECT_TRUE(has(text, "for i in seq(0, 7):")) << text;
  EXPECT_TRUE(has(text, "t[i + 1, j] = x[i + 1, j]")) << text;
}

TEST(RunAhead, refuses_one_place_for_all_and_unknown_bounds) {
  std::string one = kLoads;
  for (size_t at; (at = one.find("t[i, j]")) != std::string::npos;) one.replace(at, 7, "t[0, j]");
  EXPECT_THROW((void)run_ahead(parsed(one), "for j in _: _"), SchedulingError);
  EXPECT_THROW((void)run_ahead(parsed(R"(
@proc
def f(N: size, x: f64[N], y: f64[N], z: f64[N]):
    for i in seq(0, N):
        y[i] = x[i]
        z[i] = y[i]
)"),
                               "y[_] = _"),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
