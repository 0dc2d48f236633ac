#include "core/interp/integer.h"

#include <algorithm>

#include "core/interp/machine.h"

namespace exotune::interp {
namespace {

struct BinaryNode final : IntNode {
  IntOp op;
  IntVal a, b;
  BinaryNode(IntOp o, IntVal x, IntVal y) : op(o), a(std::move(x)), b(std::move(y)) {}
  int64_t eval(Machine& m) const override {
    const int64_t x = a.eval(m);
    // Logic is lazy, as in Python and C: the right side may be meaningful only under the left.
    if (op == IntOp::kAnd) return x != 0 && b.eval(m) != 0;
    if (op == IntOp::kOr) return x != 0 || b.eval(m) != 0;
    const int64_t y = b.eval(m);
    switch (op) {
      case IntOp::kAdd:
        return x + y;
      case IntOp::kMul:
        return x * y;
      case IntOp::kDiv:
        return floor_div(x, y);
      case IntOp::kMod:
        return floor_mod(x, y);
      case IntOp::kLt:
        return x < y;
      case IntOp::kLe:
        return x <= y;
      case IntOp::kEq:
        return x == y;
      case IntOp::kNe:
        return x != y;
      case IntOp::kAnd:
      case IntOp::kOr:
        break;
    }
    return 0;
  }
};

IntVal tree(IntOp op, const IntVal& a, const IntVal& b) {
  return IntVal(std::make_shared<const BinaryNode>(op, a, b));
}

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// `unknown` is the bound that says nothing: the least or the greatest integer. What overflows says
// nothing either.
int64_t add_bound(int64_t a, int64_t b, int64_t unknown) {
  int64_t r;
  if (a == unknown || b == unknown || __builtin_add_overflow(a, b, &r)) return unknown;
  return r;
}
int64_t mul_bound(int64_t a, int64_t k, int64_t unknown) {
  int64_t r;
  if (a == kMin || a == kMax || __builtin_mul_overflow(a, k, &r)) return unknown;
  return r;
}

/// Splits `a` into the terms divisible by `q` and the rest; quotient and remainder are linear when
/// the rest stays inside one multiple of q.
bool split_by(const Lin& a, int64_t q, const Ranges& ranges, Lin* quotient, Lin* remainder) {
  Lin q2, r2;
  q2.constant = floor_div(a.constant, q);
  r2.constant = floor_mod(a.constant, q);
  for (const Lin::Term& t : a.terms) {
    if (t.coeff % q == 0)
      q2.terms.push_back({t.slot, t.coeff / q});
    else
      r2.terms.push_back(t);
  }
  const Range range = ranges.of(r2);
  // Nothing is known of the rest: the division is left to the run.
  if (!range.bounded()) return false;
  const int64_t k = floor_div(range.lo, q);
  // Within one multiple of q all values have the quotient k.
  if (k != floor_div(range.hi, q)) return false;
  q2.constant += k;
  r2.constant -= k * q;
  *quotient = std::move(q2);
  *remainder = std::move(r2);
  return true;
}

}  // namespace

int64_t Lin::coeff_of(int slot) const {
  for (const Term& t : terms)
    if (t.slot == slot) return t.coeff;
  return 0;
}

Lin operator+(const Lin& a, const Lin& b) {
  Lin r;
  r.constant = a.constant + b.constant;
  r.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    // Terms are sorted by slot: one merge.
    if (y == b.terms.end() || (x != a.terms.end() && x->slot < y->slot)) {
      r.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->slot < x->slot) {
      r.terms.push_back(*y++);
    } else {
      if (const int64_t c = x->coeff + y->coeff; c != 0) r.terms.push_back({x->slot, c});
      ++x;
      ++y;
    }
  }
  return r;
}

Lin scaled(const Lin& a, int64_t k) {
  if (k == 0) return {};
  Lin r = a;
  r.constant *= k;
  for (Lin::Term& t : r.terms) t.coeff *= k;
  return r;
}

void Ranges::set(int slot, Range r) {
  if (ranges_.size() <= static_cast<size_t>(slot)) ranges_.resize(static_cast<size_t>(slot) + 1);
  ranges_[static_cast<size_t>(slot)] = r;
}

Range Ranges::of(const Lin& l) const {
  Range r{l.constant, l.constant};
  for (const Lin::Term& t : l.terms) {
    const auto s = static_cast<size_t>(t.slot);
    const Range v = s < ranges_.size() ? ranges_[s] : Range{};
    // A negative factor turns the interval round.
    const int64_t lo = t.coeff > 0 ? v.lo : v.hi, hi = t.coeff > 0 ? v.hi : v.lo;
    r.lo = add_bound(r.lo, mul_bound(lo, t.coeff, kMin), kMin);
    r.hi = add_bound(r.hi, mul_bound(hi, t.coeff, kMax), kMax);
  }
  return r;
}

// Folded as far as ranges allow; a tree otherwise, which is evaluated each time.
IntVal int_op(IntOp op, const IntVal& a, const IntVal& b, const Ranges& ranges) {
  const auto ca = a.constant(), cb = b.constant();
  switch (op) {
    case IntOp::kAdd:
      if (a.is_lin() && b.is_lin()) return a.lin + b.lin;
      break;
    case IntOp::kMul:
      if (cb && a.is_lin()) return scaled(a.lin, *cb);
      if (ca && b.is_lin()) return scaled(b.lin, *ca);
      break;
    case IntOp::kDiv:
    case IntOp::kMod:
      if (a.is_lin() && cb && *cb > 0) {
        Lin quotient, remainder;
        if (split_by(a.lin, *cb, ranges, &quotient, &remainder))
          return op == IntOp::kDiv ? quotient : remainder;
      }
      break;
    case IntOp::kLt:
    case IntOp::kLe:
    case IntOp::kEq:
    case IntOp::kNe:
      if (a.is_lin() && b.is_lin()) {
        const Range d = ranges.of(a.lin + scaled(b.lin, -1));  // a - b
        // a < b holds where a - b is negative for all values, and fails where it is for none.
        if (op == IntOp::kLt && d.hi != kMax && d.hi < 0) return 1;
        if (op == IntOp::kLt && d.lo != kMin && d.lo >= 0) return int64_t{0};
        if (op == IntOp::kLe && d.hi != kMax && d.hi <= 0) return 1;
        if (op == IntOp::kLe && d.lo != kMin && d.lo > 0) return int64_t{0};
        const bool never = (d.lo != kMin && d.lo > 0) || (d.hi != kMax && d.hi < 0);
        const bool always = d.lo == 0 && d.hi == 0;
        if (op == IntOp::kEq && (never || always)) return int64_t{always};
        if (op == IntOp::kNe && (never || always)) return int64_t{never};
      }
      break;
    case IntOp::kAnd:
      if (ca) return *ca ? b : IntVal(int64_t{0});
      // `a and false` is not folded: a may fail.
      if (cb && *cb) return a;
      break;
    case IntOp::kOr:
      if (ca) return *ca ? IntVal(1) : b;
      if (cb && !*cb) return a;
      break;
  }
  return tree(op, a, b);
}

}  // namespace exotune::interp
