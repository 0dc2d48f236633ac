#pragma once
// Proc: one procedure of the object language, immutable. A ProcPtr is what users hold, what
// primitives take and return, and what every later layer reads.
#include <memory>
#include <optional>

#include "core/ir/stmt.h"

namespace exotune {

struct Arg {
  Sym name;
  Type type;
  MemoryPtr mem;  // data arguments; DRAM when not said
};

/// Present on an `@instr`: the body is the meaning, the template is the C it becomes.
struct InstrInfo {
  std::string c_template;
  std::string c_global;
  double cost = 1.0;  // reciprocal throughput, cycles
};

/// How a proc came to be: opaque here, see core/cursor/provenance.h.
struct ProvenanceBase {
  virtual ~ProvenanceBase() = default;
};

struct Proc {
  std::string name;
  std::vector<Arg> args;
  std::vector<ExprPtr> asserts;  // control booleans over args
  Block body;
  std::optional<InstrInfo> instr;
  SourceLocation where;
  std::shared_ptr<const ProvenanceBase> provenance;  // null: written by the user

  const Arg* find_arg(Sym s) const;
};

/// A copy with another body; provenance is dropped (core/cursor sets it).
ProcPtr with_body(const Proc& p, Block body);

/// A proc whose every symbol is fresh (arguments too).
ProcPtr refresh_all(const Proc& p);

}  // namespace exotune
