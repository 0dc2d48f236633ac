// Node and class counts after each iteration, equal to those of another implementation (egg 0.11)
// on the same rules and terms, with both ways to choose matches. A difference in any step of
// searching, banning, folding or rebuilding shows here.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/search/eqsat/arithmetic.h"
#include "tests/search/eqsat/terms.h"

namespace exotune::eqsat {
namespace {

// "nodes/classes" after each iteration.
std::string counts(const char* term, Schedule schedule, int iterations) {
  OpTable ops;
  ConstantFolding folding(ops);
  EGraph graph(ops, &folding);
  add_term(graph, ops, term);
  const SaturationReport report = saturate(
      graph, arithmetic_rules(ops, folding),
      {.iterations = iterations, .nodes = 2'000'000, .seconds = 1000}, {.schedule = schedule});
  std::string text;
  for (const IterationReport& i : report.iterations)
    text += (text.empty() ? "" : " ") + std::to_string(i.nodes) + "/" + std::to_string(i.classes);
  return text;
}

TEST(EqsatCounts, a_fraction_of_roots_every_match) {
  EXPECT_EQ(
      counts("(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))", Schedule::kEvery, 7),
      "38/16 65/16 85/20 120/27 148/32 185/35 211/37");
}

TEST(EqsatCounts, a_fraction_of_roots_backoff) {
  EXPECT_EQ(
      counts("(/ 1 (- (/ (+ 1 (sqrt five)) 2) (/ (- 1 (sqrt five)) 2)))", Schedule::kBackoff, 30),
      "38/16 65/16 85/20 120/27 148/32 185/35 211/37 472/112 1456/310 2179/265 2179/265 "
      "2748/401 3339/331 3491/331 3491/331 4440/548 4504/428 4636/428 4636/428 5343/428 "
      "5343/428 8235/1372 8235/1372 10187/1372 10187/1372 9085/903 9085/903 10831/903 "
      "10831/903 10831/903");
}

TEST(EqsatCounts, a_derivative_every_match) {
  EXPECT_EQ(counts("(d x (- (pow x 3) (* 7 (pow x 2))))", Schedule::kEvery, 7),
            "28/13 60/22 129/51 219/67 181/37 245/49 390/87");
}

TEST(EqsatCounts, a_derivative_backoff) {
  EXPECT_EQ(counts("(d x (- (pow x 3) (* 7 (pow x 2))))", Schedule::kBackoff, 30),
            "28/13 60/22 129/51 219/67 181/37 245/49 390/87 570/104 724/127 1012/224 1453/294 "
            "1774/243 1922/239 1929/239 1929/239 1929/239 1933/239 1933/239 1525/269 2281/297 "
            "4601/1023 3889/896 3864/870 3862/868 3860/867 3860/867 4639/688 5072/692 5069/689 "
            "5069/689");
}

TEST(EqsatCounts, an_integral_by_parts_every_match) {
  EXPECT_EQ(counts("(i (* x (cos x)) x)", Schedule::kEvery, 7),
            "21/11 69/33 177/63 486/171 1495/499 3591/1373 19571/7573");
}

TEST(EqsatCounts, an_integral_by_parts_backoff) {
  EXPECT_EQ(counts("(i (* x (cos x)) x)", Schedule::kBackoff, 22),
            "21/11 69/33 177/63 486/171 1495/499 2675/949 7830/3203 11972/5421 11628/5112 "
            "11605/5050 11605/5050 13885/6017 16605/7497 16605/7497 16603/7496 16603/7496 "
            "35997/18369 44904/22894 44904/22894 44723/22368 44723/22368 44723/22368");
}

TEST(EqsatCounts, an_integral_of_a_logarithm_every_match) {
  EXPECT_EQ(counts("(i (ln x) x)", Schedule::kEvery, 7),
            "11/5 25/11 61/24 144/55 306/113 1123/421 3394/1412");
}

TEST(EqsatCounts, an_integral_of_a_logarithm_backoff) {
  EXPECT_EQ(counts("(i (ln x) x)", Schedule::kBackoff, 22),
            "11/5 25/11 61/24 144/55 306/113 1123/421 2487/954 8114/3660 11561/5551 12098/5799 "
            "12098/5799 12098/5799 20497/10426 21084/10516 21085/10516 21085/10516 20749/10253 "
            "20749/10253 38902/21611 38936/21210 38849/21102 38839/21092");
}

}  // namespace
}  // namespace exotune::eqsat
