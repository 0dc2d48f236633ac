#include "runners/command/contract.h"

#include <gtest/gtest.h>

#include "runners/command/outcome.h"

namespace exotune {
namespace {

constexpr const char* kRun =
    "EXO_TUNE v1 kernel=abc run=0 cycles=797 instret=680 check=ok hash=c0ffee";

Candidate named(const std::string& id) {
  Candidate c;
  c.id = id;
  c.args = {ArgSpec::tensor("x", ElementType::kI32, {8}, true, false)};
  return c;
}
TrialResult judged(const std::string& text) {
  return judge_output(named("abc"), read_contract(text), "");
}

TEST(Contract, a_whole_run_is_its_cycles) {
  const TrialResult r = judged(std::string(kRun) + "\nEXO_TUNE v1 end n=1\n");
  EXPECT_TRUE(r.ok()) << r.cause;
  EXPECT_EQ(r.median, 797);
}

TEST(Contract, whoever_runs_a_program_may_count_for_it) {
  const std::string run = "EXO_TUNE v1 kernel=abc run=0 cycles=0 instret=0 check=ok hash=1\n";
  const std::string end = "EXO_TUNE v1 end n=1\n";
  EXPECT_EQ(judged(run + end + "EXO_TUNE v1 counted instret=41\n").median, 41);
  EXPECT_EQ(judged(run + end).cause, "nothing counted the run's cycles or instructions");
  EXPECT_EQ(judged(std::string(kRun) + "\nEXO_TUNE v1 counted instret=41\n" + end).median, 797);
}

TEST(Contract, lines_may_end_in_cr_and_stand_in_noise) {
  const ContractOutput out =
      read_contract("boot 0x1\r\n[uart] " + std::string(kRun) +
                    "\r\n*** something ***\r\nEXO_TUNE v1 end n=1\r\nbye\r\n");
  EXPECT_TRUE(out.all_ok());
  EXPECT_EQ(out.runs[0].hash, "c0ffee");
  EXPECT_EQ(out.runs[0].instructions, 680u);
}

TEST(Contract, a_log_without_its_end_does_not_count) {
  EXPECT_EQ(judged(std::string(kRun) + "\n").cause, "the run's output is cut off");
  EXPECT_EQ(judged(std::string(kRun) + "\nEXO_TUNE v1 en").status, TrialStatus::kCrash);
  EXPECT_EQ(judged(std::string(kRun) + "\nEXO_TUNE v1 end n=2\n").status, TrialStatus::kCrash);
  EXPECT_EQ(judged("").cause, "the run printed no measurement");
}

TEST(Contract, a_line_cut_off_anywhere_does_not_count) {
  const std::string run = kRun;
  for (size_t k = 0; k < run.find("hash=") + 5; ++k)
    EXPECT_FALSE(judged(run.substr(0, k) + "\nEXO_TUNE v1 end n=1\n").ok()) << k;
}

TEST(Contract, a_failed_check_is_a_mismatch_with_what_was_found) {
  std::string run = kRun;
  run.replace(run.find("ok"), 2, "bad");
  const TrialResult r = judged("EXO_TUNE v1 found arg=0 what=mismatch at=12 got=5 want=7\n" + run +
                               "\nEXO_TUNE v1 end n=1\n");
  EXPECT_EQ(r.status, TrialStatus::kMismatch);
  EXPECT_EQ(r.cause, "x, byte 12: 0x5 instead of 0x7");
  EXPECT_EQ(judged(run + "\nEXO_TUNE v1 end n=1\n").status, TrialStatus::kMismatch);
}

TEST(Contract, a_trap_is_its_cause) {
  const TrialResult r = judged("EXO_TUNE v1 trap cause=2 pc=80000010 value=6b\n");
  EXPECT_EQ(r.status, TrialStatus::kCrash);
  EXPECT_EQ(r.cause, "illegal instruction 0x6b (pc 0x80000010)");
}

TEST(Contract, the_output_of_another_kernel_does_not_count) {
  std::string run = kRun;
  run.replace(run.find("abc"), 3, "abd");
  EXPECT_NE(judged(run + "\nEXO_TUNE v1 end n=1\n").cause.find("another kernel"),
            std::string::npos);
}

}  // namespace
}  // namespace exotune
