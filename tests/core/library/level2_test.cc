// Matrix-vector schedules against the interpreter, on a target of four lanes.
#include "core/library/level2.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/staging.h"
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
            y[j] += x[k] * A[k, j]
            dot += A[k, j] * x[j]
        y[k] += x[k] * A[k, k] + dot

@proc
def gemv_t(M: size, N: size, A: f32[M, N], x: [f32][M], y: [f32][N]):
    for i in seq(0, M):
        t: f32
        t = x[i]
        for j in seq(0, N):
            y[j] += t * A[i, j]

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

}  // namespace
}  // namespace exotune
