#pragma once
// Values of control expressions while a proc is looked at: each iterator stands at one value or
// runs over all of its. Start at IndexRanges.
#include <map>

#include "core/ir/proc.h"

namespace exotune {

struct IndexRange {
  int64_t lo = 0, hi = 0;  // inclusive
  bool operator==(const IndexRange&) const = default;
  int64_t count() const { return hi - lo + 1; }
};

class IndexRanges {
 public:
  /// Sizes that `sizes` does not name are 1.
  IndexRanges(const Proc& p, const std::map<std::string, int64_t>& sizes);

  /// By interval arithmetic; exact for affine expressions.
  IndexRange range(const ExprPtr& e) const;
  int64_t value(const ExprPtr& e) const { return range(e).lo; }
  /// Iterations of the loop, with the iterators around it where they stand; never negative.
  int64_t trips(const For& f) const;
  /// Is there some iteration, wherever the iterators around it stand in what they run over?
  bool runs(const For& f) const { return range(f.hi).hi > range(f.lo).lo; }
  /// The iteration that stands for all, counted from 0: the middle one where a bound of a loop
  /// inside follows the iterator (of a triangle as many elements as its rows have on average), else
  /// the first.
  int64_t typical(const For& f) const;

  /// Puts the iterator at its first value plus `step`.
  void enter(const For& f, int64_t step = 0);
  /// Lets it run over all of its values.
  void sweep(const For& f);

 private:
  std::map<Sym, IndexRange> values_;
};

}  // namespace exotune
