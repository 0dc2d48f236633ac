#include "search/families/half_width.h"

#include <algorithm>

namespace exotune::families {
namespace {

bool runs_where(const Target& half, const Target& target) {
  const auto& has = target.required_features;
  return std::all_of(half.required_features.begin(), half.required_features.end(),
                     [&](const std::string& feature) {
                       return std::find(has.begin(), has.end(), feature) != has.end();
                     });
}

}  // namespace

TargetPtr half_width_of(const Target& target) {
  if (!target.runner.is_this_machine() || target.vector_bits == 0) return nullptr;
  const std::vector<std::filesystem::path> beside = {target.folder.parent_path()};
  for (const std::string& name : list_targets(beside)) {
    if (name == target.name) continue;
    const TargetPtr other = load_target(name, beside);
    if (other->runner.is_this_machine() && other->vector_bits * 2 == target.vector_bits &&
        other->vector_memory != nullptr && runs_where(*other, target))
      return other;
  }
  return nullptr;
}

std::string instructions_name(const Target& half) { return "instrs_" + half.name; }

}  // namespace exotune::families
