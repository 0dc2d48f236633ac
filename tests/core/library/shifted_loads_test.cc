// Overlapping loads as shifts of registers, against the interpreter, on a target of four lanes.
#include "core/library/shifted_loads.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

constexpr const char* kShifts = R"(
@instr("load_first")
def load_first(n: size, dst: [f32][4] @ V4, src: [f32][n] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[i]

@instr("move")
def move(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("shifted_1")
def shifted_1(dst: [f32][4] @ V4, src: [f32][4] @ V4, next: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    assert stride(next, 0) == 1
    for i in seq(0, 3):
        dst[i] = src[i + 1]
    for i in seq(0, 1):
        dst[i + 3] = next[i]

@instr("shifted_2")
def shifted_2(dst: [f32][4] @ V4, src: [f32][4] @ V4, next: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    assert stride(next, 0) == 1
    for i in seq(0, 2):
        dst[i] = src[i + 2]
    for i in seq(0, 2):
        dst[i + 2] = next[i]
)";

// Three neighbours are added up by hand: what vectorized code looks like.
constexpr const char* kThree = R"(
@proc
def three(x: f32[18], y: f32[16]):
    for jv in seq(0, 4):
        a: f32[4] @ V4
        b: f32[4] @ V4
        load(b[0:4], x[4 * jv + 1:4 * jv + 5])
        load(a[0:4], x[4 * jv:4 * jv + 4])
        fma(b[0:4], a[0:4], a[0:4])
        load(a[0:4], x[4 * jv + 2:4 * jv + 6])
        fma(b[0:4], a[0:4], a[0:4])
        store(y[4 * jv:4 * jv + 4], b[0:4])
)";

// The same in place: what is stored is what the next load reads.
constexpr const char* kInPlace = R"(
@proc
def in_place(x: f32[18]):
    for jv in seq(0, 4):
        a: f32[4] @ V4
        load(a[0:4], x[4 * jv:4 * jv + 4])
        store(x[4 * jv:4 * jv + 4], a[0:4])
        load(a[0:4], x[4 * jv + 1:4 * jv + 5])
        store(x[4 * jv + 1:4 * jv + 5], a[0:4])
)";

ProcPtr shifted(const std::string& kernel, const std::string& instructions = kShifts) {
  const Module m = parse_module(kFourLanes + instructions + kernel, "shifts.exo");
  std::vector<ProcPtr> instrs;
  for (const ProcPtr& p : m.procs)
    if (p->instr) instrs.push_back(p);
  return shift_loads(m.procs.back(), "jv", m.memories.at("V4"), instrs);
}

std::vector<double> sums(const ProcPtr& p) {
  Buffer x(ScalarType::kF32, {18}), y(ScalarType::kF32, {16});
  for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11);
  run(*p, {&x, &y});
  return y.data;
}

TEST(ShiftLoads, loads_each_vector_once_and_shifts_the_others) {
  const ProcPtr p = parse_module(std::string(kFourLanes) + kShifts + kThree, "three.exo")
                        .procs.back(),
                q = shifted(kThree);
  EXPECT_EQ(sums(p), sums(q)) << str(*q);
  const std::string text = str(*q);
  EXPECT_NE(text.find("load(x_w[0:4], x[4 * jv:4 * jv + 4])"), std::string::npos) << text;
  EXPECT_NE(text.find("shifted_1(b[0:4], x_w[0:4], x_w_1[0:4])"), std::string::npos) << text;
  EXPECT_NE(text.find("shifted_2(a[0:4], x_w[0:4], x_w_1[0:4])"), std::string::npos) << text;
  // The last vector would leave the buffer: only what is there is loaded.
  EXPECT_NE(text.find("load_first("), std::string::npos) << text;
}

TEST(ShiftLoads, refuses_what_is_written_in_between_and_what_no_instruction_shifts) {
  EXPECT_THROW((void)shifted(kInPlace), SchedulingError);
  EXPECT_THROW((void)shifted(kThree, ""), SchedulingError);
  EXPECT_THROW((void)shifted(R"(
@proc
def apart(x: f32[20], y: f32[16]):
    for jv in seq(0, 4):
        a: f32[4] @ V4
        load(a[0:4], x[4 * jv + 4:4 * jv + 8])
        store(y[4 * jv:4 * jv + 4], a[0:4])
)"),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
