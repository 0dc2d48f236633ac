// Operators say where a search proposes them (proposal_of in core/library/manual.h): exactly those
// that the sources of search/ name.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "core/library/manual.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

// The words in quotes in the sources below search/ that are names of operators.
std::set<std::string> named_by_the_search() {
  static const std::regex quoted("\"(\\w+)\"");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(EXOTUNE_SOURCE_DIR "/search")) {
    if (entry.path().extension() != ".cc") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator it(source.begin(), source.end(), quoted), end; it != end; ++it)
      if (find_operator((*it)[1])) names.insert((*it)[1]);
  }
  return names;
}

TEST(ProposedOperators, are_those_that_the_search_names) {
  // The hole itself, the name of a BLAS routine, and an axis rule of the e-graph.
  const std::set<std::string> other_words = {"search", "gemm", "transpose"};
  std::set<std::string> named = named_by_the_search(), told;
  for (const std::string& word : other_words) named.erase(word);
  for (const Operator& op : operator_table())
    if (!proposal_of(op).empty()) told.insert(op.name);
  std::set<std::string> silent, idle;
  std::set_difference(named.begin(), named.end(), told.begin(), told.end(),
                      std::inserter(silent, silent.end()));
  std::set_difference(told.begin(), told.end(), named.begin(), named.end(),
                      std::inserter(idle, idle.end()));
  EXPECT_EQ(silent, std::set<std::string>{})
      << "named in search/, no \"Proposed ...\" in their comments";
  EXPECT_EQ(idle, std::set<std::string>{}) << "said to be proposed, not named in search/";
}

}  // namespace
}  // namespace exotune
