// Dot products of narrow integers and sums of short sums, on a target of four lanes.
#include "core/library/lane_sums.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/level1.h"
#include "tests/core/library/four_lanes.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

constexpr const char* kLaneSums = R"(
@instr("zero_words")
def zero_words(dst: [i32][4] @ V4):
    assert stride(dst, 0) == 1
    for i in seq(0, 4):
        dst[i] = 0

@instr("add_words")
def add_words(dst: [i32][4] @ V4, src: [i32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] += src[i]

@instr("lanes_of_words")
def lanes_of_words(dst: [i32][1] @ DRAM, src: [i32][4] @ V4):
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[0] += src[i]

@instr("lanes_of_words_scalar")
def lanes_of_words_scalar(dst: i32 @ DRAM, src: [i32][4] @ V4):
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst += src[i]

@instr("to_numbers")
def to_numbers(dst: [f32][4] @ V4, src: [i32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("multiply")
def multiply(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] * b[i]

@instr("add_numbers")
def add_numbers(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] += src[i]

@instr("pairs")
def pairs(dst: [i32][4] @ V4, x: [i8][8] @ DRAM, w: [i8][8] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(x, 0) == 1
    assert stride(w, 0) == 1
    for i in seq(0, 4):
        for r in seq(0, 2):
            a: i32
            a = x[2 * i + r]
            b: i32
            b = w[2 * i + r]
            dst[i] += a * b

@instr("least_pairs")
def least_pairs(dst: [i32][4] @ V4, x: [ui8][8] @ DRAM, w: [ui8][8] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(x, 0) == 1
    assert stride(w, 0) == 1
    for i in seq(0, 4):
        for r in seq(0, 2):
            t: i32
            t = fmin(x[2 * i + r], w[2 * i + r])
            dst[i] += t

@instr("byte_pairs")
def byte_pairs(dst: [i32][4] @ V4, x: [ui8][8] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(x, 0) == 1
    for i in seq(0, 4):
        for r in seq(0, 2):
            dst[i] += x[2 * i + r]

@instr("over_root")
def over_root(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] / sqrt(b[i])

@instr("resonate")
def resonate(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4, c: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    assert stride(c, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] * b[i] - b[i] * c[i] + c[i]

@instr("less_product")
def less_product(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4, c: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    assert stride(c, 0) == 1
    for i in seq(0, 4):
        dst[i] = c[i] - a[i] * b[i]

@instr("plus")
def plus(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] + b[i]

@proc
def lesser_and_all(n: size, x: ui8[n], w: ui8[n], y: i32, z: i32):
    for k in seq(0, n):
        y += i32(fmin(x[k], w[k]))
        z += x[k]

@proc
def normed(x: f32[8], y: f32[8]):
    for k in seq(0, 8):
        y[k] = x[k] / sqrt(x[k] * x[k] + y[k])

@proc
def five_operands(x: f32[5, 8], y: f32[8]):
    for k in seq(0, 8):
        y[k] = x[0, k] * x[1, k] - x[2, k] * x[3, k] + x[4, k]

@proc
def dot(n: size, x: i8[n], w: i8[n], y: i32):
    for k in seq(0, n):
        y += i32(x[k]) * i32(w[k])

@proc
def rows(m: size, n: size, a: i8[m, n], x: i8[n], y: f32[m]):
    for i in seq(0, m):
        s: i32
        s = 0
        for k in seq(0, n):
            s += i32(a[i, k]) * i32(x[k])
        y[i] = 0.5 * f32(s)

@proc
def words(x: i16[16], w: i16[16], y: i32):
    for k in seq(0, 16):
        y += i32(x[k]) * i32(w[k])

@proc
def running(x: i8[16], y: i32[16], t: i32):
    for k in seq(0, 16):
        t += i32(x[k]) * i32(x[k])
        y[k] = t

@proc
def scaled_blocks(m: size, n: size, q: i8[m, n, 16], d: f32[m, n], x: i8[n, 16], y: f32[m]):
    for i in seq(0, m):
        y[i] = 0.0
        for b in seq(0, n):
            s: i32
            s = 0
            for k in seq(0, 16):
                s += i32(q[i, b, k]) * i32(x[b, k])
            y[i] += d[i, b] * f32(s)

@proc
def quadratic(m: size, a: f32[8, 8], x: f32[m, 8], y: f32[m]):
    for i in seq(0, m):
        y[i] = 1.0
        for b in seq(0, 8):
            s: f32
            s = 0.0
            for k in seq(0, 8):
                s += a[b, k] * x[i, k]
            y[i] += x[i, b] * s

@proc
def long_words(m: size, x: i16[m, 8], w: i16[m, 8], y: f32):
    for b in seq(0, m):
        s: i32
        s = 0
        for k in seq(0, 8):
            s += i32(x[b, k]) * i32(w[b, k])
        y += f32(s)

@proc
def squares(m: size, x: f32[m, 8], y: f32):
    for b in seq(0, m):
        s: f32
        s = 0.0
        for k in seq(0, 8):
            s += x[b, k]
        y += s * s
)";

struct Machine : FourLanes {
  Machine() : FourLanes(kLaneSums) {}
};

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(Dots, are_of_the_groups_that_instructions_take) {
  const Machine machine;
  EXPECT_EQ(lane_groups(machine.unit), std::vector<int64_t>{2});
}

TEST(Dots, sum_neighbours_by_an_instruction) {
  const Machine machine;
  const ProcPtr p = machine.find("dot");
  for (const int64_t chains : {1, 2, 4}) {
    const ProcPtr q = optimize_dots(p, "k", machine.unit, chains);
    EXPECT_GE(count(str(*q), "pairs("), 1u) << str(*q);
    for (const int64_t n : {1, 7, 8, 23, 32, 100}) expect_same_result(p, q, str(*q), {{"n", n}});
  }
}

// Anything of the elements may be summed, by instructions that say so.
TEST(Dots, are_sums_of_lesser_bytes_and_of_bytes_too) {
  const Machine machine;
  const ProcPtr p = machine.find("lesser_and_all");
  const ProcPtr q = optimize_dots(p, "k", machine.unit, 1);
  EXPECT_EQ(count(str(*q), "least_pairs("), 1u) << str(*q);
  EXPECT_EQ(count(str(*q), "byte_pairs("), 1u) << str(*q);
  for (const int64_t n : {1, 7, 8, 23, 32, 100}) expect_same_result(p, q, str(*q), {{"n", n}});
}

TEST(Dots, of_several_rows_share_what_they_read) {
  const Machine machine;
  const ProcPtr p = machine.find("rows");
  const ProcPtr q = optimize_dots(p, "k", machine.unit, 1, "i", 4);
  EXPECT_EQ(count(str(*q), "pairs("), 4u + 1u) << str(*q);
  for (const int64_t m : {1, 4, 7})
    for (const int64_t n : {3, 8, 21}) expect_same_result(p, q, str(*q), {{"m", m}, {"n", n}});
}

TEST(Dots, refuse_what_no_instruction_sums) {
  const Machine machine;
  for (const char* name : {"words", "running"})
    EXPECT_THROW((void)optimize_dots(machine.find(name), "k", machine.unit, 1), SchedulingError)
        << name;
}

// An instruction of the statement's shape wants two of its operands twice.
TEST(Vectorize, takes_apart_what_has_the_shape_of_an_instruction_and_does_not_fit) {
  const Machine machine;
  const ProcPtr p = machine.find("five_operands");
  const ProcPtr q = optimize_level_1(p, "k", machine.unit, 1);
  EXPECT_EQ(count(str(*q), "resonate("), 0u) << str(*q);
  EXPECT_EQ(count(str(*q), "less_product("), 1u) << str(*q);
  expect_same_result(p, q, str(*q));
}

// A root that is divided by belongs to the quotient where an instruction has both.
TEST(Vectorize, leaves_a_root_to_the_quotient_that_takes_it) {
  const Machine machine;
  const ProcPtr p = machine.find("normed");
  const ProcPtr q = optimize_level_1(p, "k", machine.unit, 1);
  EXPECT_EQ(count(str(*q), "over_root("), 1u) << str(*q);
  expect_same_result(p, q, str(*q));
}

TEST(Dots, are_at_least_one_and_need_an_instruction) {
  const Machine machine;
  const ProcPtr p = machine.find("rows");
  EXPECT_THROW((void)optimize_dots(p, "k", machine.unit, 0), SchedulingError);
  EXPECT_THROW((void)optimize_dots(p, "k", machine.unit, 1, "i", -2), SchedulingError);
  VectorUnit bare = machine.unit;
  bare.instrs.clear();
  EXPECT_THROW((void)optimize_dots(p, "k", bare, 1), SchedulingError);
  EXPECT_THROW((void)optimize_sums_of_sums(p, "i", "k", machine.unit, "", 0), SchedulingError);
}

TEST(SumsOfSums, keep_lanes_over_all_blocks) {
  const Machine machine;
  for (const char* name : {"scaled_blocks", "quadratic"}) {
    const ProcPtr p = machine.find(name);
    for (const int64_t rows : {1, 3}) {
      const ProcPtr q = optimize_sums_of_sums(p, "b", "k", machine.unit, "i", rows);
      const std::string text = str(*q);
      EXPECT_TRUE(reassociates(q));
      // Added up once a row, behind the blocks.
      EXPECT_EQ(count(text, "lanes("), rows == 1 ? 1u : 4u) << text;
      EXPECT_EQ(count(text, "lanes_of_words"), 0u) << text;
      for (const int64_t m : {1, 3, 5}) {
        std::map<std::string, int64_t> sizes = {{"m", m}};
        if (p->name == "scaled_blocks") sizes["n"] = 5;
        expect_same_result(p, q, text, sizes);
      }
    }
  }
}

// Of two words of 16 bits, or squared.
TEST(SumsOfSums, refuse_what_may_wrap_around_or_is_no_factor) {
  const Machine machine;
  for (const char* name : {"long_words", "squares"})
    EXPECT_THROW((void)optimize_sums_of_sums(machine.find(name), "b", "k", machine.unit),
                 SchedulingError)
        << name;
}

}  // namespace
}  // namespace exotune
