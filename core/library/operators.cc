// Binding arguments to parameters: counts, keywords, defaults, kinds.
#include "core/library/operators.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/words.h"
#include "core/frontend/lexer.h"
#include "core/frontend/parser.h"
#include "core/library/operator_rows.h"

namespace exotune {
namespace {

// Names that an operator introduces must print and parse again: traces are scripts.
bool is_identifier(const std::string& s) {
  if (s.empty() || s == "_" || is_keyword(s)) return false;
  for (size_t k = 0; k < s.size(); ++k) {
    char c = s[k];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (k == 0 || c < '0' || c > '9')) return false;
  }
  return true;
}

// Lists of names may come as one string, 'io ii', which reads better in a schedule than a list of
// strings.
std::vector<std::string> words(const std::string& s) {
  std::vector<std::string> out;
  for (size_t at = 0; at < s.size();) {
    size_t start = s.find_first_not_of(" ,", at);
    if (start == std::string::npos) break;
    at = std::min(s.find_first_of(" ,", start), s.size());
    out.push_back(s.substr(start, at - start));
  }
  return out;
}

const char* describe(const Value& v) {
  struct Visitor {
    const char* operator()(std::monostate) { return "None"; }
    const char* operator()(bool) { return "a truth value"; }
    const char* operator()(int64_t) { return "an integer"; }
    const char* operator()(double) { return "a float"; }
    const char* operator()(const std::string&) { return "a string"; }
    const char* operator()(const Value::SharedList&) { return "a list"; }
    const char* operator()(const ProcPtr&) { return "a procedure"; }
    const char* operator()(const Cursor&) { return "a cursor"; }
    const char* operator()(const MemoryPtr&) { return "a memory"; }
    const char* operator()(const ConfigPtr&) { return "a configuration"; }
    const char* operator()(const std::map<std::string, Value>&) { return "a record"; }
  };
  return std::visit(Visitor{}, v.node());
}

// A list of procedures alone: nothing is to be joined or converted.
bool are_procs(const Value& v) {
  const ValueList* list = v.as<ValueList>();
  return list && std::all_of(list->begin(), list->end(), [](const Value& e) {
           const ProcPtr* p = e.as<ProcPtr>();
           return p && *p;
         });
}

// The kind of a list's elements; kAny when `k` is no list.
ParamKind element_of(ParamKind k) {
  switch (k) {
    case ParamKind::kProcs:
      return ParamKind::kProc;
    case ParamKind::kPlaces:
      return ParamKind::kPlace;
    case ParamKind::kIntegers:
      return ParamKind::kInteger;
    case ParamKind::kStrings:
      return ParamKind::kString;
    case ParamKind::kNames:
      return ParamKind::kName;
    case ParamKind::kExprs:
      return ParamKind::kExpr;
    default:
      return ParamKind::kAny;
  }
}

// Conversions lose nothing and are few: a single element where a list is wanted, an integer where a
// number or an expression is, a string of words where names are. All else is refused, since a guess
// here would make a schedule mean something its author did not say.
// Brings `v` into the form that OperatorArgs promises; false when it is of another kind.
bool convert(ParamKind kind, Value& v) {
  switch (kind) {
    case ParamKind::kProc:
      return v.as<ProcPtr>() && *v.as<ProcPtr>();
    case ParamKind::kPlace:
      return v.as<Cursor>() || v.as<std::string>();
    case ParamKind::kCursor:
      return v.as<Cursor>() != nullptr;
    case ParamKind::kInteger:
      return v.as<int64_t>() != nullptr;
    case ParamKind::kNumber:
      if (const int64_t* i = v.as<int64_t>()) v = static_cast<double>(*i);
      return v.as<double>() != nullptr;
    case ParamKind::kBoolean:
      return v.as<bool>() != nullptr;
    case ParamKind::kString:
      return v.as<std::string>() != nullptr;
    case ParamKind::kName:
      return v.as<std::string>() && is_identifier(*v.as<std::string>());
    case ParamKind::kExpr:
      if (const int64_t* i = v.as<int64_t>()) v = std::to_string(*i);
      return v.as<std::string>() != nullptr;
    case ParamKind::kMemory:
      return v.as<MemoryPtr>() != nullptr;
    case ParamKind::kConfig:
      return v.as<ConfigPtr>() != nullptr;
    case ParamKind::kPrecision: {
      const std::string* s = v.as<std::string>();
      std::optional<ScalarType> t = s ? scalar_type(*s) : std::nullopt;
      return t && is_data(*t);
    }
    case ParamKind::kProcs:
    case ParamKind::kPlaces:
    case ParamKind::kIntegers:
    case ParamKind::kStrings:
    case ParamKind::kNames:
    case ParamKind::kExprs: {
      const std::string* s = v.as<std::string>();
      // The list of a target's instructions has hundreds of entries and is passed with every step
      // of a search: when nothing has to be converted, the shared list is handed on instead of
      // copied.
      if (kind == ParamKind::kProcs && are_procs(v)) return true;  // shared as it is
      bool split = s && (kind == ParamKind::kStrings || kind == ParamKind::kNames);
      ValueList list;
      if (split) {
        for (std::string& w : words(*s)) list.push_back(std::move(w));
      } else if (const ValueList* l = v.as<ValueList>()) {
        for (const Value& e : *l) {
          const ValueList* nested = kind == ParamKind::kProcs ? e.as<ValueList>() : nullptr;
          if (nested)
            list.insert(list.end(), nested->begin(), nested->end());
          else
            list.push_back(e);
        }
      } else {
        list.push_back(v);
      }
      for (Value& e : list)
        if (!convert(element_of(kind), e)) return false;
      v = std::move(list);
      return true;
    }
    case ParamKind::kKeywords:
    case ParamKind::kAny:
      return true;
  }
  return false;
}

std::string parameters(const Operator& op) { return "its form is " + op.signature(); }

}  // namespace

// --- the table --------------------------------------------------------------------------------

std::vector<Operator> library_operators() { return joined(kLibraryRows); }

// Assembled once: primitives, library, search, then the forms that Exo 2's library spells
// differently, which become alternatives of the operator of their name. Sorted by name, so that
// `list operators`, docs and errors agree on an order. Function-local statics are initialised by
// one thread, then only read.
const std::vector<Operator>& operator_table() {
  static const std::vector<Operator> table = [] {
    std::vector<Operator> all = primitive_operators();
    for (auto rows : {library_operators, search_operators})
      for (Operator& op : rows()) all.push_back(std::move(op));
    for (Operator& op : exo2_forms()) {
      const auto known = std::find_if(all.begin(), all.end(),
                                      [&](const Operator& o) { return o.name == op.name; });
      if (known == all.end())
        all.push_back(std::move(op));
      else
        known->others.push_back({std::move(op.params), std::move(op.run)});
    }
    std::sort(all.begin(), all.end(),
              [](const Operator& a, const Operator& b) { return a.name < b.name; });
    return all;
  }();
  return table;
}

const Operator* find_operator(const std::string& name) {
  static const std::unordered_map<std::string, const Operator*> index = [] {
    std::unordered_map<std::string, const Operator*> out;
    for (const Operator& op : operator_table()) out.emplace(op.name, &op);
    return out;
  }();
  auto it = index.find(name);
  return it == index.end() ? nullptr : it->second;
}

namespace {

// Binding follows Python: by position, then by keyword, then defaults; `defaults` are the target's,
// which stand behind what the call says and before the row's own.
// The arguments in the order of `ps`; InputError where they do not fit.
std::vector<Value> bound(const Operator& op, const std::vector<Param>& ps,
                         const std::vector<Value>& positional,
                         const std::vector<std::pair<std::string, Value>>& keyword,
                         const SourceLocation& where,
                         const std::map<std::string, Value>& defaults) {
  auto refuse = [&](std::string message) {
    throw InputError(Diagnostic{where, std::move(message), {}, parameters(op)});
  };
  std::optional<size_t> rest;
  if (!ps.empty() && ps.back().kind == ParamKind::kKeywords) rest = ps.size() - 1;
  const size_t most = rest ? *rest : ps.size();
  if (positional.size() > most) {
    refuse(quoted(op.name) + " takes " + (most == ps.size() ? "" : "at most ") +
           std::to_string(most) + " arguments by position, not " +
           std::to_string(positional.size()));
  }
  std::vector<std::optional<Value>> given(positional.begin(), positional.end());
  given.resize(ps.size());
  std::map<std::string, Value> others;
  for (const auto& [name, value] : keyword) {
    auto it = std::find_if(ps.begin(), ps.end(),
                           [&wanted = name](const Param& p) { return p.name == wanted; });
    size_t k = static_cast<size_t>(it - ps.begin());
    if (it == ps.end() || (rest && k == *rest)) {
      if (rest) {
        others.emplace(name, value);
        continue;
      }
      std::vector<std::string> names;
      for (const Param& p : ps) names.push_back(p.name);
      std::string near = name.size() > 64 ? "" : nearest(name, names);
      refuse(quoted(op.name) + " has no parameter " + quoted(name) +
             (near.empty() ? "" : "; did you mean " + quoted(near) + "?"));
    }
    if (given[k]) refuse(quoted(name) + " is given twice");
    given[k] = value;
  }
  std::vector<Value> values;
  values.reserve(ps.size());
  for (size_t k = 0; k < ps.size(); ++k) {
    if (rest && k == *rest) {
      values.emplace_back(std::move(others));
      continue;
    }
    if (!given[k] && ps[k].fallback) given[k] = *ps[k].fallback;
    if (const auto found = defaults.find(ps[k].name); !given[k] && found != defaults.end())
      given[k] = found->second;
    if (!given[k])
      refuse(quoted(op.name) + " needs " + quoted(ps[k].name) + ", " + name_of(ps[k].kind));
    Value v = std::move(*given[k]);
    if (const ValueList* several = k ? nullptr : v.as<ValueList>();  // of p, cursors: p
        several && !several->empty() && several->front().as<ProcPtr>())
      v = Value(several->front());
    bool none = v.is_none() && ps[k].fallback && ps[k].fallback->is_none();
    if (!none && !convert(ps[k].kind, v)) {
      refuse(quoted(ps[k].name) + " of " + quoted(op.name) + " must be " + name_of(ps[k].kind) +
             ", not " + (v.as<std::string>() ? v.str() : std::string(describe(v))));
    }
    if (const Cursor* c = v.as<Cursor>(); c && !c->valid()) {
      throw InvalidCursorError("the target of cursor " + quoted(ps[k].name) + " is gone",
                               "an earlier step removed or rebuilt it: find it again");
    }
    values.push_back(std::move(v));
  }
  return values;
}

}  // namespace

Value call_operator(const Operator& op, const std::vector<Value>& positional,
                    const std::vector<std::pair<std::string, Value>>& keyword,
                    const SourceLocation& where, const std::map<std::string, Value>& defaults) {
  const std::function<Value(const OperatorArgs&)>* run = &op.run;
  std::vector<Value> values;
  try {
    values = bound(op, op.params, positional, keyword, where, defaults);
  } catch (const InputError&) {
    run = nullptr;
    for (const OperatorForm& form : op.others) {
      try {
        values = bound(op, form.params, positional, keyword, where, defaults);
      } catch (const InputError&) {
        continue;
      }
      run = &form.run;
      break;
    }
    if (!run) throw;  // as it does not fit the first form
  }
  return (*run)(OperatorArgs(std::move(values)));
}

Value call_operator(const std::string& name, const std::vector<Value>& args) {
  const Operator* op = find_operator(name);
  if (!op) {
    std::vector<std::string> names;
    for (const Operator& o : operator_table()) names.push_back(o.name);
    std::string near = name.size() > 64 ? "" : nearest(name, names);
    throw InputError({}, "there is no operator " + quoted(name),
                     near.empty() ? "" : "did you mean " + quoted(near) + "?");
  }
  return call_operator(*op, args);
}

}  // namespace exotune
