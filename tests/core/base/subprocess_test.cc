#include "core/base/subprocess.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

namespace exotune {
namespace {

namespace fs = std::filesystem;

TEST(Subprocess, gives_the_child_its_own_folder_for_temporaries) {
  EXPECT_EQ(run_command({"sh", "-c", "printf %s \"$TMPDIR\""}, {"", 60, {}, "/somewhere"}).out,
            "/somewhere");
}

TEST(Subprocess, leaves_the_folder_for_temporaries_as_ours_unless_told) {
  const char* ours = getenv("TMPDIR");
  EXPECT_EQ(run_command({"sh", "-c", "printf %s \"$TMPDIR\""}).out, ours ? ours : "");
}

TEST(Subprocess, that_is_killed_has_written_where_it_was_told) {
  std::string folder = (fs::temp_directory_path() / "exo-tune-killed-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const CommandResult run =
      run_command({"sh", "-c", "echo half > \"$TMPDIR/part\"; sleep 60"}, {"", 0.5, {}, folder});
  EXPECT_TRUE(run.timed_out);
  EXPECT_TRUE(fs::exists(folder + "/part"));
  fs::remove_all(folder);
}

TEST(Subprocess, removes_what_begins_with_a_prefix_from_the_environment) {
  setenv("EXOTUNE_TEST_WORD", "seen", 1);
  const std::vector<std::string> say = {"sh", "-c", "printf %s \"$EXOTUNE_TEST_WORD\""};
  EXPECT_EQ(run_command(say).out, "seen");
  EXPECT_EQ(run_command(say, {"", 60, {"EXOTUNE_TEST_"}, ""}).out, "");
  unsetenv("EXOTUNE_TEST_WORD");
}

}  // namespace
}  // namespace exotune
