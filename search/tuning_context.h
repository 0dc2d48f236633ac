#pragma once
// What every search for one kernel on one target shares: the step that fixes its sizes, its script
// as text, and the key its trials are stored under.
#include <string>

#include "core/library/step.h"
#include "db/store.h"
#include "hw/kernel_table.h"
#include "hw/machine.h"
#include "hw/target.h"
#include "runners/toolchain.h"

namespace exotune {

/// partial_eval(K=512, M=512, N=512) for the sizes that the proc has; no step for none.
Steps fixing_steps(const Proc& p, const SizeBinding& sizes);

/// `p` with those of its sizes fixed that `sizes` names. InputError at an assert that they break.
ProcPtr at_sizes(ProcPtr p, const SizeBinding& sizes);
/// With `x = x + e`, `x = fmax(e, x)` and the like as the reductions that they are (fold_updates);
/// as it is where there are none. Whoever looks for sums asks for this form.
ProcPtr with_folded_updates(ProcPtr p);

/// "K=512,M=512,N=512"
std::string sizes_text(const SizeBinding& sizes);

/// " (2 threads)" after a key's sizes; "" for one.
std::string threads_text(int threads);

/// The script's text: the kernel, then the steps.
std::string script_text(const Proc& kernel, const Steps& steps);

/// The key of a kernel's trials at `sizes` (as text) on this machine, but for the compiler.
TrialKey context_key(const Proc& kernel, const std::string& sizes, const Target& target,
                     const Machine& machine);

/// The whole key; enters the machine and the
/// kernel's name in the store.
TrialKey enter_context(const ProcPtr& kernel, const std::string& name, const std::string& sizes,
                       const Target& target, const Machine& machine,
                       const TargetToolchain& toolchain, Store& store);

}  // namespace exotune
