#include "core/cursor/value.h"

#include <charconv>

#include "core/ir/proc.h"

namespace exotune {

Value Value::strings(const std::vector<std::string>& v) { return ValueList(v.begin(), v.end()); }
Value Value::ints(const std::vector<int64_t>& v) { return ValueList(v.begin(), v.end()); }

namespace {

std::string string_literal(const std::string& s) {
  std::string out = "'";
  for (char c : s) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\r') {
      out += "\\r";
      continue;
    }
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string text_of(const Cursor& c) {
  switch (c.kind()) {
    case CursorKind::kInvalid:
      return "None";
    case CursorKind::kArg:
      return "p.find_alloc_or_arg(" +
             string_literal(c.proc()->args[static_cast<size_t>(c.arg_index())].name.name()) + ")";
    case CursorKind::kStmt:
      return "p.find(" + string_literal(pattern_of(c)) + ")";
    case CursorKind::kBlock: {
      std::string first = "p.find(" + string_literal(pattern_of(c[0])) + ")";
      return first + ".expand(0, " + std::to_string(c.length() - 1) + ")";
    }
    case CursorKind::kGap: {
      if (stmt_at(*c.proc(), c.path()))
        return "p.find(" + string_literal(pattern_of(Cursor::stmt(c.proc(), c.path()))) +
               ").before()";
      return "p.find(" + string_literal(pattern_of(Cursor::stmt(c.proc(), sibling(c.path(), -1)))) +
             ").after()";
    }
    case CursorKind::kExpr: {
      std::string out = text_of(Cursor::stmt(c.proc(), stmt_part(c.path())));
      for (const Step& s : c.path())
        if (s.child == Child::kExpr) out += ".child_expr(" + std::to_string(s.index) + ")";
      return out;
    }
  }
  return "None";
}

}  // namespace

std::string Value::str() const {
  struct Visitor {
    std::string operator()(std::monostate) { return "None"; }
    std::string operator()(bool b) { return b ? "True" : "False"; }
    std::string operator()(int64_t v) { return std::to_string(v); }
    std::string operator()(double d) {
      char buffer[40];
      std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, d).ptr);
      return out.find_first_of(".en") == std::string::npos ? out + ".0" : out;
    }
    std::string operator()(const std::string& s) { return string_literal(s); }
    std::string operator()(const SharedList& list) {
      const ValueList& l = *list;
      std::string out = "[";
      for (size_t k = 0; k < l.size(); ++k) out += (k ? ", " : "") + l[k].str();
      return out + "]";
    }
    std::string operator()(const ProcPtr& p) { return p ? p->name : "None"; }
    std::string operator()(const Cursor& c) { return text_of(c); }
    std::string operator()(const MemoryPtr& m) { return m ? m->name : "None"; }
    std::string operator()(const ConfigPtr& c) { return c ? c->name : "None"; }
    std::string operator()(const std::map<std::string, Value>& m) {
      std::string out = "{";
      for (const auto& [key, value] : m) {
        if (out.size() > 1) out += ", ";
        out += string_literal(key) + ": " + value.str();
      }
      return out + "}";
    }
  };
  return std::visit(Visitor{}, node_);
}

}  // namespace exotune
