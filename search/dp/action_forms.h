#pragma once
// What each kind of action is called and which others come to the same schedule: all that is said
// of an action beside how it expands (actions.h) and which steps it becomes (replay.h). Start at
// text_of.
#include <functional>
#include <string>

#include "search/dp/memo.h"

namespace exotune {

/// How a text calls the loops and operands of a Spec: by number in a dump, by name for people.
struct ActionWords {
  std::function<std::string(int)> loop, operand;
};

/// "tile i by 64", "move A to L2 [0, 1]"; a micro-kernel by its name. `from` is what the action is
/// applied to: an operand that stays in its level is copied, not moved.
std::string text_of(const DpAction& action, const Spec& from, ActionSpace& space,
                    const ActionWords& words);

/// What the schedule of an action and of the alternative that goes on with its main part differs by
/// from other schedules: actions that come to the same steps are equal. `next` is null where the
/// action has no parts; `into_registers`: it moves an operand there.
PlanIdentity identity_of(const Expansion& e, const Alternative* next, bool into_registers);

}  // namespace exotune
