#pragma once
// Which data a proc reads and writes, through its windows and its callees.
#include <map>
#include <set>

#include "core/ir/proc.h"

namespace exotune::codegen {

struct Usage {
  std::set<Sym> read,
      written;             // arguments, allocations and windows; a window's use is its source's too
  std::set<Sym> observed;  // as read, but the reading that +=, max= and min= do of their own target
                           // does not count
  bool materialises_config = false;  // C code (not an instruction) reads or writes a config field
  std::set<ConfigPtr> configs;       // those fields' configs
};

/// Usage of procs, each computed once.
class UsageTable {
 public:
  const Usage& of(const ProcPtr& p);
  /// For a proc that no shared pointer holds; not kept.
  Usage compute(const Proc& p);

 private:
  std::map<ProcPtr, Usage> table_;
};

}  // namespace exotune::codegen
