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
  std::vector<Steps> lists;
  for (const BeamState& state : performed)
    if (std::optional<Steps> own = steps_behind(open_.steps, state.steps))
      lists.push_back(std::move(*own));
  std::vector<BeamState> out;
  for (Extended& e : extend_all(fixed_, lists, context_, deadline))
    if (e.reached && !e.refusal) out.push_back(std::move(e.state));
  return out;
}

}  // namespace exotune
