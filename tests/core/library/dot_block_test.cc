// Products on instructions that sum groups, against the interpreter, on a target of four lanes.
#include "core/library/dot_block.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/inspection.h"
#include "tests/core/library/four_lanes.h"
#include "tests/core/primitives/differential.h"

namespace exotune {
namespace {

// The unit of four_lanes.h for sums of another type, and the sum of pairs.
std::string unit_of(const std::string& sum, const std::string& pair) {
  std::string text = std::string(kFourLanes) + R"(
@instr("pairs")
def pairs(dst: [f32][4] @ V4, x: [PAIR][2] @ DRAM, w: [PAIR][4, 2] @ DRAM):
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
)";
  const auto exchange = [&](const std::string& name, const std::string& type) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += type.size())
      text.replace(at, name.size(), type);
  };
  exchange("f32", sum);
  exchange("PAIR", pair);
  return text;
}

std::string product(const std::string& args, const std::string& a, const std::string& b,
                    const std::string& sum) {
  return "@proc\ndef f(" + args + R"():
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                a: )" +
         sum + "\n                b: " + sum + "\n                a = " + a +
         "\n                b = " + b + "\n                C[i, j] += a * b\n";
}

struct Case {
  Module module;
  ProcPtr before;
  VectorUnit unit;
};

Case case_of(const std::string& sum, const std::string& pair, const std::string& kernel, int64_t m,
             int64_t n, int64_t k) {
  Case out{parse_module(unit_of(sum, pair) + kernel, "dot.exo"), nullptr, {}};
  out.before = partial_eval(out.module.find_proc("f"), {{"M", m}, {"N", n}, {"K", k}});
  out.unit.lanes = 4;
  for (const char* name : {"load", "store", "load_prefix", "store_prefix", "pairs"})
    out.unit.instrs.push_back(out.module.find_proc(name));
  out.unit.memory = out.unit.instrs.front()->args.front().mem;
  return out;
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

constexpr const char* kBytes = "M: size, N: size, K: size, A: i8[M, K], B: i8[K, N], C: i32[M, N]";

TEST(DotBlock, sums_pairs_of_bytes_at_any_literal_size) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{4, 8, 6}, {5, 9, 7}, {1, 4, 2}, {3, 17, 3}, {5, 3, 8}}) {
    const Case c = case_of("i32", "i16", product(kBytes, "A[i, k]", "B[k, j]", "i32"), m, n, k);
    const ProcPtr p =
        unroll_registers(dot_block(c.before, "i", "j", "k", 2, 2, c.unit), c.unit.memory);
    EXPECT_NE(str(*p).find("pairs(C_reg"), std::string::npos) << str(*p);
    test::expect_same_meaning(c.before, p, {{}});
    check(*p, true);
  }
}

TEST(DotBlock, nests_too_small_for_it_stay_beside_others) {
  Case c = case_of("i32", "i16", product(kBytes, "A[i, k]", "B[k, j]", "i32"), 4, 9, 7);
  ProcPtr p = cut_loop(c.before, loops_named(c.before, "k").front(), int_const(6));
  p = fission(p, loops_named(p, "k").front().after(), 2);  // one term of the depth is left
  c.before = p;
  p = dot_block(p, "i", "j", "k", 2, 2, c.unit);
  EXPECT_NE(str(*p).find("pairs("), std::string::npos) << str(*p);
  EXPECT_EQ(loops_named(p, "k").back().as<For>().body.size(), 5u) << str(*p);
  test::expect_same_meaning(c.before, p, {{}});
}

TEST(DotBlock, only_what_is_left_of_the_depth_stays_scalar) {
  const Case c = case_of("i32", "i16", product(kBytes, "A[i, k]", "B[k, j]", "i32"), 4, 9, 7);
  const std::string text = str(*dot_block(c.before, "i", "j", "k", 2, 2, c.unit));
  EXPECT_EQ(count(text, "+= a * b"), 1u) << text;
}

TEST(DotBlock, takes_casts_inside_of_the_product) {
  const std::string casts = "@proc\ndef f(" + std::string(kBytes) + R"():
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += i32(A[i, k]) * i32(B[k, j])
)";
  const Case c = case_of("i32", "i16", casts, 5, 9, 6);
  const ProcPtr p = dot_block(c.before, "i", "j", "k", 2, 2, c.unit);
  EXPECT_NE(str(*p).find("pairs(C_reg"), std::string::npos) << str(*p);
  test::expect_same_meaning(c.before, p, {{}});
}

TEST(DotBlock, takes_operands_in_either_order) {
  const char* args = "M: size, N: size, K: size, A: i8[K, M], B: i8[N, K], C: i32[M, N]";
  const Case c = case_of("i32", "i16", product(args, "A[k, i]", "B[j, k]", "i32"), 5, 6, 8);
  const ProcPtr p = dot_block(c.before, "i", "j", "k", 4, 1, c.unit);
  test::expect_same_meaning(c.before, p, {{}});
  EXPECT_EQ(count(str(*p), "+= a * b"), 0u) << str(*p);
}

TEST(DotBlock, copies_rows_only_where_the_instruction_cannot_read_them) {
  const char* args = "M: size, N: size, K: size, A: bf16[M, K], B: bf16[K, N], C: f32[M, N]";
  const Case c = case_of("f32", "bf16", product(args, "A[i, k]", "B[k, j]", "f32"), 4, 8, 6);
  const ProcPtr p = dot_block(c.before, "i", "j", "k", 2, 2, c.unit);
  EXPECT_EQ(str(*p).find("A_dot"), std::string::npos) << str(*p);
  test::expect_same_meaning(c.before, p, {{}});
}

TEST(DotBlock, works_inside_blocks_of_the_depth) {
  const Case c = case_of("i32", "i16", product(kBytes, "A[i, k]", "B[k, j]", "i32"), 5, 9, 11);
  ProcPtr p = block_loop(c.before, "k", {4}, {"ko", "k"}, "i");
  p = dot_block(p, "i", "j", "k", 2, 2, c.unit);
  test::expect_same_meaning(c.before, p, {{}});
}

// An instruction of unsigned and signed bytes, and what is added in registers.
constexpr const char* kUnsignedBytes = R"(
@instr("bytes")
def bytes(dst: [i32][4] @ V4, x: [ui8][4] @ DRAM, w: [i8][4, 4] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(x, 0) == 1
    assert stride(w, 0) == 4
    assert stride(w, 1) == 1
    for i in seq(0, 4):
        for r in seq(0, 4):
            a: i32
            b: i32
            a = x[r]
            b = w[i, r]
            dst[i] += a * b

@instr("add")
def add(dst: [i32][4] @ V4, src: [i32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] += src[i]

@instr("add_prefix")
def add_prefix(n: size, dst: [i32][4] @ V4, src: [i32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] += src[i]
)";

Case bytes_case(const std::string& kernel, int64_t m, int64_t n, int64_t k) {
  Case out = case_of("i32", "i16", kUnsignedBytes + kernel, m, n, k);
  for (const char* name : {"bytes", "add", "add_prefix"})
    out.unit.instrs.push_back(out.module.find_proc(name));
  return out;
}

TEST(DotBlock, shifts_signed_rows_for_unsigned_factors) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{4, 8, 8}, {5, 9, 7}, {1, 4, 4}, {3, 17, 11}}) {
    const Case c = bytes_case(product(kBytes, "A[i, k]", "B[k, j]", "i32"), m, n, k);
    const ProcPtr p =
        unroll_registers(dot_block(c.before, "i", "j", "k", 2, 2, c.unit), c.unit.memory);
    const std::string text = str(*p);
    EXPECT_NE(text.find("A_shift : ui8"), std::string::npos) << text;
    EXPECT_NE(text.find("bytes(C_reg"), std::string::npos) << text;
    EXPECT_EQ(text.find("pairs("), std::string::npos) << text;
    test::expect_same_meaning(c.before, p, {{}});
    check(*p, true);
  }
}

TEST(DotBlock, shifts_rows_of_blocks_of_the_depth_and_across) {
  const char* args = "M: size, N: size, K: size, A: i8[K, M], B: i8[N, K], C: i32[M, N]";
  const Case c = bytes_case(product(args, "A[k, i]", "B[j, k]", "i32"), 5, 9, 12);
  ProcPtr p = block_loop(c.before, "k", {8}, {"ko", "k"}, "i");
  p = dot_block(p, "i", "j", "k", 2, 2, c.unit);
  test::expect_same_meaning(c.before, p, {{}});
}

constexpr const char* kZeroPrefix = R"(
@instr("zero_prefix")
def zero_prefix(n: size, dst: [i32][4] @ V4):
    assert stride(dst, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] = 0
)";

std::string begun_product(const std::string& set) {
  return "@proc\ndef f(" + std::string(kBytes) + R"():
    for i in seq(0, M):
        for j in seq(0, N):
            )" +
         set + R"(
            for k in seq(0, K):
                C[i, j] += i32(A[i, k]) * i32(B[k, j])
)";
}

TEST(DotBlock, begins_sums_in_registers_where_they_are_set) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{4, 8, 8}, {5, 9, 7}, {1, 4, 4}, {3, 17, 11}}) {
    Case c = bytes_case(kZeroPrefix + begun_product("C[i, j] = 0"), m, n, k);
    for (const char* name : {"zero", "zero_prefix"})
      c.unit.instrs.push_back(c.module.find_proc(name));
    const ProcPtr p =
        unroll_registers(dot_block(c.before, "i", "j", "k", 2, 2, c.unit), c.unit.memory);
    const std::string text = str(*p);
    EXPECT_NE(text.find("zero(C_reg"), std::string::npos) << text;
    EXPECT_EQ(text.find("load(C_reg"), std::string::npos) << text;
    EXPECT_EQ(text.find("C[i, j] = 0"), std::string::npos) << text;
    test::expect_same_meaning(c.before, p, {{}});
    check(*p, true);
  }
}

TEST(DotBlock, refuses_sums_that_another_element_begins) {
  // The next column's sum is set where this one's is about to begin.
  const Case c = case_of("i32", "i16", begun_product("C[i, (j + 1) % 8] = 0"), 4, 8, 8);
  EXPECT_THROW((void)dot_block(c.before, "i", "j", "k", 2, 2, c.unit), SchedulingError);
}

TEST(DotBlock, refuses_what_no_instruction_sums) {
  const auto refusal = [](const Case& c, const char* i) {
    try {
      (void)dot_block(c.before, i, "j", "k", 2, 2, c.unit);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string bytes = product(kBytes, "A[i, k]", "B[k, j]", "i32");
  EXPECT_EQ(refusal(case_of("i32", "i16", bytes, 4, 4, 4), "i"), "");
  EXPECT_NE(refusal(case_of("i32", "i16", bytes, 4, 4, 1), "i"), "");   // no whole group
  EXPECT_NE(refusal(case_of("i32", "i16", bytes, 4, 4, 4), "ii"), "");  // no such loop
  EXPECT_NE(refusal(case_of("f32", "bf16", bytes, 4, 4, 4), "i"), "");  // other types
  EXPECT_NE(refusal(case_of("i32", "i8", bytes, 4, 4, 4), "k"), "");    // another order
}

}  // namespace
}  // namespace exotune
