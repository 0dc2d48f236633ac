// core/primitives/*.h is the manual of the primitives: every one of them is there, with the text
// before and after and its obligation, and every row of the operator table says the same briefly.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/library/operators.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

// The comment above the first declaration of each primitive, by name.
std::map<std::string, std::string> entries() {
  std::map<std::string, std::string> out;
  for (const char* family :
       {"loops", "statements", "conditions", "buffers", "factor", "procedures", "state"}) {
    std::ifstream in(fs::path(EXOTUNE_SOURCE_DIR) / "core/primitives" /
                     (family + std::string(".h")));
    std::string comment;
    for (std::string line; std::getline(in, line);) {
      const size_t type = line.find("[[nodiscard]] ");
      if (line.rfind("///", 0) == 0) {
        comment += line + "\n";
      } else if (type == 0) {
        const size_t open = line.find('('), start = line.rfind(' ', open) + 1;
        out.emplace(line.substr(start, open - start), comment);
        comment.clear();
      } else if (line.empty()) {
        comment.clear();
      }
    }
  }
  return out;
}

TEST(Manual, each_primitive_says_before_after_and_its_obligation) {
  const auto all = entries();
  EXPECT_GT(all.size(), 60u);
  for (const auto& [name, comment] : all) {
    if (name == "try_replace") continue;  // replace, in another form
    EXPECT_NE(comment.find("->"), std::string::npos) << name;
    EXPECT_NE(comment.find("Obligation"), std::string::npos) << name;
  }
}

TEST(Manual, each_row_is_a_primitive_of_the_manual) {
  const std::map<std::string, std::string> called = {{"rename", "rename_proc"},
                                                     {"inline", "inline_call"}};
  const auto all = entries();
  for (const Operator& op : primitive_operators()) {
    const auto other = called.find(op.name);
    EXPECT_EQ(all.count(other == called.end() ? op.name : other->second), 1u) << op.name;
    EXPECT_NE(op.doc.find("->"), std::string::npos) << op.name;
  }
}

}  // namespace
}  // namespace exotune
