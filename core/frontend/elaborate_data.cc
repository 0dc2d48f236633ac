// Expressions of data: their precision, and what reads and computes them.
#include <cmath>

#include "core/frontend/declarations.h"
#include "core/frontend/elaborate.h"
#include "core/frontend/foreign_functions.h"
#include "core/ir/functions.h"
#include "core/ir/precision.h"
#include "core/ir/printer.h"

namespace exotune {

namespace {

using Kind = SyntaxExpr::Kind;

bool only_literals(const ExprPtr& e) {
  if (e->bloom != 0 || e->as<ReadConfig>() || e->as<Cast>()) return false;
  for (const ExprPtr& c : expr_children(*e))
    if (!only_literals(c)) return false;
  return true;
}

// Literals have no precision of their own: they take that of what they meet.
ExprPtr retype(const ExprPtr& e, ScalarType to) {
  if (e->type == to || !only_literals(e)) return e;
  return rewrite(e, [&](const ExprPtr& n) {
    return n->type == to ? nullptr : make_expr(n->node, to, n->where);
  });
}

void unify(ExprPtr& a, ExprPtr& b) {
  if (b->type != ScalarType::kR) a = retype(a, b->type);
  if (a->type != ScalarType::kR) b = retype(b, a->type);
}

// Integers that a double holds exactly are doubles, so that `0` and `0.0` are one constant.
ExprPtr data_literal(int64_t v, const SourceLocation& where) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (-kExact <= v && v <= kExact) {
    return make_expr(Const{static_cast<double>(v)}, ScalarType::kR, where);
  }
  return make_expr(Const{v}, ScalarType::kR, where);
}

}  // namespace

ExprPtr Elaborator::data(const SyntaxExpr& e, ScalarType target) {
  const Within wanted(wanted_, target == ScalarType::kR ? ScalarType::kF32 : target);
  const Within value(value_, &e);
  const Within met(met_, ScalarType::kR);
  ExprPtr r = data(e);
  return r->type == ScalarType::kR ? retype(r, target) : r;
}

// Data or control is decided by where an expression stands, never by its text: `i + 1` as an index
// and as data come through different functions. Literals start as R and take the precision of what
// they meet.
ExprPtr Elaborator::data(const SyntaxExpr& e) {
  switch (e.kind) {
    case Kind::kInt:
      return data_literal(e.integer, e.where);
    case Kind::kFloat:
      return make_expr(Const{e.number}, ScalarType::kR, e.where);
    case Kind::kName:
    case Kind::kSubscript:
      return data_name(e);
    case Kind::kCall:
      return data_call(e);
    case Kind::kAttribute: {
      auto [config, field] = config_field(e);
      if (is_control(field->type)) {
        throw InputError(e.where, quoted(e.name + "." + e.field) + " is a control value (" +
                                      name_of(field->type) + ") and cannot be used as data");
      }
      return make_expr(ReadConfig{config, field->name}, field->type, e.where);
    }
    case Kind::kNegate: {
      ExprPtr arg = data(e.children[0]);
      return make_expr(USub{arg}, arg->type, e.where);
    }
    case Kind::kBinary:
      return data_binary(e);
    case Kind::kBool:
    case Kind::kNot:
    case Kind::kCompare:
      refuse_condition(e);
    case Kind::kChoice:
      refuse_choice(e);
    case Kind::kBits:
      refuse_bits(e, /*as_data=*/true);
  }
  EXO_CHECK(false);
}

ExprPtr Elaborator::data_name(const SyntaxExpr& e) {
  if (e.kind == Kind::kName && !lookup(e.name) && globals_.constants) {
    if (auto it = globals_.constants->find(e.name); it != globals_.constants->end())
      return data_literal(it->second, e.where);
  }
  if (e.kind == Kind::kName && !lookup(e.name) && globals_.numbers) {
    if (auto it = globals_.numbers->find(e.name); it != globals_.numbers->end())
      return make_expr(Const{it->second}, ScalarType::kR, e.where);
  }
  const Entry& entry = data_entry(e, "used as data");
  std::vector<ExprPtr> idx = indices(e, entry);
  return make_expr(Read{entry.sym, std::move(idx)}, entry.type.scalar, e.where);
}

std::vector<ExprPtr> Elaborator::indices(const SyntaxExpr& e, const Entry& entry) {
  std::vector<ExprPtr> idx;
  for (const SyntaxExpr::Access& a : e.access) {
    if (a.range) {
      throw InputError(e.where, "a window of " + quoted(e.name) + " cannot be used as a value",
                       "windows stand in calls and in `w = x[lo:hi]`");
    }
    idx.push_back(integer(a.lo[0], Place::kSubscript));
  }
  if (idx.size() != entry.type.shape.size()) {
    std::string have = entry.type.is_tensor()
                           ? "has " + counted(entry.type.shape.size(), "dimension")
                           : "is a scalar";
    throw InputError(e.where, quoted(e.name) + " " + have + ", but " +
                                  (idx.empty() ? "no index" : counted(idx.size(), "index")) +
                                  (idx.size() > 1 ? "es are" : " is") + " given");
  }
  return idx;
}

// `f64(N)`: a control integer as data. `f64(x[i])`: data of another type, by an assignment to a
// scalar in front of the statement.
ExprPtr Elaborator::cast(const SyntaxExpr& e, ScalarType to) {
  const std::string name = name_of(to);
  if (is_control(to)) throw InputError(e.where, quoted(name) + " is no type of data");
  if (to == ScalarType::kR) {
    throw InputError(e.where, "`R` is not decided yet", "write `f32(...)` or another precision");
  }
  if (e.children.size() != 1) {
    throw InputError(e.where,
                     quoted(name) + " takes 1 argument, not " + std::to_string(e.children.size()));
  }
  const SyntaxExpr& of = e.children[0];
  if (!choice(of, "1", "0").empty()) refuse_condition(of);
  const Within wanted(wanted_, to);
  const Within met(met_, ScalarType::kR);
  if (!looks_like_data(of).value_or(false))
    return make_expr(Cast{integer(of, Place::kCast)}, to, e.where);
  if (!in_front_) {
    throw InputError(e.where,
                     quoted(name + "(...)") + " casts data only in a statement of a procedure",
                     "an assignment casts: assign it to a buffer of " + quoted(name));
  }
  const ExprPtr value = retype(data(of), to);
  if (value->type == to) return value;
  const Sym scalar =
      Sym::fresh((value->as<Read>() ? value->as<Read>()->name.name() : "t") + "_" + name);
  in_front_->push_back(make_stmt(Alloc{scalar, Type{to, {}, false}, dram()}, e.where));
  in_front_->push_back(make_stmt(Assign{scalar, {}, value}, e.where));
  return make_expr(Read{scalar, {}}, to, e.where);
}

namespace {

// The text of `a op b` of two operands as a `select`.
std::string compared(BinOpKind op, std::string a, std::string b, std::string yes, std::string no) {
  if (op == BinOpKind::kEq || op == BinOpKind::kNe) {
    if (op == BinOpKind::kNe) std::swap(yes, no);
    return "select(" + joined({a, b, no, "select(" + joined({b, a, no, yes}) + ")"}) + ")";
  }
  if (op == BinOpKind::kGt || op == BinOpKind::kLe) std::swap(a, b);
  if (op == BinOpKind::kGe || op == BinOpKind::kLe) std::swap(yes, no);
  return "select(" + joined({a, b, yes, no}) + ")";
}

}  // namespace

std::string Elaborator::choice(const SyntaxExpr& e, const std::string& yes,
                               const std::string& no) const {
  constexpr size_t kLongest = 200;  // that still is a hint
  if (yes.empty() || no.empty() || yes.size() + no.size() > kLongest) return "";
  switch (e.kind) {
    case Kind::kNot:
      return choice(e.children[0], no, yes);
    case Kind::kCompare: {
      // A chain from its end: where one of it holds, the next one decides.
      std::string text = yes;
      for (size_t k = e.ops.size(); k-- > 0;) {
        const SyntaxExpr &a = e.children[k], &b = e.children[k + 1];
        if (!looks_like_data(a).value_or(false) && !looks_like_data(b).value_or(false)) return "";
        text = compared(e.ops[k], written(a), written(b), text, no);
        if (text.size() > kLongest) return "";
      }
      return text;
    }
    case Kind::kBinary:
      if (e.op == BinOpKind::kAnd) return choice(e.children[0], choice(e.children[1], yes, no), no);
      if (e.op == BinOpKind::kOr) return choice(e.children[0], yes, choice(e.children[1], yes, no));
      return "";
    default:
      return "";
  }
}

void Elaborator::refuse_condition(const SyntaxExpr& e) const {
  std::string text = choice(e, "1", "0");
  if (!text.empty()) text = in_one_type(text);
  throw InputError(e.where, "a condition cannot be used as data",
                   text.empty() ? kSelectIs : std::string(kSelectIs) + ": write " + quoted(text));
}

// `select(a < b, c, d)` is what users type whose language has a choice by a condition. A comparison
// turned round takes the other two with it.
std::string Elaborator::select_hint(const SyntaxExpr& e) const {
  if (e.children.size() != 3) return kSelectIs;
  const SyntaxExpr& condition = e.children[0];
  const bool compares = condition.kind == Kind::kCompare && condition.ops.size() == 1;
  if (compares && !looks_like_data(condition.children[0]).value_or(false) &&
      !looks_like_data(condition.children[1]).value_or(false))
    return std::string(kSelectIs) + "; this is control: write `if " + written(condition) +
           ":`, and `else:`";
  const std::string text = choice(condition, written(e.children[1]), written(e.children[2]));
  return text.empty() ? kSelectIs : std::string(kSelectIs) + ": write " + quoted(text);
}

std::string Elaborator::arity_hint(const SyntaxExpr& e, const std::string& name) const {
  if (name == "select") return select_hint(e);
  if (name != "fmax" && name != "fmin") return "";
  return e.children.size() > 2 ? "write " + quoted(nested_pairs(name, e)) : row_loop(e);
}

void Elaborator::refuse_select_by_control(const SyntaxExpr& e) const {
  const SyntaxExpr &a = e.children[0], &b = e.children[1];
  const std::optional<bool> first = looks_like_data(a), second = looks_like_data(b);
  if (first.value_or(false) || second.value_or(false) || (!first && !second)) return;
  throw InputError(e.where, "`select` compares data, and here are sizes and indices",
                   "write `if " + written_operand(a) + " < " + written_operand(b) + ":` with " +
                       quoted(written(e.children[2])) + ", and `else:` with " +
                       quoted(written(e.children[3])));
}

std::string Elaborator::row_loop(const SyntaxExpr& e) const {
  static const std::map<std::string, std::pair<const char*, const char*>> kRows = {
      {"sum", {"a sum", "+="}},        {"mean", {"a sum", "+="}},
      {"prod", {"a product", "*="}},   {"max", {"a maximum", "max="}},
      {"fmax", {"a maximum", "max="}}, {"min", {"a minimum", "min="}},
      {"fmin", {"a minimum", "min="}}};
  const auto row = kRows.find(e.name);
  if (row == kRows.end() || e.children.size() != 1) return "";
  SyntaxExpr of = e.children[0];
  const Entry* entry =
      of.kind == Kind::kName || of.kind == Kind::kSubscript ? lookup(of.name) : nullptr;
  if (!entry) return "";
  if (of.kind == Kind::kName) {
    of.kind = Kind::kSubscript;
    of.access.resize(entry->type.shape.size(), {.range = true, .lo = {}, .hi = {}});
  }
  if (of.access.size() != entry->type.shape.size()) return "";
  std::string bounds;
  const std::string k = unused_name("k"), s = unused_name("s");
  for (size_t d = 0; d < of.access.size(); ++d) {
    SyntaxExpr::Access& a = of.access[d];
    if (!a.range) continue;
    if (!bounds.empty()) return "";
    bounds = (a.lo.empty() ? "0" : written(a.lo[0])) + ", " +
             (a.hi.empty() ? str(entry->type.shape[d]) : written(a.hi[0]));
    SyntaxExpr iterator;
    iterator.name = k;
    a = {.range = false, .lo = {iterator}, .hi = {}};
  }
  if (bounds.empty()) return "";
  return std::string(row->second.first) + " is a loop: `for " + k + " in seq(" + bounds +
         "):`, and in it " + quoted(s + " " + row->second.second + " " + written(of));
}

// All arguments of a function share one precision; literals among them take it from the first that
// has one.
ExprPtr Elaborator::function_call(const SyntaxExpr& e, const std::string& name, size_t arity) {
  if (e.children.size() != arity) {
    throw InputError(e.where,
                     quoted(name) + " takes " + counted(arity, "argument") + ", not " +
                         std::to_string(e.children.size()),
                     arity_hint(e, name));
  }
  if (name == "select") refuse_select_by_control(e);
  std::vector<ExprPtr> args;
  ScalarType type = ScalarType::kR;
  for (const SyntaxExpr& c : e.children) {
    args.push_back(data(c));
    if (type == ScalarType::kR) type = args.back()->type;
  }
  for (ExprPtr& a : args) a = retype(a, type);
  return make_expr(Extern{name, std::move(args)}, type, e.where);
}

ExprPtr Elaborator::data_call(const SyntaxExpr& e) {
  if (const Function* x = find_function(e.name))
    return function_call(e, x->name, static_cast<size_t>(x->arity));
  if (std::optional<ScalarType> to = scalar_type(e.name)) return cast(e, *to);
  if (e.name == "stride") {
    throw InputError(e.where, "a stride is a control value and cannot be used as data");
  }
  if (globals_.procs.count(e.name)) {
    throw InputError(e.where, quoted(e.name) + " is a procedure and returns nothing",
                     "call it as a statement of its own, with the result as an argument");
  }
  std::vector<std::string> names;
  for (const Function& f : functions()) names.push_back(f.name);
  // What users of other languages type first; an edit distance would suggest `sin` for `sum`.
  std::string hint = row_loop(e);
  if (hint.empty()) hint = instead_of_function(e);
  if (hint.empty()) hint = did_you_mean(e.name, names);
  if (hint.empty()) hint = "the functions are " + joined(names);
  throw InputError(e.where, "there is no function " + quoted(e.name), hint);
}

ExprPtr Elaborator::data_binary(const SyntaxExpr& e) {
  if (is_logical(e.op)) refuse_condition(e);
  // What a size meets says as what it is data, but for an integer that a real number is made of.
  const ScalarType meets = common_type_of(e).value_or(ScalarType::kR);
  const bool says = meets != ScalarType::kR && (is_float(meets) || !is_float(wanted_));
  const Within met(met_, says ? meets : met_);
  refuse_control_as_data(e);
  if (e.op == BinOpKind::kMod) remainder_of_data(e);
  ExprPtr lhs = data(e.children[0]);
  ExprPtr rhs = data(e.children[1]);
  if (e.op == BinOpKind::kDiv) refuse_cut_by_real(e, lhs->type, rhs->type);
  unify(lhs, rhs);
  ScalarType type = lhs->type == ScalarType::kR ? rhs->type : lhs->type;
  return make_expr(BinOp{e.op, lhs, rhs}, type, e.where);
}

// `y[i] = i % 2 + 1`: all of it is cast, not each of its names.
void Elaborator::refuse_control_as_data(const SyntaxExpr& e) {
  std::string cast;
  if (is_control_value(e))
    cast = name_of(type_of_control()) + ("(" + written(e) + ")");
  else if (!common_type_of(e) && !looks_like_data(e).value_or(true))
    cast = multiplied_as_data(e, &e == value_);
  if (cast.empty()) return;
  throw InputError(e.where,
                   quoted(written(e)) + " is a control value (index) and cannot be used as data",
                   "write " + quoted(cast) + ", or another precision");
}

// `n[k] / 64.0`: to cut it would be what `64` asks for, and nobody who writes a point means that.
// Stored in an integer it is cut in either case.
void Elaborator::refuse_cut_by_real(const SyntaxExpr& e, ScalarType lhs, ScalarType rhs) const {
  if (!is_float(wanted_)) return;
  for (const int side : {0, 1}) {
    const SyntaxExpr& literal = e.children[static_cast<size_t>(side)];
    const ScalarType other = side == 0 ? rhs : lhs;
    const bool integers = is_data(other) && !is_float(other);
    const bool named = literal.kind == Kind::kName && !lookup(literal.name) && globals_.numbers &&
                       globals_.numbers->contains(literal.name);
    if ((literal.kind != Kind::kFloat && !named) || !integers) continue;
    // Integers times reals are a mixture, which has its own message.
    const auto all = common_type_of(e.children[static_cast<size_t>(1 - side)]);
    if (all && is_float(*all)) continue;
    SyntaxExpr exact = e, cut = e;
    for (SyntaxExpr& c : exact.children) c = in_type(c, wanted_);
    SyntaxExpr& whole = cut.children[static_cast<size_t>(side)];
    std::string hint = "write " + quoted(written(exact));
    const auto holds = integers_of(ScalarType::kI32);
    if (!named && literal.number == std::trunc(literal.number) &&
        std::fabs(literal.number) <= static_cast<double>(holds->second)) {
      whole.kind = Kind::kInt;
      whole.integer = static_cast<int64_t>(literal.number);
      hint += ", or " + quoted(written(cut)) + " for the whole quotient";
    }
    throw InputError(e.where,
                     quoted(written(e)) + " divides integers (" + name_of(other) +
                         "), and their quotient is cut toward zero",
                     hint);
  }
}

// Quotients of integers are cut toward zero, which makes the rest; between reals it is a function.
void Elaborator::remainder_of_data(const SyntaxExpr& e) {
  ScalarType type = common_type_of(e).value_or(ScalarType::kF32);
  const SyntaxExpr& by = e.children[1];
  const auto range = integers_of(type);
  if (range && by.kind == Kind::kInt && by.integer > range->second) type = ScalarType::kI32;
  (void)in_an_int(e.children[0], type);  // as C has it
  const SyntaxExpr left = in_type(e.children[0], type), right = in_type(by, type);
  (void)data(left), (void)data(right);  // what is wrong with them is said first
  const std::string a = written_operand(left), m = written_operand(right);
  std::string hint = "write `fmod(" + written(left) + ", " + written(right) + ")`";
  const std::string rest = a + " - " + m + " * (" + a + " / " + m + ")";
  if (!is_float(type))
    hint = "of integers " + quoted(&e == value_ ? rest : "(" + rest + ")") +
           " is the remainder, with the sign of " + quoted(a);
  throw InputError(e.where, "there is no `%` on data", hint);
}

// Needed only where both would be legal, for `f64(...)`: a leaf decides, and integer literals do
// not.
std::optional<bool> Elaborator::looks_like_data(const SyntaxExpr& e) const {
  switch (e.kind) {
    case Kind::kInt:
      return {};
    case Kind::kFloat:
    case Kind::kSubscript:
      return true;
    case Kind::kBool:
    case Kind::kNot:
    case Kind::kCompare:
      return false;
    case Kind::kCall:
      return e.name != "stride";
    case Kind::kName: {
      if (const Entry* entry = lookup(e.name)) return is_data(entry->type.scalar);
      if (globals_.numbers && globals_.numbers->contains(e.name)) return true;
      // As the literal that it is.
      if (globals_.constants && globals_.constants->contains(e.name)) return {};
      return false;
    }
    case Kind::kAttribute:
      return is_data(config_field(e).second->type);
    case Kind::kChoice:
      if (const std::optional<bool> value = looks_like_data(e.children[1])) return value;
      return looks_like_data(e.children[2]);
    case Kind::kNegate:
    case Kind::kBinary:
    case Kind::kBits:
      for (const SyntaxExpr& c : e.children)
        if (std::optional<bool> d = looks_like_data(c)) return d;
      return {};
  }
  EXO_CHECK(false);
}

ExprPtr Elaborator::window(const SyntaxExpr& e) {
  if (e.kind != Kind::kName && e.kind != Kind::kSubscript) {
    throw InputError(e.where, "a buffer or a window of one is wanted", "write `x[lo:hi, i]`");
  }
  const Entry& entry = data_entry(e, "windowed");
  return whole_or_window(e, entry);
}

// `x` as all of x, `x[...]` with its ranges completed.
// A missing bound of a range is the end of the dimension, so that `x[:, i]` works as in Python; the
// result always has one access a dimension, which is what later layers rely on.
ExprPtr Elaborator::whole_or_window(const SyntaxExpr& e, const Entry& entry) {
  WindowExpr w{entry.sym, {}};
  if (e.kind == Kind::kName) {
    for (const ExprPtr& size : entry.type.shape) w.access.push_back({int_const(0), size});
  } else {
    if (e.access.size() != entry.type.shape.size()) {
      SyntaxExpr all = e;  // a row, where its last dimensions are left out as in Python
      for (size_t k = e.access.size(); k < entry.type.shape.size(); ++k)
        all.access.push_back({.range = true, .lo = {}, .hi = {}});
      const bool is_row = e.access.size() < entry.type.shape.size();
      throw InputError(e.where,
                       quoted(e.name) + " has " + counted(entry.type.shape.size(), "dimension") +
                           ", but " + std::to_string(e.access.size()) + " are given",
                       is_row ? "write " + quoted(written(all)) : "");
    }
    for (size_t k = 0; k < e.access.size(); ++k) {
      const SyntaxExpr::Access& a = e.access[k];
      WindowAccess access;
      access.lo = a.lo.empty() ? int_const(0) : integer(a.lo[0], Place::kSubscript);
      if (a.range)
        access.hi = a.hi.empty() ? entry.type.shape[k] : integer(a.hi[0], Place::kSubscript);
      w.access.push_back(std::move(access));
    }
  }
  return make_expr(std::move(w), entry.type.scalar, e.where);
}

}  // namespace exotune
