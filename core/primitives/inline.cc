// Calls: opening them, exchanging the proc they call, and making new procs of blocks.
#include <algorithm>

#include "core/cursor/provenance.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/calls.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

// The callee's body with formal `f` standing for `actual`.
Block with_actual(const Proc& p, const Path& at, const Block& body, const Arg& f,
                  const ExprPtr& actual) {
  if (is_control(f.type.scalar)) return substitute(body, f.name, actual);
  const Read* r = actual->as<Read>();
  const WindowExpr* w = actual->as<WindowExpr>();
  if (!r && !w) return substitute(body, f.name, actual);  // a value; the callee does not write it
  Sym name = r ? r->name : w->name;
  auto entry = lookup(p, at, name);
  Alias alias{name, {}, false};
  if (w)
    alias.access = w->access;
  else if (!r->idx.empty() || !f.type.is_tensor())
    for (const ExprPtr& i : r->idx) alias.access.push_back({i, nullptr});
  else
    alias.access = whole_window(entry->type.shape);
  UseMap map;
  map.op = "inline";
  map.buffer = f.name;
  map.shape = f.type.shape;
  map.shape_of = [shape = entry->type.shape](Sym) { return shape; };
  map.element = [&](const std::vector<ExprPtr>& idx, const Path&) -> std::optional<ElementUse> {
    return ElementUse{name, compose(alias, idx)};
  };
  map.window = [&](const std::vector<WindowAccess>& access,
                   const Path&) -> std::optional<WindowUse> {
    return WindowUse{name, compose(alias, access)};
  };
  return map_uses(body, at, map);
}

}  // namespace

namespace {

Block with_names_apart_from(Block body, const std::vector<ScopeEntry>& seen) {
  std::set<std::string> taken;
  for (const ScopeEntry& e : seen) taken.insert(e.name.name());
  std::vector<Sym> own;
  for_each_stmt(body, [&](const StmtPtr& s) {
    if (const For* loop = s->as<For>()) own.push_back(loop->iter);
    if (s->as<Alloc>() || s->as<WindowStmt>()) own.push_back(bound_symbol(*s));
  });
  std::set<std::string> used = taken;  // by the callee itself, too
  for (const Sym s : own) used.insert(s.name());
  for (const Sym old : own) {
    if (!taken.count(old.name())) continue;
    std::string name;
    for (int k = 1; name.empty() || used.count(name); ++k)
      name = old.name() + "_" + std::to_string(k);
    body = rename(body, old, Sym::fresh(name));
  }
  return body;
}

}  // namespace

// A body in place of its call, actuals in place of formals. Arguments are evaluated at the call and
// would be evaluated where they are used: what of them reads configuration that the body writes is
// refused.
ProcPtr inline_call(ProcPtr p, const Where& where, bool names_apart) {
  const char* op = "inline";
  Cursor c = where.call(p);
  const Call& call = c.as<Call>();
  const Proc& callee = *call.callee;
  for (const ExprPtr& a : call.args)
    if (reads_config(a) && writes_config(callee.body))
      refuse(op, "the argument `" + str(a) + "` reads configuration state that `" + callee.name +
                     "` writes");
  // A fresh copy: the callee may share names with the caller, and may be inlined twice.
  ProcPtr fresh = refresh_all(callee);
  const Block own =
      names_apart ? with_names_apart_from(fresh->body, scope_at(*p, c.path())) : fresh->body;
  Block body = rewrite_exprs(own, [&](const ExprPtr& e) -> ExprPtr {
    const StrideExpr* s = e->as<StrideExpr>();
    return s && fresh->find_arg(s->name) ? at_call(*p, c.path(), *fresh, call.args, e) : nullptr;
  });
  // Sizes first: shapes of data formals are written in them.
  std::vector<Arg> formals = fresh->args;
  for (size_t k = 0; k < formals.size(); ++k) {
    if (!is_control(formals[k].type.scalar)) continue;
    body = with_actual(*p, c.path(), body, formals[k], call.args[k]);
    for (Arg& f : formals)
      for (ExprPtr& n : f.type.shape) n = substitute(n, formals[k].name, call.args[k]);
  }
  for (size_t k = 0; k < formals.size(); ++k)
    if (is_data(formals[k].type.scalar))
      body = with_actual(*p, c.path(), body, formals[k], call.args[k]);
  Rewrite rw(p);
  rw.replace(c.path(), 1, std::move(body));
  require_config_may_stand(rw.proc(), call.args, op);  // in a window's bounds, say
  std::vector<Value> args{place(where, c)};
  if (names_apart) args.push_back(true);
  return rw.finish(op, std::move(args));
}

// Two procs that descend from one, but for fields of configuration that the steps between changed:
// those that are surely written before they are read again make no difference, the others are left
// as what the new proc is equivalent modulo (thesis 4.3.2).
ProcPtr call_eqv(ProcPtr p, const Where& where, const ProcPtr& other) {
  const char* op = "call_eqv";
  Cursor c = where.call(p);
  const Call& call = c.as<Call>();
  auto modulo = equivalent_modulo(call.callee, other);
  if (!modulo)
    refuse(op,
           "`" + call.callee->name + "` and `" + other->name + "` are not known to be equivalent",
           "an equivalent proc is one scheduled from the same proc");
  std::set<std::string> left;
  for (const std::string& name : *modulo) {
    const size_t dot = name.find('.');
    const std::string config = name.substr(0, dot), field = name.substr(dot + 1);
    if (!require_unread_after(*p, sibling(c.path(), 1), config, field, op)) left.insert(name);
  }
  Rewrite rw(p);
  rw.replace_keep(c.path(), make_stmt(Call{other, call.args}, c.stmt()->where));
  require_call(rw.proc(), c.path(), op);
  rw.flags.modulo_config = std::move(left);
  for (const ProcPtr& q : {call.callee, other}) rw.flags.reassociates |= reassociates(q);
  return rw.finish(op, {place(where, c), other});
}

namespace {

// Facts about control names that hold at `at`: sizes' asserts, loop bounds, conditions around.
std::vector<ExprPtr> facts_at(const Proc& p, const Path& at) {
  std::vector<ExprPtr> facts = p.asserts;
  Path prefix;
  const Path stmts = stmt_part(at);
  for (size_t d = 0; d + 1 < stmts.size(); ++d) {
    prefix.push_back(stmts[d]);
    StmtPtr s = stmt_at(p, prefix);
    if (const For* f = s->as<For>()) {
      ExprPtr i = read_var(f->iter, ScalarType::kIndex);
      facts.push_back(bin_op(BinOpKind::kLe, f->lo, i));
      facts.push_back(bin_op(BinOpKind::kLt, i, f->hi));
    } else if (const If* branch = s->as<If>()) {
      facts.push_back(stmts[d + 1].child == Child::kBody ? branch->cond
                                                         : logical_not(branch->cond));
    }
  }
  facts.erase(
      std::remove_if(facts.begin(), facts.end(), [](const ExprPtr& e) { return reads_config(e); }),
      facts.end());
  return facts;
}

}  // namespace

Extracted extract_subproc(ProcPtr p, const Where& where, const std::string& name) {
  const char* op = "extract_subproc";
  require_name(op, name);
  Cursor block = where.block(p);
  const Path& first = block.path();
  const int n = block.length();
  require_no_escape(*p, first, n, op);
  const Block& all = block_at(*p, first);
  Block body(all.begin() + first.back().index, all.begin() + first.back().index + n);

  std::set<Sym> used = free_symbols(body);
  std::vector<ScopeEntry> scope = scope_at(*p, first);
  // Shapes of buffers bring in more control names, and facts about those still more.
  for (const ScopeEntry& e : scope)
    if (used.count(e.name))
      for (const ExprPtr& s : e.type.shape) {
        if (reads_config(s)) refuse(op, "a size reads configuration state");
        collect_symbols(s, used);
      }
  std::vector<ExprPtr> facts, candidates = facts_at(*p, first);
  for (bool grew = true; grew;) {
    grew = false;
    for (ExprPtr& f : candidates) {
      if (!f) continue;
      std::set<Sym> names;
      collect_symbols(f, names);
      bool relevant =
          std::any_of(names.begin(), names.end(), [&](Sym s) { return used.count(s) > 0; });
      if (!relevant) continue;
      size_t before = used.size();
      used.insert(names.begin(), names.end());
      grew |= used.size() > before;
      facts.push_back(f);
      f = nullptr;
    }
  }

  auto sub = std::make_shared<Proc>();
  sub->name = name;
  sub->where = body.front()->where;
  std::vector<ExprPtr> args;
  for (bool control : {true, false})
    for (const ScopeEntry& e : scope) {
      if (!used.count(e.name) || is_control(e.type.scalar) != control) continue;
      Type type = e.type;
      if (e.window) type.window = true;
      sub->args.push_back({e.name, type, control ? nullptr : (e.mem ? e.mem : dram())});
      if (control || !e.window)
        args.push_back(make_expr(Read{e.name, {}}, e.type.scalar));
      else
        args.push_back(make_expr(WindowExpr{e.name, whole_window(e.type.shape)}, e.type.scalar));
    }
  sub->asserts = facts;
  sub->body = body;
  ProcPtr made = refresh_all(*sub);
  try {
    check(*made);
  } catch (const InputError& e) {
    std::vector<LazyText> notes{e.diagnostic().message.str()};
    for (const LazyText& t : e.diagnostic().notes) notes.push_back(t);
    throw SchedulingError(std::string(op) + ": the block is not right by itself", std::move(notes));
  }
  Rewrite rw(p);
  rw.replace(first, n, {make_call(made, std::move(args))});
  require_call(rw.proc(), first, op);
  require_still_checks(rw.proc(), {stmt_at(rw.proc(), first)}, op);
  return {rw.finish(op, {place(where, block), name}), made};
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> inline_operators() {
  using namespace params;
  return {
      in_cpp("inline_call", {"inline",
                             {proc(), place("call"), boolean("names_apart", false)},
                             "f(...)  ->  the body of f",
                             [](const OperatorArgs& a) -> Value {
                               return inline_call(a.proc(), a.where(1), a.boolean(2));
                             }}),
      {"call_eqv",
       {proc(), place("call"), proc("eqv_proc")},
       "f(...)  ->  g(...)   (g scheduled from f, or both from one)",
       [](const OperatorArgs& a) -> Value { return call_eqv(a.proc(), a.where(1), a.proc(2)); }},
      {"extract_subproc",
       {proc(), place("block"), new_name("subproc_name")},
       "s  ->  f(...); returns p, f",
       [](const OperatorArgs& a) -> Value {
         Extracted e = extract_subproc(a.proc(), a.where(1), a.string(2));
         return ValueList{e.proc, e.subproc};
       }},
  };
}

}  // namespace exotune
