#pragma once
// Affine normal form of control expressions: c0 + sum ci * atom, where an atom is a variable, or a
// floor quotient / remainder of a normal form by a positive constant, or a stride or config read.
// Purely syntactic, no facts: the range-aware simplifier is core/analysis.
#include <map>
#include <optional>

#include "core/ir/expr.h"

namespace exotune {

struct Affine {
  struct Term {
    ExprPtr atom;
    int64_t coeff;
  };
  std::vector<Term> terms;  // sorted by the atom's hash; no zero coefficients, atoms distinct
  int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  int64_t coeff_of(Sym s) const;  // of the plain variable s
  friend Affine operator+(const Affine& a, const Affine& b);
  friend Affine operator-(const Affine& a, const Affine& b);
  Affine scaled(int64_t k) const;  // like + and -: SchedulingError beyond 64 bits
  friend bool operator==(const Affine& a, const Affine& b);
};

/// Nothing when `e` is not integer control arithmetic or overflows 64 bits.
std::optional<Affine> affine(const ExprPtr& e);
/// Back to an expression: positive terms first, in order of the atoms' text; 0 when empty.
ExprPtr to_expr(const Affine& a);
/// affine + to_expr where possible, applied to every maximal control subexpression; comparisons
/// between constants and logic on constants fold.
ExprPtr normalize(const ExprPtr& e);
/// True when a - b is zero as normal forms.
bool affine_equal(const ExprPtr& a, const ExprPtr& b);

}  // namespace exotune
