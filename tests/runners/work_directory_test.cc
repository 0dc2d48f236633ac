#include "runners/work_directory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace exotune {
namespace {

namespace fs = std::filesystem;

size_t folders_in(const std::string& parent) {
  size_t n = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(parent)) ++n;
  return n;
}

// Another process that makes a folder in `parent` and is killed, or waits to be.
pid_t process_with_folder(const std::string& parent) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const WorkDirectory mine(parent);
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(WorkDirectory, removes_what_a_killed_process_left) {
  const WorkDirectory parent;
  end(process_with_folder(parent.path()));
  EXPECT_EQ(folders_in(parent.path()), 2u);  // its own lock, and what was left
  const WorkDirectory later(parent.path());
  EXPECT_EQ(folders_in(parent.path()), 2u);
  EXPECT_TRUE(fs::exists(later.path()));
}

TEST(WorkDirectory, leaves_what_a_living_process_has) {
  const WorkDirectory parent;
  const pid_t other = process_with_folder(parent.path());
  { const WorkDirectory later(parent.path()); }
  EXPECT_EQ(folders_in(parent.path()), 2u);
  end(other);
}

}  // namespace
}  // namespace exotune
