// What is written instead of a statement or of arithmetic that is refused, in the user's own words:
// what needs to know names and types.
#include <algorithm>

#include "core/frontend/declarations.h"
#include "core/frontend/elaborate.h"
#include "core/frontend/foreign_functions.h"
#include "core/ir/precision.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

using Kind = SyntaxExpr::Kind;

}  // namespace

std::string a_procedure_for_each(const std::string& name) {
  return "write a procedure for each: `for " + name +
         " in [1, 2, 4]:` around the procedure, and in it `def f_$" + name + "(...)`, where `$" +
         name + "` is the number";
}

// `x[i * N + j]` is a row and a place in it where j < N; `x[t + k * D]` steps by D.
std::string Elaborator::iterator_beside(const SyntaxExpr& e, const std::string& row) const {
  const SyntaxExpr* sum = all_of_place_;
  if (!sum || sum == &e || sum->kind != Kind::kBinary || sum->op != BinOpKind::kAdd) return "";
  for (size_t k = 0; k < 2; ++k) {
    const SyntaxExpr& other = sum->children[k];
    const Entry* entry =
        &sum->children[1 - k] == &e && other.kind == Kind::kName ? lookup(other.name) : nullptr;
    if (entry && entry->iterates && (!entry->end || str(entry->end) != row)) return other.name;
  }
  return "";
}

// What is divided by a size without a rest has that size as a dimension.
std::string Elaborator::instead_of_quotient(BinOpKind op, const ExprPtr& lhs,
                                            const ExprPtr& rhs) const {
  if (op == BinOpKind::kMod) {
    if (const std::string ring = instead_of_ring(lhs, rhs); !ring.empty()) return ring;
  }
  if (std::string moving; has_iterator(rhs)) {
    (void)rewrite(rhs, [&](const ExprPtr& n) -> ExprPtr {
      if (const Read* r = n->as<Read>()) moving = r->name.name();
      return nullptr;
    });
    return "sizes, bounds and indices stay affine: where " + quoted(moving) +
           " takes few values, " + a_procedure_for_each(moving);
  }
  const std::string q = unused_name("Q"), b = str(rhs);
  return quoted(str(bin_op(BinOpKind::kDiv, lhs, rhs))) + " is a size of its own: `" + q +
         ": size`; where nothing is left over, what has " + quoted(str(lhs)) +
         " elements has the dimensions `x: f32[" + q + ", " + b + "]`, in which `i * " + b +
         " + j` is `x[i, j]`";
}

// A histogram is a loop over its bins.
std::string Elaborator::instead_of_chosen_element(const SyntaxExpr& e) const {
  SyntaxExpr all = all_of_place_ ? *all_of_place_ : e;
  if (all.kind == Kind::kCall && all.name == "int" && all.children.size() == 1) {
    const std::optional<ScalarType> of = common_type_of(all);
    if (of && is_float(*of))
      all.name = "floor";
    else
      all = SyntaxExpr(all.children[0]);
  }
  const std::string type = name_of(common_type_of(all).value_or(ScalarType::kI32));
  const std::string one = unused_name("b"), at = type + "(" + one + ")", chosen = written(all);
  return "subscripts are made of sizes and iterators: data chooses no element; where the numbers "
         "are known, write the loop over them out, one statement for each; else in a loop over all "
         "elements, `for " +
         one + " in ..`, `select(" + chosen + ", " + at + ", 0, select(" + at + ", " + chosen +
         ", 0, 1))` is 1 at the one that is meant";
}

// A reduction converts what it takes, as an assignment does.
void Elaborator::refuse_running_extreme(const SyntaxStmt& s) {
  const SyntaxExpr& value = *s.value;
  const bool is_max = value.name == "max", is_min = value.name == "min";
  if (value.kind != Kind::kCall || (!is_max && !is_min) || value.children.size() != 2) return;
  const std::string target = written(*s.target);
  for (size_t k = 0; k < 2; ++k)
    if (written(value.children[k]) == target)
      throw InputError(
          value.where, "there is no function " + quoted(value.name),
          "write " + quoted(target + " " + value.name + "= " + written(value.children[1 - k])));
}

// min(a, b), max(a, b) and abs(a) of sizes and indices: the condition, what is meant where it
// holds, and what where not.
std::optional<std::array<std::string, 3>> Elaborator::two_cases(const SyntaxExpr& e) {
  const auto is_control = [&](const SyntaxExpr& c) { return is_control_value(c); };
  const auto may_be = [&](const SyntaxExpr& c) { return c.kind == Kind::kInt || is_control(c); };
  if (e.kind != Kind::kCall || !std::ranges::all_of(e.children, may_be) ||
      std::ranges::none_of(e.children, is_control))
    return std::nullopt;
  const size_t values = e.children.size();
  const auto text = [&](size_t k) { return str(integer(e.children[k])); };
  if (e.name == "abs" && values == 1)
    return {{text(0) + " < 0", str(make_expr(USub{integer(e.children[0])}, ScalarType::kIndex)),
             text(0)}};
  if (values != 2 || (!is_minimum(e) && !is_maximum(e))) return std::nullopt;
  const std::string a = text(0), b = text(1);
  return {{a + " < " + b, is_minimum(e) ? a : b, is_minimum(e) ? b : a}};
}

// Sizes and indices are computed where they are used.
std::string Elaborator::instead_of_variable(const SyntaxStmt& s) {
  if (s.target->kind != Kind::kName) return "";
  const std::string name = quoted(s.target->name), none = "sizes and indices have no variables";
  if (is_control_value(*s.value))
    return none + ": write " + quoted(written_operand(*s.value)) + " where " + name + " is meant";
  if (const auto cases = two_cases(*s.value))
    return none + " and take no " + quoted(s.value->name) + ": write both cases, `if " +
           cases->at(0) + ":` with " + quoted(cases->at(1)) + " where " + name +
           " is meant, and `else:` with " + quoted(cases->at(2));
  return "";
}

// Data has a type, which its value says.
std::string Elaborator::allocated_first(const SyntaxStmt& s) {
  const std::string& name = s.target->name;
  const SyntaxExpr& value = *s.value;
  if (s.target->kind == Kind::kSubscript)
    return "allocate it first, with its sizes: " + quoted(name + ": f32[4]");
  ScalarType type = ScalarType::kF32;
  try {
    if (const ScalarType of = data(value)->type; of != ScalarType::kR) type = of;
  } catch (const InputError&) {
    // It is refused for what it reads, which is the next thing to be said.
  }
  const std::string declared = name + ": " + name_of(type);
  if (s.kind == SyntaxStmt::Kind::kAssign)
    return "allocate it first: " + quoted(declared + " = " + written(value));
  const std::string zero = is_float(type) ? " = 0.0" : " = 0";
  return "allocate it first, in front of the loop: " +
         quoted(declared + (s.op == ReduceOp::kAdd ? zero : ""));
}

namespace {

SyntaxExpr cast_to_type(ScalarType type, const SyntaxExpr& e) {
  SyntaxExpr out;
  out.kind = Kind::kCall;
  out.where = e.where;
  out.name = name_of(type);
  out.children.push_back(e);
  return out;
}

bool is_cast(const SyntaxExpr& e) {
  const std::optional<ScalarType> type = e.kind == Kind::kCall ? scalar_type(e.name) : std::nullopt;
  return type && is_data(*type);
}

bool adds_or_multiplies(const SyntaxExpr& e) {
  return e.kind == Kind::kBinary &&
         (e.op == BinOpKind::kAdd || e.op == BinOpKind::kSub || e.op == BinOpKind::kMul);
}
// May be beyond the type of what it is made of: a sum, a product, an opposite, and what holds one.
bool may_wrap(const SyntaxExpr& e) {
  if (is_cast(e) || e.kind == Kind::kSubscript) return false;
  return e.kind == Kind::kNegate || adds_or_multiplies(e) ||
         std::ranges::any_of(e.children, may_wrap);
}
bool subtracts(const SyntaxExpr& e) {
  return e.kind == Kind::kNegate || (e.kind == Kind::kBinary && e.op == BinOpKind::kSub) ||
         (e.kind == Kind::kInt && e.integer < 0) || std::ranges::any_of(e.children, subtracts);
}
bool is_narrow(ScalarType type) {
  return integers_of(type) && bytes_of(type) < bytes_of(ScalarType::kI32);
}

bool has_quotient(const SyntaxExpr& e) {
  return (e.kind == Kind::kBinary && e.op == BinOpKind::kDiv) ||
         std::ranges::any_of(e.children, has_quotient);
}

}  // namespace

// What is affine is cast as it stands.
std::optional<SyntaxExpr> Elaborator::multiplied(const SyntaxExpr& e) {
  if (e.kind == Kind::kInt) return e;
  if (is_control_value(e)) return cast_to_type(type_of_control(), e);
  if (!adds_or_multiplies(e)) return {};
  SyntaxExpr out = e;
  for (SyntaxExpr& c : out.children) {
    std::optional<SyntaxExpr> part = multiplied(c);
    if (!part) return {};
    c = std::move(*part);
  }
  return out;
}

std::string Elaborator::multiplied_as_data(const SyntaxExpr& e, bool is_value) {
  const Within place(place_, Place::kOther);  // of another hint none is made here
  const std::optional<SyntaxExpr> out = multiplied(e);
  if (!out) return "";
  return is_value ? written(*out) : "(" + written(*out) + ")";
}

std::optional<ScalarType> Elaborator::common_type_of(const SyntaxExpr& e) const {
  if (is_cast(e)) return scalar_type(e.name);
  if (e.kind == Kind::kCall && e.name == "stride") return {};
  if (e.kind == Kind::kAttribute) {
    const ScalarType field = config_field(e).second->type;
    return is_data(field) ? std::optional(field) : std::nullopt;
  }
  std::optional<ScalarType> all;
  if (e.kind == Kind::kName || e.kind == Kind::kSubscript) {
    const Entry* entry = lookup(e.name);
    if (entry && is_data(entry->type.scalar)) all = entry->type.scalar;
  }
  for (const SyntaxExpr& c : e.children)
    if (const std::optional<ScalarType> type = common_type_of(c))
      all = all ? common_type(*all, *type) : *type;
  return all;
}

SyntaxExpr Elaborator::in_type(const SyntaxExpr& e, ScalarType type) const {
  // What a hint gives a name to has the type that is asked for.
  if (e.kind == Kind::kName && !std::ranges::count(visible_names(), e.name)) return e;
  const std::optional<ScalarType> own = common_type_of(e);
  const bool is_control = !own && !looks_like_data(e).value_or(true);
  const bool reads = e.kind == Kind::kName || e.kind == Kind::kSubscript ||
                     e.kind == Kind::kAttribute || is_cast(e);
  if (is_control) return cast_to_type(type, e);
  // `i32(i)` of an index is a number that fits: `f32(i)` is the same one.
  if (is_cast(e) && !common_type_of(e.children[0]) &&
      !looks_like_data(e.children[0]).value_or(true))
    return own == type ? e : cast_to_type(type, e.children[0]);
  if (reads) return !own || *own == type || *own == ScalarType::kR ? e : cast_to_type(type, e);
  // A quotient of integers is cut towards zero, and one of floating types is not.
  const bool is_cut = own && !is_float(*own) && is_float(type) && has_quotient(e);
  SyntaxExpr out = e;
  for (SyntaxExpr& c : out.children) c = in_type(c, is_cut ? *own : type);
  return is_cut ? cast_to_type(type, out) : out;
}

SyntaxExpr Elaborator::in_an_int(const SyntaxExpr& e, ScalarType& type) const {
  if (!is_narrow(type) || !may_wrap(e)) return e;
  type = ScalarType::kI32;
  return in_type(e, type);
}

namespace {

bool has_bits(const SyntaxExpr& e) {
  return e.kind == Kind::kBits || std::ranges::any_of(e.children, has_bits);
}

SyntaxExpr parsed(const std::string& text) {
  TokenStream t(text, "");
  return parse_expression(t);
}

std::string instead_of_power(const SyntaxExpr& x, const SyntaxExpr& n, bool as_data) {
  if (n.kind == Kind::kInt && n.integer == 2) {
    const std::string factor = written_operand(x);
    return factor + " * " + factor;
  }
  return as_data ? "pow(" + written(x) + ", " + written(n) + ")" : "";
}

}  // namespace

// From the inside out. Of sizes and of data `>>` is not the same division, and of data the type
// decides.
InsteadOfBits Elaborator::without_bits(const SyntaxExpr& e, bool as_data) {
  constexpr size_t kLongestText = 1000;  // characters: a remainder doubles them
  SyntaxExpr out = e;
  std::string more;
  for (SyntaxExpr& c : out.children) {
    if (!has_bits(c)) continue;  // it keeps its place in the text
    const InsteadOfBits inside = without_bits(c, as_data);
    if (inside.text.empty()) return inside;
    if (more.find(inside.more) == std::string::npos) more += inside.more;
    c = parsed(inside.text);
  }
  if (e.kind != Kind::kBits) return {written(out), more};
  const SyntaxExpr &left = out.children[0], &right = out.children[1];
  if (e.name == "**") return {instead_of_power(left, right, as_data), more};
  const auto is_data_value = [&](const SyntaxExpr& x) {
    return looks_like_data(x).value_or(false);
  };
  const bool of_data = as_data && (is_data_value(left) || is_data_value(right));
  std::optional<int64_t> amount;
  if (!as_data || !is_data_value(right)) amount = literal_value(control(right));
  InsteadOfBits all;
  if (of_data) {
    (void)data(left);  // what is wrong with it is said first
    ScalarType type = common_type_of(out).value_or(ScalarType::kR);
    const bool is_positive = integers_of(type) && integers_of(type)->first == 0 && !subtracts(left);
    // Low bits are the same however a sum wraps.
    if (e.name == ">>") out.children[0] = in_an_int(left, type);
    // Of a sum of unsigned numbers no bit is a sign's.
    if (type == ScalarType::kI32 && is_positive) type = ScalarType::kUi16;
    all = instead_of_data_bits(out, amount, type, wanted_);
  } else {
    all = instead_of_control_bits(out, literal_value(control(left)), amount);
  }
  if (!all.text.empty())
    all.more = more.find(all.more) == std::string::npos ? more + all.more : more;
  if (all.text.size() > kLongestText) return {"", "assign what it is made of to scalars first"};
  return all;
}

// All of the value at once, where that still is a hint.
void Elaborator::refuse_bits(const SyntaxExpr& e, bool as_data) {
  constexpr size_t kLongest = 200;  // characters that are copied rather than written anew
  const auto instead_of = [&](const SyntaxExpr& value) {
    InsteadOfBits instead = without_bits(value, as_data);
    if (instead.text.empty() || !as_data) return instead;
    const SyntaxExpr out = parsed(instead.text);
    if (is_control_value(out)) instead.text = name_of(wanted_) + ("(" + instead.text + ")");
    std::optional<ScalarType> type = common_type_of(out);
    if (!type) return instead;
    // What is computed around the bits is so in C's int.
    const bool around = value.kind != Kind::kBits && may_wrap(value);
    if (around && is_narrow(*type) && integers_of(wanted_) && !is_narrow(wanted_)) type = wanted_;
    instead.text = written(in_type(out, *type));
    return instead;
  };
  InsteadOfBits instead = instead_of(as_data && value_ ? *value_ : e);
  if (instead.text.size() > kLongest) instead = instead_of(e);
  const std::string operation = e.name == "**" ? "power operator" : quoted(e.name);
  throw InputError(e.where, "there is no " + operation, instead.hint());
}

// What `choice` made of the user's words is an expression again.
std::string Elaborator::in_one_type(const std::string& text) const {
  const SyntaxExpr e = parsed(text);
  const std::optional<ScalarType> type = common_type_of(e);
  return type ? written(in_type(e, *type)) : text;
}

std::string Elaborator::select_of(const SyntaxExpr& e) const {
  if (e.kind != Kind::kChoice) return written(e);
  return choice(e.children[0], select_of(e.children[1]), select_of(e.children[2]));
}

// What a branch declares would end with it.
std::string Elaborator::decided_by_statement(const SyntaxExpr& choice) const {
  std::string in_front, assigned;
  if (declares_ && declares_->value && &*declares_->value == &choice) {
    const std::string& name = declares_->target->name;
    in_front = quoted(name + ": " + name_of(wanted_)) + ", then ";
    assigned = name + " = ";
  }
  return "sizes and indices decide by a statement: write " + in_front + "`if " +
         written(choice.children[0]) + ":` with " + quoted(assigned + written(choice.children[1])) +
         ", and `else:` with " + quoted(assigned + written(choice.children[2]));
}

void Elaborator::refuse_choice(const SyntaxExpr& e) const {
  const SyntaxExpr& condition = e.children[0];
  std::string hint =
      std::string(kSelectIs) + ", of data; sizes and indices decide by a statement, `if`";
  if (const std::string text = select_of(e); !text.empty())
    hint = "write " + quoted(in_one_type(text)) + ": " + kSelectIs;
  else if (!common_type_of(condition))
    hint = decided_by_statement(e);
  throw InputError(e.where, "there is no `c if a else d`", hint);
}

bool Elaborator::is_control_value(const SyntaxExpr& e) {
  if (looks_like_data(e).value_or(true)) return false;
  try {
    (void)integer(e);
    return true;
  } catch (const InputError&) {
    return false;  // some of it is data, or there is worse to be said
  }
}

}  // namespace exotune
