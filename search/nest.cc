#include "search/nest.h"

#include <algorithm>
#include <set>

#include "core/ir/printer.h"

namespace exotune {

const char* name_of(NestKind k) {
  static const char* const names[] = {"contraction", "rows", "elements", "other"};
  return names[static_cast<int>(k)];
}

const NestLoop* Nest::find(const std::string& loop) const {
  for (const NestLoop& l : loops)
    if (l.name == loop) return &l;
  return nullptr;
}

namespace {

void collect_reads(const ExprPtr& e, std::vector<const Read*>& out) {
  if (const Read* r = e->as<Read>(); r && is_data(e->type)) out.push_back(r);
  for (const ExprPtr& c : expr_children(*e)) collect_reads(c, out);
}

// Is the index exactly the loop's iterator plus what does not mention it (coefficient one)?
bool runs_along(const ExprPtr& index, Sym iter) {
  if (!mentions(index, iter)) return false;
  if (const Read* r = index->as<Read>()) return r->name == iter;
  if (const BinOp* o = index->as<BinOp>(); o && o->op == BinOpKind::kAdd)
    return (runs_along(o->lhs, iter) && !mentions(o->rhs, iter)) ||
           (runs_along(o->rhs, iter) && !mentions(o->lhs, iter));
  if (const BinOp* o = index->as<BinOp>(); o && o->op == BinOpKind::kSub)
    return runs_along(o->lhs, iter) && !mentions(o->rhs, iter);
  return false;
}

// j % c: the place in a strip of c elements; 0 for anything else.
int64_t strip_of(const ExprPtr& index, Sym iter) {
  const BinOp* o = index->as<BinOp>();
  if (!o || o->op != BinOpKind::kMod) return 0;
  const std::optional<int64_t> c = as_int(o->rhs);
  return c && runs_along(o->lhs, iter) ? *c : 0;
}

// j / c: the strip.
bool picks_strip(const ExprPtr& index, Sym iter, int64_t strip) {
  const BinOp* o = index->as<BinOp>();
  return strip > 0 && o && o->op == BinOpKind::kDiv && as_int(o->rhs) == strip &&
         runs_along(o->lhs, iter);
}

// The factor of `iter` in a sum; 0 when it is not there, or not so simply.
int64_t coefficient(const ExprPtr& e, Sym iter) {
  if (const Read* r = e->as<Read>()) return r->name == iter ? 1 : 0;
  const BinOp* o = e->as<BinOp>();
  if (!o) return 0;
  if (o->op == BinOpKind::kAdd) return coefficient(o->lhs, iter) + coefficient(o->rhs, iter);
  if (o->op == BinOpKind::kMul) {
    if (const auto c = as_int(o->lhs)) return *c * coefficient(o->rhs, iter);
    if (const auto c = as_int(o->rhs)) return *c * coefficient(o->lhs, iter);
  }
  return 0;
}

// Windows may have any stride unless an assert says that the last one is 1.
bool is_contiguous(const Proc& p, Sym buffer) {
  const Arg* a = p.find_arg(buffer);
  if (!a || !a->type.window) return true;
  for (const ExprPtr& e : p.asserts) {
    const BinOp* o = e->as<BinOp>();
    if (!o || o->op != BinOpKind::kEq) continue;
    const StrideExpr* s = o->lhs->as<StrideExpr>();
    if (s && s->name == buffer && s->dim == a->type.rank() - 1 && as_int(o->rhs) == 1) return true;
  }
  return false;
}

struct Statement {
  Sym name;
  std::vector<ExprPtr> idx;
  ExprPtr rhs;
  bool reduces;
};

// Rows of an imperfect nest: an outer loop with, somewhere in it, a loop along contiguous elements,
// as in `for i: dot = 0; for j: dot += A[i, j] * x[j]; y[i] = dot`.
Nest inspect_rows(const Proc& p) {
  Nest nest;
  const For* outer = nullptr;
  const For* inner = nullptr;
  bool deeper = false;
  for (const StmtPtr& s : p.body) {
    const For* f = s->as<For>();
    if (!f) continue;
    for (const StmtPtr& k : f->body)
      if (const For* g = k->as<For>()) {
        if (!inner) outer = f, inner = g;
        for (const StmtPtr& below : g->body) deeper = deeper || below->as<For>();
      }
  }
  if (!inner || deeper) return nest;
  std::vector<const Read*> reads;
  bool along = false;
  for (const StmtPtr& s : inner->body) {
    std::vector<ExprPtr> idx;
    ExprPtr rhs;
    Sym written;
    if (const Assign* a = s->as<Assign>()) idx = a->idx, rhs = a->rhs, written = a->name;
    else if (const Reduce* r = s->as<Reduce>()) idx = r->idx, rhs = r->rhs, written = r->name;
    else continue;
    nest.output = written.name();
    if (!idx.empty() && runs_along(idx.back(), inner->iter)) {
      along = true;
      nest.unit_stride = nest.unit_stride && is_contiguous(p, written);
    }
    collect_reads(rhs, reads);
  }
  for (const Read* r : reads) {
    if (r->idx.empty() || !mentions(r->idx.back(), inner->iter)) continue;
    along = along || runs_along(r->idx.back(), inner->iter);
    nest.unit_stride = nest.unit_stride && is_contiguous(p, r->name);
    if (const Arg* a = p.find_arg(r->name)) nest.precision = a->type.scalar;
  }
  if (!along) return nest;
  for (const For* f : {outer, inner}) {
    NestLoop loop{f->iter.name(), std::nullopt, f == outer};
    auto lo = as_int(f->lo), hi = as_int(f->hi);
    if (lo && hi) loop.extent = *hi - *lo;
    nest.loops.push_back(loop);
  }
  nest.kind = NestKind::kRows;
  nest.row_loop = outer->iter.name();
  nest.vector_loop = inner->iter.name();
  return nest;
}

}  // namespace

Nest inspect_nest(const Proc& p) {
  Nest nest;
  // The one loop among the top statements (a sum may be set to zero before it).
  Block top;
  for (const StmtPtr& s : p.body)
    if (s->as<For>()) top.push_back(s);
  if (top.size() != 1) return inspect_rows(p);
  std::vector<Sym> iters;
  const Block* body = &top;
  while (body->size() == 1 && (*body)[0]->as<For>()) {  // the perfect part
    const For& f = *(*body)[0]->as<For>();
    NestLoop loop{f.iter.name(), std::nullopt, false};
    auto lo = as_int(f.lo), hi = as_int(f.hi);
    if (lo && hi) loop.extent = *hi - *lo;
    nest.loops.push_back(loop);
    iters.push_back(f.iter);
    body = &f.body;
  }
  std::vector<Statement> statements;
  for (const StmtPtr& s : *body) {
    if (const Assign* a = s->as<Assign>()) statements.push_back({a->name, a->idx, a->rhs, false});
    else if (const Reduce* r = s->as<Reduce>()) statements.push_back({r->name, r->idx, r->rhs, true});
    else if (!s->as<Alloc>()) return inspect_rows(p);
  }
  if (statements.empty()) return nest;

  std::vector<const Read*> reads;
  for (const Statement& s : statements) collect_reads(s.rhs, reads);
  for (const Statement& s : statements)
    for (size_t k = 0; k < iters.size(); ++k)
      for (const ExprPtr& e : s.idx)
        if (mentions(e, iters[k])) nest.loops[k].in_output = true;
  const Statement& last = statements.back();
  nest.output = last.name.name();
  if (const Arg* a = p.find_arg(last.name)) nest.precision = a->type.scalar;
  for (const Read* r : reads)
    if (const Arg* a = p.find_arg(r->name)) {
      nest.converts = nest.converts || bytes_of(a->type.scalar) < 4;
      if (!nest.converts) nest.precision = a->type.scalar;
    }

  // The vector loop: every access that mentions it does so in its last index, with coefficient one;
  // of several such loops the innermost one that is contiguous in most accesses.
  int best_score = 0;
  for (size_t k = 0; k < iters.size(); ++k) {
    int score = 0;
    bool allowed = true;
    auto look = [&](const std::vector<ExprPtr>& idx) {
      const int64_t strip = idx.empty() ? 0 : strip_of(idx.back(), iters[k]);
      for (size_t d = 0; d < idx.size(); ++d) {
        if (!mentions(idx[d], iters[k]) || picks_strip(idx[d], iters[k], strip)) continue;
        if (d + 1 == idx.size() && (strip > 0 || runs_along(idx[d], iters[k]))) ++score;
        else allowed = false;
      }
    };
    for (const Statement& s : statements) look(s.idx);
    for (const Read* r : reads) look(r->idx);
    if (allowed && score >= best_score && score > 0) {
      best_score = score;
      nest.vector_loop = nest.loops[k].name;
    }
  }
  Sym vector_iter;
  for (size_t k = 0; k < iters.size(); ++k)
    if (nest.loops[k].name == nest.vector_loop) vector_iter = iters[k];
  auto check_stride = [&](Sym buffer, const std::vector<ExprPtr>& idx) {
    if (vector_iter.valid() && !idx.empty() && mentions(idx.back(), vector_iter))
      nest.unit_stride = nest.unit_stride && is_contiguous(p, buffer);
  };
  std::set<std::string> seen;
  for (const Statement& s : statements) check_stride(s.name, s.idx);
  for (const Read* r : reads) {
    check_stride(r->name, r->idx);
    if (r->name == last.name || r->idx.empty() || !seen.insert(r->name.name()).second) continue;
    Operand o{r->name.name(), {}, false};
    for (const ExprPtr& e : r->idx)
      for (size_t k = 0; k < iters.size(); ++k)
        if (mentions(e, iters[k])) o.loops.push_back(nest.loops[k].name);
    o.along_vector = vector_iter.valid() && mentions(r->idx.back(), vector_iter);
    if (o.along_vector) o.strip = strip_of(r->idx.back(), vector_iter);
    nest.operands.push_back(o);
  }

  // 48 * jo + j with 48 iterations of j: j is a tile of jo.
  const auto find_tiles = [&](const std::vector<ExprPtr>& idx) {
    for (const ExprPtr& e : idx)
      for (size_t inner = 0; inner < iters.size(); ++inner)
        for (size_t outer = 0; outer < inner; ++outer)
          if (nest.loops[inner].extent && coefficient(e, iters[inner]) == 1 &&
              coefficient(e, iters[outer]) == *nest.loops[inner].extent)
            nest.loops[inner].outer = nest.loops[outer].name;
  };
  for (const Statement& s : statements) find_tiles(s.idx);
  for (const Read* r : reads) find_tiles(r->idx);

  const NestLoop* v = nest.find(nest.vector_loop);
  if (!v) return nest;
  if (nest.loops.size() >= 3 && statements.size() == 1 && last.reduces && v->in_output) {
    for (const NestLoop& l : nest.loops) {
      if (l.in_output && l.name != nest.vector_loop) nest.row_loop = l.name;
      if (!l.in_output) nest.reduction_loop = l.name;
    }
    if (!nest.row_loop.empty() && !nest.reduction_loop.empty()) {
      nest.kind = NestKind::kContraction;
      return nest;
    }
  }
  if (nest.loops.size() == 1) nest.kind = NestKind::kElements;
  if (nest.loops.size() == 2) {
    nest.kind = NestKind::kRows;
    for (const NestLoop& l : nest.loops)
      if (l.name != nest.vector_loop) nest.row_loop = l.name;
  }
  return nest;
}

}  // namespace exotune
