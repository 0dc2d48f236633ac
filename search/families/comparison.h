#pragma once
// How long each of several schedules takes at all the sizes of a bucket (tuning.h).
#include <cstddef>
#include <optional>
#include <vector>

#include "runners/shootout.h"

namespace exotune::families {

/// Interleaved measurements of the same contenders, one for each size.
class Comparison {
 public:
  explicit Comparison(size_t contenders) : contenders_(contenders) {}
  void add(ShootoutResult shot) { shots_.push_back(std::move(shot)); }

  /// Did contender `k` run, and compute what it should, at every size?
  bool ran(size_t k) const;
  /// Time of `k` over that of `base`, geometric mean over the sizes; both ran.
  double ratio(size_t base, size_t k) const;
  /// The one with the least geometric mean of its times among those that ran; nothing when none
  /// did.
  std::optional<size_t> fastest() const;

 private:
  size_t contenders_;
  std::vector<ShootoutResult> shots_;
};

}  // namespace exotune::families
