// One operation at a time: bound in front of its statement, then taken out of loop after loop, from
// the inside out. A loop that changes it gives the array a dimension; one that does not is removed
// from around the computation.
#include "core/library/factors.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

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

// The last subscript of what a statement writes.
ExprPtr last_subscript(const StmtPtr& s) {
  const Reduce* r = s->as<Reduce>();
  const Assign* a = s->as<Assign>();
  const std::vector<ExprPtr>* idx = r ? &r->idx : a ? &a->idx : nullptr;
  return idx && !idx->empty() ? idx->back() : nullptr;
}

// As the operand's own dimensions lie, so that neighbours stay neighbours, but the one that the
// results' neighbours follow, `along`, last: vectors run along it. The k-th dimension is the
// order[k]-th of the loops.
std::vector<int> order_of(const ExprPtr& e, const std::vector<Sym>& dimensions,
                          const ExprPtr& along) {
  std::vector<int> out;
  const auto add = [&](size_t d) {
    if (std::find(out.begin(), out.end(), static_cast<int>(d)) == out.end())
      out.push_back(static_cast<int>(d));
  };
  for (const Read* r : data_reads(e))
    for (const ExprPtr& index : r->idx)
      for (size_t d = 0; d < dimensions.size(); ++d)
        if (mentions(index, dimensions[d])) add(d);
  for (size_t d = 0; d < dimensions.size(); ++d) add(d);
  std::stable_partition(out.begin(), out.end(), [&](int d) {
    return !along || !mentions(along, dimensions[static_cast<size_t>(d)]);
  });
  return out;
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
    bool any = false;
    while (bring_name()) any = true;
    std::vector<Found> found;
    collect(nest_, {}, found);
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

  // A value that has a name in front of the innermost statement, as a converted element has: what
  // bind_expr would have made.
  bool bring_name() {
    Path loop = nest_;
    std::vector<const For*> around;
    for (const For* f = stmt_at(*p_, loop)->as<For>(); f; f = stmt_at(*p_, loop)->as<For>()) {
      around.push_back(f);
      if (f->body.size() != 1) break;
      loop = child(loop);
    }
    const Block& body = body_of(*stmt_at(*p_, loop));
    const Alloc* name = body.size() > 2 ? body[0]->as<Alloc>() : nullptr;
    const Assign* value = name ? body[1]->as<Assign>() : nullptr;
    if (!value || value->name != name->name || !name->type.shape.empty()) return false;
    const ExprPtr e = value->rhs;
    return is_worth_it(e, around) && lead_out(p_, loop, e);
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
    const Path stmt = stmt_part(operation.path());
    const ExprPtr e = operation.expr();
    try {
      q = bind_expr(q, operation, name_of(e));
    } catch (const SchedulingError&) {
      return false;
    }
    return lead_out(q, Path(stmt.begin(), stmt.end() - 1), e);
  }

  // The first two statements in `loop`, a name and its value, leave it and all loops around it.
  bool lead_out(ProcPtr q, Path loop, const ExprPtr& e) {
    std::vector<Sym> dimensions;  // of the array, from the inside out
    const ExprPtr along = last_subscript(body_of(*stmt_at(*q, loop)).back());
    try {
      for (; loop.size() >= nest_.size(); loop.pop_back()) {
        if (!stmt_at(*q, loop)->as<For>()) return false;  // a condition
        const Sym iter = stmt_at(*q, loop)->as<For>()->iter;
        if (mentions(e, iter)) dimensions.push_back(iter);
        q = out_of(q, loop, e);
      }
      std::reverse(dimensions.begin(), dimensions.end());
      const std::vector<int> order = order_of(e, dimensions, along);
      if (!std::is_sorted(order.begin(), order.end())) q = rearrange_dim(q, at(q, nest_), order);
    } catch (const SchedulingError&) {
      return false;  // it is changed on the way, or has no bounds that stand outside
    }
    nest_.back().index += 2;
    p_ = q;
    return true;
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

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> factors_operators() {
  using namespace params;
  return {
      {"factors_ahead",
       {proc(), place("loop")},
       "for i: for k: for j: s(a * x[i, k])  ->  t[i, k] = a * x[i, k] ahead; for i: for k: for j: "
       "s(t[i, k])",
       [](const OperatorArgs& a) -> Value { return factors_ahead(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
