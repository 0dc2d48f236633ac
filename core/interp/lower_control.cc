// Control expressions: linear where possible.
#include "core/interp/lowering.h"
#include "core/ir/printer.h"

namespace exotune::interp {

IntVal Lowering::control(const ExprPtr& e, const Env& env) {
  if (const auto* r = e->as<Read>()) {
    const auto it = env.control.find(r->name);
    if (it == env.control.end())
      unsupported(e->where, "`" + r->name.name() + "` is no control variable");
    return it->second;
  }
  if (const auto* c = e->as<Const>()) {
    if (const auto* i = std::get_if<int64_t>(&c->value)) return *i;
    if (const auto* b = std::get_if<bool>(&c->value)) return int64_t{*b};
    unsupported(e->where, "a data literal among control values");
  }
  if (const auto* u = e->as<USub>()) return op(IntOp::kMul, control(u->arg, env), -1);
  if (const auto* n = e->as<Not>()) return op(IntOp::kEq, control(n->arg, env), int64_t{0});
  if (const auto* s = e->as<StrideExpr>()) {
    const auto it = env.views.find(s->name);
    if (it == env.views.end() || s->dim < 0 || s->dim >= static_cast<int>(it->second.stride.size()))
      unsupported(e->where, "stride of `" + s->name.name() + "`");
    return it->second.stride[static_cast<size_t>(s->dim)];
  }
  if (const auto* c = e->as<ReadConfig>()) return config_read(*c, e->where);
  if (const auto* b = e->as<BinOp>()) {
    const IntVal x = control(b->lhs, env), y = control(b->rhs, env);
    switch (b->op) {
      case BinOpKind::kAdd:
        return op(IntOp::kAdd, x, y);
      case BinOpKind::kSub:
        return op(IntOp::kAdd, x, op(IntOp::kMul, y, -1));
      case BinOpKind::kMul:
        return op(IntOp::kMul, x, y);
      case BinOpKind::kDiv:
      case BinOpKind::kMod:
        if (!y.constant() || *y.constant() <= 0)
          unsupported(e->where, "control `" + std::string(name_of(b->op)) +
                                    "` by something that is no positive literal");
        return op(b->op == BinOpKind::kDiv ? IntOp::kDiv : IntOp::kMod, x, y);
      case BinOpKind::kAnd:
        return op(IntOp::kAnd, x, y);
      case BinOpKind::kOr:
        return op(IntOp::kOr, x, y);
      case BinOpKind::kLt:
        return op(IntOp::kLt, x, y);
      case BinOpKind::kGt:
        return op(IntOp::kLt, y, x);
      case BinOpKind::kLe:
        return op(IntOp::kLe, x, y);
      case BinOpKind::kGe:
        return op(IntOp::kLe, y, x);
      case BinOpKind::kEq:
        return op(IntOp::kEq, x, y);
      case BinOpKind::kNe:
        return op(IntOp::kNe, x, y);
    }
  }
  unsupported(e->where, "`" + str(e) + "` among control values");
}

IntVal Lowering::config_read(const ReadConfig& r, const SourceLocation& where) {
  struct ConfigInt final : IntNode {
    int slot = 0;
    std::string name;
    SourceLocation where;
    int64_t eval(Machine& m) const override {
      const ConfigSlot& c = m.config[static_cast<size_t>(slot)];
      if (!c.present) fail(m, InterpError::Kind::kConfig, where, "`" + name + "` is read");
      return c.integer;
    }
  };
  auto n = std::make_shared<ConfigInt>();
  n->slot = config_slot(*r.config, r.field);
  n->name = r.config->name + "." + r.field;
  n->where = where;
  return IntVal(std::shared_ptr<const IntNode>(n));
}

}  // namespace exotune::interp
