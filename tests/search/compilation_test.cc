// Ways to compile a schedule's C, as data and as text.
#include "search/compilation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/machine.h"
#include "hw/target.h"
#include "runners/native_runner.h"
#include "runners/other_compilers.h"

namespace exotune {
namespace {

Candidate some() {
  Candidate c;
  c.c_source = "#include \"k.h\"\n#include <math.h>\nvoid k(void) {}\n";
  c.id = "plain";
  return c;
}

TEST(Compilation, leave_for_any_order_stands_in_no_condition) {
  const std::string c = with_sums_in_any_order(
      "#include <stdint.h>\n#ifdef EXO_CHECKED\n#include <stdio.h>\n#endif\nvoid f(void) {}\n");
  EXPECT_LT(c.find("reassociate(on)"), c.find("EXO_CHECKED"));
}

TEST(Compilation, leave_for_any_order_comes_after_the_headers_and_makes_another_candidate) {
  const Candidate free = compiled_as(some(), {.any_order = true, .compiler = ""});
  EXPECT_NE(free.id, "plain");
  const size_t pragma = free.c_source.find("#pragma clang fp reassociate(on)");
  EXPECT_GT(pragma, free.c_source.find("<math.h>"));
  EXPECT_LT(pragma, free.c_source.find("void k"));
  // Others follow in the same translation unit.
  EXPECT_GT(free.c_source.find("#pragma clang fp reassociate(off)"), free.c_source.find("void k"));
}

TEST(Compilation, lines_of_a_schedule_ask_for_what_they_were_made_of) {
  std::vector<Compilation> all = unusual_compilations(plain_toolchain(), true);
  all.push_back({});
  for (const Compilation& how : all) EXPECT_EQ(compilation_asked(lines_of(how) + "p = k\n"), how);
  EXPECT_EQ(lines_of({}), "");
}

TEST(Compilation, a_schedule_cannot_name_a_program) {
  EXPECT_TRUE(compilation_asked("# compiled by rm -rf\np = k\n").is_usual());
}

TEST(Compilation, the_same_text_by_two_compilers_is_two_candidates) {
  const Candidate one = compiled_as(some(), {.any_order = true, .compiler = "gcc"});
  const Candidate two = compiled_as(some(), {.any_order = true, .compiler = "clang"});
  EXPECT_EQ(one.c_source, two.c_source);
  EXPECT_NE(one.id, two.id);
}

TEST(Compilation, the_command_names_the_compiler) {
  for (const OtherCompiler& c : other_compilers()) {
    const std::string command = build_command("cc -O3", {.any_order = false, .compiler = c.name});
    EXPECT_TRUE(command.starts_with(c.cc + " -O3")) << command;
  }
  EXPECT_EQ(build_command("cc -O3", {}), "cc -O3");
}

// Which compiler it was is seen in the function's result.
TEST(Compilation, one_batch_is_compiled_by_several_compilers) {
  const char* const text =
      "void k(double* x) {\n#ifdef __clang__\n  x[0] = 2;\n#else\n  x[0] = 1;\n#endif\n}\n";
  std::vector<Candidate> batch;
  std::vector<double> expected;
  for (const OtherCompiler& c : other_compilers()) {
    if (!c.is_plain()) continue;
    Candidate k;
    k.c_source = text;
    k.function = "k";
    k.args = {ArgSpec::tensor("x", ElementType::kF64, {1}, false, true)};
    k = compiled_as(k, {.any_order = false, .compiler = c.name});
    batch.push_back(k);
    expected.push_back(c.cc == "clang" ? 2 : 1);
  }
  NativeRunner runner(plain_toolchain());
  for (size_t k = 0; k < batch.size(); ++k) {
    const Evaluation e = runner.evaluate(batch[k], {{0.0}}, 10);
    ASSERT_FALSE(e.outputs.empty()) << e.cause;
    EXPECT_EQ(e.outputs[0][0], expected[k]) << batch[k].compiler;
  }
}

TEST(Compilation, vectors_are_halved_where_the_toolchain_says_how_wide_they_are) {
  EXPECT_EQ(half_width({"-O3", "-mprefer-vector-width=512"}), "-mprefer-vector-width=256");
  EXPECT_EQ(half_width({"-O3", "-mavx2"}), "");
  TargetToolchain wide = plain_toolchain(), plain = wide;
  wide.flags.push_back("-mprefer-vector-width=512");
  for (const OtherCompiler& c : other_compilers()) {
    if (!c.half_vectors) continue;
    const auto own = with_compiler(wide, c.name);
    ASSERT_TRUE(own);
    EXPECT_NE(std::find(own->flags.begin(), own->flags.end(), "-mprefer-vector-width=256"),
              own->flags.end());
    EXPECT_FALSE(with_compiler(plain, c.name));
    const auto tried = [&](const TargetToolchain& t) {
      const std::vector<Compilation> all = unusual_compilations(t, true);
      return std::any_of(all.begin(), all.end(),
                         [&](const Compilation& how) { return how.compiler == c.name; });
    };
    EXPECT_TRUE(tried(wide));
    EXPECT_FALSE(tried(plain));
  }
}

// Of use where the compiler permutes bytes itself: for nests with narrow integers.
TEST(Compilation, further_instructions_are_those_that_this_cpu_has) {
  TargetToolchain with = plain_toolchain(), without = with;
  with.further = {"-DFURTHER"};
  for (const OtherCompiler& c : other_compilers()) {
    if (!c.further) continue;
    const auto own = with_compiler(with, c.name);
    ASSERT_TRUE(own);
    EXPECT_NE(std::find(own->flags.begin(), own->flags.end(), "-DFURTHER"), own->flags.end());
    EXPECT_FALSE(with_compiler(without, c.name));
    const Compilation how{.any_order = true, .compiler = c.name};
    EXPECT_NE(build_command("cc -O3", how, with.further).find(" -DFURTHER"), std::string::npos);
    const auto tried = [&](const TargetToolchain& t, bool narrow) {
      const std::vector<Compilation> all = unusual_compilations(t, narrow);
      return std::find(all.begin(), all.end(), how) != all.end();
    };
    EXPECT_TRUE(tried(with, true));
    EXPECT_FALSE(tried(with, false));
    EXPECT_FALSE(tried(without, true));
  }
  // Only what the machine has is in the flags of a target's toolchain.
  const TargetPtr target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  ASSERT_FALSE(target->compiler.further.empty());
  const std::vector<std::string> flags = toolchain_of(*target).further;
  for (const auto& [feature, own] : target->compiler.further)
    EXPECT_EQ(std::find(flags.begin(), flags.end(), own.front()) != flags.end(),
              probe_machine().has_feature(feature))
        << feature;
}

TEST(Compilation, a_compiler_that_is_not_there_is_an_error_of_its_candidate) {
  Candidate k = some();
  k.function = "k";
  k.compiler = "no such compiler";
  NativeRunner runner(plain_toolchain());
  EXPECT_NE(runner.evaluate(k, {}, 10).cause.find("is not installed"), std::string::npos);
}

}  // namespace
}  // namespace exotune
