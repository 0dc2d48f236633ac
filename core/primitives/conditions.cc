// Conditions made, decided and dropped: specialize, eliminate_dead_code, remove_guard.
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

using namespace internal;

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

namespace {

// The statements at `first` of `p` stay within bounds and race with nothing, as they are plain
// assignments and no loop around them is parallel; false: that takes a check of the whole.
bool plainly_allowed(const Proc& p, const Path& first, int n) {
  for (Path up = parent_stmt(first); !up.empty(); up = parent_stmt(up))
    if (const For* f = stmt_at(p, up)->as<For>(); f && f->mode == LoopMode::kPar) return false;
  for (int k = 0; k < n; ++k) {
    const Path at = sibling(first, k);
    const Assign* a = stmt_at(p, at)->as<Assign>();
    const Reduce* r = stmt_at(p, at)->as<Reduce>();
    if (!a && !r) return false;
    const ExprPtr& rhs = a ? a->rhs : r->rhs;
    const ExprPtr target = read_elem(a ? a->name : r->name, a ? a->idx : r->idx, rhs->type);
    if (!reads_in_bounds(p, at, target) || !reads_in_bounds(p, at, rhs)) return false;
  }
  return true;
}

}  // namespace

ProcPtr remove_guard(ProcPtr p, const Where& where) {
  static const char op[] = "remove_guard";
  Cursor c = where.scope(p);
  if (!c.is<If>()) throw InvalidCursorError("expected an if, found '" + c.describe() + "'");
  if (!c.as<If>().orelse.empty()) refuse(op, "the if has an else branch");
  if (reads_config(c.as<If>().cond)) refuse(op, "the condition reads configuration state");
  require(unguarded_runs_unseen(*p, c.path()), op, "the further runs may be seen");
  const int n = static_cast<int>(c.as<If>().body.size());
  Rewrite rw(p);
  rw.unwrap(c.path());
  try {
    if (!plainly_allowed(rw.proc(), c.path(), n)) check(rw.proc());
  } catch (const InputError& e) {
    throw SchedulingError(std::string(op) + ": the further runs are not allowed",
                          {e.diagnostic().message});
  }
  return rw.finish(op, {place(where, c)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> conditions_operators() {
  using namespace params;
  return {
      {"specialize",
       {proc(), place("block"), expressions("conds")},
       "s  ->  if c: s else: s",
       [](const OperatorArgs& a) -> Value {
         Cursor block = a.where(1).block(a.proc());
         std::vector<ExprPtr> conds;
         for (const std::string& text : a.strings(2))
           conds.push_back(parse_expr_at(a.proc(), block.path(), text));
         return specialize(a.proc(), block, conds);
       }},
      {"eliminate_dead_code",
       {proc(), place("stmt")},
       "if c: s1 else: s2  ->  s1   (c proved; loops that never run too)",
       [](const OperatorArgs& a) -> Value { return eliminate_dead_code(a.proc(), a.where(1)); }},
      {"remove_guard",
       {proc(), place("guard")},
       "if c: s  ->  s   (what s writes where c is false nobody reads)",
       [](const OperatorArgs& a) -> Value { return remove_guard(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
