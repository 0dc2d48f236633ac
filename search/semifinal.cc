#include "search/semifinal.h"

#include <algorithm>
#include <string>

namespace exotune {

namespace {
constexpr int kPlaces = 3;         // as many as GuardedArguments has kinds of
constexpr int kRoundsOfPlace = 5;  // more rounds see more places: what these make out is noise
// Times the fastest: what another program takes while one is timed is less.
constexpr double kOutOfReach = 2;
}  // namespace

size_t time_side_by_side(std::vector<Trial>& trials, size_t most, int rounds, Arena& arena,
                         const TuningProblem& problem) {
  std::vector<Trial*> fastest;
  for (Trial& t : trials)
    if (t.status == TrialStatus::kOk && t.median > 0) fastest.push_back(&t);
  std::stable_sort(fastest.begin(), fastest.end(),
                   [](const Trial* a, const Trial* b) { return a->median < b->median; });
  if (fastest.size() > most) fastest.resize(most);
  while (!fastest.empty() && fastest.back()->median > kOutOfReach * fastest.front()->median)
    fastest.pop_back();
  if (fastest.size() < 2) return 0;
  std::vector<Contender> contenders;
  for (const Trial* t : fastest)
    contenders.push_back(contender_of("#" + std::to_string(contenders.size() + 1), t->candidate));
  ShootoutOptions options;
  options.rounds = rounds;
  options.extend = false;
  options.blocks = std::max(kPlaces, rounds / kRoundsOfPlace);
  const ShootoutResult shot = arena.compete(contenders, problem.args, problem.test, options);
  double before = 0, now = 0;
  const auto timed = [&](size_t k) {
    return shot.contenders[k].status == TrialStatus::kOk && shot.contenders[k].typical > 0;
  };
  for (size_t k = 0; k < fastest.size(); ++k)
    if (timed(k)) {
      before += fastest[k]->median;
      now += shot.contenders[k].typical;
    }
  for (size_t k = 0; k < fastest.size(); ++k)
    if (timed(k)) fastest[k]->median = shot.contenders[k].typical * before / now;
  return fastest.size();
}

}  // namespace exotune
