// A folder of hw/ whose text is wrong is left out of what is chosen among, and said to be; here the
// first of them by name.
#include <gtest/gtest.h>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

namespace fs = std::filesystem;

struct BrokenTarget : ::testing::Test {
  BrokenTarget() : harness("broken") {
    const fs::path source = EXOTUNE_SOURCE_DIR, data = harness.folder() / "data";
    fs::create_directories(data);
    for (const char* part : {"hw", "kernels"})
      fs::copy(source / part, data / part, fs::copy_options::recursive);
    fs::copy(source / "search/eqsat/rules", data / "rules", fs::copy_options::recursive);
    fs::create_directories(data / "hw/a_broken");
    harness.write("data/hw/a_broken/target.toml", "title = \"half\n");
  }
  CommandResult run(const std::vector<std::string>& arguments) const {
    return harness.run(arguments, {{"EXOTUNE_DATA", (harness.folder() / "data").string()}});
  }
  CommandHarness harness;
};

TEST_F(BrokenTarget, is_left_out_once_where_targets_are_listed) {
  const CommandResult listed = run({"list", "targets"});
  EXPECT_EQ(listed.exit_status, 0) << listed.err;
  EXPECT_NE(listed.out.find("avx2"), std::string::npos);
  EXPECT_EQ(listed.out.find("a_broken"), std::string::npos);
  const std::string said = "the target a_broken is left out:";
  const size_t at = listed.err.find(said);
  ASSERT_NE(at, std::string::npos) << listed.err;
  EXPECT_EQ(listed.err.find(said, at + 1), std::string::npos);
  EXPECT_NE(listed.err.find("target.toml:1:"), std::string::npos) << listed.err;
}

TEST_F(BrokenTarget, ends_nothing_but_what_asks_for_it) {
  REQUIRE_TARGET();
  harness.write("s.sched", "p = saxpy\n");
  const CommandResult chosen = run({"schedule", "saxpy", "s.sched"});
  EXPECT_EQ(chosen.exit_status, 0) << chosen.err;
  const CommandResult named = run({"schedule", "saxpy", "s.sched", "--target", "a_broken"});
  EXPECT_EQ(named.exit_status, 2);
  EXPECT_NE(named.err.find("target.toml:1:"), std::string::npos) << named.err;
}

}  // namespace
}  // namespace exotune::cli
