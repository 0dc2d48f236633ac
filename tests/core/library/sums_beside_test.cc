// Several sums in one pass, on a target of four lanes: each has accumulators of its own.
#include "core/library/sums_beside.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/level1.h"
#include "core/library/reduction.h"
#include "tests/core/library/four_lanes.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

constexpr const char* kKernels = R"(
@instr("add")
def add(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] += src[i]

@proc
def moments(n: size, x: f32[n], s: f32[2], q: f32):
    s[1] = 0.0
    for i in seq(0, n):
        s[0] += x[i]
        q += x[i] * x[i]
        s[1] += x[i]

@proc
def scaled_sum(n: size, x: f32[n], y: f32[n], r: f32):
    for i in seq(0, n):
        y[i] += x[i] * x[i]
        r += x[i]

@proc
def running(n: size, x: f32[n], y: f32[n], r: f32):
    for i in seq(0, n):
        r += x[i]
        y[i] = r

@proc
def windows(x: f32[12, 22], s: f32[3, 2], q: f32[3, 2]):
    for i in seq(0, 3):
        for j in seq(0, 2):
            for r in seq(0, 4):
                for c in seq(0, 11):
                    s[i, j] += x[4 * i + r, 11 * j + c]
                    q[i, j] += x[4 * i + r, 11 * j + c] * x[4 * i + r, 11 * j + c]

@proc
def long_rows(x: f32[3, 24], q: f32):
    for r in seq(0, 3):
        for c in seq(0, 24):
            q += x[r, c]

@proc
def row_by_row(x: f32[3, 8], q: f32[3]):
    for r in seq(0, 3):
        for c in seq(0, 8):
            q[r] += x[r, c]

@proc
def twice(x: f32[22], r: f32[3]):
    for i in seq(0, 22):
        r[0] += x[i]
        r[0] += x[i] * x[i]
        r[2] += x[i]
)";

struct Machine : FourLanes {
  Machine() : FourLanes(kKernels) {}
};

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(SumsBeside, are_those_that_stay_each_once) {
  const Machine machine;
  const auto sums = [&](const char* name) {
    for (const StmtPtr& s : machine.find(name)->body)
      if (const For* loop = s->as<For>()) return sums_beside(*loop).size();
    return size_t{0};
  };
  EXPECT_EQ(sums("moments"), 3u);
  EXPECT_EQ(sums("scaled_sum"), 1u);
  EXPECT_EQ(sums("twice"), 2u);
}

TEST(SumsBeside, have_accumulators_of_their_own) {
  const Machine machine;
  const ProcPtr p = machine.find("moments");
  const ProcPtr q = optimize_level_1(p, "i", machine.unit, 2);
  const std::string text = str(*q);
  EXPECT_TRUE(reassociates(q));
  EXPECT_EQ(count(text, "lanes(") + count(text, "lanes_scalar("), 3) << text;
  EXPECT_EQ(count(text, "zero("), 3 + 3 * 2) << text;
  for (const int64_t n : {1, 3, 4, 7, 8, 9, 12, 23}) expect_same_result(p, q, text, {{"n", n}});
}

TEST(SumsBeside, go_with_what_is_written_element_by_element) {
  const Machine machine;
  const ProcPtr p = machine.find("scaled_sum");
  for (const int64_t interleave : {1, 2, 4}) {
    const ProcPtr q = optimize_level_1(p, "i", machine.unit, interleave);
    EXPECT_EQ(count(str(*q), "lanes_scalar("), 1) << str(*q);
    for (const int64_t n : {1, 4, 11, 16, 37}) expect_same_result(p, q, str(*q), {{"n", n}});
  }
}

TEST(SumsBeside, of_one_element_share_its_accumulator) {
  const Machine machine;
  const ProcPtr p = machine.find("twice");
  const ProcPtr q = optimize_level_1(p, "i", machine.unit, 1);
  EXPECT_EQ(count(str(*q), "lanes("), 2) << str(*q);
  expect_same_result(p, q, str(*q));
}

TEST(BlockSums, add_up_their_lanes_once) {
  const Machine machine;
  const ProcPtr p = machine.find("windows");
  const ProcPtr q = optimize_block_sums(p, "r", "c", machine.unit);
  const std::string text = str(*q);
  EXPECT_TRUE(reassociates(q));
  EXPECT_EQ(count(text, "lanes("), 2 * 2) << text;  // two vectors of a row, three elements left
  EXPECT_LT(text.find("for r in"), text.find("lanes(")) << text;
  expect_same_result(p, q, text);
}

TEST(BlockSums, of_long_rows_share_one_accumulator) {
  const Machine machine;
  const ProcPtr p = machine.find("long_rows");
  const ProcPtr q = optimize_block_sums(p, "r", "c", machine.unit);
  EXPECT_EQ(count(str(*q), "zero("), 1) << str(*q);
  expect_same_result(p, q, str(*q));
}

TEST(BlockSums, are_for_elements_that_stay_in_all_rows) {
  const Machine machine;
  for (const char* name : {"row_by_row", "running", "twice"})
    EXPECT_THROW((void)optimize_block_sums(machine.find(name), "r", "c", machine.unit),
                 std::exception)
        << name;
}

TEST(SumsBeside, that_are_read_on_the_way_are_not_split) {
  const Machine machine;
  const ProcPtr p = machine.find("running");
  EXPECT_THROW((void)optimize_sums_beside(p, {{Child::kBody, 0}}, machine.unit, 1),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
