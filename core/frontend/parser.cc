#include "core/frontend/parser.h"

#include <cmath>
#include <limits>
#include <set>

#include "core/frontend/declarations.h"
#include "core/frontend/elaborate.h"
#include "core/frontend/foreign_syntax.h"

namespace exotune {
namespace {

// Reads one file: declarations in order, each visible to those below it.
// Procs see what stands above them, which rules out recursion without a check. Imports bring a
// module's names as if they stood here; own definitions win over imported ones.
class ModuleParser {
 public:
  /// `strict`: the first procedure that is refused ends all.
  ModuleParser(std::string_view text, const std::string& file, const Importer& importer,
               const Module* prelude, bool strict)
      : t_(text, file), importer_(importer), strict_(strict) {
    // Built in: there in every file.
    for (const MemoryPtr& m : {dram(), dram_stack(), dram_static()}) {
      module_.memories.emplace(m->name, m);
    }
    // What stood in the files before this one of the same target.
    if (prelude) module_.import_all(*prelude);
    for (const ProcPtr& p : module_.imported_procs) globals_.procs.emplace(p->name, p);
    globals_.memories = &module_.memories;
    globals_.configs = &module_.configs;
    globals_.constants = &module_.constants;
    globals_.numbers = &module_.numbers;
  }

  Module run() {
    while (!t_.at(Token::Kind::kEnd)) {
      if (t_.accept(Token::Kind::kNewline)) continue;
      if (t_.at(Token::Kind::kIndent)) throw InputError(t_.where(), "unexpected indentation");
      if (t_.accept(Token::Kind::kString)) {  // a docstring
        end_of_line();
      } else if (t_.at("from") || t_.at("import")) {
        import();
      } else if (t_.at("@")) {
        decorated();
        // The decorator may be left out: `def` alone is a procedure.
      } else if (t_.at("def")) {
        proc(std::nullopt);
      } else if (t_.at("for")) {
        each();
      } else if (t_.at("class")) {
        throw InputError(t_.where(), "a class needs a decorator",
                         "put `@memory` or `@config` on the line above");
      } else if (t_.at(Token::Kind::kName) && TokenStream::is(t_.peek(1), "=")) {
        constant();
      } else if (t_.at("proc")) {
        throw InputError(
            t_.where(), "`proc` is a decorator",
            "a procedure is written `@proc`, and on the line below it `def NAME(...):`");
      } else {
        t_.fail("`@proc`, `@instr`, `@config`, `@memory`, an import or a constant");
      }
    }
    return std::move(module_);
  }

 private:
  void end_of_line() {
    if (!t_.accept(Token::Kind::kNewline) && !t_.at(Token::Kind::kEnd))
      t_.fail("the end of the line");
  }
  // One name, one thing, in the whole file: instructions, procs, memories and configurations share
  // the space.
  void define(const std::string& name, const SourceLocation& where) {
    auto [it, fresh] = defined_.emplace(name, where);
    if (!fresh) {
      throw InputError(Diagnostic{
          where, quoted(name) + " is defined twice", {"first defined at " + it->second.str()}, {}});
    }
  }

  void import() {
    SourceLocation where = t_.where();
    if (t_.accept("import")) {
      throw InputError(where, "imports are written `from NAME import *`");
    }
    t_.next();
    SourceLocation name_where = t_.where();
    std::string name(t_.expect_name("the name of a target").text);
    t_.expect("import", "after the target's name");
    // A module that Exo's own users begin many files with.
    if (name == "__future__") {  // harmless: pasted from Python
      while (!t_.at(Token::Kind::kNewline) && !t_.at(Token::Kind::kEnd)) t_.next();
      return end_of_line();
    }
    t_.expect("*", "(everything is imported)");
    end_of_line();
    const Module* m = importer_ ? importer_(name, name_where) : nullptr;
    if (!m) {
      throw InputError(name_where, "there is no target " + quoted(name),
                       "`exo-tune list targets` shows them");
    }
    module_.import_all(*m);
    module_.imports.push_back(name);
    // Own procs are in the map already and win.
    for (const ProcPtr& p : module_.imported_procs) globals_.procs.emplace(p->name, p);
  }

  void constant() {
    SourceLocation where = t_.where();
    std::string name(t_.expect_name("a constant's name").text);
    t_.expect("=");
    // Earlier constants may stand in the value; arguments of procedures may not.
    if (t_.at("[")) refuse_constant_list(t_, name);
    Elaborator names(globals_);
    const SyntaxExpr value = parse_expression(t_);
    if (names.looks_like_data(value).value_or(false)) {
      const std::optional<double> number = literal_number(names.data(value));
      if (!number || !std::isfinite(*number))
        throw InputError(value.where, "a constant is a number: literals and `+ - * /` of them");
      end_of_line();
      define(name, where);
      module_.numbers[name] = *number;
      return;
    }
    std::optional<int64_t> v = literal_value(names.integer(value));
    if (!v) throw InputError(value.where, "a constant is an integer that fits in 64 bits");
    end_of_line();
    define(name, where);
    module_.constants[name] = *v;
  }

  // for T, n in [("f32", 16), ("f64", 8)]:  and an indented block of declarations in which `$T` and
  // `$n` stand for the texts of each entry in turn, in names and strings too.
  // Repeats text, not declarations: each pass is parsed as if the user had written it, so that
  // errors have the place in the block and the meaning is what a reader expects.
  void each() {
    const SourceLocation where = t_.where(t_.next());
    std::vector<std::string> names;
    do {
      // `for T, n in ...`: as many names as each entry has values.
      names.emplace_back(t_.expect_name("a name for `for` to give values").text);
    } while (t_.accept(","));
    t_.expect("in", "after the names");
    if (!t_.at("["))
      throw InputError(where, "a `for` outside of procedures runs over a list",
                       "write `for T in [\"f32\", \"f64\"]:`; loops stand in a procedure");
    t_.next();
    std::vector<TokenStream::Bindings> passes;
    while (!t_.at("]")) {
      passes.push_back(entry(names));
      if (!t_.accept(",")) break;
    }
    t_.expect("]", "after the list");
    t_.expect(":", "and an indented block");
    end_of_line();
    if (!t_.at(Token::Kind::kIndent)) t_.fail("an indented block");
    // The tokens of the block are replaced in place and parsed next.
    t_.expand_block(passes);
  }
  // "f32", or ("f32", 16).
  TokenStream::Bindings entry(const std::vector<std::string>& names) {
    const SourceLocation where = t_.where();
    const bool several = t_.accept("(");
    std::vector<std::string> values;
    do {
      // A comma at the end, as Python has it for tuples of one.
      if (several && t_.at(")")) break;
      const Token& v = t_.peek();
      const bool is_text = v.kind == Token::Kind::kString;
      if (!is_text && v.kind != Token::Kind::kInt && v.kind != Token::Kind::kFloat &&
          v.kind != Token::Kind::kName)
        t_.fail("a string, a number or a name");
      values.push_back(is_text ? v.value : std::string(v.text));
      t_.next();
    } while (several && t_.accept(","));
    if (several) t_.expect(")", "after the values");
    if (values.size() != names.size())
      throw InputError(where, "`for` names " + std::to_string(names.size()) + ", and here are " +
                                  std::to_string(values.size()));
    TokenStream::Bindings out;
    for (size_t k = 0; k < names.size(); ++k) out[names[k]] = values[k];
    return out;
  }

  void decorated() {
    // Past the `@`.
    SourceLocation where = t_.where(t_.next());
    std::string decorator(t_.expect_name("proc, instr, config or memory").text);
    if (decorator == "proc") {
      end_of_line();
      proc(std::nullopt);
    } else if (decorator == "instr") {
      InstrInfo info = parse_instr_info(t_);
      end_of_line();
      proc(std::move(info));
    } else if (decorator == "config") {
      bool readable = parse_config_readable(t_);
      end_of_line();
      SourceLocation at = t_.where();
      ConfigPtr c = parse_config(t_, readable);
      define(c->name, at);
      module_.configs[c->name] = c;
    } else if (decorator == "memory") {
      end_of_line();
      SourceLocation at = t_.where();
      MemoryPtr m = parse_memory(t_);
      if (m->name == "DRAM" || m->name == "DRAM_STACK" || m->name == "DRAM_STATIC") {
        throw InputError(at, quoted(m->name) + " is built in");
      }
      define(m->name, at);
      module_.memories[m->name] = m;
    } else {
      throw InputError(where, "there is no decorator " + quoted("@" + decorator),
                       did_you_mean(decorator, {"proc", "instr", "config", "memory"}));
    }
  }

  // The header binds formals in order, since later types may mention earlier sizes; then asserts,
  // then the body.
  void proc(std::optional<InstrInfo> info) {
    t_.expect("def", "after the decorator");
    auto p = std::make_shared<Proc>();
    p->where = t_.where();
    p->name = std::string(t_.expect_name("the procedure's name").text);
    p->instr = std::move(info);
    // Before the body is read: a name that is taken is reported at the second definition. The
    // procedure itself is not yet among those that may be called.
    define(p->name, p->where);
    if (strict_) return complete(std::move(p));
    const size_t header = t_.position();
    try {
      complete(p);
    } catch (const InputError& refused) {
      t_.skip_declaration(header);
      globals_.procs.erase(p->name);  // an imported one, which is not meant
      globals_.refused.emplace(p->name, refused.diagnostic());
      module_.refused.push_back({p->name, refused});
    }
  }

  // From the arguments on.
  void complete(std::shared_ptr<Proc> p) {
    Elaborator e(globals_);
    arguments(*p, e);
    std::vector<SyntaxStmt> body = suite();
    size_t k = 0;
    // Asserts stand in front of all else, so that the whole body may rely on them.
    for (; k < body.size() && body[k].kind == SyntaxStmt::Kind::kAssert; ++k) {
      p->asserts.push_back(e.boolean(*body[k].value));
    }
    body.erase(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(k));
    p->body = e.body(body);
    // Blocks are never empty.
    if (p->body.empty()) p->body.push_back(make_stmt(Pass{}, p->where));
    globals_.procs[p->name] = p;
    module_.procs.push_back(std::move(p));
  }

  // As parse_suite, after an optional docstring.
  std::vector<SyntaxStmt> suite() {
    if (!(t_.at(":") && t_.peek(1).kind == Token::Kind::kNewline &&
          t_.peek(2).kind == Token::Kind::kIndent && t_.peek(3).kind == Token::Kind::kString)) {
      return parse_suite(t_);
    }
    t_.next(), t_.next(), t_.next(), t_.next();
    end_of_line();
    std::vector<SyntaxStmt> body;
    while (!t_.accept(Token::Kind::kDedent)) {
      if (t_.at(Token::Kind::kEnd)) break;
      parse_statement(t_, body);
    }
    return body;
  }

  void arguments(Proc& p, Elaborator& e) {
    t_.expect("(", "after the procedure's name");
    std::set<std::string> names;
    while (!t_.at(")")) {
      SourceLocation where = t_.where();
      std::string name(t_.expect_name("an argument's name").text);
      if (name == "_") throw InputError(where, "an argument needs a name");
      if (!names.insert(name).second) {
        throw InputError(where, "two arguments are named " + quoted(name));
      }
      if (t_.at(",") || t_.at(")"))
        throw InputError(t_.where(),
                         "expected `:` and the argument's type, found " + t_.describe(t_.peek()),
                         "a size is " + quoted(name + ": size") + ", an array of data " +
                             quoted(name + ": f32[n]") + ", a scalar " + quoted(name + ": f32"));
      t_.expect(":", "and the argument's type");
      SyntaxType syntax = parse_type(t_);
      // Elaborated before it is bound: an extent names earlier arguments only.
      Type type = e.type(syntax, /*is_argument=*/true);
      MemoryPtr mem = is_data(type.scalar) ? e.memory(syntax) : nullptr;
      Sym sym = Sym::fresh(name);
      e.bind(sym, type, mem);
      p.args.push_back({sym, std::move(type), std::move(mem)});
      if (t_.at("="))
        throw InputError(t_.where(), "an argument has no default", "every call gives all of them");
      if (!t_.accept(",")) break;
    }
    t_.expect(")", "after the arguments");
    if (t_.at("->"))
      throw InputError(t_.where(), "a procedure returns nothing", "results are arguments");
  }

  TokenStream t_;
  const Importer& importer_;
  Module module_;
  Globals globals_;
  std::map<std::string, SourceLocation> defined_;
  bool strict_;
};

// Parses all of `text` as one expression and hands it to `use`.
template <class F>
// For strings in schedules: all of the text must be the expression.
// The place in messages is within the text; who holds the schedule adds its own line.
auto whole_expression(std::string_view text, F use) {
  TokenStream t(text, "");
  if (t.at(Token::Kind::kNewline) || t.at(Token::Kind::kEnd)) t.fail("an expression");
  SyntaxExpr e = parse_expression(t);
  t.accept(Token::Kind::kNewline);
  if (!t.at(Token::Kind::kEnd)) t.fail("the end of the expression");
  return use(e);
}

}  // namespace

ProcPtr Module::find_proc(const std::string& name) const {
  for (const ProcPtr& p : procs)
    if (p->name == name) return p;
  // Own ones before imported ones of the same name.
  for (const ProcPtr& p : imported_procs)
    if (p->name == name) return p;
  return nullptr;
}

std::vector<ProcPtr> Module::user_procs() const {
  std::vector<ProcPtr> out;
  for (const ProcPtr& p : procs)
    if (!p->instr) out.push_back(p);
  return out;
}

void Module::import_all(const Module& other) {
  std::set<std::string> have;
  for (const ProcPtr& p : procs) have.insert(p->name);
  for (const ProcPtr& p : imported_procs) have.insert(p->name);
  for (const auto* list : {&other.procs, &other.imported_procs}) {
    for (const ProcPtr& p : *list)
      // The first one of a name stays.
      if (have.insert(p->name).second) imported_procs.push_back(p);
  }
  memories.insert(other.memories.begin(), other.memories.end());
  configs.insert(other.configs.begin(), other.configs.end());
  constants.insert(other.constants.begin(), other.constants.end());
  numbers.insert(other.numbers.begin(), other.numbers.end());
}

Module parse_module(std::string_view text, const std::string& file, const Importer& importer,
                    const Module* prelude) {
  return ModuleParser(text, file, importer, prelude, /*strict=*/true).run();
}

Module parse_accepted(std::string_view text, const std::string& file, const Importer& importer) {
  return ModuleParser(text, file, importer, nullptr, /*strict=*/false).run();
}

ExprPtr parse_control_expr(std::string_view text, const std::vector<ScopeEntry>& scope,
                           const std::map<std::string, ConfigPtr>& configs) {
  Globals globals;
  globals.configs = &configs;
  Elaborator e(globals);
  e.bind_scope(scope);
  return whole_expression(text, [&](const SyntaxExpr& s) { return e.control(s); });
}

ExprPtr parse_expr(std::string_view text, const std::vector<ScopeEntry>& scope,
                   const std::map<std::string, ConfigPtr>& configs) {
  Globals globals;
  globals.configs = &configs;
  Elaborator e(globals);
  e.bind_scope(scope);
  return whole_expression(text, [&](const SyntaxExpr& s) {
    // A number alone is of either kind: it counts as control.
    return e.looks_like_data(s).value_or(false) ? e.data(s) : e.control(s);
  });
}

ExprPtr parse_window(std::string_view text, const std::vector<ScopeEntry>& scope,
                     const std::map<std::string, ConfigPtr>& configs) {
  Globals globals;
  globals.configs = &configs;
  Elaborator e(globals);
  e.bind_scope(scope);
  return whole_expression(text, [&](const SyntaxExpr& s) { return e.window(s); });
}

std::optional<ScalarType> scalar_type(std::string_view name) {
  for (int k = 0; k <= static_cast<int>(ScalarType::kStride); ++k)
    if (name == name_of(static_cast<ScalarType>(k))) return static_cast<ScalarType>(k);
  return {};
}

}  // namespace exotune
