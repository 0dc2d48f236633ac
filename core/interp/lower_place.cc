// Where data lies: elements and windows as linear forms into root buffers.
#include "core/interp/lowering.h"
#include "core/ir/printer.h"

namespace exotune::interp {

const View& Lowering::view_of(Sym s, const Env& env, const SourceLocation& where) const {
  const auto it = env.views.find(s);
  if (it == env.views.end()) unsupported(where, "`" + s.name() + "` is no data here");
  return it->second;
}

Access Lowering::element(Sym name, const std::vector<ExprPtr>& idx, const Env& env,
                         const SourceLocation& where) {
  const View& v = view_of(name, env, where);
  if (idx.size() != v.shape.size())
    unsupported(where, "`" + name.name() + "` has " + std::to_string(v.shape.size()) +
                           " dimensions, not " + std::to_string(idx.size()));
  Access a;
  a.base = v.base;
  a.addr = v.offset;
  a.name = v.name;
  a.where = where;
  for (size_t k = 0; k < idx.size(); ++k) {
    const IntVal i = control(idx[k], env);
    add_check(&a, i, v.shape[k], static_cast<int>(k));
    a.addr = op(IntOp::kAdd, a.addr, op(IntOp::kMul, i, v.stride[k]));
  }
  return a;
}

void Lowering::add_check(Access* a, const IntVal& i, const IntVal& extent, int dim) const {
  const auto low = int_op(IntOp::kLe, 0, i, ranges_).constant();
  const auto high = int_op(IntOp::kLt, i, extent, ranges_).constant();
  if (low && *low && high && *high) return;
  a->checks.push_back({i, extent, dim});
}

View Lowering::whole_or_window(const ExprPtr& e, const Env& env) {
  if (const auto* r = e->as<Read>()) {
    if (r->idx.empty()) return view_of(r->name, env, e->where);
    const Access a = element(r->name, r->idx, env, e->where);
    View v = view_of(r->name, env, e->where);
    for (const Access::Check& c : a.checks)
      require(op(IntOp::kAnd, op(IntOp::kLe, 0, c.idx), op(IntOp::kLt, c.idx, c.extent)),
              InterpError::Kind::kOutOfBounds,
              "dimension " + std::to_string(c.dim) + " of `" + v.name + "` at index ", e->where,
              c.idx);
    v.offset = let(a.addr);
    v.shape.clear();
    v.stride.clear();
    return v;
  }
  const auto* w = e->as<WindowExpr>();
  if (!w) unsupported(e->where, "`" + str(e) + "` where a tensor is wanted");
  const View from = view_of(w->name, env, e->where);
  if (w->access.size() != from.shape.size())
    unsupported(e->where, "`" + str(e) + "` has the wrong number of dimensions");
  View v;
  v.base = from.base;
  v.type = from.type;
  v.name = from.name;
  v.offset = from.offset;
  for (size_t k = 0; k < w->access.size(); ++k) {
    const WindowAccess& a = w->access[k];
    const IntVal lo = let(control(a.lo, env));
    const std::string what =
        "window of dimension " + std::to_string(k) + " of `" + from.name + "`: ";
    if (a.is_point()) {
      require(op(IntOp::kAnd, op(IntOp::kLe, 0, lo), op(IntOp::kLt, lo, from.shape[k])),
              InterpError::Kind::kOutOfBounds, what + "index ", e->where, lo);
    } else {
      const IntVal hi = let(control(a.hi, env));
      require(op(IntOp::kLe, 0, lo), InterpError::Kind::kOutOfBounds, what + "from ", e->where, lo);
      require(op(IntOp::kLe, hi, from.shape[k]), InterpError::Kind::kOutOfBounds, what + "up to ",
              e->where, hi);
      require(op(IntOp::kLe, lo, hi), InterpError::Kind::kOutOfBounds,
              what + "negative extent, up to ", e->where, hi);
      v.shape.push_back(let(op(IntOp::kAdd, hi, op(IntOp::kMul, lo, -1))));
      v.stride.push_back(from.stride[k]);
    }
    v.offset = let(op(IntOp::kAdd, v.offset, op(IntOp::kMul, lo, from.stride[k])));
  }
  return v;
}

}  // namespace exotune::interp
