#pragma once
// SizePolynomial: a polynomial over sizes and iterators with rational coefficients, enough to count
// the points of nests whose bounds are affine. Start at SizePolynomial::sum.
#include <map>
#include <optional>
#include <string>

#include "core/ir/expr.h"

namespace exotune {

class SizePolynomial {
 public:
  SizePolynomial() = default;
  SizePolynomial(double constant) { add_term({}, constant); }  // NOLINT(runtime/explicit)
  static SizePolynomial variable(Sym s);
  /// Of a control expression; quotients count as real ones. Nothing for what is no polynomial
  /// (remainders, strides, comparisons).
  static std::optional<SizePolynomial> of(const ExprPtr& e);

  SizePolynomial operator+(const SizePolynomial& o) const;
  SizePolynomial operator-(const SizePolynomial& o) const;
  SizePolynomial operator*(const SizePolynomial& o) const;

  bool mentions(Sym s) const;
  /// The constant that stands before `s`, when `s` occurs in the first power and alone; else
  /// nothing. 0 when it does not occur.
  std::optional<double> coefficient(Sym s) const;
  SizePolynomial substitute(Sym s, const SizePolynomial& by) const;
  /// The sum over s = lo, ..., hi - 1.
  SizePolynomial sum(Sym s, const SizePolynomial& lo, const SizePolynomial& hi) const;
  /// Symbols without a value count as 0.
  double evaluate(const std::map<Sym, double>& values) const;

  /// "2*M*N*K + 3*M", "(N*N + N)/2": as a SizeFormula reads it, highest powers first.
  std::string str() const;

 private:
  using Powers = std::map<Sym, int>;
  void add_term(const Powers& powers, double coefficient);
  std::map<Powers, double> terms_;
};

}  // namespace exotune
