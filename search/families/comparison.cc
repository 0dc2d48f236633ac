#include "search/families/comparison.h"

#include <algorithm>
#include <cmath>

namespace exotune::families {

bool Comparison::ran(size_t k) const {
  return std::all_of(shots_.begin(), shots_.end(), [&](const ShootoutResult& shot) {
    return shot.contenders[k].status == TrialStatus::kOk;
  });
}

double Comparison::ratio(size_t base, size_t k) const {
  double logs = 0;
  for (const ShootoutResult& shot : shots_) logs += std::log(shot.ratio(base, k).median);
  return std::exp(logs / static_cast<double>(shots_.size()));
}

std::optional<size_t> Comparison::fastest() const {
  std::optional<size_t> best;
  double least = 0;
  for (size_t k = 0; k < contenders_; ++k) {
    if (!ran(k)) continue;
    double logs = 0;
    for (const ShootoutResult& shot : shots_) logs += std::log(shot.contenders[k].median);
    if (!best || logs < least) {
      best = k;
      least = logs;
    }
  }
  return best;
}

}  // namespace exotune::families
