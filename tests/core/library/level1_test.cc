// Schedules of single loops against the interpreter, on a target of four lanes.
#include "core/library/level1.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/primitives/primitives.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

constexpr const char* kKernels = R"(
@instr("relu4")
def relu4(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = relu(src[i])

@instr("div4")
def div4(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] / b[i]

@instr("move4")
def move4(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("set4")
def set4(dst: [f32][4] @ V4, src: f32 @ DRAM):
    assert stride(dst, 0) == 1
    for i in seq(0, 4):
        dst[i] = src

@proc
def halves(x: f16[11], y: f32[11]):
    for i in seq(0, 11):
        y[i] += f32(x[i]) * f32(x[i])

@proc
def dot_of_halves(x: f16[11], y: f32[11]):
    for i in seq(0, 11):
        y[0] += f32(x[i]) * f32(x[i])

@proc
def in_place(n: size, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        t: f32
        t = x[i]
        t = relu(t)
        y[i] = t

@proc
def scaled(n: size, s: f32, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        y[i] = x[i] / s

@proc
def by_elements(n: size, s: f32, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        y[i] = s / x[i]
)";

struct Machine : FourLanes {
  Machine() : FourLanes(std::string(kHalves) + kKernels) {}
};

// `scalars` come between the size and the vectors.
std::vector<double> result(const ProcPtr& p, int64_t n, std::optional<double> scalar) {
  std::vector<double> data;
  for (int64_t k = 0; k < n; ++k) data.push_back(k % 2 ? 1 : -4);
  Buffer x(ScalarType::kF32, {n}, data);
  Buffer y(ScalarType::kF32, {n}, std::vector<double>(static_cast<size_t>(n)));
  if (!scalar) {
    run(*p, {n, &x, &y});
  } else {
    Buffer s(ScalarType::kF32, {}, {*scalar});
    run(*p, {n, &s, &x, &y});
  }
  return y.data;
}

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(Level1, an_operation_on_its_own_result_reads_a_copy) {
  const Machine machine;
  const ProcPtr p = machine.find("in_place");
  const ProcPtr q = optimize_level_1(p, "i", machine.unit, 1);
  for (int64_t n : {1, 3, 4, 5, 8, 11})
    EXPECT_EQ(result(q, n, {}), result(p, n, {})) << n << str(*q);
  EXPECT_EQ(count(str(*q), "relu4("), 2) << str(*q);  // whole vectors, and the rest
}

// No instruction loads a part of a vector of halves.
TEST(Level1, a_rest_that_no_instruction_does_is_done_element_by_element) {
  const Machine machine;
  for (const auto& [name, interleave] : std::vector<std::pair<std::string, int64_t>>{
           {"halves", 1}, {"halves", 2}, {"dot_of_halves", 1}}) {
    const ProcPtr p = machine.find(name);
    const ProcPtr q = optimize_level_1(p, "i", machine.unit, interleave);
    Arguments before = make_arguments(*p, {}, 5), after = copy_of(before);
    run(*p, before.values);
    run(*q, after.values);
    EXPECT_EQ(first_difference(before, after), "") << str(*q);
    EXPECT_GE(count(str(*q), "load_half4("), 1) << str(*q);
  }
}

TEST(Level1, what_stays_divides_once) {
  const Machine machine;
  const ProcPtr p = machine.find("scaled");
  const ProcPtr q = optimize_level_1(p, "i", machine.unit, 2);
  for (int64_t n : {1, 4, 9, 17}) EXPECT_EQ(result(q, n, 4.0), result(p, n, 4.0)) << n;
  EXPECT_TRUE(reassociates(q));
  const std::string text = str(*q);
  const size_t loop = text.find("for io in");
  ASSERT_NE(loop, std::string::npos) << text;
  const std::string body = text.substr(loop, text.find("\n    for", loop + 1) - loop);
  EXPECT_EQ(count(body, "mul4("), 2) << body;
  EXPECT_EQ(count(body.substr(0, body.find("store(")), "div4("), 0) << body;
}

TEST(Level1, what_changes_divides_each_time) {
  const Machine machine;
  const ProcPtr p = machine.find("by_elements");
  const ProcPtr q = optimize_level_1(p, "i", machine.unit, 1);
  for (int64_t n : {1, 4, 9}) EXPECT_EQ(result(q, n, 4.0), result(p, n, 4.0)) << n;
  EXPECT_FALSE(reassociates(q));
  EXPECT_EQ(count(str(*q), "mul4("), 0) << str(*q);
}

TEST(Functions, go_in_loops_of_their_own_innermost_first) {
  const ProcPtr p = parse_module(R"(
@proc
def three(n: size, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        y[i] += sqrt(fabs(log(2.0 + exp(x[i])) * sin(x[i])))
)",
                                 "three.exo")
                        .procs[0];
  const ProcPtr q = stage_functions(p, "i", 4);
  for (const int64_t n : {1, 4, 5, 11}) EXPECT_EQ(result(q, n, {}), result(p, n, {})) << str(*q);
  const std::string text = str(*q);
  const std::string strips = text.substr(0, text.find("\n    for i in"));
  EXPECT_EQ(count(strips, "for i in seq(0, 4):"), 3) << text;
  EXPECT_NE(strips.find("exp_i[i] = exp("), std::string::npos) << text;
  EXPECT_NE(strips.find("log_i[i] = log(2.0 + exp_i[i])"), std::string::npos) << text;
}

TEST(Functions, alone_or_among_statements_stay) {
  const Module m = parse_module(R"(
@proc
def one(n: size, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        y[i] = sqrt(exp(x[i]))

@proc
def steps(n: size, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        y[i] = exp(x[i])
        y[i] = log(y[i]) + sin(y[i])
)",
                                "few.exo");
  for (const ProcPtr& p : m.procs)
    EXPECT_THROW((void)stage_functions(p, "i", 4), SchedulingError) << str(*p);
}

ProcPtr kept(const std::string& body) {
  return keep_sums(
      parse_module("@proc\ndef sums(x: f32[12], y: f32[10]):\n    for i in seq(0, 8):\n" + body,
                   "sums.exo")
          .procs.back(),
      "i");
}

TEST(Sums, of_inner_loops_are_kept_in_scalars) {
  const std::string body =
      "        y[i] = 0.0\n        for r in seq(0, 3):\n            y[i] += x[i + r]\n"
      "        y[i] = y[i] / 2.0\n";
  const ProcPtr q = kept(body);
  const std::string text = str(*q);
  EXPECT_NE(text.find("y_r += x[i + r]"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i] = y_r"), std::string::npos) << text;
  Buffer x(ScalarType::kF32, {12}), y(ScalarType::kF32, {10});
  for (size_t k = 0; k < 12; ++k) x.data[k] = static_cast<double>(k * k);
  run(*q, {&x, &y});
  EXPECT_EQ(y.data[5], 55);
}

TEST(Sums, that_an_inner_loop_chooses_stay) {
  EXPECT_THROW((void)kept("        for r in seq(0, 3):\n            y[i + r] += x[i]\n"),
               SchedulingError);
  EXPECT_THROW((void)kept("        y[i] += x[i]\n"), SchedulingError);
}

}  // namespace
}  // namespace exotune
