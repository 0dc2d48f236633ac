#pragma once
// Proc: one procedure of the object language, immutable. A ProcPtr is what users hold, what
// primitives take and return, and what every later layer reads.
#include <memory>
#include <optional>

#include "core/ir/stmt.h"

namespace exotune {

/// A formal: control by value, data by reference. Two data formals of one call overlap only where
/// the callee writes neither (the checker proves it of each call): so C may say `restrict`.
struct Arg {
  Sym name;
  Type type;
  MemoryPtr mem;  // data arguments; DRAM when not said
};

/// Present on an `@instr`: the body is the meaning, the template is the C it becomes.
/// The instructions of a script's target, in its text.
inline constexpr char kInstructionList[] = "instrs";

struct InstrInfo {
  std::string c_template;
  std::string c_global;
  double cost = 1.0;  // reciprocal throughput, cycles
  /// What a schedule's text calls the list of instructions that it is one of.
  std::string list = kInstructionList;
};

/// How a proc came to be: opaque here, see core/cursor/provenance.h.
/// A base without members: core/ir must not know of cursors, and yet a proc carries its history to
/// those who do.
struct ProvenanceBase {
  virtual ~ProvenanceBase() = default;
};

/// Equality of procs is identity of pointers: each rewrite makes a new one, and shares the
/// statements that it did not touch. The body was checked if it came out of the frontend or of a
/// primitive; code that builds procs by hand calls check() (core/analysis/queries.h) before it
/// trusts them.
struct Proc {
  std::string name;
  std::vector<Arg> args;
  std::vector<ExprPtr> asserts;  // control booleans over args
  Block body;
  std::optional<InstrInfo> instr;
  SourceLocation where;
  std::shared_ptr<const ProvenanceBase> provenance;  // null: written by the user

  /// Null: no formal of that name. Linear; procs have few formals.
  const Arg* find_arg(Sym s) const;
};

/// A copy with another body; provenance is dropped (core/cursor sets it).
ProcPtr with_body(const Proc& p, Block body);

/// A proc whose every symbol is fresh (arguments too).
ProcPtr refresh_all(const Proc& p);

}  // namespace exotune
