#include "core/library/twins.h"

#include "core/analysis/queries.h"
#include "core/ir/printer.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/replacement.h"

namespace exotune {

namespace {

// What an instruction does, whatever it is called.
std::string meaning_of(const Proc& instr) {
  Proc p = instr;
  p.name = "instr";
  p.instr.reset();
  p.provenance = nullptr;
  return canonical_text(p);
}

}  // namespace

Twins::Twins(const std::vector<ProcPtr>& instructions) {
  for (const ProcPtr& instr : instructions) by_meaning_.emplace(meaning_of(*instr), instr);
}

ProcPtr Twins::of(const ProcPtr& callee) {
  if (!callee->instr) return nullptr;
  const auto [known, is_new] = of_.emplace(callee.get(), nullptr);
  if (is_new)
    if (const auto it = by_meaning_.find(meaning_of(*callee));
        it != by_meaning_.end() && it->second != callee)
      known->second = it->second;
  return known->second;
}

std::optional<ProcPtr> with_twin(const ProcPtr& p, const Path& path, const ProcPtr& twin) {
  const ProcPtr loop = inline_call(p, Cursor::stmt(p, path));
  return try_replace_any(loop, Cursor::stmt(loop, path), {twin});
}

ProcPtr call_twins(ProcPtr p, const std::vector<ProcPtr>& instructions) {
  Twins twins(instructions);
  int called = 0;
  for (const Path& path : all_stmt_paths(*p)) {
    const StmtPtr s = stmt_at(*p, path);
    const Call* c = s->as<Call>();
    const ProcPtr twin = c ? twins.of(c->callee) : nullptr;
    if (!twin) continue;
    if (std::optional<ProcPtr> done = with_twin(p, path, twin)) {
      p = *done;
      ++called;
    }
  }
  if (called == 0)
    throw SchedulingError("call_twins: no call does what one of the instructions does");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> twin_operators() {
  using namespace params;
  return {
      {"call_twins",
       {proc(), procs("twins")},  // by their names: "instructions" are all of a target's
       "f(..)  ->  g(..)   for calls of what one of the twins does in another way",
       [](const OperatorArgs& a) -> Value { return call_twins(a.proc(), a.procs(1)); }},
  };
}

}  // namespace exotune
