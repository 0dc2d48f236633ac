#include "core/primitives/value_range.h"

#include <algorithm>

#include "core/primitives/internal.h"

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

std::optional<ValueRange> sums_of(const ValueRange& r, int64_t times) {
  constexpr int64_t kMost = int64_t{1} << 60;
  const int64_t lo = std::min<int64_t>(r.lo, 0), hi = std::max<int64_t>(r.hi, 0);
  if (times > 0 && (hi > kMost / times || lo < -(kMost / times))) return std::nullopt;
  return ValueRange{lo * times, hi * times};
}

ValueRanges::ValueRanges(const Proc& p) {
  std::vector<const For*> around;
  read(p.body, around);
  for (const Arg& a : p.args) otherwise_written_.insert(a.name);
}

void ValueRanges::read(const Block& block, std::vector<const For*>& around) {
  for (const StmtPtr& s : block) {
    if (const Alloc* a = s->as<Alloc>()) {
      assigned_[a->name];
      depth_[a->name] = around.size();
    }
    if (const Assign* a = s->as<Assign>()) assigned_[a->name].push_back(a->rhs);
    if (const Reduce* r = s->as<Reduce>()) read_addition(*r, around);
    // What has another name, or is handed on, may be written there.
    const WindowStmt* w = s->as<WindowStmt>();
    if (w || s->as<Call>()) {
      std::set<Sym> names;
      for (const ExprPtr& e : stmt_exprs(*s)) collect_symbols(e, names);
      if (w) names.insert(w->name);
      otherwise_written_.insert(names.begin(), names.end());
    }
    const For* f = s->as<For>();
    if (f) around.push_back(f);
    read(body_of(*s), around);
    read(orelse_of(*s), around);
    if (f) around.pop_back();
  }
}

// A loop whose iterator is an index adds to an element once.
void ValueRanges::read_addition(const Reduce& r, const std::vector<const For*>& around) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto depth = depth_.find(r.name);
  int64_t times = 1;
  bool counted = r.op == ReduceOp::kAdd && depth != depth_.end();
  for (size_t k = counted ? depth->second : around.size(); k < around.size(); ++k) {
    const bool chooses = std::any_of(r.idx.begin(), r.idx.end(), [&](const ExprPtr& e) {
      const Read* i = e->as<Read>();
      return i && i->name == around[k]->iter;
    });
    if (chooses) continue;
    const std::optional<int64_t> trips = literal(trip_count(*around[k]));
    counted = counted && trips && *trips < kMost / times;
    if (counted) times *= std::max<int64_t>(*trips, 1);
  }
  if (counted)
    added_[r.name].push_back({r.rhs, times});
  else
    otherwise_written_.insert(r.name);
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
  if (out) out = with_additions(name, *out);
  asked_.erase(name);
  return out && all->holds(*out) ? out : all;
}

std::optional<ValueRange> ValueRanges::with_additions(Sym name, ValueRange begun) const {
  const auto found = added_.find(name);
  if (found == added_.end()) return begun;
  for (const Addition& a : found->second) {
    const std::optional<ValueRange> value = of(a.value);
    const std::optional<ValueRange> sums = value ? sums_of(*value, a.times) : std::nullopt;
    if (!sums) return std::nullopt;
    begun = {begun.lo + sums->lo, begun.hi + sums->hi};
  }
  return begun;
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
