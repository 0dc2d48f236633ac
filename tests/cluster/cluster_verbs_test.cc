// --executor slurm as a user calls it. Slurm is three scripts: sbatch runs the tasks on the spot.
#include <gtest/gtest.h>

#include "tests/cli/command_harness.h"
#include "tests/cluster/small_family.h"
#include "tests/runners/shipped_targets.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

constexpr const char* kSubmit = R"(#!/bin/sh
for word in "$@"; do
  case $word in
    --array=0-*) last=${word#--array=0-} ;;
    --wrap=*) wrap=${word#--wrap=} ;;
  esac
done
printf '%s\n' "$*" >> "$(dirname "$0")/calls"
task=0
while [ "$task" -le "$last" ]; do
  SLURM_ARRAY_TASK_ID=$task SLURMD_NODENAME=n$task sh -c "$wrap" >> "$(dirname "$0")/log" 2>&1
  task=$((task + 1))
done
echo 7
)";

class Cluster : public ::testing::Test {
 protected:
  Cluster() : harness_("cluster") {
    script("sbatch", kSubmit);
    for (const char* program : {"squeue", "scancel", "scontrol", "sacct", "sinfo"})
      script(program, "#!/bin/sh\n");
    environment_["PATH"] = (harness_.folder() / "slurm").string() + ":" + getenv("PATH");
    environment_["EXOTUNE_DATA"] = make_small_family(harness_, 3);
  }
  void script(const std::string& name, const std::string& text) {
    harness_.write("slurm/" + name, text);
    fs::permissions(harness_.folder() / "slurm" / name, fs::perms::owner_all);
  }
  CommandResult tune(const std::vector<std::string>& more, const std::string& folder = "lib") {
    std::vector<std::string> words = {"family", "small", "--target", "avx2",
                                      "--tune", "-o",    folder,     "--sources"};
    words.insert(words.end(), more.begin(), more.end());
    return harness_.run(words, environment_, 600);
  }

  const CommandHarness harness_;
  std::map<std::string, std::string> environment_;
};

TEST_F(Cluster, tunes_a_family) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  const CommandResult first = tune({"--executor", "slurm:fast", "--cluster-dir", "shared",
                                    "--sbatch=--account=a", "--gres", "board:1"});
  ASSERT_EQ(first.exit_status, 0) << first.err << harness_.read("slurm/log");
  EXPECT_NE(first.out.find("3 kernels measured"), std::string::npos) << first.out;
  const std::string call = harness_.read("slurm/calls");
  for (const char* word : {"--partition=fast", "--account=a", "--gres=board:1", "--exclusive"})
    EXPECT_NE(call.find(word), std::string::npos) << call;
  // Three kernels, two buckets, three schedules.
  EXPECT_EQ(ask_database(harness_, "SELECT count(*) FROM trials"), "18\n");
  EXPECT_EQ(ask_database(harness_, "SELECT count(*) FROM winners"), "6\n");
  EXPECT_NE(harness_.read("lib/schedules/avx2/timesk1.sched").find("# tuned "), std::string::npos);
  // Another library asks the same questions: nothing is submitted.
  const CommandResult again = tune({"--executor", "slurm", "--cluster-dir", "shared"}, "other");
  EXPECT_EQ(again.exit_status, 0) << again.err;
  EXPECT_EQ(harness_.read("slurm/calls"), call);
  EXPECT_EQ(harness_.read("other/schedules/avx2/timesk2.sched"),
            harness_.read("lib/schedules/avx2/timesk2.sched"));
  EXPECT_EQ(ask_database(harness_, "SELECT count(*) FROM trials"), "18\n");
}

TEST_F(Cluster, searches_for_kernels) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  environment_.erase("EXOTUNE_DATA");
  harness_.write("my.exo",
                 "@proc\ndef twice(n: size, x: f32[n]):\n    for i in seq(0, n):\n"
                 "        x[i] = 2.0 * x[i]\n");
  const auto tune = [&](const std::vector<std::string>& more) {
    // An estimate runs nothing, so that a busy machine changes nothing.
    std::vector<std::string> words = {"kernel",     "my.exo:twice", "--target",      "avx2",
                                      "--effort",   "estimate",     "--beam",        "2",
                                      "--executor", "slurm",        "--cluster-dir", "shared"};
    words.insert(words.end(), more.begin(), more.end());
    return harness_.run(words, environment_, 600);
  };
  const CommandResult two = tune({"--sizes", "64:128:64", "--format", "json"});
  ASSERT_EQ(two.exit_status, 0) << two.err << harness_.read("slurm/log");
  EXPECT_NE(harness_.read("slurm/calls").find("--array=0-1"), std::string::npos);
  EXPECT_NE(two.out.find("n=128"), std::string::npos) << two.out;
  for (const char* file : {"out/twice_n64.c", "out/twice_n128.sched", "out/twice_n128.json"})
    EXPECT_TRUE(harness_.exists(file)) << file;
  EXPECT_EQ(harness_.run({"verify", "out/twice_n128.json"}).exit_status, 0);
}

TEST_F(Cluster, calibrates) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  environment_.erase("EXOTUNE_DATA");
  const std::vector<std::string> words = {
      "calibrate",  "--target",   "avx2",  "--only",        "weights", "--kernel",
      "saxpy,sdot", "--draws",    "4",     "--passes",      "1",       "--splits",
      "1",          "--executor", "slurm", "--cluster-dir", "shared"};
  const CommandResult result = harness_.run(words, environment_, 600);
  ASSERT_EQ(result.exit_status, 0) << result.err << harness_.read("slurm/log");
  EXPECT_NE(result.out.find("sdot"), std::string::npos) << result.out;
  const std::string runs = ask_database(harness_, "SELECT count(*) FROM trials");
  EXPECT_NE(runs, "0\n");
  EXPECT_NE(ask_database(harness_, "SELECT count(*) FROM figures WHERE kind = 'weights'"), "0\n");
  // What was measured is not measured again for the fit, nor by whoever asks next.
  const std::string calls = harness_.read("slurm/calls");
  EXPECT_EQ(harness_.run(words, environment_, 600).exit_status, 0);
  EXPECT_EQ(harness_.read("slurm/calls"), calls);
  EXPECT_EQ(ask_database(harness_, "SELECT count(*) FROM trials"), runs);
}

TEST_F(Cluster, keeps_what_is_measured_here_too) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  const CommandResult result = tune({});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(ask_database(harness_, "SELECT count(*) FROM trials"), "18\n");
}

TEST_F(Cluster, leaves_other_machines_alone) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  const CommandResult result = tune({"--executor", "slurm", "--cluster-dir", "shared", "--machine",
                                     std::string(32, '0'), "--attempts", "1"});
  EXPECT_EQ(result.exit_status, 6) << result.err;
  EXPECT_NE(result.err.find("3 kernels were not measured"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("is not the one that was asked for"), std::string::npos) << result.err;
}

TEST_F(Cluster, reads_the_configuration_file) {
  environment_["XDG_CONFIG_HOME"] = (harness_.folder() / "config").string();
  const auto said = [&](const std::string& text) {
    harness_.write("config/exo-tune/config.toml", text);
    const CommandResult result = tune({});
    EXPECT_EQ(result.exit_status, 2) << result.err;
    return result.err;
  };
  EXPECT_NE(said("executor = \"slrum\"").find("did you mean 'slurm'?"), std::string::npos);
  EXPECT_NE(said("exekutor = \"slurm\"").find("config.toml:1:1"), std::string::npos);
  EXPECT_NE(said("[slurm]\nattempts = 0").find("config.toml:2:"), std::string::npos);
  harness_.write("config/exo-tune/config.toml",
                 "executor = \"slurm:quick\"\ncluster_dir = \"shared\"\n[slurm]\nsbatch = "
                 "[\"--time=3\"]\nattempts = 1\n");
  script("sbatch",
         "#!/bin/sh\necho \"$*\" > \"$(dirname \"$0\")/calls\"\n"
         "echo 'sbatch: error: Invalid account' >&2\nexit 1\n");
  tune({"--sbatch=--time=4"});
  const std::string call = harness_.read("slurm/calls");
  EXPECT_NE(call.find("--partition=quick --time=3 --time=4"), std::string::npos) << call;
}

TEST_F(Cluster, says_what_is_wrong_with_its_options) {
  const auto said = [&](const std::vector<std::string>& words) {
    const CommandResult result = tune(words);
    EXPECT_EQ(result.exit_status, 2) << result.err;
    return result.err;
  };
  EXPECT_NE(said({"--executor", "slrm"}).find("did you mean 'slurm'?"), std::string::npos);
  EXPECT_NE(said({"--executor", "local:x"}).find("local or slurm"), std::string::npos);
  EXPECT_NE(said({"--executor", "slurm", "--db", ":memory:"}).find("--cluster-dir"),
            std::string::npos);
  EXPECT_NE(said({"--executor", "slurm", "--bundle", "0"}).find("--bundle"), std::string::npos);
  fs::remove(harness_.folder() / "slurm/sbatch");
  environment_["PATH"] = (harness_.folder() / "slurm").string();
  // `env` starts the command; it is on the caller's PATH.
  const CommandResult without = tune({"--executor", "slurm", "--cluster-dir", "shared"});
  EXPECT_EQ(without.exit_status, 6) << without.err;
}

TEST_F(Cluster, has_workers_that_say_what_is_wrong) {
  const auto refused = [&](const std::vector<std::string>& words, int status) {
    const CommandResult result = harness_.run(words, environment_, 600);
    EXPECT_EQ(result.exit_status, status) << result.err;
    return result.err;
  };
  EXPECT_NE(refused({"worker", "nowhere", "job", "0"}, 6).find("the shared folder"),
            std::string::npos);
  harness_.write("shared/exo-tune-cluster", "format 1\n");
  refused({"worker", "shared", "job", "0"}, 2);
  EXPECT_NE(refused({"worker", "shared", "job", "x"}, 2).find("is no number"), std::string::npos);
  refused({"worker", "shared", "job"}, 2);
  harness_.write("shared/jobs/job.json", "{}");
  EXPECT_NE(refused({"worker", "shared", "job", "0"}, 2).find("cannot be used"), std::string::npos);
}

}  // namespace
}  // namespace exotune::cli
