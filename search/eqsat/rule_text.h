#pragma once
// Rules over access patterns as text. Start at parse_rules.
//
//   # a comment
//   rule dot-of-merged-items
//     (dot (merge[?m] ?a)) => (dot ?a)
//     if ?m.0 >= access(?a)
//
//   rule block
//     (dot ?a) => (dot (merge[access(?a)] (split[access(?a), K] ?a)))     # K: a constant of the
//     set if axis(?a, access(?a)) > K
//
// The left side is a pattern (pattern.h). Parameters on the right are lists of expressions over the
// variables: `?p` is a whole list of parameters, `?p.0` its first one, `axis(?a, x)` the size of an
// axis of a class, `access(?a)`, `items(?a)`, `rank(?a)` and `members(?a)` count its axes and
// tuple. Further functions: compose(?p, ?q), inverse(?p), moved(rank, from, to) (the permutation
// that moves one axis), is_identity(?p), first(?p, n) (its first n), fixed_from(?p, n) (it leaves
// the axes from n on alone), number(s) (1 when a size has no names), divides(k, s), missing(k, s)
// (what a number lacks to the next multiple of k), min(a, b).
// Operators: + - * and == != < <= > >=, `and`. Sizes may be symbolic; comparing unknown ones is
// false.
//
// A rule adds nothing where the right side has no type or another type than the left side: so no
// rule can make an ill-typed class, whatever its text says.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "search/eqsat/access.h"
#include "search/eqsat/rule.h"

namespace exotune::eqsat {

/// Throws InputError with file and line. The rules refer to `types`, which outlives them.
std::vector<Rule> parse_rules(std::string_view text, const std::string& file,
                              const AccessTypes& types,
                              const std::map<std::string, int64_t>& constants = {});

}  // namespace exotune::eqsat
