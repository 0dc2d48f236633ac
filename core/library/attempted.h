#pragma once
// Steps that may be refused: a schedule of several goes on without the ones that were.
#include "core/base/diagnostic.h"
#include "core/ir/proc.h"

namespace exotune {

/// p = rewrite(p). False: the core refused, and `p` is as it was.
template <class Rewrite>
bool attempted(ProcPtr& p, const Rewrite& rewrite) {
  try {
    p = rewrite(p);
    return true;
  } catch (const SchedulingError&) {
    return false;
  }
}

}  // namespace exotune
