#include "core/interp/asserted_layout.h"

#include <algorithm>

#include "core/interp/interp.h"

namespace exotune {
namespace {

bool speaks_of_strides(const ExprPtr& e) {
  if (e->as<StrideExpr>()) return true;
  const std::vector<ExprPtr> children = expr_children(*e);
  return std::any_of(children.begin(), children.end(), speaks_of_strides);
}

// Strides by dimension that conditions of one window state as numbers.
class StatedStrides {
 public:
  StatedStrides(Sym name, const std::map<Sym, int64_t>& env) : name_(name), env_(env) {}

  void read(const ExprPtr& condition) {
    const auto* o = condition->as<BinOp>();
    if (o != nullptr && o->op == BinOpKind::kAnd) {
      read(o->lhs);
      read(o->rhs);
      return;
    }
    if (mentions(condition)) spoken_ = true;
    if (o == nullptr || o->op != BinOpKind::kEq) return;
    state(o->lhs, o->rhs);
    state(o->rhs, o->lhs);
  }

  bool spoken() const { return spoken_; }
  const std::map<size_t, int64_t>& by_dimension() const { return stated_; }

 private:
  bool mentions(const ExprPtr& e) const {
    const auto* stride = e->as<StrideExpr>();
    if (stride != nullptr && stride->name == name_) return true;
    const std::vector<ExprPtr> children = expr_children(*e);
    return std::any_of(children.begin(), children.end(),
                       [&](const ExprPtr& c) { return mentions(c); });
  }

  void state(const ExprPtr& stride, const ExprPtr& value) {
    const auto* s = stride->as<StrideExpr>();
    if (s == nullptr || s->name != name_ || s->dim < 0 || speaks_of_strides(value)) return;
    stated_.emplace(static_cast<size_t>(s->dim), eval_control(value, env_));
  }

  Sym name_;
  const std::map<Sym, int64_t>& env_;
  std::map<size_t, int64_t> stated_;
  bool spoken_ = false;
};

// The other dimensions, from the last on, each where it fits: below the next stride that is stated,
// or above all of that dimension's elements.
std::vector<int64_t> around(const std::map<size_t, int64_t>& stated,
                            const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 0);
  std::vector<std::pair<int64_t, size_t>> ascending;
  for (const auto& [k, stride] : stated) {
    if (k >= shape.size()) continue;
    strides[k] = stride;
    ascending.emplace_back(stride, k);
  }
  std::sort(ascending.begin(), ascending.end());
  int64_t reach = 1;
  auto next = ascending.begin();
  for (size_t k = shape.size(); k-- > 0;) {
    if (strides[k] != 0) continue;
    for (; next != ascending.end() && next->first < reach * shape[k]; ++next)
      reach = std::max(reach, next->first * shape[next->second]);
    strides[k] = reach;
    reach *= shape[k];
  }
  return strides;
}

}  // namespace

std::optional<std::vector<int64_t>> asserted_layout(const Proc& p, Sym name,
                                                    const std::vector<int64_t>& shape,
                                                    const std::map<Sym, int64_t>& env) {
  StatedStrides stated(name, env);
  for (const ExprPtr& condition : p.asserts) stated.read(condition);
  if (!stated.spoken()) return std::nullopt;
  return around(stated.by_dimension(), shape);
}

}  // namespace exotune
