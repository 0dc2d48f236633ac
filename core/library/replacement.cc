#include "core/library/replacement.h"

#include "core/library/operator_rows.h"

namespace exotune {
// Replacing by instructions wherever one fits: the first of the list at each statement, from the
// outermost statement inwards, so that an instruction for a whole tile is found before those for
// its parts.

std::optional<ProcPtr> try_replace_any(const ProcPtr& p, const Cursor& stmt,
                                       const std::vector<ProcPtr>& instrs) {
  for (const ProcPtr& instr : instrs)
    if (auto done = try_replace(p, stmt, instr)) return done;
  return std::nullopt;
}

namespace {

void replace_under(ProcPtr& p, const Path& path, const std::vector<ProcPtr>& instrs) {
  StmtPtr s = stmt_at(*p, path);
  if (s->as<Call>() || s->as<Alloc>() || s->as<Pass>() || s->as<WindowStmt>()) return;
  if (auto done = try_replace_any(p, Cursor::stmt(p, path), instrs)) {
    p = *done;
    return;
  }
  for (Child child : {Child::kBody, Child::kOrelse}) {
    size_t n = (child == Child::kBody ? body_of(*s) : orelse_of(*s)).size();
    for (size_t k = 0; k < n; ++k) {
      Path inner = path;
      inner.push_back({child, static_cast<int>(k)});
      replace_under(p, inner, instrs);
    }
  }
}

}  // namespace

ProcPtr replace_all(ProcPtr p, const std::vector<ProcPtr>& instrs) {
  for (size_t k = 0; k < p->body.size(); ++k)
    replace_under(p, {{Child::kBody, static_cast<int>(k)}}, instrs);
  return p;
}

ProcPtr replace_all(ProcPtr p, const Where& block, const std::vector<ProcPtr>& instrs) {
  Cursor c = block.block(p);
  for (int k = 0; k < c.length(); ++k) replace_under(p, sibling(c.path(), k), instrs);
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> replacement_operators() {
  using namespace params;
  return {
      {"replace_all",
       {proc(), procs("instrs"), place("block", Value())},
       "s  ->  f(...)   wherever an instruction fits, the first of the list first",
       [](const OperatorArgs& a) -> Value {
         return a.given(2) ? replace_all(a.proc(), a.where(2), a.procs(1))
                           : replace_all(a.proc(), a.procs(1));
       }},
      in_cpp("replace_all",
             {"replace_all_stmts",
              {proc(), procs("instrs")},
              "replace_all",
              [](const OperatorArgs& a) -> Value { return replace_all(a.proc(), a.procs(1)); }}),
      in_cpp("replace_all", {"call_site_mem_aware_replace",
                             {proc(), place("block"), proc("instr")},
                             "replace: it refuses arguments whose memories do not fit",
                             [](const OperatorArgs& a) -> Value {
                               return replace(a.proc(), a.where(1), a.proc(2));
                             }}),
  };
}

}  // namespace exotune
