#pragma once
// Control integers of the interpreter, compiled: `IntVal` is a linear form over the frame's slots
// where that is possible and a small tree otherwise. Start at IntVal; the arithmetic folds
// constants and uses the known ranges of slots.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace exotune::interp {

struct Machine;

inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}
inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

/// constant + sum coeff * ints[slot]; terms sorted by slot, no zero coefficient.
struct Lin {
  struct Term {
    int slot;
    int64_t coeff;
  };
  int64_t constant = 0;
  std::vector<Term> terms;

  bool is_constant() const { return terms.empty(); }
  int64_t coeff_of(int slot) const;
  int64_t eval(const int64_t* ints) const {
    int64_t v = constant;
    for (const Term& t : terms) v += t.coeff * ints[t.slot];
    return v;
  }
};
Lin operator+(const Lin& a, const Lin& b);
Lin scaled(const Lin& a, int64_t k);

/// What no linear form can say: products, quotients, comparisons, config reads.
struct IntNode {
  virtual ~IntNode() = default;
  virtual int64_t eval(Machine& m) const = 0;
};

struct IntVal {
  Lin lin;
  std::shared_ptr<const IntNode> node;  // when set, `lin` means nothing

  IntVal() = default;
  IntVal(int64_t c) { lin.constant = c; }  // NOLINT(runtime/explicit)
  IntVal(Lin l) : lin(std::move(l)) {}     // NOLINT(runtime/explicit)
  explicit IntVal(std::shared_ptr<const IntNode> n) : node(std::move(n)) {}
  static IntVal slot(int s) { return IntVal(Lin{0, {{s, 1}}}); }

  bool is_lin() const { return node == nullptr; }
  std::optional<int64_t> constant() const {
    if (node || !lin.is_constant()) return std::nullopt;
    return lin.constant;
  }
  inline int64_t eval(Machine& m) const;
};

/// Inclusive; the extremes of int64_t mean unknown.
struct Range {
  int64_t lo = std::numeric_limits<int64_t>::min();
  int64_t hi = std::numeric_limits<int64_t>::max();
  bool bounded() const {
    return lo != std::numeric_limits<int64_t>::min() && hi != std::numeric_limits<int64_t>::max();
  }
};

/// Ranges of the slots, by number.
class Ranges {
 public:
  void set(int slot, Range r);
  Range of(const Lin& l) const;
  Range of(const IntVal& v) const { return v.is_lin() ? of(v.lin) : Range{}; }

 private:
  std::vector<Range> ranges_;
};

enum class IntOp : uint8_t { kAdd, kMul, kDiv, kMod, kLt, kLe, kEq, kNe, kAnd, kOr };
/// Folds where it can. kDiv and kMod: floor quotient and mathematical remainder, b positive.
IntVal int_op(IntOp op, const IntVal& a, const IntVal& b, const Ranges& ranges);
inline IntVal int_negate(const IntVal& a, const Ranges& r) { return int_op(IntOp::kMul, a, -1, r); }

struct ConfigSlot {
  bool present = false;
  int64_t integer = 0;
  double data = 0;
};

}  // namespace exotune::interp
