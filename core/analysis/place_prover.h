#pragma once
// PlaceProver: prove and prove_equal (queries.h) for many questions at one place. The facts of the
// place are gathered once, and only for a question that arithmetic alone does not decide.
#include <memory>
#include <unordered_map>

#include "core/analysis/queries.h"

namespace exotune {

class Place;
enum class ConfigFacts : uint8_t;  // facts.h

/// Worth it from two questions on: gathering the facts of a place costs as much as several answers.
/// Not thread-safe.
class PlaceProver {
 public:
  /// What is known just before the statement at `at`. `p` must outlive this.
  PlaceProver(const Proc& p, Path at);
  /// `config`: whether reads of configuration mean the values that the statements before left
  /// there.
  PlaceProver(const Proc& p, Path at, ConfigFacts config);
  ~PlaceProver();
  PlaceProver(const PlaceProver&) = delete;
  PlaceProver& operator=(const PlaceProver&) = delete;

  /// As prove() and prove_equal() of queries.h, counter-examples included. What was proved is
  /// remembered, what was not is asked again: a refusal is usually the last question of a step.
  Answer prove(const ExprPtr& cond);
  Answer prove_equal(const ExprPtr& a, const ExprPtr& b);

 private:
  Place& place();

  const Proc& p_;
  const Path at_;
  const ConfigFacts config_;
  std::unique_ptr<Place> place_;
  std::unordered_multimap<uint64_t, ExprPtr> proved_;
};

}  // namespace exotune
