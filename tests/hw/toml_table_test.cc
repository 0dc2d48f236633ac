#include "hw/toml_table.h"

#include <gtest/gtest.h>

namespace exotune {
namespace {

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.diagnostic().str();
  }
  return "accepted";
}

TEST(TomlTable, reads_each_type) {
  const TomlTable t = TomlTable::parse(
      "a = 'x'\nb = 3\nc = 2.5\nd = true\ne = ['u', 'v']\n[f]\ng = 1\n[[h]]\ni = 1\n[[h]]\ni = 2\n",
      "t.toml");
  EXPECT_EQ(t.text("a"), "x");
  EXPECT_EQ(t.integer("b"), 3);
  EXPECT_EQ(t.number("b"), 3.0);
  EXPECT_EQ(t.number("c"), 2.5);
  EXPECT_TRUE(t.boolean("d"));
  EXPECT_EQ(t.texts("e"), (std::vector<std::string>{"u", "v"}));
  EXPECT_EQ(t.table("f").integer("g"), 1);
  ASSERT_EQ(t.tables("h").size(), 2u);
  EXPECT_EQ(t.tables("h")[1].integer("i"), 2);
  EXPECT_EQ(t.scalar("c") + t.scalar("d") + t.scalar("a"), "2.5truex");
}

TEST(TomlTable, absent_keys_take_the_default) {
  const TomlTable t = TomlTable::parse("", "t.toml");
  EXPECT_EQ(t.text_or("a", "z"), "z");
  EXPECT_EQ(t.integer_or("a", 4), 4);
  EXPECT_FALSE(t.boolean_or("a", false));
  EXPECT_TRUE(t.texts("a").empty());
  EXPECT_TRUE(t.tables("a").empty());
}

TEST(TomlTable, a_wrong_type_is_refused_where_the_value_stands) {
  const TomlTable t = TomlTable::parse("\nlanes = 'many'\n", "t.toml");
  const std::string said = refusal([&] { t.integer_or("lanes", 1); });
  EXPECT_EQ(said.rfind("t.toml:2:9: error: 'lanes' must be an integer", 0), 0u) << said;
}

TEST(TomlTable, a_missing_key_is_refused_at_its_table) {
  const TomlTable t = TomlTable::parse("x = 1\n\n[runner]\na = 1\n", "t.toml");
  const std::string said = refusal([&] { t.table("runner").text("kind"); });
  EXPECT_EQ(said.rfind("t.toml:3:1: error: missing key 'kind'", 0), 0u) << said;
}

TEST(TomlTable, an_unknown_key_names_the_nearest) {
  const TomlTable t = TomlTable::parse("x = 1\npredicaton = true\n", "t.toml");
  const std::string said = refusal([&] { t.allow_only({"x", "predication", "width_bits"}); });
  EXPECT_EQ(said.rfind("t.toml:2:1: error: unknown key 'predicaton'", 0), 0u) << said;
  EXPECT_NE(said.find("did you mean 'predication'?"), std::string::npos) << said;
}

TEST(TomlTable, a_syntax_error_says_where) {
  const std::string said = refusal([] { TomlTable::parse("a = 1\nb = [1, \n", "t.toml"); });
  EXPECT_EQ(said.rfind("t.toml:", 0), 0u) << said;
  EXPECT_EQ(said.find("t.toml:1:"), std::string::npos) << said;
}

TEST(TomlTable, a_file_that_is_not_there_is_refused) {
  EXPECT_NE(
      refusal([] { TomlTable::read("/nowhere/x.toml"); }).find("cannot read '/nowhere/x.toml'"),
      std::string::npos);
}

}  // namespace
}  // namespace exotune
