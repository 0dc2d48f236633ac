// Register tiles of several sums that share their loops: each sum has a tile of its own, what they
// read is loaded once, and every program computes the same.
#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/sum_block.h"
#include "tests/core/library/four_lanes.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const std::string kKernels = kSubtracting + R"(
@instr("product")
def product(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] * b[i]

@proc
def complex_product(Ar: f32[6, 5], Ai: f32[6, 5], Br: f32[5, 10], Bi: f32[5, 10], Cr: f32[6, 10], Ci: f32[6, 10]):
    for i in seq(0, 6):
        for j in seq(0, 10):
            for k in seq(0, 5):
                Cr[i, j] += Ar[i, k] * Br[k, j] - Ai[i, k] * Bi[k, j]
                Ci[i, j] += Ar[i, k] * Bi[k, j] + Ai[i, k] * Br[k, j]

@proc
def gated(x: f32[6, 5], g: f32[5, 10], u: f32[5, 10], h: f32[6, 10]):
    for i in seq(0, 6):
        for j in seq(0, 10):
            G: f32
            U: f32
            G = 0.0
            U = 0.0
            for k in seq(0, 5):
                G += x[i, k] * g[k, j]
                U += x[i, k] * u[k, j]
            h[i, j] = G * U

@proc
def rank_two(A: f32[5, 10], B: f32[5, 10], C: f32[6, 8]):
    for i in seq(0, 6):
        for j in seq(0, 8):
            for k in seq(0, 5):
                C[i, j] += A[k, i] * B[k, j + 2] + B[k, i] * A[k, j + 2]

@proc
def follows(x: f32[6, 5], g: f32[5, 10], a: f32[6, 10], b: f32[6, 10]):
    for i in seq(0, 6):
        for j in seq(0, 10):
            for k in seq(0, 5):
                a[i, j] += x[i, k] * g[k, j]
                b[i, j] += x[i, k] * a[i, j]
)";

ProcPtr tiled(const FourLanes& machine, const std::string& name) {
  ProcPtr p = block_loop(machine.find(name), "j", {4}, {"jo", "j"}, "i");
  return sum_block(block_loop(p, "i", {3}, {"io", "i"}), "i", "j", machine.unit);
}

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST(SeveralSums, a_complex_product_is_four_fused_operations_of_two_operands) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("complex_product"), q = tiled(machine, "complex_product");
  const std::string text = str(*q);
  expect_same_result(p, q, text);
  // Twice: whole vectors, and the two columns at the end.
  EXPECT_EQ(count(text, "        fma("), 2 * 3) << text;
  EXPECT_EQ(count(text, "subtract("), 2) << text;
  EXPECT_EQ(count(text, "load(Br_reg"), 1) << text;
  EXPECT_EQ(count(text, "load(Bi_reg"), 1) << text;
}

// A diagonal tile of a symmetric rank-2k update: what one term reads along j another reads along i.
TEST(SeveralSums, terms_that_read_an_array_along_rows_and_along_columns) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("rank_two"), q = tiled(machine, "rank_two");
  const std::string text = str(*q);
  expect_same_result(p, q, text);
  EXPECT_EQ(count(text, "load(A_reg"), 1) << text;
  EXPECT_EQ(count(text, "load(B_reg"), 1) << text;
}

TEST(SeveralSums, begin_and_end_together) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("gated"), q = tiled(machine, "gated");
  const std::string text = str(*q);
  expect_same_result(p, q, text);
  EXPECT_EQ(count(text, "zero("), 2 * 2) << text;
  EXPECT_EQ(count(text, "product("), 2) << text;
}

TEST(SeveralSums, a_sum_that_takes_the_other_one_as_it_is_by_then_stays_in_its_order) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("follows"), q = tiled(machine, "follows");
  expect_same_result(p, q, str(*q));
}

}  // namespace
}  // namespace exotune
