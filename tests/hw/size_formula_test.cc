#include "hw/size_formula.h"

#include <gtest/gtest.h>

namespace exotune {
namespace {

TEST(SizeFormula, follows_precedence_and_parentheses) {
  EXPECT_EQ(SizeFormula("2*M*N*K + M").evaluate({{"M", 3}, {"N", 5}, {"K", 7}}), 2 * 3 * 5 * 7 + 3);
  EXPECT_EQ(SizeFormula("4*(M*K - 2) - 1 - 1").evaluate({{"M", 3}, {"K", 2}}), 14);
}

TEST(SizeFormula, does_not_overflow_at_large_sizes) {
  EXPECT_EQ(SizeFormula("n*n*n").evaluate({{"n", 1 << 24}}), 4722366482869645213696.0);
}

TEST(SizeFormula, lists_its_names_once) {
  EXPECT_EQ(SizeFormula("N*M + N*2").names(), (std::vector<std::string>{"M", "N"}));
}

TEST(SizeFormula, a_name_without_a_value_is_refused) {
  EXPECT_THROW(SizeFormula("M*N").evaluate({{"M", 1}}), InputError);
}

TEST(SizeFormula, text_that_is_no_formula_is_refused_at_the_column) {
  const auto file = std::make_shared<const std::string>("t.toml");
  for (const char* text : {"", "2*", "M N", "(M", "M)", "M/", "2^M"}) {
    try {
      SizeFormula(text, {file, 3, 10});
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(e.diagnostic().where.line, 3);
      EXPECT_GE(e.diagnostic().where.column, 11) << text;
    }
  }
}

}  // namespace
}  // namespace exotune
