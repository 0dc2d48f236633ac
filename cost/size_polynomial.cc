#include "cost/size_polynomial.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace exotune {

namespace {

// Rounding left of coefficients that are sums and products of integers below a million.
constexpr double kZero = 1e-9;

// The sum of 0^d + 1^d + ... + (n - 1)^d as a polynomial in n, by what lower powers add up to:
// n^(d+1) is the sum over k <= d of binomial(d + 1, k) times the sum of k-th powers.
SizePolynomial power_sum(int d, const SizePolynomial& n) {
  SizePolynomial total = n;
  for (int k = 0; k < d; ++k) total = total * n;
  double binomial = 1;
  for (int k = 0; k < d; ++k) {
    total = total - SizePolynomial(binomial) * power_sum(k, n);
    binomial = binomial * (d + 1 - k) / (k + 1);
  }
  return total * SizePolynomial(1.0 / (d + 1));
}

std::string integer_text(double value) { return std::to_string(std::llround(value)); }

}  // namespace

void SizePolynomial::add_term(const Powers& powers, double coefficient) {
  // Powers without a symbol are the constant term.
  double& c = terms_[powers];
  c += coefficient;
  // So that equal polynomials have equal terms.
  if (std::fabs(c) < kZero) terms_.erase(powers);
}

SizePolynomial SizePolynomial::variable(Sym s) {
  SizePolynomial p;
  p.add_term({{s, 1}}, 1);
  return p;
}

std::optional<SizePolynomial> SizePolynomial::of(const ExprPtr& e) {
  if (const auto value = as_int(e)) return SizePolynomial(static_cast<double>(*value));
  if (const auto* read = e->as<Read>())
    return read->idx.empty() ? std::optional(variable(read->name)) : std::nullopt;
  if (const auto* minus = e->as<USub>()) {
    const auto arg = of(minus->arg);
    return arg ? std::optional(SizePolynomial() - *arg) : std::nullopt;
  }
  const auto* op = e->as<BinOp>();
  if (op == nullptr) return std::nullopt;
  const auto a = of(op->lhs), b = of(op->rhs);
  if (!a || !b) return std::nullopt;
  switch (op->op) {
    case BinOpKind::kAdd:
      return *a + *b;
    case BinOpKind::kSub:
      return *a - *b;
    case BinOpKind::kMul:
      return *a * *b;
    // Without rounding down: for counting work the fraction does not matter.
    case BinOpKind::kDiv:
      if (const auto by = as_int(op->rhs); by && *by != 0)
        return *a * SizePolynomial(1.0 / static_cast<double>(*by));
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

SizePolynomial SizePolynomial::operator+(const SizePolynomial& o) const {
  SizePolynomial out = *this;
  for (const auto& [powers, c] : o.terms_) out.add_term(powers, c);
  return out;
}

SizePolynomial SizePolynomial::operator-(const SizePolynomial& o) const {
  SizePolynomial out = *this;
  for (const auto& [powers, c] : o.terms_) out.add_term(powers, -c);
  return out;
}

SizePolynomial SizePolynomial::operator*(const SizePolynomial& o) const {
  SizePolynomial out;
  for (const auto& [mine, a] : terms_)
    for (const auto& [theirs, b] : o.terms_) {
      Powers powers = mine;
      for (const auto& [s, n] : theirs) powers[s] += n;
      out.add_term(powers, a * b);
    }
  return out;
}

bool SizePolynomial::mentions(Sym s) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const auto& term) { return term.first.count(s) > 0; });
}

std::optional<double> SizePolynomial::coefficient(Sym s) const {
  double found = 0;
  for (const auto& [powers, c] : terms_) {
    if (powers.count(s) == 0) continue;
    // With another symbol, or squared, it has no single coefficient.
    if (powers != Powers{{s, 1}}) return std::nullopt;
    found = c;
  }
  return found;
}

SizePolynomial SizePolynomial::substitute(Sym s, const SizePolynomial& by) const {
  SizePolynomial out;
  for (const auto& [powers, c] : terms_) {
    Powers rest = powers;
    int times = 0;
    if (const auto it = rest.find(s); it != rest.end()) {
      times = it->second;
      rest.erase(it);
    }
    SizePolynomial term;
    term.add_term(rest, c);
    for (; times > 0; --times) term = term * by;
    out = out + term;
  }
  return out;
}

SizePolynomial SizePolynomial::sum(Sym s, const SizePolynomial& lo,
                                   const SizePolynomial& hi) const {
  SizePolynomial out;
  for (const auto& [powers, c] : terms_) {
    Powers rest = powers;
    int degree = 0;
    if (const auto it = rest.find(s); it != rest.end()) {
      degree = it->second;
      rest.erase(it);
    }
    SizePolynomial factor;
    factor.add_term(rest, c);
    // Over lo <= s < hi: what runs to hi, less what runs to lo.
    out = out + factor * (power_sum(degree, hi) - power_sum(degree, lo));
  }
  return out;
}

double SizePolynomial::evaluate(const std::map<Sym, double>& values) const {
  double total = 0;
  for (const auto& [powers, c] : terms_) {
    double term = c;
    for (const auto& [s, n] : powers) {
      const auto it = values.find(s);
      term *= std::pow(it == values.end() ? 0.0 : it->second, n);
    }
    total += term;
  }
  return total;
}

std::string SizePolynomial::str() const {
  if (terms_.empty()) return "0";
  // One denominator for all: that of sums of powers divides a small factorial.
  int denominator = 1;
  const auto whole = [&](double c) {
    return std::fabs(c * denominator - std::round(c * denominator)) < 1e-6;
  };
  // 7!: sums of seven loops inside each other.
  while (denominator < 5040 &&
         !std::all_of(terms_.begin(), terms_.end(), [&](const auto& t) { return whole(t.second); }))
    ++denominator;
  std::vector<std::pair<Powers, double>> sorted(terms_.begin(), terms_.end());
  const auto degree = [](const Powers& p) {
    int total = 0;
    for (const auto& [s, n] : p) total += n;
    return total;
  };
  // The highest degree first, as people write it; ties by symbols' order.
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return degree(a.first) > degree(b.first); });
  std::string out;
  for (const auto& [powers, c] : sorted) {
    const double scaled = c * denominator;
    std::string term;
    if (std::llround(std::fabs(scaled)) != 1 || powers.empty())
      term = integer_text(std::fabs(scaled));
    for (const auto& [s, n] : powers)
      for (int k = 0; k < n; ++k) term += (term.empty() ? "" : "*") + s.name();
    if (out.empty())
      // Formulas have no sign in front.
      out = scaled < 0 ? "0 - " + term : term;
    else
      out += (scaled < 0 ? " - " : " + ") + term;
  }
  return denominator == 1 ? out : "(" + out + ")/" + std::to_string(denominator);
}

}  // namespace exotune
