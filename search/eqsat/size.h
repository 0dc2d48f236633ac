#pragma once
// Sizes of axes: numbers, or polynomials in named sizes (N, 2*N, M*N + 1). Start at SizeTable.
//
// A size is one integer, so that it can be a parameter of an operator: numbers stand for
// themselves, polynomials for their place in a table (as negative integers). All named sizes are at
// least 1.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace exotune::eqsat {

using Size = int64_t;

/// Polynomials are kept once each, so that equal sizes are equal integers. Sizes are compared by
/// value only where they are numbers; whoever needs more asks for names and values.
class SizeTable {
 public:
  /// The polynomial that is this name.
  Size named(const std::string& name);

  /// Numbers overflow to a refusal (InputError) rather than wrap.
  Size add(Size a, Size b);
  Size sub(Size a, Size b);
  Size mul(Size a, Size b);
  /// a / b where that is a polynomial again: 4*N / 2, M*N / N; nothing otherwise.
  std::optional<Size> divide(Size a, Size b);

  /// Whether a <= b whatever the names' values are; false where that depends on them, or is not
  /// seen.
  bool at_most(Size a, Size b);

  /// Its value; nothing where it has names.
  static std::optional<int64_t> number(Size a) {
    return a >= 0 ? std::optional<int64_t>(a) : std::nullopt;
  }
  /// Its value when the names have these values.
  int64_t value(Size a, const std::map<std::string, int64_t>& names) const;
  /// Names that occur in it.
  std::vector<std::string> names(Size a) const;
  /// As a person would write it: "2*N + 1".
  std::string str(Size a) const;

 private:
  using Monomial = std::vector<int>;               // names, sorted; empty: 1
  using Polynomial = std::map<Monomial, int64_t>;  // no coefficient is 0
  Polynomial terms(Size a) const;
  Size intern(const Polynomial& p);

  std::vector<std::string> names_;
  std::vector<Polynomial> polynomials_;
  std::map<Polynomial, Size> known_;
};

}  // namespace exotune::eqsat
