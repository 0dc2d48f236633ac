// The headers of core/primitives and core/library are the manual: every operator's function has an
// entry there, every primitive's says the text before and after and its obligation, and what the
// program prints of an operator is that entry.
#include "core/library/manual.h"

#include <gtest/gtest.h>

#include "core/primitives/operator_rows.h"

namespace exotune {
namespace {

const std::string& function_of(const Operator& op) {
  return op.function.empty() ? op.name : op.function;
}

TEST(Manual, each_primitive_says_before_after_and_its_obligation) {
  const std::vector<Operator> primitives = primitive_operators();
  EXPECT_GT(primitives.size(), 60u);
  for (const Operator& op : primitives) {
    const ManualEntry entry = manual_entry(function_of(op));
    EXPECT_EQ(entry.header.rfind("core/primitives/", 0), 0u) << op.name;
    EXPECT_NE(entry.text.find("->"), std::string::npos) << op.name;
    EXPECT_NE(entry.text.find("Obligation"), std::string::npos) << op.name;
    EXPECT_NE(op.doc.find("->"), std::string::npos) << op.name;
  }
}

TEST(Manual, each_operator_has_an_entry_of_a_header) {
  for (const Operator& op : library_operators())
    EXPECT_NE(manual_entry(function_of(op)).header, "") << op.name;
}

TEST(Manual, overloads_share_an_entry_and_a_gap_ends_it) {
  const auto entries = entries_of(
      "/// s  ->  t\nProcPtr f(ProcPtr p);\nProcPtr f(ProcPtr p, int k);\n\nProcPtr g(ProcPtr "
      "p);\n");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1], (std::pair<std::string, std::string>("f", "s  ->  t\n")));
}

TEST(Manual, an_operator_is_told_in_full) {
  const std::string text = description_of(*find_operator("fuse"));
  EXPECT_EQ(text.rfind(find_operator("fuse")->signature(), 0), 0u);
  EXPECT_NE(text.find("core/primitives/loops.h, fuse:"), std::string::npos) << text;
  EXPECT_NE(text.find("Obligation"), std::string::npos) << text;
  EXPECT_NE(text.find("Proposed for neighbouring loops"), std::string::npos) << text;
}

TEST(Manual, who_proposes_nothing_says_so) {
  EXPECT_NE(description_of(*find_operator("rename")).find("No search proposes it."),
            std::string::npos);
}

TEST(Manual, a_proposal_is_the_end_of_the_comment_and_not_of_second_spellings) {
  EXPECT_EQ(proposal_of(*find_operator("stage_mem")), "for a part of a sweep that must be kept.");
  EXPECT_EQ(proposal_of(*find_operator("H_store_in")), "");
  EXPECT_EQ(proposal_of(*find_operator("pin")), "with what a partial schedule keeps.");
}

}  // namespace
}  // namespace exotune
