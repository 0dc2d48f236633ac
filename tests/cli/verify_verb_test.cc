// What `verify` says was tested, was run.
#include <gtest/gtest.h>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

void write_example(const CommandHarness& harness) {
  harness.write("a.exo",
                "@proc\n"
                "def f(N: size, x: f32[8], y: f32[N]):\n"
                "    t: f32[8]\n"
                "    for j in seq(0, 8):\n"
                "        t[j] = x[j]\n"
                "    for i in seq(0, N):\n"
                "        y[i] = t[i % 8]\n");
  harness.write("a.sched",
                "p = f\n"
                "p = set_memory(p, 't', DRAM_STATIC)\n"
                "p = parallelize_loop(p, 'i')\n");
}

TEST(VerifyVerb, runs_the_c_of_parallel_loops_on_threads) {
  const CommandHarness harness("verify");
  write_example(harness);
  const CommandResult r = harness.run({"verify", "a.exo", "a.sched", "-v"});
  EXPECT_EQ(r.exit_status, 0) << r.err;
  EXPECT_TRUE(says(r.out, "proved   2 steps")) << r.out;
  if (says(r.out, "not run")) GTEST_SKIP() << r.out;
  EXPECT_TRUE(says(r.out,
                   "tested   12 sizes, equal to 'f' in exact arithmetic; its C too, "
                   "parallel loops on several threads"))
      << r.out;
  EXPECT_TRUE(says(r.out, "4 threads")) << r.out;
}

TEST(VerifyVerb, does_not_say_tested_without_a_compiler) {
  const CommandHarness harness("verify_alone");
  write_example(harness);
  const CommandResult r = harness.run({"verify", "a.exo", "a.sched"}, {{"PATH", "/nonexistent"}});
  EXPECT_EQ(r.exit_status, 0) << r.err;
  EXPECT_FALSE(says(r.out, "tested")) << r.out;
  EXPECT_TRUE(says(r.out, "computed 12 sizes")) << r.out;
  EXPECT_TRUE(says(r.out, "not run  parallel loops and all other C: no C compiler")) << r.out;
}

TEST(VerifyVerb, takes_what_kernel_wrote_and_compiles_it_as_it_says) {
  const CommandHarness harness("verify_record");
  if (harness.run({"doctor", "--no-peers"}).exit_status != 0) GTEST_SKIP() << "no target runs here";
  write_example(harness);
  ASSERT_EQ(harness.run({"kernel", "a.exo", "--size", "N=64", "--effort", "estimate", "-o", "out"})
                .exit_status,
            0);
  const CommandResult r = harness.run({"verify", "out/f.json", "-v"});
  EXPECT_EQ(r.exit_status, 0) << r.err;
  EXPECT_TRUE(says(r.out, "tested   1 size, equal to 'f'")) << r.out;
  harness.write("out/f.sched", "# compiled by gcc\n" + harness.read("out/f.sched"));
  const CommandResult other = harness.run({"verify", "out/f.json", "-v"});
  EXPECT_TRUE(says(other.out, "compiler by gcc")) << other.out;
  const CommandResult alone = harness.run({"verify", "a.exo"});
  EXPECT_EQ(alone.exit_status, 2);
  EXPECT_TRUE(says(alone.err, "to be verified against")) << alone.err;
}

TEST(VerifyVerb, says_which_of_two_procs_rounds_to_fewer_digits) {
  const CommandHarness harness("verify_digits");
  const auto with = [](const std::string& name, const std::string& type) {
    return "@proc\ndef " + name +
           "(x: f64[8], y: f64[8]):\n    for i in seq(0, 8):\n        t: " + type +
           " = x[i] / 3.0\n        y[i] = f64(t) * x[i]\n";
  };
  harness.write("a.exo", with("exact", "f64"));
  harness.write("b.exo", with("rounded", "f32"));
  const CommandResult r = harness.run({"verify", "a.exo", "b.exo"});
  EXPECT_EQ(r.exit_status, 0) << r.err;
  EXPECT_TRUE(says(r.out, "rounds   'rounded' has results in f32, 'exact' none narrower than f64"))
      << r.out;
  EXPECT_FALSE(says(harness.run({"verify", "b.exo", "a.exo"}).out, "rounds"));
  EXPECT_FALSE(says(harness.run({"verify", "a.exo", "a.exo"}).out, "rounds"));
}

TEST(VerifyVerb, tells_two_procs_apart) {
  const CommandHarness harness("verify_two");
  write_example(harness);
  harness.write("b.exo",
                "@proc\ndef f(N: size, x: f32[8], y: f32[N]):\n"
                "    for i in par(0, N):\n        y[i] = x[(i + 1) % 8]\n");
  const CommandResult r = harness.run({"verify", "a.exo", "b.exo"});
  EXPECT_EQ(r.exit_status, 5) << r.out;
}

}  // namespace
}  // namespace exotune::cli
