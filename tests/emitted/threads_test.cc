// What parallel loops share: their C runs on four threads, in loops within loops too, and under the
// thread sanitizer, and computes what the interpreter does.
#include <gtest/gtest.h>

#include <functional>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/primitives/primitives.h"
#include "tests/emitted/c_program.h"

namespace exotune::emitted {
namespace {

using Control = std::map<std::string, int64_t>;

Module module_of(const std::string& text) { return parse_module(text, "test.exo"); }
ProcPtr proc_of(const std::string& text) { return module_of(text).procs.back(); }

void add(CProgram& program, const ProcPtr& p, const std::vector<Control>& sizes) {
  const size_t number = program.add(p);
  FillOptions fill;
  fill.strided_windows = true;
  for (const Control& size : sizes)
    EXPECT_TRUE(program.call(number, make_arguments(*p, size, 3, fill))) << str(*p);
}

void expect_right_on_threads(CProgram& program) {
  for (const Build& build : {four_threads(), four_threads("clang"), thread_sanitizer()})
    for (const CProgram::Failure& f : program.run(build))
      ADD_FAILURE() << build.flags.back() << ": " << f.what;
}

void expect_right_on_threads(const ProcPtr& p, const std::vector<Control>& sizes) {
  CProgram program;
  add(program, p, sizes);
  expect_right_on_threads(program);
}

constexpr const char* kFill = R"(
    for j in seq(0, 8):
        t[j] = x[j]
)";

std::string with_table(const std::string& signature, const std::string& loop) {
  return "@proc\ndef f(" + signature + "):\n    t: f32[8] @ DRAM_STATIC" + kFill + loop;
}

TEST(StaticMemory, is_one_for_the_threads_of_a_loop_below_it) {
  CProgram program;
  const std::vector<Control> sizes = {{{"N", 64}}, {{"N", 1}}};
  // read in the loop
  add(program, proc_of(with_table("N: size, x: f32[8], y: f32[N]", R"(
    for i in par(0, N):
        y[i] = t[i % 8]
)")),
      sizes);
  // written in it, read after
  add(program, proc_of(with_table("N: size, x: f32[8], y: f32[N]", R"(
    for i in par(0, 8):
        t[i] = t[i] + 1.0
    for i in seq(0, N):
        y[i] = t[i % 8]
)")),
      sizes);
  // a scalar
  add(program, proc_of(R"(
@proc
def f(N: size, x: f32[8], y: f32[N]):
    s: f32 @ DRAM_STATIC
    s = x[3]
    for i in par(0, N):
        y[i] = s
    s += 1.0
    y[0] = s
)"),
      sizes);
  // in a window made before the loop, in the loop, and of a window
  add(program, proc_of(with_table("N: size, x: f32[8], y: f32[N]", R"(
    w = t[1:8]
    v = w[1:4]
    for i in par(0, N):
        u = t[0:4]
        y[i] = w[i % 7] + v[i % 3] + u[i % 4]
)")),
      sizes);
  // below another scope of the same block
  add(program, proc_of(with_table("N: size, x: f32[8], y: f32[N]", R"(
    for k in seq(0, 2):
        if N > 1:
            for i in par(0, N):
                y[i] += t[(i + k) % 8]
)")),
      sizes);
  expect_right_on_threads(program);
}

TEST(StaticMemory, goes_to_callees_of_a_parallel_loop) {
  CProgram program;
  add(program, proc_of(std::string(R"(
@proc
def g(a: [f32][8], b: f32):
    c: f32[8] @ DRAM_STATIC
    for k in seq(0, 8):
        c[k] = a[k]
    b = c[0] + c[7]

)") + with_table("N: size, x: f32[8], y: f32[N]", R"(
    for i in par(0, N):
        g(t[0:8], y[i])
)")),
      {{{"N", 64}}});
  expect_right_on_threads(program);
}

TEST(StaticMemory, of_an_inlined_callee_with_the_loop) {
  const Module m = module_of(std::string(R"(
@proc
def g(N: size, a: f32[8], y: f32[N]):
    for i in par(0, N):
        y[i] = a[i % 8]

)") + with_table("N: size, x: f32[8], y: f32[N]", "    g(N, t, y)\n"));
  const ProcPtr p = m.procs.back();
  CProgram program;
  add(program, p, {{{"N", 64}}});
  const ProcPtr q = inline_call(p, Cursor::stmt(p, {{Child::kBody, 2}}));
  ASSERT_GT(parallel_loops(*q), 0);
  add(program, q, {{{"N", 64}}});
  expect_right_on_threads(program);
}

TEST(StaticMemory, of_one_thread_in_a_loop_within_its_loop) {
  CProgram program;
  add(program, proc_of(R"(
@proc
def f(N: size, x: f32[N, 4], y: f32[N, 4]):
    for i in par(0, N):
        t: f32[4] @ DRAM_STATIC
        for j in seq(0, 4):
            t[j] = x[i, j] + 2.0
        for j in par(0, 4):
            y[i, j] = t[3 - j]
)"),
      {{{"N", 8}}, {{"N", 33}}});
  add(program, proc_of(R"(
@proc
def f(N: size, x: f32[8], y: f32[N, 4]):
    s: f32[8] @ DRAM_STATIC
    for j in par(0, 8):
        s[j] = x[j]
    for i in par(0, N):
        t: f32[4] @ DRAM_STATIC
        for j in par(0, 4):
            t[j] = s[j + 1]
        for j in par(0, 4):
            y[i, j] = t[3 - j] + s[j]
)"),
      {{{"N", 8}}, {{"N", 33}}});
  expect_right_on_threads(program);
}

TEST(StaticMemory, of_a_target_is_as_the_built_in_one) {
  expect_right_on_threads(proc_of(R"(
@memory
class TABLE:
    kind = "static"

@proc
def f(N: size, x: f32[8], y: f32[N]):
    t: f32[8] @ TABLE
    for j in seq(0, 8):
        t[j] = x[j]
    for i in par(0, N):
        y[i] = t[i % 8]
)"),
                          {{{"N", 64}}});
}

TEST(StaticMemory, keeps_its_name_where_no_thread_but_one_uses_it) {
  const std::string c = generate_c({proc_of(with_table("N: size, x: f32[8], y: f32[N]", R"(
    for i in seq(0, N):
        y[i] = t[i % 8]
    for i in par(0, N):
        y[i] += 1.0
)"))})
                            .c;
  EXPECT_NE(c.find("static _Thread_local _Alignas(64) float t[8];"), std::string::npos) << c;
}

// Registers that every thread has of its own, in C that shows it.
const std::string kTiles = R"(
@memory
class TILE:
    kind = "register_file"
    count = 4
    shape = [4]

@instr("memcpy(TREG[{dst_reg}], &{src_data}, 16);", "#include <string.h>\nstatic _Thread_local float TREG[4][4];")
def load(dst: [f32][4] @ TILE, src: [f32][4]):
    assert stride(src, 0) == 1
    for k in seq(0, 4):
        dst[k] = src[k]

@instr("memcpy(&{dst_data}, TREG[{src_reg}], 16);", "#include <string.h>\nstatic _Thread_local float TREG[4][4];")
def store(dst: [f32][4], src: [f32][4] @ TILE):
    assert stride(dst, 0) == 1
    for k in seq(0, 4):
        dst[k] = src[k]

)";

std::string refusal(const std::string& body) {
  const ProcPtr p = proc_of(kTiles + "@proc\ndef f(N: size, x: f32[4], y: f32[N, 4]):\n" + body);
  try {
    generate_c({p});
    return "";
  } catch (const InputError& e) {
    return e.diagnostic().message.str();
  }
}

std::string register_message(const std::string& name) {
  return "`" + name +
         "` is a register of the thread in front of the parallel loop, used in it by others";
}

TEST(Registers, of_one_thread_are_not_used_by_others_through_a_window) {
  EXPECT_EQ(refusal(R"(
    a: f32[4] @ TILE
    load(a[0:4], x[0:4])
    w = a[0:4]
    for i in par(0, N):
        store(y[i, 0:4], w[0:4])
)"),
            register_message("w"));
  EXPECT_EQ(refusal(R"(
    a: f32[2, 4] @ TILE
    load(a[1, 0:4], x[0:4])
    w = a[0:2, 0:4]
    v = w[1, 0:4]
    for i in par(0, N):
        store(y[i, 0:4], v[0:4])
)"),
            register_message("v"));
  EXPECT_EQ(refusal(R"(
    a: f32[4] @ TILE
    load(a[0:4], x[0:4])
    w = a[0:4]
    for k in seq(0, 2):
        v = w[0:4]
        for i in par(0, N):
            if i > 0:
                store(y[i, 0:4], v[0:4])
)"),
            register_message("v"));
  EXPECT_EQ(refusal(R"(
    for i in par(0, N):
        a: f32[4] @ TILE
        w = a[0:4]
        load(w[0:4], x[0:4])
        for j in par(0, 1):
            store(y[i, 0:4], w[0:4])
)"),
            register_message("w"));
}

TEST(Registers, go_to_no_function_whose_parallel_loop_would_use_them) {
  EXPECT_NE(refusal(R"(
    pass

@proc
def g(N: size, w: [f32][4] @ TILE, y: f32[N, 4]):
    for i in par(0, N):
        store(y[i, 0:4], w[0:4])

@proc
def h(N: size, x: f32[4], y: f32[N, 4]):
    a: f32[4] @ TILE
    load(a[0:4], x[0:4])
    g(N, a[0:4], y)
)"),
            "");
}

TEST(Registers, of_an_iteration_are_used_through_windows) {
  expect_right_on_threads(proc_of(kTiles + R"(
@proc
def f(N: size, x: f32[N, 4], y: f32[N, 4]):
    for i in par(0, N):
        a: f32[2, 4] @ TILE
        w = a[0:2, 0:4]
        v = w[1, 0:4]
        load(v[0:4], x[i, 0:4])
        store(y[i, 0:4], v[0:4])
)"),
                          {{{"N", 64}}});
}

TEST(ScratchMemory, of_one_arena_for_all_leaves_loops_sequential) {
  CodegenOptions options;
  options.scratch = CodegenOptions::Scratch::kStatic;
  const ProcPtr p = proc_of(R"(
@proc
def f(N: size, y: f32[N]):
    for i in par(0, N):
        t: f32[N]
        t[0] = y[i]
        y[i] = t[0] + 1.0
)");
  EXPECT_EQ(generate_c({p}, options).c.find("#pragma"), std::string::npos);
  EXPECT_NE(generate_c({p}).c.find("#pragma omp parallel for"), std::string::npos);
}

}  // namespace
}  // namespace exotune::emitted
