// Windows one direction after the other, as candidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "search/eqsat/lowering.h"

namespace exotune::eqsat {
namespace {

CandidateReport candidates(const std::string& body, const std::string& arguments,
                           std::map<std::string, int64_t> sizes = {}) {
  const std::string text = "@proc\ndef pool(" + arguments + "):\n" + body;
  CandidateRequest request{.sizes = std::move(sizes)};
  for (const char* set : {"canonical", "pooling"}) {
    std::ifstream in(std::string(EXOTUNE_SOURCE_DIR "/search/eqsat/rules/") + set + ".rules");
    std::stringstream rules;
    rules << in.rdbuf();
    request.reductions.push_back({set, rules.str()});
  }
  return find_candidates(parse_module(text, "test.exo").procs.front(), request);
}

// The windows of `rows` x `columns`, every `stride`, with `op` before the element that they read.
std::string windows(int rows, int columns, int stride, const std::string& op) {
  const std::string at = stride == 1 ? "" : std::to_string(stride) + " * ";
  return "    for c in seq(0, C):\n"
         "        for y in seq(0, Y):\n"
         "            for x in seq(0, X):\n"
         "                out[c, y, x] = 0.0\n"
         "                for r in seq(0, " +
         std::to_string(rows) +
         "):\n"
         "                    for s in seq(0, " +
         std::to_string(columns) +
         "):\n"
         "                        out[c, y, x] " +
         op + " a[c, " + at + "y + r, " + at + "x + s]\n";
}

const char* const kImage =
    "C: size, Y: size, X: size, a: f32[C, 2 * Y + 4, 2 * X + 4], out: f32[C, Y, X]";

std::set<std::string> texts(const CandidateReport& r) {
  std::set<std::string> all;
  for (const Candidate& c : r.candidates) all.insert(c.text);
  return all;
}

const Candidate& named(const CandidateReport& r, const std::string& text) {
  for (const Candidate& c : r.candidates)
    if (c.text == text) return c;
  ADD_FAILURE() << text << " is not among " << testing::PrintToString(texts(r));
  return r.candidates.front();
}

TEST(Pooling, two_by_two_in_two_steps) {
  const CandidateReport r = candidates(windows(2, 2, 2, "max="), kImage);
  EXPECT_EQ(texts(r), (std::set<std::string>{"as written", "a_r = maximum of a over r",
                                             "a_s = maximum of a over s"}));
  EXPECT_LE(r.nodes, 200u);
  EXPECT_EQ(r.stop, StopReason::kSaturated);
  for (const Candidate& c : r.candidates) {
    EXPECT_NO_THROW(check(*c.proc));
    EXPECT_TRUE(is_equivalent(c.proc, r.candidates[0].proc));
    EXPECT_FALSE(reassociates(c.proc));
  }
  const Candidate& rows = named(r, "a_r = maximum of a over r");
  EXPECT_EQ(rows.proof, CandidateProof::kReplay);
  // Found by rewriting: the maxima of rows stand inside the windows of columns.
  EXPECT_NE(std::find(rows.rules.begin(), rows.rules.end(), "maximum-of-maxima"), rows.rules.end());
  EXPECT_NE(std::find(rows.rules.begin(), rows.rules.end(), "window-of-maxima"), rows.rules.end())
      << rows.term;
  EXPECT_NE(str(*rows.proc).find("max= a_r[c, y, 2 * x + s]"), std::string::npos)
      << str(*rows.proc);
  const Candidate& columns = named(r, "a_s = maximum of a over s");
  EXPECT_NE(str(*columns.proc).find("max= a_s[c, 2 * y + r, x]"), std::string::npos);
}

// Three directions: each alone, and two of them one after the other.
TEST(Pooling, three_directions_in_three_steps) {
  const CandidateReport r = candidates(
      "    for z in seq(0, 8):\n        for y in seq(0, 8):\n            for x in seq(0, 8):\n"
      "                out[z, y, x] = a[z, y, x]\n"
      "                for t in seq(0, 3):\n                    for r in seq(0, 3):\n"
      "                        for s in seq(0, 3):\n"
      "                            out[z, y, x] max= a[z + t, y + r, x + s]\n",
      "a: f32[10, 10, 10], out: f32[8, 8, 8]");
  const Candidate& steps = named(r, "a_t = maximum of a over t, a_t_r = maximum of a_t over r");
  EXPECT_NO_THROW(check(*steps.proc));
  EXPECT_EQ(r.written[0]->products, 512 * 27);
  EXPECT_EQ(steps.figures->products, 800 * 2 + 640 * 2 + 512 * 3);
  EXPECT_EQ(steps.figures->copied, 800 + 640);
  // The fewest come first.
  EXPECT_LE(r.candidates[1].figures->products, steps.figures->products);
}

// What is summed into is made in the loops, and divided by the number of elements behind them.
TEST(Pooling, a_mean_that_is_divided_afterwards) {
  for (const char* const mean : {"m * 0.11111111", "m / 9.0"}) {
    const CandidateReport r = candidates(
        std::string("    for y in seq(0, 8):\n        for x in seq(0, 8):\n            m: f32\n"
                    "            m = 0.0\n            for r in seq(0, 3):\n"
                    "                for s in seq(0, 3):\n"
                    "                    m += a[y + r, x + s]\n            out[y, x] = ") +
            mean + "\n",
        "a: f32[10, 10], out: f32[8, 8]");
    EXPECT_EQ(r.candidates.size(), 3u) << mean;
    for (const Candidate& c : r.candidates) EXPECT_NO_THROW(check(*c.proc));
  }
}

// 5 x 5 over 10 x 10 places: 25 additions each, or 5 for each of what a row of places reads and 5.
TEST(Pooling, what_a_sum_takes_in_both_forms) {
  const CandidateReport r = candidates(windows(5, 5, 1, "+="),
                                       "C: size, Y: size, X: size, a: f32[C, Y + 4, X + 4], "
                                       "out: f32[C, Y, X]",
                                       {{"C", 2}, {"Y", 10}, {"X", 10}});
  ASSERT_EQ(r.candidates.size(), 3u);
  ASSERT_TRUE(r.written[0] && r.candidates[1].figures);
  EXPECT_EQ(r.written[0]->products, 2 * 100 * 25);
  for (size_t k = 1; k < 3; ++k) {
    EXPECT_EQ(r.candidates[k].figures->products, 2 * 140 * 5 + 2 * 100 * 5);
    EXPECT_EQ(r.candidates[k].figures->copied, 2 * 140);
    EXPECT_EQ(r.candidates[k].figures->along, 10);
  }
  EXPECT_TRUE(reassociates(r.candidates[1].proc));
}

TEST(Pooling, a_mean_is_no_product_that_was_not_read) {
  const CandidateReport r = candidates(windows(3, 3, 1, "+= 0.25 *"), kImage);
  EXPECT_EQ(r.candidates.size(), 3u);
  EXPECT_TRUE(r.not_lifted.empty());
}

// What a batch writes anew is read in front of no batch.
TEST(Pooling, stands_in_the_loop_that_writes_the_image) {
  const CandidateReport r = candidates(
      "    for n in seq(0, 4):\n"
      "        for i in seq(0, 12):\n"
      "            for j in seq(0, 12):\n"
      "                a[i, j] = b[n, i, j]\n"
      "        for y in seq(0, 10):\n"
      "            for x in seq(0, 10):\n"
      "                for r in seq(0, 3):\n"
      "                    for s in seq(0, 3):\n"
      "                        out[n, y, x] max= a[y + r, x + s]\n",
      "a: f32[12, 12], b: f32[4, 12, 12], out: f32[4, 10, 10]");
  const std::string text = str(*named(r, "a_r = maximum of a over r").proc);
  EXPECT_GT(text.find("a_r : f32[10, 12]"), text.find("a[i, j] = b[n, i, j]")) << text;
  EXPECT_LT(text.find("a_r : f32[10, 12]"), text.size());
}

TEST(Pooling, needs_windows_in_two_directions_of_one_tensor) {
  const auto count = [](const std::string& body, const std::string& arguments) {
    const std::set<std::string> all = texts(candidates(body, arguments));
    return std::count_if(all.begin(), all.end(), [](const std::string& text) {
      return text.find(" over ") != std::string::npos;
    });
  };
  EXPECT_EQ(count(windows(3, 1, 1, "max="), kImage), 0);
  EXPECT_EQ(count(windows(1, 3, 1, "max="), kImage), 0);
  EXPECT_EQ(count(windows(3, 2, 1, "min="), kImage), 2);
  // A filter's weights are for one tap each.
  EXPECT_EQ(count("    for y in seq(0, 8):\n        for x in seq(0, 8):\n"
                  "            for r in seq(0, 3):\n                for s in seq(0, 3):\n"
                  "                    out[y, x] += w[r, s] * a[y + r, x + s]\n",
                  "a: f32[10, 10], w: f32[3, 3], out: f32[8, 8]"),
            0);
  // Rows that nobody shares.
  EXPECT_EQ(count("    for y in seq(0, 8):\n        for r in seq(0, 3):\n"
                  "            for s in seq(0, 3):\n                out[y] max= a[y, r, s]\n",
                  "a: f32[8, 3, 3], out: f32[8]"),
            0);
}

}  // namespace
}  // namespace exotune::eqsat
