// Orders of factors: as many classes as there are subsets, the cheapest tree by brute force, and
// programs that take one.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "core/cursor/provenance.h"
#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "search/eqsat/factoring.h"
#include "search/eqsat/lowering.h"

namespace exotune::eqsat {
namespace {

// The cheapest tree by trying every way to split every subset.
double cheapest(const Contraction& c) {
  const size_t n = c.factors.size();
  std::vector<double> best(size_t{1} << n, 0);
  const auto indices = [&](uint64_t set) {
    uint64_t inside = 0, outside = c.output;
    for (size_t k = 0; k < n; ++k) (set >> k & 1 ? inside : outside) |= c.factors[k];
    return inside & outside;  // what one factor has alone is summed before
  };
  for (uint64_t set = 1; set < best.size(); ++set) {
    if ((set & (set - 1)) == 0) continue;
    best[set] = 1e300;
    for (uint64_t left = (set - 1) & set; left > 0; left = (left - 1) & set) {
      double points = 1;
      for (size_t i = 0; i < c.extents.size(); ++i)
        if ((indices(left) | indices(set ^ left)) >> i & 1) points *= c.extents[i];
      best[set] = std::min(best[set], best[left] + best[set ^ left] + points);
    }
  }
  return best.back();
}

TEST(Contraction, the_first_order_is_the_cheapest_of_all_trees) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    Contraction c;
    const size_t factors = 3 + random() % 4, indices = 3 + random() % 5;
    for (size_t i = 0; i < indices; ++i)
      c.extents.push_back(static_cast<double>(1 + random() % 30));
    for (size_t k = 0; k < factors; ++k)
      c.factors.push_back(1 + random() % ((uint64_t{1} << indices) - 1));
    c.output = random() % (uint64_t{1} << indices);
    const auto trees = contraction_orders(c, 3).trees;
    ASSERT_FALSE(trees.empty());
    EXPECT_DOUBLE_EQ(trees[0].multiplications, cheapest(c));
    for (size_t k = 1; k < trees.size(); ++k)
      EXPECT_GE(trees[k].multiplications, trees[k - 1].multiplications);
  }
}

TEST(Contraction, a_chain_takes_the_order_that_its_sizes_want) {
  const ProcPtr p = parse_module(
                        "@proc\n"
                        "def chain(A: f32[2, 9], B: f32[9, 9], C: f32[9, 3], x: f32[2, 3]):\n"
                        "    for i in seq(0, 2):\n"
                        "        for l in seq(0, 3):\n"
                        "            for j in seq(0, 9):\n"
                        "                for k in seq(0, 9):\n"
                        "                    x[i, l] += A[i, j] * B[j, k] * C[k, l]\n",
                        "chain.exo")
                        .procs.front();
  const CandidateReport r = find_candidates(p, {});
  ASSERT_GE(r.candidates.size(), 2u);
  EXPECT_EQ(r.candidates[1].text, "A_B = sum of A * B");
  EXPECT_EQ(r.candidates[1].figures->products, 2 * 9 * 9 + 2 * 9 * 3);
  EXPECT_NE(str(*r.candidates[1].proc).find("x[i, l] += C[k, l] * A_B[i, k]"), std::string::npos)
      << str(*r.candidates[1].proc);
  EXPECT_TRUE(reassociates(r.candidates[1].proc));
  // A class for each subset, and its nodes: what the e-graph's statistics say of a chain.
  EXPECT_EQ(r.classes, 7u);
  EXPECT_EQ(r.nodes, 15u);
  EXPECT_EQ(r.stop, StopReason::kSaturated);
}

}  // namespace
}  // namespace exotune::eqsat
