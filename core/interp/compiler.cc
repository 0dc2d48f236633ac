#include "core/interp/compiler.h"

#include "core/interp/lowering.h"
#include "core/ir/printer.h"

namespace exotune::interp {

// Half floats are computed with in f32 and rounded when they are stored, as emitted C does it.
Rounding arithmetic_rounding(ScalarType t, Arithmetic mode) {
  const Rounding r = storage_rounding(t, mode);
  return r == Rounding::kF16 || r == Rounding::kBf16 ? Rounding::kF32 : r;
}

Rounding storage_rounding(ScalarType t, Arithmetic mode) {
  // Reals: rewrites that reassociate then give the same result.
  if (is_float(t) && mode == Arithmetic::kExact) return Rounding::kNone;
  switch (t) {
    case ScalarType::kR:
    case ScalarType::kF32:
      return Rounding::kF32;
    case ScalarType::kF16:
      return Rounding::kF16;
    case ScalarType::kBf16:
      return Rounding::kBf16;
    case ScalarType::kI8:
      return Rounding::kI8;
    case ScalarType::kUi8:
      return Rounding::kUi8;
    case ScalarType::kI16:
      return Rounding::kI16;
    case ScalarType::kUi16:
      return Rounding::kUi16;
    case ScalarType::kI32:
      return Rounding::kI32;
    case ScalarType::kF64:
    case ScalarType::kSize:
    case ScalarType::kIndex:
    case ScalarType::kBool:
    case ScalarType::kStride:
      break;
  }
  return Rounding::kNone;
}

// Lowering is partial evaluation: control is known here, data is not. What is left for the machine
// are loops, accesses by linear forms of iterators, and arithmetic on data.
Compiled Lowering::compile_entry(const Proc& proc, const std::vector<int64_t>& control,
                                 const std::vector<EntryView>& entry) {
  Env env;
  size_t next_control = 0, next_data = 0;
  // Control arguments are known, so that whatever depends on them alone is folded while lowering.
  for (const Arg& a : proc.args) {
    if (is_control(a.type.scalar)) {
      env.control[a.name] = control[next_control++];
      continue;
    }
    const EntryView& e = entry[next_data++];
    View v;
    v.base = new_base();
    v.type = a.type.scalar;
    v.shape.assign(e.shape.begin(), e.shape.end());
    v.stride.assign(e.strides.begin(), e.strides.end());
    v.name = a.name.name();
    env.views[a.name] = std::move(v);
  }
  NodeList body;
  out_ = &body;
  // Before the body, as the body relies on them.
  compile_asserts(proc, env, proc.where);
  compile_block(proc.body, env);
  result_.body = std::move(body);
  return std::move(result_);
}

void Lowering::unsupported(const SourceLocation& where, const std::string& what) {
  throw InterpError(
      InterpError::Kind::kUnsupported,
      Diagnostic{
          where, std::string(name_of(InterpError::Kind::kUnsupported)) + ": " + what, {}, {}});
}

int Lowering::config_slot(const Config& c, const std::string& field) {
  const ConfigField* f = c.find(field);
  EXO_CHECK(f != nullptr);
  // Slots in the order in which fields are met.
  const std::string name = c.name + "." + field;
  for (size_t k = 0; k < result_.config.size(); ++k)
    if (result_.config[k] == name) return static_cast<int>(k);
  result_.config.push_back(name);
  result_.config_is_data.push_back(is_data(f->type));
  return static_cast<int>(result_.config.size()) - 1;
}

// A value that is used several times is computed once; linear forms are cheap enough to repeat.
IntVal Lowering::let(IntVal v) {
  if (v.is_lin()) return v;
  auto n = std::make_unique<LetNode>();
  n->slot = new_int();
  n->value = std::move(v);
  const int slot = n->slot;
  emit(std::move(n));
  return IntVal::slot(slot);
}

void Lowering::require(IntVal cond, InterpError::Kind kind, std::string message,
                       const SourceLocation& where, std::optional<IntVal> shown) {
  // Known to hold: no node. Known to fail is still a node, since the place may never be reached.
  if (cond.constant() && *cond.constant() != 0) return;
  auto n = std::make_unique<RequireNode>();
  n->cond = std::move(cond);
  n->kind = kind;
  n->message = std::move(message);
  if (shown) n->shown = *shown;
  n->has_shown = shown.has_value();
  n->where = where;
  emit(std::move(n));
}

Compiled compile(const Proc& proc, Arithmetic arithmetic, const std::vector<int64_t>& control,
                 const std::vector<EntryView>& entry) {
  return Lowering(arithmetic).compile_entry(proc, control, entry);
}

// Division and remainder round down, as the language says and C does not: -1 / 8 is -1.
int64_t ControlEvaluator::eval(const ExprPtr& e) const {
  auto missing = [&](const std::string& what) -> int64_t {
    throw InterpError(InterpError::Kind::kArgument,
                      Diagnostic{e->where, "bad argument: no value for `" + what + "`", {}, {}});
  };
  if (const auto* r = e->as<Read>()) {
    const auto it = values_.find(r->name);
    return it == values_.end() || !r->idx.empty() ? missing(r->name.name()) : it->second;
  }
  if (const auto* c = e->as<Const>()) {
    if (const auto* i = std::get_if<int64_t>(&c->value)) return *i;
    if (const auto* b = std::get_if<bool>(&c->value)) return *b;
    return missing(str(e));
  }
  if (const auto* u = e->as<USub>()) return -eval(u->arg);
  if (const auto* n = e->as<Not>()) return !eval(n->arg);
  if (const auto* b = e->as<BinOp>()) {
    const int64_t x = eval(b->lhs);
    // As the machine does it: the right side only where the left leaves it open.
    if (b->op == BinOpKind::kAnd) return x != 0 && eval(b->rhs) != 0;
    if (b->op == BinOpKind::kOr) return x != 0 || eval(b->rhs) != 0;
    const int64_t y = eval(b->rhs);
    switch (b->op) {
      case BinOpKind::kAdd:
        return x + y;
      case BinOpKind::kSub:
        return x - y;
      case BinOpKind::kMul:
        return x * y;
      case BinOpKind::kDiv:
        return y > 0 ? floor_div(x, y) : missing(str(e));
      case BinOpKind::kMod:
        return y > 0 ? floor_mod(x, y) : missing(str(e));
      case BinOpKind::kLt:
        return x < y;
      case BinOpKind::kGt:
        return x > y;
      case BinOpKind::kLe:
        return x <= y;
      case BinOpKind::kGe:
        return x >= y;
      case BinOpKind::kEq:
        return x == y;
      case BinOpKind::kNe:
        return x != y;
      case BinOpKind::kAnd:
      case BinOpKind::kOr:
        break;
    }
  }
  return missing(str(e));
}

}  // namespace exotune::interp
