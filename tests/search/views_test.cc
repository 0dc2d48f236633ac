// Which views of a kernel are searched from, and that a finished schedule takes part like others.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/frontend/parser.h"
#include "search/view_need.h"
#include "search/views/view_tuning.h"

namespace exotune {
namespace {

std::vector<eqsat::RuleText> rules() {
  std::vector<eqsat::RuleText> all;
  for (const char* set : {"canonical", "layout", "columns"}) {
    std::ifstream in(EXOTUNE_SOURCE_DIR "/search/eqsat/rules/" + std::string(set) + ".rules");
    std::stringstream text;
    text << in.rdbuf();
    all.push_back({set, text.str()});
  }
  return all;
}

TuneRequest request(const std::string& text, Strategy strategy) {
  TuneRequest r;
  r.proc = parse_module(text, "test.exo").procs.front();
  r.target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  r.kernel.precision = ScalarType::kF32;
  r.strategy = strategy;
  return r;
}

const char* const kShortRows =
    "@proc\n"
    "def conv(image: f32[64, 9, 9], weights: f32[64, 64, 3, 3], out: f32[64, 7, 7]):\n"
    "    for o in seq(0, 64):\n"
    "        for y in seq(0, 7):\n"
    "            for x in seq(0, 7):\n"
    "                for c in seq(0, 64):\n"
    "                    for r in seq(0, 3):\n"
    "                        for s in seq(0, 3):\n"
    "                            out[o, y, x] += weights[o, c, r, s] * image[c, y + r, x + s]\n";

const char* const kProduct =
    "@proc\n"
    "def product(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):\n"
    "    for i in seq(0, 64):\n"
    "        for j in seq(0, 64):\n"
    "            for k in seq(0, 64):\n"
    "                C[i, j] += A[i, k] * B[k, j]\n";

TEST(Views, rows_that_fill_no_vector_are_taken_together_first) {
  const auto views = views_to_try(request(kShortRows, Strategy::kAll), rules(), 3);
  ASSERT_FALSE(views.empty());
  EXPECT_EQ(views.front().view.text,
            "image_view[c, r, s, y, x] = image[c, y + r, x + s], one loop: y x");
}

// Strided rows are no vectors as they lie; whichever way the program writes the product.
TEST(Views, rows_that_are_read_in_steps_promise_much) {
  const auto views = views_to_try(
      request("@proc\n"
              "def conv(image: f32[64, 57, 57], weights: f32[64, 64, 3, 3],\n"
              "         out: f32[64, 28, 28]):\n"
              "    for o in seq(0, 64):\n"
              "        for y in seq(0, 28):\n"
              "            for x in seq(0, 28):\n"
              "                for c in seq(0, 64):\n"
              "                    for r in seq(0, 3):\n"
              "                        for s in seq(0, 3):\n"
              "                            out[o, y, x] += image[c, 2 * y + r, 2 * x + s]"
              " * weights[o, c, r, s]\n",
              Strategy::kAll),
      rules(), 3);
  ASSERT_FALSE(views.empty());
  EXPECT_EQ(views.front().view.text,
            "image_view[c, r, s, y, x] = image[c, 2 * y + r, 2 * x + s], one loop: y x");
  EXPECT_GT(views.front().gain, 8);
}

TEST(Views, a_product_whose_columns_lie_side_by_side_needs_none) {
  EXPECT_TRUE(views_to_try(request(kProduct, Strategy::kAll), rules(), 3).empty());
  EXPECT_EQ(views_to_try(request(kProduct, Strategy::kEqsat), rules(), 3).size(), 1u);
}

// Told without an e-graph, so that a program without one can tell; and never where one finds views.
TEST(Views, may_help_unless_one_product_fills_its_vectors) {
  const auto may_help = [](std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; !from.empty() && (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
    return views_may_help(request(text, Strategy::kAll));
  };
  EXPECT_FALSE(may_help(kProduct, "", ""));
  EXPECT_TRUE(may_help(kProduct, "64", "63"));
  EXPECT_TRUE(may_help(kProduct, "B[k, j]", "B[j, k]"));
  EXPECT_TRUE(may_help(kProduct, "C[i, j]", "C[j, i]"));
  EXPECT_TRUE(may_help(kProduct, "A[i, k] *", "A[i, k] * A[i, k] *"));  // factors may be taken out
  EXPECT_TRUE(may_help(kProduct, "A[i, k] *", "A[i, k] +"));
  EXPECT_TRUE(may_help(kShortRows, "", ""));
  EXPECT_TRUE(views_may_help(request(kProduct, Strategy::kEqsat)));
}

TEST(Views, are_for_the_strategies_that_ask) {
  EXPECT_TRUE(views_to_try(request(kShortRows, Strategy::kBeam), rules(), 3).empty());
  EXPECT_TRUE(views_to_try(request(kShortRows, Strategy::kDp), rules(), 3).empty());
  EXPECT_EQ(views_to_try(request(kShortRows, Strategy::kEqsat), rules(), 2).size(), 2u);
}

}  // namespace
}  // namespace exotune
