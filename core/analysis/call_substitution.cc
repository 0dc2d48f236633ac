// Expressions of a callee in terms of its caller.
#include <algorithm>
#include <unordered_map>

#include "core/analysis/effects.h"
#include "core/analysis/proc_cache.h"
#include "core/base/hashing.h"

namespace exotune {

// Most procedures have a handful of formals: a list and a bloom filter serve better than a map,
// since most expressions mention none of them.
CallSubstitution::CallSubstitution(const Proc& callee, const std::vector<ExprPtr>& args) {
  EXO_CHECK(callee.args.size() == args.size());
  for (size_t k = 0; k < args.size(); ++k) {
    pairs_.push_back({callee.args[k].name, args[k], is_control(callee.args[k].type.scalar)});
    bloom_ |= callee.args[k].name.bloom();
  }
}

const CallSubstitution::Pair* CallSubstitution::find(Sym formal) const {
  for (const Pair& p : pairs_)
    if (p.formal == formal) return &p;
  return nullptr;
}

// Data formals that appear as values stay: they are places, which `locate` translates, or whole
// arguments, which apply_to_value does. A stride of a formal becomes the stride of what stands
// behind it, along the interval that its dimension came from.
ExprPtr CallSubstitution::apply(const ExprPtr& e) const {
  if (!e || (e->bloom & bloom_) == 0) return e;
  return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
    if (const Read* r = x->as<Read>()) {
      const Pair* p = r->idx.empty() ? find(r->name) : nullptr;
      return p && p->control ? p->arg : nullptr;
    }
    if (const StrideExpr* s = x->as<StrideExpr>()) {
      const Pair* p = find(s->name);
      if (!p) return nullptr;
      if (const Read* r = p->arg->as<Read>())
        return make_expr(StrideExpr{r->name, s->dim}, x->type, x->where);
      if (const WindowExpr* w = p->arg->as<WindowExpr>()) {
        int intervals = 0;
        for (size_t k = 0; k < w->access.size(); ++k)
          if (!w->access[k].is_point() && intervals++ == s->dim)
            return make_expr(StrideExpr{w->name, static_cast<int>(k)}, x->type, x->where);
      }
    }
    return nullptr;
  });
}

// The element's place in the caller: intervals of a window shift the index, points stand for
// themselves. 0 is not added to anything: these expressions are compared and printed.
std::optional<Location> CallSubstitution::locate(Sym formal,
                                                 const std::vector<ExprPtr>& idx) const {
  const Pair* p = find(formal);
  EXO_CHECK(p != nullptr);
  if (const Read* r = p->arg->as<Read>()) {
    if (!is_data(p->arg->type)) return std::nullopt;
    return Location{r->name, r->idx.empty() ? idx : r->idx};
  }
  if (const WindowExpr* w = p->arg->as<WindowExpr>()) {
    Location out{w->name, {}};
    size_t k = 0;
    for (const WindowAccess& a : w->access) {
      if (a.is_point()) {
        out.idx.push_back(a.lo);
      } else {
        EXO_CHECK(k < idx.size());
        out.idx.push_back(as_int(a.lo) == 0 ? idx[k] : as_int(idx[k]) == 0 ? a.lo : a.lo + idx[k]);
        ++k;
      }
    }
    return out;
  }
  return std::nullopt;
}

std::optional<Sym> CallSubstitution::buffer_of(Sym formal) const {
  const Pair* p = find(formal);
  EXO_CHECK(p != nullptr);
  if (const Read* r = p->arg->as<Read>(); r && is_data(p->arg->type)) return r->name;
  if (const WindowExpr* w = p->arg->as<WindowExpr>()) return w->name;
  return std::nullopt;
}

ExprPtr CallSubstitution::value_of(Sym formal) const {
  const Pair* p = find(formal);
  return p ? p->arg : nullptr;
}

ExprPtr CallSubstitution::apply_to_value(const ExprPtr& e) const {
  const Read* r = e->as<Read>();
  const Pair* p = r && r->idx.empty() ? find(r->name) : nullptr;
  return p ? p->arg : apply(e);
}

}  // namespace exotune
