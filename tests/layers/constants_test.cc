// What a search, a cost model or a runner decides by a number of its own is said where the number
// stands; what is a fact of a machine is text (hw/uarch) and not here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace exotune {
namespace {
namespace fs = std::filesystem;

// "LINE: text" of each constant that has no comment: beside it, above it or above the group of
// constants that it stands in.
std::vector<std::string> unexplained(std::istream& source) {
  static const std::regex constant(
      R"re(\s*(?:inline |static )*constexpr (?:int|u?int\d+_t|size_t|double|float|auto)\b[^(]*\bk[A-Z]\w* = .*)re");
  std::vector<std::string> out;
  bool explained = false, above = false;
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    const size_t comment = line.find("//");
    if (std::regex_match(line, constant)) {
      explained = explained || above || comment != std::string::npos;
      if (!explained) out.push_back(std::to_string(number) + ": " + line);
    } else {
      explained = false;
    }
    above = comment != std::string::npos && line.find_first_not_of(' ') == comment;
  }
  return out;
}

TEST(Constants, say_why_they_are_what_they_are) {
  const fs::path root = EXOTUNE_SOURCE_DIR;
  size_t files = 0;
  for (const char* folder : {"search", "cost", "runners"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".cc" && path.extension() != ".h") continue;
      if (path.parent_path().filename() == "sources") continue;  // C that peers are compiled from
      ++files;
      std::ifstream in(path);
      for (const std::string& line : unexplained(in))
        ADD_FAILURE() << path.string() << ":" << line << "\nsay why, or put it into hw/uarch";
    }
  EXPECT_GT(files, 300u);
}

TEST(Constants, that_say_nothing_are_found) {
  std::istringstream source(
      "constexpr int kBare = 3;\n"
      "\n"
      "constexpr int kBeside = 3;  // why\n"
      "constexpr double kOfTheGroup = 0.5;\n"
      "\n"
      "// why\n"
      "static constexpr int64_t kBelow = 1 << 20;\n"
      "constexpr bool is_memory(Term t) { return t >= kLines; }\n"
      "  constexpr size_t kLocal = 4;\n");
  EXPECT_EQ(unexplained(source), (std::vector<std::string>{"1: constexpr int kBare = 3;",
                                                           "9:   constexpr size_t kLocal = 4;"}));
}

}  // namespace
}  // namespace exotune
