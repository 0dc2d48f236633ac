// The blocked matrix product against the interpreter, on a target of four lanes.
#include "core/library/gemm.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/contraction.h"
#include "core/library/prefetching.h"
#include "core/library/sum_block.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

const std::string kKernels = kSubtracting + R"(
@instr("add")
def add(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] += src[i]

@instr("sum")
def sum(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] + b[i]

@instr("lower")
def lower(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] min= src[i]

@proc
def least(A: f32[4, 3], B: f32[3, 16], C: f32[4, 16]):
    for i in seq(0, 4):
        for j in seq(0, 16):
            for k in seq(0, 3):
                C[i, j] min= A[i, k] + B[k, j]

@proc
def gemm(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[k, j]

@proc
def gemm_12(A: f32[12, 8], B: f32[8, 16], C: f32[12, 16]):
    for i in seq(0, 12):
        for j in seq(0, 16):
            for k in seq(0, 8):
                C[i, j] += A[i, k] * B[k, j]

@proc
def in_place(A: f32[12, 16]):
    for i in seq(0, 4):
        for j in seq(0, 8):
            for k in seq(0, 4):
                A[i + 8, j + 8] += -(A[i + 4, k] * A[k, j + 8])

@proc
def scaled(A: f32[12, 8], B: f32[8, 8], C: f32[12, 8]):
    for i in seq(0, 12):
        for j in seq(0, 8):
            s: f32
            s = 0.0
            for k in seq(0, 8):
                s += A[i, k] * B[k, j]
            C[i, j] += B[0, j] * s

@proc
def added_10(A: f32[12, 8], B: f32[8, 10], C: f32[12, 10]):
    for i in seq(0, 12):
        for j in seq(0, 10):
            for k in seq(0, 8):
                C[i, j] += A[i, k] * B[k, j]

@proc
def gemm_13(A: f32[12, 13], B: f32[13, 16], C: f32[12, 16]):
    for i in seq(0, 12):
        for j in seq(0, 16):
            for k in seq(0, 13):
                C[i, j] += A[i, k] * B[k, j]

@proc
def rest(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):
    assert 0 < M % 6
    assert 0 < N % 16
    for i in seq(0, M % 6):
        for j in seq(0, N % 16):
            for k in seq(0, K):
                C[6 * (M / 6) + i, 16 * (N / 16) + j] += A[6 * (M / 6) + i, k] * B[k, 16 * (N / 16) + j]

@proc
def set_product(A: f32[3, 5], B: f32[5, 6], C: f32[3, 6]):
    for i in seq(0, 3):
        for j in seq(0, 6):
            C[i, j] = A[i, 0]
            for k in seq(0, 5):
                C[i, j] += A[i, k] * B[k, j]

@proc
def two_products(A: f32[5, 16], B: f32[5, 16], C: f32[4, 8]):
    for i in seq(0, 4):
        for j in seq(0, 8):
            for k in seq(0, 5):
                C[i, j] += A[k, i] * B[k, 8 + j] + B[k, i] * A[k, 8 + j]

@proc
def product_and_term(A: f32[5, 16], B: f32[5, 16], C: f32[4, 8]):
    for i in seq(0, 4):
        for j in seq(0, 8):
            for k in seq(0, 5):
                C[i, j] += A[k, i] * B[k, j] + B[k, i]

@proc
def follows_itself(A: f32[12, 16]):
    for i in seq(0, 4):
        for j in seq(0, 8):
            for k in seq(0, 4):
                A[i, j] += A[i + 4, k] * A[k, j]

@proc
def whole_vectors(n: size, A: f32[2, 3], B: f32[3, 4 * n], C: f32[2, 4 * n]):
    for i in seq(0, 2):
        for j in seq(0, 4 * n):
            for k in seq(0, 3):
                C[i, j] += A[i, k] * B[k, j]

@proc
def no_product(M: size, N: size, K: size, A: f32[M, K], C: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k]
)";

std::vector<double> result(const ProcPtr& p, int64_t m, int64_t n, int64_t k) {
  const auto filled = [](int64_t count, int64_t period) {
    std::vector<double> out;
    for (int64_t x = 0; x < count; ++x) out.push_back(static_cast<double>(x % period) - 3);
    return out;
  };
  Buffer A(ScalarType::kF32, {m, k}, filled(m * k, 7)),
      B(ScalarType::kF32, {k, n}, filled(k * n, 5)), C(ScalarType::kF32, {m, n}, filled(m * n, 9));
  if (p->args.size() == 3)
    run(*p, {&A, &B, &C});
  else
    run(*p, {m, n, k, &A, &B, &C});
  return C.data;
}

TEST(Gemm, any_size_is_exact_with_every_kind_of_block) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("gemm");
  for (const GemmBlocks& blocks :
       {GemmBlocks{3, 8, 0, 0, 0, true}, GemmBlocks{2, 4, 5, 4, 0, true},
        GemmBlocks{4, 8, 4, 0, 16, true}, GemmBlocks{3, 8, 5, 6, 0, false}}) {
    const ProcPtr q = gemm(p, "i", "j", "k", machine.unit, blocks);
    for (int64_t m : {1, 4, 7})
      for (int64_t n : {1, 8, 13, 17})
        for (int64_t k : {1, 6})
          EXPECT_EQ(result(q, m, n, k), result(p, m, n, k)) << m << " " << n << " " << k;
  }
}

TEST(Gemm, blocks_that_divide_the_sizes_leave_no_boundary) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("gemm_12"),
                q = gemm(p, "i", "j", "k", machine.unit, {3, 8, 4, 6, 0, true});
  EXPECT_EQ(result(q, 12, 16, 8), result(p, 12, 16, 8));
  const std::string text = str(*q);
  EXPECT_EQ(text.find("_prefix("), std::string::npos) << text;
  EXPECT_EQ(text.find("if "), std::string::npos) << text;
  EXPECT_NE(text.find("B_pack"), std::string::npos) << text;
}

TEST(Gemm, a_tile_that_is_set_first_is_not_loaded) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("set_product"), q = register_block(p, "i", "j", "k", machine.unit);
  EXPECT_EQ(result(q, 3, 6, 5), result(p, 3, 6, 5));
  const std::string text = str(*q);
  EXPECT_EQ(text.find("], C["), std::string::npos) << text;  // no load from C
  EXPECT_NE(text.find("store(C["), std::string::npos) << text;
}

TEST(Gemm, a_product_may_be_taken_from_another_part_of_its_own_array) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("in_place");
  const ProcPtr q =
      register_block(stage_mem(p, "i", "A[4:8, 0:4]", "L"), "i", "j", "k", machine.unit);
  std::vector<double> start;
  for (int k = 0; k < 12 * 16; ++k) start.push_back(k * 5 % 9 - 4);
  Buffer x(ScalarType::kF32, {12, 16}, start), y(ScalarType::kF32, {12, 16}, start);
  run(*p, {&x});
  run(*q, {&y});
  EXPECT_EQ(x.data, y.data) << str(*q);
  EXPECT_NE(str(*q).find("A_reg : f32[4, 2, 4] @ V4"), std::string::npos) << str(*q);
}

TEST(Gemm, a_sum_kept_apart_is_added_in_the_end_and_asks_for_its_lines) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("gemm_12");
  ProcPtr q = block_loop(p, "i", {4}, {"io", "i"});
  q = block_loop(q, "j", {8}, {"jo", "j"}, "i");
  q = register_block(q, "i", "j", "k", machine.unit, true);
  // Four lines of C in eight iterations: one in each two.
  EXPECT_NE(str(*q).find("for kl in seq(0, 4):\n                prefetch_3_f32(C["),
            std::string::npos)
      << str(*q);
  EXPECT_EQ(result(q, 12, 16, 8), result(p, 12, 16, 8));
  // The rounds serve the four lines of A as well.
  q = prefetch_meanwhile(q, "io", "k");
  EXPECT_EQ(str(*q).find("for kl in"), str(*q).rfind("for kl in")) << str(*q);
  EXPECT_NE(str(*q).find("prefetch_3_f32(A["), std::string::npos) << str(*q);
  EXPECT_EQ(result(q, 12, 16, 8), result(p, 12, 16, 8));
  EXPECT_THROW(prefetch_meanwhile(q, "io", "k", "B"), SchedulingError);  // the same for all rows
  EXPECT_THROW(prefetch_meanwhile(q, "ko", "k"), SchedulingError);       // no such loop around
}

TEST(Gemm, results_are_asked_for_in_front_of_their_sums) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("gemm_12");
  ProcPtr q = block_loop(p, "i", {4}, {"io", "i"});
  q = block_loop(q, "j", {8}, {"jo", "j"}, "i");
  q = sum_block(q, "i", "j", machine.unit);
  const ProcPtr asking = prefetch_behind(q, "k", "C");
  EXPECT_NE(str(*asking).find("prefetch_3_f32(C["), std::string::npos) << str(*asking);
  EXPECT_EQ(result(asking, 12, 16, 8), result(p, 12, 16, 8));
  const auto requests = [](const ProcPtr& proc) {
    const std::string text = str(*proc);
    int count = 0;
    for (size_t at = 0; (at = text.find("prefetch_3_f32(C[", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  const ProcPtr ends = prefetch_behind(q, "k", "C", true);
  EXPECT_GT(requests(ends), requests(asking)) << str(*ends);
  EXPECT_NE(str(*ends).find("8 * jo + 7])"), std::string::npos) << str(*ends);
  EXPECT_EQ(result(ends, 12, 16, 8), result(p, 12, 16, 8));
  EXPECT_THROW(prefetch_behind(q, "k", "A"), SchedulingError);  // nothing behind the sums reads it
  EXPECT_THROW(prefetch_behind(q, "jo", "C"), Error);
}

TEST(Gemm, a_tile_is_read_before_any_of_it_is_written) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("scaled");
  ProcPtr q = block_loop(p, "i", {4}, {"io", "i"});
  q = block_loop(q, "j", {4}, {"jo", "j"}, "i");
  const auto reads_behind_a_write = [](const ProcPtr& proc) {
    const std::string text = str(*proc);
    return text.find("store(C[") < text.rfind(", C[");
  };
  const auto in_registers = [&](bool reads_first) {
    return unroll_registers(sum_block(q, "i", "j", machine.unit, reads_first), machine.unit.memory);
  };
  EXPECT_TRUE(reads_behind_a_write(in_registers(false))) << str(*in_registers(false));
  EXPECT_FALSE(reads_behind_a_write(in_registers(true))) << str(*in_registers(true));
  EXPECT_EQ(result(in_registers(true), 12, 8, 8), result(p, 12, 8, 8));
}

TEST(Gemm, sums_of_a_last_partial_vector_need_no_mask) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("added_10");
  ProcPtr q = block_loop(p, "i", {4}, {"io", "i"});
  q = block_loop(q, "j", {4}, {"jo", "j"}, "i");
  q = sum_block(q, "i", "j", machine.unit);
  const std::string text = str(*q);
  EXPECT_EQ(text.find("fma_prefix("), std::string::npos) << text;
  EXPECT_NE(text.find("store_prefix("), std::string::npos) << text;  // what is in memory does
  EXPECT_EQ(result(q, 12, 10, 8), result(p, 12, 10, 8));
}

TEST(Gemm, lines_are_asked_for_at_once_where_there_is_no_time_for_one_by_one) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("gemm_12");
  ProcPtr q = block_loop(p, "k", {2}, {"ko", "k"}, "i");
  q = block_loop(q, "i", {4}, {"io", "i"});
  q = block_loop(q, "j", {8}, {"jo", "j"}, "i");
  q = register_block(q, "i", "j", "k", machine.unit, true);
  EXPECT_EQ(str(*q).find("for kl in"), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("prefetch_3_f32(C["), std::string::npos) << str(*q);
  EXPECT_EQ(result(q, 12, 16, 8), result(p, 12, 16, 8));
  // Thirteen iterations, four lines: three at a time, and one more.
  q = block_loop(machine.find("gemm_13"), "i", {4}, {"io", "i"});
  q = block_loop(q, "j", {8}, {"jo", "j"}, "i");
  q = register_block(q, "i", "j", "k", machine.unit, true);
  EXPECT_NE(str(*q).find("for kl in seq(0, 4):"), std::string::npos) << str(*q);
  EXPECT_EQ(result(q, 12, 16, 13), result(machine.find("gemm_13"), 12, 16, 13));
}

TEST(Gemm, boundaries_that_no_size_meets_may_vanish) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("rest");
  ProcPtr q = block_loop(p, "j", {4, 4}, {"jo", "j"}, "i");
  q = block_loop(q, "i", {30}, {"io", "i"});
  q = register_block(q, "i", "j", "k", machine.unit);
  EXPECT_EQ(result(q, 9, 23, 5), result(p, 9, 23, 5));
}

TEST(PackOperand, a_strip_cut_short_at_a_whole_vector_has_no_partial_one) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("whole_vectors");
  const ProcPtr q = pack_operand(p, "B", "i", 12, machine.unit);
  EXPECT_EQ(str(*q).find("_prefix("), std::string::npos) << str(*q);
  for (const int64_t n : {1, 2, 3, 5}) {
    Buffer a(ScalarType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
    Buffer b(ScalarType::kF32, {3, 4 * n}, std::vector<double>(12 * n, 2));
    for (int64_t k = 0; k < 12 * n; ++k) b.data[k] += static_cast<double>(k % 7);
    Buffer once(ScalarType::kF32, {2, 4 * n}, std::vector<double>(8 * n, 1)), twice = once;
    run(*p, {n, &a, &b, &once});
    run(*q, {n, &a, &b, &twice});
    EXPECT_EQ(once.data, twice.data) << n;
  }
}

TEST(RegisterBlock, takes_other_sums_than_products) {
  const FourLanes machine(kKernels);
  ProcPtr q = block_loop(machine.find("least"), "j", {8}, {"jo", "j"}, "i");
  q = register_block(q, "i", "j", "k", machine.unit);
  EXPECT_NE(str(*q).find("lower("), std::string::npos) << str(*q);
  EXPECT_EQ(result(q, 4, 16, 3), result(machine.find("least"), 4, 16, 3));
}

TEST(RegisterBlock, takes_sums_of_products_of_the_same_arrays) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("two_products");
  const ProcPtr q = register_block(p, "i", "j", "k", machine.unit);
  const std::string text = str(*q);
  for (const char* tile : {"A_reg : f32[2, 4] @ V4", "B_reg : f32[2, 4] @ V4"})
    EXPECT_NE(text.find(tile), std::string::npos) << text;
  EXPECT_EQ(text.find("sum("), std::string::npos) << text;  // each product is one instruction
  Buffer a(ScalarType::kF32, {5, 16}, std::vector<double>(80, 2)), b = a;
  for (size_t k = 0; k < 80; ++k)
    a.data[k] = static_cast<double>(k % 7) - 3, b.data[k] = static_cast<double>(k % 5);
  Buffer once(ScalarType::kF32, {4, 8}, std::vector<double>(32, 1)), twice = once;
  run(*p, {&a, &b, &once});
  run(*q, {&a, &b, &twice});
  EXPECT_EQ(once.data, twice.data) << text;
}

TEST(RegisterBlock, leaves_sums_of_other_terms_whole) {
  const FourLanes machine(kKernels);
  EXPECT_THROW((void)register_block(machine.find("product_and_term"), "i", "j", "k", machine.unit),
               SchedulingError);  // no instruction adds the product to the term
  EXPECT_THROW((void)register_block(machine.find("follows_itself"), "i", "j", "k", machine.unit),
               SchedulingError);  // reads what it has written
}

// Rows along a diagonal: all between them would be staged. A tile that writes each of its vectors
// is the caller's to choose, however many they are.
TEST(RegisterBlock, rows_that_lie_far_apart_are_refused) {
  const FourLanes machine(std::string(kKernels) + R"(
@proc
def diagonal(A: f32[80, 8], B: f32[8, 84], C: f32[80, 84]):
    for i in seq(0, 4):
        for j in seq(0, 8):
            for k in seq(0, 8):
                C[20 * i, 20 * i + j] += A[20 * i, k] * B[k, 20 * i + j]
)");
  VectorUnit unit = machine.unit;
  Memory few = *unit.memory;
  few.count = 16;
  unit.memory = std::make_shared<Memory>(few);
  const auto refusal = [&](const char* kernel) -> std::string {
    try {
      (void)register_block(machine.find(kernel), "i", "j", "k", unit);
      return "";
    } catch (const SchedulingError& e) {
      return e.diagnostic().message.str();
    }
  };
  EXPECT_NE(refusal("diagonal").find("spans 1037 registers for 8 that it writes, and V4 has 16"),
            std::string::npos)
      << refusal("diagonal");
  EXPECT_EQ(refusal("gemm_12").find("registers"), std::string::npos) << refusal("gemm_12");
}

TEST(RegisterBlock, a_nest_in_another_order_is_refused) {
  const FourLanes machine(kKernels);
  try {
    register_block(machine.find("gemm_12"), "j", "i", "k", machine.unit);
    FAIL();
  } catch (const SchedulingError& e) {
    EXPECT_NE(std::string(e.what()).find("no loop over `j` is a nest of `j`, `i` and `k`"),
              std::string::npos)
        << e.what();
  }
}

TEST(Gemm, what_is_no_product_or_no_tile_is_refused) {
  const FourLanes machine(kKernels);
  EXPECT_THROW(gemm(machine.find("no_product"), "i", "j", "k", machine.unit, {}), SchedulingError);
  EXPECT_THROW(gemm(machine.find("gemm"), "j", "i", "k", machine.unit, {}), SchedulingError);
  EXPECT_THROW(gemm(machine.find("gemm"), "i", "j", "k", machine.unit, {3, 6}), SchedulingError);
}

}  // namespace
}  // namespace exotune
