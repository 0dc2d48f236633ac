#pragma once
// Whose C may run here. An instruction of a target is C text, which nothing can prove; everything
// else of a record is proved again before it runs. Start at require_trusted; docs/security.md says
// the whole.
#include "cli/record.h"
#include "cli/workspace.h"
#include "db/store.h"

namespace exotune::cli {

/// Keeps that the user named this target for a run: records that name the same text may use it.
/// Never exported, never imported.
void trust(const Target& target, Store& store);

/// Refuses (InputError) to run a record that brings instructions of its own: a target that neither
/// ships with the command, nor was named on this command line (`target_given`), nor was run here
/// before; or a kernel's file, named by a .json, that defines instructions. `store` may be null.
void require_trusted(Workspace& workspace, const Record& record, const KernelInput& input,
                     const Target& target, bool target_given, const Store* store);

}  // namespace exotune::cli
