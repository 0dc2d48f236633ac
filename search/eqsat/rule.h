#pragma once
// Rewrite rules over e-graphs. Start at Rule::parse, or make one with a computed right side.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

/// Whether a match may be used, decided from the graph as it is while rules are applied.
using Condition = std::function<bool(const EGraph&, Bindings)>;

/// What a rule makes when no pattern can say it: sizes that depend on other sizes, for example.
/// Returns the id to unite the match's root with, or kNoId for "not here".
using Compute = std::function<Id(EGraph&, Bindings)>;

struct Rule {
  std::string name;
  Variables variables;
  std::vector<Matcher::Rooted> left;  // the first one's root is what is rewritten
  Pattern right;                      // empty when `compute` is there
  Compute compute;
  std::vector<Condition> conditions;  // all must hold

  /// "lhs => rhs", or "?x = lhs1, ?y = lhs2 => rhs": all patterns match at once and the first one's
  /// root becomes equal to rhs. Throws InputError (named after the rule) for text that is no rule,
  /// or a right side with a variable that the left side does not bind.
  static Rule parse(const std::string& name, std::string_view text, OpTable& ops);
  /// A left side alone, for a rule whose right side is computed.
  static Rule parse_left(const std::string& name, std::string_view text, OpTable& ops);

  std::string str(const OpTable& ops) const;
};

}  // namespace exotune::eqsat
