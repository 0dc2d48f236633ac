#pragma once
// Instructions that do the same in another way: past the caches, by estimates. Start at call_twins.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/primitives/primitives.h"

namespace exotune {

/// An instruction's twin among others: the first whose arguments and body say the same.
class Twins {
 public:
  explicit Twins(const std::vector<ProcPtr>& instructions);
  /// Null: `callee` is no instruction, is one of them itself, or has none.
  ProcPtr of(const ProcPtr& callee);

 private:
  std::map<std::string, ProcPtr> by_meaning_;
  std::map<const Proc*, ProcPtr> of_;
};

/// The call at `path` becomes one of `twin`: its body in place (inline_call), then replace. Nothing
/// when that is refused.
std::optional<ProcPtr> with_twin(const ProcPtr& p, const Path& path, const ProcPtr& twin);

/// f(..)  ->  g(..)
///
/// Every call of an instruction becomes a call of the one of `instructions` that does the same:
/// square roots by estimates, say, which leave the divider to quotients. What both compute is the
/// same over the reals; how it is rounded is each one's. Made of inline_call and replace.
/// SchedulingError: no call has a twin among them.
/// Proposed for a target's `estimates`, around the fastest schedules: which way is faster is the
/// machine's.
[[nodiscard]] ProcPtr call_twins(ProcPtr p, const std::vector<ProcPtr>& instructions);

}  // namespace exotune
