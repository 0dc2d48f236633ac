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

TEST(EqsatCounts, further_goals_every_match) {
  EXPECT_EQ(counts("(d x (+ 1 (* 2 x)))", Schedule::kEvery, 6), "20/9 38/14 37/10 20/6 20/6");
  EXPECT_EQ(counts("(+ (* y (+ x y)) (- (+ x 2) (+ x x)))", Schedule::kEvery, 6),
            "37/15 76/20 116/30 205/54 324/70 440/81");
  EXPECT_EQ(counts("(i (* (cos x) x) x)", Schedule::kEvery, 6),
            "21/11 81/39 209/80 643/226 1991/678 4634/1721");
  EXPECT_EQ(counts("(i (+ (sin x) (* 2 (cos x))) x)", Schedule::kEvery, 6),
            "26/11 77/36 220/79 565/191 1466/497 3393/1305");
  EXPECT_EQ(counts("(d x (* (sin x) (ln x)))", Schedule::kEvery, 6),
            "23/11 63/20 79/21 58/14 66/16 78/16");
}

TEST(EqsatCounts, further_goals_backoff) {
  EXPECT_EQ(counts("(+ (* y (+ x y)) (- (+ x 2) (+ x x)))", Schedule::kBackoff, 14),
            "37/15 76/20 116/30 205/54 324/70 440/81 576/81 718/106 900/143 1160/192 1409/227 "
            "1561/190 1639/190 1639/190");
  EXPECT_EQ(counts("(i (* (cos x) x) x)", Schedule::kBackoff, 14),
            "21/11 81/39 209/80 643/226 1991/678 3611/1292 8840/4214 9624/4536 9333/4290 "
            "9299/4211 9299/4211 19972/10019 23817/12244 23339/11765");
  EXPECT_EQ(counts("(i (+ (sin x) (* 2 (cos x))) x)", Schedule::kBackoff, 14),
            "26/11 77/36 220/79 565/191 1466/497 2758/1018 7079/3380 10302/5066 10797/5249 "
            "10714/5119 10681/5070 10681/5070 15282/7341 18725/9742");
}

// The same for rules without conditions or constants.
std::string counts_of(const std::vector<const char*>& rules, const std::string& term,
                      Schedule schedule, int iterations) {
  OpTable ops;
  EGraph graph(ops);
  add_term(graph, ops, term);
  std::vector<Rule> parsed;
  for (const char* rule : rules) parsed.push_back(Rule::parse("rule", rule, ops));
  const SaturationReport report =
      saturate(graph, parsed, {.iterations = iterations, .nodes = 2'000'000, .seconds = 1000},
               {.schedule = schedule});
  std::string text;
  for (const IterationReport& i : report.iterations)
    text += (text.empty() ? "" : " ") + std::to_string(i.nodes) + "/" + std::to_string(i.classes);
  return text;
}

// "(op x0 (op x1 ... last))"
std::string nested(const char* op, int n, const std::string& last) {
  std::string text = last;
  for (int i = n - 1; i >= 0; --i)
    text = std::string("(") + op + " x" + std::to_string(i) + " " + text + ")";
  return text;
}

TEST(EqsatCounts, propositions_every_match) {
  EXPECT_EQ(
      counts_of({"(-> ?a ?b) => (| (~ ?a) ?b)", "(| (~ ?a) ?b) => (-> ?a ?b)", "(~ (~ ?a)) => ?a",
                 "?a => (~ (~ ?a))", "(| ?a (| ?b ?c)) => (| (| ?a ?b) ?c)",
                 "(& ?a (| ?b ?c)) => (| (& ?a ?b) (& ?a ?c))",
                 "(| ?a (& ?b ?c)) => (& (| ?a ?b) (| ?a ?c))", "(| ?a ?b) => (| ?b ?a)",
                 "(& ?a ?b) => (& ?b ?a)", "(| ?a (~ ?a)) => true", "(| ?a true) => true",
                 "(& ?a true) => ?a", "(-> ?a ?b) => (-> (~ ?b) (~ ?a))"},
                "(& (-> x y) (-> y z))", Schedule::kEvery, 8),
      "23/12 31/16 51/24 111/48 297/130 1117/444 5437/2146 28014/9316");
}

TEST(EqsatCounts, a_ring_backoff) {
  EXPECT_EQ(
      counts_of({"(+ ?a ?b) => (+ ?b ?a)", "(* ?a ?b) => (* ?b ?a)",
                 "(+ ?a (+ ?b ?c)) => (+ (+ ?a ?b) ?c)", "(* ?a (* ?b ?c)) => (* (* ?a ?b) ?c)",
                 "(* ?a (+ ?b ?c)) => (+ (* ?a ?b) (* ?a ?c))",
                 "(+ (* ?a ?b) (* ?a ?c)) => (* ?a (+ ?b ?c))"},
                "(* (+ a b) (* (+ c d) (+ e f)))", Schedule::kBackoff, 20),
      "21/14 47/25 88/37 190/75 382/123 774/235 1408/387 1462/371 1530/383 1614/415 "
      "1694/439 1822/487 1942/363 1966/363 1966/363 1966/363 4222/887 4222/887 5206/551 "
      "5206/551");
}

TEST(EqsatCounts, lists_reversed_and_mapped_every_match) {
  EXPECT_EQ(
      counts_of(
          {"(cat nil ?a) => ?a", "(cat ?a nil) => ?a",
           "(cat ?a (cat ?b ?c)) => (cat (cat ?a ?b) ?c)",
           "(cat (cat ?a ?b) ?c) => (cat ?a (cat ?b ?c))",
           "(rev (cat ?a ?b)) => (cat (rev ?b) (rev ?a))",
           "(map ?f (cat ?a ?b)) => (cat (map ?f ?a) (map ?f ?b))",
           "(map ?f (map ?g ?a)) => (map (o ?f ?g) ?a)", "(o ?f (o ?g ?h)) => (o (o ?f ?g) ?h)",
           "(o (o ?f ?g) ?h) => (o ?f (o ?g ?h))", "(rev (map ?f ?a)) => (map ?f (rev ?a))"},
          "(map f (map g (map h (rev " + nested("cat", 12, "nil") + "))))", Schedule::kEvery, 12),
      "60/45 135/83 326/169 671/284 1300/467 2206/626 2206/437 2068/401 2068/401");
}

TEST(EqsatCounts, products_and_their_transposes_backoff) {
  EXPECT_EQ(counts_of({"(T (T ?a)) => ?a", "(T (* ?a ?b)) => (* (T ?b) (T ?a))",
                       "(* (T ?b) (T ?a)) => (T (* ?a ?b))", "(* ?a (* ?b ?c)) => (* (* ?a ?b) ?c)",
                       "(* (* ?a ?b) ?c) => (* ?a (* ?b ?c))"},
                      nested("*", 23, "x23"), Schedule::kBackoff, 40),
            "91/69 215/131 594/290 584/180 584/180 1596/636 1596/636 1596/636 1596/636 1512/272 "
            "1512/272 2576/664 2576/664 2576/664 2380/356 2324/300 2324/300 2324/300");
}

// Two patterns of one class, as a rule of propositions has them.
TEST(EqsatCounts, several_patterns_of_one_class_every_match) {
  EXPECT_EQ(counts_of({"(-> ?a ?b) => (| (~ ?a) ?b)", "(| (~ ?a) ?b) => (-> ?a ?b)",
                       "?a => (~ (~ ?a))", "(| ?a ?b) => (| ?b ?a)", "(& ?a ?b) => (& ?b ?a)",
                       "?v = (& (-> ?a ?b) (-> (~ ?a) ?c)) => (| ?b ?c)"},
                      "(& (-> x y) (-> y z))", Schedule::kEvery, 5),
            "21/12 23/12 25/12 27/12 29/12");
}

}  // namespace
}  // namespace exotune::eqsat
