// What makes measurements worse, read from a made-up machine's files.
#include "runners/conditions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace exotune {
namespace {

namespace fs = std::filesystem;

struct MadeUpHost : ::testing::Test {
  fs::path root = fs::temp_directory_path() / ("exo-host-" + std::to_string(getpid()));
  ~MadeUpHost() override { fs::remove_all(root); }
  void put(const std::string& file, const std::string& line) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << line << "\n";
  }
  const Condition* find(const std::string& what) {
    all = measuring_conditions(2, root);
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const Condition& c) { return c.what == what; });
    return at == all.end() ? nullptr : &*at;
  }
  std::vector<Condition> all;
};

TEST_F(MadeUpHost, without_files_nothing_is_said) {
  EXPECT_TRUE(measuring_conditions(2, root).empty());
  EXPECT_EQ(load_warning(2, root), "");
}

TEST_F(MadeUpHost, load_beyond_the_cores_is_warned_of) {
  put("proc/loadavg", "1.20 0.9 0.5 1/200 77");
  EXPECT_TRUE(find("load")->good);
  put("proc/loadavg", "3.40 0.9 0.5 1/200 77");
  EXPECT_FALSE(find("load")->good);
  EXPECT_NE(load_warning(2, root).find("3.4"), std::string::npos);
}

TEST_F(MadeUpHost, a_governor_that_changes_the_clock_is_named) {
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
  EXPECT_FALSE(find("governor")->good);
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
  EXPECT_TRUE(find("governor")->good);
}

TEST_F(MadeUpHost, a_quota_below_one_cpu_stops_what_is_measured) {
  put("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_FALSE(find("CPU quota")->good);
  put("sys/fs/cgroup/cpu.max", "150000 100000");
  EXPECT_TRUE(find("CPU quota")->good);
  put("sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_EQ(find("CPU quota"), nullptr);
}

TEST_F(MadeUpHost, the_older_cgroup_has_a_quota_too) {
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_FALSE(find("CPU quota")->good);
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(find("CPU quota"), nullptr);
}

TEST_F(MadeUpHost, a_sibling_thread_is_named) {
  put("sys/devices/system/cpu/smt/active", "1");
  EXPECT_FALSE(find("SMT")->good);
}

}  // namespace
}  // namespace exotune
