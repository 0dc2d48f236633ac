#include "hw/half_width.h"

#include <algorithm>

namespace exotune {
namespace {

bool runs_where(const Target& half, const Target& target) {
  const auto& has = target.required_features;
  return std::all_of(half.required_features.begin(), half.required_features.end(),
                     [&](const std::string& feature) {
                       return std::find(has.begin(), has.end(), feature) != has.end();
                     });
}

// The same vectors, as a second list of them in a script.
TargetPtr listed_apart(const Target& half) {
  Target out = half;
  out.streams.clear();
  out.stream_fence = nullptr;
  out.estimates.clear();
  for (auto* procs : {&out.library.procs, &out.library.imported_procs})
    for (ProcPtr& p : *procs) {
      if (!p->instr) continue;
      Proc own = *p;
      own.instr->list = kInstructionList + ("_" + half.name);
      p = std::make_shared<const Proc>(std::move(own));
    }
  return std::make_shared<const Target>(std::move(out));
}

// Null: its text is wrong, which whoever asks for it is told.
TargetPtr readable(const std::string& name, const std::vector<std::filesystem::path>& folders) {
  try {
    return load_target(name, folders);
  } catch (const InputError&) {
    return nullptr;
  }
}

}  // namespace

TargetPtr half_width_of(const Target& target) {
  if (!target.runner.is_this_machine() || target.vector_bits == 0) return nullptr;
  const std::vector<std::filesystem::path> beside = {target.folder.parent_path()};
  for (const std::string& name : list_targets(beside)) {
    if (name == target.name) continue;
    const TargetPtr other = readable(name, beside);
    if (other && other->runner.is_this_machine() && other->vector_bits * 2 == target.vector_bits &&
        other->vector_memory != nullptr && runs_where(*other, target))
      return listed_apart(*other);
  }
  return nullptr;
}

}  // namespace exotune
