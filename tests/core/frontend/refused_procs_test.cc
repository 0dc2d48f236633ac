// What a procedure that is refused leaves of its file.
#include <gtest/gtest.h>

#include "core/frontend/parser.h"

namespace exotune {
namespace {

std::string names_of(const Module& m) {
  std::string out;
  for (const ProcPtr& p : m.procs) out += p->name + " ";
  for (const RefusedProc& r : m.refused) out += "-" + r.name + " ";
  return out;
}

TEST(RefusedProcs, a_procedure_that_is_refused_leaves_the_others) {
  const std::string good = "@proc\ndef NAME(x: f32[4]):\n    x[0] = 1.0\n";
  const auto named = [&](const std::string& name) {
    return std::string(good).replace(good.find("NAME"), 4, name);
  };
  const std::string bad[] = {
      "@proc\ndef bad(x: f32[4]):\n    for i in seq(0, 4):\n        x[i] = y\n    x[0] = 0.0\n",
      "@proc\ndef bad(x: f32[4]):\n    for i seq(0, 4):\n        if 0 < 1:\n            pass\n",
      "@proc\ndef bad(x: f33[4]):\n    pass\n",
      "@proc\ndef bad(x: f32[4],\n        x: f32):\n    pass\n",
      "@proc\ndef bad(x: f32[4])\n    pass\n", "@proc\ndef bad(x: f32): x = y\n",
      "for T in [f32]:\n    @proc\n    def bad(x: $T):\n        x = y\n",
      // What the lexer cannot read, or reads and nobody writes.
      "@proc\ndef bad(x: f32[4]):\n    x[0] = 1.0f\n    x[1] = ?\n",
      "@proc\ndef bad(x: i32[4]):\n    if 0 < 1 && 1 < 2:\n        x[0] = (x[1] + 4) >> 3\n",
      "@proc\ndef bad(x: f32[4], 2y: $):\n    pass\n",
      "@proc\ndef bad(x: f32) -> $:\n    x = !x\n    x = \xc3\xa9\n",
      // A body that stands at the line's beginning.
      "@proc\ndef bad(x: f32):\nfor i in seq(0, 4):\n    x = 1.0\nx = ?\n"};
  for (const std::string& b : bad) {
    const Module m = parse_accepted(named("a") + b + named("c"), "f");
    EXPECT_EQ(names_of(m), "a c -bad ") << b;
    EXPECT_THROW((void)parse_module(named("a") + b + named("c"), "f"), InputError);
  }
}

TEST(RefusedProcs, a_caller_of_a_refused_procedure_is_refused_with_its_reason) {
  const Module m = parse_accepted(
      "@proc\ndef g(x: f32):\n    x = y\n@proc\ndef f(x: f32):\n    g(x)\n"
      "@proc\ndef h(x: f32):\n    x = 0.0\n",
      "f.exo");
  EXPECT_EQ(names_of(m), "h -g -f ");
  const std::string said = m.refused[1].error.what();
  EXPECT_NE(said.find("f.exo:3:9: error: nothing here is named `y`"), std::string::npos) << said;
  EXPECT_NE(said.find("note: in g, which is called at f.exo:6:5"), std::string::npos) << said;
}

TEST(RefusedProcs, all_errors_of_a_body_are_said_but_none_behind_a_declaration) {
  const Module m = parse_accepted(
      "@proc\ndef bad(n: size, x: f32[n]):\n    for i in seq(0, n):\n        t: f33\n        t = "
      "y\n"
      "        x[i] = t\n    for i in seq(0, n):\n        x[i] = u\n        x[i] = u\n",
      "f.exo");
  ASSERT_EQ(m.refused.size(), 1u);
  EXPECT_STREQ(m.refused[0].error.what(),
               "f.exo:4:12: error: there is no type `f33`\nhint: did you mean `f32`?\n"
               "f.exo:8:16: error: nothing here is named `u`\n");
}

TEST(RefusedProcs, declarations_below_a_procedure_that_is_refused_are_read) {
  const Module m = parse_accepted(
      "@proc\ndef bad(x: f32): x = 1.0f\nN = 4\n@proc\ndef bad2(x: f32):\n    x = y\n\nM = 5\n"
      "@proc\ndef c(x: f32[N, M]):\n    x[0, 0] = 1.0\n",
      "f");
  EXPECT_EQ(names_of(m), "c -bad -bad2 ");
}

TEST(RefusedProcs, what_is_no_part_of_a_procedure_is_never_left_out) {
  const std::string f = "@proc\ndef f(x: f32):\n    x = 0.0\n";
  for (const char* wrong :
       {"N = x\n", "x = 'a\n", "N = 1.0f\n", "$\n", "@instr(?)\ndef g():\n    pass\n",
        "@proc\ndef f(x: f32):\n    x = 1.0\n", "@proc\ndef 3x(x: f32):\n    pass\n",
        "from nowhere import *\n"})
    EXPECT_THROW((void)parse_accepted(f + wrong, "f"), InputError) << wrong;
}

}  // namespace
}  // namespace exotune
