#include "core/library/cleanup.h"

#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {
// Everything here is decided by proofs at each statement; what is not proved stays.
namespace {

// Runs `change` at every statement, from the last to the first so that the places of those still to
// come do not move; a refusal leaves the statement as it is.
template <class F>
ProcPtr at_each_stmt(ProcPtr p, F change) {
  std::vector<Path> paths = all_stmt_paths(*p);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    StmtPtr s = stmt_at(*p, *path);
    if (!s) continue;
    try {
      p = change(p, *path, *s);
    } catch (const SchedulingError&) {
      // Not decided here: it stays.
    }
  }
  return p;
}

}  // namespace

ProcPtr dce(ProcPtr p) {
  p = at_each_stmt(std::move(p), [](const ProcPtr& q, const Path& at, const Stmt& s) {
    if (s.as<If>() || s.as<For>()) return eliminate_dead_code(q, Cursor::stmt(q, at));
    return q;
  });
  p = at_each_stmt(std::move(p), [](const ProcPtr& q, const Path& at, const Stmt& s) {
    if (s.as<Alloc>()) return delete_buffer(q, Cursor::stmt(q, at));
    return q;
  });
  return delete_pass(p);
}

ProcPtr cleanup(ProcPtr p) {
  p = dce(simplify(std::move(p)));
  p = at_each_stmt(std::move(p), [](const ProcPtr& q, const Path& at, const Stmt& s) {
    const For* f = s.as<For>();
    if (f && f->mode == LoopMode::kSeq && literal_extent(*f) == 1) {
      return unroll_loop(q, Cursor::stmt(q, at));
    }
    return q;
  });
  return simplify(delete_pass(std::move(p)));
}

namespace {

std::optional<Cursor> call_of_procedure(const ProcPtr& p) {
  for (const Path& path : all_stmt_paths(*p))
    if (const Call* c = stmt_at(*p, path)->as<Call>(); c && !c->callee->instr)
      return Cursor::stmt(p, path);
  return std::nullopt;
}

}  // namespace

ProcPtr inline_calls(ProcPtr p) {
  constexpr int kMostCalls = 1000;  // what follows would take hours with more
  int calls = 0;
  for (auto call = call_of_procedure(p); call; call = call_of_procedure(p)) {
    if (++calls > kMostCalls) throw SchedulingError("inline_calls: there are too many calls");
    p = inline_call(p, *call, /*names_apart=*/true);
  }
  const ProcPtr before = p;
  p = at_each_stmt(std::move(p), [](const ProcPtr& q, const Path& at, const Stmt& s) {
    return s.as<WindowStmt>() ? inline_window(q, Cursor::stmt(q, at)) : q;
  });
  if (calls == 0 && p == before)
    throw SchedulingError("inline_calls: no procedure is called, and no window has a name");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> cleanup_operators() {
  using namespace params;
  return {
      {"dce",
       {proc()},
       "decided ifs, loops that never run, unused buffers and pass disappear",
       [](const OperatorArgs& a) -> Value { return dce(a.proc()); }},
      {"inline_calls",
       {proc()},
       "f(...)  ->  the body of f, for every call of a procedure that is no instruction; named "
       "windows are what they stand for",
       [](const OperatorArgs& a) -> Value { return inline_calls(a.proc()); }},
      {"cleanup",
       {proc()},
       "simplify, dce, and loops of one iteration unrolled",
       [](const OperatorArgs& a) -> Value { return cleanup(a.proc()); }},
  };
}

}  // namespace exotune
