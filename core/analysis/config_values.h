#pragma once
// Configuration values: what the fields of device state hold as control goes through a proc. Facts
// of a Problem speak of the fields as they are at one moment; pass_config and enter_iteration take
// them to the next one. Thesis 5.3: a loop keeps a field's value only when no iteration leaves
// another one behind, and what is not known is forgotten.
//
// A statement that writes no configuration costs one look at a flag.
#include <set>
#include <string>

#include "core/analysis/problem.h"

namespace exotune {

using ConfigFieldName = std::pair<std::string, std::string>;  // config, field

/// Config fields that the statements may write, through calls too.
std::set<ConfigFieldName> config_writes(const Block& b);
std::set<ConfigFieldName> config_writes(const Stmt& s);
/// Config fields that an expression reads.
std::set<ConfigFieldName> config_reads(const ExprPtr& e);
bool intersects(const std::set<ConfigFieldName>& a, const std::set<ConfigFieldName>& b);

/// What running a statement leaves in a field, whatever was there before.
struct FieldOutcome {
  enum class Kind : uint8_t {
    kUnchanged,  // nothing writes it
    kKnown,      // `value`, on every path
    kPerhaps,    // `value` or what was there
    kUnknown,
  };
  Kind kind = Kind::kUnchanged;
  /// Over what is visible at the statement, free of configuration: it means the same at any time.
  ExprPtr value;
  ConfigPtr config;  // of the last write seen
};
FieldOutcome outcome_of(const Stmt& s, const ConfigFieldName& field);
FieldOutcome outcome_of(const Block& b, const ConfigFieldName& field);

/// `problem` speaks of configuration just before `s`; afterwards, of that just after it.
void pass_config(Problem& problem, const Stmt& s);
/// `problem` speaks of configuration just before the loop `s`; afterwards, of that at the beginning
/// of any iteration.
void enter_iteration(Problem& problem, const Stmt& s);

}  // namespace exotune
