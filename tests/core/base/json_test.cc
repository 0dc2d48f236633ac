#include "core/base/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace exotune {
namespace {

TEST(Json, keeps_fields_in_the_order_written) {
  Json json = {{"b", 1}, {"a", "x"}};
  json["c"].add(true);
  json["b"] = 2.5;
  EXPECT_EQ(json.str(), R"({"b":2.5,"a":"x","c":[true]})");
}

TEST(Json, is_made_of_lists_and_maps) {
  const Json json = {{"n", std::map<std::string, int64_t>{{"K", 3}, {"M", 2}}},
                     {"v", std::vector<std::vector<std::string>>{{"p", "q"}, {}}},
                     {"empty", Json::object()},
                     {"null", Json()}};
  EXPECT_EQ(json.str(), R"({"n":{"K":3,"M":2},"v":[["p","q"],[]],"empty":{},"null":null})");
}

TEST(Json, is_read_as_written) {
  const Json json = {{"list", std::vector<double>{0.1, -3, 1e300}},
                     {"deep", {{"text", "a\"b\n\t\xC3\xA4"}, {"none", Json()}}},
                     {"least", INT64_MIN}};
  for (const int indent : {-1, 2}) EXPECT_EQ(Json::parse(json.str(indent)), json);
}

TEST(Json, refuses_what_is_none) {
  for (const char* text : {"", "{", "{\"a\" 1}", "[1,]", "nul", "1 2", "\"\xFF\"", "01"})
    EXPECT_FALSE(Json::parse(text)) << text;
}

TEST(Json, refuses_what_is_nested_deeper_than_a_stack) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(Json::parse(nested(100)));
  EXPECT_FALSE(Json::parse(nested(101)));
  EXPECT_FALSE(Json::parse(nested(1'000'000)));
}

TEST(Json, numbers_are_integers_as_long_as_they_fit) {
  EXPECT_EQ(*Json::parse("9223372036854775807")->integer(), INT64_MAX);
  EXPECT_EQ(Json::parse("9223372036854775808")->integer(), nullptr);
  EXPECT_EQ(Json::parse("9223372036854775808")->number(), 0x1p63);
  EXPECT_EQ(Json::parse("1.0")->integer(), nullptr);
  EXPECT_EQ(Json::parse("7")->number(), 7.0);
}

TEST(Json, the_last_of_two_values_of_a_name_counts) {
  EXPECT_EQ(*Json::parse(R"({"a":1,"b":2,"a":3})"), (Json{{"a", 3}, {"b", 2}}));
}

TEST(Json, writes_what_any_reader_reads) {
  EXPECT_EQ(Json("\xFF").str(), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(Json(INFINITY).str(), "null");
}

TEST(Json, asking_for_another_type_gives_nothing) {
  const Json json = {{"a", 1}};
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_EQ(json.find("a")->text(), nullptr);
  EXPECT_EQ(json.find("a")->find("a"), nullptr);
  EXPECT_EQ(json.find("a")->flag(), nullptr);
  EXPECT_FALSE(Json("1").number());
}

}  // namespace
}  // namespace exotune
