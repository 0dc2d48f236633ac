#include "cost/index_ranges.h"

#include <algorithm>

namespace exotune {

namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

IndexRanges::IndexRanges(const Proc& p, const std::map<std::string, int64_t>& sizes) {
  for (const Arg& a : p.args) {
    if (!is_control(a.type.scalar)) continue;
    const auto it = sizes.find(a.name.name());
    const int64_t v = it == sizes.end() ? 1 : it->second;
    values_[a.name] = {v, v};
  }
}

IndexRange IndexRanges::range(const ExprPtr& e) const {
  if (const Read* r = e->as<Read>()) {
    const auto it = values_.find(r->name);
    return it == values_.end() ? IndexRange{0, 0} : it->second;
  }
  if (const Const* c = e->as<Const>()) {
    if (const auto* v = std::get_if<int64_t>(&c->value)) return {*v, *v};
    return {0, 0};
  }
  if (const USub* u = e->as<USub>()) {
    const IndexRange a = range(u->arg);
    return {-a.hi, -a.lo};
  }
  const BinOp* o = e->as<BinOp>();
  if (!o) return {1, 1};
  const IndexRange a = range(o->lhs), b = range(o->rhs);
  switch (o->op) {
    case BinOpKind::kAdd:
      return {a.lo + b.lo, a.hi + b.hi};
    case BinOpKind::kSub:
      return {a.lo - b.hi, a.hi - b.lo};
    case BinOpKind::kMul: {
      const int64_t v[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
      return {*std::min_element(v, v + 4), *std::max_element(v, v + 4)};
    }
    case BinOpKind::kDiv:
      return b.lo > 0 ? IndexRange{floor_div(a.lo, b.lo), floor_div(a.hi, b.lo)} : a;
    case BinOpKind::kMod: {
      if (b.lo <= 0) return a;
      const int64_t q = floor_div(a.lo, b.lo);
      if (q == floor_div(a.hi, b.lo)) return {a.lo - q * b.lo, a.hi - q * b.lo};
      return {0, b.lo - 1};
    }
    default:
      return {0, 1};
  }
}

int64_t IndexRanges::trips(const For& f) const {
  return std::max<int64_t>(0, value(f.hi) - value(f.lo));
}

int64_t IndexRanges::typical(const For& f) const {
  bool follows = false;
  for_each_stmt(f.body, [&](const StmtPtr& s) {
    if (const For* inner = s->as<For>())
      follows = follows || mentions(inner->lo, f.iter) || mentions(inner->hi, f.iter);
  });
  return follows ? trips(f) / 2 : 0;
}

void IndexRanges::enter(const For& f, int64_t step) {
  const int64_t lo = value(f.lo) + step;
  values_[f.iter] = {lo, lo};
}

void IndexRanges::sweep(const For& f) {
  const IndexRange lo = range(f.lo), hi = range(f.hi);
  values_[f.iter] = {lo.lo, std::max(lo.lo, hi.hi - 1)};
}

}  // namespace exotune
