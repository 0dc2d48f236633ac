#include "search/dp/action_forms.h"

#include "core/base/hashing.h"

namespace exotune {
namespace {

std::string text_of_move(const DpAction& a, const OperandState& from, ActionSpace& space,
                         const std::string& operand) {
  const DpLevel& level = space.machine().levels[a.to.level];
  std::string text = (from.level == a.to.level ? "copy " : "move ") + operand + " to " + level.name;
  if (level.layouts && a.to.layout != from.layout)
    text += " " + space.layouts().at(a.to.layout).str();
  return text;
}

uint64_t whole(const Alternative& a) {
  return hash_combine(hash_combine(static_cast<uint64_t>(a.action.kind), a.identity.run),
                      a.identity.rest);
}

uint64_t with_extents(uint64_t hash, const Expansion& e) {
  for (const uint32_t extent : e.part[e.main].spec.extents) hash = hash_combine(hash, extent);
  return hash;
}

PlanIdentity identity_of_move(const Expansion& e, const Alternative& next, bool into_registers) {
  const DpAction& a = e.action;
  const bool goes_on = next.action.kind == ActionKind::kMove;
  // No copy: all that is left of it is that tiles before and after differ.
  if (e.parts == 1)
    return {goes_on ? next.identity.run : 0, goes_on ? next.identity.rest : whole(next)};
  // The script leaves the rest to a micro-kernel of this size.
  if (into_registers) return {0, with_extents(a.index, e)};
  const uint64_t move = hash_mix(a.index + (uint64_t{a.to.level} << 8) +
                                 (uint64_t{a.to.layout} << 16) + (uint64_t{a.to.vector} << 32));
  // The order of moves that follow each other does not matter: their sum does.
  if (goes_on) return {move + next.identity.run, next.identity.rest};
  return {move, whole(next)};
}

}  // namespace

std::string text_of(const DpAction& a, const Spec& from, ActionSpace& space,
                    const ActionWords& words) {
  const DpMachine& machine = space.machine();
  switch (a.kind) {
    case ActionKind::kSelect:
      return machine.kernels[a.index].name;
    case ActionKind::kInitialise:
      return "initialise";
    case ActionKind::kTile:
      return "tile " + words.loop(a.index) + " by " + std::to_string(a.size);
    case ActionKind::kParallelTile:
      return "share out " + words.loop(a.index) + " by " + std::to_string(a.size) + " to " +
             std::to_string(machine.threads) + " threads";
    case ActionKind::kMove:
      return text_of_move(a, from.operands[a.index], space, words.operand(a.index));
  }
  return "";
}

// The memo keeps one plan of each identity: actions whose steps would be the same must be alike
// here, or the eight plans asked for are one schedule eight times.
PlanIdentity identity_of(const Expansion& e, const Alternative* next, bool into_registers) {
  const DpAction& a = e.action;
  switch (a.kind) {
    case ActionKind::kSelect:
      return {0, a.index};
    case ActionKind::kInitialise:
      return {0, whole(*next)};
    case ActionKind::kTile:
      // Tiles of tiles come to the last one.
      if (next->action.kind == ActionKind::kTile) return next->identity;
      return {0, with_extents(whole(*next), e)};
    case ActionKind::kParallelTile:
      return {0, with_extents(hash_mix(whole(*next) + a.index), e)};
    case ActionKind::kMove:
      return identity_of_move(e, *next, into_registers);
  }
  return {};
}

}  // namespace exotune
