#pragma once
// One step under test: a primitive at a place of a proc is right when it refuses, or when its
// result is a valid program that computes the same, keeps the cursors to what it did not touch, and
// comes out of its trace again.
#include <map>
#include <optional>
#include <string>

#include "tests/exhaustive/generator.h"
#include "tests/exhaustive/moves.h"
#include "tests/exhaustive/oracle.h"

namespace exotune::exhaustive {

/// What was tried, by operator.
struct Tally {
  struct Count {
    int64_t tried = 0, accepted = 0, wrong = 0;
    int64_t refused() const { return tried - accepted - wrong; }
  };
  std::map<std::string, Count> by_operator;

  Count total() const;
  void add(const Tally& other);
  /// One line per operator, and their sum.
  std::string table() const;
};

struct Outcome {
  enum class Kind { kRefused, kAccepted, kWrong };
  Kind kind = Kind::kRefused;
  ProcPtr result;        // of an accepted or wrong step
  std::string why;       // what is wrong
  bool goes_on = false;  // accepted, and later steps can be compared with the same oracle
};

/// Where a trial begins: a proc, what its results must compute, and what may be called in it.
struct Start {
  ProcPtr proc;
  Oracle oracle;
  std::vector<ProcPtr> known;
};
/// Nothing when the proc is no valid program, or fails on some input.
std::optional<Start> start_at(const ProcPtr& p);

/// Tries `m` on `p`; `oracle` knows what the result must compute. `replay`: from the trace too.
Outcome try_move(const ProcPtr& p, const Oracle& oracle, const Move& m, bool replay);

/// "" when check() accepts `p`, else what it says.
std::string invalid(const Proc& p);

/// "" when the printed trace of `p`, run as a script on `start`, gives `p` again.
std::string script_difference(const ProcPtr& start, const ProcPtr& p);

/// A smaller proc on which `op` still goes wrong, or `p` itself.
ProcPtr shrink(const ProcPtr& p, const std::string& op);

}  // namespace exotune::exhaustive
