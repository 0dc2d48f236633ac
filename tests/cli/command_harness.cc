#include "tests/cli/command_harness.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/sanitizers.h"

namespace exotune::cli {
namespace fs = std::filesystem;

CommandHarness::CommandHarness(const std::string& name)
    : folder_(fs::temp_directory_path() /
              ("exotune-cli-" + name + "-" + std::to_string(getpid()))) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
}

CommandHarness::~CommandHarness() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void CommandHarness::write(const std::string& file, const std::string& text) const {
  fs::create_directories((folder_ / file).parent_path());
  std::ofstream(folder_ / file, std::ios::binary) << text;
}

std::string CommandHarness::read(const std::string& file) const {
  std::ifstream in(folder_ / file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool CommandHarness::exists(const std::string& file) const { return fs::exists(folder_ / file); }

// What a program with sanitizers takes may be several times as long.
constexpr double kSlower = kAddressSanitizer ? 4 : 1;

CommandResult CommandHarness::run(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& environment,
                                  double timeout_seconds) const {
  std::vector<std::string> argv = {"env", "-u", "EXOTUNE_DATA", "HOME=" + folder_.string(),
                                   "XDG_DATA_HOME=" + (folder_ / "data").string()};
  for (const auto& [name, value] : environment) argv.push_back(name + "=" + value);
  argv.push_back(EXOTUNE_BINARY_DIR "/bin/exo-tune");
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  CommandOptions options;
  options.directory = folder_.string();
  options.timeout_seconds = timeout_seconds * kSlower;
  return run_command(argv, options);
}

CommandResult CommandHarness::run_in_time(
    const std::vector<std::string>& arguments,
    const std::function<bool(const CommandResult&)>& enough) const {
  CommandResult result;
  for (const char* budget : {"5s", "20s", "80s"}) {
    std::vector<std::string> words = arguments;
    words.insert(words.end(), {"--time-budget", budget});
    result = run(words);
    if (enough(result)) break;
  }
  return result;
}

bool a_target_runs() {
  static const bool runs = CommandHarness("target").run({"doctor", "--no-peers"}).exit_status == 0;
  return runs;
}

}  // namespace exotune::cli
