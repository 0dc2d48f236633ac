// Statements and calls.
#include <limits>
#include <utility>

#include "core/interp/lowering.h"
#include "core/ir/printer.h"

namespace exotune::interp {
namespace {

StoreOp store_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kAdd:
      return StoreOp::kAdd;
    case ReduceOp::kMax:
      return StoreOp::kMax;
    case ReduceOp::kMin:
      break;
  }
  return StoreOp::kMin;
}

}  // namespace

void Lowering::compile_block(const Block& b, Env& env) {
  // Names bound here end with the block; symbols are unique, so leaving them in `env` is harmless.
  for (const StmtPtr& s : b) compile_stmt(*s, env);
}

NodeList Lowering::nested(const Block& b, Env& env) {
  NodeList list;
  // Nodes go to the innermost list that is being made.
  NodeList* const saved = std::exchange(out_, &list);
  compile_block(b, env);
  out_ = saved;
  return list;
}

void Lowering::compile_stmt(const Stmt& s, Env& env) {
  if (const auto* a = s.as<Assign>())
    return store(StoreOp::kAssign, a->name, a->idx, a->rhs, env, s.where);
  if (const auto* r = s.as<Reduce>())
    return store(store_of(r->op), r->name, r->idx, r->rhs, env, s.where);
  if (const auto* f = s.as<For>()) return loop(*f, env);
  if (const auto* i = s.as<If>()) return branch(*i, env);
  if (const auto* a = s.as<Alloc>()) return allocate(*a, env, s.where);
  if (const auto* w = s.as<WindowStmt>()) {
    View v = whole_or_window(w->rhs, env);
    env.views[w->name] = std::move(v);
    return;
  }
  if (const auto* w = s.as<WriteConfig>()) return write_config(*w, env);
  if (const auto* c = s.as<Call>()) return call(*c, env, s.where);
  // Pass: nothing.
}

void Lowering::store(StoreOp o, Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs,
                     const Env& env, const SourceLocation& where) {
  auto n = std::make_unique<StoreNode>();
  n->op = o;
  // The address before the value, as C evaluates neither in a fixed order and neither has effects.
  n->target = element(name, idx, env, where);
  const ScalarType type = view_of(name, env, where).type;
  n->storage = storage_rounding(type, mode_);
  n->arithmetic = arithmetic_rounding(type, mode_);
  n->rhs = data(rhs, type == ScalarType::kR ? ScalarType::kF32 : type, env);
  emit(std::move(n));
}

void Lowering::loop(const For& f, Env& env) {
  const IntVal lo = control(f.lo, env), hi = control(f.hi, env);
  // Known to run never: nothing of it is lowered, and nothing of it can fail.
  const auto empty = op(IntOp::kLe, hi, lo).constant();
  if (empty && *empty) return;
  auto n = std::make_unique<ForNode>();
  n->slot = new_int();
  n->name = f.iter.name();
  n->lo = lo;
  n->hi = hi;
  // What the iterator can be, for subscripts in the body: bounds checks that follow from it are
  // left out.
  Range range;
  range.lo = ranges_.of(lo).lo;
  if (const Range h = ranges_.of(hi); h.hi != std::numeric_limits<int64_t>::max())
    range.hi = h.hi - 1;
  ranges_.set(n->slot, range);
  env.control[f.iter] = IntVal::slot(n->slot);
  n->body = nested(f.body, env);
  // Loops over elements side by side are run as one operation.
  n->strip = Strip::make(*n);
  emit(std::move(n));
}

void Lowering::branch(const If& i, Env& env) {
  const IntVal cond = control(i.cond, env);
  if (const auto known = cond.constant()) return compile_block(*known ? i.body : i.orelse, env);
  auto n = std::make_unique<IfNode>();
  n->cond = cond;
  n->body = nested(i.body, env);
  n->orelse = nested(i.orelse, env);
  emit(std::move(n));
}

void Lowering::allocate(const Alloc& a, Env& env, const SourceLocation& where) {
  auto n = std::make_unique<AllocNode>();
  View v;
  v.base = n->base = new_base();
  v.type = a.type.scalar;
  v.name = n->name = a.name.name();
  n->where = where;
  // Evaluated once, here: variables in an extent may change later.
  for (const ExprPtr& e : a.type.shape) v.shape.push_back(let(control(e, env)));
  v.stride.assign(v.shape.size(), 1);
  IntVal stride = 1;
  // Row-major.
  for (size_t k = v.shape.size(); k-- > 0;) {
    v.stride[k] = stride;
    stride = let(op(IntOp::kMul, stride, v.shape[k]));
  }
  n->shape = v.shape;
  env.views[a.name] = std::move(v);
  emit(std::move(n));
}

void Lowering::write_config(const WriteConfig& w, const Env& env) {
  auto n = std::make_unique<ConfigStoreNode>();
  n->slot = config_slot(*w.config, w.field);
  const ScalarType type = w.config->find(w.field)->type;
  // Data are stored rounded to the field's type, sizes and flags as they are.
  if (is_data(type)) {
    n->data = data(w.rhs, type == ScalarType::kR ? ScalarType::kF32 : type, env);
    n->storage = storage_rounding(type, mode_);
  } else {
    n->control = control(w.rhs, env);
  }
  emit(std::move(n));
}

void Lowering::compile_asserts(const Proc& p, Env& env, const SourceLocation& where) {
  for (const Arg& a : p.args)
    if (a.type.scalar == ScalarType::kSize)
      // A size is at least 1.
      require(op(IntOp::kLe, 1, env.control.at(a.name)), InterpError::Kind::kSize,
              "`" + a.name.name() + "` of `" + p.name + "` = ", where, env.control.at(a.name));
  for (const ExprPtr& e : p.asserts)
    require(control(e, env), InterpError::Kind::kAssert, "`" + str(e) + "` of `" + p.name + "`",
            where);
}

void Lowering::call(const Call& c, const Env& env, const SourceLocation& where) {
  const Proc& p = *c.callee;
  if (c.args.size() != p.args.size())
    unsupported(where, "call of `" + p.name + "` with a wrong number of arguments");
  Env inner;
  // Sizes first: shapes of the others are said in them.
  for (size_t k = 0; k < p.args.size(); ++k)
    if (is_control(p.args[k].type.scalar))
      inner.control[p.args[k].name] = let(control(c.args[k], env));
  for (size_t k = 0; k < p.args.size(); ++k)
    if (is_data(p.args[k].type.scalar))
      inner.views[p.args[k].name] = bind(p.args[k], c.args[k], env, where);
  for (const Arg& a : p.args)
    if (is_data(a.type.scalar)) require_shape(a, p, inner, where);
  compile_asserts(p, inner, where);
  // The callee's body is lowered anew for each call, so that constants passed to it fold.
  compile_block(p.body, inner);
}

View Lowering::bind(const Arg& formal, const ExprPtr& actual, const Env& env,
                    const SourceLocation& where) {
  if (formal.type.is_tensor() || actual->as<WindowExpr>()) return whole_or_window(actual, env);
  if (const auto* r = actual->as<Read>(); r && !env.control.contains(r->name))
    return whole_or_window(actual, env);
  // A value where a scalar in memory is expected: it gets a place for the time of the call.
  auto n = std::make_unique<TemporaryNode>();
  View v;
  v.base = n->base = new_base();
  v.type = formal.type.scalar;
  v.name = formal.name.name();
  const ScalarType type = v.type == ScalarType::kR ? ScalarType::kF32 : v.type;
  n->value = data(actual, type, env);
  n->storage = storage_rounding(type, mode_);
  (void)where;
  emit(std::move(n));
  return v;
}

void Lowering::require_shape(const Arg& formal, const Proc& p, Env& inner,
                             const SourceLocation& where) {
  const View& v = inner.views.at(formal.name);
  const std::string what = "`" + formal.name.name() + "` of `" + p.name + "`";
  if (v.shape.size() != formal.type.shape.size())
    unsupported(where, what + " is given a tensor of another rank");
  IntVal stride = 1;
  for (size_t k = v.shape.size(); k-- > 0;) {
    const IntVal want = control(formal.type.shape[k], inner);
    require(op(IntOp::kEq, v.shape[k], want), InterpError::Kind::kArgument,
            "dimension " + std::to_string(k) + " of " + what + " has extent ", where, v.shape[k]);
    // A dimension of one element may have any stride.
    if (!formal.type.window) {
      require(op(IntOp::kOr, op(IntOp::kLe, v.shape[k], 1), op(IntOp::kEq, v.stride[k], stride)),
              InterpError::Kind::kArgument, what + " is not dense", where);
      stride = op(IntOp::kMul, stride, v.shape[k]);
    }
  }
}

}  // namespace exotune::interp
