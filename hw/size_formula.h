#pragma once
// SizeFormula: a polynomial over size names, "2*M*N*K + M": how many operations or bytes a kernel
// takes, as its table says it in text.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"

namespace exotune {

using SizeBinding = std::map<std::string, int64_t>;

/// Evaluated in doubles: counts of operations pass 2^63 for sizes that users try. Cheap to copy.
class SizeFormula {
 public:
  SizeFormula() = default;
  /// Integers, names, + - * and parentheses. Throws InputError at `where` (columns count on inside
  /// the text) when it is no such formula.
  explicit SizeFormula(std::string text, SourceLocation where = {});

  const std::string& text() const { return text_; }
  /// The names it mentions, sorted.
  std::vector<std::string> names() const;
  /// Throws InputError when a name has no value.
  double evaluate(const SizeBinding& sizes) const;

 private:
  enum class Op : uint8_t { kNumber, kName, kAdd, kSub, kMul };
  struct Step {
    Op op;
    double number = 0;
    std::string name;
  };
  friend class SizeFormulaParser;
  std::string text_;
  SourceLocation where_;
  std::vector<Step> steps_;  // reverse Polish
};

}  // namespace exotune
