#include "cli/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/diagnostic.h"

namespace exotune::cli {
namespace {

Table example() {
  Table table({"name", "GFLOP/s"}, {"GFLOP/s"});
  table.add({"sgemm", "221.4"});
  table.add({"a \"b\", c", "7"});
  return table;
}

TEST(Table, aligns_text_left_and_numbers_right) {
  EXPECT_EQ(example().str(Format::kTable),
            "name      GFLOP/s\n"
            "--------  -------\n"
            "sgemm       221.4\n"
            "a \"b\", c        7\n");
}

TEST(Table, csv_quotes_what_needs_it) {
  EXPECT_EQ(example().str(Format::kCsv), "name,GFLOP/s\nsgemm,221.4\n\"a \"\"b\"\", c\",7\n");
}

TEST(Table, json_keeps_numbers_as_numbers_and_columns_in_order) {
  EXPECT_EQ(example().str(Format::kJson),
            "[\n  {\n    \"name\": \"sgemm\",\n    \"GFLOP/s\": 221.4\n  },\n"
            "  {\n    \"name\": \"a \\\"b\\\", c\",\n    \"GFLOP/s\": 7\n  }\n]\n");
}

TEST(Table, json_keeps_text_as_text_whatever_it_looks_like) {
  Table table({"candidate", "us"}, {"us"});
  table.add({"519663362695", "3"});
  table.add({"12e345678901", ""});
  EXPECT_EQ(table.str(Format::kJson),
            "[\n  {\n    \"candidate\": \"519663362695\",\n    \"us\": 3\n  },\n"
            "  {\n    \"candidate\": \"12e345678901\",\n    \"us\": null\n  }\n]\n");
}

TEST(Table, without_rows_is_a_head_or_an_empty_array) {
  EXPECT_EQ(Table({"a"}).str(Format::kTable), "a\n-\n");
  EXPECT_EQ(Table({"a"}).str(Format::kJson), "[]\n");
}

TEST(Table, an_unknown_format_names_the_nearest) {
  try {
    parse_format("jsno");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'json'"), std::string::npos);
  }
}

TEST(Table, numbers_have_three_digits) {
  EXPECT_EQ(number(221.44), "221");
  EXPECT_EQ(number(0.01234), "0.0123");
  EXPECT_EQ(number(3.14159e-7), "3.14e-07");
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(NAN), "");
}

}  // namespace
}  // namespace exotune::cli
