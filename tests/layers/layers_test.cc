// The include lines and the CMake targets of every folder point downwards.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/layers/layer_rules.h"

namespace exotune {
namespace {

std::vector<SourceText> source_tree() {
  namespace fs = std::filesystem;
  const fs::path root = EXOTUNE_SOURCE_DIR;
  std::vector<SourceText> sources;
  for (const char* folder :
       {"core", "hw", "cost", "runners", "executors", "db", "search", "cli", "include"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      const bool code = path.extension() == ".h" || path.extension() == ".cc";
      if (!entry.is_regular_file() || !(code || path.filename() == "CMakeLists.txt")) continue;
      std::ifstream in(path);
      std::stringstream text;
      text << in.rdbuf();
      sources.push_back({fs::relative(path, root).string(), text.str()});
    }
  }
  return sources;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

TEST(Layers, every_include_and_target_points_downwards) {
  const std::vector<SourceText> sources = source_tree();
  ASSERT_GT(sources.size(), 10u);
  EXPECT_EQ(joined(layer_violations(sources)), "");
}

TEST(Layers, every_header_says_what_it_is) {
  std::string silent;
  for (const SourceText& source : source_tree()) {
    if (!source.path.ends_with(".h")) continue;
    std::istringstream lines(source.text);
    std::string first, second;
    std::getline(lines, first);
    std::getline(lines, second);
    if (first != "#pragma once" || second.rfind("//", 0) != 0) silent += source.path + "\n";
  }
  EXPECT_EQ(silent, "") << "a header opens with #pragma once and a comment";
}

TEST(Layers, no_two_headers_define_one_type) {
  EXPECT_EQ(joined(doubly_defined_types(source_tree())), "");
}

TEST(Layers, a_type_defined_twice_is_found) {
  const std::string one = "namespace exotune {\nstruct Problem {\n};\n}\n";
  const std::string other = "namespace exotune::interp {\nclass Problem final : Base {\n};\n}\n";
  EXPECT_EQ(doubly_defined_types({{"a.h", one}, {"b.h", one}}),
            std::vector<std::string>{"exotune::Problem: a.h and b.h"});
  EXPECT_TRUE(doubly_defined_types({{"a.h", one}, {"b.h", other}, {"c.cc", one}}).empty());
}

TEST(Layers, an_include_upwards_is_found) {
  const auto found =
      layer_violations({{"core/ir/a.h", "#pragma once\n#include \"search/beam.h\"\n"}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], "core/ir/a.h:2: core/ir -> search: points upwards");
}

TEST(Layers, an_include_of_a_sibling_is_found) {
  EXPECT_EQ(layer_violations({{"cost/a.cc", "#  include \"db/store.h\"\n"}}),
            std::vector<std::string>{"cost/a.cc:1: cost -> db: points to a sibling"});
  EXPECT_EQ(layer_violations({{"runners/a.cc", "#include \"cost/b.h\"\n"}}).size(), 1u);
  EXPECT_EQ(layer_violations({{"db/a.cc", "#include \"runners/b.h\"\n"}}).size(), 1u);
}

TEST(Layers, a_target_upwards_is_found) {
  EXPECT_EQ(layer_violations({{"db/CMakeLists.txt",
                               "exotune_library(db SOURCES a.cc\n  PUBLIC exotune::search)\n"}}),
            std::vector<std::string>{"db/CMakeLists.txt:2: db -> search: points upwards"});
}

TEST(Layers, a_cycle_in_the_middle_of_core_is_found) {
  const auto found = layer_violations({{"core/cursor/a.h", "#include \"core/frontend/b.h\"\n"},
                                       {"core/frontend/b.h", "#include \"core/cursor/a.h\"\n"}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], "cycle: through core/cursor");
}

TEST(Layers, downward_own_and_system_includes_are_fine) {
  EXPECT_TRUE(
      layer_violations({{"search/a.cc",
                         "#include <vector>\n#include \"search/a.h\"\n#include \"db/store.h\"\n"
                         "// #include \"cli/x.h\"\n#include \"core/ir/proc.h\"\n"}})
          .empty());
}

}  // namespace
}  // namespace exotune
