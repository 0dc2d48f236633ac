#include "search/rehearsal.h"

#include "search/tuning_context.h"

namespace exotune {

Rehearsal::Rehearsal(const BeamState& start, const SizeBinding& sizes, const BeamContext& context)
    : open_(start), fixed_(first_state(at_sizes(start.proc, sizes), context)), context_(context) {}

std::vector<Extended> Rehearsal::perform(const std::vector<Steps>& lists,
                                         const Deadline& deadline) const {
  return extend_all(open_, lists, context_, deadline);
}

std::vector<BeamState> Rehearsal::rehearsed(const std::vector<BeamState>& performed,
                                            const Deadline& deadline) const {
  const auto own = static_cast<std::ptrdiff_t>(open_.steps.size());
  std::vector<Steps> lists;
  for (const BeamState& state : performed)
    lists.emplace_back(state.steps.begin() + own, state.steps.end());
  std::vector<BeamState> out;
  for (Extended& e : extend_all(fixed_, lists, context_, deadline))
    if (e.reached && !e.refusal) out.push_back(std::move(e.state));
  return out;
}

}  // namespace exotune
