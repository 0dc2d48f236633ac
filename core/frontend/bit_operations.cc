#include "core/frontend/bit_operations.h"

#include "core/base/words.h"
#include "core/ir/precision.h"

namespace exotune {
namespace {

constexpr const char* kNoBits = "there are no bit operations on data";
constexpr int kMostBits = 62;  // of a shift whose power of two is a number

/// k of a mask 2^k - 1; nothing for another number.
std::optional<int> low_bits(int64_t mask) {
  for (int k = 1; k <= kMostBits; ++k)
    if (mask == (int64_t{1} << k) - 1) return k;
  return {};
}

std::string power(int bits) { return std::to_string(int64_t{1} << bits); }

int width_of(ScalarType type) { return static_cast<int>(8 * bytes_of(type)); }

// Division cuts towards zero, so that a number is moved up to where none is negative, by a power of
// two that the divisor divides. A quarter of the type's numbers is kept free for it.
std::string moved_up(const SyntaxExpr& x, int by) { return written_term(x) + " + " + power(by); }

std::string where_right(int moved) {
  return ", right from -" + power(moved) + " to " + std::to_string((int64_t{1} << moved) - 1) +
         ": `/` cuts towards zero";
}

InsteadOfBits shifted_right(const SyntaxExpr& x, int by, ScalarType type) {
  const auto range = *integers_of(type);
  const int width = width_of(type), moved = width - 2;
  if (by >= width) return {"", kNoBits};
  if (range.first == 0) return {written_operand(x) + " / " + power(by), ""};
  // All bits are the sign's.
  if (by == width - 1) return {"select(" + written(x) + ", 0, -1, 0)", ""};
  return {"(" + moved_up(x, moved) + ") / " + power(by) + " - " + power(moved - by),
          where_right(moved)};
}

// C computes at least in an int.
InsteadOfBits shifted_left(const SyntaxExpr& x, int by, ScalarType type, ScalarType wanted) {
  if (by >= width_of(ScalarType::kI32) - 1) return {"", kNoBits};
  const bool wider = !is_float(wanted) && bytes_of(wanted) > bytes_of(type);
  const bool fits = (int64_t{1} << by) <= integers_of(type)->second;
  if (!wider && fits) return {written_operand(x) + " * " + power(by), ""};
  const ScalarType in =
      wider && (int64_t{1} << by) <= integers_of(wanted)->second ? wanted : ScalarType::kI32;
  return {std::string(name_of(in)) + "(" + written(x) + ") * " + power(by), ""};
}

InsteadOfBits masked(const SyntaxExpr& x, int bits, ScalarType type) {
  const int width = width_of(type), moved = width - 2;
  const std::string rows = power(bits), a = written_operand(x);
  if (integers_of(type)->first == 0 && bits < width)
    return {a + " - " + rows + " * (" + a + " / " + rows + ")", ""};
  if (integers_of(type)->first == 0 || bits > moved) return {"", kNoBits};
  const std::string up = moved_up(x, moved);
  return {up + " - " + rows + " * ((" + up + ") / " + rows + ")", where_right(moved)};
}

}  // namespace

std::string InsteadOfBits::hint() const {
  return text.empty() ? more : "write " + quoted(text) + more;
}

InsteadOfBits instead_of_data_bits(const SyntaxExpr& e, std::optional<int64_t> right,
                                   ScalarType type, ScalarType wanted) {
  const SyntaxExpr& x = e.children[0];
  if (type == ScalarType::kR || is_float(type))
    return {"", "numbers of a floating type have no bits"};
  const auto [least, greatest] = *integers_of(type);
  // All bits turned round.
  if (e.name == "^" && right && (least < 0 ? *right == -1 : *right == greatest))
    return {std::to_string(*right) + " - " + written_operand(x), ""};
  if (e.name == "|" || e.name == "^")
    return {written_term(x) + " + " + written_term(e.children[1]), ", where no bit is set in both"};
  if (!right) return {"", kNoBits};
  if (e.name == "&") {
    const std::optional<int> bits = low_bits(*right);
    return bits ? masked(x, *bits, type) : InsteadOfBits{"", kNoBits};
  }
  if (*right < 0 || *right > kMostBits) return {"", kNoBits};
  const int by = static_cast<int>(*right);
  return e.name == ">>" ? shifted_right(x, by, type) : shifted_left(x, by, type, wanted);
}

InsteadOfBits instead_of_control_bits(const SyntaxExpr& e, std::optional<int64_t> left,
                                      std::optional<int64_t> right) {
  const std::string x = written_operand(e.children[0]);
  if (e.name == "|") return {"", "write `or` between conditions"};
  if (e.name == "^") return {"", "write `!=` between conditions"};
  if (e.name == "&") {
    const std::optional<int> bits = low_bits(right.value_or(0));
    if (!bits) return {"", "write `and` between conditions"};
    return {x + " % " + power(*bits), ""};
  }
  if (!right)
    return {"", "sizes and indices are affine: write a loop nest for each " +
                    quoted(written(e.children[1])) +
                    ", or a procedure, by a `for` around it: `for L in [1, 2, 4]:`, and in it `def "
                    "stage_$L(...)`, where `$L` is the number"};
  if (*right < 0 || *right > kMostBits) return {};
  const int by = static_cast<int>(*right);
  if (left && *left > 0 && *left <= (int64_t{1} << (kMostBits - by)))
    return {std::to_string(e.name == "<<" ? *left << by : *left >> by), ""};
  return {x + (e.name == "<<" ? " * " : " / ") + power(by), ""};
}

}  // namespace exotune
