// Matrix-vector schedules against the interpreter, on a target of four lanes.
#include "core/library/level2.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/skinny.h"
#include "core/library/staging.h"
#include "core/primitives/primitives.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

constexpr const char* kKernels = R"(
@proc
def trmv_lower(N: size, A: f32[N, N], x: f32[N]):
    for k in seq(0, N):
        dot: f32
        dot = 0.0
        for j in seq(0, N - k):
            dot += A[N - 1 - k, j] * x[j]
        x[N - 1 - k] = dot

@proc
def trmv_upper(N: size, A: f32[N, N], x: f32[N]):
    for k in seq(0, N):
        dot: f32
        dot = 0.0
        for j in seq(k, N):
            dot += A[k, j] * x[j]
        x[k] = dot

@proc
def symv_lower(N: size, A: f32[N, N], x: f32[N], y: f32[N]):
    for k in seq(0, N):
        dot: f32
        dot = 0.0
        for j in seq(0, k):
            dot += A[k, j] * x[j]
            y[j] += x[k] * A[k, j]
        y[k] += x[k] * A[k, k] + dot

@proc
def gemv_t(M: size, N: size, A: f32[M, N], x: [f32][M], y: [f32][N]):
    for i in seq(0, M):
        t: f32
        t = x[i]
        for j in seq(0, N):
            y[j] += t * A[i, j]

@proc
def gemv_n(M: size, N: size, A: f32[M, N], x: f32[N], y: f32[M]):
    for i in seq(0, M):
        for j in seq(0, N):
            y[i] += A[i, j] * x[j]

@proc
def scaled_dots(M: size, N: size, A: f32[M, N], x: f32[N], y: f32[M], z: f32[N]):
    for i in seq(0, M):
        for j in seq(0, N):
            y[i] += A[i, j] * x[j]
        y[i] = y[i] * x[0]
    for i in seq(0, M):
        for j in seq(0, N):
            z[j] += A[i, j] * y[i]

@proc
def gemv_rows(M: size, N: size, A: f32[M, N], x: f32[M], y: f32[N]):
    for i in seq(0, M):
        for j in seq(0, N):
            y[j] += x[i] * A[i, j]

@proc
def ger(M: size, N: size, A: f32[M, N], x: f32[M], y: f32[N]):
    for i in seq(0, M):
        for j in seq(0, N):
            A[i, j] += x[i] * y[j]

@proc
def row_sums(M: size, N: size, A: f32[M, N], y: f32[M]):
    for i in seq(0, M):
        for j in seq(0, N):
            y[i] += A[i, j]

@proc
def two_nests(N: size, A: f32[N, N], y: f32[N]):
    for i in seq(0, N):
        for j in seq(0, N):
            y[i] += A[i, j]
        for k in seq(0, N):
            y[i] += A[i, k]

@proc
def dense(N: size, x: [f32][N], y: f32[N]):
    assert stride(x, 0) == 1
    for j in seq(0, N):
        y[j] += x[j]
)";

struct Machine : FourLanes {
  ProcPtr kernel = find("gemv_t");
  Machine() : FourLanes(kKernels) {}
};

std::vector<double> result(const ProcPtr& p, int64_t m, int64_t n) {
  std::vector<double> a, b(static_cast<size_t>(m)), c(static_cast<size_t>(n), 1);
  for (int64_t k = 0; k < m * n; ++k) a.push_back(static_cast<double>(k % 7) - 3);
  for (size_t k = 0; k < b.size(); ++k) b[k] = static_cast<double>(k % 3) + 1;
  Buffer A(ScalarType::kF32, {m, n}, a), x(ScalarType::kF32, {m}, b), y(ScalarType::kF32, {n}, c);
  run(*p, {m, n, &A, &x, &y});
  return y.data;
}

TEST(Level2, columns_stay_in_registers_while_the_rows_go_by) {
  const Machine machine;
  const ProcPtr unit_strides = gather_vectors(machine.kernel);
  const ProcPtr q = optimize_columns(unit_strides, "i", "j", machine.unit, 2);
  for (int64_t m : {1, 2, 5})
    for (int64_t n : {1, 3, 4, 5, 8, 15, 17})
      EXPECT_EQ(result(q, m, n), result(machine.kernel, m, n)) << m << " " << n;
  // One row of the first block: two multiply-adds, no load or store of y.
  const std::string text = str(*q);
  const size_t rows = text.find("for i in seq(0, M):");
  ASSERT_NE(rows, std::string::npos) << text;
  const std::string row = text.substr(rows, text.find("store(", rows) - rows);
  EXPECT_NE(row.find("fma("), std::string::npos) << row;
  EXPECT_EQ(row.find("y_unit["), std::string::npos) << row;
  // What is left goes down the rows once, in one register or in two.
  EXPECT_NE(text.find("if N % 8 <= 4:"), std::string::npos) << text;
}

std::vector<double> dots(const ProcPtr& p, int64_t m, int64_t n) {
  std::vector<double> a, b(static_cast<size_t>(n), 2), c(static_cast<size_t>(m), 1);
  for (int64_t k = 0; k < m * n; ++k) a.push_back(static_cast<double>(k % 5) - 2);
  Buffer A(ScalarType::kF32, {m, n}, a), x(ScalarType::kF32, {n}, b), y(ScalarType::kF32, {m}, c);
  Buffer z(ScalarType::kF32, {n}, std::vector<double>(static_cast<size_t>(n)));
  run(*p, {m, n, &A, &x, &y, &z});
  y.data.insert(y.data.end(), z.data.begin(), z.data.end());
  return y.data;
}

TEST(Level2, sums_cut_into_blocks_have_rests_without_a_whole_vector) {
  const Machine machine;
  const ProcPtr p = machine.find("scaled_dots");
  const ProcPtr q = optimize_columns(p, "i", "j", machine.unit, 1);
  for (int64_t n : {1, 3, 4, 5, 8, 11}) EXPECT_EQ(dots(q, 3, n), dots(p, 3, n)) << n;
}

// Registers for all the rows of a matrix are no registers.
TEST(Level2, a_matrix_that_is_written_is_no_sum_of_columns) {
  const Machine machine;
  const ProcPtr p = partial_eval(machine.find("ger"), {{"M", 64}, {"N", 16}});
  EXPECT_THROW(optimize_columns(p, "i", "j", machine.unit, 2), SchedulingError);
}

TEST(Level2, what_rows_are_divided_by_is_a_factor) {
  const FourLanes machine(R"(
@instr("mul")
def mul(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] * b[i]

@instr("div")
def div(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] / b[i]

@instr("one")
def one(dst: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    for i in seq(0, 4):
        dst[i] = 1.0

@proc
def scaled(A: f32[4, 8], x: f32[4], B: f32[4, 8]):
    for i in seq(0, 4):
        for j in seq(0, 8):
            B[i, j] = A[i, j] / x[i]
)");
  const ProcPtr p = machine.find("scaled"), q = optimize_level_2(p, "i", "j", machine.unit, 2, 1);
  // Once for a row, which no lane of a matrix has a part in.
  EXPECT_EQ(str(*q).find("div(t_v, A_v"), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("mul("), std::string::npos) << str(*q);
  const auto result = [](const ProcPtr& of) {
    Buffer a(ScalarType::kF32, {4, 8}), x(ScalarType::kF32, {4}, {1, 2, 4, 8}),
        b(ScalarType::kF32, {4, 8});
    for (size_t k = 0; k < a.data.size(); ++k) a.data[k] = static_cast<double>(k);
    run(*of, {&a, &x, &b});
    return b.data;
  };
  EXPECT_EQ(result(q), result(p));
}

TEST(Level2, vectors_of_any_stride_are_copied_once) {
  const Machine machine;
  const ProcPtr q = gather_vectors(machine.kernel);
  EXPECT_NE(str(*q).find("x_unit : f32[M]"), std::string::npos) << str(*q);
  EXPECT_EQ(result(q, 3, 5), result(machine.kernel, 3, 5));
  EXPECT_THROW(gather_vectors(machine.find("dense")), SchedulingError);
}

// Every vector argument after one run on small integers.
std::vector<double> triangle_result(const ProcPtr& p, int64_t n) {
  std::vector<double> a, b;
  for (int64_t k = 0; k < n * n; ++k) a.push_back(static_cast<double>(k % 7) - 3);
  for (int64_t k = 0; k < n; ++k) b.push_back(static_cast<double>(k % 3) + 1);
  Buffer A(ScalarType::kF32, {n, n}, a), x(ScalarType::kF32, {n}, b), y(ScalarType::kF32, {n}, b);
  std::vector<ArgValue> args{n, &A, &x};
  if (p->args.size() == 4) args.emplace_back(&y);
  run(*p, args);
  std::vector<double> out = x.data;
  out.insert(out.end(), y.data.begin(), y.data.end());
  return out;
}

TEST(Level2, blocks_of_rows_of_a_triangle_are_cut_into_a_common_part_and_a_corner) {
  const Machine machine;
  for (const char* name : {"trmv_lower", "trmv_upper", "symv_lower"})
    for (int64_t rows : {2, 4}) {
      const ProcPtr p = machine.find(name),
                    q = optimize_level_2(p, "k", "j", machine.unit, rows, 1);
      for (int64_t n = 1; n <= 14; ++n)
        EXPECT_EQ(triangle_result(q, n), triangle_result(p, n)) << name << " " << n;
    }
  // A vector of x, once loaded, serves all rows of a block.
  const std::string text =
      str(*optimize_level_2(machine.find("trmv_lower"), "k", "j", machine.unit, 4, 1));
  EXPECT_NE(text.find("fma(dot_acc_3"), std::string::npos) << text;
}

TEST(Level2, statements_over_the_same_vectors_share_a_loop) {
  const FourLanes machine(kKernels);
  const ProcPtr p = machine.find("symv_lower");
  const auto loops_over_vectors = [](const ProcPtr& q) {
    const std::string text = str(*q);
    int loops = 0;
    for (size_t at = 0; (at = text.find("for jv in seq(0,", at)) != std::string::npos; ++at)
      ++loops;
    return loops;
  };
  const ProcPtr apart = optimize_level_2(p, "k", "j", machine.unit, 4, 1),
                fused = optimize_level_2(p, "k", "j", machine.unit, 4, 1, true);
  EXPECT_EQ(loops_over_vectors(fused), loops_over_vectors(apart) - 1) << str(*fused);
  for (int64_t n = 1; n <= 14; ++n)
    EXPECT_EQ(triangle_result(fused, n), triangle_result(p, n)) << n;
}

// One sum goes along the rows, the other down them; what the first sums into is made behind the
// second's loop, and ten columns leave a rest between the two.
TEST(Level2, statements_share_a_loop_whichever_of_them_may_move) {
  const FourLanes machine(R"(
@proc
def both(A: f32[9, 10], p: f32[10], q: f32[9], r: f32[9], s: f32[10]):
    for i in seq(0, 9):
        q[i] = 0.0
        for j in seq(0, 10):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
)");
  const ProcPtr p = machine.find("both"),
                fused = optimize_level_2(p, "i", "j", machine.unit, 4, 1, true);
  const std::string text = str(*fused);
  const size_t loop = text.find("for jv in seq(0, 2)");
  ASSERT_NE(loop, std::string::npos) << text;
  EXPECT_LT(text.find("store(s[4 * jv:4 * jv + 4]", loop), text.find("fma(q_acc_0", loop)) << text;
  EXPECT_LT(text.find("fma(q_acc_0", loop), text.find("for jv", loop + 1)) << text;
  const auto result = [](const ProcPtr& of) {
    Buffer a(ScalarType::kF32, {9, 10}), along(ScalarType::kF32, {10}), q(ScalarType::kF32, {9}),
        down(ScalarType::kF32, {9}), s(ScalarType::kF32, {10});
    for (size_t k = 0; k < a.data.size(); ++k) a.data[k] = static_cast<double>(k * 5 % 7);
    for (size_t k = 0; k < 10; ++k) along.data[k] = s.data[k] = static_cast<double>(k);
    for (size_t k = 0; k < 9; ++k) down.data[k] = static_cast<double>(3 * k % 4);
    run(*of, {&a, &along, &q, &down, &s});
    return std::pair(q.data, s.data);
  };
  EXPECT_EQ(result(p), result(fused)) << text;
}

ProcPtr with_columns(const ProcPtr& p, int64_t most) {
  for (const Arg& a : p->args)
    if (a.name.name() == "N")
      return add_assertion(
          p, bin_op(BinOpKind::kLe, read_var(a.name, ScalarType::kSize), int_const(most)));
  return p;
}

// Every buffer after one run of a procedure of a matrix and vectors of M and N elements.
std::vector<double> skinny_result(const ProcPtr& p, int64_t m, int64_t n, bool fixed = false) {
  std::vector<double> a;
  for (int64_t k = 0; k < m * n; ++k) a.push_back(static_cast<double>(k % 7) - 3);
  std::vector<Buffer> buffers;
  buffers.reserve(3);
  std::vector<ArgValue> args{m};
  if (!fixed) args.emplace_back(n);
  for (const Arg& arg : p->args) {
    if (!is_data(arg.type.scalar)) continue;
    std::vector<double> values = a;
    std::vector<int64_t> shape{m, n};
    if (arg.type.rank() == 1) {
      shape = {arg.name.name() == (p->name == "gemv_n" ? "x" : "y") ? n : m};
      values.assign(static_cast<size_t>(shape[0]), 0);
      for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k % 3) + 1;
    }
    buffers.emplace_back(ScalarType::kF32, shape, values);
    args.emplace_back(&buffers.back());
  }
  run(*p, args);
  std::vector<double> out;
  for (const Buffer& b : buffers) out.insert(out.end(), b.data.begin(), b.data.end());
  return out;
}

// No instruction loads a part of a vector of halves.
TEST(Level2, a_rest_that_no_instruction_does_is_done_element_by_element) {
  const FourLanes machine(std::string(kHalves) + R"(
@proc
def squares(x: f16[4, 7], y: f32[4, 7]):
    for r in seq(0, 4):
        for i in seq(0, 7):
            y[r, i] = f32(x[r, i]) * f32(x[r, i])

@proc
def columns(x: f16[4, 7], a: f32[4], y: f32[7]):
    for r in seq(0, 4):
        for i in seq(0, 7):
            y[i] += a[r] * f32(x[r, i])

@proc
def row_sums(x: f16[4, 7], y: f32[4]):
    for r in seq(0, 4):
        for i in seq(0, 7):
            y[r] += f32(x[r, i]) * f32(x[r, i])
)");
  for (const char* name : {"squares", "columns", "row_sums"}) {
    const ProcPtr p = machine.find(name);
    const ProcPtr q = optimize_level_2(p, "r", "i", machine.unit, 4, 1);
    Arguments before = make_arguments(*p, {}, 5), after = copy_of(before);
    run(*p, before.values);
    run(*q, after.values);
    EXPECT_EQ(first_difference(before, after), "") << str(*q);
    EXPECT_NE(str(*q).find("load_half4("), std::string::npos) << str(*q);
  }
}

TEST(Skinny, the_vector_that_every_row_uses_stays_in_registers) {
  const Machine machine;
  for (const char* name : {"gemv_n", "gemv_rows", "ger"}) {
    ProcPtr p = machine.find(name);
    p = with_columns(p, 11);
    const ProcPtr q = opt_skinny(p, "i", "j", machine.unit);
    for (int64_t m : {1, 2, 5})
      for (int64_t n = 1; n <= 11; ++n)
        EXPECT_EQ(skinny_result(q, m, n), skinny_result(p, m, n)) << name << m << " " << n;
    // Three cases: one, two or three registers, each with a literal number of instructions.
    const std::string text = str(*q);
    EXPECT_NE(text.find("if N <= 4:"), std::string::npos) << text;
    EXPECT_NE(text.find("if N <= 8:"), std::string::npos) << text;
    EXPECT_EQ(text.find("for jv"), std::string::npos) << text;
    EXPECT_EQ(text.find("_r : f32[4] @ DRAM"), std::string::npos) << text;
  }
}

TEST(Skinny, a_known_number_of_columns_is_one_case) {
  const Machine machine;
  for (int64_t n : {4, 7, 8}) {
    const ProcPtr p = partial_eval(machine.find("gemv_n"), {{"N", n}});
    const ProcPtr q = opt_skinny(p, "i", "j", machine.unit);
    EXPECT_EQ(str(*q).find("if "), std::string::npos) << str(*q);
    EXPECT_EQ(skinny_result(q, 3, n, true), skinny_result(p, 3, n, true)) << n;
  }
}

TEST(Skinny, all_vectors_of_one_type_stay_in_registers) {
  const FourLanes machine(std::string(kHalves) + R"(
@proc
def products(A: f32[5, 12], s: f32[12], t: f32[12]):
    for i in seq(0, 5):
        for j in seq(0, 12):
            A[i, j] += s[j] * t[j]

@proc
def of_halves(A: f32[5, 12], s: f16[12], t: f32[12]):
    for i in seq(0, 5):
        for j in seq(0, 12):
            A[i, j] += f32(s[j]) * t[j]
)");
  for (const char* name : {"products", "of_halves"}) {
    const ProcPtr p = machine.find(name);
    const ProcPtr q = opt_skinny(p, "i", "j", machine.unit, 3);
    const std::string text = str(*q);
    EXPECT_EQ(text.find("s_r_2") != std::string::npos, p->name == "products") << text;
    EXPECT_NE(text.find("t_r_2"), std::string::npos) << text;
    Arguments before = make_arguments(*p, {}, 5), after = copy_of(before);
    run(*p, before.values);
    run(*q, after.values);
    EXPECT_EQ(first_difference(before, after), "") << text;
  }
}

TEST(Skinny, columns_without_a_bound_and_nests_without_a_vector_are_refused) {
  const Machine machine;
  EXPECT_THROW(opt_skinny(machine.find("gemv_n"), "i", "j", machine.unit), SchedulingError);
  const ProcPtr bounded = with_columns(machine.find("gemv_n"), 11);
  EXPECT_THROW(opt_skinny(bounded, "i", "j", machine.unit, 2), SchedulingError);
  EXPECT_NO_THROW(opt_skinny(bounded, "i", "j", machine.unit, 3));
  EXPECT_THROW(opt_skinny(with_columns(machine.find("row_sums"), 4), "i", "j", machine.unit),
               SchedulingError);
  EXPECT_THROW(opt_skinny(bounded, "j", "i", machine.unit), SchedulingError);
}

constexpr const char* kSumsOfRows = R"(
@instr("sums")
def sums(dst: [f32][4] @ DRAM, src: [f32][4, 4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 1) == 1
    for i in seq(0, 4):
        for j in seq(0, 4):
            dst[i] += src[i, j]

@proc
def products(M: size, N: size, A: f32[M, N], x: f32[N], y: f32[M]):
    for i in seq(0, M):
        dot: f32
        dot = 0.0
        for j in seq(0, N):
            dot += A[i, j] * x[j]
        y[i] = dot

@proc
def products_of_any_stride(M: size, N: size, A: f32[M, N], x: f32[N], y: [f32][M]):
    for i in seq(0, M):
        dot: f32
        dot = 0.0
        for j in seq(0, N):
            dot += A[i, j] * x[j]
        y[i] = dot

@proc
def sums_of_any_stride(M: size, N: size, A: f32[M, N], x: f32[N], y: [f32][M]):
    for i in seq(0, M):
        for j in seq(0, N):
            y[i] += A[i, j] * x[j]
)";

// y after one run.
std::vector<double> products_result(const ProcPtr& p, int64_t m, int64_t n) {
  std::vector<double> a;
  for (int64_t k = 0; k < m * n; ++k) a.push_back(static_cast<double>(k % 7) - 3);
  Buffer A(ScalarType::kF32, {m, n}, a);
  Buffer x(ScalarType::kF32, {n}, std::vector<double>(static_cast<size_t>(n), 2));
  Buffer y(ScalarType::kF32, {m}, std::vector<double>(static_cast<size_t>(m), 1));
  run(*p, {m, n, &A, &x, &y});
  return y.data;
}

TEST(Level2, lanes_of_several_rows_are_added_up_at_once) {
  const FourLanes machine(kSumsOfRows);
  const auto text_of = [&](const char* name, int64_t rows) {
    const ProcPtr p = machine.find(name);
    const ProcPtr q = optimize_level_2(p, "i", "j", machine.unit, rows, 1);
    for (int64_t m : {1, 4, 9})
      for (int64_t n : {1, 4, 7, 8})
        EXPECT_EQ(products_result(q, m, n), products_result(p, m, n)) << name << m << " " << n;
    return str(*q);
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  std::string text = text_of("products", 4);
  EXPECT_TRUE(has(text, "sums(dot[0:4], dot_acc[0:4, 0:4])")) << text;
  EXPECT_TRUE(has(text, "store(y[4 * io:4 * io + 4], ")) << text;
  text = text_of("products", 8);
  EXPECT_TRUE(has(text, "sums(dot[4:8], dot_acc[4:8, 0:4])")) << text;
  text = text_of("products", 6);  // two rows are left: one by one, and no vector of y
  EXPECT_TRUE(has(text, "sums(dot[0:4], dot_acc[0:4, 0:4])")) << text;
  EXPECT_TRUE(has(text, "lanes(dot[5:6], dot_acc[5, 0:4])")) << text;
  EXPECT_FALSE(has(text, "store(y")) << text;
  EXPECT_FALSE(has(text_of("products", 2), "sums("));
  text = text_of("products_of_any_stride", 4);
  EXPECT_TRUE(has(text, "sums(dot[0:4], dot_acc[0:4, 0:4])")) << text;
  EXPECT_FALSE(has(text, "store(y")) << text;
  EXPECT_FALSE(has(text_of("sums_of_any_stride", 4), "sums("));
}

TEST(Level2, the_general_form_finds_the_inner_loop) {
  const Machine machine;
  for (const char* name : {"trmv_lower", "symv_lower"}) {
    const ProcPtr p = machine.find(name), q = optimize_level_2_general(p, "k", machine.unit, 4, 1);
    EXPECT_EQ(str(*q), str(*optimize_level_2(p, "k", "j", machine.unit, 4, 1)));
    for (int64_t n : {1, 6, 13}) EXPECT_EQ(triangle_result(q, n), triangle_result(p, n)) << name;
  }
  EXPECT_THROW(optimize_level_2_general(machine.find("two_nests"), "i", machine.unit, 4, 1),
               SchedulingError);
  EXPECT_THROW(optimize_level_2_general(machine.find("dense"), "j", machine.unit, 4, 1),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
