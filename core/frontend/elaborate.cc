#include "core/frontend/elaborate.h"

#include <set>

#include "core/frontend/declarations.h"
#include "core/frontend/foreign_functions.h"
#include "core/ir/functions.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune {

namespace {

using Kind = SyntaxExpr::Kind;

// What other languages have names for, with what to write.
const char kNoInfinity[] = "there is no infinity: take a number beyond all that occur, `1e38`";
const char kNoNan[] = "no number stands for what is undefined";
const std::map<std::string, std::string> kNoLiterals = {{"inf", kNoInfinity},
                                                        {"infinity", kNoInfinity},
                                                        {"INFINITY", kNoInfinity},
                                                        {"FLT_MAX", "write `3.4028235e38`"},
                                                        {"nan", kNoNan},
                                                        {"NaN", kNoNan},
                                                        {"NAN", kNoNan},
                                                        {"pi", "write `3.141592653589793`"},
                                                        {"M_PI", "write `3.141592653589793`"}};

}  // namespace

std::string counted(size_t n, const std::string& one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  if (word.size() < 2 || word.size() > 64) return "";
  std::string best = nearest(word, candidates);
  return best.empty() ? "" : "did you mean " + quoted(best) + "?";
}

// --- scope ------------------------------------------------------------------------------------

void Elaborator::bind(Sym name, Type type, MemoryPtr mem) {
  scope_.push_back({name.name(), name, std::move(type), std::move(mem)});
}

void Elaborator::bind_scope(const std::vector<ScopeEntry>& scope) {
  // As the printer: the second visible `i` is `i_1`, and so on. Users name what they see.
  std::set<std::string> used;
  std::map<std::string, int> next;  // by name: smaller numbers of it are in use
  for (const ScopeEntry& e : scope) {
    std::string name = e.name.name();
    for (int& k = next[e.name.name()]; used.count(name);)
      name = e.name.name() + "_" + std::to_string(++k);
    used.insert(name);
    scope_.push_back({std::move(name), e.name, e.type, e.mem});
  }
}

const Elaborator::Entry* Elaborator::lookup(const std::string& name) const {
  for (auto it = scope_.rbegin(); it != scope_.rend(); ++it)
    if (it->name == name) return &*it;
  return nullptr;
}

std::vector<std::string> Elaborator::visible_names() const {
  std::vector<std::string> names;
  for (const Entry& e : scope_) names.push_back(e.name);
  if (globals_.constants)
    for (const auto& [name, value] : *globals_.constants) names.push_back(name);
  if (globals_.numbers)
    for (const auto& [name, value] : *globals_.numbers) names.push_back(name);
  return names;
}

void Elaborator::unknown(const SyntaxExpr& e) const {
  if (e.name == "_") {
    throw InputError(e.where, "`_` is a hole and stands only in patterns");
  }
  if (globals_.procs.count(e.name)) {
    throw InputError(e.where, quoted(e.name) + " is a procedure, not a value",
                     "call it as a statement of its own");
  }
  if (globals_.configs && globals_.configs->count(e.name)) {
    throw InputError(
        e.where, quoted(e.name) + " is a configuration; one of its fields is meant",
        "write " + quoted(e.name + "." + globals_.configs->at(e.name)->fields[0].name));
  }
  const auto no_literal = kNoLiterals.find(e.name);
  throw UnknownName(
      e.where, e.name,
      no_literal != kNoLiterals.end() ? no_literal->second : instead_of_unknown(e.name));
}

std::string Elaborator::instead_of_unknown(const std::string& name) const {
  const auto ended = ended_.find(name);
  if (ended == ended_.end()) return did_you_mean(name, visible_names());
  return "the " + quoted(name) + " of line " + std::to_string(ended->second.where.line) +
         " ends with its block: write " + quoted(name + ": " + name_of(ended->second.scalar)) +
         " in front of what that block belongs to, and assign in it";
}

void Elaborator::data_in_control(const SyntaxExpr& e, const Entry& entry) const {
  std::string hint = branch_ ? instead_of_branch(*branch_) : "";
  if (hint.empty()) hint = "`select(a, b, c, d)` chooses between two values by data";
  if (place_ == Place::kSubscript) hint = instead_of_chosen_element(e);
  if (place_ == Place::kLower || place_ == Place::kUpper)
    hint = "loops run between sizes and iterators, and `select` in them says what counts";
  if (place_ == Place::kShape) hint = "sizes are arguments: `n: size`";
  throw InputError(e.where,
                   quoted(e.name) + " is data (" + name_of(entry.type.scalar) +
                       "), and data never decides sizes, indices or conditions",
                   hint);
}

const Elaborator::Entry& Elaborator::data_entry(const SyntaxExpr& e, const char* use) {
  const Entry* entry = lookup(e.name);
  if (!entry) unknown(e);
  if (is_control(entry->type.scalar)) {
    const bool as_data = use == std::string_view("used as data");
    throw InputError(e.where,
                     quoted(e.name) + " is a control value (" + name_of(entry->type.scalar) +
                         ") and cannot be " + use,
                     as_data && is_integer_control(entry->type.scalar)
                         ? "write " + quoted(name_of(type_of_control()) + ("(" + e.name + ")")) +
                               ", or another precision"
                         : "");
  }
  return *entry;
}

std::pair<ConfigPtr, const ConfigField*> Elaborator::config_field(const SyntaxExpr& e) const {
  std::vector<std::string> names;
  if (globals_.configs) {
    if (auto it = globals_.configs->find(e.name); it != globals_.configs->end()) {
      if (const ConfigField* f = it->second->find(e.field)) return {it->second, f};
      for (const ConfigField& f : it->second->fields) names.push_back(f.name);
      throw InputError(e.where,
                       "configuration " + quoted(e.name) + " has no field " + quoted(e.field),
                       did_you_mean(e.field, names));
    }
    for (const auto& [name, config] : *globals_.configs) names.push_back(name);
  }
  throw InputError(e.where, "there is no configuration named " + quoted(e.name),
                   did_you_mean(e.name, names));
}

// --- control ----------------------------------------------------------------------------------

ExprPtr Elaborator::integer(const SyntaxExpr& e) {
  ExprPtr r = control(e);
  if (r->type == ScalarType::kBool) {
    throw InputError(e.where, "a number is wanted here, not a condition",
                     "write both cases, in the branches of `if " + written(e) + ":`");
  }
  return r;
}

ExprPtr Elaborator::integer(const SyntaxExpr& e, Place place) {
  const Within within(place_, place);
  const Within all(all_of_place_, &e);
  return integer(e);
}

ExprPtr Elaborator::boolean(const SyntaxExpr& e) {
  ExprPtr r = control(e);
  if (r->type != ScalarType::kBool) {
    throw InputError(e.where, "a condition is wanted here, not a number", "compare it: `... != 0`");
  }
  return r;
}

ExprPtr Elaborator::control(const SyntaxExpr& e) {
  switch (e.kind) {
    case Kind::kInt:
      return make_expr(Const{e.integer}, ScalarType::kIndex, e.where);
    case Kind::kBool:
      return make_expr(Const{e.integer != 0}, ScalarType::kBool, e.where);
    case Kind::kFloat:
      throw InputError(e.where,
                       "sizes, indices and conditions are made of integers, not of floats");
    case Kind::kName:
    case Kind::kSubscript:
      return control_name(e);
    case Kind::kCall:
      return control_call(e);
    case Kind::kAttribute: {
      auto [config, field] = config_field(e);
      if (is_data(field->type)) {
        throw InputError(e.where, quoted(e.name + "." + e.field) + " is data (" +
                                      name_of(field->type) +
                                      "), and data never decides sizes, indices or conditions");
      }
      return make_expr(ReadConfig{config, field->name}, field->type, e.where);
    }
    case Kind::kNegate: {
      return make_expr(USub{integer(e.children[0])}, ScalarType::kIndex, e.where);
    }
    case Kind::kNot:
      return make_expr(Not{boolean(e.children[0])}, ScalarType::kBool, e.where);
    case Kind::kBinary:
      return control_binary(e);
    case Kind::kCompare:
      return compare(e);
    case Kind::kChoice:
      (void)boolean(e.children[0]);  // data in it is refused as such
      refuse_choice(e);
    case Kind::kBits:
      refuse_bits(e, /*as_data=*/false);
  }
  EXO_CHECK(false);
}

// Constants of the module are folded in as literals: later layers do not know that they had names.
// Scope first, so that an argument may carry a constant's name.
ExprPtr Elaborator::control_name(const SyntaxExpr& e) {
  const Entry* entry = lookup(e.name);
  if (entry && is_data(entry->type.scalar)) data_in_control(e, *entry);
  if (e.kind == Kind::kSubscript) {
    if (!entry) unknown(e);
    throw InputError(
        e.where, quoted(e.name) + " is a " + name_of(entry->type.scalar) + " and has no elements");
  }
  if (entry) return make_expr(Read{entry->sym, {}}, entry->type.scalar, e.where);
  if (globals_.constants) {
    if (auto it = globals_.constants->find(e.name); it != globals_.constants->end())
      return make_expr(Const{it->second}, ScalarType::kIndex, e.where);
  }
  if (globals_.numbers && globals_.numbers->contains(e.name))
    throw InputError(e.where,
                     quoted(e.name) +
                         " is a number with a fraction, and sizes, indices and conditions are made "
                         "of integers");
  unknown(e);
}

// Control calls nothing but `stride`: whatever else is called computes data, and data never decides
// what runs, which is what keeps every bound and index decidable.
ExprPtr Elaborator::control_call(const SyntaxExpr& e) {
  if (e.name != "stride") {
    const bool is_extern = find_function(e.name) || scalar_type(e.name);
    std::string what = "only `stride(x, k)` can be called in a control expression";
    if (is_extern)
      what = quoted(e.name) +
             " computes data, and data never decides "
             "sizes, indices or conditions";
    else if (is_minimum(e) || is_maximum(e) || e.name == "abs")
      what = "sizes, indices and conditions take no " + quoted(e.name);
    const bool of_branch = is_extern && branch_ && place_ == Place::kOther;
    std::string hint = of_branch ? instead_of_branch(*branch_) : instead_of_call(e);
    const bool of_data = e.children.size() == 1 && looks_like_data(e.children[0]).value_or(false);
    if ((is_extern || of_data) && place_ == Place::kSubscript) hint = instead_of_chosen_element(e);
    throw InputError(e.where, what, hint);
  }
  if (e.children.size() != 2 || e.children[0].kind != Kind::kName) {
    throw InputError(e.where, "`stride` takes a tensor's name and a dimension",
                     "write `stride(x, 0)`");
  }
  const Entry& entry = data_entry(e.children[0], "the tensor of a stride");
  if (!entry.type.is_tensor()) {
    throw InputError(e.children[0].where, quoted(entry.name) + " is a scalar and has no strides");
  }
  const SyntaxExpr& dim = e.children[1];
  if (dim.kind != Kind::kInt) throw InputError(dim.where, "the dimension must be a literal");
  if (dim.integer < 0 || dim.integer >= entry.type.rank()) {
    throw InputError(dim.where, quoted(entry.name) + " has " +
                                    counted(entry.type.shape.size(), "dimension") +
                                    ", numbered from 0");
  }
  return make_expr(StrideExpr{entry.sym, static_cast<int>(dim.integer)}, ScalarType::kStride,
                   e.where);
}

// `min(i, M)` as the end of a loop and `max(0, i - 2)` as its beginning are one bound and a
// condition; `len(x)` has a name.
std::string Elaborator::instead_of_call(const SyntaxExpr& e) {
  if ((is_minimum(e) || is_maximum(e)) && e.children.size() == 2) {
    const std::string a = str(integer(e.children[0])), b = str(integer(e.children[1]));
    return "write both cases, in the branches of `if " + a + " < " + b +
           ":`, or an `assert` that says which holds";
  }
  if (const auto cases = two_cases(e))
    return "write both cases: `if " + cases->at(0) + ":` with " + quoted(cases->at(1)) +
           " here, and `else:` with " + quoted(cases->at(2));
  const Entry* of = e.children.size() == 1 && e.children[0].kind == Kind::kName
                        ? lookup(e.children[0].name)
                        : nullptr;
  if (e.name == "len" && of && of->type.is_tensor())
    return "sizes have names: write " + quoted(str(of->type.shape[0]));
  return "";
}

// What a product of sizes is written for is a dimension, or one more loop.
std::string Elaborator::instead_of_product(const SyntaxExpr& product, const ExprPtr& lhs,
                                           const ExprPtr& rhs) {
  auto is_size = [](const ExprPtr& e) { return e->as<Read>() && e->type == ScalarType::kSize; };
  const std::string a = str(lhs), b = str(rhs);
  if (place_ == Place::kCast) {
    // All of the cast: what is behind it may be another factor.
    const bool is_value = value_ && value_->kind == Kind::kCall && !value_->children.empty() &&
                          all_of_place_ == value_->children.data();
    const std::string text = multiplied_as_data(*all_of_place_, is_value);
    return "as data anything is multiplied" + (text.empty() ? "" : ": write " + quoted(text));
  }
  if (place_ == Place::kShape && is_all_of_place(product))
    return "write a dimension for each: `x: f32[" + a + ", " + b + "]`";
  if (place_ == Place::kShape)
    return "sizes stay affine: where " + quoted(a) + " takes few values, " +
           a_procedure_for_each(a) +
           "; a size of its own, `L: size` and `x: f32[L]`, says nothing of " + quoted(a) +
           " and " + quoted(b);
  if (place_ == Place::kUpper && is_size(lhs) && is_size(rhs))
    return "write two loops, one in the other: to " + quoted(a) + ", and to " + quoted(b);
  if (place_ == Place::kSubscript && (is_size(lhs) || is_size(rhs))) {
    const std::string& row = is_size(rhs) ? b : a;
    const std::string& at = is_size(rhs) ? a : b;
    const std::string beside = iterator_beside(product, row);
    if (!beside.empty())
      return "where " + quoted(beside) + " stays below " + quoted(row) + ", " + quoted(row) +
             " is a dimension: declare `x: f32[.., " + row + "]`, and write `x[" + at + ", " +
             beside + "]`; else, where " + quoted(row) + " takes few values, " +
             a_procedure_for_each(row);
    return quoted(row) + " is a dimension then: declare `x: f32[.., " + row + "]`, and write `x[" +
           at + ", ..]`";
  }
  if (!has_iterator(lhs) && !has_iterator(rhs))
    return "indices stay affine: pass the product as a size argument of its own";
  // Stages by halving: `2 * L * g + j`.
  const std::string few = has_iterator(lhs) ? b : a;
  const std::string otherwise =
      place_ == Place::kSubscript
          ? "indices stay affine: give the array a dimension for each of the two, or, where "
          : "bounds and conditions stay affine: where ";
  return otherwise + quoted(few) + " takes few values, " + a_procedure_for_each("L");
}

bool Elaborator::has_iterator(const ExprPtr& e) const {
  bool found = false;
  (void)rewrite(e, [&](const ExprPtr& n) -> ExprPtr {
    if (const Read* r = n->as<Read>())
      for (const Entry& entry : scope_) found |= entry.iterates && entry.sym == r->name;
    return nullptr;
  });
  return found;
}

// Neighbours on a ring lie behind either its end or its beginning: two cases, each of them affine.
std::string Elaborator::instead_of_ring(const ExprPtr& lhs, const ExprPtr& rhs) const {
  const std::optional<Affine> at = affine(lhs), ring = affine(rhs);
  if (place_ != Place::kSubscript || !at || !ring || at->is_constant()) return "";
  const std::string inside = str(normalize(lhs));
  const bool below = at->constant < 0;
  return "a ring has two cases: `if " + (below ? inside + " < 0" : inside + " < " + str(rhs)) +
         ":` with " + quoted(below ? str(normalize(lhs + rhs)) : inside) + ", and `else:` with " +
         quoted(below ? inside : str(normalize(lhs - rhs))) +
         "; a statement with many neighbours reads a copy of the array that has a border around "
         "it, "
         "and has no cases";
}

// The affine discipline of the language is enforced here: a product has a literal side, a quotient
// a positive literal divisor. A product of two sizes must come in as a size of its own, whose value
// the solver then knows nothing about.
ExprPtr Elaborator::control_binary(const SyntaxExpr& e) {
  if (is_logical(e.op)) {
    ExprPtr lhs = boolean(e.children[0]);
    return make_expr(BinOp{e.op, lhs, boolean(e.children[1])}, ScalarType::kBool, e.where);
  }
  ExprPtr lhs = integer(e.children[0]);
  ExprPtr rhs = integer(e.children[1]);
  if (e.op == BinOpKind::kMul && !literal_value(lhs) && !literal_value(rhs)) {
    throw InputError(e.where, "in control arithmetic one side of `*` must be a literal",
                     instead_of_product(e, lhs, rhs));
  }
  if (e.op == BinOpKind::kDiv || e.op == BinOpKind::kMod) {
    std::optional<int64_t> divisor = literal_value(rhs);
    if (!divisor || *divisor <= 0) {
      throw InputError(e.where,
                       std::string("in control arithmetic the right side of `") + name_of(e.op) +
                           "` must be a positive literal",
                       divisor ? "" : instead_of_quotient(e.op, lhs, rhs));
    }
    // The divisor becomes a literal node even if it was written as an expression of literals:
    // rewrites look for a Const there.
    if (!rhs->as<Const>()) rhs = make_expr(Const{*divisor}, ScalarType::kIndex, rhs->where);
  }
  return make_expr(BinOp{e.op, lhs, rhs}, ScalarType::kIndex, e.where);
}

// Conditions are compared as themselves: `act == True` is `act`, `a == b` both or neither.
ExprPtr Elaborator::comparison(BinOpKind op, const ExprPtr& left, const ExprPtr& right,
                               const SourceLocation& where) const {
  auto boolean = [&](auto node) { return make_expr(std::move(node), ScalarType::kBool, where); };
  const bool of_booleans = left->type == ScalarType::kBool;
  if (of_booleans != (right->type == ScalarType::kBool)) {
    throw InputError((of_booleans ? right : left)->where, "a condition is compared with a number",
                     "compare conditions with conditions: `a == True`");
  }
  if (!of_booleans) return boolean(BinOp{op, left, right});
  if (op != BinOpKind::kEq && op != BinOpKind::kNe) {
    throw InputError(where, "conditions have no order", "compare them by `==` or `!=`");
  }
  const bool same = op == BinOpKind::kEq;
  auto constant = [](const ExprPtr& e) {
    const Const* c = e->as<Const>();
    return c ? std::get_if<bool>(&c->value) : nullptr;
  };
  for (const auto& [value, other] :
       {std::pair(constant(right), left), std::pair(constant(left), right)})
    if (value) return *value == same ? other : boolean(Not{other});
  const ExprPtr neither_left = boolean(Not{left}), neither_right = boolean(Not{right});
  return boolean(
      BinOp{BinOpKind::kOr, boolean(BinOp{BinOpKind::kAnd, left, same ? right : neither_right}),
            boolean(BinOp{BinOpKind::kAnd, neither_left, same ? neither_right : right})});
}

// `a < b < c` is a conjunction, as in Python; the middle is one tree used twice.
ExprPtr Elaborator::compare(const SyntaxExpr& e) {
  ExprPtr result, left = control(e.children[0]);
  for (size_t k = 0; k < e.ops.size(); ++k) {
    ExprPtr right = control(e.children[k + 1]);
    ExprPtr one = comparison(e.ops[k], left, right, e.where);
    result =
        result ? make_expr(BinOp{BinOpKind::kAnd, result, one}, ScalarType::kBool, e.where) : one;
    left = right;
  }
  return result;
}

}  // namespace exotune
