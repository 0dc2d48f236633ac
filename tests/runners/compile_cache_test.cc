// Sources that do not compile cost only themselves, what compiled is kept, and what a compiler had
// too little time for is told from what is wrong.
#include "runners/compile_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/base/deadline.h"
#include "runners/native_runner.h"
#include "tests/runners/sample_candidates.h"

namespace exotune {
namespace {

using samples::check_only;
using samples::double_args;
using samples::double_case;
using samples::good;
using samples::toolchain;
using samples::with_body;

TEST(CompileCache, a_broken_source_costs_only_itself) {
  std::vector<Candidate> batch(6, good());
  batch[2] = with_body("for (int64_t i = 0; i < n; ++i) y[i] = undeclared_name;");
  batch[4] = with_body("this is not C");
  for (size_t k = 0; k < batch.size(); ++k) batch[k].id = std::to_string(k);
  NativeRunner runner(toolchain());
  const std::vector<TrialResult> r = runner.run(batch, double_case(), check_only());
  for (size_t k : {0, 1, 3, 5}) EXPECT_EQ(r[k].status, TrialStatus::kOk) << k << r[k].cause;
  EXPECT_EQ(r[2].status, TrialStatus::kCompileError);
  EXPECT_NE(r[2].cause.find("undeclared_name"), std::string::npos) << r[2].cause;
  EXPECT_EQ(r[4].status, TrialStatus::kCompileError);
  EXPECT_NE(r[4].cause.find("error:"), std::string::npos) << r[4].cause;
}

TEST(CompileCache, a_source_that_breaks_its_neighbours_costs_only_itself) {
  std::vector<Candidate> batch(5, good());
  batch[1].c_source += "\n{ {";
  batch[3].c_source = "#error not today\n";
  for (size_t k = 0; k < batch.size(); ++k) batch[k].id = std::to_string(k);
  NativeRunner runner(toolchain());
  const std::vector<TrialResult> r = runner.run(batch, double_case(), check_only());
  for (size_t k : {0, 2, 4}) EXPECT_EQ(r[k].status, TrialStatus::kOk) << k << r[k].cause;
  for (size_t k : {1, 3}) EXPECT_EQ(r[k].status, TrialStatus::kCompileError) << k;
  EXPECT_NE(r[3].cause.find("not today"), std::string::npos) << r[3].cause;
}

TEST(CompileCache, a_symbol_that_nobody_defines_costs_its_candidate_only) {
  const std::vector<Candidate> batch = {
      good(), with_body("extern void nowhere_to_be_found(void); nowhere_to_be_found();"), good()};
  NativeRunner runner(toolchain());
  const std::vector<TrialResult> r = runner.run(batch, double_case(), check_only());
  EXPECT_EQ(r[1].status, TrialStatus::kCompileError);
  EXPECT_NE(r[1].cause.find("nowhere_to_be_found"), std::string::npos) << r[1].cause;
  for (size_t k : {0, 2}) EXPECT_EQ(r[k].status, TrialStatus::kOk) << r[k].cause;
}

TEST(CompileCache, several_batches_keep_the_order) {
  std::vector<Candidate> many;
  for (int k = 0; k < 7; ++k)
    many.push_back(with_body("for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i] + " +
                             std::to_string(k % 3 == 1) + ";"));
  NativeOptions native;
  native.batch_size = 2;
  native.jobs = 2;
  NativeRunner runner(toolchain(), native);
  const std::vector<TrialResult> r = runner.run(many, double_case(), check_only());
  for (int k = 0; k < 7; ++k)
    EXPECT_EQ(r[k].status, k % 3 == 1 ? TrialStatus::kMismatch : TrialStatus::kOk) << k;
}

TEST(CompileCache, the_same_text_is_compiled_once_whatever_its_sizes) {
  NativeRunner runner(toolchain());
  const std::vector<Candidate> twice = {good(), good()};
  EXPECT_TRUE(runner.run(twice, double_case(), check_only())[1].ok());
  EXPECT_EQ(runner.compiled(), 1);
  Candidate longer = good();
  longer.args = double_args(50);
  EXPECT_TRUE(runner.run({&longer, 1}, double_case(50), check_only())[0].ok());
  EXPECT_EQ(runner.compiled(), 1);
  const Candidate other = with_body("for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];");
  EXPECT_TRUE(runner.run({&other, 1}, double_case(), check_only())[0].ok());
  EXPECT_EQ(runner.compiled(), 2);
}

TEST(CompileCache, keeps_a_bounded_number_of_batches) {
  CompileCache::Options options;
  options.batch_size = 1;
  options.most_batches = 2;
  CompileCache cache(toolchain(), options);
  std::vector<Candidate> three;
  for (const char* f : {"2", "3", "4"})
    three.push_back(
        with_body(std::string("for (int64_t i = 0; i < n; ++i) y[i] = ") + f + " * x[i];"));
  for (const CompiledCandidate& c : cache.compile(three))
    EXPECT_TRUE(std::filesystem::exists(c.library));
  EXPECT_EQ(cache.compiled(), 3);
  const std::string last = cache.compile(std::span(three).subspan(2))[0].library;
  EXPECT_EQ(cache.compiled(), 3);
  const std::string first = cache.compile(std::span(three).subspan(0, 1))[0].library;
  EXPECT_EQ(cache.compiled(), 4);
  EXPECT_TRUE(std::filesystem::exists(first));
  EXPECT_TRUE(std::filesystem::exists(last));
}

// A compiler that takes `seconds` for units with "takes_long" in one of their files.
TargetToolchain slow_for_some(const std::string& script, int seconds) {
  std::ofstream(script) << "#!/bin/sh\n"
                           "for a; do case $a in *.c)\n"
                           "  for k in $(grep -o 'k[0-9]*/[a-z]*\\.c' \"$a\"); do\n"
                           "    grep -qs takes_long \"${a%/*}/$k\" || continue\n"
                           "    echo half > \"$TMPDIR/half\"; sleep " +
                               std::to_string(seconds) +
                               "; done;;\n"
                               "esac; done\n"
                               "exec " +
                               toolchain().cc + " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  TargetToolchain t = toolchain();
  t.cc = script;
  return t;
}

TEST(CompileCache, what_compiles_for_a_minute_takes_none_of_the_others_time) {
  CompileCache::Options options;
  options.jobs = 1;
  CompileCache cache(slow_for_some(testing::TempDir() + "slow_cc", 60), options);
  std::vector<Candidate> batch = {good()};
  for (const char* body : {"int takes_long = 0; y[0] = x[0] + takes_long;", "y[0] = 2 * x[0];"})
    batch.push_back(with_body(body));
  const DeadlineScope scope(Deadline::after(12));
  const std::vector<CompiledCandidate> made = cache.compile(batch);
  EXPECT_FALSE(DeadlineScope::current().over());
  EXPECT_TRUE(made[0].ok()) << made[0].error;
  EXPECT_EQ(made[1].error, "the compiler took longer than its time limit");
  EXPECT_TRUE(made[1].late);
  EXPECT_FALSE(made[1].stopped);
  EXPECT_TRUE(made[2].ok()) << made[2].error;
  // What the killed compiler had begun goes with the batch.
  const std::filesystem::path folder = std::filesystem::path(made[0].library).parent_path();
  EXPECT_TRUE(std::filesystem::exists(folder / "half"));
}

TEST(CompileCache, what_was_late_is_compiled_again_with_most_of_the_time) {
  CompileCache cache(slow_for_some(testing::TempDir() + "slower_cc", 5), {});
  const Candidate slow = with_body("int takes_long = 0; y[0] = x[0] + takes_long;");
  const DeadlineScope scope(Deadline::after(15));
  const CompiledCandidate late = cache.compile(std::span(&slow, 1)).front();  // has 0.3 of it
  EXPECT_TRUE(late.late);
  EXPECT_FALSE(late.stopped);
  const CompiledCandidate made = cache.compile(std::span(&slow, 1)).front();
  EXPECT_TRUE(made.ok()) << made.error;
  EXPECT_EQ(cache.compiled(), 2);
}

}  // namespace
}  // namespace exotune
