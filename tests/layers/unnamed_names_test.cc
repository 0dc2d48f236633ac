// The release build compiles the files of a library together (EXOTUNE_UNITY): a name in a namespace
// without a name then stands for one thing in all of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace exotune {
namespace {
namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The names that a file defines in its unnamed namespaces, by the first line of each definition. Of
// functions too the name alone: an overload in another file is a candidate for every call, and an
// argument that converts takes it without a word.
std::vector<std::string> unnamed_definitions(const std::string& source) {
  static const std::regex type(R"re(^(?:struct|class|enum class|union) (\w+).*\{)re");
  static const std::regex constant(R"re(^(?:static )?const(?:expr)?\b[^(]*?(k[A-Z]\w*)\b.*=.*)re");
  static const std::regex function(R"re(^[A-Za-z][\w:<>,&* ]*[ &*](\w+)\(.*)re");
  std::vector<std::string> names;
  std::istringstream lines(source);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "namespace {") inside = true;
    if (line == "}  // namespace") inside = false;
    std::smatch m;
    if (inside && (std::regex_match(line, m, type) || std::regex_match(line, m, constant) ||
                   std::regex_match(line, m, function)))
      names.push_back(m[1]);
  }
  return names;
}

// The files of each library that a CMakeLists.txt declares.
std::vector<std::vector<fs::path>> libraries_of(const fs::path& cmake) {
  static const std::regex library(R"re((?:exotune|add)_library\(\s*\w+([^)]*)\))re");
  static const std::regex file(R"re([\w./]+\.cc)re");
  std::vector<std::vector<fs::path>> libraries;
  const std::string text = text_of(cmake);
  for (std::sregex_iterator it(text.begin(), text.end(), library), end; it != end; ++it) {
    libraries.emplace_back();
    const std::string words = (*it)[1];
    for (std::sregex_iterator f(words.begin(), words.end(), file); f != end; ++f)
      if (fs::exists(cmake.parent_path() / f->str()))
        libraries.back().push_back(cmake.parent_path() / f->str());
  }
  return libraries;
}

TEST(UnnamedNames, are_of_one_thing_in_a_library) {
  const fs::path root = EXOTUNE_SOURCE_DIR;
  size_t files = 0;
  for (const char* folder : {"core", "hw", "cost", "runners", "db", "executors", "search", "cli"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().filename() != "CMakeLists.txt") continue;
      for (const std::vector<fs::path>& library : libraries_of(entry.path())) {
        std::map<std::string, fs::path> known;
        for (const fs::path& file : library) {
          ++files;
          for (const std::string& name : unnamed_definitions(text_of(file))) {
            const auto [it, fresh] = known.emplace(name, file);
            EXPECT_TRUE(fresh || it->second == file)
                << name << " is defined in " << it->second.string() << " and in " << file.string()
                << ": share it, or name it after what it is there";
          }
        }
      }
    }
  EXPECT_GT(files, 300u);
}

TEST(UnnamedNames, are_found) {
  EXPECT_EQ(unnamed_definitions("namespace {\nstruct Range {\n};\nconstexpr int kMost = 3;\n"
                                "Path down(Path path, int levels) {\n}\n}  // namespace\n"
                                "Path up(Path path) {\n"),
            (std::vector<std::string>{"Range", "kMost", "down"}));
}

}  // namespace
}  // namespace exotune
