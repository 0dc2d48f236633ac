// Changes to a proc as a whole: its name, what is known of its arguments, its role.
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/calls.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

ProcPtr rename_proc(ProcPtr p, const std::string& name) {
  require_name("rename", name);
  Rewrite rw(p);
  rw.set_header([&](Proc& q) { q.name = name; });
  return rw.finish("rename", {name});
}

ProcPtr partial_eval(ProcPtr p, const std::vector<std::pair<std::string, int64_t>>& values) {
  const char* op = "partial_eval";
  std::map<Sym, ExprPtr> known;
  std::map<std::string, Value> trace;
  for (const auto& [name, value] : values) {
    const Arg* arg = nullptr;
    for (const Arg& a : p->args)
      if (a.name.name() == name && is_control(a.type.scalar)) arg = &a;
    if (!arg) {
      std::vector<std::string> names;
      for (const Arg& a : p->args)
        if (is_control(a.type.scalar)) names.push_back(a.name.name());
      std::string near = nearest(name, names);
      refuse(op, "`" + name + "` is no control argument of `" + p->name + "`",
             near.empty() ? std::string() : "did you mean `" + near + "`?");
    }
    ExprPtr literal = int_const(value);
    if (arg->type.scalar == ScalarType::kSize && value <= 0)
      refuse(op, "the size `" + name + "` must be positive");
    if (arg->type.scalar == ScalarType::kBool) {
      if (value != 0 && value != 1) refuse(op, "`" + name + "` is a bool: 0 or 1");
      literal = bool_const(value == 1);
    }
    if (!known.emplace(arg->name, literal).second) refuse(op, "`" + name + "` is given twice");
    trace[name] = Value(value);
  }
  if (known.empty()) refuse(op, "no values given");
  auto apply = [&](ExprPtr e) {
    for (const auto& [s, v] : known) e = substitute(e, s, v);
    return e;
  };
  Block body = p->body;
  for (const auto& [s, v] : known) body = substitute(body, s, v);
  body = rewrite_stmts(body, [](const StmtPtr& s) -> std::optional<Block> {
    std::vector<ExprPtr> exprs = stmt_exprs(*s);
    bool changed = false;
    for (ExprPtr& e : exprs) {
      ExprPtr n = normalize(e);
      changed |= n != e;
      e = n;
    }
    if (!changed) return std::nullopt;
    return Block{with_exprs(s, exprs)};
  });
  Rewrite rw(p);
  rw.map_in_place(std::move(body));
  rw.set_header([&](Proc& q) {
    std::vector<Arg> args;
    for (Arg a : q.args) {
      if (known.count(a.name)) continue;
      for (ExprPtr& n : a.type.shape) n = normalize(apply(n));
      args.push_back(std::move(a));
    }
    q.args = std::move(args);
    std::vector<ExprPtr> asserts;
    for (const ExprPtr& a : q.asserts) {
      ExprPtr e = normalize(apply(a));
      const Const* c = e->as<Const>();
      const bool* decided = c ? std::get_if<bool>(&c->value) : nullptr;
      if (decided && !*decided) refuse(op, "the assert `" + str(a) + "` would be false");
      if (!decided) asserts.push_back(e);
    }
    q.asserts = std::move(asserts);
  });
  rw.flags.specializes = true;
  return rw.finish(op, {Value(std::move(trace))});
}

ProcPtr add_assertion(ProcPtr p, const ExprPtr& condition) {
  const char* op = "add_assertion";
  if (condition->type != ScalarType::kBool) refuse(op, "`" + str(condition) + "` is no condition");
  std::set<Sym> names;
  collect_symbols(condition, names);
  for (Sym s : names)
    if (!p->find_arg(s)) refuse(op, "`" + s.name() + "` is no argument of `" + p->name + "`");
  if (reads_config(condition)) refuse(op, "`" + str(condition) + "` reads configuration state");
  if (!p->body.empty() && prove(*p, {{Child::kBody, 0}}, logical_not(condition)))
    refuse(op, "`" + str(condition) + "` is never true");
  Rewrite rw(p);
  rw.set_header([&](Proc& q) { q.asserts.push_back(condition); });
  rw.flags.specializes = true;
  return rw.finish(op, {str(condition)});
}

ProcPtr make_instr(ProcPtr p, const std::string& c_template, const std::string& c_global,
                   double cost) {
  if (c_template.empty()) refuse("make_instr", "the C template is empty");
  if (!(cost >= 0)) refuse("make_instr", "the cost must not be negative");
  Rewrite rw(p);
  rw.set_header([&](Proc& q) { q.instr = InstrInfo{c_template, c_global, cost}; });
  return rw.finish("make_instr", {c_template, c_global, cost});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> procs_operators() {
  using namespace params;
  return {
      in_cpp("rename_proc",
             {"rename",
              {proc(), new_name("name")},
              "def f(...)  ->  def name(...)",
              [](const OperatorArgs& a) -> Value { return rename_proc(a.proc(), a.string(1)); }}),
      {"partial_eval",
       {proc(), keywords("sizes")},
       "def f(M: size, ...)  ->  def f(...)[M -> 6]   with M=6",
       [](const OperatorArgs& a) -> Value { return partial_eval(a.proc(), a.keywords(1)); }},
      {"add_assertion",
       {proc(), expression("condition")},
       "def f(...): s  ->  def f(...): assert c; s",
       [](const OperatorArgs& a) -> Value {
         return add_assertion(a.proc(), a.expr(1, {{Child::kBody, 0}}));
       }},
      {"make_instr",
       {proc(), string("c_instr"), string("c_global", ""), number("cost", 1.0)},
       "@proc def f  ->  @instr(c_instr) def f",
       [](const OperatorArgs& a) -> Value {
         return make_instr(a.proc(), a.string(1), a.string(2), a.number(3));
       }},
  };
}

}  // namespace exotune
