// exo-tune family as a user calls it: what it writes, and what it says of mistakes.
#include <gtest/gtest.h>

#include "core/base/subprocess.h"
#include "tests/cli/command_harness.h"
#include "tests/runners/shipped_targets.h"

namespace exotune::cli {
namespace {

TEST(FamilyVerb, builds_a_library_that_programs_link_to) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  const CommandHarness harness("family");
  const CommandResult built =
      harness.run({"family", "blas1", "--target", "avx512,avx2", "-o", "blas", "-q"}, {}, 300);
  ASSERT_EQ(built.exit_status, 0) << built.err;
  EXPECT_NE(built.out.find("26 routines"), std::string::npos) << built.out;
  EXPECT_NE(built.out.find("blas/lib/libexo-blas.so"), std::string::npos) << built.out;
  harness.write("program.c",
                "#include <cblas.h>\n#include <stdio.h>\nint main(void) {\n"
                "  double x[3] = {1, 2, 3};\n  printf(\"%g\\n\", cblas_ddot(3, x, 1, x, 1));\n"
                "  return 0;\n}\n");
  const std::string folder = harness.folder().string();
  for (const std::string& link : {"-Lblas/lib -lexo-blas -Wl,-rpath," + folder + "/blas/lib",
                                  std::string("blas/lib/libexo-blas.a -lm")}) {
    const CommandResult result =
        run_command({"sh", "-c",
                     "cd " + folder + " && cc -Wall -Werror -Iblas/include/exo-blas program.c " +
                         link + " -o program && ./program"});
    EXPECT_EQ(result.out, "14\n") << link << "\n" << result.err;
  }
  harness.write("CMakeLists.txt",
                "cmake_minimum_required(VERSION 3.18)\nproject(user C)\n"
                "find_package(exo-blas 0.1 REQUIRED)\nadd_executable(program program.c)\n"
                "target_link_libraries(program exo-blas::exo-blas)\n");
  const CommandResult found =
      run_command({"sh", "-c",
                   "cd " + folder + " && cmake -S . -B by-cmake -DCMAKE_PREFIX_PATH=" + folder +
                       "/blas >log && cmake --build by-cmake >>log && by-cmake/program"});
  EXPECT_EQ(found.out, "14\n") << found.err << harness.read("log");
  const CommandResult symbols =
      run_command({"nm", "-D", "--defined-only", folder + "/blas/lib/libexo-blas.so.0"});
  for (const char* symbol :
       {"cblas_sdsdot@@EXO_BLAS_0", "drotmg_@@EXO_BLAS_0", "xerbla_@@EXO_BLAS_0"})
    EXPECT_NE(symbols.out.find(symbol), std::string::npos) << symbol;
  EXPECT_EQ(symbols.out.find(" blas_daxpy"), std::string::npos) << "kernels are nobody else's";

  // What is measured is what the CPU takes.
  if (!samples::runs_here("avx512")) return;
  const CommandResult held = harness.run({"bench", "blas", "--target", "avx2"});
  EXPECT_EQ(held.exit_status, 2) << held.out << held.err;
  EXPECT_NE(held.err.find("runs its code for avx512"), std::string::npos) << held.err;
  EXPECT_NE(held.err.find("--target avx2 -o"), std::string::npos) << held.err;
}

TEST(FamilyVerb, writes_the_same_bytes_again) {
  const CommandHarness harness("family-again");
  for (const char* folder : {"one", "two"})
    ASSERT_EQ(harness.run({"family", "all", "--target", "avx2", "-o", folder, "-q", "--sources"})
                  .exit_status,
              0);
  const std::string folder = harness.folder().string();
  const CommandResult same = run_command({"diff", "-r", folder + "/one", folder + "/two"});
  EXPECT_TRUE(same.ok()) << same.out;
  EXPECT_TRUE(harness.exists("one/schedules/avx2/dgemm_strip.sched"));
}

TEST(FamilyVerb, takes_schedules_that_were_measured_before) {
  const CommandHarness harness("family-wisdom");
  const std::string script =
      "# when n < 4\np = p\n# otherwise\np = divide_loop(p, 'i', 4, ['io', 'ii'], tail='cut')\n";
  harness.write("wisdom/avx2/dscal.sched", script);
  const auto library = [&](const std::string& wisdom, const std::string& folder) {
    return harness.run({"family", "blas1", "--target", "avx2", "-q", "--sources", "--wisdom",
                        wisdom, "-o", folder});
  };
  ASSERT_EQ(library("wisdom", "one").exit_status, 0);
  EXPECT_EQ(harness.read("one/schedules/avx2/dscal.sched"), script);
  EXPECT_NE(harness.read("one/src/blas1_d_avx2.h").find("if (n < 4) {\n    blas_dscal_v0_avx2("),
            std::string::npos);
  ASSERT_EQ(library("one/schedules", "two").exit_status, 0);
  const std::string folder = harness.folder().string();
  EXPECT_TRUE(run_command({"diff", "-r", folder + "/one", folder + "/two"}).ok());
  EXPECT_EQ(library("nowhere", "three").exit_status, 2);
}

TEST(FamilyVerb, says_what_is_wrong) {
  const CommandHarness harness("family-wrong");
  const auto refused = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"family"};
    all.insert(all.end(), words.begin(), words.end());
    const CommandResult result = harness.run(all);
    EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
    return result.err;
  };
  EXPECT_NE(refused({"blas4", "-o", "x"}).find("did you mean blas"), std::string::npos);
  EXPECT_NE(refused({"blas1", "-o", "x", "--target", "avx2,avx2"}).find("twice"),
            std::string::npos);
  EXPECT_NE(refused({"blas1", "-o", "x", "--target", "gemmini"}).find("for CPUs"),
            std::string::npos);
  EXPECT_NE(refused({"blas1"}).find("-o"), std::string::npos);
}

}  // namespace
}  // namespace exotune::cli
