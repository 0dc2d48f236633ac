// One operation at a time: bound in front of its statement, then taken out of loop after loop, from
// the inside out. A loop that changes it gives the array a dimension; one that does not is removed
// from around the computation.
#include "core/library/factors.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr int64_t kWorthAnArray = 4;  // uses of an element; fewer do not pay for its store

bool is_operation(const Expr& e) { return e.as<BinOp>() || e.as<Extern>() || e.as<USub>(); }

// The dimension that some element of `e` has for the iterator, or null.
ExprPtr dimension_along(const ProcPtr& p, const Path& at, const ExprPtr& e, Sym iter) {
  for (const Read* r : data_reads(e)) {
    const std::optional<ScopeEntry> buffer = lookup(*p, at, r->name);
    for (size_t d = 0; buffer && d < r->idx.size() && d < buffer->type.shape.size(); ++d)
      if (const Read* index = r->idx[d]->as<Read>(); index && index->name == iter)
        return buffer->type.shape[d];
  }
  return nullptr;
}

bool is_product(const ExprPtr& e) {
  const BinOp* b = e->as<BinOp>();
  return b && b->op == BinOpKind::kMul && is_data(e->type);
}
Cursor part(const ProcPtr& p, const Path& of, int k) {
  Path path = of;
  path.push_back({Child::kExpr, k});
  return Cursor::expr(p, path);
}

// (a * b) * c in its k-th grouping: itself, (c * b) * a, (c * a) * b.
ProcPtr grouped(ProcPtr p, const Path& product, int k) {
  if (k == 1) p = commute_expr(p, part(p, product, 0));
  if (k == 0) return p;
  p = commute_expr(p, Cursor::expr(p, product));
  return left_reassociate_expr(p, Cursor::expr(p, product));
}

// "alpha_A" for alpha * A[i, k].
std::string name_of(const ExprPtr& e) {
  std::string out;
  for (const Read* r : data_reads(e))
    if (out.find(r->name.name()) == std::string::npos)
      out += (out.empty() ? "" : "_") + r->name.name();
  return out + (out.find('_') == std::string::npos ? "_ahead" : "");
}

class FactorsAhead {
 public:
  FactorsAhead(ProcPtr p, Path nest) : p_(std::move(p)), nest_(std::move(nest)) {}

  /// True: something was brought ahead.
  bool run() {
    std::vector<Found> found;
    collect(nest_, {}, found);
    bool any = false;
    for (const Found& f : found) {
      const Cursor here = forward(p_, f.place);
      if (here.valid()) any |= f.product ? bring_pair(here.path(), f.around) : bring(p_, here);
    }
    return any;
  }
  ProcPtr proc() const { return p_; }

 private:
  struct Found {
    Cursor place;
    std::vector<const For*> around;
    bool product;  // of three, two of which are brought ahead
  };

  // Perfect nests alone: what stands beside a loop would have to be passed.
  void collect(const Path& path, std::vector<const For*> around, std::vector<Found>& out) const {
    const StmtPtr s = stmt_at(*p_, path);
    if (const For* f = s->as<For>()) {
      around.push_back(f);
      if (f->body.size() == 1) collect(child(path), std::move(around), out);
      return;
    }
    if (s->as<Assign>() || s->as<Reduce>()) look(Cursor::stmt(p_, path).rhs(), around, out);
  }

  void look(const Cursor& place, const std::vector<const For*>& around,
            std::vector<Found>& out) const {
    const ExprPtr e = place.expr();
    if (!is_operation(*e) || !is_data(e->type)) return;
    const bool product = is_product(e) && is_product(e->as<BinOp>()->lhs);
    if (is_worth_it(e, around) || product) {
      out.push_back({place, around, !is_worth_it(e, around)});
      return;
    }
    const int children = static_cast<int>(expr_children(*e).size());
    for (int k = 0; k < children; ++k) look(part(p_, place.path(), k), around, out);
  }

  static bool is_worth_it(const ExprPtr& e, const std::vector<const For*>& around) {
    bool some = false;
    int64_t uses = 1;
    for (const For* f : around) {
      if (mentions(e, f->iter))
        some = true;
      else
        uses *= literal_extent(*f).value_or(kWorthAnArray);
    }
    return some && uses >= kWorthAnArray;
  }

  // The first grouping of the product whose pair may be computed ahead.
  bool bring_pair(const Path& product, const std::vector<const For*>& around) {
    for (int k = 0; k < 3; ++k) {
      const ProcPtr q = grouped(p_, product, k);
      const Cursor pair = part(q, product, 0);
      if (is_worth_it(pair.expr(), around) && bring(q, pair)) return true;
    }
    return false;
  }

  bool bring(ProcPtr q, const Cursor& operation) {
    try {
      const Path stmt = stmt_part(operation.path());
      const ExprPtr e = operation.expr();
      q = bind_expr(q, operation, name_of(e));
      Path loop(stmt.begin(), stmt.end() - 1);
      for (; loop.size() >= nest_.size(); loop.pop_back()) q = out_of(q, loop, e);
      nest_.back().index += 2;
      p_ = q;
      return true;
    } catch (const SchedulingError&) {
      return false;  // it is changed on the way, or has no bounds that stand outside
    }
  }

  // for i: { t : T ; t = e ; s }  ->  t : T[I] ; for i: t[i] = e ; for i: s
  static ProcPtr out_of(ProcPtr q, const Path& loop, const ExprPtr& e) {
    const For f = *stmt_at(*q, loop)->as<For>();
    const bool changes = mentions(e, f.iter);
    if (changes) {
      const ExprPtr dimension = dimension_along(q, child(loop), e, f.iter);
      q = expand_dim(q, at(q, child(loop)), dimension ? dimension : f.hi,
                     read_var(f.iter, ScalarType::kIndex));
    }
    q = lift_alloc(q, at(q, child(loop)), 1);
    const Path filled = sibling(loop, 1);
    q = fission(q, Cursor::gap(q, child(filled, 1)), 1);
    return changes ? q : remove_loop(q, at(q, filled));
  }

  ProcPtr p_;
  Path nest_;
};

}  // namespace

ProcPtr factors_ahead(ProcPtr p, const Where& loop) {
  const Cursor nest = loop.stmt(p);
  if (!nest.is<For>()) throw SchedulingError("factors_ahead: `" + nest.describe() + "` is no loop");
  FactorsAhead ahead(p, nest.path());
  if (!ahead.run())
    throw SchedulingError("factors_ahead: no operation under `" + nest.describe() +
                          "` is free of one of the loops around it and may be computed ahead");
  return ahead.proc();
}

}  // namespace exotune
