#include "core/primitives/value_range.h"

#include <algorithm>

namespace exotune::internal {

namespace {

std::optional<ValueRange> joined(const std::optional<ValueRange>& a,
                                 const std::optional<ValueRange>& b) {
  if (!a || !b) return std::nullopt;
  return ValueRange{std::min(a->lo, b->lo), std::max(a->hi, b->hi)};
}

std::optional<ValueRange> of_literal(const Const& c) {
  int64_t value = 0;
  if (const int64_t* i = std::get_if<int64_t>(&c.value)) value = *i;
  if (const double* d = std::get_if<double>(&c.value)) {
    // Beyond 32 bits no integer type has it.
    if (!(*d >= -2147483648.0 && *d <= 2147483647.0) || *d != static_cast<double>(int64_t(*d)))
      return std::nullopt;
    value = static_cast<int64_t>(*d);
  }
  return ValueRange{value, value};
}

}  // namespace

std::optional<ValueRange> values_of(ScalarType t) {
  switch (t) {
    case ScalarType::kI8:
      return ValueRange{-128, 127};
    case ScalarType::kUi8:
      return ValueRange{0, 255};
    case ScalarType::kI16:
      return ValueRange{-32768, 32767};
    case ScalarType::kUi16:
      return ValueRange{0, 65535};
    case ScalarType::kI32:
      return ValueRange{-2147483648, 2147483647};
    default:
      return std::nullopt;
  }
}

ValueRanges::ValueRanges(const Proc& p) {
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const Alloc* a = s->as<Alloc>()) assigned_[a->name];
    if (const Assign* a = s->as<Assign>()) assigned_[a->name].push_back(a->rhs);
    if (const Reduce* r = s->as<Reduce>()) otherwise_written_.insert(r->name);
    // What has another name, or is handed on, may be written there.
    const WindowStmt* w = s->as<WindowStmt>();
    if (!w && !s->as<Call>()) return;
    std::set<Sym> names;
    for (const ExprPtr& e : stmt_exprs(*s)) collect_symbols(e, names);
    if (w) names.insert(w->name);
    otherwise_written_.insert(names.begin(), names.end());
  });
  for (const Arg& a : p.args) otherwise_written_.insert(a.name);
}

std::optional<ValueRange> ValueRanges::of(const ExprPtr& e) const {
  if (const Const* c = e->as<Const>()) return of_literal(*c);
  if (const Read* r = e->as<Read>(); r && is_data(e->type)) return of_buffer(r->name, e->type);
  const std::optional<ValueRange> all = values_of(e->type);
  const std::optional<ValueRange> exact = all ? of_operation(e) : std::nullopt;
  return exact && all->holds(*exact) ? exact : all;  // beyond its type it wraps around
}

std::optional<ValueRange> ValueRanges::of_buffer(Sym name, ScalarType type) const {
  const std::optional<ValueRange> all = values_of(type);
  const auto found = assigned_.find(name);
  if (!all || found == assigned_.end() || found->second.empty() || otherwise_written_.count(name) ||
      !asked_.insert(name).second)
    return all;
  std::optional<ValueRange> out = of(found->second.front());
  for (const ExprPtr& e : found->second) out = joined(out, of(e));
  asked_.erase(name);
  return out && all->holds(*out) ? out : all;
}

std::optional<ValueRange> ValueRanges::of_operation(const ExprPtr& e) const {
  const BinOp* b = e->as<BinOp>();
  if (!b) return std::nullopt;
  // Of 32 bits each: no sum or product of two is beyond 64.
  const std::optional<ValueRange> x = of(b->lhs), y = of(b->rhs);
  if (!x || !y) return std::nullopt;
  switch (b->op) {
    case BinOpKind::kAdd:
      return ValueRange{x->lo + y->lo, x->hi + y->hi};
    case BinOpKind::kSub:
      return ValueRange{x->lo - y->hi, x->hi - y->lo};
    case BinOpKind::kMul: {
      const auto [lo, hi] =
          std::minmax({x->lo * y->lo, x->lo * y->hi, x->hi * y->lo, x->hi * y->hi});
      return ValueRange{lo, hi};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace exotune::internal
