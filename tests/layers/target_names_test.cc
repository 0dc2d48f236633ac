// A target is a folder of text: no code knows one by name, nor the instruction set or the core that
// it stands for. Comments may, and so may simulators, each of which is a machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace exotune {
namespace {
namespace fs = std::filesystem;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return text;
}

// The folders of hw/, the cores of hw/uarch, and what compilers call the instructions.
std::set<std::string> names_of_machines() {
  const fs::path hw = fs::path(EXOTUNE_SOURCE_DIR) / "hw";
  std::set<std::string> names = {"avx",    "-mavx",  "amx",        "_mm256",  "_mm512",
                                 "__m256", "__m512", "-march=sky", "haswell", "vld1q"};
  for (const auto& entry : fs::directory_iterator(hw))
    if (fs::exists(entry.path() / "target.toml")) names.insert(entry.path().filename().string());
  for (const auto& entry : fs::directory_iterator(hw / "uarch"))
    if (entry.path().stem() != "default") names.insert(entry.path().stem().string());
  return names;
}

// The names that start a word of the line's code, with its comment left out.
std::vector<std::string> named(const std::string& line, const std::set<std::string>& names) {
  const std::string code = lower(line.substr(0, line.find("//")));
  std::vector<std::string> found;
  for (const std::string& name : names)
    for (size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1))
      if (at == 0 || !isalnum(static_cast<unsigned char>(code[at - 1]))) {
        found.push_back(name);
        break;
      }
  return found;
}

// C that others' libraries are compiled from, and the simulators of one machine each.
bool is_exempt(const std::string& path) {
  for (const char* folder : {"/sources/", "/rivals/", "runners/sim/", "runners/spike/"})
    if (path.find(folder) != std::string::npos) return true;
  return false;
}

TEST(TargetNames, are_in_no_code) {
  const fs::path root = EXOTUNE_SOURCE_DIR;
  const std::set<std::string> names = names_of_machines();
  EXPECT_GE(names.size(), 15u);
  size_t files = 0;
  for (const char* folder : {"core", "hw", "cost", "runners", "db", "executors", "search", "cli"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = entry.path().string();
      if (!(path.ends_with(".cc") || path.ends_with(".h")) || is_exempt(path)) continue;
      ++files;
      std::ifstream in(path);
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        for (const std::string& name : named(line, names))
          ADD_FAILURE() << path << ":" << number << ": names '" << name
                        << "'; what it knows of it belongs to hw/" << name << "/target.toml";
      }
    }
  EXPECT_GT(files, 600u);
}

TEST(TargetNames, are_found_in_code_and_not_in_comments) {
  const std::set<std::string> names = names_of_machines();
  EXPECT_EQ(named("  if (isa == \"avx512\") return 64;", {"avx512"}).size(), 1u);
  EXPECT_FALSE(named("  flags = {\"-mavx2\"}; x = _mm256_add_ps(x, y);", names).empty());
  EXPECT_TRUE(named("  int width;  // 64 on AVX-512", names).empty());
  EXPECT_TRUE(named("  save(x);", names).empty());
}

}  // namespace
}  // namespace exotune
