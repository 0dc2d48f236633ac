#include "core/analysis/linear.h"

#include <algorithm>

namespace exotune {

// For b > 0, as everywhere here.
int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b < 0) ? q - 1 : q;
}

int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}

Lin Lin::variable(int var, int64_t coeff) {
  Lin out;
  if (coeff != 0) out.terms.push_back({var, coeff});
  return out;
}

int64_t Lin::coeff_of(int var) const {
  for (const Term& t : terms)
    if (t.var == var) return t.coeff;
  return 0;
}

Lin& Lin::add_constant(int64_t c) {
  // Once it has overflowed a form says nothing: solvers answer unknown to it.
  overflow |= __builtin_add_overflow(constant, c, &constant);
  return *this;
}

Lin& Lin::add(const Lin& other, int64_t scale) {
  overflow |= other.overflow;
  if (scale == 0) return *this;
  int64_t scaled_constant;
  overflow |= __builtin_mul_overflow(other.constant, scale, &scaled_constant);
  add_constant(scaled_constant);
  if (other.terms.empty()) return *this;
  // Sorted by variable, without zero coefficients.
  decltype(terms) merged;
  size_t i = 0, j = 0;
  while (i < terms.size() || j < other.terms.size()) {
    if (j == other.terms.size() || (i < terms.size() && terms[i].var < other.terms[j].var)) {
      merged.push_back(terms[i++]);
      continue;
    }
    int64_t product;
    overflow |= __builtin_mul_overflow(other.terms[j].coeff, scale, &product);
    if (i < terms.size() && terms[i].var == other.terms[j].var) {
      int64_t sum;
      overflow |= __builtin_add_overflow(terms[i].coeff, product, &sum);
      if (sum != 0) merged.push_back({terms[i].var, sum});
      ++i;
    } else {
      merged.push_back({other.terms[j].var, product});
    }
    ++j;
  }
  terms = std::move(merged);
  return *this;
}

Lin Lin::scaled(int64_t k) const {
  Lin out;
  out.add(*this, k);
  return out;
}

Formula Formula::truth(bool b) {
  Formula f;
  f.kind = b ? Kind::kTrue : Kind::kFalse;
  return f;
}

Formula Formula::at_least_zero(Lin lin) {
  // Formulas never hold constants, so that "is it decided" is one look at the kind.
  if (lin.is_constant()) return truth(lin.constant >= 0);
  Formula f;
  f.kind = Kind::kAtom;
  f.atom = {std::move(lin), false};
  return f;
}

Formula Formula::equals_zero(Lin lin) {
  if (lin.is_constant()) return truth(lin.constant == 0);
  Formula f;
  f.kind = Kind::kAtom;
  f.atom = {std::move(lin), true};
  return f;
}

Formula Formula::not_zero(const Lin& lin) {
  if (lin.is_constant()) return truth(lin.constant != 0);
  // Integers: x != 0 is x >= 1 or -x >= 1.
  Lin above = lin, below = lin.scaled(-1);
  above.add_constant(-1);
  below.add_constant(-1);
  return any_of({at_least_zero(std::move(above)), at_least_zero(std::move(below))});
}

namespace {
// And and Or differ only in which constant absorbs and which vanishes.
Formula gather(Formula::Kind kind, std::vector<Formula> kids) {
  const Formula::Kind absorbing =
      kind == Formula::Kind::kAnd ? Formula::Kind::kFalse : Formula::Kind::kTrue;
  const Formula::Kind neutral =
      kind == Formula::Kind::kAnd ? Formula::Kind::kTrue : Formula::Kind::kFalse;
  Formula out;
  out.kind = kind;
  for (Formula& kid : kids) {
    if (kid.kind == absorbing) return Formula::truth(absorbing == Formula::Kind::kTrue);
    if (kid.kind == neutral) continue;
    // Nested conjunctions are one, which keeps case splits flat.
    if (kid.kind == kind) {
      for (Formula& grandchild : kid.kids) out.kids.push_back(std::move(grandchild));
    } else {
      out.kids.push_back(std::move(kid));
    }
  }
  if (out.kids.empty()) return Formula::truth(neutral == Formula::Kind::kTrue);
  if (out.kids.size() == 1) {
    Formula only = std::move(out.kids[0]);
    return only;
  }
  return out;
}
}  // namespace

Formula Formula::all_of(std::vector<Formula> kids) { return gather(Kind::kAnd, std::move(kids)); }
Formula Formula::any_of(std::vector<Formula> kids) { return gather(Kind::kOr, std::move(kids)); }

Formula negated(const Formula& f) {
  switch (f.kind) {
    case Formula::Kind::kTrue:
      return Formula::truth(false);
    case Formula::Kind::kFalse:
      return Formula::truth(true);
    case Formula::Kind::kAtom: {
      if (f.atom.equality) return Formula::not_zero(f.atom.lin);
      // not (x >= 0) is -x - 1 >= 0.
      Lin flipped = f.atom.lin.scaled(-1);
      flipped.add_constant(-1);
      return Formula::at_least_zero(std::move(flipped));
    }
    case Formula::Kind::kAnd:
    case Formula::Kind::kOr: {
      std::vector<Formula> kids;
      for (const Formula& kid : f.kids) kids.push_back(negated(kid));
      return f.kind == Formula::Kind::kAnd ? Formula::any_of(std::move(kids))
                                           : Formula::all_of(std::move(kids));
    }
  }
  return Formula::truth(true);
}

bool holds(const Constraint& c, std::span<const int64_t> model) {
  // Products of two 64-bit numbers fit; only their sum might not.
  __int128 sum = c.lin.constant;
  for (const Lin::Term& t : c.lin.terms)
    if (static_cast<size_t>(t.var) < model.size() &&
        __builtin_add_overflow(sum, static_cast<__int128>(t.coeff) * model[t.var], &sum))
      return false;
  // A form that overflowed is satisfied by nothing.
  return !c.lin.overflow && (c.equality ? sum == 0 : sum >= 0);
}

bool holds(const Formula& f, std::span<const int64_t> model) {
  switch (f.kind) {
    case Formula::Kind::kTrue:
      return true;
    case Formula::Kind::kFalse:
      return false;
    case Formula::Kind::kAtom:
      return holds(f.atom, model);
    case Formula::Kind::kAnd:
      return std::all_of(f.kids.begin(), f.kids.end(),
                         [&](const Formula& k) { return holds(k, model); });
    case Formula::Kind::kOr:
      return std::any_of(f.kids.begin(), f.kids.end(),
                         [&](const Formula& k) { return holds(k, model); });
  }
  return false;
}

}  // namespace exotune
