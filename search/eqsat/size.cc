#include "search/eqsat/size.h"

#include <algorithm>
#include <iterator>

#include "core/base/diagnostic.h"

namespace exotune::eqsat {
namespace {

constexpr const char* kTooLarge = "elements and multiplications are counted: take smaller extents";

// Sizes come from users' programs: beyond 64 bits is a refusal, not undefined behaviour.
int64_t checked_mul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out))
    throw InputError({}, "a size does not fit 64 bits", kTooLarge);
  return out;
}

int64_t checked_add(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out))
    throw InputError({}, "a size does not fit 64 bits", kTooLarge);
  return out;
}

}  // namespace

SizeTable::Polynomial SizeTable::terms(Size a) const {
  if (a < 0) return polynomials_[static_cast<size_t>(-a - 1)];
  return a == 0 ? Polynomial() : Polynomial{{{}, a}};
}

// A number where it is one. Negative numbers are no sizes; they are kept as polynomials.
Size SizeTable::intern(const Polynomial& p) {
  if (p.empty()) return 0;
  if (p.size() == 1 && p.begin()->first.empty() && p.begin()->second > 0) return p.begin()->second;
  const auto [it, is_new] = known_.try_emplace(p, 0);
  if (is_new) {
    polynomials_.push_back(p);
    it->second = -static_cast<Size>(polynomials_.size());
  }
  return it->second;
}

Size SizeTable::named(const std::string& name) {
  const auto it = std::find(names_.begin(), names_.end(), name);
  const int index = static_cast<int>(it - names_.begin());
  if (it == names_.end()) names_.push_back(name);
  return intern({{{index}, 1}});
}

Size SizeTable::add(Size a, Size b) {
  Polynomial sum = terms(a);
  for (const auto& [monomial, c] : terms(b)) {
    const int64_t now = checked_add(sum[monomial], c);
    if (now == 0)
      sum.erase(monomial);
    else
      sum[monomial] = now;
  }
  return intern(sum);
}

Size SizeTable::sub(Size a, Size b) {
  Polynomial negative = terms(b);
  for (auto& [monomial, c] : negative) c = checked_mul(c, -1);
  return add(a, intern(negative));
}

Size SizeTable::mul(Size a, Size b) {
  Size sum = 0;
  for (const auto& [left, c] : terms(a))
    for (const auto& [right, d] : terms(b)) {
      Monomial product;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(product));
      sum = add(sum, intern({{product, checked_mul(c, d)}}));
    }
  return sum;
}

// Only by a single term: enough for extents of axes, and unique.
std::optional<Size> SizeTable::divide(Size a, Size b) {
  const Polynomial divisor = terms(b);
  if (divisor.size() != 1) return a == b && b != 0 ? std::optional<Size>(1) : std::nullopt;
  const auto& [names, c] = *divisor.begin();
  Polynomial quotient;
  for (const auto& [monomial, d] : terms(a)) {
    if (d % c != 0 || !std::includes(monomial.begin(), monomial.end(), names.begin(), names.end()))
      return std::nullopt;
    Monomial rest;
    std::set_difference(monomial.begin(), monomial.end(), names.begin(), names.end(),
                        std::back_inserter(rest));
    quotient[rest] = d / c;
  }
  return intern(quotient);
}

// Products of names are at least 1 each: where all come in positive numbers, their sum is smallest
// there.
bool SizeTable::at_most(Size a, Size b) {
  int64_t least = 0;
  for (const auto& [monomial, c] : terms(sub(b, a))) {
    if (c < 0 && !monomial.empty()) return false;
    least = checked_add(least, c);
  }
  return least >= 0;
}

int64_t SizeTable::value(Size a, const std::map<std::string, int64_t>& values) const {
  int64_t sum = 0;
  for (const auto& [monomial, c] : terms(a)) {
    int64_t product = c;
    for (const int name : monomial)
      product = checked_mul(product, values.at(names_[static_cast<size_t>(name)]));
    sum = checked_add(sum, product);
  }
  return sum;
}

std::vector<std::string> SizeTable::names(Size a) const {
  std::vector<std::string> found;
  for (const auto& [monomial, c] : terms(a))
    for (const int name : monomial) found.push_back(names_[static_cast<size_t>(name)]);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string SizeTable::str(Size a) const {
  std::string text;
  for (const auto& [monomial, c] : terms(a)) {
    if (!text.empty()) text += " + ";
    if (monomial.empty() || c != 1) text += std::to_string(c);
    for (size_t i = 0; i < monomial.size(); ++i)
      text += (i > 0 || c != 1 ? "*" : "") + names_[static_cast<size_t>(monomial[i])];
  }
  return text.empty() ? "0" : text;
}

}  // namespace exotune::eqsat
