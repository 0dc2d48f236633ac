// Strips of an operand's other dimension: copied turned, in tiles where an instruction turns.
#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/contraction.h"
#include "tests/core/library/four_lanes.h"
#include "tests/core/primitives/differential.h"

namespace exotune {
namespace {

constexpr const char* kTurn = R"(
@instr("turn")
def turn(dst: [f32][4, 4] @ DRAM, src: [f32][4, 4] @ DRAM):
    assert stride(dst, 1) == 1
    assert stride(src, 1) == 1
    for i in seq(0, 4):
        for j in seq(0, 4):
            dst[i, j] = src[j, i]
)";

constexpr const char* kProducts = R"(
@proc
def by_rows(M: size, N: size, K: size, A: f32[M, K], B: f32[N, K], C: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[j, k]

@proc
def fixed(A: f32[5, 12], B: f32[24, 12], C: f32[5, 24]):
    for i in seq(0, 5):
        for j in seq(0, 24):
            for k in seq(0, 12):
                C[i, j] += A[i, k] * B[j, k]

@proc
def batched(A: f32[2, 5, 9], B: f32[2, 13, 9], C: f32[2, 5, 13]):
    for b in seq(0, 2):
        for i in seq(0, 5):
            for j in seq(0, 13):
                for k in seq(0, 9):
                    C[b, i, j] += A[b, i, k] * B[b, j, k]
)";

int calls_of(const ProcPtr& p, const std::string& name) {
  int calls = 0;
  for_each_stmt(p->body, [&](const StmtPtr& s) {
    calls += s->as<Call>() && s->as<Call>()->callee->name == name;
  });
  return calls;
}

TEST(PackOperand, strips_of_another_dimension_are_turned_in_tiles) {
  const FourLanes machine(std::string(kTurn) + kProducts);
  const ProcPtr p = machine.find("fixed");
  ProcPtr q = pack_operand(p, "B", "i", 8, machine.unit, "i0", 0);
  EXPECT_EQ(calls_of(q, "turn"), 1) << str(*q);
  EXPECT_NE(str(*q).find("B_pack : f32[3, 12, 8]"), std::string::npos) << str(*q);
  q = block_loop(q, "j", {8}, {"jo", "j"}, "i");
  q = register_block(q, "i", "j", "k", machine.unit);
  EXPECT_GT(calls_of(q, "fma"), 0);
  test::expect_same_meaning(p, q);
}

TEST(PackOperand, turned_strips_are_exact_at_any_size) {
  for (const char* turn : {kTurn, ""}) {
    const FourLanes machine(std::string(turn) + kProducts);
    const ProcPtr p = machine.find("by_rows");
    for (const int64_t strip : {0, 4, 8}) {
      const ProcPtr q = pack_operand(p, "B", "i", strip, machine.unit, "i0", 0);
      EXPECT_EQ(calls_of(q, "turn") > 0, *turn != 0) << str(*q);
      for (const int64_t n : {1, 4, 13})
        for (const int64_t k : {1, 8, 11})
          test::expect_same_meaning(p, q, {{{"M", 2}, {"N", n}, {"K", k}}});
    }
  }
}

TEST(PackOperand, a_dimension_of_which_one_element_is_read_has_no_strips) {
  const FourLanes machine(std::string(kTurn) + kProducts);
  const ProcPtr p = machine.find("batched"),
                q = pack_operand(p, "B", "i", 4, machine.unit, "i0", 1);
  EXPECT_GT(calls_of(q, "turn"), 0) << str(*q);
  test::expect_same_meaning(p, q);
  for (const int dim : {0, 3})
    EXPECT_REFUSED(pack_operand(p, "B", "i", 4, machine.unit, "i0", dim), "has no extent");
}

// What is written of the array lies in other rows: no copy of it, and none back.
TEST(PackOperand, of_an_array_that_is_written_elsewhere_copies_what_is_read) {
  const FourLanes machine(R"(
@proc
def in_place(A: f32[6, 8], B: f32[14, 12]):
    for i in seq(0, 6):
        for k in seq(0, 8):
            for j in seq(0, 12):
                B[i, j] += A[i, k] * B[k + 6, j]

@proc
def overlapping(A: f32[6, 8], B: f32[14, 12]):
    for i in seq(0, 6):
        for k in seq(0, 8):
            for j in seq(0, 12):
                B[i, j] += A[i, k] * B[k + 5, j]
)");
  const ProcPtr p = machine.find("in_place"), q = pack_operand(p, "B", "i", 4, machine.unit);
  EXPECT_NE(str(*q).find("B_pack : f32[3, 8, 4]"), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("B[i, j] +="), std::string::npos) << str(*q);
  test::expect_same_meaning(p, q);
  // Row 5 is read and written: all of it in the copy, and back.
  const ProcPtr whole = machine.find("overlapping"),
                copied = pack_operand(whole, "B", "i", 4, machine.unit);
  EXPECT_EQ(str(*copied).find("B[i, j] +="), std::string::npos) << str(*copied);
  test::expect_same_meaning(whole, copied);
}

}  // namespace
}  // namespace exotune
