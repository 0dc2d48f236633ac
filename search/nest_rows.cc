// Indices of nests, and nests that are rows. What is told here is a guess about which schedules are
// worth trying: a wrong one costs refused steps, since every step is proved.
#include <algorithm>
#include <numeric>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "search/nest_parts.h"

namespace exotune::nest_parts {

// The index grows by one with the iterator: i, i + 3, n + i, but not 2 * i, n - i or i / 4.
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

// x[.., j / 16, .., j % 16] is a panel in strips of 16: the last index tells the width, another one
// picks the strip.
int64_t strip_of(const ExprPtr& index, Sym iter) {
  const BinOp* o = index->as<BinOp>();
  if (!o || o->op != BinOpKind::kMod) return 0;
  const std::optional<int64_t> c = as_int(o->rhs);
  return c && runs_along(o->lhs, iter) ? *c : 0;
}

bool picks_strip(const ExprPtr& index, Sym iter, int64_t strip) {
  const BinOp* o = index->as<BinOp>();
  // Strips of a block of several: 3 * jb + j / 16.
  if (o && o->op == BinOpKind::kAdd)
    return (picks_strip(o->lhs, iter, strip) && !mentions(o->rhs, iter)) ||
           (picks_strip(o->rhs, iter, strip) && !mentions(o->lhs, iter));
  return strip > 0 && o && o->op == BinOpKind::kDiv && as_int(o->rhs) == strip &&
         runs_along(o->lhs, iter);
}

// How far the index moves with one more iteration; 0 also for what is no sum of products with
// literals, which then counts as standing still.
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

// A window's elements lie side by side only where an assertion says so: its stride is the caller's.
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

// `period` is for loops whose extent is a multiple of outer iterators, as in triangles that were
// cut into blocks: 64 * b + 20 iterations divide as 64 and 20 do.
NestLoop loop_of(const For& f) {
  NestLoop loop;
  loop.name = f.iter.name();
  const auto lo = as_int(f.lo), hi = as_int(f.hi);
  if (lo && hi) loop.extent = loop.most = *hi - *lo;
  if (const auto extent = affine(f.hi - f.lo); extent && !loop.extent) {
    for (const Affine::Term& t : extent->terms) loop.period = std::gcd(loop.period, t.coeff);
    if (loop.period == 1) loop.period = 0;
  }
  // The rest of a loop that was cut into tiles.
  if (const BinOp* rest = f.hi->as<BinOp>(); rest && rest->op == BinOpKind::kMod && lo == 0)
    if (const auto tile = as_int(rest->rhs)) loop.most = std::max<int64_t>(1, *tile - 1);
  return loop;
}

std::optional<Statement> statement_of(const StmtPtr& s) {
  if (const Assign* a = s->as<Assign>()) return Statement{a->name, a->idx, a->rhs, false};
  if (const Reduce* r = s->as<Reduce>())
    return Statement{r->name, r->idx, r->rhs, true, r->op == ReduceOp::kAdd};
  return std::nullopt;
}

namespace {

struct TwoLoops {
  const For* outer = nullptr;
  const For* inner = nullptr;
};

// The first loop in a loop; nothing where some nest is deeper.
std::optional<TwoLoops> two_loops(const Proc& p) {
  TwoLoops found;
  for (const StmtPtr& s : p.body) {
    const For* f = s->as<For>();
    if (!f) continue;
    for (const StmtPtr& k : f->body)
      if (const For* g = k->as<For>()) {
        if (!found.inner) found = {f, g};
        for (const StmtPtr& below : g->body)
          if (below->as<For>()) return std::nullopt;
      }
  }
  if (!found.inner) return std::nullopt;
  return found;
}

// y[i] += x[i + k] * h[k]: of all that the outer loop moves, neighbours are its next iterations.
bool slides_along(Sym outer, const std::vector<Statement>& statements,
                  const std::vector<const Read*>& reads) {
  const auto beside = [&](const std::vector<ExprPtr>& idx) {
    return std::none_of(idx.begin(), idx.end() - 1,
                        [&](const ExprPtr& e) { return mentions(e, outer); }) &&
           runs_along(idx.back(), outer);
  };
  const auto moves = [&](const std::vector<ExprPtr>& idx) {
    return std::any_of(idx.begin(), idx.end(),
                       [&](const ExprPtr& e) { return mentions(e, outer); });
  };
  return std::all_of(statements.begin(), statements.end(),
                     [&](const Statement& s) { return moves(s.idx) && beside(s.idx); }) &&
         std::all_of(reads.begin(), reads.end(),
                     [&](const Read* r) { return !moves(r->idx) || beside(r->idx); });
}

}  // namespace

// Rows: two loops, whatever else stands in the outer one. The loop that vectors run along is the
// inner one; `unit_stride` falls as soon as one access along it is of a window of unknown stride,
// since a vector of scattered elements costs an instruction each.
Nest inspect_rows(const Proc& p) {
  Nest nest;
  const std::optional<TwoLoops> loops = two_loops(p);
  if (!loops) return nest;
  const Sym iter = loops->inner->iter;
  std::vector<const Read*> reads;
  std::vector<Statement> statements;  // reads point into them
  bool along = false;
  for (const StmtPtr& s : loops->inner->body)
    if (std::optional<Statement> statement = statement_of(s))
      statements.push_back(std::move(*statement));
  for (const Statement& s : statements) {
    nest.output = s.name.name();
    if (!s.idx.empty() && runs_along(s.idx.back(), iter)) {
      along = true;
      nest.unit_stride = nest.unit_stride && is_contiguous(p, s.name);
    }
    const std::vector<const Read*> more = data_reads(s.rhs);
    reads.insert(reads.end(), more.begin(), more.end());
  }
  for (const Read* r : reads) {
    if (r->idx.empty() || !mentions(r->idx.back(), iter)) continue;
    along = along || runs_along(r->idx.back(), iter);
    nest.unit_stride = nest.unit_stride && is_contiguous(p, r->name);
    if (const Arg* a = p.find_arg(r->name)) nest.precision = a->type.scalar;
  }
  if (!along) return nest;
  for (const For* f : {loops->outer, loops->inner}) {
    nest.loops.push_back(loop_of(*f));
    nest.loops.back().in_output = f == loops->outer;
  }
  nest.kind = NestKind::kRows;
  nest.row_loop = loops->outer->iter.name();
  nest.vector_loop = loops->inner->iter.name();
  nest.slides = slides_along(loops->outer->iter, statements, reads);
  return nest;
}

}  // namespace exotune::nest_parts
