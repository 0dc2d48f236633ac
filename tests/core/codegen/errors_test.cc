// What has no C is refused with a message that says why; storage that does not fit too.
#include <gtest/gtest.h>

#include "core/analysis/storage.h"
#include "core/codegen/codegen.h"
#include "core/frontend/parser.h"

namespace exotune {
namespace {

constexpr const char* kTiles = R"(
@memory
class TILE:
    kind = "register_file"
    count = 3
    shape = [2, 2]

@memory
class PAD:
    kind = "scratchpad"
    bytes = 64
    alignment = 16

@memory
class VEC:
    kind = "vector"
    bytes = 16
    c_types = {"f32": "vec4"}

@instr("zero({t_reg});")
def zero(t: [i32][2, 2] @ TILE):
    for i in seq(0, 2):
        for j in seq(0, 2):
            t[i, j] = 0.0

@instr("fill({p_data});")
def fill(p: [i32][4] @ PAD):
    for i in seq(0, 4):
        p[i] = 0.0

@instr("vzero({v_data});")
def vzero(v: [f32][4] @ VEC):
    for i in seq(0, 4):
        v[i] = 0.0

@instr("half({v_data});")
def half(v: [f32][2] @ VEC):
    for i in seq(0, 2):
        v[i] = 0.0

@instr("pair({v_data});")
def pair(v: [f32][2, 4] @ VEC):
    for i in seq(0, 2):
        for j in seq(0, 4):
            v[i, j] = 0.0

@instr("bad({w_data});")
def bad_hole(v: [f32][4] @ DRAM):
    for i in seq(0, 4):
        v[i] = 0.0

)";

std::string c_of(const std::string& text) {
  return generate_c({parse_module(std::string(kTiles) + text, "test.exo").procs.back()}, {}).c;
}

/// The message of the InputError, or "" when C came out.
std::string refusal(const std::string& text) {
  try {
    c_of(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

#define EXPECT_REFUSED(text, words) \
  EXPECT_NE(refusal(text).find(words), std::string::npos) << refusal(text)

TEST(CodegenErrors, nothing_is_emitted_that_check_refuses) {
  EXPECT_REFUSED("@proc\ndef f(n: size, x: f32[n]):\n    x[n] = 0.0\n", "out of bounds");
}

TEST(CodegenErrors, an_instruction_becomes_c_only_where_it_is_called) {
  EXPECT_REFUSED("@instr(\"g();\")\ndef g():\n    pass\n", "is an instruction");
}

TEST(CodegenErrors, two_functions_of_one_name) {
  const ProcPtr p = parse_module("@proc\ndef f():\n    pass\n", "a.exo").procs[0];
  const ProcPtr q = parse_module("@proc\ndef f():\n    pass\n", "b.exo").procs[0];
  EXPECT_THROW(generate_c({p, q}, {}), InputError);
}

TEST(CodegenErrors, a_hole_that_names_no_argument) {
  EXPECT_REFUSED("@proc\ndef f(x: f32[4]):\n    bad_hole(x[0:4])\n", "{w_data}");
}

TEST(CodegenErrors, more_registers_than_there_are) {
  std::string text = "@proc\ndef f():\n";
  for (const char* name : {"a", "b", "c", "d"})
    text += "    " + std::string(name) + ": i32[2, 2] @ TILE\n";
  for (const char* name : {"a", "b", "c", "d"}) text += "    zero(" + std::string(name) + ")\n";
  EXPECT_REFUSED(text, "needs 4 registers of TILE at once, 3 exist");
}

TEST(CodegenErrors, a_register_number_must_be_constant) {
  EXPECT_REFUSED(
      "@proc\ndef f():\n    t: i32[2, 2, 2] @ TILE\n    for i in seq(0, 2):\n        zero(t[i, "
      "0:2, 0:2])\n",
      "depends on a loop");
}

TEST(CodegenErrors, a_register_holds_one_shape) {
  EXPECT_REFUSED("@proc\ndef f():\n    t: i32[3, 3] @ TILE\n    zero(t[0:2, 0:2])\n", "TILE");
}

TEST(CodegenErrors, a_scratchpad_too_small) {
  EXPECT_REFUSED(
      "@proc\ndef f():\n    a: i32[12] @ PAD\n    b: i32[8] @ PAD\n    fill(a[0:4])\n    "
      "fill(b[0:4])\n    fill(a[4:8])\n",
      "PAD");
}

TEST(CodegenErrors, a_vector_register_is_taken_whole) {
  EXPECT_REFUSED(
      "@proc\ndef f():\n    v: f32[4] @ VEC\n    half(v[2:4])\n",
      "is a register of 2 elements, but one of v has 4\nhint: allocate v with 2, or call an "
      "instruction for 4");
  EXPECT_REFUSED("@proc\ndef f():\n    v: f32[8] @ VEC\n    vzero(v[0:4])\n", "VEC");
}

TEST(CodegenErrors, registers_of_one_operand_are_neighbours) {
  const std::string head = "@proc\ndef f():\n    v: f32[3, 6, 4] @ VEC\n";
  EXPECT_NE(c_of(head + "    pair(v[1, 4:6, 0:4])\n").find("pair(&v[1][4]);"), std::string::npos);
  EXPECT_NE(c_of("@proc\ndef f():\n    v: f32[2, 4] @ VEC\n    pair(v)\n").find("pair(&v[0]);"),
            std::string::npos);
  EXPECT_REFUSED(head + "    pair(v[1:3, 4, 0:4])\n", "no neighbours");
}

TEST(CodegenErrors, a_vector_memory_holds_its_types_only) {
  EXPECT_REFUSED("@proc\ndef f():\n    v: f64[2] @ VEC\n    v[0] = 0.0\n", "VEC");
}

TEST(CodegenErrors, elements_of_registers_are_not_for_c) {
  EXPECT_REFUSED("@proc\ndef f():\n    v: f32[4] @ VEC\n    v[0] = 0.0\n", "VEC");
}

TEST(CodegenErrors, hardware_config_is_written_by_instructions) {
  EXPECT_REFUSED(
      "@config(readwrite=False)\nclass Hard:\n    n: index\n\n@proc\ndef f():\n    Hard.n = 3\n",
      "hardware only");
}

TEST(Storage, registers_are_shared_when_lives_do_not_overlap) {
  const ProcPtr p = parse_module(std::string(kTiles) + R"(
@proc
def f(n: size):
    for i in seq(0, n):
        a: i32[2, 2] @ TILE
        zero(a)
        b: i32[2, 2] @ TILE
        zero(b)
    keep: i32[2, 2] @ TILE
    for i in seq(0, n):
        c: i32[2, 2] @ TILE
        zero(c)
        zero(keep)
    zero(keep)
)",
                                 "test.exo")
                        .procs.back();
  const StoragePlan plan = plan_storage(*p);
  std::map<std::string, int> number;
  for (const auto& [sym, r] : plan.first_register) number[sym.name()] = r;
  EXPECT_EQ(number["a"], 2);  // from the highest down
  EXPECT_EQ(number["b"], 2);
  EXPECT_EQ(number["keep"], 2);
  EXPECT_EQ(number["c"], 1);
}

TEST(Storage, a_use_in_a_loop_keeps_a_register_to_the_loops_end) {
  const ProcPtr p = parse_module(std::string(kTiles) + R"(
@proc
def f(n: size):
    a: i32[2, 2] @ TILE
    zero(a)
    for i in seq(0, n):
        zero(a)
        b: i32[2, 2] @ TILE
        zero(b)
)",
                                 "test.exo")
                        .procs.back();
  std::map<std::string, int> number;
  for (const auto& [sym, r] : plan_storage(*p).first_register) number[sym.name()] = r;
  EXPECT_NE(number["a"], number["b"]);
}

TEST(Storage, a_window_keeps_its_source_alive) {
  const ProcPtr p = parse_module(std::string(kTiles) + R"(
@proc
def f():
    a: i32[2, 2] @ TILE
    zero(a)
    w = a[0:2, 0:2]
    b: i32[2, 2] @ TILE
    zero(b)
    zero(w)
)",
                                 "test.exo")
                        .procs.back();
  std::map<std::string, int> number;
  for (const auto& [sym, r] : plan_storage(*p).first_register) number[sym.name()] = r;
  EXPECT_NE(number["a"], number["b"]);
}

TEST(Storage, scratchpad_offsets_are_aligned_and_reused) {
  const ProcPtr p = parse_module(std::string(kTiles) + R"(
@proc
def f():
    for i in seq(0, 2):
        a: i32[5] @ PAD
        fill(a[0:4])
        b: i32[4] @ PAD
        fill(b)
        fill(a[1:5])
    c: i32[16] @ PAD
    fill(c[12:16])
)",
                                 "test.exo")
                        .procs.back();
  std::map<std::string, int64_t> at;
  for (const auto& [sym, o] : plan_storage(*p).byte_offset) at[sym.name()] = o;
  EXPECT_EQ(at["a"], 0);
  EXPECT_EQ(at["b"], 32);
  EXPECT_EQ(at["c"], 0);
}

TEST(Memories, templates_of_allocation_and_access_are_used) {
  const std::string c = c_of(R"exo(
@memory
class ACC:
    kind = "scratchpad"
    bytes = 1024
    alloc = "acc_take({base}, {shape[0]});"
    free = "acc_give({base});"
    read = "acc_get({offset})"
    write = "acc_put({offset}, {value});"
    reduce = "acc_add({index}, {value});"
    c_global = "void acc_take(int a, int n); void acc_give(int a); int acc_get(int a); void acc_put(int a, int v); void acc_add(int a, int v);"

@proc
def f(n: size, x: i32[n]):
    for i in seq(0, n):
        a: i32[4] @ ACC
        b: i32[2, 3] @ ACC
        a[1] = x[i]
        for k in seq(0, 2):
            b[k, 2] = 0.0
            b[k, 2] += a[1]
            x[i] = b[k, 2]
)exo");
  const std::string want = R"exo(    acc_take(0, 4);
    acc_take(64, 2);
    acc_put(4, x[i]);
    for (int64_t k = 0; k < 2; k++) {
      acc_put(12 * k + 72, 0);
      acc_add(3 * k + 2, acc_get(4));
      x[i] = acc_get(12 * k + 72);
    }
    acc_give(64);
    acc_give(0);
)exo";
  EXPECT_NE(c.find(want), std::string::npos) << c;
}

TEST(Abi, says_how_to_call) {
  const ProcPtr p = parse_module(R"(
@config
class Cfg:
    n: index

@proc
def f(n: size, flag: bool, A: f32[n, 4], w: [i8][n, n], s: R, out: bf16):
    for i in seq(0, n):
        A[i, 0] = s
        if flag:
            A[i, 1] += 1.0
        out = 1.0
        t: i8
        t = w[i, 0]
    Cfg.n = 3
)",
                                 "test.exo")
                        .procs.back();
  const FunctionAbi abi = describe_abi(*p, "stem");
  EXPECT_EQ(abi.name, "f");
  std::vector<std::string> types;
  for (const AbiArg& a : abi.args) types.push_back(a.c_type);
  EXPECT_EQ(types, (std::vector<std::string>{"stem_Context*", "int64_t", "bool", "float*",
                                             "struct exo_win_2i8c", "const float*", "uint16_t*"}));
  EXPECT_EQ(abi.args[3].shape.size(), 2u);
  EXPECT_TRUE(abi.args[3].read && abi.args[3].written);  // += reads
  EXPECT_TRUE(abi.args[4].read && !abi.args[4].written);
  EXPECT_TRUE(!abi.args[6].read && abi.args[6].written);
  EXPECT_EQ(abi.args[5].type, ScalarType::kF32);
}

TEST(Abi, uses_flow_through_windows_and_callees) {
  const ProcPtr p = parse_module(R"(
@proc
def g(n: size, x: [f32][n], y: [f32][n]):
    for i in seq(0, n):
        y[i] = x[i]

@proc
def f(A: f32[8], B: f32[8], C: f32[8]):
    w = A[0:4]
    v = w[0:2]
    g(2, v, B[0:2])
    pass
)",
                                 "test.exo")
                        .procs.back();
  const FunctionAbi abi = describe_abi(*p);
  EXPECT_TRUE(abi.args[0].read && !abi.args[0].written);
  EXPECT_TRUE(!abi.args[1].read && abi.args[1].written);
  EXPECT_TRUE(!abi.args[2].read && !abi.args[2].written);
}

}  // namespace
}  // namespace exotune
