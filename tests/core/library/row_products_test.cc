// Rows times rows, on a target of four lanes: tiles whose sums are added up together.
#include "core/library/row_products.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "tests/core/library/four_lanes.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

constexpr const char* kKernels = R"(
@proc
def by_rows(K: size, A: f32[3, K], B: f32[2, K], C: f32[3, 2]):
    for i in seq(0, 3):
        for j in seq(0, 2):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[j, k]

@proc
def turned(A: f32[2, 9], B: f32[2, 9], C: f32[2, 2]):
    for i in seq(0, 2):
        for j in seq(0, 2):
            for k in seq(0, 9):
                C[j, i] += A[i, k] * B[j, k]

@proc
def any_rows(M: size, K: size, A: f32[M, K], B: f32[3, K], C: f32[M, 3]):
    for i in seq(0, M):
        for j in seq(0, 3):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[j, k]

@proc
def largest(A: f32[2, 9], B: f32[2, 9], C: f32[2, 2]):
    for i in seq(0, 2):
        for j in seq(0, 2):
            for k in seq(0, 9):
                C[i, j] max= A[i, k] * B[j, k]

@proc
def not_alone(A: f32[2, 9], B: f32[2, 9], C: f32[2, 2]):
    for i in seq(0, 2):
        for j in seq(0, 2):
            C[i, j] = 0.0
            for k in seq(0, 9):
                C[i, j] += A[i, k] * B[j, k]

@proc
def in_place(C: f32[4, 8]):
    for i in seq(0, 2):
        for j in seq(0, 2):
            for k in seq(0, 8):
                C[i, j] += C[i + 1, k] * C[j, k]
)";

struct Machine : FourLanes {
  Machine() : FourLanes(kKernels) {}
};

int mentioned(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(RowProducts, have_a_register_for_each_result) {
  const Machine machine;
  const ProcPtr p = machine.find("by_rows");
  const ProcPtr q = multiply_rows(p, "i", "j", "k", machine.unit);
  const std::string text = str(*q);
  EXPECT_TRUE(reassociates(q));
  EXPECT_EQ(mentioned(text, "zero("), 6) << text;
  EXPECT_EQ(mentioned(text, "lanes("), 6) << text;
  for (const int64_t k : {1, 3, 4, 5, 8, 17}) expect_same_result(p, q, text, {{"K", k}});
}

TEST(RowProducts, are_kept_in_the_order_of_the_results) {
  const Machine machine;
  const ProcPtr p = machine.find("turned");
  const ProcPtr q = multiply_rows(p, "i", "j", "k", machine.unit);
  expect_same_result(p, q, str(*q));
}

TEST(RowProducts, of_tiles_and_what_is_left_of_rows) {
  const Machine machine;
  const ProcPtr p = machine.find("any_rows");
  ProcPtr q = block_loop(p, "i", {4, 2, 1}, {"io", "i"}, "");
  q = block_loop(q, "j", {2, 1}, {"jo", "j"}, "i");
  q = multiply_rows(q, "i", "j", "k", machine.unit);
  // Six tiles, of 4, 2, 1 rows by 2, 1 columns: each result of each has a register.
  EXPECT_EQ(mentioned(str(*q), "zero("), (4 + 2 + 1) * (2 + 1)) << str(*q);
  for (const int64_t m : {1, 2, 3, 4, 7})
    for (const int64_t k : {1, 4, 6}) expect_same_result(p, q, str(*q), {{"M", m}, {"K", k}});
}

TEST(RowProducts, are_sums_of_nests_of_their_own) {
  const Machine machine;
  for (const char* name : {"largest", "not_alone", "any_rows", "in_place"})
    EXPECT_THROW((void)multiply_rows(machine.find(name), "i", "j", "k", machine.unit),
                 SchedulingError)
        << name;
}

}  // namespace
}  // namespace exotune
