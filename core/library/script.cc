#include "core/library/script.h"

#include <algorithm>

#include "core/base/words.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/cursor_methods.h"
#include "core/library/script_parts.h"

namespace exotune {
namespace {

using Kind = ScheduleExpr::Kind;

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  if (word.size() > 64) return "";
  std::string near = nearest(word, names);
  return near.empty() ? "" : "did you mean " + quoted(near) + "?";
}

const Method* find_method(const std::vector<Method>& table, const std::string& name) {
  for (const Method& m : table)
    if (m.name == name) return &m;
  return nullptr;
}

// The proc that a result starts with, or null.
ProcPtr first_proc(const Value& v) {
  if (const ProcPtr* p = v.as<ProcPtr>()) return *p;
  if (const ValueList* l = v.as<ValueList>(); l && !l->empty()) {
    if (const ProcPtr* p = (*l)[0].as<ProcPtr>()) return *p;
  }
  return nullptr;
}

// Is `from` among what `p` was made from? Along the chain of parents, which is as long as the
// schedule.
bool descends(const ProcPtr& p, const ProcPtr& from) {
  const Proc* at = p.get();
  while (at && at != from.get()) {
    const Provenance* how = provenance_of(*at);
    at = how ? how->parent.get() : nullptr;
  }
  return at != nullptr;
}

// One run of one script. Values are bound by name; `p` is special: it is the procedure at hand,
// which operators take when none is given, and the result in the end. An operator that refuses
// throws, and the evaluator adds what it knows: the line, the stack of operators, the procedure as
// it stood.
class Evaluator {
 public:
  Evaluator(const ScheduleAst& script, const ScriptEnvironment& environment)
      : script_(script), env_(environment) {
    if (env_.start) bind("p", env_.start);
    constraints_ = env_.constraints;
  }

  ScriptResult run() {
    ScriptResult result;
    for (const ScheduleStmt& s : script_.stmts) {
      statement_ = &s;
      outermost_.clear();
      ProcPtr before = current_;
      Value v = eval(s.value);
      ProcPtr made = first_proc(v);
      assign(s.target, std::move(v));
      const bool own_name = s.target.kind == Kind::kName && s.target.text != "p";
      if (own_name && !outermost_.empty() && made && made != current_) made_beside_ = s.target.text;
      if (env_.after_step && made && made != before && !outermost_.empty()) {
        env_.after_step(s.where, made);
      }
      result.lines.push_back({s.where, s.text, outermost_, before, current_});
    }
    if (!current_) {
      SourceLocation where{std::make_shared<const std::string>(script_.file), 1, 1};
      throw InputError(where, "the script binds no procedure to `p`",
                       "start with `p = NAME`, a procedure of the .exo file");
    }
    if (env_.enforce) enforce();
    if (std::string w = unchanged(result); !w.empty()) result.warnings.push_back(std::move(w));
    result.proc = current_;
    result.constraints = std::move(constraints_);
    result.bindings = std::move(bindings_);
    return result;
  }

 private:
  // The classic mistake of schedules as values: `q = divide_loop(p, ...)` and nothing after it. Not
  // an error, since a script may look at what it does not use; but said.
  // No operator changed `p`, and one made a proc under another name: what is said of it.
  std::string unchanged(const ScriptResult& result) const {
    if (made_beside_.empty()) return "";
    const auto given = env_.names.find(current_->name);
    const bool as_it_was = current_ == env_.start ||
                           (given != env_.names.end() && first_proc(given->second) == current_);
    if (!as_it_was) return "";
    const SourceLocation& where = result.lines.front().where;
    return where.str() + ": warning: this script never changes `p`, which is its result: `" +
           current_->name + "` as it was\nhint: `" + made_beside_ +
           "` is what it made: end with `p = " + made_beside_ + "`\n";
  }

  // Constraints are looked at once, when the script is over: a step in between may well break what
  // a later one restores.
  void enforce() const {
    for (const ScriptConstraint& c : constraints_) {
      const std::string why = broken_by_result(c, current_);
      if (!why.empty())
        throw SchedulingError(Diagnostic{c.where, quoted(c.kind) + " is not kept: " + why, {}, {}});
    }
  }

  // Adds a constraint. One on instructions changes what `instrs` means from here on (and each list
  // of other vectors), for the script's own calls and for the searches it starts alike.
  void constrain(ScriptConstraint c) {
    constraints_.push_back(std::move(c));
    for (const auto& [name, given] : env_.names) {
      if (name.rfind(kInstructionList, 0) != 0) continue;
      const auto own = bindings_.find(name);
      const ValueList* list = (own != bindings_.end() ? own->second : given).as<ValueList>();
      if (list) bindings_[name] = Value(allowed_instructions(*list, constraints_));
    }
  }

  // Results that are tuples bring their procedure first; a script that writes `p = f(p)` for such
  // an operator means that one.
  void bind(const std::string& name, Value v) {
    if (name == "p") {
      if (ProcPtr p = first_proc(v)) {
        current_ = p;
        v = std::move(p);
      }
    }
    bindings_[name] = std::move(v);
  }

  // Unpacking as in Python, nested too; a record (loops by name) unpacks in the order of its
  // fields.
  void assign(const ScheduleExpr& target, Value v) {
    if (target.kind == Kind::kNone) return;
    if (target.kind == Kind::kName) {
      if (find_operator(target.text)) {
        throw InputError(target.where,
                         quoted(target.text) + " is an operator and cannot be a variable");
      }
      return bind(target.text, std::move(v));
    }
    if (v.as<std::map<std::string, Value>>()) v = fields_in_order(v);
    const ValueList* list = v.as<ValueList>();
    if (!list) throw InputError(target.where, "this value is no tuple and cannot be unpacked");
    if (list->size() != target.children.size()) {
      throw InputError(target.where, "this value has " + std::to_string(list->size()) +
                                         " parts, but " + std::to_string(target.children.size()) +
                                         " names are given");
    }
    for (size_t k = 0; k < list->size(); ++k) assign(target.children[k], (*list)[k]);
  }

  // Expressions of scripts have no side effects but their operators': evaluation order is left to
  // right, as in Python.
  Value eval(const ScheduleExpr& e) {
    switch (e.kind) {
      case Kind::kNone:
        return Value();
      case Kind::kBool:
        return e.boolean;
      case Kind::kInt:
        return e.integer;
      case Kind::kFloat:
        return e.number;
      case Kind::kString:
        return e.text;
      case Kind::kName:
        return name(e);
      case Kind::kList:
      case Kind::kTuple: {
        ValueList list;
        for (const ScheduleExpr& c : e.children) list.push_back(eval(c));
        return list;
      }
      case Kind::kCall:
        return call(e);
      case Kind::kAttribute:
        return located(e, "", [&] {
          Value object = eval(e.children[0]);
          const std::vector<Method>* methods = methods_of(object);
          if (methods && find_method(*methods, e.text)) {
            throw InputError(e.where, quoted(e.text) + " is a method",
                             "write " + quoted(e.text + "()"));
          }
          return attribute(object, e.text);
        });
      case Kind::kSubscript:
      case Kind::kSlice:
        return located(e, "", [&] { return subscript(e); });
      case Kind::kNegate: {
        Value v = eval(e.children[0]);
        if (const int64_t* i = v.as<int64_t>(); i && *i != INT64_MIN) return -*i;
        if (const double* d = v.as<double>()) return -*d;
        throw InputError(e.where, "only numbers are negated");
      }
      case Kind::kBinary:
        return binary(e);
    }
    EXO_CHECK(false);
  }

  // Own names before the environment's, so a script may shadow a procedure of its file; a precision
  // stands for itself (its name as a string); operators are no values.
  Value name(const ScheduleExpr& e) {
    if (auto it = bindings_.find(e.text); it != bindings_.end()) return it->second;
    if (auto it = env_.names.find(e.text); it != env_.names.end()) return it->second;
    if (std::optional<ScalarType> t = scalar_type(e.text); t && is_data(*t)) return e.text;
    if (find_operator(e.text)) {
      throw InputError(e.where, quoted(e.text) + " is an operator",
                       "call it: " + quoted(find_operator(e.text)->signature()));
    }
    std::vector<std::string> names;
    for (const auto& [n, v] : bindings_) names.push_back(n);
    for (const auto& [n, v] : env_.names) names.push_back(n);
    throw InputError(e.where, "nothing is named " + quoted(e.text), did_you_mean(e.text, names));
  }

  Value binary(const ScheduleExpr& e) {
    const Value a = eval(e.children[0]), b = eval(e.children[1]);
    return script_binary(e.text, a, b, e.where);
  }

  // Blocks and lists alike, negative indices from the end. A part of a block is a block cursor; an
  // empty one would point nowhere, so it is refused where Python would give an empty list.
  Value subscript(const ScheduleExpr& e) {
    Value object = eval(e.children[0]);
    const ValueList* list = object.as<ValueList>();
    const Cursor* block = object.as<Cursor>();
    if (!list && !(block && block->valid())) {
      throw InputError(e.where, "only blocks and lists have elements");
    }
    const int64_t size =
        list ? static_cast<int64_t>(list->size())
             : (block->kind() == CursorKind::kBlock || block->kind() == CursorKind::kStmt
                    ? block->length()
                    : throw InvalidCursorError("only a block has statements to choose from"));
    auto index = [&](const ScheduleExpr& at, int64_t absent) {
      if (at.kind == Kind::kNone) return absent;
      Value v = eval(at);
      const int64_t* k = v.as<int64_t>();
      if (!k) throw InputError(at.where, "an index is an integer");
      return *k < 0 && *k >= -size ? *k + size : *k;
    };
    if (e.kind == Kind::kSubscript) {
      int64_t k = index(e.children[1], 0);
      if (k < 0 || k >= size) {
        throw InputError(e.where, "there are " + std::to_string(size) + ", numbered from 0");
      }
      return list ? (*list)[static_cast<size_t>(k)] : Value((*block)[static_cast<int>(k)]);
    }
    int64_t lo = std::clamp<int64_t>(index(e.children[1], 0), 0, size);
    int64_t hi = std::clamp<int64_t>(index(e.children[2], size), lo, size);
    if (list) return ValueList(list->begin() + lo, list->begin() + hi);
    if (lo == hi) throw InputError(e.where, "an empty part of a block");
    return Cursor::block(block->proc(), (*block)[static_cast<int>(lo)].path(),
                         static_cast<int>(hi - lo));
  }

  static const std::vector<Method>* methods_of(const Value& v) {
    if (v.as<Cursor>()) return &cursor_methods();
    if (v.as<ProcPtr>()) return &proc_methods();
    return nullptr;
  }

  // Methods are calls whose first argument stands before the dot; procedures cannot be called,
  // since a script makes programs and does not run them.
  Value call(const ScheduleExpr& e) {
    const ScheduleExpr& callee = e.children[0];
    if (callee.kind == Kind::kAttribute) return method(e, callee);
    if (callee.kind != Kind::kName) throw InputError(callee.where, "this cannot be called");
    const Operator* op = find_operator(callee.text);
    if (!op) {
      if (bindings_.count(callee.text) || env_.names.count(callee.text)) {
        throw InputError(callee.where, quoted(callee.text) + " is no operator",
                         "procedures are scheduled by a script, not called");
      }
      std::vector<std::string> names;
      for (const Operator& o : operator_table()) names.push_back(o.name);
      throw InputError(callee.where, "there is no operator " + quoted(callee.text),
                       did_you_mean(callee.text, names));
    }
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> keyword;
    arguments(e, positional, keyword);
    step(e);
    outermost_ = op->name;
    return located(
        e, op->name, [&] { return apply(*op, e, positional, keyword, e.where); }, &positional);
  }

  // Constraints are checked before the operator runs, so that the refusal names the line of the
  // script that the constraint speaks of, not what the operator did.
  // An operator of the table; the search and its constraints are the evaluator's own.
  Value apply(const Operator& op, const ScheduleExpr& e, const std::vector<Value>& positional,
              const std::vector<std::pair<std::string, Value>>& keyword,
              const SourceLocation& where) {
    if (op.role == OperatorRole::kConstraint) {
      constrain(make_constraint(op.name, current_, positional, keyword, where, constraints_));
      return constraints_.back().proc;
    }
    const std::string broken = broken_by_call(op.name, positional, keyword, constraints_);
    if (!broken.empty()) throw SchedulingError(broken, {}, "the constraint `tiles` says so");
    if (op.role == OperatorRole::kHole && env_.search)
      return env_.search(script_hole(positional, keyword, constraints_, e.where));
    return call_operator(op, positional, keyword, where, target_defaults());
  }

  // What operators on vectors take when it is not given: the registers and instructions in sight.
  std::map<std::string, Value> target_defaults() const {
    std::map<std::string, Value> out;
    auto visible = [&](const std::string& name) -> const Value* {
      if (const auto own = bindings_.find(name); own != bindings_.end()) return &own->second;
      const auto given = env_.names.find(name);
      return given == env_.names.end() ? nullptr : &given->second;
    };
    if (const Value* instrs = visible("instrs"); instrs && instrs->as<ValueList>())
      out.emplace("instructions", *instrs);
    if (const Value* machine = visible("machine"); machine && machine->as<MemoryPtr>()) {
      out.emplace("mem_type", *machine);
      out.emplace("machine", *machine);
    }
    return out;
  }

  Value method(const ScheduleExpr& e, const ScheduleExpr& callee) {
    Value object = eval(callee.children[0]);
    const std::vector<Method>* methods = methods_of(object);
    if (!methods) throw InputError(callee.where, "this value has no methods");
    std::vector<Value> positional{std::move(object)};
    std::vector<std::pair<std::string, Value>> keyword;
    const Method* m = find_method(*methods, callee.text);
    if (!m && positional[0].as<ProcPtr>()) m = find_operator(callee.text);  // p.partial_eval(M=6)
    if (!m) {
      std::vector<std::string> names;
      for (const Method& o : *methods) names.push_back(o.name);
      throw InputError(callee.where, "there is no method " + quoted(callee.text),
                       did_you_mean(callee.text, names));
    }
    arguments(e, positional, keyword);
    step(e);
    if (const Cursor* c = positional[0].as<Cursor>())
      located(callee, callee.text, [&] { return require_alive(*c); });
    const bool is_operator = m == find_operator(callee.text);
    if (is_operator) outermost_ = m->name;
    // Where it is called is clearer from the method's name than from the start of the chain.
    return located(
        callee, callee.text,
        [&] {
          return is_operator ? apply(*m, callee, positional, keyword, callee.where)
                             : call_operator(*m, positional, keyword, callee.where);
        },
        &positional);
  }

  // A cursor to what the current proc no longer has is of no use, whatever it was made from.
  Value require_alive(const Cursor& c) const {
    if (!c.valid() || !current_ || c.proc() == current_ || !descends(current_, c.proc())) return {};
    if (!forward(current_, c).valid())
      throw InvalidCursorError("what the cursor pointed at, " + quoted(c.describe()) + ", is gone");
    return {};
  }

  void arguments(const ScheduleExpr& e, std::vector<Value>& positional,
                 std::vector<std::pair<std::string, Value>>& keyword) {
    for (size_t k = 1; k < e.children.size(); ++k) positional.push_back(eval(e.children[k]));
    for (const ScheduleExpr::Keyword& k : e.keywords) keyword.emplace_back(k.name, eval(k.value));
  }

  void step(const ScheduleExpr& e) {
    if (++steps_ > env_.max_steps) throw InputError(e.where, "the script takes too many steps");
  }

  // Runs `f`; what it throws gets the script's line, the operator, and the proc as it stood.
  template <class F>
  Value located(const ScheduleExpr& e, const std::string& op, F f,
                const std::vector<Value>* args = nullptr) {
    try {
      return f();
    } catch (Error& error) {
      Diagnostic& d = error.diagnostic();
      // What an inner call has placed stays. A place in object code stays, too, with a note of
      // ours.
      bool placed = d.where.known() && d.where.file;
      if (noted_ || (placed && *d.where.file == script_.file)) throw;
      noted_ = true;
      std::vector<LazyText> notes;
      if (!op.empty()) {
        notes.emplace_back("in " + quoted(op) + (placed ? " at " + e.where.str() : "") + ": " +
                           statement_->text);
      }
      if (d.where.known() && !placed) {
        notes.emplace_back("at column " + std::to_string(d.where.column) +
                           " of the pattern or expression");
      }
      notes.insert(notes.end(), d.notes.begin(), d.notes.end());
      ProcPtr stood =
          args && !args->empty() && (*args)[0].as<ProcPtr>() ? *(*args)[0].as<ProcPtr>() : current_;
      bool refused = error.exit_code() == ExitCode::kInput && stood;
      if (refused) {
        notes.emplace_back([stood] { return "the procedure as it stood:\n" + str(*stood); });
      }
      if (!placed) d.where = e.where;
      d.notes = std::move(notes);
      throw;
    }
  }

  const ScheduleAst& script_;
  const ScriptEnvironment& env_;
  std::map<std::string, Value> bindings_;
  ProcPtr current_;
  const ScheduleStmt* statement_ = nullptr;
  std::string outermost_;
  std::string made_beside_;  // the last name but `p` that an operator's proc was given
  std::vector<ScriptConstraint> constraints_;
  int steps_ = 0;
  bool noted_ = false;  // the error on its way out has its notes
};

}  // namespace

ScriptResult run_script(const ScheduleAst& script, const ScriptEnvironment& environment) {
  return Evaluator(script, environment).run();
}

ScriptResult run_script(std::string_view text, const std::string& file,
                        const ScriptEnvironment& environment) {
  return run_script(parse_schedule(text, file), environment);
}

}  // namespace exotune
