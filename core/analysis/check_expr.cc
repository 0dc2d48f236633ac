// Expressions: sorts, precisions, bounds.
#include <algorithm>
#include <cmath>

#include "core/analysis/checker.h"
#include "core/analysis/written_casts.h"
#include "core/base/within.h"
#include "core/ir/functions.h"
#include "core/ir/precision.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

// What rounds to infinity: half a unit beyond the largest number.
constexpr double kOverflowsF16 = 65520, kOverflowsBf16 = 0x1.ffp127;

}  // namespace

// R is whatever precision is chosen later; when C is emitted it is f32.
ScalarType Checker::decided(ScalarType t) const {
  return codegen_ && t == ScalarType::kR ? ScalarType::kF32 : t;
}

const Binding& Checker::buffer(Sym name, const SourceLocation& where) {
  // Trees that rewrites made may name what is out of scope: this is where that is found.
  const Binding* b = scope_.find(name);
  if (!b) fail(where, name.name() + " is not defined here");
  if (!b->type || !is_data(b->type->scalar))
    fail(where, name.name() + " is a control value, not data");
  return *b;
}

void Checker::config_read(const ReadConfig& r, const SourceLocation& where) {
  if (!r.config->find(r.field)) fail(where, "there is no field " + r.config->name + "." + r.field);
  if (codegen_ && !r.config->readable)
    fail(where, r.config->name + "." + r.field + " lives in hardware only and cannot be read");
}

// Integer control expressions, as the language allows them: affine but for names that stand for
// products. What the frontend refuses in text is refused here for trees that were built otherwise.
void Checker::integer(const ExprPtr& e, const SourceLocation& where) {
  struct Visitor {
    Checker& c;
    const ExprPtr& e;
    const SourceLocation& where;
    void operator()(const Read& n) {
      const Binding* b = c.scope_.find(n.name);
      if (!b) c.fail(where, n.name.name() + " is not defined here");
      if (b->type && !is_integer_control(b->type->scalar))
        c.fail(where, n.name.name() + " is not an integer control value");
      if (!n.idx.empty()) c.fail(where, n.name.name() + " has no dimensions");
    }
    void operator()(const Const& n) {
      if (!std::holds_alternative<int64_t>(n.value)) c.fail(where, str(e) + " is not an integer");
    }
    void operator()(const USub& n) { c.integer(n.arg, where); }
    void operator()(const Not&) { c.fail(where, str(e) + " is not an integer"); }
    void operator()(const BinOp& n) {
      if (is_comparison(n.op) || is_logical(n.op)) c.fail(where, str(e) + " is not an integer");
      c.integer(n.lhs, where);
      c.integer(n.rhs, where);
      auto literal = [&](const ExprPtr& x) { return c.problem_.lin(x).is_constant(); };
      // Literal as far as the facts of the place know: a name of known value counts.
      if (n.op == BinOpKind::kMul && !literal(n.lhs) && !literal(n.rhs))
        c.fail(where, str(e) + ": one side of * must be a literal");
      if ((n.op == BinOpKind::kDiv || n.op == BinOpKind::kMod) &&
          (!literal(n.rhs) || c.problem_.lin(n.rhs).constant <= 0))
        c.fail(where, str(e) + ": the right side of / and % must be a positive literal");
    }
    void operator()(const Extern&) { c.fail(where, "data never reaches control: " + str(e)); }
    void operator()(const Cast&) { c.fail(where, "data never reaches control: " + str(e)); }
    void operator()(const WindowExpr&) { c.fail(where, "data never reaches control: " + str(e)); }
    void operator()(const StrideExpr& n) {
      const Binding& b = c.buffer(n.name, where);
      if (n.dim < 0 || n.dim >= b.type->rank())
        c.fail(where, str(e) + ": there is no such dimension");
    }
    void operator()(const ReadConfig& n) {
      c.config_read(n, where);
      if (!is_integer_control(n.config->find(n.field)->type))
        c.fail(where, str(e) + " is not an integer");
    }
  };
  std::visit(Visitor{*this, e, e->where.known() ? e->where : where}, e->node);
}

void Checker::boolean(const ExprPtr& e, const SourceLocation& where) {
  if (const Const* n = e->as<Const>(); n && std::holds_alternative<bool>(n->value)) return;
  if (const Not* n = e->as<Not>()) return boolean(n->arg, where);
  if (const Read* n = e->as<Read>()) {
    const Binding* b = scope_.find(n->name);
    if (b && b->type && b->type->scalar == ScalarType::kBool) return;
  }
  if (const ReadConfig* n = e->as<ReadConfig>()) {
    config_read(*n, where);
    if (n->config->find(n->field)->type == ScalarType::kBool) return;
  }
  if (const BinOp* n = e->as<BinOp>()) {
    if (is_logical(n->op)) {
      boolean(n->lhs, where);
      return boolean(n->rhs, where);
    }
    if (is_comparison(n->op)) {
      // `b == true`: comparisons of conditions are conditions.
      const bool of_booleans =
          n->lhs->type == ScalarType::kBool || n->rhs->type == ScalarType::kBool;
      for (const ExprPtr& side : {n->lhs, n->rhs})
        of_booleans ? boolean(side, where) : integer(side, where);
      return;
    }
  }
  fail(e->where.known() ? e->where : where, str(e) + " is not a condition");
}

namespace {

// Of whole numbers beyond it a floating type holds some only; 0: it holds all of an i32.
int64_t exact_up_to(ScalarType type) {
  switch (type) {
    case ScalarType::kF16:
      return int64_t{1} << 11;
    case ScalarType::kBf16:
      return int64_t{1} << 8;
    case ScalarType::kF32:
      return int64_t{1} << 24;
    default:
      return 0;
  }
}

// Words for the whole numbers of `type` that `wide` does not hold.
std::string where_rounded(ScalarType type, ScalarType wide) {
  const auto range = integers_of(type);
  const int64_t most = exact_up_to(wide);
  if (!range || most == 0 || range->second <= most) return "";
  return std::string("; ") + name_of(wide) + " holds whole numbers up to " + std::to_string(most) +
         ", beyond that some only";
}

// Of so few digits that products are made in another type.
bool is_half(ScalarType t) { return is_float(t) && bytes_of(t) < bytes_of(ScalarType::kF32); }

bool decides(std::optional<ScalarType> t) { return t && *t != ScalarType::kR; }

}  // namespace

std::string Checker::written(const ExprPtr& e) const { return str(WrittenCasts(p_).written(e)); }

std::optional<ScalarType> Checker::operand(const ExprPtr& e, const SourceLocation& where) {
  return e->as<Cast>() ? std::optional(e->type) : data(e, where);
}

// Literals have no precision of their own; two operands that have one must agree, since a silent
// conversion would round where nobody asked.
std::optional<ScalarType> Checker::operands(const BinOp& n, const SourceLocation& where) {
  const std::optional<ScalarType> a = operand(n.lhs, where), b = operand(n.rhs, where);
  if (decides(a) && decides(b) && *a != *b) {
    const ScalarType wide = common_type(*a, *b);
    const WrittenCasts casts(p_);
    const ExprPtr narrow = casts.written(wide == *a ? n.rhs : n.lhs);
    // Integers are computed in the wide type: there they neither wrap nor refuse a fraction.
    const bool by_parts = !is_float(wide == *a ? *b : *a);
    const ExprPtr widened = by_parts ? reads_as(wide, narrow) : as_type(wide, narrow);
    std::string hint = all_in_one_type(make_expr(n, wide, where));
    if (hint.empty())
      hint = is_half(wide)
                 ? "write `" +
                       str(bin_op(n.op, as_type(ScalarType::kF32, casts.written(n.lhs)),
                                  as_type(ScalarType::kF32, casts.written(n.rhs)))) +
                       "`: a product in `" + name_of(wide) + "` would be rounded, or infinite, soon"
                 : "write `" + str(widened) + "` for `" + str(narrow) +
                       "`, or assign it to a scalar of that type";
    fail(where,
         std::string("mixed precisions in one operator: ") + name_of(*a) + " and " + name_of(*b),
         hint);
  }
  for (const ExprPtr& side : {n.lhs, n.rhs})
    if (side->as<Cast>()) data(side, where);
  if (!decides(a)) return b ? b : a;
  return a;
}

std::optional<ScalarType> Checker::data(const ExprPtr& e, const SourceLocation& where_in) {
  const SourceLocation& where = e->where.known() ? e->where : where_in;
  if (const Read* n = e->as<Read>()) {
    element(n->name, n->idx, where);
    return decided(scope_.find(n->name)->type->scalar);
  }
  // A literal takes the precision of what it meets.
  if (e->as<Const>()) return std::nullopt;
  if (const USub* n = e->as<USub>()) return data(n->arg, where);
  if (const BinOp* n = e->as<BinOp>()) {
    if (is_comparison(n->op) || is_logical(n->op) || n->op == BinOpKind::kMod)
      fail(where, std::string(name_of(n->op)) + " does not apply to data: " + str(e));
    return operands(*n, where);
  }
  if (const Extern* n = e->as<Extern>()) return function(*n, e, where);
  if (const Cast* n = e->as<Cast>()) {
    cast(*n, e, where);
    return e->type;
  }
  if (const ReadConfig* n = e->as<ReadConfig>()) {
    config_read(*n, where);
    const ScalarType t = n->config->find(n->field)->type;
    if (!is_data(t)) fail(where, str(e) + " is a control value, not data");
    return decided(t);
  }
  fail(where, str(e) + " is not a data value");
}

// All arguments of a function have one precision, which is its result's.
std::optional<ScalarType> Checker::function(const Extern& n, const ExprPtr& e,
                                            const SourceLocation& where) {
  std::optional<ScalarType> t;
  std::vector<std::optional<ScalarType>> types;
  size_t first = n.args.size(),
         other = first;  // the argument that has precision t, one that has not
  for (size_t k = 0; k < n.args.size(); ++k) {
    types.push_back(operand(n.args[k], where));
    if (!decides(types[k])) {
      if (!t) t = types[k];
    } else if (first == n.args.size()) {
      first = k;
      t = types[k];
    } else if (*types[k] != *t && other == n.args.size()) {
      other = k;
    }
  }
  if (other < n.args.size()) mixed_arguments(n, types, first, other, where);
  for (const ExprPtr& a : n.args)
    if (a->as<Cast>()) data(a, where);
  const Function* f = find_function(n.fn);
  if (!f) fail(where, "there is no function " + n.fn);
  if (t && !is_float(*t) && !f->on_integers)
    fail(where, n.fn + " is not defined on " + name_of(*t) + ": " + written(e),
         "write `" + str(integers_as(ScalarType::kF32, WrittenCasts(p_).written(e))) +
             "`, or another precision");
  return t;
}

// The whole call, all of it in the widest of the types: nothing is left to be found out.
void Checker::mixed_arguments(const Extern& n, const std::vector<std::optional<ScalarType>>& types,
                              size_t first, size_t other, const SourceLocation& where) {
  ScalarType wide = *types[first];
  for (const std::optional<ScalarType>& t : types)
    if (decides(t)) wide = common_type(wide, *t);
  const WrittenCasts casts(p_);
  Extern call{n.fn, {}};
  std::string rounds;
  for (size_t k = 0; k < n.args.size(); ++k) {
    if (decides(types[k]) && rounds.empty()) rounds = where_rounded(*types[k], wide);
    const ExprPtr a = casts.written(n.args[k]);
    call.args.push_back(decides(types[k]) && *types[k] != wide ? as_type(wide, a) : a);
  }
  std::string hint = all_in_one_type(make_expr(n, wide, where));
  if (hint.empty())
    hint = std::string(n.fn == "select" ? "what is compared and what is chosen have one precision: "
                                        : "all arguments have one precision: ") +
           "write `" + str(make_expr(std::move(call), wide, where)) +
           "`, or cast by an assignment to a buffer" + rounds;
  fail(where,
       "mixed precisions in `" + n.fn + "`: " + written(n.args[first]) + " is " +
           name_of(*types[first]) + ", and " + written(n.args[other]) + " is " +
           name_of(*types[other]),
       hint);
}

// Where what stands around `part` is mixed as well, all that is assigned, so that one round mends
// it.
std::string Checker::all_in_one_type(const ExprPtr& part) const {
  constexpr size_t kLongest = 400;  // characters that are copied rather than written anew
  if (!whole_ || !hints_) return "";
  const WrittenCasts casts(p_);
  const ExprPtr all = casts.written(*whole_), inside = casts.written(part);
  const std::vector<ScalarType> types = types_read(all), types_inside = types_read(inside);
  const ScalarType type = common_type_of(types);
  const auto others = [&](const std::vector<ScalarType>& read) {
    return std::ranges::count_if(read, [&](ScalarType t) { return t != type; });
  };
  // One operand of the two is named where it alone is another.
  const bool both =
      part->as<BinOp>() && types_inside.size() > 1 && std::ranges::count(types_inside, type) == 0;
  if (others(types) == others(types_inside) && common_type_of(types_inside) == type && !both)
    return "";
  const std::string text = str(reads_as(type, all));
  std::string rounds;
  for (const ScalarType t : types)
    if (rounds.empty()) rounds = where_rounded(t, type);
  return text.size() > kLongest ? "" : "all of it has one precision: write `" + text + "`" + rounds;
}

// A cast from control must be exact in range: proved from what is known of the value at its place.
void Checker::cast(const Cast& n, const ExprPtr& e, const SourceLocation& where) {
  if (!is_data(e->type)) fail(where, str(e) + " is not a data value");
  integer(n.arg, where);
  const auto range = integers_of(e->type);
  // Floating types hold any 64-bit integer, rounded.
  if (!range) return;
  const std::pair<ExprPtr, BinOpKind> bounds[] = {{int_const(range->first), BinOpKind::kGe},
                                                  {int_const(range->second), BinOpKind::kLe}};
  // One question an end, so that the message says which is not proved.
  for (const auto& [bound, op] : bounds) {
    const ExprPtr inside = bin_op(op, n.arg, bound);
    if (Answer a = problem_.entails(inside); !a)
      fail(where, std::string(name_of(e->type)) + " may not hold " + str(n.arg), str(inside), a,
           op == BinOpKind::kLe ? assert_hint(inside, bound) : "");
  }
}

// A bound of one argument that is enough; tried, so that what the hint says helps.
std::string Checker::assert_hint(const ExprPtr& inside, const ExprPtr& limit) {
  for (const Arg& a : p_.args) {
    if (!is_integer_control(a.type.scalar)) continue;
    const ExprPtr bound = bin_op(BinOpKind::kLe, read_var(a.name, a.type.scalar), limit);
    const Problem::Mark before = problem_.mark();
    problem_.assume(bound);
    const bool enough = static_cast<bool>(problem_.entails(inside));
    problem_.rollback(before);
    if (enough) return "write `assert " + str(bound) + "` at the top of the procedure";
  }
  return "an `assert` at the top of the procedure may bound it";
}

namespace {

// Exactly: no rounding, no wrapping.
bool fits_type(ScalarType t, double v) {
  if (!std::isfinite(v)) return is_float(t);  // only rewrites make these, on purpose
  switch (t) {
    case ScalarType::kR:
    case ScalarType::kF64:
      return true;
    case ScalarType::kF32:
      return std::isfinite(static_cast<float>(v));
    case ScalarType::kBf16:
      return std::fabs(v) < kOverflowsBf16;
    case ScalarType::kF16:
      return std::fabs(v) < kOverflowsF16;
    default:
      break;
  }
  // As doubles both ends are exact: they have 32 bits.
  const auto range = integers_of(t);
  return v == std::trunc(v) && v >= static_cast<double>(range->first) &&
         v <= static_cast<double>(range->second);
}

}  // namespace

void Checker::stored(const ExprPtr& e, ScalarType target, const SourceLocation& where) {
  {
    const Within whole(whole_, &e);
    data(e, where);
  }
  literals(e, decided(target), where, {e, target});
}

// As the interpreter and generated C take precisions from the context (precision_in).
void Checker::literals(const ExprPtr& e, ScalarType context, const SourceLocation& where_in,
                       const Stored& stored) {
  const SourceLocation& where = e->where.known() ? e->where : where_in;
  if (const Const* n = e->as<Const>()) {
    const double v = std::visit([](auto x) { return static_cast<double>(x); }, n->value);
    if (fits_type(context, v)) return;
    const bool fraction = !is_float(context) && v != std::trunc(v);
    std::string hint = "choose another number, or another precision for what it meets";
    if (fraction && has_own_precision(stored.value)) {
      const ScalarType real = is_float(stored.target) ? decided(stored.target) : ScalarType::kF32;
      const ScalarType type = real == ScalarType::kR ? ScalarType::kF32 : real;
      hint = "write `" + str(integers_as(type, WrittenCasts(p_).written(stored.value))) + "`" +
             ", or another number";
    }
    fail(where,
         std::string(name_of(context)) + " cannot hold " + written(e) +
             (fraction ? ", which is no integer" : ""),
         hint);
  }
  // They have a precision of their own, and no literals inside but subscripts.
  if (e->as<Read>() || e->as<ReadConfig>() || e->as<Cast>()) return;
  const bool undecided = has_own_precision(e) && e->type == ScalarType::kR && !codegen_;
  const ScalarType type = undecided ? ScalarType::kR : precision_in(e, context);
  // select(a, b, x, y): a and b are compared in their own precision, x and y are the result's.
  if (const Extern* n = e->as<Extern>(); n && n->fn == "select" && n->args.size() == 4) {
    const ScalarType compared = precision_in(n->args[0], precision_in(n->args[1], type));
    for (size_t k = 0; k < 4; ++k) literals(n->args[k], k < 2 ? compared : type, where, stored);
    return;
  }
  for (const ExprPtr& c : expr_children(*e)) literals(c, type, where, stored);
}

// Two questions a dimension, 0 <= i and i < n, each proved from the facts of the place; a window's
// own extents count, not its root's.
void Checker::element(Sym name, const std::vector<ExprPtr>& idx, const SourceLocation& where) {
  buffer(name, where);
  const std::vector<ExprPtr> shape = scope_.shape_of(name);
  if (shape.size() != idx.size())
    fail(where, name.name() + " has " + std::to_string(shape.size()) + " dimensions, but " +
                    std::to_string(idx.size()) + " are indexed");
  if (codegen_) addressable(name, where);
  for (size_t k = 0; k < idx.size(); ++k) {
    integer(idx[k], where);
    const Lin at = problem_.lin(idx[k]);
    Lin room = problem_.lin(shape[k]) - at;
    const Formula low = Formula::at_least_zero(at),
                  high = Formula::at_least_zero(room.add_constant(-1));
    // Both at once for those that hold, which is nearly all; one by one only for the message.
    if (problem_.entails(Formula::all_of({low, high}))) continue;
    const std::string what = str(read_elem(name, idx, ScalarType::kR)) + " may be out of bounds";
    const std::string hint = bounds_hint(name, idx, k);
    if (Answer a = problem_.entails(low); !a) fail(where, what, "0 <= " + str(idx[k]), a, hint);
    fail(where, what, str(bin_op(BinOpKind::kLt, idx[k], shape[k])), problem_.entails(high), hint);
  }
}

// A part of each dimension within the buffer's, and not empty the wrong way round: lo <= hi.
void Checker::window(const WindowExpr& w, const SourceLocation& where) {
  buffer(w.name, where);
  const std::vector<ExprPtr> shape = scope_.shape_of(w.name);
  if (shape.size() != w.access.size())
    fail(where, w.name.name() + " has " + std::to_string(shape.size()) +
                    " dimensions, but the window names " + std::to_string(w.access.size()));
  auto require = [&](const ExprPtr& smaller, const ExprPtr& larger, BinOpKind op) {
    const ExprPtr condition = bin_op(op, smaller, larger);
    const Answer a = problem_.entails(condition);
    if (!a)
      fail(where, "the window " + str(make_expr(w, ScalarType::kR)) + " may be out of bounds",
           str(condition), a);
  };
  for (size_t k = 0; k < shape.size(); ++k) {
    const WindowAccess& a = w.access[k];
    integer(a.lo, where);
    require(int_const(0), a.lo, BinOpKind::kLe);
    if (a.is_point()) {
      require(a.lo, shape[k], BinOpKind::kLt);
      continue;
    }
    integer(a.hi, where);
    require(a.lo, a.hi, BinOpKind::kLe);
    require(a.hi, shape[k], BinOpKind::kLe);
  }
}

}  // namespace exotune
