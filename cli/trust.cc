#include "cli/trust.h"

#include <algorithm>

#include "db/record_text.h"

namespace exotune::cli {
namespace {

FigureKey trust_key(const Target& target) { return {target.name, target.hash, "", kTrustKind}; }

bool ships_with_us(Workspace& workspace, const Target& target) {
  const std::vector<TargetPtr> ours = workspace.all_targets();
  return std::any_of(ours.begin(), ours.end(),
                     [&](const TargetPtr& each) { return each->hash == target.hash; });
}

}  // namespace

void trust(const Target& target, Store& store) {
  const FigureKey key = trust_key(target);
  if (store.figures(key).empty()) store.put_figures(key, {{"named by the user", 1}});
}

void require_trusted(Workspace& workspace, const Record& record, const KernelInput& input,
                     const Target& target, bool target_given, const Store* store) {
  const bool known = target_given || ships_with_us(workspace, target) ||
                     (store != nullptr && !store->figures(trust_key(target)).empty());
  if (!known)
    throw InputError({},
                     record.origin + " names the target in '" + target.folder.string() +
                         "', whose instructions are C that has never run here",
                     "read them, then say so: --target " + target.folder.string());
  const bool file_of_record = record.from_file && input.entry == nullptr;
  const bool brings_own = std::any_of(input.module.procs.begin(), input.module.procs.end(),
                                      [](const ProcPtr& p) { return p->instr.has_value(); });
  if (file_of_record && brings_own)
    throw InputError({},
                     record.origin + " names the kernel " + record.kernel +
                         ", whose file defines instructions: C that would run here",
                     "read it, then name both yourself: exo-tune bench " + record.kernel + " " +
                         record.script_name);
}

}  // namespace exotune::cli
