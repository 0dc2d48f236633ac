#pragma once
// Object code as text. `str(proc)` parses back to an equal proc (round trip is tested): distinct
// symbols in one scope that share a name get suffixes _1, _2, ...
#include <map>
#include <string>

#include "core/ir/path.h"

namespace exotune {

std::string str(const Proc& p);
std::string str(const Proc& p, const Block& part, int indent = 0);  // a block, named as in `p`
std::string str(const ExprPtr& e);                                  // bare names
/// With the names by which the whole proc prints; `scope` is scope_at of the place of `e`. For
/// steps of schedules: integers of data are `3.0`, since `3` alone is read as control; elsewhere
/// `3`.
std::string str(const ExprPtr& e, const std::vector<ScopeEntry>& scope);
std::string str(const StmtPtr& s);  // bare names
std::string str(const Type& t);
std::string str(const Memory& m);
std::string str(const Config& c);

/// The name that str(p) gives to each symbol of `p`.
std::map<Sym, std::string> printed_names(const Proc& p);

/// The text that identifies a proc's meaning up to bound names: input of kernel hashes.
std::string canonical_text(const Proc& p);

}  // namespace exotune
