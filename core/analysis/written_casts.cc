#include "core/analysis/written_casts.h"

#include <algorithm>
#include <cmath>

#include "core/ir/precision.h"

namespace exotune {
namespace {

bool same_place(const SourceLocation& a, const SourceLocation& b) {
  return a.known() && a.line == b.line && a.column == b.column && a.file == b.file;
}

// Of an operator's operands; subscripts and what is cast already stay.
ExprPtr with_integers_as(ScalarType type, const ExprPtr& e) {
  if (!e->as<BinOp>() && !e->as<USub>() && !e->as<Extern>()) return e;
  std::vector<ExprPtr> children = expr_children(*e);
  for (ExprPtr& c : children) c = integers_as(type, c);
  return with_children(e, children);
}

}  // namespace

// A cast, its scalar and the assignment to it have one place; what users allocate is read
// elsewhere.
WrittenCasts::WrittenCasts(const Proc& p) {
  std::map<Sym, SourceLocation> allocated;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const Alloc* a = s->as<Alloc>(); a && !a->type.is_tensor()) allocated[a->name] = s->where;
    const Assign* a = s->as<Assign>();
    if (!a || !a->idx.empty()) return;
    const auto it = allocated.find(a->name);
    if (it != allocated.end() && same_place(it->second, s->where))
      scalars_.emplace(a->name, Scalar{s->where, a->rhs});
  });
}

ExprPtr WrittenCasts::written(const ExprPtr& e) const {
  return rewrite(e, [&](const ExprPtr& n) -> ExprPtr {
    if (const Read* r = n->as<Read>(); r && r->idx.empty()) {
      const auto it = scalars_.find(r->name);
      if (it == scalars_.end() || !same_place(it->second.where, n->where)) return nullptr;
      return make_expr(Cast{written(it->second.value)}, n->type, n->where);
    }
    const Const* c = n->as<Const>();
    if (!c || !is_data(n->type) || is_float(n->type)) return nullptr;
    constexpr double kExact = 1e15;  // beyond it the exponent says more
    const double v = std::visit([](auto x) { return static_cast<double>(x); }, c->value);
    if (v != std::trunc(v) || std::fabs(v) > kExact) return nullptr;
    return make_expr(Const{static_cast<int64_t>(v)}, ScalarType::kIndex, n->where);
  });
}

ExprPtr as_type(ScalarType type, const ExprPtr& e) {
  const Cast* c = e->as<Cast>();
  return make_expr(Cast{c && is_integer_control(c->arg->type) ? c->arg : e}, type, e->where);
}

ExprPtr integers_as(ScalarType type, const ExprPtr& e) {
  if (!is_data(e->type) || is_float(e->type)) return with_integers_as(type, e);
  const Cast* c = e->as<Cast>();
  const bool read_wider = c && c->arg->as<Read>() && is_data(c->arg->type) &&
                          !is_float(c->arg->type) && bytes_of(c->arg->type) <= bytes_of(e->type);
  if (read_wider) return make_expr(Cast{c->arg}, type, e->where);
  if (c || e->as<Read>() || e->as<ReadConfig>()) return as_type(type, e);
  return with_integers_as(type, e);
}

namespace {

bool computes(const ExprPtr& e) { return e->as<BinOp>() || e->as<USub>() || e->as<Extern>(); }

void collect_types(const ExprPtr& e, std::vector<ScalarType>& into) {
  if (computes(e)) {
    for (const ExprPtr& c : expr_children(*e)) collect_types(c, into);
  } else if (!e->as<Const>() && is_data(e->type) && e->type != ScalarType::kR) {
    into.push_back(e->type);
  }
}

}  // namespace

bool has_quotient(const ExprPtr& e) {
  if (const BinOp* n = e->as<BinOp>(); n && n->op == BinOpKind::kDiv) return true;
  return computes(e) && std::ranges::any_of(expr_children(*e), has_quotient);
}

std::vector<ScalarType> types_read(const ExprPtr& e) {
  std::vector<ScalarType> out;
  collect_types(e, out);
  return out;
}

ScalarType common_type_of(const std::vector<ScalarType>& types) {
  if (types.empty()) return ScalarType::kF32;
  ScalarType all = types[0];
  for (const ScalarType t : types) all = common_type(all, t);
  return all;
}

ExprPtr reads_as(ScalarType type, const ExprPtr& e) {
  const std::vector<ScalarType> types = types_read(e);
  if (types.empty()) return e;
  if (!computes(e)) {
    if (e->type == type) return e;
    return is_float(e->type) ? as_type(type, e) : integers_as(type, e);
  }
  const ScalarType own = common_type_of(types);
  const bool is_cut = !is_float(own) && is_float(type) && has_quotient(e);
  std::vector<ExprPtr> children = expr_children(*e);
  for (ExprPtr& c : children) c = reads_as(is_cut ? own : type, c);
  const ExprPtr out = with_children(e, children);
  return is_cut ? as_type(type, out) : out;
}

}  // namespace exotune
