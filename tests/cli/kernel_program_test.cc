// exo-tune-kernel, the program that a first ./dev tune waits for: it does what it can do as the
// whole command does, and hands everything else on with the same words.
#include <gtest/gtest.h>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

const char* const kCommand = EXOTUNE_BINARY_DIR "/bin/exo-tune";
const char* const kProgram = EXOTUNE_BINARY_DIR "/bin/exo-tune-kernel";

bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

// The words of one search, in the harness's folder: nothing is left outside of it.
CommandResult run(const CommandHarness& harness, std::vector<std::string> command,
                  const std::vector<std::string>& words, const std::string& dev = "") {
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.begin(), {"env", "-u", "EXOTUNE_DEV", "-u", "EXOTUNE_DATA",
                                   "HOME=" + harness.folder().string()});
  if (!dev.empty()) command.insert(command.begin() + 6, "EXOTUNE_DEV=" + dev);
  for (const std::string word : {"--db", ":memory:", "-o"}) command.push_back(word);
  command.push_back((harness.folder() / "out").string());
  return run_command(command);
}

const std::vector<std::string> kProduct = {"sgemm", "--size", "M=64,N=64,K=64", "--target", "avx2"};

TEST(KernelProgram, tunes_as_the_whole_command_does) {
  const CommandHarness harness("kernel_program");
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"-n"}, {"--effort", "estimate", "--beam", "2", "--k", "1"}}) {
    std::vector<std::string> words = kProduct;
    words.insert(words.end(), how.begin(), how.end());
    const CommandResult here = run(harness, {kProgram}, words, "/bin/false");
    const std::string schedule = harness.read("out/sgemm.sched");
    const CommandResult there = run(harness, {kCommand, "kernel"}, words);
    ASSERT_EQ(here.exit_status, 0) << here.err;
    ASSERT_EQ(there.exit_status, 0) << there.err;
    EXPECT_EQ(schedule, harness.read("out/sgemm.sched"));
    EXPECT_EQ(schedule.empty(), how.size() == 1);
  }
}

TEST(KernelProgram, hands_on_what_it_has_no_part_for) {
  const CommandHarness harness("kernel_program");
  const std::vector<std::pair<std::vector<std::string>, std::string>> runs = {
      {{"sgemm", "--executor", "slurm"}, "other machines' answers"},
      {{"conv1d", "--target", "rvm"}, "a machine that is not this one"},
      {{"sgemm", "--runner", "sim", "--target", "rvm"}, "a machine that is not this one"},
  };
  for (const auto& [words, what] : runs) {
    const CommandResult r = run(harness, {kProgram}, words, "/bin/echo");
    EXPECT_EQ(r.exit_status, 0) << r.err;
    EXPECT_TRUE(says(r.out, "run kernel " + words[0] + " " + words[1] + " " + words[2])) << r.out;
    EXPECT_TRUE(says(r.err, "note: this needs " + what)) << r.err;
  }
}

TEST(KernelProgram, refuses_by_itself_what_is_wrong) {
  const CommandHarness harness("kernel_program");
  const CommandResult r = run(harness, {kProgram}, {"sgem"}, "/bin/echo");
  EXPECT_EQ(r.exit_status, 2) << r.err;
  EXPECT_TRUE(says(r.err, "did you mean 'sgemm'?")) << r.err;
}

TEST(KernelProgram, says_what_to_build_where_the_whole_command_is_not) {
  const CommandHarness harness("kernel_program");
  const std::filesystem::path alone = harness.folder() / "exo-tune-kernel";
  std::filesystem::copy_file(kProgram, alone);
  const CommandResult r = run(harness, {alone.string()}, {"conv1d", "--target", "rvm"});
  EXPECT_EQ(r.exit_status, 6) << r.err;
  EXPECT_TRUE(says(r.err, "hint: ./dev build release exo-tune")) << r.err;
}

}  // namespace
}  // namespace exotune::cli
