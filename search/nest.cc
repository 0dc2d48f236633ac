#include "search/nest.h"

#include <algorithm>
#include <set>

#include "core/ir/printer.h"

namespace exotune {

const char* name_of(NestKind k) {
  static const char* const names[] = {"contraction", "sums", "rows", "elements", "other"};
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

NestLoop loop_of(const For& f) {
  NestLoop loop;
  loop.name = f.iter.name();
  const auto lo = as_int(f.lo), hi = as_int(f.hi);
  if (lo && hi) loop.extent = loop.most = *hi - *lo;
  // The rest of a loop that was cut into tiles.
  if (const BinOp* rest = f.hi->as<BinOp>(); rest && rest->op == BinOpKind::kMod && lo == 0)
    if (const auto tile = as_int(rest->rhs)) loop.most = std::max<int64_t>(1, *tile - 1);
  return loop;
}

// Loops around one sum, in a nest that has other statements beside it: adds them to the nest.
bool add_sum(const StmtPtr& s, Nest& nest, std::vector<Sym>& iters,
             std::vector<Statement>& statements) {
  const StmtPtr* at = &s;
  while (const For* f = (*at)->as<For>()) {
    if (f->body.size() != 1) return false;
    nest.loops.push_back(loop_of(*f));
    iters.push_back(f->iter);
    at = &f->body.front();
  }
  const Reduce* r = (*at)->as<Reduce>();
  if (r) statements.push_back({r->name, r->idx, r->rhs, true});
  return r != nullptr;
}

// The rows of a sum: the innermost loop that some vectors do not depend on, so that they serve all
// of a tile's rows; else the innermost one beside the vector loop.
void choose_rows_of_sums(Nest& nest) {
  bool serves = false;
  nest.row_loop.clear();
  for (const NestLoop& l : nest.loops) {
    if (!l.in_output) nest.reduction_loop = l.name;
    if (!l.in_output || l.name == nest.vector_loop) continue;
    const bool here =
        std::any_of(nest.operands.begin(), nest.operands.end(), [&](const Operand& o) {
          return o.along_vector &&
                 std::find(o.loops.begin(), o.loops.end(), l.name) == o.loops.end();
        });
    if (here || !serves) nest.row_loop = l.name;
    serves = serves || here;
  }
}

// Are these sums for sum_block? No loop is in tiles, and what is summed over has several loops or
// a beginning of its own.
bool are_whole_sums(const Nest& nest, bool inside) {
  const auto sums = std::count_if(nest.loops.begin(), nest.loops.end(),
                                  [](const NestLoop& l) { return !l.in_output; });
  const bool tiled = std::any_of(nest.loops.begin(), nest.loops.end(),
                                 [](const NestLoop& l) { return !l.outer.empty(); });
  return !tiled && sums >= (inside ? 1 : 2) && !nest.row_loop.empty() &&
         nest.find(nest.vector_loop)->in_output;
}

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
    if (const Assign* a = s->as<Assign>())
      idx = a->idx, rhs = a->rhs, written = a->name;
    else if (const Reduce* r = s->as<Reduce>())
      idx = r->idx, rhs = r->rhs, written = r->name;
    else
      continue;
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
    nest.loops.push_back(loop_of(*f));
    nest.loops.back().in_output = f == outer;
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
    nest.loops.push_back(loop_of(f));
    iters.push_back(f.iter);
    body = &f.body;
  }
  const size_t around = iters.size();  // loops that are not below the statements' own
  std::vector<Statement> statements;
  bool inside = false;  // one of the statements is loops around a sum
  for (const StmtPtr& s : *body) {
    if (const Assign* a = s->as<Assign>())
      statements.push_back({a->name, a->idx, a->rhs, false});
    else if (const Reduce* r = s->as<Reduce>())
      statements.push_back({r->name, r->idx, r->rhs, true});
    else if (s->as<For>() && !inside && around >= 2 && add_sum(s, nest, iters, statements))
      inside = true;
    else if (!s->as<Alloc>())
      return inspect_rows(p);
  }
  if (statements.empty()) return nest;

  std::vector<const Read*> reads;
  for (const Statement& s : statements) collect_reads(s.rhs, reads);
  for (const Statement& s : statements)
    for (size_t k = 0; k < iters.size(); ++k)
      for (const ExprPtr& e : s.idx)
        if (mentions(e, iters[k])) nest.loops[k].in_output = true;
  const Statement& last = statements.back();
  // Of sums in a scalar, what their end writes tells which loops they are for.
  if (inside && std::any_of(nest.loops.begin(), nest.loops.end(), [&](const NestLoop& l) {
        return l.in_output != (&l - nest.loops.data() < static_cast<long>(around));
      }))
    return inspect_rows(p);
  nest.output = last.name.name();
  if (const Arg* a = p.find_arg(last.name)) nest.precision = a->type.scalar;
  for (const Read* r : reads)
    if (const Arg* a = p.find_arg(r->name)) {
      nest.converts = nest.converts || bytes_of(a->type.scalar) < 4;
      if (!nest.converts) nest.precision = a->type.scalar;
    }

  // The vector loop: every access that mentions it does so in its last index, with coefficient one;
  // of several such loops the innermost one that is contiguous in most accesses.
  const auto choose_vector_loop = [&](bool of_output) {
    int best_score = 0;
    for (size_t k = 0; k < iters.size(); ++k) {
      if (of_output && !nest.loops[k].in_output) continue;
      int score = 0;
      bool allowed = true;
      auto look = [&](const std::vector<ExprPtr>& idx) {
        const int64_t strip = idx.empty() ? 0 : strip_of(idx.back(), iters[k]);
        for (size_t d = 0; d < idx.size(); ++d) {
          if (!mentions(idx[d], iters[k]) || picks_strip(idx[d], iters[k], strip)) continue;
          if (d + 1 == idx.size() && (strip > 0 || runs_along(idx[d], iters[k])))
            ++score;
          else
            allowed = false;
        }
      };
      for (const Statement& s : statements) look(s.idx);
      for (const Read* r : reads) look(r->idx);
      if (allowed && score >= best_score && score > 0) {
        best_score = score;
        nest.vector_loop = nest.loops[k].name;
      }
    }
  };
  // Register tiles are of the output.
  const bool tiles = inside || (nest.loops.size() >= 3 && statements.size() == 1 && last.reduces);
  if (tiles) choose_vector_loop(true);
  if (nest.vector_loop.empty() && !inside) choose_vector_loop(false);
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
    if (o.along_vector) {
      o.strip = strip_of(r->idx.back(), vector_iter);
      o.halo = std::any_of(iters.begin(), iters.end(), [&](Sym iter) {
        return iter != vector_iter && mentions(r->idx.back(), iter);
      });
    }
    nest.operands.push_back(o);
  }

  // 48 * jo + j with 48 iterations of j: j is a tile of jo.
  const auto find_tiles = [&](const std::vector<ExprPtr>& idx) {
    for (const ExprPtr& e : idx)
      for (size_t inner = 0; inner < iters.size(); ++inner)
        for (size_t outer = 0; outer < inner; ++outer)
          if (nest.loops[inner].extent &&
              nest.loops[inner].in_output == nest.loops[outer].in_output &&
              coefficient(e, iters[inner]) == 1 &&
              coefficient(e, iters[outer]) == *nest.loops[inner].extent)
            nest.loops[inner].outer = nest.loops[outer].name;
  };
  for (const Statement& s : statements) find_tiles(s.idx);
  for (const Read* r : reads) find_tiles(r->idx);

  const NestLoop* v = nest.find(nest.vector_loop);
  if (!v) return nest;
  if (inside || (statements.size() == 1 && last.reduces)) {
    choose_rows_of_sums(nest);
    if (are_whole_sums(nest, inside)) nest.kind = NestKind::kSums;
    if (inside || nest.kind == NestKind::kSums) return nest;
    nest.row_loop = nest.reduction_loop = "";
  }
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
