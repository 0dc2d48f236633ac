#include "core/interp/compiler.h"

#include <functional>
#include <limits>
#include <utility>

#include "core/ir/printer.h"

namespace exotune::interp {

Rounding arithmetic_rounding(ScalarType t, Arithmetic mode) {
  const Rounding r = storage_rounding(t, mode);
  return r == Rounding::kF16 || r == Rounding::kBf16 ? Rounding::kF32 : r;
}

Rounding storage_rounding(ScalarType t, Arithmetic mode) {
  if (is_float(t) && mode == Arithmetic::kExact) return Rounding::kNone;
  switch (t) {
    case ScalarType::kR:
    case ScalarType::kF32: return Rounding::kF32;
    case ScalarType::kF16: return Rounding::kF16;
    case ScalarType::kBf16: return Rounding::kBf16;
    case ScalarType::kI8: return Rounding::kI8;
    case ScalarType::kUi8: return Rounding::kUi8;
    case ScalarType::kI16: return Rounding::kI16;
    case ScalarType::kUi16: return Rounding::kUi16;
    case ScalarType::kI32: return Rounding::kI32;
    case ScalarType::kF64:
    case ScalarType::kSize:
    case ScalarType::kIndex:
    case ScalarType::kBool:
    case ScalarType::kStride: break;
  }
  return Rounding::kNone;
}

namespace {

/// A data literal (or an expression of literals) takes the precision of what it meets.
bool has_own_precision(const ExprPtr& e) {
  if (e->type != ScalarType::kR) return true;
  if (e->as<Const>()) return false;
  if (e->as<Read>() || e->as<ReadConfig>() || e->as<WindowExpr>()) return true;
  for (const ExprPtr& c : expr_children(*e))
    if (has_own_precision(c)) return true;
  return false;
}

ScalarType precision(const ExprPtr& e, ScalarType context) {
  if (!has_own_precision(e)) return context;
  return e->type == ScalarType::kR ? ScalarType::kF32 : e->type;
}

struct Env {
  std::unordered_map<Sym, IntVal> control;
  std::unordered_map<Sym, View> views;
};

std::optional<DataOp> unary_extern(const std::string& fn) {
  static const std::map<std::string, DataOp> table = {
      {"sin", DataOp::kSin},   {"cos", DataOp::kCos},   {"exp", DataOp::kExp},
      {"sqrt", DataOp::kSqrt}, {"relu", DataOp::kRelu}, {"sigmoid", DataOp::kSigmoid},
      {"tanh", DataOp::kTanh}, {"fabs", DataOp::kAbs}};
  const auto it = table.find(fn);
  if (it == table.end()) return std::nullopt;
  return it->second;
}

class Compiler {
 public:
  explicit Compiler(Arithmetic mode) : mode_(mode) {}

  Compiled compile_entry(const Proc& proc, const std::vector<int64_t>& control,
                         const std::vector<EntryView>& entry) {
    Env env;
    size_t next_control = 0, next_data = 0;
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
    compile_asserts(proc, env, proc.where);
    compile_block(proc.body, env);
    result_.body = std::move(body);
    return std::move(result_);
  }

 private:
  [[noreturn]] static void unsupported(const SourceLocation& where, const std::string& what) {
    throw InterpError(InterpError::Kind::kUnsupported,
                      Diagnostic{where, std::string(name_of(InterpError::Kind::kUnsupported)) + ": " + what, {}, {}});
  }

  int new_int() { return result_.int_slots++; }
  int new_base() { return result_.base_slots++; }
  int config_slot(const Config& c, const std::string& field) {
    const ConfigField* f = c.find(field);
    EXO_CHECK(f != nullptr);
    const std::string name = c.name + "." + field;
    for (size_t k = 0; k < result_.config.size(); ++k)
      if (result_.config[k] == name) return static_cast<int>(k);
    result_.config.push_back(name);
    result_.config_is_data.push_back(is_data(f->type));
    return static_cast<int>(result_.config.size()) - 1;
  }
  void emit(NodePtr n) { out_->push_back(std::move(n)); }

  IntVal op(IntOp o, const IntVal& a, const IntVal& b) const { return int_op(o, a, b, ranges_); }
  /// A value that stays what it is now: itself when linear, else held in a slot.
  IntVal let(IntVal v) {
    if (v.is_lin()) return v;
    auto n = std::make_unique<LetNode>();
    n->slot = new_int();
    n->value = std::move(v);
    const int slot = n->slot;
    emit(std::move(n));
    return IntVal::slot(slot);
  }
  void require(IntVal cond, InterpError::Kind kind, std::string message, const SourceLocation& where,
               std::optional<IntVal> shown = {}) {
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

  // --- control --------------------------------------------------------------------------------
  IntVal control(const ExprPtr& e, const Env& env) {
    if (const auto* r = e->as<Read>()) {
      const auto it = env.control.find(r->name);
      if (it == env.control.end()) unsupported(e->where, "`" + r->name.name() + "` is no control variable");
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
        case BinOpKind::kAdd: return op(IntOp::kAdd, x, y);
        case BinOpKind::kSub: return op(IntOp::kAdd, x, op(IntOp::kMul, y, -1));
        case BinOpKind::kMul: return op(IntOp::kMul, x, y);
        case BinOpKind::kDiv:
        case BinOpKind::kMod:
          if (!y.constant() || *y.constant() <= 0)
            unsupported(e->where, "control `" + std::string(name_of(b->op)) + "` by something that is no positive literal");
          return op(b->op == BinOpKind::kDiv ? IntOp::kDiv : IntOp::kMod, x, y);
        case BinOpKind::kAnd: return op(IntOp::kAnd, x, y);
        case BinOpKind::kOr: return op(IntOp::kOr, x, y);
        case BinOpKind::kLt: return op(IntOp::kLt, x, y);
        case BinOpKind::kGt: return op(IntOp::kLt, y, x);
        case BinOpKind::kLe: return op(IntOp::kLe, x, y);
        case BinOpKind::kGe: return op(IntOp::kLe, y, x);
        case BinOpKind::kEq: return op(IntOp::kEq, x, y);
        case BinOpKind::kNe: return op(IntOp::kNe, x, y);
      }
    }
    unsupported(e->where, "`" + str(e) + "` among control values");
  }

  IntVal config_read(const ReadConfig& r, const SourceLocation& where) {
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

  // --- places ---------------------------------------------------------------------------------
  const View& view_of(Sym s, const Env& env, const SourceLocation& where) const {
    const auto it = env.views.find(s);
    if (it == env.views.end()) unsupported(where, "`" + s.name() + "` is no data here");
    return it->second;
  }

  Access element(Sym name, const std::vector<ExprPtr>& idx, const Env& env, const SourceLocation& where) {
    const View& v = view_of(name, env, where);
    if (idx.size() != v.shape.size())
      unsupported(where, "`" + name.name() + "` has " + std::to_string(v.shape.size()) + " dimensions, not " +
                             std::to_string(idx.size()));
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

  void add_check(Access* a, const IntVal& i, const IntVal& extent, int dim) const {
    const auto low = int_op(IntOp::kLe, 0, i, ranges_).constant();
    const auto high = int_op(IntOp::kLt, i, extent, ranges_).constant();
    if (low && *low && high && *high) return;
    a->checks.push_back({i, extent, dim});
  }

  View whole_or_window(const ExprPtr& e, const Env& env) {
    if (const auto* r = e->as<Read>()) {
      if (r->idx.empty()) return view_of(r->name, env, e->where);
      const Access a = element(r->name, r->idx, env, e->where);
      View v = view_of(r->name, env, e->where);
      for (const Access::Check& c : a.checks)
        require(op(IntOp::kAnd, op(IntOp::kLe, 0, c.idx), op(IntOp::kLt, c.idx, c.extent)),
                InterpError::Kind::kOutOfBounds,
                "dimension " + std::to_string(c.dim) + " of `" + v.name + "` at index ", e->where, c.idx);
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
      const std::string what = "window of dimension " + std::to_string(k) + " of `" + from.name + "`: ";
      if (a.is_point()) {
        require(op(IntOp::kAnd, op(IntOp::kLe, 0, lo), op(IntOp::kLt, lo, from.shape[k])),
                InterpError::Kind::kOutOfBounds, what + "index ", e->where, lo);
      } else {
        const IntVal hi = let(control(a.hi, env));
        require(op(IntOp::kLe, 0, lo), InterpError::Kind::kOutOfBounds, what + "from ", e->where, lo);
        require(op(IntOp::kLe, hi, from.shape[k]), InterpError::Kind::kOutOfBounds, what + "up to ", e->where, hi);
        require(op(IntOp::kLe, lo, hi), InterpError::Kind::kOutOfBounds, what + "negative extent, up to ", e->where, hi);
        v.shape.push_back(let(op(IntOp::kAdd, hi, op(IntOp::kMul, lo, -1))));
        v.stride.push_back(from.stride[k]);
      }
      v.offset = let(op(IntOp::kAdd, v.offset, op(IntOp::kMul, lo, from.stride[k])));
    }
    return v;
  }

  // --- data -----------------------------------------------------------------------------------
  DataPtr data(const ExprPtr& e, ScalarType context, const Env& env) {
    const ScalarType type = precision(e, context);
    const Rounding rounding = arithmetic_rounding(type, mode_);
    if (const auto* c = e->as<Const>()) {
      double v = 0;
      if (const auto* i = std::get_if<int64_t>(&c->value)) v = static_cast<double>(*i);
      else if (const auto* d = std::get_if<double>(&c->value)) v = *d;
      else unsupported(e->where, "a truth value among data");
      return std::make_unique<ConstData>(round_value(rounding, v));
    }
    if (const auto* r = e->as<Read>()) {
      auto n = std::make_unique<LoadData>();
      n->access = element(r->name, r->idx, env, e->where);
      return n;
    }
    if (const auto* c = e->as<ReadConfig>()) {
      auto n = std::make_unique<ConfigData>();
      n->slot = config_slot(*c->config, c->field);
      n->name = c->config->name + "." + c->field;
      n->where = e->where;
      return n;
    }
    if (const auto* u = e->as<USub>()) return unary(DataOp::kNeg, u->arg, type, env, e);
    if (const auto* b = e->as<BinOp>()) {
      DataOp o;
      switch (b->op) {
        case BinOpKind::kAdd: o = DataOp::kAdd; break;
        case BinOpKind::kSub: o = DataOp::kSub; break;
        case BinOpKind::kMul: o = DataOp::kMul; break;
        case BinOpKind::kDiv: o = DataOp::kDiv; break;
        default: unsupported(e->where, "`" + std::string(name_of(b->op)) + "` on data");
      }
      return binary(o, b->lhs, b->rhs, type, env, e);
    }
    if (const auto* x = e->as<Extern>()) return call_extern(*x, type, env, e);
    unsupported(e->where, "`" + str(e) + "` among data");
  }

  DataPtr unary(DataOp o, const ExprPtr& a, ScalarType type, const Env& env, const ExprPtr& whole) {
    if (!is_float(type) && o >= DataOp::kSqrt)
      unsupported(whole->where, "`" + str(whole) + "` on an integer type");
    auto n = std::make_unique<OpData>();
    n->op = o;
    n->rounding = arithmetic_rounding(type, mode_);
    n->a = data(a, type, env);
    n->where = whole->where;
    return n;
  }
  DataPtr binary(DataOp o, const ExprPtr& a, const ExprPtr& b, ScalarType type, const Env& env,
                 const ExprPtr& whole) {
    auto n = std::make_unique<OpData>();
    n->op = o;
    n->rounding = arithmetic_rounding(type, mode_);
    n->a = data(a, type, env);
    n->b = data(b, type, env);
    n->where = whole->where;
    return n;
  }
  DataPtr call_extern(const Extern& x, ScalarType type, const Env& env, const ExprPtr& whole) {
    auto want = [&](size_t n) {
      if (x.args.size() != n)
        unsupported(whole->where, "`" + x.fn + "` takes " + std::to_string(n) + " arguments");
    };
    if (const auto o = unary_extern(x.fn)) {
      want(1);
      return unary(*o, x.args[0], type, env, whole);
    }
    if (x.fn == "fmax" || x.fn == "fmin") {
      want(2);
      return binary(x.fn == "fmax" ? DataOp::kMax : DataOp::kMin, x.args[0], x.args[1], type, env, whole);
    }
    if (x.fn == "select") {
      want(4);
      const ScalarType compared = precision(x.args[0], precision(x.args[1], type));
      auto n = std::make_unique<SelectData>();
      n->a = data(x.args[0], compared, env);
      n->b = data(x.args[1], compared, env);
      n->c = data(x.args[2], type, env);
      n->d = data(x.args[3], type, env);
      return n;
    }
    unsupported(whole->where, "the extern `" + x.fn + "` has no meaning here");
  }

  // --- statements -----------------------------------------------------------------------------
  void compile_block(const Block& b, Env& env) {
    // Names bound here end with the block; symbols are unique, so leaving them in `env` is harmless.
    for (const StmtPtr& s : b) compile_stmt(*s, env);
  }

  NodeList nested(const Block& b, Env& env) {
    NodeList list;
    NodeList* const saved = std::exchange(out_, &list);
    compile_block(b, env);
    out_ = saved;
    return list;
  }

  void compile_stmt(const Stmt& s, Env& env) {
    if (const auto* a = s.as<Assign>()) return store(StoreOp::kAssign, a->name, a->idx, a->rhs, env, s.where);
    if (const auto* r = s.as<Reduce>())
      return store(r->op == ReduceOp::kAdd ? StoreOp::kAdd : StoreOp::kMax, r->name, r->idx, r->rhs, env, s.where);
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

  void store(StoreOp o, Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs, const Env& env,
             const SourceLocation& where) {
    auto n = std::make_unique<StoreNode>();
    n->op = o;
    n->target = element(name, idx, env, where);
    const ScalarType type = view_of(name, env, where).type;
    n->storage = storage_rounding(type, mode_);
    n->arithmetic = arithmetic_rounding(type, mode_);
    n->rhs = data(rhs, type == ScalarType::kR ? ScalarType::kF32 : type, env);
    emit(std::move(n));
  }

  void loop(const For& f, Env& env) {
    const IntVal lo = control(f.lo, env), hi = control(f.hi, env);
    const auto empty = op(IntOp::kLe, hi, lo).constant();
    if (empty && *empty) return;
    auto n = std::make_unique<ForNode>();
    n->slot = new_int();
    n->name = f.iter.name();
    n->lo = lo;
    n->hi = hi;
    Range range;
    range.lo = ranges_.of(lo).lo;
    if (const Range h = ranges_.of(hi); h.hi != std::numeric_limits<int64_t>::max()) range.hi = h.hi - 1;
    ranges_.set(n->slot, range);
    env.control[f.iter] = IntVal::slot(n->slot);
    n->body = nested(f.body, env);
    n->strip = Strip::make(*n);
    emit(std::move(n));
  }

  void branch(const If& i, Env& env) {
    const IntVal cond = control(i.cond, env);
    if (const auto known = cond.constant()) return compile_block(*known ? i.body : i.orelse, env);
    auto n = std::make_unique<IfNode>();
    n->cond = cond;
    n->body = nested(i.body, env);
    n->orelse = nested(i.orelse, env);
    emit(std::move(n));
  }

  void allocate(const Alloc& a, Env& env, const SourceLocation& where) {
    auto n = std::make_unique<AllocNode>();
    View v;
    v.base = n->base = new_base();
    v.type = a.type.scalar;
    v.name = n->name = a.name.name();
    n->where = where;
    for (const ExprPtr& e : a.type.shape) v.shape.push_back(let(control(e, env)));
    v.stride.assign(v.shape.size(), 1);
    IntVal stride = 1;
    for (size_t k = v.shape.size(); k-- > 0;) {
      v.stride[k] = stride;
      stride = let(op(IntOp::kMul, stride, v.shape[k]));
    }
    n->shape = v.shape;
    env.views[a.name] = std::move(v);
    emit(std::move(n));
  }

  void write_config(const WriteConfig& w, const Env& env) {
    auto n = std::make_unique<ConfigStoreNode>();
    n->slot = config_slot(*w.config, w.field);
    const ScalarType type = w.config->find(w.field)->type;
    if (is_data(type)) {
      n->data = data(w.rhs, type == ScalarType::kR ? ScalarType::kF32 : type, env);
      n->storage = storage_rounding(type, mode_);
    } else {
      n->control = control(w.rhs, env);
    }
    emit(std::move(n));
  }

  void compile_asserts(const Proc& p, Env& env, const SourceLocation& where) {
    for (const Arg& a : p.args)
      if (a.type.scalar == ScalarType::kSize)
        require(op(IntOp::kLe, 1, env.control.at(a.name)), InterpError::Kind::kSize,
                "`" + a.name.name() + "` of `" + p.name + "` = ", where, env.control.at(a.name));
    for (const ExprPtr& e : p.asserts)
      require(control(e, env), InterpError::Kind::kAssert, "`" + str(e) + "` of `" + p.name + "`", where);
  }

  /// The callee's body in place, in an environment of its own: procs of one lineage share symbols.
  void call(const Call& c, const Env& env, const SourceLocation& where) {
    const Proc& p = *c.callee;
    if (c.args.size() != p.args.size()) unsupported(where, "call of `" + p.name + "` with a wrong number of arguments");
    Env inner;
    for (size_t k = 0; k < p.args.size(); ++k)
      if (is_control(p.args[k].type.scalar)) inner.control[p.args[k].name] = let(control(c.args[k], env));
    for (size_t k = 0; k < p.args.size(); ++k)
      if (is_data(p.args[k].type.scalar)) inner.views[p.args[k].name] = bind(p.args[k], c.args[k], env, where);
    for (const Arg& a : p.args)
      if (is_data(a.type.scalar)) require_shape(a, p, inner, where);
    compile_asserts(p, inner, where);
    compile_block(p.body, inner);
  }

  View bind(const Arg& formal, const ExprPtr& actual, const Env& env, const SourceLocation& where) {
    if (formal.type.is_tensor() || actual->as<WindowExpr>()) return whole_or_window(actual, env);
    if (const auto* r = actual->as<Read>(); r && !env.control.contains(r->name)) return whole_or_window(actual, env);
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

  void require_shape(const Arg& formal, const Proc& p, Env& inner, const SourceLocation& where) {
    const View& v = inner.views.at(formal.name);
    const std::string what = "`" + formal.name.name() + "` of `" + p.name + "`";
    if (v.shape.size() != formal.type.shape.size())
      unsupported(where, what + " is given a tensor of another rank");
    IntVal stride = 1;
    for (size_t k = v.shape.size(); k-- > 0;) {
      const IntVal want = control(formal.type.shape[k], inner);
      require(op(IntOp::kEq, v.shape[k], want), InterpError::Kind::kArgument,
              "dimension " + std::to_string(k) + " of " + what + " has extent ", where, v.shape[k]);
      if (!formal.type.window) {
        require(op(IntOp::kOr, op(IntOp::kLe, v.shape[k], 1), op(IntOp::kEq, v.stride[k], stride)),
                InterpError::Kind::kArgument, what + " is not dense", where);
        stride = op(IntOp::kMul, stride, v.shape[k]);
      }
    }
  }

  Arithmetic mode_;
  Compiled result_;
  Ranges ranges_;
  NodeList* out_ = nullptr;
};

}  // namespace

Compiled compile(const Proc& proc, Arithmetic arithmetic, const std::vector<int64_t>& control,
                 const std::vector<EntryView>& entry) {
  return Compiler(arithmetic).compile_entry(proc, control, entry);
}

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
    if (b->op == BinOpKind::kAnd) return x != 0 && eval(b->rhs) != 0;
    if (b->op == BinOpKind::kOr) return x != 0 || eval(b->rhs) != 0;
    const int64_t y = eval(b->rhs);
    switch (b->op) {
      case BinOpKind::kAdd: return x + y;
      case BinOpKind::kSub: return x - y;
      case BinOpKind::kMul: return x * y;
      case BinOpKind::kDiv: return y > 0 ? floor_div(x, y) : missing(str(e));
      case BinOpKind::kMod: return y > 0 ? floor_mod(x, y) : missing(str(e));
      case BinOpKind::kLt: return x < y;
      case BinOpKind::kGt: return x > y;
      case BinOpKind::kLe: return x <= y;
      case BinOpKind::kGe: return x >= y;
      case BinOpKind::kEq: return x == y;
      case BinOpKind::kNe: return x != y;
      case BinOpKind::kAnd:
      case BinOpKind::kOr: break;
    }
  }
  return missing(str(e));
}

}  // namespace exotune::interp
