#pragma once
// Place: everything known where control reaches a statement, as a Problem. Exact statement of what
// counts: sizes >= 1; asserts; lo <= i < hi of each enclosing loop; each enclosing condition (or
// its negation in an else); what configuration holds, followed from the beginning of the proc. A
// bound of a loop that reads a config field counts only while nothing in the loop writes it.
#include <memory>

#include "core/analysis/config_values.h"

namespace exotune {

/// How long what a Place says of configuration holds.
enum class ConfigFacts : uint8_t {
  kLasting,    // through all that follows in the block: for questions about what stands there
  kOnArrival,  // at the moment control reaches the place
};

class Place {
 public:
  Place(const Proc& p, const Path& at, ConfigFacts config = ConfigFacts::kLasting);
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const Scope& scope() const { return scope_; }
  Problem& problem() { return problem_; }

 private:
  Scope scope_;
  Problem problem_;
};

/// Does something else hold after `s` than before it, for its later siblings? Names come into
/// scope; configuration fields get other values. While not, what is known at one place serves the
/// next.
bool changes_facts(const Stmt& s);

/// Assumes what holds inside `s` on the way to its body (or orelse): bounds or condition. Before
/// `enter_iteration`.
void enter(Problem& problem, const Stmt& s, Child child);
/// Sizes and asserts of `p`, as control enters it.
void assume_header(Problem& problem, const Proc& p);

}  // namespace exotune
