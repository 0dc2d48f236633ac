// Every tier against enumeration of a small box.
#include "core/analysis/linear.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "core/analysis/solver.h"
#include "core/base/diagnostic.h"
#include "core/ir/normal_form.h"

namespace exotune {
namespace {

constexpr int kVariables = 3, kLow = -3, kHigh = 4;

struct Random {
  std::mt19937 engine;
  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
  Lin lin() {
    Lin out(below(13) - 6);
    for (int v = 0; v < kVariables; ++v) out.add(Lin::variable(v, below(2) ? below(9) - 4 : 0));
    return out;
  }
  Formula formula(int depth) {
    if (depth == 0 || below(3) == 0) {
      switch (below(3)) {
        case 0:
          return Formula::at_least_zero(lin());
        case 1:
          return Formula::equals_zero(lin());
        default:
          return Formula::not_zero(lin());
      }
    }
    std::vector<Formula> kids;
    for (int k = 0; k < 2; ++k) kids.push_back(formula(depth - 1));
    return below(2) ? Formula::all_of(std::move(kids)) : Formula::any_of(std::move(kids));
  }
};

std::vector<Constraint> box() {
  std::vector<Constraint> out;
  for (int v = 0; v < kVariables; ++v) {
    Lin lo = Lin::variable(v), hi = Lin::variable(v, -1);
    out.push_back({lo.add_constant(-kLow), false});
    out.push_back({hi.add_constant(kHigh), false});
  }
  return out;
}

template <class F>
bool any_point(const F& holds_at) {
  std::vector<int64_t> x(kVariables);
  for (x[0] = kLow; x[0] <= kHigh; ++x[0])
    for (x[1] = kLow; x[1] <= kHigh; ++x[1])
      for (x[2] = kLow; x[2] <= kHigh; ++x[2])
        if (holds_at(x)) return true;
  return false;
}

TEST(Linear, conjunctions_agree_with_enumeration) {
  Random r{std::mt19937(7)};
  int unknown = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<Constraint> all = box();
    for (int k = r.below(4); k >= 0; --k) all.push_back({r.lin(), r.below(3) == 0});
    const bool truth = any_point([&](const std::vector<int64_t>& x) {
      return std::all_of(all.begin(), all.end(), [&](const Constraint& c) { return holds(c, x); });
    });
    const Solution s = solve_conjunction(all, kVariables);
    if (s.feasible == Feasible::kUnknown) {
      ++unknown;
      continue;
    }
    ASSERT_EQ(s.feasible == Feasible::kYes, truth) << "round " << round;
  }
  EXPECT_LT(unknown, 400);
}

TEST(Linear, formulas_agree_with_enumeration_in_every_tier) {
  Random r{std::mt19937(11)};
  for (int round = 0; round < 600; ++round) {
    const std::vector<Constraint> facts = box();
    std::vector<Formula> cases{r.formula(2)};
    const Formula question = r.formula(2);
    const bool truth = any_point(
        [&](const std::vector<int64_t>& x) { return holds(cases[0], x) && holds(question, x); });
    const Decision affine = solver_internal::decide_affine(facts, cases, question, kVariables, {});
    if (affine.feasible != Feasible::kUnknown) {
      ASSERT_EQ(affine.feasible == Feasible::kYes, truth) << round;
    }
    const Decision all = decide(facts, cases, question, kVariables, {});
    ASSERT_EQ(all.feasible, truth ? Feasible::kYes : Feasible::kNo) << round;
    if (round % 10 == 0) {
      const Decision smt = solver_internal::decide_smt(facts, cases, question, kVariables, {});
      ASSERT_EQ(smt.feasible, truth ? Feasible::kYes : Feasible::kNo) << round;
    }
  }
}

TEST(Linear, negation_is_complement) {
  Random r{std::mt19937(13)};
  for (int round = 0; round < 300; ++round) {
    const Formula f = r.formula(2);
    const Formula g = negated(f);
    EXPECT_FALSE(
        any_point([&](const std::vector<int64_t>& x) { return holds(f, x) == holds(g, x); }));
  }
}

TEST(Linear, projection_contains_every_value) {
  Random r{std::mt19937(17)};
  for (int round = 0; round < 500; ++round) {
    std::vector<Constraint> all = box();
    for (int k = 0; k < 2; ++k) all.push_back({r.lin(), r.below(4) == 0});
    const Lin what = r.lin();
    const Interval i = project(all, kVariables, what);
    any_point([&](const std::vector<int64_t>& x) {
      for (const Constraint& c : all)
        if (!holds(c, x)) return false;
      int64_t value = what.constant;
      for (const Lin::Term& t : what.terms) value += t.coeff * x[t.var];
      EXPECT_FALSE(i.empty);
      EXPECT_TRUE(!i.has_lo || i.lo <= value);
      EXPECT_TRUE(!i.has_hi || value <= i.hi);
      return false;
    });
  }
}

TEST(Linear, equalities_with_common_factors_are_infeasible) {
  // 2x + 4y == 3
  Lin l = Lin::variable(0, 2) + Lin::variable(1, 4);
  l.add_constant(-3);
  EXPECT_EQ(solve_conjunction(std::vector<Constraint>{{l, true}}, 2).feasible, Feasible::kNo);
}

Constraint at_least(int var, int64_t coeff, int64_t constant) {
  Lin lin = Lin::variable(var, coeff);
  return {lin.add_constant(constant), false};
}

TEST(Linear, a_fixed_value_contradicts_a_bound_beside_it) {
  // 0 <= x <= 0 makes an equality; 16*x >= 1 is x >= 1.
  const std::vector<Constraint> beyond{at_least(0, 1, 0), at_least(0, -1, 0), at_least(0, 16, -1)};
  EXPECT_EQ(solve_conjunction(beyond, 1).feasible, Feasible::kNo);
  const std::vector<Constraint> implied{at_least(0, 1, 0), at_least(0, -1, 0), at_least(0, 1, 5)};
  EXPECT_EQ(solve_conjunction(implied, 1).feasible, Feasible::kYes);
}

TEST(Linear, residues_of_a_size_by_several_divisors_have_a_model_without_the_solver) {
  // q = n / 13, r = (n - q) / 4, s = (n + q) / 2, all rounded down, with leftovers in each.
  const int n = 0, q = 1, r = 2, s = 3;
  auto leftover = [](std::vector<Constraint>& out, Lin rest, int quotient, int64_t c,
                     int64_t least) {
    rest.add(Lin::variable(quotient, -c));
    Lin below = rest.scaled(-1);
    out.push_back({rest.add_constant(-least), false});
    out.push_back({below.add_constant(c - 1), false});
  };
  std::vector<Constraint> facts{at_least(n, 1, -1)};
  Lin size = Lin::variable(n);
  leftover(facts, size, q, 13, 1);
  leftover(facts, size - Lin::variable(q), r, 4, 2);
  leftover(facts, size + Lin::variable(q), s, 2, 0);
  Lin even = Lin::variable(s, 2) - size - Lin::variable(q);
  const Formula question = Formula::at_least_zero(even);
  const uint8_t sizes[] = {1, 0, 0, 0};
  const Decision d = solver_internal::decide_affine(facts, {}, question, 4, sizes);
  ASSERT_EQ(d.feasible, Feasible::kYes);
  for (const Constraint& c : facts) EXPECT_TRUE(holds(c, d.model));
  EXPECT_TRUE(holds(question, d.model));
}

TEST(Linear, overflow_is_never_an_answer) {
  Lin big = Lin::variable(0, INT64_MAX);
  big.add(Lin::variable(0, INT64_MAX));
  EXPECT_TRUE(big.overflow);
  EXPECT_FALSE(holds(Constraint{big, false}, std::vector<int64_t>{0}));
  EXPECT_EQ(solve_conjunction(std::vector<Constraint>{{big, false}}, 1).feasible,
            Feasible::kUnknown);
}

TEST(Linear, the_same_question_is_answered_from_the_cache) {
  const std::vector<Constraint> facts = box();
  const Formula question = Formula::not_zero(Lin::variable(0) + Lin::variable(1));
  const Decision first = decide(facts, {}, question, kVariables, {});
  const Decision again = decide(facts, {}, question, kVariables, {});
  EXPECT_EQ(first.feasible, again.feasible);
  EXPECT_TRUE(holds(question, again.model));
}

TEST(Linear, smt_text_is_one_question) {
  const std::string text = solver_internal::smt_text(
      box(), {}, Formula::at_least_zero(Lin::variable(0, -2).add_constant(-9)));
  EXPECT_NE(text.find("(set-logic QF_LIA)"), std::string::npos);
  EXPECT_NE(text.find("(* (- 2) v0)"), std::string::npos);
  EXPECT_NE(text.find("(check-sat)"), std::string::npos);
}

TEST(Affine, sums_beyond_64_bits_are_refused_and_not_nothing) {
  const ExprPtr i = read_var(Sym::fresh("i"), ScalarType::kIndex);
  const Affine big = *affine(int_const(std::numeric_limits<int64_t>::max()) * i);
  EXPECT_THROW((void)(big + big), SchedulingError);
  EXPECT_THROW((void)(big.scaled(-1) - big - big), SchedulingError);
  EXPECT_THROW((void)big.scaled(2), SchedulingError);
  EXPECT_TRUE((big - big).is_constant());
}

}  // namespace
}  // namespace exotune
