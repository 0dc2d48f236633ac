#pragma once
// Integer linear constraints and the affine tier of the decision procedure: exact elimination of
// equalities, gcd tightening and Fourier-Motzkin with integer-exact steps recognised. Start at
// solve_conjunction. Nothing here knows about programs.
//
// Arithmetic is strict: an overflow of 64 bits makes the answer kUnknown, never wrong.
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <vector>

namespace exotune {

/// constant + sum of coeff * variable; variables are small non-negative numbers.
struct Lin {
  struct Term {
    int var;
    int64_t coeff;
    friend bool operator==(const Term&, const Term&) = default;
  };
  boost::container::small_vector<Term, 4> terms;  // sorted by var, no zero coefficients
  int64_t constant = 0;
  bool overflow = false;  // sticky: the value is meaningless

  Lin() = default;
  explicit Lin(int64_t c) : constant(c) {}
  static Lin variable(int var, int64_t coeff = 1);

  bool is_constant() const { return terms.empty() && !overflow; }
  int64_t coeff_of(int var) const;
  /// Members change the value in place and return it; an overflow makes it meaningless for good,
  /// and every answer that rests on it kUnknown.
  Lin& add(const Lin& other, int64_t scale = 1);
  Lin& add_constant(int64_t c);
  Lin scaled(int64_t k) const;
  friend Lin operator+(Lin a, const Lin& b) { return std::move(a.add(b)); }
  friend Lin operator-(Lin a, const Lin& b) { return std::move(a.add(b, -1)); }
  friend bool operator==(const Lin& a, const Lin& b) {
    return a.constant == b.constant && a.overflow == b.overflow && a.terms == b.terms;
  }
};

/// lin >= 0, or lin == 0.
/// Over the integers a strict inequality is a weak one: a < b is b - a - 1 >= 0; so two forms do.
struct Constraint {
  Lin lin;
  bool equality = false;
};

/// A formula without negation over constraints.
struct Formula {
  enum class Kind : uint8_t { kTrue, kFalse, kAtom, kAnd, kOr };
  Kind kind = Kind::kTrue;
  Constraint atom;
  std::vector<Formula> kids;

  /// These fold constants: all_of nothing is true, any_of nothing false, and a constant atom
  /// becomes kTrue or kFalse. not_zero is a disjunction (a >= 1 or -a >= 1) and therefore the
  /// costly one.
  static Formula truth(bool b);
  static Formula at_least_zero(Lin lin);
  static Formula equals_zero(Lin lin);
  static Formula not_zero(const Lin& lin);
  static Formula all_of(std::vector<Formula> kids);
  static Formula any_of(std::vector<Formula> kids);
};
/// Pushes the negation to the atoms. An equality turns into a disjunction.
Formula negated(const Formula& f);
/// Unassigned variables (beyond the model's end) count as 0.
bool holds(const Constraint& c, std::span<const int64_t> model);
bool holds(const Formula& f, std::span<const int64_t> model);
/// Calls f(lin) for every atom.
template <class F>
void for_each_atom(const Formula& formula, const F& f) {
  if (formula.kind == Formula::Kind::kAtom) f(formula.atom);
  for (const Formula& kid : formula.kids) for_each_atom(kid, f);
}

int64_t floor_div(int64_t a, int64_t b);  // b > 0
int64_t floor_mod(int64_t a, int64_t b);  // b > 0; 0 <= result < b

/// kUnknown covers overflow, too many rows and the thread's deadline; callers treat it as "not
/// proved", so it refuses a step and never admits one.
enum class Feasible : uint8_t { kNo, kYes, kUnknown };
struct Solution {
  Feasible feasible = Feasible::kUnknown;
  std::vector<int64_t> model;  // by variable, when kYes
};
/// Is there an integer point that satisfies all constraints? `prefer_last[v]` != 0 marks variables
/// to eliminate last, so that the model gives them small values first (sizes).
/// Cost: microseconds for a dozen variables; gives up (kUnknown) beyond a few hundred rows.
Solution solve_conjunction(std::span<const Constraint> constraints, int variables,
                           std::span<const uint8_t> prefer_last = {});

/// The greatest lower and least upper constant bounds of `lin` that elimination finds under the
/// constraints (not always the tightest over the integers). Half open by the flags: without has_lo
/// there is no lower bound. `empty`: the constraints contradict each other, so that every bound
/// holds.
struct Interval {
  bool has_lo = false, has_hi = false, empty = false;
  int64_t lo = 0, hi = 0;
};
Interval project(std::span<const Constraint> constraints, int variables, const Lin& lin);

}  // namespace exotune
