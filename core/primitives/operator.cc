#include "core/primitives/operator.h"

#include <algorithm>

#include "core/base/words.h"
#include "core/frontend/parser.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

// --- parameters -------------------------------------------------------------------------------

// One function a kind, so that a row of the table reads like a signature: place("loop"),
// integer("factor").
namespace params {
#define EXO_PARAM(function, kind)                                   \
  Param function(std::string name, std::optional<Value> fallback) { \
    return {std::move(name), ParamKind::kind, std::move(fallback)}; \
  }
EXO_PARAM(place, kPlace)
EXO_PARAM(places, kPlaces)
EXO_PARAM(integer, kInteger)
EXO_PARAM(integers, kIntegers)
EXO_PARAM(number, kNumber)
EXO_PARAM(boolean, kBoolean)
EXO_PARAM(string, kString)
EXO_PARAM(strings, kStrings)
EXO_PARAM(new_name, kName)
EXO_PARAM(new_names, kNames)
EXO_PARAM(expression, kExpr)
EXO_PARAM(expressions, kExprs)
EXO_PARAM(memory, kMemory)
EXO_PARAM(precision, kPrecision)
EXO_PARAM(any, kAny)
#undef EXO_PARAM
Param proc(std::string name) { return {std::move(name), ParamKind::kProc, {}}; }
Param procs(std::string name) { return {std::move(name), ParamKind::kProcs, {}}; }
Param cursor(std::string name) { return {std::move(name), ParamKind::kCursor, {}}; }
Param config(std::string name) { return {std::move(name), ParamKind::kConfig, {}}; }
Param keywords(std::string name) {
  return {std::move(name), ParamKind::kKeywords, Value(std::map<std::string, Value>{})};
}
}  // namespace params

// --- arguments --------------------------------------------------------------------------------

// Accessors trust that `bound` and `convert` were there first: kinds are settled by then.
ProcPtr OperatorArgs::proc(int k) const { return *(*this)[k].as<ProcPtr>(); }

std::vector<ProcPtr> OperatorArgs::procs(int k) const {
  std::vector<ProcPtr> out;
  for (const Value& v : *(*this)[k].as<ValueList>()) out.push_back(*v.as<ProcPtr>());
  return out;
}

namespace {
Where where_of(const Value& v) {
  if (const Cursor* c = v.as<Cursor>()) return Where(*c);
  return Where(*v.as<std::string>());
}
}  // namespace

Where OperatorArgs::where(int k) const { return where_of((*this)[k]); }

std::vector<Where> OperatorArgs::places(int k) const {
  std::vector<Where> out;
  for (const Value& v : *(*this)[k].as<ValueList>()) out.push_back(where_of(v));
  return out;
}

// A cursor is forwarded to the procedure at hand: scripts keep cursors over many steps.
Cursor OperatorArgs::cursor(int k) const {
  if (const Cursor* c = (*this)[k].as<Cursor>()) return forward(proc(), *c);
  return find(proc(), *(*this)[k].as<std::string>());
}

int64_t OperatorArgs::integer(int k) const { return *(*this)[k].as<int64_t>(); }

// For counts and sizes that operators loop over: a million is beyond any sensible use, and far from
// where an int would overflow in arithmetic.
int OperatorArgs::small(int k) const {
  constexpr int64_t kMost = 1'000'000;
  int64_t v = integer(k);
  if (v < -kMost || v > kMost) {
    throw InputError({}, std::to_string(v) + " is out of range here");
  }
  return static_cast<int>(v);
}

std::vector<int64_t> OperatorArgs::integers(int k) const {
  std::vector<int64_t> out;
  for (const Value& v : *(*this)[k].as<ValueList>()) out.push_back(*v.as<int64_t>());
  return out;
}

double OperatorArgs::number(int k) const { return *(*this)[k].as<double>(); }
bool OperatorArgs::boolean(int k) const { return *(*this)[k].as<bool>(); }
const std::string& OperatorArgs::string(int k) const { return *(*this)[k].as<std::string>(); }

std::vector<std::string> OperatorArgs::strings(int k) const {
  std::vector<std::string> out;
  for (const Value& v : *(*this)[k].as<ValueList>()) out.push_back(*v.as<std::string>());
  return out;
}

MemoryPtr OperatorArgs::memory(int k) const { return *(*this)[k].as<MemoryPtr>(); }
ConfigPtr OperatorArgs::config(int k) const { return *(*this)[k].as<ConfigPtr>(); }
ScalarType OperatorArgs::precision(int k) const { return *scalar_type(string(k)); }
std::string OperatorArgs::text(int k) const { return string(k); }

// Expressions are parsed where they will stand: the names in sight at `at` are what they may use.
ExprPtr OperatorArgs::expr(int k, const Path& at) const {
  return parse_expr_at(proc(), at, string(k));
}
// Also configuration fields: which configurations exist is known from the procedure and the call
// alone, since scripts have no list of them at hand.
ExprPtr OperatorArgs::any_expr(int k, const Path& at) const {
  std::map<std::string, ConfigPtr> configs;  // those that the proc or this call mentions
  std::function<void(const ExprPtr&)> look = [&](const ExprPtr& e) {
    if (const ReadConfig* r = e->as<ReadConfig>()) configs[r->config->name] = r->config;
    for (const ExprPtr& c : expr_children(*e)) look(c);
  };
  for_each_expr(proc()->body, look);
  for_each_stmt(proc()->body, [&](const StmtPtr& s) {
    if (const WriteConfig* w = s->as<WriteConfig>()) configs[w->config->name] = w->config;
  });
  for (const Value& v : values_)
    if (const ConfigPtr* c = v.as<ConfigPtr>(); c && *c) configs[(*c)->name] = *c;
  return parse_expr(string(k), scope_at(*proc(), stmt_part(at)), configs);
}

std::vector<std::pair<std::string, int64_t>> OperatorArgs::keywords(int k) const {
  std::vector<std::pair<std::string, int64_t>> out;
  for (const auto& [name, v] : *(*this)[k].as<std::map<std::string, Value>>()) {
    const bool* flag = v.as<bool>();
    if (!flag && !v.as<int64_t>()) throw InputError({}, quoted(name) + " must be an integer");
    out.emplace_back(name, flag ? int64_t{*flag} : *v.as<int64_t>());
  }
  return out;
}

// --- rows -----------------------------------------------------------------------------------

std::string Operator::signature() const {
  std::string out = name + "(";
  for (size_t k = 0; k < params.size(); ++k) {
    const Param& p = params[k];
    if (k) out += ", ";
    out += p.kind == ParamKind::kKeywords ? "**" + p.name : p.name;
    if (p.fallback && p.kind != ParamKind::kKeywords) out += "=" + p.fallback->str();
  }
  return out + ")";
}

Operator in_cpp(std::string function, Operator row) {
  row.function = std::move(function);
  return row;
}

const char* name_of(ParamKind k) {
  switch (k) {
    case ParamKind::kProc:
      return "a procedure";
    case ParamKind::kProcs:
      return "a list of procedures";
    case ParamKind::kPlace:
      return "a cursor or a pattern";
    case ParamKind::kPlaces:
      return "a list of cursors or patterns";
    case ParamKind::kCursor:
      return "a cursor";
    case ParamKind::kInteger:
      return "an integer";
    case ParamKind::kIntegers:
      return "a list of integers";
    case ParamKind::kNumber:
      return "a number";
    case ParamKind::kBoolean:
      return "True or False";
    case ParamKind::kString:
      return "a string";
    case ParamKind::kStrings:
      return "a list of strings";
    case ParamKind::kName:
      return "a new name (letters, digits and _, no keyword)";
    case ParamKind::kNames:
      return "a list of new names (letters, digits and _, no keyword)";
    case ParamKind::kExpr:
      return "an integer or an expression as a string";
    case ParamKind::kExprs:
      return "a list of expressions as strings";
    case ParamKind::kMemory:
      return "a memory";
    case ParamKind::kConfig:
      return "a configuration";
    case ParamKind::kPrecision:
      return "a precision ('f32', 'i8', ...)";
    case ParamKind::kKeywords:
      return "name=integer";
    case ParamKind::kAny:
      return "a value";
  }
  return "a value";
}

Tail loop_tail(const std::string& t) {
  if (t == "perfect") return Tail::kPerfect;
  if (t == "guard") return Tail::kGuard;
  if (t == "cut") return Tail::kCut;
  if (t == "cut_and_guard") return Tail::kCutAndGuard;
  if (t == "short") return Tail::kShort;
  throw InputError({}, "there is no tail '" + t + "'",
                   "tails are 'perfect', 'guard', 'cut', 'cut_and_guard' and 'short'");
}

std::string expression_text(const Value& v) {
  if (const std::string* s = v.as<std::string>()) return *s;
  if (const int64_t* k = v.as<int64_t>()) return std::to_string(*k);
  throw InputError({}, v.str() + " is no expression", "give an integer or text");
}

std::vector<Operator> joined(std::span<OperatorRows* const> files) {
  std::vector<Operator> all;
  for (OperatorRows* const rows : files)
    for (Operator& op : rows()) all.push_back(std::move(op));
  return all;
}

std::vector<Operator> primitive_operators() { return joined(kPrimitiveRows); }

}  // namespace exotune
