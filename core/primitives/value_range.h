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

/// So many times the values of `r` added up, or any fewer of them, 0 among them; nothing beyond
/// 2^60.
std::optional<ValueRange> sums_of(const ValueRange& r, int64_t times);

/// Ranges of expressions, wherever in the program they stand. An allocation that is assigned to and
/// added to holds what those assignments give, and what so many iterations add; any other buffer
/// what its type holds. What is undefined may be any value, also one beyond.
class ValueRanges {
 public:
  explicit ValueRanges(const Proc& p);
  /// Nothing: not an integer.
  std::optional<ValueRange> of(const ExprPtr& e) const;

 private:
  // x += value, at most so many times for one element while it lives.
  struct Addition {
    ExprPtr value;
    int64_t times = 1;
  };
  void read(const Block& block, std::vector<const For*>& around);
  void read_addition(const Reduce& r, const std::vector<const For*>& around);
  std::optional<ValueRange> of_buffer(Sym name, ScalarType type) const;
  std::optional<ValueRange> with_additions(Sym name, ValueRange begun) const;
  std::optional<ValueRange> of_operation(const ExprPtr& e) const;

  std::map<Sym, std::vector<ExprPtr>> assigned_;  // by allocation
  std::map<Sym, std::vector<Addition>> added_;
  std::map<Sym, size_t> depth_;  // of the allocation: how many loops are around it
  std::set<Sym> otherwise_written_;
  mutable std::set<Sym> asked_;  // on the way: what depends on itself is bounded by its type
};

}  // namespace exotune::internal
