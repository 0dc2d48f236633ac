#pragma once
// Results that go past the caches. Start at stream_results.
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// storeu(y[..], v)  ->  stream(y[..], v), .. ; fence()
///
/// Every call that stores into an argument which the procedure only writes becomes a call of the
/// one of `stores` that does the same; `fence` then ends the procedure, since such stores are
/// ordered by nothing else. A line that is stored whole is not read first: results larger than the
/// caches take a third less of the memory's time. Made of inline_call, replace and
/// insert_noop_call. SchedulingError: there is no such call, an iteration may run beside others
/// (a fence is of one thread), or one iteration of a loop stores into more than `rows` rows of
/// results (0: any number): a core collects few lines at once, and sends those that wait in parts.
/// Proposed for results larger than the second cache and a quarter of the last, by as many rows as
/// the core collects.
[[nodiscard]] ProcPtr stream_results(ProcPtr p, const std::vector<ProcPtr>& stores,
                                     const ProcPtr& fence, int64_t rows = 0);

}  // namespace exotune
