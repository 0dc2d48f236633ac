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

/// The language's division on control integers rounds down, C's towards zero; b > 0 is the
/// checker's promise.
inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}
inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

/// Compiled code adds these up without looking at a tree: an address of three subscripts takes
/// three multiplications whatever its expression looked like. constant + sum coeff * ints[slot];
/// terms sorted by slot, no zero coefficient.
struct Lin {
  struct Term {
    int slot;
    int64_t coeff;
  };
  int64_t constant = 0;
  std::vector<Term> terms;

  bool is_constant() const { return terms.empty(); }
  /// 0 for a slot that is not in it.
  int64_t coeff_of(int slot) const;
  int64_t eval(const int64_t* ints) const {
    int64_t v = constant;
    for (const Term& t : terms) v += t.coeff * ints[t.slot];
    return v;
  }
};
Lin operator+(const Lin& a, const Lin& b);
Lin scaled(const Lin& a, int64_t k);

/// What no linear form can say: products, quotients, comparisons, config reads. Shared because a
/// value may be used in several places: it is evaluated again in each, which is what it means,
/// since configuration may have changed between them. `let` (lowering.h) holds a value.
struct IntNode {
  virtual ~IntNode() = default;
  virtual int64_t eval(Machine& m) const = 0;
};

/// Implicit from integers and linear forms on purpose: most values are one of the two, and the
/// arithmetic below takes either.
struct IntVal {
  Lin lin;
  std::shared_ptr<const IntNode> node;  // when set, `lin` means nothing

  IntVal() = default;
  IntVal(int64_t c) { lin.constant = c; }  // NOLINT(runtime/explicit)
  IntVal(Lin l) : lin(std::move(l)) {}     // NOLINT(runtime/explicit)
  explicit IntVal(std::shared_ptr<const IntNode> n) : node(std::move(n)) {}
  static IntVal slot(int s) { return IntVal(Lin{0, {{s, 1}}}); }

  /// Then it may be part of an address, and of a strip.
  bool is_lin() const { return node == nullptr; }
  /// Its value where no slot is in it.
  std::optional<int64_t> constant() const {
    if (node || !lin.is_constant()) return std::nullopt;
    return lin.constant;
  }
  inline int64_t eval(Machine& m) const;
};

/// What is known of a value when compiling: from constants, from the bounds of loops, from
/// conditions. Inclusive; the extremes of int64_t mean unknown.
struct Range {
  int64_t lo = std::numeric_limits<int64_t>::min();
  int64_t hi = std::numeric_limits<int64_t>::max();
  /// Both ends are known: only then is a bound worth comparing with.
  bool bounded() const {
    return lo != std::numeric_limits<int64_t>::min() && hi != std::numeric_limits<int64_t>::max();
  }
};

/// Ranges of the slots, by number. A slot without a range may hold anything; `of` adds up the
/// terms' ranges, and an overflow of the sum counts as unknown, never as a narrow range.
class Ranges {
 public:
  void set(int slot, Range r);
  Range of(const Lin& l) const;
  Range of(const IntVal& v) const { return v.is_lin() ? of(v.lin) : Range{}; }

 private:
  std::vector<Range> ranges_;
};

/// Comparisons and logic give 0 or 1, so that conditions are integers like the rest.
enum class IntOp : uint8_t { kAdd, kMul, kDiv, kMod, kLt, kLe, kEq, kNe, kAnd, kOr };
/// Folds where it can. kDiv and kMod: floor quotient and mathematical remainder, b positive.
IntVal int_op(IntOp op, const IntVal& a, const IntVal& b, const Ranges& ranges);
inline IntVal int_negate(const IntVal& a, const Ranges& r) { return int_op(IntOp::kMul, a, -1, r); }

/// One field of the configuration while a program runs. `present` is false until somebody writes
/// it: reading it before is an error, not zero.
struct ConfigSlot {
  bool present = false;
  int64_t integer = 0;
  double data = 0;
};

}  // namespace exotune::interp
