#include "core/frontend/pattern.h"

#include <unordered_map>

#include "core/frontend/parser.h"
#include "core/frontend/syntax.h"
#include "core/ir/functions.h"

namespace exotune {
namespace {

using Kind = SyntaxExpr::Kind;

// Patterns use the language's own syntax tree with `_` added: what parses as a statement can be a
// pattern, and nothing else can.
PatternExpr convert(const SyntaxExpr& e);

// `[_]` and `(_)` match any number; anything else is matched one by one.
bool is_single_hole(const std::vector<PatternExpr>& es) {
  return es.size() == 1 && es[0].kind == PatternExpr::Kind::kHole;
}

PatternExpr binary_pattern(BinOpKind op, PatternExpr lhs, PatternExpr rhs) {
  PatternExpr p;
  p.kind = PatternExpr::Kind::kBinOp;
  p.op = op;
  p.children.push_back(std::move(lhs));
  p.children.push_back(std::move(rhs));
  return p;
}

// Points become children, which also match a read by any other form of subscript; one interval
// makes the whole a window, whose ends are matched one by one.
void convert_access(const SyntaxExpr& e, PatternExpr& p) {
  bool ranges = false;
  for (const SyntaxExpr::Access& a : e.access) ranges |= a.range;
  if (!ranges) {
    for (const SyntaxExpr::Access& a : e.access) p.children.push_back(convert(a.lo[0]));
    p.any_children = p.children.empty() || is_single_hole(p.children);
    return;
  }
  p.any_children = false;
  for (const SyntaxExpr::Access& a : e.access) {
    PatternExpr::Range r;
    // `x[:n]`: an end that is left out matches any.
    r.ends.push_back(a.lo.empty() ? PatternExpr{} : convert(a.lo[0]));
    if (a.range) r.ends.push_back(a.hi.empty() ? PatternExpr{} : convert(a.hi[0]));
    p.window.push_back(std::move(r));
  }
}

PatternExpr convert(const SyntaxExpr& e) {
  PatternExpr p;
  switch (e.kind) {
    case Kind::kName:
      // A fresh PatternExpr is a hole.
      if (e.name == "_") return p;
      p.kind = PatternExpr::Kind::kRead;
      p.name = e.name;
      return p;
    case Kind::kInt:
      p.kind = PatternExpr::Kind::kConst;
      p.value = e.integer;
      return p;
    case Kind::kFloat:
      p.kind = PatternExpr::Kind::kConst;
      p.value = e.number;
      return p;
    case Kind::kBool:
      p.kind = PatternExpr::Kind::kConst;
      p.value = e.integer != 0;
      return p;
    case Kind::kNegate:
    case Kind::kNot:
      p.kind = e.kind == Kind::kNot ? PatternExpr::Kind::kNot : PatternExpr::Kind::kUSub;
      p.children.push_back(convert(e.children[0]));
      return p;
    case Kind::kBinary:
      return binary_pattern(e.op, convert(e.children[0]), convert(e.children[1]));
    case Kind::kCompare: {
      // A chain is the conjunction that the parser makes of it, which repeats its middle.
      for (size_t k = 1; k + 1 < e.children.size(); ++k) {
        if (e.children[k].kind == Kind::kCompare)
          throw InputError(e.where, "comparisons do not nest");
      }
      PatternExpr all = binary_pattern(e.ops[0], convert(e.children[0]), convert(e.children[1]));
      for (size_t k = 1; k < e.ops.size(); ++k) {
        all = binary_pattern(
            BinOpKind::kAnd, std::move(all),
            binary_pattern(e.ops[k], convert(e.children[k]), convert(e.children[k + 1])));
      }
      return all;
    }
    case Kind::kBits:
      throw InputError(e.where, "there is no `" + e.name + "` in procedures");
    case Kind::kChoice:
      throw InputError(e.where, "there is no `c if a else d` in procedures");
    case Kind::kSubscript:
      p.kind = PatternExpr::Kind::kRead;
      p.name = e.name;
      convert_access(e, p);
      return p;
    case Kind::kCall:
      if (e.name == "stride") {
        p.kind = PatternExpr::Kind::kStride;
        if (e.children.empty() || e.children.size() > 2 || e.children[0].kind != Kind::kName) {
          throw InputError(e.where, "`stride` takes a tensor and a dimension",
                           "write `stride(x, 0)` or `stride(x, _)`");
        }
        p.name = e.children[0].name;
        // Any other dimension, `_` among them, leaves dim at "any".
        if (e.children.size() == 2 && e.children[1].kind == Kind::kInt) {
          p.dim = static_cast<int>(e.children[1].integer);
        }
        return p;
      }
      p.kind = PatternExpr::Kind::kExtern;
      p.name = e.name;
      for (const SyntaxExpr& c : e.children) p.children.push_back(convert(c));
      p.any_children = is_single_hole(p.children);
      return p;
    // `Cfg.field`; there are no other attributes in object code.
    case Kind::kAttribute:
      p.kind = PatternExpr::Kind::kConfig;
      p.name = e.name;
      p.field = e.field;
      return p;
  }
  EXO_CHECK(false);
}

// What a call is to the parser when it stands in an expression: a function of the table, or a
// cast.
bool is_extern(const std::string& name) {
  if (name == "stride") return true;
  return find_function(name) || scalar_type(name);
}

std::vector<PatternStmt> convert(const std::vector<SyntaxStmt>& stmts);

PatternStmt convert_assignment(const SyntaxStmt& s) {
  PatternStmt p;
  const bool assigns = s.kind != SyntaxStmt::Kind::kReduce;
  p.kind = assigns ? PatternStmt::Kind::kAssign : PatternStmt::Kind::kReduce;
  p.op = s.op;
  p.first = convert(*s.value);
  PatternExpr target = convert(*s.target);
  if (target.kind == PatternExpr::Kind::kConfig) {
    if (!assigns) throw InputError(s.where, "a configuration field is assigned with `=` only");
    p.kind = PatternStmt::Kind::kWriteConfig;
    p.field = target.field;
  }
  // Refused here, since it would match nothing and say nothing.
  if (!target.window.empty()) throw InputError(s.where, "a window cannot be written to");
  p.name = s.target->name;
  // `x = _` finds assignments to any element of x.
  p.any_idx = target.any_children;
  p.idx = std::move(target.children);
  return p;
}

PatternStmt convert_allocation(const SyntaxStmt& s) {
  PatternStmt p;
  p.kind = PatternStmt::Kind::kAlloc;
  p.name = s.target->name;
  for (const SyntaxExpr& e : s.type.shape) p.idx.push_back(convert(e));
  p.any_idx = p.idx.empty() || is_single_hole(p.idx);
  if (s.type.scalar == "_") return p;
  p.precision = scalar_type(s.type.scalar);
  if (!p.precision || is_control(*p.precision))
    throw InputError(s.type.where, "there is no precision `" + s.type.scalar + "`");
  return p;
}

// A call, or a lone `_`: any run of statements.
PatternStmt convert_expression(const SyntaxExpr& e) {
  PatternStmt p;
  if (e.is_hole()) return p;
  if (e.kind != SyntaxExpr::Kind::kCall || is_extern(e.name))
    throw InputError(e.where, "an expression cannot stand among statements");
  p.kind = PatternStmt::Kind::kCall;
  p.name = e.name;
  for (const SyntaxExpr& c : e.children) p.idx.push_back(convert(c));
  p.any_idx = is_single_hole(p.idx);
  return p;
}

PatternStmt convert_branch(const SyntaxStmt& s) {
  PatternStmt p;
  p.kind = PatternStmt::Kind::kIf;
  p.first = convert(*s.value);
  p.body = convert(s.body);
  p.orelse = convert(s.orelse);
  p.has_orelse = !s.orelse.empty();
  return p;
}

PatternStmt convert_loop(const SyntaxStmt& s) {
  PatternStmt p;
  p.kind = PatternStmt::Kind::kFor;
  p.name = s.target->name;
  p.body = convert(s.body);
  const SyntaxExpr& range = *s.value;
  // Bounds and mode are left open: `for i in _`.
  if (range.is_hole()) return p;
  const bool call = range.kind == SyntaxExpr::Kind::kCall;
  if (!call || (range.name != "seq" && range.name != "par" && range.name != "_"))
    throw InputError(range.where, "a loop runs over `_`, `seq(lo, hi)` or `par(lo, hi)`");
  if (range.name == "seq") p.mode = LoopMode::kSeq;
  if (range.name == "par") p.mode = LoopMode::kPar;
  // `par(_)`: a parallel loop of whatever bounds.
  if (range.children.size() == 1 && range.children[0].is_hole()) return p;
  if (range.children.size() != 2)
    throw InputError(range.where, "`" + range.name + "` takes two bounds");
  p.first = convert(range.children[0]);
  p.second = convert(range.children[1]);
  return p;
}

PatternStmt convert(const SyntaxStmt& s) {
  switch (s.kind) {
    case SyntaxStmt::Kind::kAssign:
    case SyntaxStmt::Kind::kReduce:
      return convert_assignment(s);
    case SyntaxStmt::Kind::kAlloc:
      return convert_allocation(s);
    case SyntaxStmt::Kind::kExpr:
      return convert_expression(*s.value);
    case SyntaxStmt::Kind::kIf:
      return convert_branch(s);
    case SyntaxStmt::Kind::kFor:
      return convert_loop(s);
    case SyntaxStmt::Kind::kPass: {
      PatternStmt p;
      p.kind = PatternStmt::Kind::kPass;
      return p;
    }
    case SyntaxStmt::Kind::kAssert:
      throw InputError(s.where, "patterns find statements, and an `assert` is none");
  }
  EXO_CHECK(false);
}

std::vector<PatternStmt> convert(const std::vector<SyntaxStmt>& stmts) {
  std::vector<PatternStmt> out;
  for (const SyntaxStmt& s : stmts) {
    out.push_back(convert(s));
    // `x : f32 = e`, as procedures have it: two statements.
    if (s.kind == SyntaxStmt::Kind::kAlloc && s.value) out.push_back(convert_assignment(s));
  }
  return out;
}

// Splits a trailing "#n" off.
// The index counts matches from 0 in the order of the text.
std::optional<int> take_index(std::string_view& text) {
  size_t hash = text.rfind('#');
  if (hash == std::string_view::npos) return {};
  std::string_view digits = text.substr(hash + 1);
  while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
  while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  SourceLocation where{nullptr, 1, static_cast<int>(hash) + 1};
  // Six digits: no procedure has a million matches, and the number cannot overflow.
  if (digits.empty() || digits.size() > 6 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    throw InputError(where, "after `#` stands the number of the match, counted from 0",
                     "write `for i in _: _ #1` for the second one");
  }
  int n = 0;
  for (char c : digits) n = n * 10 + (c - '0');
  text = text.substr(0, hash);
  return n;
}

// Without blank lines at the ends, and with the first line's indentation taken from every line.
// Multi-line patterns are written with the indentation of the schedule around them.
std::string dedent(std::string_view text) {
  const char* kBlank = " \t\r\n\f";
  size_t end = text.find_last_not_of(kBlank);
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  size_t start = text.find_first_not_of(kBlank);
  size_t line = text.rfind('\n', start);
  // How far the first line is from the left.
  size_t indent = start - (line == std::string_view::npos ? 0 : line + 1);
  std::string out;
  for (size_t at = start - indent; at < text.size();) {
    size_t next = text.find('\n', at);
    std::string_view one = text.substr(at, next == std::string_view::npos ? next : next - at);
    // A line further left than the first loses what it has, no more.
    size_t blank = std::min(one.find_first_not_of(" \t"), one.size());
    out += one.substr(std::min(indent, blank));
    if (next == std::string_view::npos) break;
    out += '\n';
    at = next + 1;
  }
  return out;
}

}  // namespace

std::string Pattern::bare_name() const {
  if (!is_expr()) return "";
  const PatternExpr& e = expr();
  bool bare = e.kind == PatternExpr::Kind::kRead && e.any_children && e.children.empty();
  return bare ? e.name : "";
}

Pattern parse_pattern(std::string_view text) {
  Pattern pattern;
  pattern.text = std::string(text);
  std::string_view rest = text;
  pattern.nth = take_index(rest);
  std::string body = dedent(rest);
  if (body.empty()) throw InputError(SourceLocation{nullptr, 1, 1}, "an empty pattern");
  TokenStream t(body, "");
  std::vector<SyntaxStmt> stmts;
  // A lone expression parses as a statement, too, and is told apart below.
  while (!t.at(Token::Kind::kEnd)) parse_statement(t, stmts);
  if (stmts.empty()) t.fail("a statement or an expression");
  const SyntaxStmt& first = stmts[0];
  if (stmts.size() == 1 && first.kind == SyntaxStmt::Kind::kExpr && !first.value->is_hole() &&
      (first.value->kind != SyntaxExpr::Kind::kCall || is_extern(first.value->name))) {
    pattern.what = convert(*first.value);
  } else {
    pattern.what = convert(stmts);
  }
  return pattern;
}

// Searches ask for the same few patterns millions of times: they are parsed once a thread, so that
// no lock is needed. Emptied when full.
std::shared_ptr<const Pattern> cached_pattern(const std::string& text) {
  constexpr size_t kCapacity = 1024;
  thread_local std::unordered_map<std::string, std::shared_ptr<const Pattern>> cache;
  auto it = cache.find(text);
  if (it != cache.end()) return it->second;
  auto pattern = std::make_shared<const Pattern>(parse_pattern(text));
  if (cache.size() >= kCapacity) cache.clear();
  cache.emplace(text, pattern);
  return pattern;
}

}  // namespace exotune
