#include "core/frontend/declarations.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/frontend/elaborate.h"
#include "core/ir/c_template.h"
#include "core/ir/normal_form.h"

namespace exotune {
// Instructions, memories and configurations: what a target's text declares. Every field is checked
// here, with its place, so that the rest of the program may rely on it.
namespace {

void end_of_line(TokenStream& t) {
  if (!t.accept(Token::Kind::kNewline) && !t.at(Token::Kind::kEnd)) t.fail("the end of the line");
}

std::string string_value(TokenStream& t, const std::string& what) {
  if (!t.at(Token::Kind::kString)) t.fail(what);
  std::string out;
  while (t.at(Token::Kind::kString)) {  // adjacent literals are joined
    const std::string_view open = t.peek().in_for ? placeholder_in(t.peek().value) : "";
    if (!open.empty())
      throw InputError(t.where(), quoted(open) + " is given no value by a `for` around it",
                       "`${NAME}` ends a name where letters, digits or `_` follow");
    out += t.next().value;
  }
  return out;
}

// Bounded by what the field can hold, so that no later conversion cuts it.
int64_t natural(TokenStream& t, const std::string& what, int64_t most) {
  SourceLocation where = t.where();
  if (!t.at(Token::Kind::kInt)) t.fail(what + ", an integer that is not negative");
  uint64_t v = t.next().integer;
  if (v > static_cast<uint64_t>(most)) throw InputError(where, what + " is too large");
  return static_cast<int64_t>(v);
}

bool boolean_value(TokenStream& t) {
  if (t.accept("True")) return true;
  if (t.accept("False")) return false;
  t.fail("True or False");
}

// `class NAME:` then `field(name, where)` per line, inside one indented block.
template <class F>
std::string class_body(TokenStream& t, F field) {
  t.expect("class", "after the decorator");
  std::string name(t.expect_name("the class's name").text);
  if (t.at("("))
    throw InputError(t.where(), "classes have no bases here", "write `class " + name + ":`");
  t.expect(":", "after the class's name");
  if (!t.accept(Token::Kind::kNewline)) t.fail("the end of the line");
  if (!t.accept(Token::Kind::kIndent)) t.fail("an indented block");
  std::set<std::string> seen;
  while (!t.accept(Token::Kind::kDedent)) {
    if (t.at(Token::Kind::kEnd)) break;
    if (!t.accept(Token::Kind::kString)) {  // else a docstring
      SourceLocation where = t.where();
      std::string key(t.expect_name("a field").text);
      if (!seen.insert(key).second) throw InputError(where, quoted(key) + " is given twice");
      field(key, where);
    }
    end_of_line(t);
  }
  return name;
}

// As Python writes it; a comma may stand after the last entry.
std::map<std::string, std::string> string_map(TokenStream& t) {
  std::map<std::string, std::string> out;
  t.expect("{");
  while (!t.at("}")) {
    std::string key = string_value(t, "a string as the key");
    t.expect(":", "after the key");
    out[key] = string_value(t, "a string");
    if (!t.accept(",")) break;
  }
  t.expect("}");
  return out;
}

// Templates are checked when they are read: a hole that is never closed would surface in generated
// C.
void require_holes(const std::string& text, const SourceLocation& where) {
  const std::string fault = memory_template_fault(text);
  if (!fault.empty())
    throw InputError(where, fault,
                     "holes are {name}, {type}, {value}, {reg}, {base}, {offset}, {index}, "
                     "{idx[0]}, {shape[0]}; a literal brace is {{");
}

constexpr int64_t kIntMax = std::numeric_limits<int>::max();

}  // namespace

// `2 * 4 - 1` counts as a literal, `n - n + 1` does not: it mentions a symbol.
std::optional<int64_t> literal_value(const ExprPtr& e) {
  if (e->bloom != 0) return {};
  if (auto v = as_int(e)) return v;
  if (auto a = affine(e); a && a->is_constant()) return a->constant;
  return {};
}

std::optional<double> literal_number(const ExprPtr& e) {
  if (const Const* n = e->as<Const>())
    return std::visit([](auto v) { return static_cast<double>(v); }, n->value);
  if (const USub* n = e->as<USub>()) {
    const std::optional<double> of = literal_number(n->arg);
    return of ? std::optional(-*of) : std::nullopt;
  }
  const BinOp* n = e->as<BinOp>();
  if (!n) return {};
  const std::optional<double> a = literal_number(n->lhs), b = literal_number(n->rhs);
  if (!a || !b) return {};
  switch (n->op) {
    case BinOpKind::kAdd:
      return *a + *b;
    case BinOpKind::kSub:
      return *a - *b;
    case BinOpKind::kMul:
      return *a * *b;
    case BinOpKind::kDiv:
      return *a / *b;
    default:
      return {};
  }
}

// @instr(template, global, cost): by position or by keyword.
InstrInfo parse_instr_info(TokenStream& t) {
  InstrInfo info;
  t.expect("(", "and the instruction's C template");
  int position = 0;
  std::set<std::string> seen;
  while (!t.at(")")) {
    SourceLocation where = t.where();
    std::string key;
    // Exo calls the template c_instr in its own instructions; both names are taken.
    if (t.at(Token::Kind::kName) && TokenStream::is(t.peek(1), "=")) {
      key = std::string(t.next().text);
      t.next();
    } else {
      static const char* const kOrder[] = {"c_template", "c_global", "cost"};
      if (position > 2) throw InputError(where, "`@instr` takes a template, a global and a cost");
      key = kOrder[position++];
    }
    if (!seen.insert(key).second) throw InputError(where, quoted(key) + " is given twice");
    if (key == "c_template" || key == "c_instr") {
      info.c_template = string_value(t, "a C template, a string");
    } else if (key == "c_global") {
      info.c_global = string_value(t, "C text for file scope, a string");
    } else if (key == "cost") {
      SourceLocation at = t.where();
      if (t.at(Token::Kind::kInt)) {
        info.cost = static_cast<double>(t.next().integer);
      } else if (t.at(Token::Kind::kFloat)) {
        info.cost = t.next().number;
      } else {
        t.fail("a cost in cycles");
      }
      // Written so that NaN is refused as well.
      if (!(info.cost >= 0 && info.cost < 1e9)) throw InputError(at, "this is no cost in cycles");
    } else {
      throw InputError(where, "an instruction has no " + quoted(key),
                       did_you_mean(key, {"c_template", "c_global", "cost"}));
    }
    if (!t.accept(",")) break;
  }
  if (!seen.count("c_template") && !seen.count("c_instr")) {
    throw InputError(t.where(), "an instruction needs a C template");
  }
  t.expect(")", "after the instruction's C template");
  return info;
}

// `@config(readwrite=False)`: fields that only instructions read, so that none may stand in an
// expression.
bool parse_config_readable(TokenStream& t) {
  if (!t.accept("(")) return true;
  bool readable = true;
  if (!t.at(")")) {
    t.expect("readwrite", "(the only option of `@config`)");
    t.expect("=");
    readable = boolean_value(t);
  }
  t.expect(")");
  return readable;
}

ConfigPtr parse_config(TokenStream& t, bool readable) {
  auto config = std::make_shared<Config>();
  config->readable = readable;
  SourceLocation at = t.where();
  config->name = class_body(t, [&](const std::string& name, const SourceLocation&) {
    t.expect(":", "and the field's type");
    SourceLocation where = t.where();
    std::string spelled(t.expect_name("a type").text);
    std::optional<ScalarType> type = scalar_type(spelled);
    if (!type) throw InputError(where, "there is no type " + quoted(spelled));
    config->fields.push_back({name, *type});
  });
  if (config->fields.empty()) throw InputError(at, "a configuration needs a field");
  return config;
}

namespace {

// A memory as its fields say it, one after the other.
class MemoryFields {
 public:
  MemoryFields(TokenStream& t, Memory& memory) : t_(t), m_(memory) {}

  /// The stream stands behind the `=` of field `key`.
  void read(const std::string& key, const SourceLocation& where) {
    const SourceLocation value = t_.where();
    if (key == "kind") {
      m_.kind = kind(value);
      has_kind_ = true;
    } else if (key == "count") {
      m_.count = static_cast<int>(natural(t_, "the number of registers", kIntMax));
    } else if (key == "bytes") {
      m_.bytes = natural(t_, "a size in bytes", std::numeric_limits<int64_t>::max());
    } else if (key == "alignment") {
      m_.alignment = static_cast<int>(natural(t_, "an alignment in bytes", kIntMax));
      if (m_.alignment == 0 || (m_.alignment & (m_.alignment - 1)) != 0)
        throw InputError(value, "an alignment is a power of two");
    } else if (key == "shape") {
      read_shape();
    } else if (key == "addressable") {
      addressable_ = boolean_value(t_);
      says_addressable_ = true;
    } else if (key == "c_types") {
      m_.c_types = string_map(t_);
      for (const auto& [held, c] : m_.c_types) require_held(held, value);
    } else if (key == "c_global") {
      m_.c_global = string_value(t_, "C text for file scope, a string");
    } else if (key == "templates") {
      read_templates(value);
    } else if (is_template(key)) {
      m_.templates[key] = string_value(t_, "a C template, a string");
      require_holes(m_.templates[key], value);
    } else {
      no_field(key, where);
    }
  }

  /// What was not said. Elements of plain memory are C lvalues; others say by a template how one is
  /// read or written, or cannot be addressed one by one.
  void complete(const SourceLocation& at) {
    if (!has_kind_) throw InputError(at, "memory " + quoted(m_.name) + " does not say its `kind`");
    const bool plain = m_.kind == MemoryKind::kHeap || m_.kind == MemoryKind::kStack ||
                       m_.kind == MemoryKind::kStatic;
    for (const auto& [held, c] : m_.c_types) require_less_than_full(held, at);
    const bool by_template = m_.templates.count("read") || m_.templates.count("write");
    m_.addressable = says_addressable_ ? addressable_ : plain || by_template;
  }

 private:
  static const std::vector<std::string>& templates() {
    static const std::vector<std::string> kNames = {"alloc", "free",  "window",
                                                    "read",  "write", "reduce"};
    return kNames;
  }
  static bool is_template(const std::string& key) {
    return std::find(templates().begin(), templates().end(), key) != templates().end();
  }

  MemoryKind kind(const SourceLocation& where) {
    const std::string word = string_value(t_, "a kind of memory, a string");
    if (const std::optional<MemoryKind> known = memory_kind(word)) return *known;
    std::vector<std::string> names;
    for (int n = 0; n <= static_cast<int>(MemoryKind::kScratchpad); ++n)
      names.push_back(name_of(static_cast<MemoryKind>(n)));
    const std::string hint = did_you_mean(word, names);
    throw InputError(
        where, "there is no kind of memory " + quoted(word),
        hint.empty() ? "kinds: heap, stack, static, vector, register_file, scratchpad" : hint);
  }

  // "f32", or "f32[4]": fewer elements than fill a register.
  static void require_held(const std::string& held, const SourceLocation& where) {
    const size_t bracket = held.find('[');
    const std::string type = held.substr(0, bracket);
    const std::optional<ScalarType> element = scalar_type(type);
    if (!element || !is_data(*element))
      throw InputError(where, "there is no type of data " + quoted(type));
    if (bracket == std::string::npos) return;
    const std::string lanes = held.substr(bracket + 1, held.size() - bracket - 2);
    if (held.back() != ']' || lanes.empty() || lanes.size() > 4 || lanes[0] == '0' ||
        lanes.find_first_not_of("0123456789") != std::string::npos)
      throw InputError(where, quoted(held) + " is no type with a number of elements",
                       "a register holds `f32`, or fewer of them: `f32[4]`");
  }

  // Which type a register has is told by how many elements it holds.
  void require_less_than_full(const std::string& held, const SourceLocation& at) const {
    const size_t bracket = held.find('[');
    if (bracket == std::string::npos || m_.bytes == 0) return;
    const std::string type = held.substr(0, bracket);
    if (std::stoll(held.substr(bracket + 1)) * bytes_of(*scalar_type(type)) < m_.bytes) return;
    throw InputError(at,
                     quoted(held) + " does not leave room in a register of " +
                         std::to_string(m_.bytes) + " bytes",
                     "what fills one is " + quoted(type));
  }

  void read_shape() {
    t_.expect("[");
    while (!t_.at("]")) {
      m_.shape.push_back(static_cast<int>(natural(t_, "a size", kIntMax)));
      if (!t_.accept(",")) break;
    }
    t_.expect("]");
  }

  void read_templates(const SourceLocation& where) {
    for (auto& [name, text] : string_map(t_)) {
      if (!is_template(name))
        throw InputError(where, "a memory has no template " + quoted(name),
                         did_you_mean(name, templates()));
      require_holes(text, where);
      m_.templates[name] = text;
    }
  }

  [[noreturn]] static void no_field(const std::string& key, const SourceLocation& where) {
    std::vector<std::string> names = templates();
    for (const char* name : {"kind", "count", "bytes", "alignment", "shape", "addressable",
                             "c_types", "c_global", "templates"})
      names.push_back(name);
    throw InputError(where, "a memory has no field " + quoted(key), did_you_mean(key, names));
  }

  TokenStream& t_;
  Memory& m_;
  bool has_kind_ = false, says_addressable_ = false, addressable_ = false;
};

}  // namespace

// Which fields a memory may have depends on its kind; what it does not say is its kind's default.
MemoryPtr parse_memory(TokenStream& t) {
  auto memory = std::make_shared<Memory>();
  MemoryFields fields(t, *memory);
  const SourceLocation at = t.where();
  memory->name = class_body(t, [&](const std::string& key, const SourceLocation& where) {
    t.expect("=", "after the field's name");
    fields.read(key, where);
  });
  fields.complete(at);
  return memory;
}

}  // namespace exotune
