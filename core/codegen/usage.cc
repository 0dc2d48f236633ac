#include "core/codegen/usage.h"

#include <functional>

namespace exotune::codegen {

// Once a procedure: callers ask for it at every call.
const Usage& UsageTable::of(const ProcPtr& p) {
  const auto it = table_.find(p);
  if (it != table_.end()) return it->second;
  return table_.emplace(p, compute(*p)).first->second;
}

// What each formal is used for: read, written, passed on, its strides. Decides const, restrict and
// which window structs are needed.
Usage UsageTable::compute(const Proc& p) {
  Usage u;
  std::map<Sym, Sym> source;  // window -> what it looks into
  std::function<void(const ExprPtr&)> read_all = [&](const ExprPtr& e) {
    if (const auto* r = e->as<Read>(); r && is_data(e->type)) {
      u.read.insert(r->name);
      u.observed.insert(r->name);
    }
    if (const auto* c = e->as<ReadConfig>()) {
      u.materialises_config = true;
      u.configs.insert(c->config);
    }
    for (const ExprPtr& c : expr_children(*e)) read_all(c);
  };
  auto buffer_of = [](const ExprPtr& e) -> Sym {
    if (const auto* r = e->as<Read>()) return r->name;
    if (const auto* w = e->as<WindowExpr>()) return w->name;
    return {};
  };
  auto visit = [&](const StmtPtr& s) {
    if (const auto* a = s->as<Assign>()) {
      u.written.insert(a->name);
      for (const ExprPtr& e : stmt_exprs(*s)) read_all(e);
    } else if (const auto* r = s->as<Reduce>()) {
      u.written.insert(r->name);
      u.read.insert(r->name);
      for (const ExprPtr& e : stmt_exprs(*s)) read_all(e);
    } else if (const auto* w = s->as<WindowStmt>()) {
      source[w->name] = buffer_of(w->rhs);
      u.observed.insert(source[w->name]);
      for (const ExprPtr& e : expr_children(*w->rhs)) read_all(e);
    } else if (const auto* field = s->as<WriteConfig>()) {
      u.materialises_config = true;
      u.configs.insert(field->config);
      read_all(field->rhs);
    } else if (const auto* c = s->as<Call>()) {
      const Usage& callee = of(c->callee);
      if (!c->callee->instr) {
        u.materialises_config |= callee.materialises_config;
        u.configs.insert(callee.configs.begin(), callee.configs.end());
      }
      for (size_t k = 0; k < c->args.size() && k < c->callee->args.size(); ++k) {
        const Arg& formal = c->callee->args[k];
        const Sym b = buffer_of(c->args[k]);
        if (is_control(formal.type.scalar) || !b.valid()) {
          read_all(c->args[k]);
          continue;
        }
        for (const ExprPtr& e : expr_children(*c->args[k])) read_all(e);
        u.observed.insert(b);
        if (callee.read.contains(formal.name)) u.read.insert(b);
        if (callee.written.contains(formal.name)) u.written.insert(b);
      }
    } else {
      for (const ExprPtr& e : stmt_exprs(*s)) read_all(e);
    }
  };
  for_each_stmt(p.body, visit);
  // Windows of windows: until nothing changes, which is after as many rounds as the longest chain.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [window, from] : source) {
      if (u.read.contains(window)) changed |= u.read.insert(from).second;
      if (u.written.contains(window)) changed |= u.written.insert(from).second;
    }
  }
  return u;
}

}  // namespace exotune::codegen
