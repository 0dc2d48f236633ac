#include "core/frontend/elaborate.h"

#include <set>

#include "core/frontend/declarations.h"
#include "core/ir/functions.h"

namespace exotune {

namespace {

using Kind = SyntaxExpr::Kind;

std::string count(size_t n, const char* one) {
  return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

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
  for (const ScopeEntry& e : scope) {
    std::string name = e.name.name();
    for (int k = 1; used.count(name); ++k) name = e.name.name() + "_" + std::to_string(k);
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
  throw InputError(e.where, "nothing here is named " + quoted(e.name),
                   did_you_mean(e.name, visible_names()));
}

void Elaborator::data_in_control(const SyntaxExpr& e, const Entry& entry) const {
  throw InputError(e.where,
                   quoted(e.name) + " is data (" + name_of(entry.type.scalar) +
                       "), and data never decides sizes, indices or conditions",
                   "`select(a, b, c, d)` chooses between two values by data");
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
                         ? "write `f32(" + e.name + ")`, or another precision"
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
    throw InputError(e.where, "a number is wanted here, not a condition");
  }
  return r;
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
  unknown(e);
}

// Control calls nothing but `stride`: whatever else is called computes data, and data never decides
// what runs, which is what keeps every bound and index decidable.
ExprPtr Elaborator::control_call(const SyntaxExpr& e) {
  if (e.name != "stride") {
    const bool is_extern = find_function(e.name) || scalar_type(e.name);
    throw InputError(e.where, is_extern
                                  ? quoted(e.name) +
                                        " computes data, and data never decides "
                                        "sizes, indices or conditions"
                                  : "only `stride(x, k)` can be called in a control expression");
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
                                    count(entry.type.shape.size(), "dimension") +
                                    ", numbered from 0");
  }
  return make_expr(StrideExpr{entry.sym, static_cast<int>(dim.integer)}, ScalarType::kStride,
                   e.where);
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
                     "indices stay affine: pass the product as a size argument of its own");
  }
  if (e.op == BinOpKind::kDiv || e.op == BinOpKind::kMod) {
    std::optional<int64_t> divisor = literal_value(rhs);
    if (!divisor || *divisor <= 0) {
      throw InputError(e.where, std::string("in control arithmetic the right side of `") +
                                    name_of(e.op) + "` must be a positive literal");
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

// --- data -------------------------------------------------------------------------------------

ExprPtr Elaborator::data(const SyntaxExpr& e, ScalarType target) {
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
      throw InputError(e.where, "a condition cannot be used as data",
                       "`select(a, b, c, d)` is `c` where a < b, else `d`");
  }
  EXO_CHECK(false);
}

ExprPtr Elaborator::data_name(const SyntaxExpr& e) {
  if (e.kind == Kind::kName && !lookup(e.name) && globals_.constants) {
    if (auto it = globals_.constants->find(e.name); it != globals_.constants->end())
      return data_literal(it->second, e.where);
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
    idx.push_back(integer(a.lo[0]));
  }
  if (idx.size() != entry.type.shape.size()) {
    std::string have = entry.type.is_tensor() ? "has " + count(entry.type.shape.size(), "dimension")
                                              : "is a scalar";
    throw InputError(e.where, quoted(e.name) + " " + have + ", but " +
                                  (idx.empty() ? "no index" : count(idx.size(), "index")) +
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
  if (!looks_like_data(of).value_or(false)) return make_expr(Cast{integer(of)}, to, e.where);
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

// All arguments of a function share one precision; literals among them take it from the first that
// has one.
ExprPtr Elaborator::data_call(const SyntaxExpr& e) {
  if (const Function* x = find_function(e.name)) {
    if (e.children.size() != static_cast<size_t>(x->arity)) {
      throw InputError(e.where, quoted(e.name) + " takes " +
                                    count(static_cast<size_t>(x->arity), "argument") + ", not " +
                                    std::to_string(e.children.size()));
    }
    std::vector<ExprPtr> args;
    ScalarType type = ScalarType::kR;
    for (const SyntaxExpr& c : e.children) {
      args.push_back(data(c));
      if (type == ScalarType::kR) type = args.back()->type;
    }
    for (ExprPtr& a : args) a = retype(a, type);
    return make_expr(Extern{x->name, std::move(args)}, type, e.where);
  }
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
  // What users of other languages type first; an edit distance would suggest `fabs` for nothing but
  // `fabs`.
  static const std::map<std::string, std::string> familiar = {{"abs", "fabs"},  {"max", "fmax"},
                                                              {"min", "fmin"},  {"ln", "log"},
                                                              {"float", "f32"}, {"double", "f64"}};
  const auto it = familiar.find(e.name);
  throw InputError(e.where, "there is no function " + quoted(e.name),
                   it != familiar.end() ? "it is called " + quoted(it->second) + " here"
                                        : did_you_mean(e.name, names));
}

ExprPtr Elaborator::data_binary(const SyntaxExpr& e) {
  if (is_logical(e.op)) {
    throw InputError(e.where, "a condition cannot be used as data",
                     "`select(a, b, c, d)` is `c` where a < b, else `d`");
  }
  if (e.op == BinOpKind::kMod) throw InputError(e.where, "there is no `%` on data");
  ExprPtr lhs = data(e.children[0]);
  ExprPtr rhs = data(e.children[1]);
  unify(lhs, rhs);
  ScalarType type = lhs->type == ScalarType::kR ? rhs->type : lhs->type;
  return make_expr(BinOp{e.op, lhs, rhs}, type, e.where);
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
      const Entry* entry = lookup(e.name);
      return entry && is_data(entry->type.scalar);
    }
    case Kind::kAttribute:
      return is_data(config_field(e).second->type);
    case Kind::kNegate:
    case Kind::kBinary:
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
      throw InputError(e.where, quoted(e.name) + " has " +
                                    count(entry.type.shape.size(), "dimension") + ", but " +
                                    std::to_string(e.access.size()) + " are given");
    }
    for (size_t k = 0; k < e.access.size(); ++k) {
      const SyntaxExpr::Access& a = e.access[k];
      WindowAccess access;
      access.lo = a.lo.empty() ? int_const(0) : integer(a.lo[0]);
      if (a.range) access.hi = a.hi.empty() ? entry.type.shape[k] : integer(a.hi[0]);
      w.access.push_back(std::move(access));
    }
  }
  return make_expr(std::move(w), entry.type.scalar, e.where);
}

}  // namespace exotune
