// A simulator that is here while the library of the target's extension is not. Spike is stood in
// for: as the real one it loads its libraries before anything else. Skipped without a cross
// compiler.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

class RunnerCheck : public testing::Test {
 protected:
  RunnerCheck() : harness_("runner_check") {
    const std::string there = (harness_.folder() / "there").string();
    harness_.write("bin/spike",
                   "#!/bin/sh\nlibrary=${2#--extlib=}\n[ -e " + there +
                       " ] || { echo \"Unable to load extlib '$library': no such file\" >&2; exit "
                       "255; }\n[ $4 = --help ] || " +
                       EXOTUNE_BINARY_DIR + "/bin/simulate_stand_in $4 ${1#--isa=} rvm\n");
    std::filesystem::permissions(harness_.folder() / "bin/spike",
                                 std::filesystem::perms::owner_all);
  }
  void SetUp() override {
    if (find_program("riscv64-unknown-elf-gcc").empty())
      GTEST_SKIP() << "no cross compiler on PATH";
  }
  CommandResult run(const std::vector<std::string>& arguments) const {
    return harness_.run(
        arguments, {{"PATH", (harness_.folder() / "bin").string() + ":" + std::getenv("PATH")}});
  }
  CommandHarness harness_;
};

TEST_F(RunnerCheck, a_missing_library_is_said_before_the_search) {
  const std::vector<std::string> tune = {"conv1d", "--target", "rvm", "--runner",
                                         "spike",  "--trials", "2"};
  const CommandResult missing = run(tune);
  EXPECT_EQ(missing.exit_status, 6) << missing.out;
  EXPECT_TRUE(says(missing.err, "the runner 'spike' does not work here: Unable to load extlib '"))
      << missing.err;
  EXPECT_TRUE(says(missing.err, "librvm.so")) << missing.err;
  EXPECT_TRUE(says(missing.err, "hint: build Spike")) << missing.err;
  // Nothing of it is remembered: with the library every candidate is new, and runs.
  harness_.write("there", "");
  const CommandResult found = run(tune);
  EXPECT_EQ(found.exit_status, 0) << found.err;
  EXPECT_TRUE(says(found.out, " 0 known before")) << found.out;
  const CommandResult trials = run({"db", "query", "select distinct status from results"});
  ASSERT_EQ(trials.exit_status, 0) << trials.err;
  EXPECT_TRUE(says(trials.out, "ok")) << trials.out;
  EXPECT_FALSE(says(trials.out, "crash")) << trials.out;
}

TEST_F(RunnerCheck, the_doctor_tries_the_library) {
  for (const char* state : {"missing", "ok"}) {
    const CommandResult r = run({"doctor", "--no-peers", "--format", "json"});
    int seen = 0;
    for (const auto& row : nlohmann::json::parse(r.out)) {
      if (row["what"] != "runner spike, rvm") continue;
      ++seen;
      EXPECT_EQ(row["state"], state) << row;
      EXPECT_EQ(says(row["detail"], "Unable to load extlib"), row["state"] == "missing") << row;
    }
    EXPECT_EQ(seen, 1);
    harness_.write("there", "");
  }
}

}  // namespace
}  // namespace exotune::cli
