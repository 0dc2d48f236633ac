// Every command that README.md and docs/ show in a ```console block is run and must succeed: lines
// that begin with "$ exo-tune"; and README's first, "./dev tune ..." in a block of its own, as the
// verb that it runs. Searches get a small size and few trials, so that this stays quick. Every
// ```cpp block stands as it is in a program of examples/, which tests build and run.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

struct ShownCommand {
  std::string document;
  int line = 0;
  std::string text;
};

std::ostream& operator<<(std::ostream& out, const ShownCommand& shown) {
  return out << shown.document << ":" << shown.line << ": " << shown.text;
}

void collect(const fs::path& path, std::vector<ShownCommand>& into) {
  std::ifstream in(path);
  std::string line, fence;  // fence: the line that opened the block, "" outside of one
  for (int number = 1; std::getline(in, line); ++number) {
    const auto shown = [&](const std::string& block, const std::string& start,
                           const std::string& verb) {
      if (fence == block && line.rfind(start, 0) == 0)
        into.push_back({path.filename().string(), number, verb + line.substr(start.size())});
    };
    if (line.rfind("```", 0) == 0) fence = fence.empty() ? line : "";
    shown("```console", "$ exo-tune ", "");
    shown("```", "./dev tune ", "kernel ");
  }
}

std::vector<ShownCommand> shown_commands() {
  const fs::path root = EXOTUNE_SOURCE_DIR;
  std::vector<ShownCommand> all;
  collect(root / "README.md", all);
  std::vector<fs::path> chapters;
  for (const auto& entry : fs::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") chapters.push_back(entry.path());
  std::sort(chapters.begin(), chapters.end());
  for (const fs::path& chapter : chapters) collect(chapter, all);
  return all;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ') {
      if (!word.empty() || open) words.push_back(word);
      word.clear();
      open = false;
    } else {
      word += c;
    }
  }
  if (!word.empty() || open) words.push_back(word);
  return words;
}

// Searches take seconds; a later command asks for the winner, so something has to be measured.
CommandResult run_shown(const CommandHarness& harness, std::vector<std::string> words) {
  if (words.front() != "kernel" && words.front() != "complete") return harness.run(words);
  words.insert(words.end(), {"--trials", "2", "--beam", "2", "--reps", "5", "--no-peers"});
  return harness.run_in_time(words, [](const CommandResult& result) {
    return result.out.find("before anything was measured") == std::string::npos;
  });
}

TEST(Documents, show_commands_that_work) {
  const CommandHarness harness("documents");
  for (const char* folder : {"docs", "kernels"})
    fs::create_directory_symlink(fs::path(EXOTUNE_SOURCE_DIR) / folder, harness.folder() / folder);
  const std::vector<ShownCommand> all = shown_commands();
  ASSERT_GE(all.size(), 5u);
  for (const ShownCommand& shown : all) {
    const CommandResult result = run_shown(harness, words_of(shown.text));
    EXPECT_EQ(result.exit_status, 0) << shown << "\n" << result.err;
    EXPECT_NE(result.out, "") << shown;
  }
}

TEST(Documents, link_to_files_that_exist) {
  const fs::path root = EXOTUNE_SOURCE_DIR;
  std::ifstream in(root / "README.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  int links = 0;
  for (size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
    const std::string link = text.substr(at + 2, text.find(')', at) - at - 2);
    if (link.rfind("http", 0) == 0) continue;
    ++links;
    EXPECT_TRUE(fs::exists(root / link)) << link;
  }
  EXPECT_GT(links, 3);
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Documents, cpp_blocks_are_parts_of_the_examples) {
  const fs::path root = EXOTUNE_SOURCE_DIR;
  std::string programs;
  for (const auto& entry : fs::directory_iterator(root / "examples"))
    if (entry.path().extension() == ".cc") programs += text_of(entry.path());
  int blocks = 0;
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = text_of(entry.path()), open = "```cpp\n";
    for (size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
      at += open.size();
      const std::string block = text.substr(at, text.find("```", at) - at);
      EXPECT_NE(programs.find(block), std::string::npos) << entry.path().filename() << ":\n"
                                                         << block;
      ++blocks;
    }
  }
  EXPECT_GT(blocks, 0);
}

// What the script evaluator, dot_block and tile_block keep to themselves; every other header of the
// library is a user's.
const std::set<std::string> kInternal = {"cursor_methods.h", "dot_operands.h",    "dot_shift.h",
                                         "operator_rows.h",  "operator_values.h", "script_parts.h"};

TEST(Documents, the_umbrella_header_has_all_of_the_library) {
  const fs::path root = EXOTUNE_SOURCE_DIR;
  const std::string umbrella =
      text_of(root / "include/exotune/exotune.h") + text_of(root / "core/library/library.h");
  for (const auto& entry : fs::directory_iterator(root / "core/library")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".h" || kInternal.count(name) > 0) continue;
    EXPECT_NE(umbrella.find("\"core/library/" + name + "\""), std::string::npos) << name;
  }
  // And what the chapter about C++ names.
  const std::string chapter = text_of(root / "docs/schedules-in-cpp.md");
  for (const char* named : {"core/primitives/primitives.h", "core/cursor/cursor.h",
                            "core/codegen/codegen.h", "core/interp/interp.h", "search/tuner.h"}) {
    EXPECT_NE(chapter.find(named), std::string::npos) << named;
    EXPECT_NE(umbrella.find(named), std::string::npos) << named;
  }
}

}  // namespace
}  // namespace exotune::cli
