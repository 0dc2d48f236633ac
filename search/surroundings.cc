#include "search/surroundings.h"

#include <algorithm>

namespace exotune {

namespace {

// Made states by kind of change, the cheapest of each kind first. Of what prefetching is worth the
// cost knows nothing: those keep the order of the schedules that they stand around.
using StatesOfKinds = std::vector<std::vector<size_t>>;

void cheapest_first(const std::vector<BeamState>& made, StatesOfKinds& kinds) {
  for (size_t change = 0; change < kinds.size(); ++change)
    if (change != static_cast<size_t>(Change::kPrefetching))
      std::stable_sort(kinds[change].begin(), kinds[change].end(), [&](size_t a, size_t b) {
        return made[a].cost.cycles < made[b].cost.cycles;
      });
}

// One of each kind in turn, so that no kind is left unmeasured when only a few are.
std::vector<BeamState> kinds_in_turn(std::vector<BeamState> made, const StatesOfKinds& kinds,
                                     size_t most) {
  size_t longest = 0;
  for (const std::vector<size_t>& kind : kinds) longest = std::max(longest, kind.size());
  std::vector<BeamState> out;
  std::set<std::string> taken;
  for (size_t turn = 0; turn < longest; ++turn)
    for (const std::vector<size_t>& kind : kinds)
      if (turn < kind.size() && out.size() < most)
        if (BeamState& state = made[kind[turn]]; taken.insert(state.text_hash).second)
          out.push_back(std::move(state));
  return out;
}

}  // namespace

Surroundings surroundings_of(const std::vector<BeamState>& good, size_t most,
                             const BeamState& start, const Neighbourhood& where,
                             const BeamContext& context, const std::set<std::string>& seen,
                             const Deadline& deadline) {
  std::set<std::string> asked;
  std::vector<Steps> lists;
  std::vector<Change> changes;
  for (const BeamState& state : good)
    for (const Neighbour& n : neighbours_of(state.steps, where))
      if (asked.insert(key_of(n.steps)).second)
        if (std::optional<Steps> own = steps_behind(start.steps, n.steps)) {
          lists.push_back(std::move(*own));
          changes.push_back(n.change);
        }
  std::vector<Extended> results = extend_all(start, lists, context, deadline);
  std::vector<BeamState> made(lists.size());
  Surroundings out;
  out.made = static_cast<int>(made.size());
  StatesOfKinds of_kind(kChanges);
  for (size_t k = 0; k < made.size(); ++k) {
    if (results[k].refusal) out.refusals.push_back(std::move(*results[k].refusal));
    if (!results[k].reached || results[k].refusal) continue;
    made[k] = std::move(results[k].state);
    if (!seen.count(made[k].text_hash)) of_kind[static_cast<size_t>(changes[k])].push_back(k);
  }
  cheapest_first(made, of_kind);
  out.states = kinds_in_turn(std::move(made), of_kind, most);
  return out;
}

}  // namespace exotune
