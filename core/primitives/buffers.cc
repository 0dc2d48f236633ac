// Primitives that move, remove or merge allocations.
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

void require_positive_shape(const Proc& p, const Path& at, const Alloc& a, const char* op) {
  for (const ExprPtr& n : a.type.shape)
    require(prove(p, at, bin_op(BinOpKind::kGt, n, int_const(0))), op,
            "the size `" + str(n) + "` of `" + a.name.name() + "` is not proved positive there");
}

// One level: the allocation moves before the loop or `if` around it. Every iteration then sees what
// the one before left there, so each must write before it reads, or have elements of its own. The
// size has to be positive where it now stands: inside, a loop that never ran did not ask.
// Iterations of a parallel loop would share it, which is asked of the program as it is afterwards.
void lift_once(Rewrite& rw, const Path& at) {
  const char* op = "lift_alloc";
  const Proc& p = rw.proc();
  StmtPtr stmt = stmt_at(p, at);
  const Alloc& a = *stmt->as<Alloc>();
  Path outer = parent_stmt(at);
  if (outer.empty()) refuse(op, "`" + a.name.name() + "` is already at the top of the proc");
  StmtPtr parent = stmt_at(p, outer);
  if (const For* loop = parent->as<For>()) {
    for (const ExprPtr& n : a.type.shape)
      if (mentions(n, loop->iter))
        refuse(op, "the size `" + str(n) + "` of `" + a.name.name() +
                       "` depends on the loop over `" + loop->iter.name() + "`");
    if (!alloc_is_apart_by(p, at, outer))
      require(alloc_carries_nothing(p, at, outer), op,
              "`" + a.name.name() + "` would carry a value from one iteration of `" +
                  loop->iter.name() + "` to another");
  }
  bool parallel = parent->as<For>() && parent->as<For>()->mode == LoopMode::kPar;
  require_positive_shape(p, outer, a, op);
  rw.move(at, 1, outer);
  if (parallel)
    require(loop_parallel(rw.proc(), sibling(outer, 1)), op,
            "iterations of the parallel loop would share `" + a.name.name() + "`");
}

}  // namespace

ProcPtr lift_alloc(ProcPtr p, const Where& alloc, int n_lifts) {
  const char* op = "lift_alloc";
  Cursor c = alloc.alloc(p);
  if (n_lifts < 1) refuse(op, "the number of lifts must be at least 1");
  for (const ExprPtr& n : c.as<Alloc>().type.shape)
    if (reads_config(n)) refuse(op, "the size `" + str(n) + "` reads configuration state");
  Rewrite rw(p);
  for (int k = 0; k < n_lifts; ++k) lift_once(rw, *rw.now(c.path()));
  std::vector<Value> args{place(alloc, c)};
  if (n_lifts != 1) args.push_back(n_lifts);
  return rw.finish(op, std::move(args));
}

// The reverse of lift_alloc, for the one statement that uses the buffer. Each iteration gets a
// fresh one, so nothing may be carried between them; a branch and its `else` get one each.
ProcPtr sink_alloc(ProcPtr p, const Where& alloc) {
  const char* op = "sink_alloc";
  Cursor c = alloc.alloc(p);
  const Alloc& a = c.as<Alloc>();
  for (const ExprPtr& n : a.type.shape)
    if (reads_config(n)) refuse(op, "the size `" + str(n) + "` reads configuration state");
  Block rest = rest_of_block(*p, c.path());
  std::set<Sym> names = aliases_in(rest, {a.name});
  int user = -1;
  for (size_t k = 0; k < rest.size(); ++k) {
    if (!mentions_any(rest[k], names)) continue;
    if (user >= 0) refuse(op, "`" + a.name.name() + "` is used by more than one statement");
    user = static_cast<int>(k);
  }
  if (user < 0) refuse(op, "`" + a.name.name() + "` is not used");
  const StmtPtr& scope = rest[static_cast<size_t>(user)];
  if (!scope->as<For>() && !scope->as<If>())
    refuse(op, "the statement that uses `" + a.name.name() + "` is no loop and no `if`");
  Path at = sibling(c.path(), user + 1);
  if (const For* loop = scope->as<For>()) {
    if (mentions(loop->lo, a.name) || mentions(loop->hi, a.name))
      refuse(op, "the loop's bounds use `" + a.name.name() + "`");
    require(alloc_carries_nothing(*p, c.path(), at), op,
            "`" + a.name.name() + "` carries a value from one iteration of `" + loop->iter.name() +
                "` to another");
  } else if (mentions(scope->as<If>()->cond, a.name)) {
    refuse(op, "the condition uses `" + a.name.name() + "`");
  }
  bool in_body = mentions_any(body_of(*scope), names),
       in_orelse = mentions_any(orelse_of(*scope), names);
  Rewrite rw(p);
  auto inside = [&](Child child) {
    Path q = at;
    q.push_back({child, 0});
    return q;
  };
  if (in_body && in_orelse) {
    // The else branch has its own buffer.
    Sym other = a.name.copy();
    Path first = inside(Child::kOrelse);
    Block branch = rename(orelse_of(*scope), a.name, other);
    rw.map_in_place(splice(*p, first, static_cast<int>(branch.size()), branch));
    rw.insert(first, {make_stmt(Alloc{other, a.type, a.mem}, c.stmt()->where)});
  }
  rw.move(c.path(), 1, inside(in_body ? Child::kBody : Child::kOrelse));
  return rw.finish(op, {place(alloc, c)});
}

// Statements that only feed the buffer go with it; whatever else mentions it is a reader, and
// refuses.
ProcPtr delete_buffer(ProcPtr p, const Where& alloc) {
  const char* op = "delete_buffer";
  Cursor c = alloc.alloc(p);
  Sym name = c.as<Alloc>().name;
  std::set<Sym> names = aliases_in(rest_of_block(*p, c.path()), {name});
  auto only_feeds = [&](const Stmt& s) {
    if (const Assign* a = s.as<Assign>()) return names.count(a->name) > 0;
    if (const Reduce* r = s.as<Reduce>()) return names.count(r->name) > 0;
    return bound_symbol(s).valid() && names.count(bound_symbol(s)) > 0;
  };
  Rewrite rw(p);
  // Backwards, so that paths of what is still to go stay good.
  std::vector<Path> paths = all_stmt_paths(*p);
  for (auto at = paths.rbegin(); at != paths.rend(); ++at) {
    StmtPtr s = stmt_at(*p, *at);
    if (!mentions_any(s, names) || !body_of(*s).empty()) continue;
    if (!only_feeds(*s)) refuse(op, "`" + name.name() + "` is still read by " + quoted(s));
    rw.erase(*rw.now(*at), 1);
  }
  for (const ExprPtr& e : [&] {
         std::vector<ExprPtr> all;
         for_each_expr(rw.proc().body, [&](const ExprPtr& x) { all.push_back(x); });
         return all;
       }())
    for (Sym n : names)
      if (mentions(e, n)) refuse(op, "`" + name.name() + "` is still read");
  return rw.finish(op, {place(alloc, c)});
}

ProcPtr reuse_buffer(ProcPtr p, const Where& kept, const Where& replaced) {
  const char* op = "reuse_buffer";
  Cursor ca = kept.alloc(p), cb = replaced.alloc(p);
  const Alloc &a = ca.as<Alloc>(), &b = cb.as<Alloc>();
  if (a.name == b.name) refuse(op, "both are `" + a.name.name() + "`");
  Path scope_of_a = ca.path();
  scope_of_a.pop_back();
  bool visible = is_prefix(scope_of_a, cb.path()) && lookup(*p, cb.path(), a.name).has_value();
  if (!visible)
    refuse(op, "`" + a.name.name() + "` is not visible where `" + b.name.name() + "` is allocated");
  if (a.type.scalar != b.type.scalar) refuse(op, "the precisions differ");
  if (a.mem->name != b.mem->name) refuse(op, "the memories differ");
  if (a.type.rank() != b.type.rank()) refuse(op, "the ranks differ");
  for (size_t d = 0; d < a.type.shape.size(); ++d) {
    const ExprPtr &m = a.type.shape[d], &n = b.type.shape[d];
    if (reads_config(m) || reads_config(n)) refuse(op, "a size reads configuration state");
    require(prove_equal(*p, cb.path(), m, n), op,
            "the sizes `" + str(m) + "` and `" + str(n) + "` are not proved equal");
  }
  std::set<Sym> names = aliases_in(rest_of_block(*p, ca.path()), {a.name});
  if (mentions_any(rest_of_block(*p, cb.path()), names))
    refuse(op, "`" + a.name.name() + "` is used while `" + b.name.name() + "` lives");
  for (const Path& loop : enclosing_loops(*p, cb.path())) {
    if (loop.size() < ca.path().size()) continue;  // around `a` too
    StmtPtr s = stmt_at(*p, loop);
    if (mentions_any(s, names))
      refuse(op, "`" + a.name.name() + "` is used in the loop over `" + s->as<For>()->iter.name() +
                     "`, which runs again after `" + b.name.name() + "` is written");
    if (s->as<For>()->mode == LoopMode::kPar)
      refuse(op, "iterations of the parallel loop `" + s->as<For>()->iter.name() +
                     "` would share `" + a.name.name() + "`");
    require(alloc_carries_nothing(*p, cb.path(), loop), op,
            "`" + b.name.name() + "` would carry a value between iterations of `" +
                s->as<For>()->iter.name() + "`");
  }
  require(buffer_dead_after(*p, cb.path(), a.name), op,
          "`" + a.name.name() + "` is read after `" + b.name.name() + "` is allocated");
  Rewrite rw(p);
  Block renamed = rename(rest_of_block(*p, cb.path()), b.name, a.name);
  rw.map_in_place(splice(*p, sibling(cb.path(), 1), static_cast<int>(renamed.size()), renamed));
  rw.erase(cb.path(), 1);
  return rw.finish(op, {place(kept, ca), place(replaced, cb)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> buffers_operators() {
  using namespace params;
  return {
      {"lift_alloc",
       {proc(), place("alloc"), integer("n_lifts", 1)},
       "for i: x : T; s  ->  x : T; for i: s",
       [](const OperatorArgs& a) -> Value { return lift_alloc(a.proc(), a.where(1), a.small(2)); }},
      {"sink_alloc",
       {proc(), place("alloc")},
       "x : T; for i: s  ->  for i: x : T; s",
       [](const OperatorArgs& a) -> Value { return sink_alloc(a.proc(), a.where(1)); }},
      {"reuse_buffer",
       {proc(), place("buf"), place("replace")},
       "x : T; s1; y : T; s2(y)  ->  x : T; s1; s2(x)",
       [](const OperatorArgs& a) -> Value {
         return reuse_buffer(a.proc(), a.where(1), a.where(2));
       }},
      {"delete_buffer",
       {proc(), place("alloc")},
       "x : T; s  ->  s   (x unused in s)",
       [](const OperatorArgs& a) -> Value { return delete_buffer(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
