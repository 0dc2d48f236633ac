#pragma once
// Provenance: every proc knows the operator, arguments and parent it came from. From it come
// traces, cursor forwarding, and the equivalence that call_eqv and is_eqv rely on.
#include "core/cursor/edit.h"

namespace exotune {

/// How a procedure came from its parent: the operator with its arguments, what it changed in the
/// tree, by which cursors are forwarded, and what the equality of the two rests on. Never changed
/// once made.
struct Provenance : ProvenanceBase {
  Provenance() = default;
  /// A step may be made of a hundred thousand primitives: parents are let go of one by one, not one
  /// inside the other, for which no stack is deep enough.
  ~Provenance() override;
  Provenance(const Provenance&) = delete;
  Provenance& operator=(const Provenance&) = delete;

  ProcPtr parent;
  std::string op;
  std::vector<Value> args;
  std::vector<Edit> edits;
  StepFlags flags;
};

const Provenance* provenance_of(const Proc& p);  // null for a user's own proc

/// One step of a trace; `how` belongs to `after`.
struct TraceStep {
  ProcPtr before, after;
  const Provenance* how;
};
/// From the user's proc to `p`, oldest first.
std::vector<TraceStep> trace_of(const ProcPtr& p);
/// The trace as a .sched script of primitives that replays to an equal proc.
std::string trace_script(const ProcPtr& p);
/// A copy without provenance, as if a user had written it: what it came from can be freed. For
/// whoever keeps many procs and the script that makes each.
ProcPtr without_provenance(const ProcPtr& p);
/// The config fields ("Cfg.f") modulo which the two are equivalent, by descent from one proc: none
/// means fully. Nothing when they are not known to be (a step between them only holds for some
/// inputs; an added assert narrows what may be called and is no difference). Thesis 4.3.2.
std::optional<std::set<std::string>> equivalent_modulo(const ProcPtr& a, const ProcPtr& b);
/// True when both descend from one proc by equivalence-keeping steps.
bool is_equivalent(const ProcPtr& a, const ProcPtr& b);
/// True when any step of the trace reordered floating-point sums.
bool reassociates(const ProcPtr& p);

}  // namespace exotune
