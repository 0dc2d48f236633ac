// Walks over statements: the symbols they mention, substitution, renaming, rewriting.
#include <algorithm>
#include <map>

#include "core/ir/proc.h"
#include "core/ir/stmt.h"

namespace exotune {

namespace {
// The data symbol that a statement itself writes or binds, outside its expressions.
Sym own_symbol(const Stmt& s) {
  if (const Assign* n = s.as<Assign>()) return n->name;
  if (const Reduce* n = s.as<Reduce>()) return n->name;
  if (const For* n = s.as<For>()) return n->iter;
  return bound_symbol(s);
}
}  // namespace

Sym bound_symbol(const Stmt& s) {
  if (const Alloc* a = s.as<Alloc>()) return a->name;
  if (const WindowStmt* w = s.as<WindowStmt>()) return w->name;
  return Sym();
}

bool mentions(const StmtPtr& s, Sym sym) {
  // A bit that is missing proves absence; one that is there proves nothing, so the walk goes on.
  if (!(s->bloom & sym.bloom())) return false;
  if (own_symbol(*s) == sym) return true;
  for (const ExprPtr& e : stmt_exprs(*s))
    if (mentions(e, sym)) return true;
  return mentions(body_of(*s), sym) || mentions(orelse_of(*s), sym);
}

bool mentions(const Block& b, Sym sym) {
  for (const StmtPtr& s : b)
    if (mentions(s, sym)) return true;
  return false;
}
// Free: used and not bound before in program order. `bound` is not emptied at a block's end, for
// the same reason as in AlphaComparer.

namespace {
void collect_free(const Block& b, std::set<Sym>& bound, std::set<Sym>& free) {
  for (const StmtPtr& s : b) {
    std::set<Sym> used;
    for (const ExprPtr& e : stmt_exprs(*s)) collect_symbols(e, used);
    if (const Assign* n = s->as<Assign>()) used.insert(n->name);
    if (const Reduce* n = s->as<Reduce>()) used.insert(n->name);
    for (Sym u : used)
      if (!bound.count(u)) free.insert(u);
    if (Sym k = bound_symbol(*s); k.valid()) bound.insert(k);
    if (const For* f = s->as<For>()) bound.insert(f->iter);
    collect_free(body_of(*s), bound, free);
    collect_free(orelse_of(*s), bound, free);
  }
}
}  // namespace

std::set<Sym> free_symbols(const Block& b) {
  std::set<Sym> bound, free;
  collect_free(b, bound, free);
  return free;
}

namespace {

// Maps every statement of a block, sharing the block when nothing changed.
template <class F>
Block map_block(const Block& b, const F& f) {
  Block out;
  bool changed = false;
  out.reserve(b.size());
  for (const StmtPtr& s : b) {
    StmtPtr n = f(s);
    changed |= n != s;
    out.push_back(std::move(n));
  }
  return changed ? out : b;
}

// Rebuilds `s` with every expression mapped by `fe` and every nested block by `fb`.
template <class FE, class FB>
StmtPtr map_parts(const StmtPtr& s, const FE& fe, const FB& fb) {
  std::vector<ExprPtr> exprs = stmt_exprs(*s);
  bool changed = false;
  for (ExprPtr& e : exprs) {
    ExprPtr n = fe(e);
    changed |= n != e;
    e = std::move(n);
  }
  StmtPtr out = changed ? with_exprs(s, exprs) : s;
  const Block &body = body_of(*s), &orelse = orelse_of(*s);
  if (!body.empty() || !orelse.empty()) {
    Block new_body = fb(body), new_orelse = fb(orelse);
    bool same = new_body.size() == body.size() && new_orelse.size() == orelse.size() &&
                std::equal(body.begin(), body.end(), new_body.begin()) &&
                std::equal(orelse.begin(), orelse.end(), new_orelse.begin());
    if (!same) out = with_blocks(out, std::move(new_body), std::move(new_orelse));
  }
  return out;
}

}  // namespace

Block rewrite_exprs(const Block& b, const std::function<ExprPtr(const ExprPtr&)>& f) {
  return map_block(b, [&](const StmtPtr& s) {
    return map_parts(
        s, [&](const ExprPtr& e) { return rewrite(e, f); },
        [&](const Block& k) { return rewrite_exprs(k, f); });
  });
}

Block rewrite_stmts(const Block& b, const std::function<std::optional<Block>(const StmtPtr&)>& f) {
  Block out;
  for (const StmtPtr& s : b) {
    StmtPtr n = map_parts(
        s, [](const ExprPtr& e) { return e; }, [&](const Block& k) { return rewrite_stmts(k, f); });
    if (auto replaced = f(n))
      out.insert(out.end(), replaced->begin(), replaced->end());
    else
      out.push_back(std::move(n));
  }
  return out;
}

Block substitute(const Block& b, Sym sym, const ExprPtr& by) {
  return map_block(b, [&](const StmtPtr& s) -> StmtPtr {
    if (!(s->bloom & sym.bloom())) return s;
    return map_parts(
        s, [&](const ExprPtr& e) { return substitute(e, sym, by); },
        [&](const Block& k) { return substitute(k, sym, by); });
  });
}

Block rename(const Block& b, Sym from, Sym to) {
  return map_block(b, [&](const StmtPtr& s) -> StmtPtr {
    if (!(s->bloom & from.bloom())) return s;
    StmtPtr n = map_parts(
        s, [&](const ExprPtr& e) { return rename(e, from, to); },
        [&](const Block& k) { return rename(k, from, to); });
    if (own_symbol(*n) != from) return n;
    StmtNode node = n->node;
    if (auto* x = std::get_if<Assign>(&node)) x->name = to;
    if (auto* x = std::get_if<Reduce>(&node)) x->name = to;
    if (auto* x = std::get_if<For>(&node)) x->iter = to;
    if (auto* x = std::get_if<Alloc>(&node)) x->name = to;
    if (auto* x = std::get_if<WindowStmt>(&node)) x->name = to;
    return make_stmt(std::move(node), n->where);
  });
}

namespace {

ExprPtr rename_all(const ExprPtr& e, const std::map<Sym, Sym>& names) {
  if (e->bloom == 0) return e;
  return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
    auto renamed = [&](Sym s) {
      auto it = names.find(s);
      return it == names.end() ? Sym() : it->second;
    };
    if (const Read* r = x->as<Read>()) {
      if (Sym to = renamed(r->name); to.valid())
        return make_expr(Read{to, r->idx}, x->type, x->where);
    } else if (const WindowExpr* w = x->as<WindowExpr>()) {
      if (Sym to = renamed(w->name); to.valid())
        return make_expr(WindowExpr{to, w->access}, x->type, x->where);
    } else if (const StrideExpr* st = x->as<StrideExpr>()) {
      if (Sym to = renamed(st->name); to.valid())
        return make_expr(StrideExpr{to, st->dim}, x->type, x->where);
    }
    return nullptr;
  });
}

Block refresh(const Block& b, std::map<Sym, Sym>& names) {
  Block out;
  out.reserve(b.size());
  for (const StmtPtr& s : b) {
    std::vector<ExprPtr> exprs = stmt_exprs(*s);
    for (ExprPtr& e : exprs) e = rename_all(e, names);
    StmtPtr n = exprs.empty() ? s : with_exprs(s, exprs);
    StmtNode node = n->node;
    auto target = [&](Sym name) {
      auto it = names.find(name);
      return it == names.end() ? name : it->second;
    };
    auto bind = [&](Sym name) { return names[name] = name.copy(); };
    if (auto* x = std::get_if<Assign>(&node)) x->name = target(x->name);
    if (auto* x = std::get_if<Reduce>(&node)) x->name = target(x->name);
    if (auto* x = std::get_if<Alloc>(&node)) x->name = bind(x->name);
    if (auto* x = std::get_if<WindowStmt>(&node)) x->name = bind(x->name);
    if (auto* x = std::get_if<For>(&node)) {
      x->iter = bind(x->iter);
      x->body = refresh(x->body, names);
    }
    if (auto* x = std::get_if<If>(&node)) {
      x->body = refresh(x->body, names);
      x->orelse = refresh(x->orelse, names);
    }
    out.push_back(make_stmt(std::move(node), n->where));
  }
  return out;
}

}  // namespace

Block refresh_binders(const Block& b) {
  std::map<Sym, Sym> names;
  return refresh(b, names);
}

ProcPtr refresh_all(const Proc& p) {
  std::map<Sym, Sym> names;
  auto out = std::make_shared<Proc>(p);
  for (Arg& a : out->args) a.name = names[a.name] = a.name.copy();
  for (Arg& a : out->args)
    for (ExprPtr& e : a.type.shape) e = rename_all(e, names);
  for (ExprPtr& e : out->asserts) e = rename_all(e, names);
  out->body = refresh(p.body, names);
  return out;
}

void for_each_stmt(const Block& b, const std::function<void(const StmtPtr&)>& f) {
  for (const StmtPtr& s : b) {
    f(s);
    for_each_stmt(body_of(*s), f);
    for_each_stmt(orelse_of(*s), f);
  }
}

void for_each_expr(const Block& b, const std::function<void(const ExprPtr&)>& f) {
  for_each_stmt(b, [&](const StmtPtr& s) {
    for (const ExprPtr& e : stmt_exprs(*s)) f(e);
  });
}

}  // namespace exotune
