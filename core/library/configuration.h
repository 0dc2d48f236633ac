#pragma once
// Instructions that want the device configured: bringing them in with the settings they assert, and
// setting the device as seldom as possible. Made of primitives only. Exo 2 section 6.1.2 and
// appendix B; thesis 2.4.
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// s  ->  config_f(...); f(...)
///
/// replace_all in a block, for a target with configuration: where an instruction fits but for what
/// it asserts of config fields (`Cfg.f == e`, `Cfg.f`, `not Cfg.f`), its settings are written
/// first, by those of `instrs` that do nothing but write them, or else field by field. The first of
/// `instrs` that fits is taken; settings that hold already are not written.
/// Proposed for accelerators: wherever an instruction fits.
ProcPtr replace_configured(ProcPtr p, const Where& block, const std::vector<ProcPtr>& instrs);

/// for i: config_f(...); s  ->  config_f(...); for i: s
///
/// Moves everything that only writes configuration as far up and out as it goes, and deletes what
/// sets a field to the value that it has. What cannot move stays: nothing is refused.
/// Proposed for accelerators, always: settings before the loops.
ProcPtr hoist_config(ProcPtr p);

}  // namespace exotune
