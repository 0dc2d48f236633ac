#pragma once
// The two plain answers of an analysis. Internal to core/analysis.
#include <utility>

#include "core/analysis/queries.h"

namespace exotune {

inline Answer refused(LazyText why) { return {Verdict::kUnknown, {}, std::move(why)}; }
inline Answer proved() { return {Verdict::kProved, {}, {}}; }

}  // namespace exotune
