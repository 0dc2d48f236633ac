// Which views of a kernel are searched from, and that a finished schedule takes part like others.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "search/view_need.h"
#include "search/views/view_cost.h"
#include "search/views/view_tuning.h"

namespace exotune {
namespace {

std::vector<eqsat::RuleText> rules_of(const std::vector<std::string>& sets) {
  std::vector<eqsat::RuleText> all;
  for (const std::string& set : sets) {
    std::ifstream in(EXOTUNE_SOURCE_DIR "/search/eqsat/rules/" + set + ".rules");
    std::stringstream text;
    text << in.rdbuf();
    all.push_back({set, text.str()});
  }
  return all;
}

ViewRules rules() {
  return {.views = rules_of({"canonical", "layout", "columns"}),
          .tiles = rules_of({"canonical", "layout", "columns", "items"}),
          .blocks = rules_of({"canonical", "padding", "blocking"}),
          .reductions = rules_of({"canonical", "pooling"})};
}

TuneRequest request(const std::string& text, Strategy strategy,
                    const std::string& target = "avx512") {
  TuneRequest r;
  r.proc = parse_module(text, "test.exo").procs.front();
  r.target = load_target(target, {EXOTUNE_SOURCE_DIR "/hw"});
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
  // Where all was asked for, its loops in blocks of a vector come after the one view.
  const auto all = views_to_try(request(kProduct, Strategy::kEqsat), rules(), 3);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].view.proof, eqsat::CandidateProof::kReplay);
  EXPECT_EQ(all[1].view.proof, eqsat::CandidateProof::kBijection);
  EXPECT_EQ(all[1].view.text, "i = 16 * i0 + i1");
  ViewRules none = rules();
  none.blocks.clear();
  EXPECT_EQ(views_to_try(request(kProduct, Strategy::kEqsat), none, 3).size(), 1u);
}

// Each element of A meets a vector of B's columns: it may lie anywhere.
TEST(Views, of_two_transposed_factors_one_is_copied) {
  const std::string both =
      "@proc\n"
      "def product(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):\n"
      "    for i in seq(0, 64):\n"
      "        for j in seq(0, 64):\n"
      "            for k in seq(0, 64):\n"
      "                C[i, j] += A[k, i] * B[j, k]\n";
  // The search turns B while it packs it.
  EXPECT_TRUE(views_to_try(request(both, Strategy::kAll), rules(), 3).empty());
  const auto views = views_to_try(request(both, Strategy::kEqsat), rules(), 3);
  EXPECT_EQ(views.size(), 3u);
  // Where rows leave a part of a vector empty, that is no reason to copy either.
  std::string odd = both;
  for (size_t at = 0; (at = odd.find("64", at)) != std::string::npos;) odd.replace(at, 2, "63");
  EXPECT_TRUE(views_to_try(request(odd, Strategy::kAll), rules(), 3).empty());
}

// A sum or a maximum is one however it is spelled.
TEST(Views, reductions_may_be_spelled_as_assignments) {
  const auto pool = [](const std::string& update) {
    return views_to_try(request("@proc\n"
                                "def pool(a: f32[8, 36, 36], out: f32[8, 32, 32]):\n"
                                "    for c in seq(0, 8):\n"
                                "        for y in seq(0, 32):\n"
                                "            for x in seq(0, 32):\n"
                                "                out[c, y, x] = a[c, y, x]\n"
                                "                for r in seq(0, 5):\n"
                                "                    for s in seq(0, 5):\n"
                                "                        out[c, y, x] " +
                                    update + "\n",
                                Strategy::kAll),
                        rules(), 3);
  };
  const auto usual = pool("max= a[c, y + r, x + s]");
  ASSERT_FALSE(usual.empty());
  for (const char* update :
       {"= fmax(out[c, y, x], a[c, y + r, x + s])", "= fmax(a[c, y + r, x + s], out[c, y, x])"}) {
    const auto views = pool(update);
    ASSERT_EQ(views.size(), usual.size()) << update;
    for (size_t k = 0; k < views.size(); ++k)
      EXPECT_EQ(views[k].view.text, usual[k].view.text) << update;
  }
  EXPECT_EQ(pool("min= a[c, y + r, x + s]").size(),
            pool("= fmin(out[c, y, x], a[c, y + r, x + s])").size());
  EXPECT_TRUE(pool("= fmax(a[c, y, x], a[c, y + r, x + s])").empty()) << "no reduction";
  // Each of these fills its vectors as it is.
  std::string product = kProduct;
  product.replace(product.find("+= A"), 3, "= C[i, j] +");
  EXPECT_TRUE(views_to_try(request(product, Strategy::kAll), rules(), 3).empty());
}

// Where a sum begins keeps it from its outer loop: apart, what is summed ahead is a product of
// matrices.
TEST(Views, sums_that_begin_in_their_loops_are_taken_apart) {
  const auto views = views_to_try(request("@proc\n"
                                          "def forms(x: f32[64, 48], A: f32[48, 48], q: f32[64]):\n"
                                          "    for b in seq(0, 64):\n"
                                          "        q[b] = 0.0\n"
                                          "        for i in seq(0, 48):\n"
                                          "            for j in seq(0, 48):\n"
                                          "                q[b] += x[b, i] * A[i, j] * x[b, j]\n",
                                          Strategy::kAll),
                                  rules(), 3);
  ASSERT_FALSE(views.empty());
  for (const ViewToTry& v : views) {
    const std::string program = str(*v.view.proc);
    EXPECT_TRUE(program.find("A_x : f32[64, 48]") != std::string::npos ||
                program.find("x_A : f32[64, 48]") != std::string::npos)
        << program;
  }
}

// Means of 5 x 5 one direction after the other; windows that share nothing are left as they are.
TEST(Views, pooling_in_two_steps_where_that_saves_operations) {
  const auto pool = [](int window, int stride, Strategy strategy) {
    const std::string w = std::to_string(window), at = std::to_string(stride) + " * ";
    const std::string side = std::to_string(31 * stride + window);
    return views_to_try(request("@proc\n"
                                "def pool(a: f32[8, " +
                                    side + ", " + side +
                                    "], out: f32[8, 32, 32]):\n"
                                    "    for c in seq(0, 8):\n"
                                    "        for y in seq(0, 32):\n"
                                    "            for x in seq(0, 32):\n"
                                    "                out[c, y, x] = 0.0\n"
                                    "                for r in seq(0, " +
                                    w +
                                    "):\n"
                                    "                    for s in seq(0, " +
                                    w +
                                    "):\n"
                                    "                        out[c, y, x] += a[c, " +
                                    at + "y + r, " + at + "x + s]\n",
                                strategy),
                        rules(), 3);
  };
  const auto views = pool(5, 1, Strategy::kAll);
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].view.text, "a_r = sum of a over r");
  EXPECT_GT(views[0].gain, 1.5);
  EXPECT_TRUE(pool(2, 2, Strategy::kAll).empty());
  EXPECT_EQ(pool(2, 2, Strategy::kEqsat).size(), 2u);
}

// A 3 x 3 convolution of four channels over 8 x 8 points, for tiles of 4 x 4 x 4.
TEST(Views, a_view_that_fits_an_instruction_takes_its_cycles) {
  const TuneRequest rvm = request(
      "@proc\n"
      "def conv(image: i32[4, 10, 10], weights: i32[8, 4, 3, 3], out: i32[8, 8, 8]):\n"
      "    for o in seq(0, 8):\n"
      "        for y in seq(0, 8):\n"
      "            for x in seq(0, 8):\n"
      "                for c in seq(0, 4):\n"
      "                    for r in seq(0, 3):\n"
      "                        for s in seq(0, 3):\n"
      "                            out[o, y, x] += weights[o, c, r, s]"
      " * image[c, y + r, x + s]\n",
      Strategy::kAll, "rvm");
  const ViewCosts costs(rvm.target, ScalarType::kI32);
  EXPECT_EQ(costs.unit(), "cycles of tiles");
  EXPECT_EQ(costs.fit(rvm.proc).tile, "");
  EXPECT_EQ(costs.fit(rvm.proc).cycles, 8 * 64 * 36 * 4);  // by the processor
  const auto views = views_to_try(rvm, rules(), 9);
  const auto fits = std::find_if(views.begin(), views.end(), [&](const ViewToTry& v) {
    return costs.fit(v.view.proc).tile == "4 x 4 x 4";
  });
  ASSERT_NE(fits, views.end());
  EXPECT_EQ(costs.fit(fits->view.proc).cycles, 2 * 16 * 9 * 4);
  EXPECT_GT(fits->gain, 5);
}

// A convolution of bytes, channels first. Its filters' rows are taps, of which only three follow
// each other, while windows overlap: no tile is read as it lies. With the filters' channels last
// there is one for each tap, and the image needs no copy.
TEST(Views, sums_take_another_order_for_tiles) {
  const TuneRequest bytes = request(
      "@proc\n"
      "def conv(image: i8[32, 10, 10], filters: i8[16, 32, 3, 3], out: i32[16, 8, 8]):\n"
      "    for o in seq(0, 16):\n"
      "        for y in seq(0, 8):\n"
      "            for x in seq(0, 8):\n"
      "                for c in seq(0, 32):\n"
      "                    for r in seq(0, 3):\n"
      "                        for s in seq(0, 3):\n"
      "                            a: i32\n"
      "                            b: i32\n"
      "                            a = image[c, y + r, x + s]\n"
      "                            b = filters[o, c, r, s]\n"
      "                            out[o, y, x] += a * b\n",
      Strategy::kAll, "gemmini");
  const ViewCosts costs(bytes.target, ScalarType::kI32);
  EXPECT_EQ(costs.fit(bytes.proc).tile, "");
  const auto views = views_to_try(bytes, rules(), 3);
  ASSERT_FALSE(views.empty());
  EXPECT_EQ(views[0].view.text, "filters_view[o, r, s, c] = filters[o, c, r, s]");
  EXPECT_EQ(costs.fit(views[0].view.proc).tile, "16 x 8 x 16");
}

// 49 points are 48 in tiles of four, and one.
TEST(Views, what_tiles_of_one_size_do_not_divide_is_cut_off) {
  std::string text = kShortRows;
  for (size_t at; (at = text.find("f32")) != std::string::npos;) text.replace(at, 3, "i32");
  const TuneRequest rvm = request(text, Strategy::kAll, "rvm");
  const ViewCosts costs(rvm.target, ScalarType::kI32);
  EXPECT_EQ(costs.fit(rvm.proc).tile, "");
  const auto views = views_to_try(rvm, rules(), 3);
  ASSERT_FALSE(views.empty());
  EXPECT_TRUE(views.front().view.text.ends_with("one loop: c r s, cut to whole tiles"))
      << views.front().view.text;
  EXPECT_EQ(costs.fit(views.front().view.proc).tile, "4 x 4 x 4");
  EXPECT_GT(views.front().gain, 8);
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
  EXPECT_FALSE(may_help(kProduct, "B[k, j]", "B[j, k]"));  // turned while it is packed
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
