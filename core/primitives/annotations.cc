// Annotations: where a buffer lives, how precise it is, whether an argument is strided. They keep
// the meaning over the reals; that callers, callees and memories agree is proved before code is
// emitted.
#include <algorithm>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/primitives/calls.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"
#include "core/primitives/value_range.h"

namespace exotune {

using namespace internal;

namespace {

// Changes the type or memory of the allocation or argument at `c`.
void change_declaration(Rewrite& rw, const Cursor& c,
                        const std::function<void(Type&, MemoryPtr&)>& change) {
  if (c.kind() == CursorKind::kArg) {
    rw.set_header([&](Proc& q) {
      Arg& arg = q.args[static_cast<size_t>(c.arg_index())];
      change(arg.type, arg.mem);
    });
    return;
  }
  Path at = *rw.now(c.path());
  StmtPtr s = stmt_at(rw.proc(), at);
  Alloc a = *s->as<Alloc>();
  change(a.type, a.mem);
  rw.replace_keep(at, make_stmt(std::move(a), s->where));
}

Sym name_at(const Cursor& c) {
  if (c.kind() == CursorKind::kArg) return c.proc()->args[static_cast<size_t>(c.arg_index())].name;
  return c.as<Alloc>().name;
}

const Type& type_at(const Cursor& c) {
  if (c.kind() == CursorKind::kArg) return c.proc()->args[static_cast<size_t>(c.arg_index())].type;
  return c.as<Alloc>().type;
}

// Data types of expressions after the buffers in `names` changed to `t`; constants follow the other
// operand.
ExprPtr retyped(const ExprPtr& e, const std::set<Sym>& names, ScalarType t) {
  auto with_type = [](const ExprPtr& x, ScalarType want) {
    return x->as<Const>() && is_data(x->type) && x->type != want
               ? make_expr(x->node, want, x->where)
               : x;
  };
  return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
    if (!is_data(x->type)) return nullptr;
    if (const Read* r = x->as<Read>(); r && names.count(r->name))
      return make_expr(x->node, t, x->where);
    if (const WindowExpr* w = x->as<WindowExpr>(); w && names.count(w->name))
      return make_expr(x->node, t, x->where);
    if (const USub* u = x->as<USub>()) return make_expr(x->node, u->arg->type, x->where);
    if (const BinOp* b = x->as<BinOp>()) {
      ExprPtr lhs = b->lhs, rhs = b->rhs;
      if (!rhs->as<Const>()) lhs = with_type(lhs, rhs->type);
      if (!lhs->as<Const>()) rhs = with_type(rhs, lhs->type);
      ScalarType type = lhs->type != ScalarType::kR ? lhs->type : rhs->type;
      return make_expr(BinOp{b->op, lhs, rhs}, type, x->where);
    }
    if (const Extern* f = x->as<Extern>()) {
      ScalarType type = ScalarType::kR;
      for (const ExprPtr& a : f->args)
        if (!a->as<Const>() && type == ScalarType::kR) type = a->type;
      std::vector<ExprPtr> args = f->args;
      for (ExprPtr& a : args) a = with_type(a, type);
      return make_expr(Extern{f->fn, args}, type, x->where);
    }
    return nullptr;
  });
}

}  // namespace

ProcPtr set_memory(ProcPtr p, const Where& buffer, MemoryPtr memory) {
  Cursor c = buffer.buffer(p);
  if (!memory) refuse("set_memory", "no memory given");
  if (!is_data(type_at(c).scalar))
    refuse("set_memory", "`" + name_at(c).name() + "` holds no data");
  Rewrite rw(p);
  change_declaration(rw, c, [&](Type&, MemoryPtr& m) { m = memory; });
  return rw.finish("set_memory", {place(buffer, c), memory});
}

namespace {

bool is_signed(ScalarType t) { return t != ScalarType::kUi8 && t != ScalarType::kUi16; }

// One of the values that are read, and nothing computed of them: in a wider type it is the same.
bool only_chooses(const ExprPtr& e) {
  if (e->as<Read>() || e->as<Const>()) return true;
  const Extern* f = e->as<Extern>();
  return f && (f->fn == "select" || f->fn == "fmax" || f->fn == "fmin") &&
         std::all_of(f->args.begin(), f->args.end(), only_chooses);
}

// Is what stands at `c` given values of `limits` only, and each only taken from there? Arithmetic
// would wrap around earlier in a narrower type, and later in a wider one.
bool holds_only(const Cursor& c, const ValueRange& limits) {
  const Sym name = name_at(c);
  const ScalarType old = type_at(c).scalar;
  const std::optional<ValueRange> own = values_of(old);
  const ValueRanges ranges(*c.proc());
  bool only = true;
  for_each_stmt(c.proc()->body, [&](const StmtPtr& s) {
    const Assign* a = s->as<Assign>();
    const Reduce* r = s->as<Reduce>();
    if (r && r->name == name) only = false;
    if (a && a->name == name && !(a->rhs->type == old && own && limits.holds(*own))) {
      const std::optional<ValueRange> given = ranges.of(a->rhs);
      only = only && given && limits.holds(*given);
    }
    for (const ExprPtr& e : stmt_exprs(*s))
      if (mentions(e, name) &&
          !(((a && e == a->rhs) || (r && e == r->rhs && e->as<Extern>())) && only_chooses(e)))
        only = false;
  });
  return only;
}

// Of an argument the caller would see the difference.
bool may_narrow(const Cursor& c, ScalarType precision) {
  const std::optional<ValueRange> all = values_of(precision);
  return all && c.kind() != CursorKind::kArg && holds_only(c, *all);
}
bool may_widen(const Cursor& c, ScalarType precision) {
  const ScalarType old = type_at(c).scalar;
  const std::optional<ValueRange> all = values_of(old);
  return precision == old || (all && holds_only(c, *all));
}

void require_holds_all(const Cursor& c, ScalarType precision, const char* op) {
  const ScalarType old = type_at(c).scalar;
  const bool widens =
      !is_float(old) && !is_float(precision) &&
      ((is_signed(old) == is_signed(precision) && bytes_of(precision) >= bytes_of(old)) ||
       (!is_signed(old) && bytes_of(precision) > bytes_of(old)));
  // What was summed up in another order, or multiplied by a reciprocal, was a real number then.
  if (old == ScalarType::kR && !is_float(precision) && reassociates(c.proc()))
    refuse(op, "steps before this one took `" + name_at(c).name() + "` for a real number",
           "decide on an integer type before the schedule");
  if (widens && !may_widen(c, precision))
    refuse(
        op,
        "what is computed from `" + name_at(c).name() + "` wraps around as `" + name_of(old) + "`",
        std::string("convert where it is read: ") + name_of(precision) + "(" + name_at(c).name() +
            ")");
  const bool narrows = !is_float(old) && !widens && may_narrow(c, precision);
  if (old != ScalarType::kR && !(is_float(old) && is_float(precision)) && !widens && !narrows)
    refuse(op,
           std::string("values of `") + name_of(old) + "` are not all values of `" +
               name_of(precision) + "`",
           values_of(precision) ? "a narrower one must hold all that is assigned, and may only be "
                                  "read as a whole right side: t = x[i]"
                                : "");
}

Block retyped(const Block& b, const std::set<Sym>& names, ScalarType precision) {
  return rewrite_stmts(b, [&](const StmtPtr& s) -> std::optional<Block> {
    std::vector<ExprPtr> exprs = stmt_exprs(*s);
    bool changed = false;
    for (ExprPtr& e : exprs) {
      ExprPtr n = retyped(e, names, precision);
      changed |= n != e;
      e = n;
    }
    StmtPtr out = changed ? with_exprs(s, exprs) : s;
    if (const WindowStmt* w = out->as<WindowStmt>(); w && names.count(w->name)) {
      WindowStmt typed = *w;
      typed.type.scalar = precision;
      return Block{make_stmt(std::move(typed), s->where)};
    }
    if (!changed) return std::nullopt;
    return Block{out};
  });
}

// What check() says of `p`; nothing when it accepts it.
std::optional<Diagnostic> offence(const Proc& p) {
  try {
    check(p);
    return std::nullopt;
  } catch (const InputError& e) {
    return e.diagnostic();
  }
}

}  // namespace

ProcPtr set_precision(ProcPtr p, const std::vector<Where>& buffers, ScalarType precision) {
  const char* op = "set_precision";
  if (buffers.empty()) refuse(op, "no buffer is given");
  if (!is_data(precision)) refuse(op, std::string("`") + name_of(precision) + "` is no data type");
  Rewrite rw(p);
  ValueList places;
  for (const Where& buffer : buffers) {
    Cursor c = buffer.buffer(p);
    const ScalarType old = type_at(c).scalar;
    const Sym name = name_at(c);
    if (!is_data(old)) refuse(op, "`" + name.name() + "` holds no data");
    require_holds_all(c, precision, op);
    const bool is_arg = c.kind() == CursorKind::kArg;
    rw.map_in_place(retyped(rw.proc().body,
                            aliases_in(is_arg ? p->body : rest_of_block(*p, c.path()), {name}),
                            precision));
    change_declaration(rw, c, [&](Type& t, MemoryPtr&) { t.scalar = precision; });
    places.push_back(place(buffer, c));
  }
  if (std::optional<Diagnostic> after = offence(rw.proc()); after && !offence(*p))
    throw SchedulingError(
        std::string(op) + ": the result would be no valid program", {after->message},
        "give all buffers that go together at once: set_precision(p, ['a', 'b'], 'f64')");
  return rw.finish(op, {places.size() == 1 ? places[0] : Value(places), name_of(precision)});
}

ProcPtr set_precision(ProcPtr p, const Where& buffer, ScalarType precision) {
  return set_precision(std::move(p), std::vector<Where>{buffer}, precision);
}

ProcPtr set_window(ProcPtr p, const Where& arg, bool window) {
  const char* op = "set_window";
  Cursor c = arg.buffer(p);
  if (c.kind() != CursorKind::kArg) refuse(op, "`" + name_at(c).name() + "` is no argument");
  if (!type_at(c).is_tensor()) refuse(op, "`" + name_at(c).name() + "` is no tensor");
  Rewrite rw(p);
  change_declaration(rw, c, [&](Type& t, MemoryPtr&) { t.window = window; });
  if (!p->body.empty())
    require_calls(rw.proc(), {{Child::kBody, 0}}, static_cast<int>(p->body.size()),
                  aliases_in(p->body, {name_at(c)}), op);
  return rw.finish(op, {place(arg, c), window});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> annotations_operators() {
  using namespace params;
  return {
      {"set_memory",
       {proc(), place("buf"), memory("memory")},
       "x : T  ->  x : T @ MEM",
       [](const OperatorArgs& a) -> Value {
         return set_memory(a.proc(), a.where(1), a.memory(2));
       }},
      {"set_precision",
       {proc(), places("bufs"), precision("precision")},
       "x : R  ->  x : f32   (one buffer, or a list of those that go together)",
       [](const OperatorArgs& a) -> Value {
         return set_precision(a.proc(), a.places(1), a.precision(2));
       }},
      {"set_window",
       {proc(), place("arg"), boolean("is_window", true)},
       "x : T[n]  ->  x : [T][n]",
       [](const OperatorArgs& a) -> Value {
         return set_window(a.proc(), a.where(1), a.boolean(2));
       }},
  };
}

}  // namespace exotune
