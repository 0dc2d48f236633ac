// Terms that no copy says: blocks and padding, proved as other loops over the same points.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "tests/search/eqsat/programs.h"

namespace exotune::eqsat {
namespace {

// Rules whose terms cut or pad axes: no copy says them, their loops do.
CandidateReport in_blocks(const std::string& text, int64_t k) {
  return find_candidates(proc(text),
                         {.rules = {shipped("canonical"), shipped("padding"), shipped("blocking")},
                          .constants = {{"K", k}, {"L", 0}},
                          .loops = 64,
                          .limits = {.iterations = 12, .nodes = 20'000}});
}

std::set<std::string> by_bijection(const CandidateReport& r) {
  std::set<std::string> all;
  for (const Candidate& c : r.candidates)
    if (c.proof == CandidateProof::kBijection) all.insert(c.text);
  return all;
}

std::string product_of(const std::string& m, const std::string& n, const std::string& k) {
  return "@proc\n"
         "def nn(N: size, A: f32[" +
         m + ", " + k + "], B: f32[" + k + ", " + n + "], C: f32[" + m + ", " + n +
         "]):\n"
         "    for i in seq(0, " +
         m +
         "):\n"
         "        for j in seq(0, " +
         n +
         "):\n"
         "            for k in seq(0, " +
         k +
         "):\n"
         "                C[i, j] += A[i, k] * B[k, j]\n";
}

TEST(OtherLoops, blocks_are_proved_as_other_loops) {
  const CandidateReport r = in_blocks(product_of("64", "64", "64"), 16);
  EXPECT_TRUE(by_bijection(r).contains("i = 16 * i0 + i1, j = 16 * j0 + j1, k = 16 * k0 + k1"));
  for (const Candidate& c : r.candidates) {
    ASSERT_NE(c.proc, nullptr);
    EXPECT_NO_THROW(check(*c.proc)) << c.text;
    EXPECT_TRUE(is_equivalent(r.candidates[0].proc, c.proc)) << c.text;
  }
}

TEST(OtherLoops, blocks_of_a_size_that_is_open) {
  EXPECT_TRUE(by_bijection(in_blocks(product_of("64 * N", "64 * N", "64 * N"), 64))
                  .contains("i = 64 * i0 + i1, j = 64 * j0 + j1, k = 64 * k0 + k1"));
}

TEST(OtherLoops, blocks_that_do_not_fit_end_in_a_guard) {
  const auto found = by_bijection(in_blocks(product_of("64", "64", "40"), 16));
  EXPECT_TRUE(found.contains(
      "i = 16 * i0 + i1, j = 16 * j0 + j1, k = 16 * k0 + k1 where 16 * k0 + k1 < 40"))
      << testing::PrintToString(found);
  EXPECT_TRUE(by_bijection(in_blocks(product_of("16", "16", "40"), 16))
                  .contains("k = 16 * k0 + k1 where 16 * k0 + k1 < 40"));
}

// Blocks of 16 in blocks of 64, found in one graph.
TEST(OtherLoops, blocks_in_blocks) {
  for (const char* size : {"1024", "64 * N"}) {
    CandidateRequest request{.blocks = {64, 16}, .loops = 64};
    for (const char* set : {"canonical", "padding", "blocking"})
      request.rules.push_back(shipped(set));
    const CandidateReport r = find_candidates(proc(product_of(size, size, size)), request);
    EXPECT_LE(r.nodes, 500u);
    EXPECT_EQ(r.stop, StopReason::kSaturated);
    const auto found = by_bijection(r);
    EXPECT_TRUE(found.contains("i = 64 * i0 + i1, j = 64 * j0 + j1, k = 64 * k0 + k1"))
        << testing::PrintToString(found);
    EXPECT_TRUE(
        found.contains("i = 64 * i0 + 16 * i1 + i2, j = 64 * j0 + 16 * j1 + j2, "
                       "k = 64 * k0 + 16 * k1 + k2"))
        << testing::PrintToString(found);
  }
}

// What is replayed is the same with other loops looked for and without, even where places are few.
TEST(OtherLoops, other_loops_take_no_places_of_replays) {
  CandidateRequest request{.constants = {{"K", 4}, {"L", 0}}, .k = 2};
  for (const char* set : {"canonical", "layout", "columns", "padding", "blocking"})
    request.rules.push_back(shipped(set));
  const ProcPtr p = proc(product_of("8", "12", "16"));
  const auto replays = [&] {
    std::vector<std::string> all;
    for (const Candidate& c : find_candidates(p, request).candidates)
      if (c.proof == CandidateProof::kReplay) all.push_back(c.text);
    return all;
  };
  const std::vector<std::string> alone = replays();
  EXPECT_FALSE(alone.empty());
  EXPECT_TRUE(by_bijection(find_candidates(p, request)).empty());
  request.loops = 3;
  EXPECT_EQ(by_bijection(find_candidates(p, request)).size(), 3u);
  EXPECT_EQ(replays(), alone);
}

// Every third element of the sum is lost, every second one is there twice.
TEST(OtherLoops, what_a_wrong_rule_finds_is_refused) {
  const CandidateReport r = find_candidates(
      proc(product_of("12", "12", "12")),
      {.rules =
           {shipped("canonical"),
            {"wrong.rules",
             "rule lost\n  (dot (zip[?n] ?a ?b)) =>\n"
             "    (dot (zip[?n.0] (slice[access(?a), 0, 8] ?a) (slice[access(?b), 0, 8] ?b)))\n"
             "  if axis(?a, access(?a)) == 12\n"
             "rule turned\n  (dot (zip[?n] ?a ?b)) =>\n"
             "    (dot (zip[?n.0] (split[access(?a), 4] ?a) "
             "(transpose[moved(3, 1, 2)] (split[access(?b), 3] ?b))))\n"
             "  if axis(?a, access(?a)) == 12\n"}},
       .k = 400,
       .loops = 64,
       .allow_tested = true});
  EXPECT_FALSE(r.refused.empty());
  for (const Candidate& c : r.candidates) EXPECT_NE(c.proof, CandidateProof::kTested) << c.term;
  EXPECT_TRUE(by_bijection(r).empty());
}

TEST(OtherLoops, what_is_only_tested_is_left_out_unless_asked_for) {
  // Two products, which no copy and no nest of loops says.
  CandidateRequest request{
      .rules = {
          {"halves.rules",
           "rule halves\n  (dot (zip[?n] ?a ?b)) =>\n"
           "    (sum (zip[access(?a) + access(?b) - ?n.0]\n"
           "      (dot (zip[?n.0] (slice[access(?a), 0, 2] ?a) (slice[access(?b), 0, 2] ?b)))\n"
           "      (dot (zip[?n.0] (slice[access(?a), 2, 4] ?a) (slice[access(?b), 2, 4] "
           "?b)))))\n"
           "  if axis(?a, access(?a)) == 4\n"}}};
  const ProcPtr p = proc(product_of("8", "6", "4"));
  const auto tested = [&] {
    const CandidateReport r = find_candidates(p, request);
    return std::count_if(r.candidates.begin(), r.candidates.end(), [](const Candidate& c) {
      EXPECT_EQ(c.proof == CandidateProof::kTested, c.proc == nullptr);
      return c.proof == CandidateProof::kTested;
    });
  };
  EXPECT_EQ(tested(), 0);
  request.allow_tested = true;
  EXPECT_GT(tested(), 0);
}

}  // namespace
}  // namespace exotune::eqsat
