#pragma once
// PlaceSimplifier: simplify_expr for many expressions at one place. The facts of the place are
// gathered once and equal expressions are simplified once, which is what unrolled code is made of.
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/ir/path.h"
#include "core/ir/proc.h"

namespace exotune {

/// Worth it from two expressions on. Not thread-safe. Simplifying never changes the value at the
/// place: each rule is an equation that holds under the facts, proved when it is used.
class PlaceSimplifier {
 public:
  /// What is known just before the statement at `at`. `p` must outlive this.
  PlaceSimplifier(const Proc& p, Path at);
  ~PlaceSimplifier();
  PlaceSimplifier(const PlaceSimplifier&) = delete;
  PlaceSimplifier& operator=(const PlaceSimplifier&) = delete;

  /// As simplify_expr (queries.h). Cost: a few affine eliminations; none for an expression met
  /// before.
  ExprPtr run(const ExprPtr& e);

 private:
  class Rules;
  std::unique_ptr<Rules> rules_;
  std::unordered_multimap<uint64_t, std::pair<ExprPtr, ExprPtr>> known_;
};

}  // namespace exotune
