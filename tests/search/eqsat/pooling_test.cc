// Windows one direction after the other, as candidates.
#include <gtest/gtest.h>

#include <algorithm>

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
  return find_candidates(parse_module(text, "test.exo").procs.front(), {.sizes = std::move(sizes)});
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

std::vector<std::string> texts(const CandidateReport& r) {
  std::vector<std::string> all;
  for (const Candidate& c : r.candidates) all.push_back(c.text);
  return all;
}

TEST(Pooling, two_by_two_in_two_steps) {
  const CandidateReport r = candidates(windows(2, 2, 2, "max="), kImage);
  EXPECT_EQ(texts(r), (std::vector<std::string>{"as written", "a_r = maximum of a over r",
                                                "a_s = maximum of a over s"}));
  for (const Candidate& c : r.candidates) {
    EXPECT_NO_THROW(check(*c.proc));
    EXPECT_TRUE(is_equivalent(c.proc, r.candidates[0].proc));
    EXPECT_FALSE(reassociates(c.proc));
  }
  EXPECT_EQ(r.candidates[1].proof, CandidateProof::kReplay);
  EXPECT_NE(str(*r.candidates[1].proc).find("max= a_r[c, y, 2 * x + s]"), std::string::npos)
      << str(*r.candidates[1].proc);
  EXPECT_NE(str(*r.candidates[2].proc).find("max= a_s[c, 2 * y + r, x]"), std::string::npos);
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
  EXPECT_EQ(r.candidates[1].figures->products, 2 * 140 * 5 + 2 * 100 * 5);
  EXPECT_EQ(r.candidates[1].figures->copied, 2 * 140);
  EXPECT_EQ(r.candidates[1].figures->along, 10);
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
  ASSERT_EQ(r.candidates.size(), 3u);
  const std::string text = str(*r.candidates[1].proc);
  EXPECT_GT(text.find("a_r : f32[10, 12]"), text.find("a[i, j] = b[n, i, j]")) << text;
  EXPECT_LT(text.find("a_r : f32[10, 12]"), text.size());
}

TEST(Pooling, needs_windows_in_two_directions_of_one_tensor) {
  const auto count = [](const std::string& body, const std::string& arguments) {
    const std::vector<std::string> all = texts(candidates(body, arguments));
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
