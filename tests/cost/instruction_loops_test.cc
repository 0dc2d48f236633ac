#include "cost/instruction_loops.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "cost/instruction_class.h"
#include "hw/target.h"

namespace exotune {
namespace {

TargetPtr target(const std::string& name) {
  return load_target(name, {std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
}

ProcPtr instruction(const std::string& text) {
  return parse_module(R"(
@memory
class PAIR:
    kind = "vector"
    bytes = 8
    count = 16
    c_types = {"f32": "pair", "i32": "ipair"}
    c_global = "typedef float pair __attribute__((vector_size(8)));"
)" + text,
                      "instruction.exo")
      .procs.front();
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(InstructionLoops, every_native_instruction_with_data_has_some) {
  for (const char* name : {"avx2", "avx512", "avx512_bf16"})
    for (const ProcPtr& p : target(name)->instructions()) {
      const auto loops = instruction_loops(*p, p->name);
      ASSERT_EQ(loops.has_value(), !p->args.empty()) << p->name;
      if (!loops) continue;
      EXPECT_GE(loops->independent_count, 2) << p->name;
      EXPECT_EQ(count(loops->independent, "LLVM-MCA-BEGIN " + p->name + "_independent"), 1);
      if (classify(*p).accumulates) {
        EXPECT_FALSE(loops->chain.empty()) << p->name;
      }
    }
}

TEST(InstructionLoops, results_are_apart_or_one_is_the_next_ones_operand) {
  const auto loops = instruction_loops(*instruction(R"(
@instr("{d_data} = {a_data} + {b_data};")
def add(d: [f32][2] @ PAIR, a: [f32][2] @ PAIR, b: [f32][2] @ PAIR):
    for i in seq(0, 2):
        d[i] = a[i] + b[i]
)"),
                                       "t");
  ASSERT_TRUE(loops);
  EXPECT_EQ(loops->independent_count, 10);  // 16 registers, two sources, four spare
  for (int k = 0; k < loops->independent_count; ++k)
    EXPECT_EQ(count(loops->independent, "    d" + std::to_string(k) + " = s1 + s2;"), 1) << k;
  EXPECT_EQ(count(loops->chain, "    d0 = d0 + s2;"), loops->chain_count);
  EXPECT_EQ(count(loops->chain, "EXO_CHANGES(s2);"), loops->chain_count + 1);
}

TEST(InstructionLoops, sums_in_memory_go_round_or_stay_in_one_place) {
  const auto loops = instruction_loops(*instruction(R"(
@instr("{d_data} += {a_data}[0];")
def sum(d: f32 @ DRAM, a: [f32][2] @ PAIR):
    for i in seq(0, 2):
        d += a[i]
)"),
                                       "t");
  ASSERT_TRUE(loops);
  EXPECT_EQ(count(loops->independent, "(*(float*)(ring + 2048)) += "), 1);
  EXPECT_EQ(count(loops->independent, "(*(float*)(ring + 2112)) += "), 1);
  EXPECT_EQ(count(loops->chain, "(*(float*)(m + 2048)) += "), loops->chain_count);
}

TEST(InstructionLoops, several_registers_are_an_array) {
  const auto loops = instruction_loops(*instruction(R"(
@instr("sums({d_data}, {s_data});")
def sums(d: [f32][3] @ DRAM, s: [f32][3, 2] @ PAIR):
    for i in seq(0, 3):
        for j in seq(0, 2):
            d[i] += s[i, j]
)"),
                                       "t");
  ASSERT_TRUE(loops);
  EXPECT_EQ(count(loops->independent, "pair s1[3]; memcpy(&s1"), 1) << loops->independent;
  EXPECT_EQ(count(loops->chain, "EXO_CHANGES(s1[2]);"), 9) << "once in front, in each of 8 steps";
  EXPECT_FALSE(instruction_loops(*instruction(R"(
@instr("twice({d_data}, {s_data});")
def twice(d: [f32][2, 2] @ PAIR, s: [f32][2] @ PAIR):
    for i in seq(0, 2):
        for j in seq(0, 2):
            d[i, j] = s[j]
)"),
                                 "t"))
      << "nobody writes several registers yet";
}

TEST(InstructionLoops, a_result_of_another_type_makes_no_chain) {
  const auto loops = instruction_loops(*instruction(R"(
@instr("{d_data} = as_numbers({a_data}, {n}, {w.strides[0]}, &{w_data});", "/* here */")
def convert(n: size, d: [i32][2] @ PAIR, a: [f32][2] @ PAIR, w: [f32][n] @ DRAM):
    for i in seq(0, 2):
        d[i] = 0.0
)"),
                                       "t");
  ASSERT_TRUE(loops);
  EXPECT_TRUE(loops->chain.empty());
  EXPECT_EQ(loops->globals.back(), "/* here */");
  EXPECT_EQ(count(loops->independent, "int64_t c_n = 1; EXO_CHANGES_NUMBER(c_n);"), 1);
  // The stride is free: elements do not lie side by side.
  EXPECT_EQ(count(loops->independent, "d0 = as_numbers(s1, c_n, 5, &(*(float*)"), 1);
}

TEST(InstructionLoops, what_has_no_operands_or_windows_of_its_own_has_none) {
  EXPECT_FALSE(instruction_loops(*instruction(R"(
@instr("fence();")
def fence():
    pass
)"),
                                 "t"));
  EXPECT_FALSE(instruction_loops(*instruction(R"(
@instr("take({w});")
def take(w: [f32][4] @ DRAM):
    for i in seq(0, 4):
        w[i] = 0.0
)"),
                                 "t"));
}

}  // namespace
}  // namespace exotune
