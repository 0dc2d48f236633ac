// Operands packed ahead and sums of columns in registers, against the interpreter.
#include "core/library/ahead.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/columns.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

constexpr const char* kKernels = R"(
@instr("pairs")
def pairs(dst: [f32][4] @ V4, x: [bf16][2] @ DRAM, w: [bf16][4, 2] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(x, 0) == 1
    assert stride(w, 0) == 2
    assert stride(w, 1) == 1
    for i in seq(0, 4):
        for r in seq(0, 2):
            a: f32
            b: f32
            a = x[r]
            b = w[i, r]
            dst[i] += a * b

@proc
def weights(x: bf16[6], W: bf16[6, 12], y: f32[12]):
    for j in seq(0, 12):
        for k in seq(0, 6):
            a: f32
            b: f32
            a = x[k]
            b = W[k, j]
            y[j] += a * b

@proc
def single(x: f32[6], W: f32[6, 12], y: f32[12]):
    for j in seq(0, 12):
        for k in seq(0, 6):
            y[j] += x[k] * W[k, j]

@proc
def any_size(K: size, N: size, x: f32[K], W: f32[K, N], y: f32[N]):
    for j in seq(0, N):
        for k in seq(0, K):
            y[j] += x[k] * W[k, j]

@proc
def writes(W: f32[6, 12]):
    for i in seq(0, 6):
        W[i, 0] = 0.0
)";

struct Machine : FourLanes {
  Machine() : FourLanes(kKernels) {}
};

std::vector<double> result(const ProcPtr& p, int64_t k, int64_t n) {
  std::vector<double> x, w;
  for (int64_t i = 0; i < k; ++i) x.push_back(static_cast<double>(i % 5) - 2);
  for (int64_t i = 0; i < k * n; ++i) w.push_back(static_cast<double>(i % 7) - 3);
  const size_t first = p->args.size() - 3;
  Buffer X(p->args[first].type.scalar, {k}, x), W(p->args[first + 1].type.scalar, {k, n}, w),
      Y(ScalarType::kF32, {n}, std::vector<double>(static_cast<size_t>(n), 1));
  std::vector<ArgValue> args;
  if (first > 0) args = {k, n};
  for (Buffer* b : {&X, &W, &Y}) args.emplace_back(b);
  run(*p, args);
  return Y.data;
}

TEST(PackAhead, packs_in_a_function_of_its_own_and_computes_the_same) {
  const Machine machine;
  const ProcPtr before = machine.find("single");
  const ProcPtr p = pack_ahead(before, "W", {1, 4}, {1, 0, 2});
  EXPECT_EQ(result(p, 6, 12), result(before, 6, 12));
  const std::optional<AheadParts> parts = split_ahead(p);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(result(parts->whole, 6, 12), result(before, 6, 12));
  ASSERT_EQ(parts->packs.size(), 1u);
  EXPECT_EQ(parts->packs[0]->name, "single_pack_W");
  EXPECT_EQ(parts->kernel->name, "single_packed");
  EXPECT_EQ(parts->layouts[0], "[3, 6, 4], where W_ahead[i1 / 4, i0, i1 % 4] = W[i0, i1]");
  EXPECT_EQ(str(*parts->kernel).find("W:"), std::string::npos) << str(*parts->kernel);
  EXPECT_FALSE(split_ahead(before).has_value());
}

TEST(PackAhead, a_block_that_does_not_divide_is_padded) {
  const Machine machine;
  const ProcPtr before = machine.find("single");
  const ProcPtr p = pack_ahead(before, "W", {4, 8}, {2, 0, 3, 1});
  EXPECT_NE(str(*p).find("W_ahead : f32[2, 2, 8, 4]"), std::string::npos) << str(*p);
  EXPECT_EQ(result(p, 6, 12), result(before, 6, 12));
}

TEST(PackAhead, sizes_may_be_unknown_and_operands_several) {
  const Machine machine;
  const ProcPtr before = machine.find("any_size");
  ProcPtr p = pack_ahead(before, "W", {1, 4}, {1, 0, 2});
  p = pack_ahead(p, "x", {2}, {0, 1});
  for (int64_t k : {1, 2, 5})
    for (int64_t n : {1, 4, 9}) EXPECT_EQ(result(p, k, n), result(before, k, n)) << k << " " << n;
  EXPECT_EQ(split_ahead(p)->packs.size(), 2u);
}

TEST(PackAhead, the_header_says_in_which_order_the_kernel_takes_it) {
  const Machine machine;
  CodegenOptions options;
  options.stem = "single";
  const CFile file =
      generate_kernel(pack_ahead(machine.find("single"), "W", {1, 4}, {1, 0, 2}), options);
  EXPECT_EQ(file.functions.size(), 3u);
  for (const char* part : {"void single(", "void single_pack_W(", "void single_packed(",
                           "W_ahead[i1 / 4, i0, i1 % 4] = W[i0, i1]"})
    EXPECT_NE(file.h.find(part), std::string::npos) << part << "\n" << file.h;
}

TEST(PackAhead, refuses_what_is_no_constant_operand) {
  const Machine machine;
  EXPECT_THROW(pack_ahead(machine.find("writes"), "W", {1, 4}, {0, 1, 2}), SchedulingError);
  EXPECT_THROW(pack_ahead(machine.find("single"), "V", {1, 4}, {0, 1, 2}), SchedulingError);
  EXPECT_THROW(pack_ahead(machine.find("single"), "W", {4}, {0, 1, 2}), SchedulingError);
  EXPECT_THROW(pack_ahead(machine.find("single"), "W", {1, 4}, {0, 1}), SchedulingError);
}

TEST(AccumulateColumns, pairs_of_rows_become_one_instruction) {
  const Machine machine;
  const ProcPtr before = machine.find("weights");
  const ProcPtr packed = pack_ahead(before, "W", {2, 8}, {2, 0, 3, 1});
  const ProcPtr p = accumulate_columns(packed, "k", "j", machine.unit, 2, 2);
  EXPECT_EQ(result(p, 6, 12), result(before, 6, 12));
  EXPECT_NE(str(*p).find("pairs(y_reg_1"), std::string::npos) << str(*p);
}

TEST(AccumulateColumns, a_row_at_a_time_in_vectors) {
  const Machine machine;
  const ProcPtr before = machine.find("single");
  for (int64_t vectors : {1, 2, 3, 4}) {
    const ProcPtr p = accumulate_columns(before, "k", "j", machine.unit, vectors, 1);
    EXPECT_EQ(result(p, 6, 12), result(before, 6, 12)) << vectors;
    EXPECT_NE(str(*p).find("fma("), std::string::npos) << str(*p);
  }
}

TEST(AccumulateColumns, refuses_sizes_that_leave_a_rest_and_instructions_that_are_not_there) {
  const Machine machine;
  EXPECT_THROW(accumulate_columns(machine.find("any_size"), "k", "j", machine.unit, 2, 1),
               SchedulingError);
  EXPECT_THROW(accumulate_columns(machine.find("single"), "k", "j", machine.unit, 2, 4),
               SchedulingError);
  // Pairs, but not of these types.
  EXPECT_THROW(accumulate_columns(machine.find("single"), "k", "j", machine.unit, 2, 2),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
