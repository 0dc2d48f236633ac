#pragma once
// Place: everything known where control reaches a statement, as a Problem. Exact statement of what
// counts: sizes >= 1; asserts; lo <= i < hi of each enclosing loop; each enclosing condition (or
// its negation in an else). A fact that reads a config field counts only while nothing in the
// statement it comes from writes that field.
#include <memory>
#include <set>

#include "core/analysis/problem.h"

namespace exotune {

using ConfigFieldName = std::pair<std::string, std::string>;  // config, field

/// Config fields that the statements may write, through calls too.
std::set<ConfigFieldName> config_writes(const Block& b);
std::set<ConfigFieldName> config_writes(const Stmt& s);
/// Config fields that an expression reads.
std::set<ConfigFieldName> config_reads(const ExprPtr& e);
bool intersects(const std::set<ConfigFieldName>& a, const std::set<ConfigFieldName>& b);

class Place {
 public:
  Place(const Proc& p, const Path& at);
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const Scope& scope() const { return scope_; }
  Problem& problem() { return problem_; }

 private:
  Scope scope_;
  Problem problem_;
};

/// Does something else hold after `s` than before it, for its later siblings? Names come into scope;
/// configuration fields get other values. While not, what is known at one place serves the next.
bool changes_facts(const Stmt& s);

/// Assumes what holds inside `s` on the way to its body (or orelse): bounds or condition.
void enter(Problem& problem, const Stmt& s, Child child);
/// Sizes and asserts of `p`.
void assume_header(Problem& problem, const Proc& p);

}  // namespace exotune
