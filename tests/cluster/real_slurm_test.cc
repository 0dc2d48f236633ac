// A family tuned on a real Slurm of four nodes on this machine, where it is installed (./dev setup
// slurm): a node fails, the coordinator is killed again and again, and in the end every kernel was
// measured and is in the database once.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/subprocess.h"
#include "tests/cli/command_harness.h"
#include "tests/cluster/small_family.h"
#include "tests/runners/shipped_targets.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

constexpr int kKernels = 10;

class RealSlurm : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"slurmctld", "slurmd", "munged", "sbatch"})
      if (find_program(program).empty() &&
          find_program(std::string("/usr/sbin/") + program).empty())
        GTEST_SKIP() << "no " << program << " here: ./dev setup slurm installs it";
    if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
    const std::string start = EXOTUNE_SOURCE_DIR "/tests/cluster/start_slurm.sh";
    const int port = 21000 + static_cast<int>(getpid() % 4000) * 8;
    const CommandResult started =
        run_command({"env", "PATH=" + path(), start, folder(), "4", std::to_string(port)});
    if (!started.ok()) GTEST_SKIP() << "Slurm does not start here: " << started.err;
    environment_ = {{"SLURM_CONF", folder() + "/slurm.conf"},
                    {"EXOTUNE_DATA", make_small_family(harness_, kKernels)}};
  }
  void TearDown() override {
    run_command({EXOTUNE_SOURCE_DIR "/tests/cluster/stop_slurm.sh", folder()});
  }

  static std::string path() { return std::string(getenv("PATH")) + ":/usr/sbin:/sbin"; }
  std::string folder() const { return (harness_.folder() / "slurm").string(); }
  std::vector<std::string> words() const {
    return {"family", "small",     "--target",   "avx2",       "--tune",        "-o",
            "lib",    "--sources", "--executor", "slurm:tune", "--cluster-dir", "shared"};
  }
  void slurm(std::vector<std::string> words) const {
    words.insert(words.begin(), {"env", "SLURM_CONF=" + folder() + "/slurm.conf"});
    run_command(words);
  }

  // Starts the coordinator and kills it when `enough` says so; its exit status when it ended first.
  int run_until(const std::function<bool()>& enough) const {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, 1);
      dup2(null, 2);
      if (chdir(harness_.folder().c_str()) != 0) _exit(127);
      setenv("HOME", harness_.folder().c_str(), 1);
      setenv("XDG_DATA_HOME", (harness_.folder() / "data").c_str(), 1);
      for (const auto& [name, value] : environment_) setenv(name.c_str(), value.c_str(), 1);
      std::vector<std::string> all = words();
      std::vector<char*> argv = {const_cast<char*>("exo-tune")};
      for (std::string& word : all) argv.push_back(word.data());
      argv.push_back(nullptr);
      execv(EXOTUNE_BINARY_DIR "/bin/exo-tune", argv.data());
      _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (enough()) kill(child, SIGKILL);
      usleep(20000);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  size_t files(const std::string& below) const {
    size_t count = 0;
    std::error_code ignored;
    for (const auto& entry :
         fs::recursive_directory_iterator(harness_.folder() / "shared" / below, ignored))
      count += entry.path().extension() == ".json" ? 1 : 0;
    return count;
  }

  const CommandHarness harness_{"real-slurm"};
  std::map<std::string, std::string> environment_;
};

TEST_F(RealSlurm, loses_and_doubles_nothing_when_node_and_coordinator_die) {
  // In the moment of the submission, behind it, and with some answers there.
  EXPECT_EQ(run_until([&] { return files("requests") == kKernels && files("jobs") == 1; }), -1);
  run_until([&] { return files("results") >= 2; });
  slurm({"scontrol", "update", "nodename=n1", "state=down", "reason=test"});
  run_until([&] { return files("results") >= 4; });
  slurm({"scontrol", "update", "nodename=n1", "state=resume"});
  const CommandResult last = harness_.run(words(), environment_, 300);
  ASSERT_EQ(last.exit_status, 0) << last.err;
  EXPECT_EQ(files("results"), static_cast<size_t>(kKernels));
  EXPECT_EQ(files("jobs"), 0u);
  // Three schedules at two sizes of each kernel.
  EXPECT_EQ(ask_database(harness_, "SELECT count(*) FROM trials"),
            std::to_string(6 * kKernels) + "\n");
  EXPECT_EQ(ask_database(harness_, "SELECT count(DISTINCT kernel) FROM contexts"),
            std::to_string(2 * kKernels) + "\n")
      << "a kernel under each of its conditions";
}

}  // namespace
}  // namespace exotune::cli
