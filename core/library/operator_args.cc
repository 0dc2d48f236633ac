// Parameters of an operator's row, and the arguments as its function asks for them.
#include <algorithm>
#include <unordered_map>

#include "core/base/words.h"
#include "core/frontend/lexer.h"
#include "core/frontend/parser.h"
#include "core/library/operators.h"

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

}  // namespace exotune
