#pragma once
// What values the integers of a program can have, from their types, literals and assignments.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/ir/proc.h"

namespace exotune::internal {

/// All integers from lo to hi.
struct ValueRange {
  int64_t lo = 0, hi = 0;
  bool holds(const ValueRange& r) const { return lo <= r.lo && r.hi <= hi; }
};
/// What an integer type holds; nothing for others.
std::optional<ValueRange> values_of(ScalarType t);

/// Ranges of expressions, wherever in the program they stand. An allocation that is only assigned
/// to holds what those assignments give; any other buffer what its type holds. What is undefined
/// may be any value, also one beyond.
class ValueRanges {
 public:
  explicit ValueRanges(const Proc& p);
  /// Nothing: not an integer.
  std::optional<ValueRange> of(const ExprPtr& e) const;

 private:
  std::optional<ValueRange> of_buffer(Sym name, ScalarType type) const;
  std::optional<ValueRange> of_operation(const ExprPtr& e) const;

  std::map<Sym, std::vector<ExprPtr>> assigned_;  // by allocation
  std::set<Sym> otherwise_written_;
  mutable std::set<Sym> asked_;  // on the way: what depends on itself is bounded by its type
};

}  // namespace exotune::internal
