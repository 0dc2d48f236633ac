#include "core/ir/stmt.h"

#include <algorithm>
#include <map>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/ir/proc.h"

namespace exotune {

// Hash and bloom of one statement from its parts', in one walk over the node alone: nested
// statements bring their own. Configurations, memories and callees count by address: they are
// compared so too, and live as long as somebody holds the tree.
namespace {

struct StmtHasher {
  uint64_t hash = 0, bloom = 0;
  // The order of the parts counts: a combination that did not mind it would give `x = y` and `y =
  // x` one hash.
  void add(uint64_t v) { hash = hash_combine(hash, v); }
  void add(Sym s) {
    add(s.id());
    bloom |= s.bloom();
  }
  void add(const ExprPtr& e) {
    add(e->hash);
    bloom |= e->bloom;
  }
  // With the number of subscripts, or x[i] = j and x[i, j] = ... could run together.
  void add(const std::vector<ExprPtr>& es) {
    add(es.size());
    for (const ExprPtr& e : es) add(e);
  }
  void add(const Block& b) {
    add(b.size());
    for (const StmtPtr& s : b) {
      add(s->hash);
      bloom |= s->bloom;
    }
  }
  void operator()(const Assign& n) { add(n.name), add(n.idx), add(n.rhs); }
  void operator()(const Reduce& n) {
    add(n.name), add(n.idx), add(n.rhs), add(static_cast<uint64_t>(n.op));
  }
  // A field is a name, not a symbol: it has no bloom, and whoever looks for configuration asks
  // writes_config.
  void operator()(const WriteConfig& n) {
    add(reinterpret_cast<uintptr_t>(n.config.get())), add(hash_bytes(n.field)), add(n.rhs);
  }
  void operator()(const Pass&) {}
  void operator()(const If& n) { add(n.cond), add(n.body), add(n.orelse); }
  void operator()(const For& n) {
    add(n.iter), add(n.lo), add(n.hi), add(static_cast<uint64_t>(n.mode)), add(n.body);
  }
  void operator()(const Alloc& n) {
    add(n.name), add(static_cast<uint64_t>(n.type.scalar)), add(n.type.shape);
    add(reinterpret_cast<uintptr_t>(n.mem.get()));
  }
  void operator()(const Call& n) { add(reinterpret_cast<uintptr_t>(n.callee.get())), add(n.args); }
  // The type is left out: it follows from the expression.
  void operator()(const WindowStmt& n) { add(n.name), add(n.rhs); }
};

}  // namespace

// Counted when a statement is made, so that "does this block write configuration" is one look at
// each statement instead of a walk through calls of calls.
namespace {

bool any_writes_config(const Block& b) {
  return std::any_of(b.begin(), b.end(), [](const StmtPtr& s) { return s->writes_config; });
}

bool node_writes_config(const StmtNode& node) {
  if (std::holds_alternative<WriteConfig>(node)) return true;
  // The callee exists before the call, so that this ends: object code has no recursion.
  if (const Call* c = std::get_if<Call>(&node)) return any_writes_config(c->callee->body);
  if (const For* f = std::get_if<For>(&node)) return any_writes_config(f->body);
  if (const If* i = std::get_if<If>(&node))
    return any_writes_config(i->body) || any_writes_config(i->orelse);
  return false;
}

}  // namespace

const char* name_of(ReduceOp op) {
  static const char* const names[] = {"+=", "max=", "min="};
  return names[static_cast<int>(op)];
}

StmtPtr make_stmt(StmtNode node, SourceLocation where) {
  StmtHasher h;
  // So that an empty statement does not hash to what nothing at all hashes to.
  h.add(node.index() + 101);
  std::visit(h, node);
  auto s = std::make_shared<Stmt>();
  s->writes_config = node_writes_config(node);
  s->node = std::move(node);
  s->where = std::move(where);
  s->hash = h.hash;
  s->bloom = h.bloom;
  return s;
}

StmtPtr make_assign(Sym name, std::vector<ExprPtr> idx, ExprPtr rhs) {
  return make_stmt(Assign{name, std::move(idx), std::move(rhs)});
}
StmtPtr make_reduce(Sym name, std::vector<ExprPtr> idx, ExprPtr rhs, ReduceOp op) {
  return make_stmt(Reduce{name, std::move(idx), std::move(rhs), op});
}
StmtPtr make_for(Sym iter, ExprPtr lo, ExprPtr hi, Block body, LoopMode mode) {
  return make_stmt(For{iter, std::move(lo), std::move(hi), std::move(body), mode});
}
StmtPtr make_if(ExprPtr cond, Block body, Block orelse) {
  return make_stmt(If{std::move(cond), std::move(body), std::move(orelse)});
}
StmtPtr make_alloc(Sym name, Type type, MemoryPtr mem) {
  return make_stmt(Alloc{name, std::move(type), std::move(mem)});
}
StmtPtr make_call(ProcPtr callee, std::vector<ExprPtr> args) {
  return make_stmt(Call{std::move(callee), std::move(args)});
}
StmtPtr make_pass() { return make_stmt(Pass{}); }

// What every traversal of expressions rests on: with_exprs takes back exactly what stmt_exprs gave,
// in that order. A new kind of statement is added to both or rewrites lose its expressions.
std::vector<ExprPtr> stmt_exprs(const Stmt& s) {
  struct Visitor {
    std::vector<ExprPtr> operator()(const Assign& n) { return with_last(n.idx, n.rhs); }
    std::vector<ExprPtr> operator()(const Reduce& n) { return with_last(n.idx, n.rhs); }
    std::vector<ExprPtr> operator()(const WriteConfig& n) { return {n.rhs}; }
    std::vector<ExprPtr> operator()(const Pass&) { return {}; }
    std::vector<ExprPtr> operator()(const If& n) { return {n.cond}; }
    std::vector<ExprPtr> operator()(const For& n) { return {n.lo, n.hi}; }
    std::vector<ExprPtr> operator()(const Alloc& n) { return n.type.shape; }
    std::vector<ExprPtr> operator()(const Call& n) { return n.args; }
    std::vector<ExprPtr> operator()(const WindowStmt& n) { return {n.rhs}; }
    // Subscripts first, the right side last: with_exprs takes the last one for the right side.
    static std::vector<ExprPtr> with_last(std::vector<ExprPtr> v, const ExprPtr& e) {
      v.push_back(e);
      return v;
    }
  };
  return std::visit(Visitor{}, s.node);
}

StmtPtr with_exprs(const StmtPtr& s, const std::vector<ExprPtr>& e) {
  struct Visitor {
    const std::vector<ExprPtr>& e;
    // What stmt_exprs put before the right side.
    std::vector<ExprPtr> init() { return {e.begin(), e.end() - 1}; }
    StmtNode operator()(const Assign& n) { return Assign{n.name, init(), e.back()}; }
    StmtNode operator()(const Reduce& n) { return Reduce{n.name, init(), e.back(), n.op}; }
    StmtNode operator()(const WriteConfig& n) { return WriteConfig{n.config, n.field, e[0]}; }
    StmtNode operator()(const Pass& n) { return n; }
    StmtNode operator()(const If& n) { return If{e[0], n.body, n.orelse}; }
    StmtNode operator()(const For& n) { return For{n.iter, e[0], e[1], n.body, n.mode}; }
    // The extents are the expressions here.
    StmtNode operator()(const Alloc& n) {
      return Alloc{n.name, Type{n.type.scalar, e, n.type.window}, n.mem};
    }
    StmtNode operator()(const Call& n) { return Call{n.callee, e}; }
    StmtNode operator()(const WindowStmt& n) {
      WindowStmt out{n.name, e[0], n.type};
      // The window's shape follows its expression: hi - lo of each interval.
      if (const WindowExpr* w = e[0]->as<WindowExpr>()) {
        out.type.shape.clear();
        for (const WindowAccess& a : w->access)
          if (!a.is_point()) {
            auto lo = as_int(a.lo), hi = as_int(a.hi);
            out.type.shape.push_back(lo && hi  ? int_const(*hi - *lo)
                                     : lo == 0 ? a.hi
                                               : a.hi - a.lo);
          }
      }
      return out;
    }
  };
  return make_stmt(std::visit(Visitor{e}, s->node), s->where);
}

// Leaves come through unchanged, so that rewriters call this for every statement without asking
// what it is first.
StmtPtr with_blocks(const StmtPtr& s, Block body, Block orelse) {
  if (const For* f = s->as<For>()) {
    // A loop has one block. Whoever hands it two has mistaken it for an if.
    EXO_CHECK(orelse.empty());
    return make_stmt(For{f->iter, f->lo, f->hi, std::move(body), f->mode}, s->where);
  }
  if (const If* i = s->as<If>())
    return make_stmt(If{i->cond, std::move(body), std::move(orelse)}, s->where);
  EXO_CHECK(body.empty() && orelse.empty());
  return s;
}

namespace {
// For leaves: body_of returns a reference, which must refer to something.
const Block kEmptyBlock;
}  // namespace
const Block& body_of(const Stmt& s) {
  if (const For* f = s.as<For>()) return f->body;
  if (const If* i = s.as<If>()) return i->body;
  return kEmptyBlock;
}
const Block& orelse_of(const Stmt& s) {
  if (const If* i = s.as<If>()) return i->orelse;
  return kEmptyBlock;
}

namespace {

// Equality where symbols bound so far correspond through `to` (empty: plain equality).
struct AlphaComparer {
  std::map<Sym, Sym> to, from;
  // Free symbols (bound on neither side) have to be the same one; a bound one never equals a free
  // one.
  bool same(Sym a, Sym b) const {
    auto i = to.find(a);
    auto j = from.find(b);
    if (i == to.end() && j == from.end()) return a == b;
    return i != to.end() && j != from.end() && i->second == b && j->second == a;
  }
  void bind(Sym a, Sym b) {
    // Both directions are kept: with one alone `i, j` against `k, k` would count as equal.
    to[a] = b;
    from[b] = a;
  }
  // Walks the two trees in step. Hashes are no help here: they contain the symbols' ids, which is
  // what may differ. What has no symbols inside (bloom 0) is compared by plain equality.
  bool same(const ExprPtr& a, const ExprPtr& b) const {
    // A point of a window has no upper end: null on both sides is equal.
    if (!a || !b) return a == b;
    if (a->node.index() != b->node.index()) return false;
    if (const Read* r = a->as<Read>()) {
      if (!same(r->name, b->as<Read>()->name)) return false;
    } else if (const WindowExpr* w = a->as<WindowExpr>()) {
      const WindowExpr* o = b->as<WindowExpr>();
      if (!same(w->name, o->name) || w->access.size() != o->access.size()) return false;
      for (size_t k = 0; k < w->access.size(); ++k)
        if (w->access[k].is_point() != o->access[k].is_point()) return false;
    } else if (const StrideExpr* s = a->as<StrideExpr>()) {
      if (!same(s->name, b->as<StrideExpr>()->name) || s->dim != b->as<StrideExpr>()->dim)
        return false;
    } else if (const BinOp* o = a->as<BinOp>()) {
      if (o->op != b->as<BinOp>()->op) return false;
    } else if (const Extern* x = a->as<Extern>()) {
      if (x->fn != b->as<Extern>()->fn) return false;
      // Only here does the type say something that the children do not.
    } else if (a->as<Cast>()) {
      if (a->type != b->type) return false;
    } else if (a->bloom == 0 || a->as<Const>() || a->as<ReadConfig>()) {
      if (expr_children(*a).empty()) return equal(a, b);
    }
    std::vector<ExprPtr> ca = expr_children(*a), cb = expr_children(*b);
    return same(ca, cb);
  }
  bool same(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) const {
    if (a.size() != b.size()) return false;
    for (size_t k = 0; k < a.size(); ++k)
      if (!same(a[k], b[k])) return false;
    return true;
  }
  bool same(const Block& a, const Block& b) {
    if (a.size() != b.size()) return false;
    for (size_t k = 0; k < a.size(); ++k)
      if (!same(a[k], b[k])) return false;
    return true;
  }
  // A binder corresponds from here to the end of the comparison, not of its block: symbols are
  // unique, so that one which went out of scope is not met again.
  // Expressions are compared before the statement's own symbol is bound: in `a: f32[n]` the n is
  // an outer one.
  bool same(const StmtPtr& a, const StmtPtr& b) {
    if (a->node.index() != b->node.index()) return false;
    if (!same(stmt_exprs(*a), stmt_exprs(*b))) return false;
    if (const Assign* x = a->as<Assign>()) return same(x->name, b->as<Assign>()->name);
    if (const Reduce* x = a->as<Reduce>())
      return same(x->name, b->as<Reduce>()->name) && x->op == b->as<Reduce>()->op;
    if (const WriteConfig* x = a->as<WriteConfig>())
      return x->config == b->as<WriteConfig>()->config && x->field == b->as<WriteConfig>()->field;
    if (const Call* x = a->as<Call>()) return x->callee == b->as<Call>()->callee;
    if (const Alloc* x = a->as<Alloc>()) {
      const Alloc* y = b->as<Alloc>();
      if (x->type.scalar != y->type.scalar || x->mem != y->mem) return false;
      bind(x->name, y->name);
      return true;
    }
    if (const WindowStmt* x = a->as<WindowStmt>()) {
      bind(x->name, b->as<WindowStmt>()->name);
      return true;
    }
    if (const For* x = a->as<For>()) {
      const For* y = b->as<For>();
      if (x->mode != y->mode) return false;
      bind(x->iter, y->iter);
      return same(x->body, y->body);
    }
    return same(body_of(*a), body_of(*b)) && same(orelse_of(*a), orelse_of(*b));
  }
};

}  // namespace

bool alpha_equal(const Block& a, const Block& b) { return AlphaComparer{}.same(a, b); }

namespace {
// Equality of what a statement holds besides its expressions and blocks.
// Called where both nodes hold the same alternative, which other() relies on.
struct HeadComparer {
  const Stmt& o;
  template <class T>
  const T& other() {
    return std::get<T>(o.node);
  }
  bool operator()(const Assign& n) { return n.name == other<Assign>().name; }
  bool operator()(const Reduce& n) {
    return n.name == other<Reduce>().name && n.op == other<Reduce>().op;
  }
  bool operator()(const WriteConfig& n) {
    return n.config == other<WriteConfig>().config && n.field == other<WriteConfig>().field;
  }
  bool operator()(const Pass&) { return true; }
  bool operator()(const If&) { return true; }
  bool operator()(const For& n) {
    return n.iter == other<For>().iter && n.mode == other<For>().mode;
  }
  bool operator()(const Alloc& n) {
    const Alloc& a = other<Alloc>();
    return n.name == a.name && n.type.scalar == a.type.scalar && n.mem == a.mem;
  }
  bool operator()(const Call& n) { return n.callee == other<Call>().callee; }
  bool operator()(const WindowStmt& n) { return n.name == other<WindowStmt>().name; }
};
}  // namespace

// The hash first: trees that differ are told apart at once, and only equal ones are walked, as far
// as they do not share nodes.
bool equal(const StmtPtr& a, const StmtPtr& b) {
  // Rewrites share what they leave alone, so this answers for most of two versions of a procedure.
  if (a == b) return true;
  if (a->hash != b->hash || a->node.index() != b->node.index()) return false;
  std::vector<ExprPtr> ea = stmt_exprs(*a), eb = stmt_exprs(*b);
  if (ea.size() != eb.size()) return false;
  for (size_t k = 0; k < ea.size(); ++k)
    if (!equal(ea[k], eb[k])) return false;
  return std::visit(HeadComparer{*b}, a->node) && equal(body_of(*a), body_of(*b)) &&
         equal(orelse_of(*a), orelse_of(*b));
}

bool equal(const Block& a, const Block& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k)
    if (!equal(a[k], b[k])) return false;
  return true;
}

}  // namespace exotune
