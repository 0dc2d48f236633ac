// Conditions made and decided: specialize, eliminate_dead_code.
#include "core/ir/printer.h"
#include "core/primitives/internal.h"

namespace exotune {

using namespace internal;

// s  ->  if c0: s  elif c1: s'  ...  else: s''
// Obligation: the conditions are control booleans over names visible there; nothing that s
// allocates is used after it; what s writes to configuration stays known.
// Forwarding: cursors into s go to the first branch.
ProcPtr specialize(ProcPtr p, const Where& where, const std::vector<ExprPtr>& conditions) {
  static const char op[] = "specialize";
  Cursor c = where.block(p);
  if (conditions.empty()) refuse(op, "no condition is given");
  for (const ExprPtr& e : conditions) {
    if (e->type != ScalarType::kBool) refuse(op, "'" + str(e) + "' is no condition");
    require_visible(*p, c.path(), e, op);
  }
  require_no_escape(*p, c.path(), c.length(), op);
  Rewrite rw(p);
  rw.wrap(c.path(), c.length(), [&](Block body) {
    Block orelse = refresh_binders(body);
    for (size_t k = conditions.size(); k-- > 1;)
      orelse = {make_if(conditions[k], refresh_binders(body), std::move(orelse))};
    return make_if(conditions[0], std::move(body), std::move(orelse));
  });
  require_still_checks(rw.proc(), c.stmts(), op);
  std::vector<std::string> texts;
  const std::vector<ScopeEntry> scope = scope_at(*p, c.path());
  for (const ExprPtr& e : conditions) texts.push_back(str(e, scope));
  return rw.finish(op, {place(where, c), Value::strings(texts)});
}

// if e: s else: t            ->  s    (e proved true)      or  t  (e proved false)
// for i in seq(lo, hi): s    ->  nothing                   (hi <= lo proved)
// Obligation: as said; refused otherwise. What is written to configuration stays known.
// Forwarding: the statements of the branch kept stay.
ProcPtr eliminate_dead_code(ProcPtr p, const Where& where) {
  static const char op[] = "eliminate_dead_code";
  Cursor c = where.scope(p);
  const Path at = c.path();
  Rewrite rw(p);
  if (const For* f = c.stmt()->as<For>()) {
    require(prove(*p, at, less_equal(f->hi, f->lo)), op, "cannot prove that the loop never runs");
    rw.erase(at, 1);
  } else {
    const If& i = c.as<If>();
    if (prove(*p, at, i.cond)) {
      rw.unwrap(at);
    } else {
      require(prove(*p, at, logical_not(i.cond)), op,
              "cannot prove that the condition " + str(i.cond) + " is always true or always false");
      rw.unwrap(at, /*orelse=*/true);
    }
  }
  require_still_checks(rw.proc(), c.stmts(), op);
  return rw.finish(op, {place(where, c)});
}

}  // namespace exotune
