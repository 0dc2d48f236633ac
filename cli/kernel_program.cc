// The program `exo-tune-kernel`: `exo-tune kernel` for this machine, and what is built first. See
// program.h. Its words are those after the verb.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/command_line.h"
#include "cli/program.h"
#include "cli/verbs.h"

namespace exotune::cli {
namespace {

void become(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
}

// ./dev knows how to build the rest; elsewhere the whole command lies beside this program, or is
// named as what is missing.
int hand_over(std::vector<std::string> words, const std::string& what) {
  const char* const dev = std::getenv("EXOTUNE_DEV");
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (dev != nullptr) {
    std::fprintf(stderr, "note: this needs %s, a part of the whole command\n", what.c_str());
    words.insert(words.begin(), {dev, "run"});
  } else {
    words.insert(words.begin(), (self.parent_path() / "exo-tune").string());
  }
  become(words);
  std::fprintf(stderr,
               "error: this needs %s, a part of the whole command, and %s cannot be started\n"
               "hint: ./dev build release exo-tune\n",
               what.c_str(), words.front().c_str());
  return static_cast<int>(ExitCode::kUnavailable);
}

int kernel_program(std::vector<std::string> words) {
  words.insert(words.begin(), "kernel");
  const Program program{
      {{"kernel", "tune: search, verify and measure; writes the winner", add_kernel_verb}}, {}};
  try {
    return run(program, words);
  } catch (const NeedsWholeCommand& needs) {
    return hand_over(words, needs.what);
  }
}

}  // namespace
}  // namespace exotune::cli

int main(int argc, char** argv) {
  setenv("HWLOC_HIDE_ERRORS", "2", 0);  // see main.cc
  return exotune::cli::kernel_program(std::vector<std::string>(argv + 1, argv + argc));
}
