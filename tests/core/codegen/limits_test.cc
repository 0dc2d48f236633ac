// What C cannot hold: arrays of more bytes than there are addresses, control values beyond 64 bits,
// templates whose braces are no holes, more calls than can be followed one by one.
#include <gtest/gtest.h>

#include "core/analysis/queries.h"
#include "core/frontend/parser.h"
#include "core/ir/callees.h"
#include "core/ir/printer.h"
#include "tests/core/codegen/c_library.h"

namespace exotune {
namespace {

std::string refusal(const std::string& text) {
  try {
    generate_c({parse_module(text, "test.exo").procs.back()});
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

#define EXPECT_REFUSED(text, words) \
  EXPECT_NE(refusal(text).find(words), std::string::npos) << refusal(text)

TEST(Limits, an_array_of_more_bytes_than_any_memory) {
  const std::string f = "@proc\ndef f(n: size, x: f32[4]):\n    ";
  const std::string words = "test.exo:3:5: error: `t` has more bytes than any memory";
  EXPECT_REFUSED(f + "t: f32[4294967296, 4294967296]\n    t[1, 1] = x[0]\n", words);
  EXPECT_REFUSED(f + "t: f32[4611686018427387904]\n    t[1] = x[0]\n", words);
  EXPECT_REFUSED(f + "t: f32[n, 4294967296, 4294967296]\n    t[0, 1, 1] = x[0]\n", words);
  EXPECT_REFUSED(f + "t: f32[4611686018427387904] @ DRAM_STACK\n    t[1] = x[0]\n", words);
  EXPECT_EQ(refusal(f + "t: f32[16777216, 1024]\n    t[1, 1] = x[0]\n"), "");
}

constexpr const char* kHuge = R"(
@proc
def f(n: size, x: f32[n]):
    t: f32[n, n, 3, n, n]
    t[n - 1, n - 1, 2, n - 1, n - 1] = x[0]
    x[0] = t[n - 1, n - 1, 2, n - 1, n - 1]
)";

TEST(LimitsDeathTest, sizes_whose_product_wraps_around_are_out_of_memory) {
  const ProcPtr p = parse_module(kHuge, "test.exo").procs.back();
  const CFile file = generate_c({p});
  CompileOptions options;
  options.flags = {"-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined"};
  const CLibrary library(file, options);
  ASSERT_EQ(library.error(), "");
  Arguments small = make_arguments(*p, {{"n", 3}}, 1);
  const double first = small.buffers[0]->data[0];
  library.call(file.functions[0], small);
  EXPECT_EQ(small.buffers[0]->data[0], first);
  Arguments huge = make_arguments(*p, {{"n", 65536}}, 1);
  EXPECT_EXIT(library.call(file.functions[0], huge), testing::KilledBySignal(SIGABRT), "");
}

TEST(Limits, a_workspace_of_sizes_that_wrap_around_is_larger_than_memory) {
  CodegenOptions caller;
  caller.scratch = CodegenOptions::Scratch::kCaller;
  const std::string c = generate_c({parse_module(kHuge, "test.exo").procs.back()}, caller).c;
  EXPECT_NE(c.find("exo_times(exo_times(exo_times(exo_times(sizeof(float) * 3, (size_t)n), "
                   "(size_t)n), (size_t)n), (size_t)n)"),
            std::string::npos)
      << c;
  EXPECT_NE(c.find("exo_plus("), std::string::npos);
}

TEST(Limits, control_values_that_may_not_fit_64_bits) {
  const std::string f = "@proc\ndef f(n: size, x: f32[4]):\n    ";
  EXPECT_REFUSED(f + "for i in seq(9223372036854775800, 9223372036854775807 + n):\n"
                     "        x[0] = 1.0\n",
                 "test.exo:3:5: error: `9223372036854775800` may not fit 64 bits");
  EXPECT_REFUSED(
      "@proc\ndef f(n: size, x: f32[4]):\n    assert n < 100\n"
      "    for i in seq(9223372036854775800, 9223372036854775800 + n):\n"
      "        x[0] = 1.0\n",
      "may not fit 64 bits");
  EXPECT_REFUSED(f + "if 4611686018427387904 * (2 * n) > 0:\n        x[0] = 1.0\n",
                 "may not fit 64 bits");
  EXPECT_REFUSED(f + "for i in seq(0, 2305843009213693952):\n"
                     "        if 2 * i + 2 * i > 5:\n            x[0] = 1.0\n",
                 "`2 * i + 2 * i` may not fit 64 bits");
  EXPECT_EQ(refusal(f + "for i in seq(1000000000000, 1000000000000 + n):\n"
                        "        if 4096 * i > 5:\n            x[0] = 1.0\n"),
            "");
}

std::string instruction(const std::string& text) {
  return "@instr(\"" + text +
         "\")\ndef load(dst: [f32][4], n: size):\n    for k in seq(0, 4):\n        dst[k] = 0.0\n";
}

TEST(Templates, of_instructions_have_holes_that_are_arguments) {
  auto fault = [](const std::string& text) -> std::string {
    try {
      check(*parse_module(instruction(text), "test.exo").procs.back());
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  const std::string place = "test.exo:2:5: error: the template of `load`: ";
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"f({dst.strides[});", "`{dst.strides[}` names no argument"},
           {"f({dst.strides[x]});", "`{dst.strides[x]}` names no argument"},
           {"f({dst.strides[0});", "`{dst.strides[0}` names no argument"},
           {"f({dst.strides[99999999999999999999]});", "names no argument"},
           {"f({dst.strides[1]});", "`dst` has 1 dimensions"},
           {"f({src_data});", "`{src_data}` names no argument"},
           {"f({n_data});", "`n` is a control argument"},
           {"f({0});", "`{0}` is no hole"},
           {"f({dst!r});", "`{dst!r}` is no hole"}})
    EXPECT_EQ(fault(text).find(place), 0u) << fault(text);
  EXPECT_EQ(fault("f(&{dst_data}, {dst.strides[0]}, {n}); (void)(int[]){{0}};"), "");
}

TEST(Templates, of_memories_have_holes_of_their_own) {
  auto fault = [](const std::string& text) -> std::string {
    try {
      parse_module("@memory\nclass M:\n    kind = \"heap\"\n    alloc = \"" + text + "\"\n",
                   "test.exo");
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(fault("f({size});").find("test.exo:4:13: error: `{size}` is no hole"), 0u)
      << fault("f({size});");
  EXPECT_NE(fault("f({shape[a]});"), "");
  EXPECT_NE(fault("f({0});"), "");
  EXPECT_EQ(fault("{type}* {name} = f({shape[0]} * {shape[1]});"), "");
}

// Each calls the one before twice: 2^60 calls, 60 procs.
TEST(Callees, that_double_with_each_caller_are_looked_at_once) {
  std::string text = "@proc\ndef f0(x: f32[4]):\n    x[0] += 1.0\n";
  for (int k = 1; k < 60; ++k) {
    const std::string call = "    f" + std::to_string(k - 1) + "(x)\n";
    text += "@proc\ndef f" + std::to_string(k) + "(x: f32[4]):\n" + call + call;
  }
  const ProcPtr last = parse_module(text, "doubled.exo").procs.back();
  EXPECT_EQ(procs_called(*last).size(), 59u);
  EXPECT_EQ(procs_called(*last).front()->name, "f0");
  EXPECT_NE(generate_c({last}).c.find("void f59("), std::string::npos);
  EXPECT_LT(canonical_text(*last).size(), 10000u);
}

TEST(CanonicalText, tells_callees_apart_by_their_bodies) {
  const auto caller = [](const std::string& one, const std::string& other) {
    const std::string text = "@proc\ndef g(x: f32[4]):\n    x[0] = " + one +
                             "\n@proc\ndef h(x: f32[4]):\n    x[0] = " + other +
                             "\n@proc\ndef f(x: f32[4]):\n    g(x)\n    h(x)\n    g(x)\n";
    return canonical_text(*parse_module(text, "callees.exo").procs.back());
  };
  EXPECT_EQ(caller("1.0", "2.0"), caller("1.0", "2.0"));
  EXPECT_NE(caller("1.0", "2.0"), caller("2.0", "1.0"));
  EXPECT_NE(caller("1.0", "2.0"), caller("1.0", "1.0"));
}

}  // namespace
}  // namespace exotune
