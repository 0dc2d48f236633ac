#include "search/finals.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace exotune {

size_t best_finalist(size_t finalists, const ShootoutResult& shot) {
  if (static_cast<size_t>(shot.winner) < finalists) return static_cast<size_t>(shot.winner);
  size_t best = 0;
  for (size_t k = 1; k < finalists; ++k) {
    const ContenderResult &c = shot.contenders[k], &b = shot.contenders[best];
    if (c.status == TrialStatus::kOk && (b.status != TrialStatus::kOk || c.median < b.median))
      best = k;
  }
  return best;
}

size_t best_over_sizes(const FinalsAtSizes& finals, const ShootoutResult& shot, SizeTable* table) {
  const size_t n = finals.finalists.size(), winner = best_finalist(n, shot);
  std::vector<double> score(n, 0);
  bool compared = false;
  if (table) table->seconds.resize(n);
  const auto add = [&](const ShootoutResult& r) {
    for (size_t k = 0; k < n; ++k) {
      const ContenderResult& c = r.contenders[k];
      const double seconds = c.status == TrialStatus::kOk && c.median > 0 ? c.median : INFINITY;
      score[k] += std::log(seconds);
      if (table) table->seconds[k].push_back(seconds);
    }
  };
  ShootoutOptions options;
  options.rounds = 9;
  options.blocks = 3;
  for (const SizeBinding& sizes : finals.sizes) {
    if (finals.deadline.over()) break;
    const TuningProblem problem =
        make_problem(finals.kernel, sizes, {.seed = finals.seed, .expected = false});
    std::vector<Contender> contenders;
    for (size_t k = 0; k < n; ++k) {
      Candidate c = make_candidate(finals.finalists[k], *finals.target, problem);
      if (k < finals.compilations.size()) c = compiled_as(std::move(c), finals.compilations[k]);
      contenders.push_back(contender_of("#" + std::to_string(k + 1), std::move(c)));
    }
    // Not sooner: what a deadline ends undecided would be a refusal of the finalists' C.
    const DeadlineScope scope(finals.deadline);
    const ShootoutResult there =
        finals.arena->compete(contenders, problem.args, problem.test, options);
    if (finals.deadline.over()) break;
    add(there);
    if (table) table->sizes.push_back(sizes);
    compared = true;
  }
  if (!compared) return winner;
  add(shot);
  const size_t best =
      static_cast<size_t>(std::min_element(score.begin(), score.end()) - score.begin());
  return std::isfinite(score[best]) ? best : winner;
}

}  // namespace exotune
