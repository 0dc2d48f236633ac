// What long functions ask of compilers, and what they leave out.
#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "tests/core/codegen/c_library.h"

namespace exotune {
namespace {

// A nest whose outer loop runs `trips` times, beside so many statements.
std::string nest_beside(int statements, int trips) {
  std::string text = "@proc\ndef f(x: f32[64, 8], y: f32[8]):\n    for i in seq(0, " +
                     std::to_string(trips) +
                     "):\n        for j in seq(0, 8):\n            y[j] += x[i, j]\n";
  for (int k = 0; k < statements; ++k) text += "    y[" + std::to_string(k % 8) + "] += x[1, 2]\n";
  return text;
}

std::string c_of(const std::string& text) {
  return generate_c({parse_module(text, "test.exo").procs.back()}).c;
}

size_t times(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(LongFunctions, loops_around_loops_stay_loops) {
  const std::string stays = "  EXO_STAYS\n  for (int64_t i = 0; i < 64; i++) {\n";
  const std::string text = c_of(nest_beside(300, 64));
  EXPECT_EQ(times(text, stays), 1u) << text;
  EXPECT_EQ(times(text, "  EXO_STAYS\n"), 1u) << "the inner loop is the compiler's";
  EXPECT_EQ(times(text, "#define EXO_STAYS"), 2u);
  // Few iterations, and short functions, are the compiler's, too.
  EXPECT_EQ(times(c_of(nest_beside(300, 4)), "EXO_STAYS"), 0u);
  EXPECT_EQ(times(c_of(nest_beside(100, 64)), "EXO_STAYS"), 0u);
}

TEST(LongFunctions, are_the_same_to_gcc_and_clang_without_a_warning) {
  const ProcPtr p = parse_module(nest_beside(300, 64), "test.exo").procs.back();
  const CFile file = generate_c({p});
  for (const char* cc : {"gcc", "clang"}) {
    CompileOptions options;
    options.compiler = cc;
    options.flags = {"-O2"};
    const CLibrary library(file, options);
    ASSERT_EQ(library.error(), "") << cc;
    Arguments args = make_arguments(*p, {}, 1);
    const std::vector<double> x = args.buffers[0]->data;
    double sum = args.buffers[1]->data[7];
    for (int i = 0; i < 64; ++i) sum += x[i * 8 + 7];
    for (int k = 7; k < 300; k += 8) sum += x[8 + 2];
    library.call(file.functions[0], args);
    EXPECT_NEAR(args.buffers[1]->data[7], sum, 1e-2) << cc;
  }
}

// Of a tile of registers that is not full some are never mentioned.
TEST(LongFunctions, registers_that_nobody_uses_are_not_declared) {
  const std::string text = c_of(R"(
@memory
class VEC4:
    kind = "vector"
    bytes = 16
    count = 8
    c_types = {"f32": "vec4"}
    c_global = "typedef float vec4 __attribute__((vector_size(16)));"

@instr("{dst_data} = (vec4){{0}};")
def zero(dst: [f32][4] @ VEC4):
    for i in seq(0, 4):
        dst[i] = 0.0

@proc
def f(y: f32[8]):
    used: f32[4] @ VEC4
    spare: f32[4] @ VEC4
    zero(used[0:4])
)");
  EXPECT_NE(text.find("vec4 used = (vec4){0};"), std::string::npos) << text;
  EXPECT_EQ(text.find("spare"), std::string::npos) << text;
}

}  // namespace
}  // namespace exotune
