// Matrix-vector schedules against the interpreter, on a target of four lanes.
#include "core/library/level2.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/staging.h"

namespace exotune {
namespace {

constexpr const char* kText = R"(
@memory
class V4:
    kind = "vector"
    bytes = 16

@instr("load")
def load(dst: [f32][4] @ V4, src: [f32][4] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("store")
def store(dst: [f32][4] @ DRAM, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("load_prefix")
def load_prefix(n: size, dst: [f32][4] @ V4, src: [f32][n] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[i]

@instr("store_prefix")
def store_prefix(n: size, dst: [f32][n] @ DRAM, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[i]

@instr("broadcast")
def broadcast(dst: [f32][4] @ V4, src: [f32][1] @ DRAM):
    assert stride(dst, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[0]

@instr("fma")
def fma(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] += a[i] * b[i]

@instr("fma_prefix")
def fma_prefix(n: size, dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] += a[i] * b[i]

@instr("broadcast_prefix")
def broadcast_prefix(n: size, dst: [f32][4] @ V4, src: [f32][1] @ DRAM):
    assert stride(dst, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[0]

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

struct Machine {
  Module module = parse_module(kText, "level2.exo");
  VectorUnit unit;
  ProcPtr kernel = module.find_proc("gemv_t");
  Machine() {
    unit.lanes = 4;
    unit.memory = module.memories.at("V4");
    for (const ProcPtr& p : module.procs)
      if (p->instr) unit.instrs.push_back(p);
  }
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
  EXPECT_THROW(gather_vectors(machine.module.find_proc("dense")), SchedulingError);
}

}  // namespace
}  // namespace exotune
