// Where: places given by cursor or by pattern, resolved in the proc they are used on.
#include <cctype>
#include <cstdlib>

#include "core/frontend/parser.h"
#include "core/primitives/internal.h"

namespace exotune {

using internal::here;

namespace {

// "name" or "name #2".
bool is_bare_name(const std::string& text) {
  size_t k = 0;
  auto word = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  while (k < text.size() && word(text[k])) ++k;
  if (k == 0 || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  while (k < text.size() && text[k] == ' ') ++k;
  if (k == text.size()) return true;
  if (text[k] != '#') return false;
  for (++k; k < text.size(); ++k)
    if (!std::isdigit(static_cast<unsigned char>(text[k])) && text[k] != ' ') return false;
  return true;
}

// A statement cursor; a block of one counts.
Cursor as_stmt(const Cursor& c, const char* wanted) {
  if (c.kind() == CursorKind::kStmt) return c;
  if (c.kind() == CursorKind::kBlock && c.length() == 1) return c[0];
  throw InvalidCursorError(
      std::string("expected ") + wanted + ", found a cursor to " +
      (c.kind() == CursorKind::kBlock ? "a block of several statements" : name_of(c.kind())));
}

template <class... T>
Cursor require_node(const Cursor& c, const char* wanted) {
  Cursor s = as_stmt(c, wanted);
  if ((s.is<T>() || ...)) return s;
  throw InvalidCursorError(std::string("expected ") + wanted + ", found '" + s.describe() + "'");
}

}  // namespace

Cursor Where::loop(const ProcPtr& p) const {
  if (cursor_) return require_node<For>(here(p, *cursor_), "a loop");
  return require_node<For>(is_bare_name(pattern_) ? find_loop(p, pattern_) : find(p, pattern_),
                           "a loop");
}

Cursor Where::scope(const ProcPtr& p) const {
  if (cursor_) return require_node<For, If>(here(p, *cursor_), "a loop or an if");
  return require_node<For, If>(is_bare_name(pattern_) ? find_loop(p, pattern_) : find(p, pattern_),
                               "a loop or an if");
}

Cursor Where::nested(const ProcPtr& p) const {
  auto inner_of = [](const Cursor& outer) -> const For* {
    const Block& body = outer.as<For>().body;
    return body.size() == 1 ? body[0]->as<For>() : nullptr;
  };
  size_t space = pattern_.find(' ');
  if (!cursor_ && space != std::string::npos && is_bare_name(pattern_.substr(0, space)) &&
      is_bare_name(pattern_.substr(space + 1))) {
    std::string inner = pattern_.substr(space + 1);
    size_t hash = inner.find('#');
    std::string digits = hash == std::string::npos ? "" : inner.substr(hash + 1);
    int nth = digits.size() > 6 ? 1'000'000 : std::atoi(digits.c_str());
    inner = inner.substr(0, inner.find_first_of(" #"));
    if (!inner.empty()) {
      for (const Cursor& c : find_all(p, "for " + pattern_.substr(0, space) + " in _: _"))
        if (const For* f = inner_of(c); f && f->iter.name() == inner && nth-- == 0) return c;
      throw InvalidCursorError("no loop '" + pattern_.substr(0, space) + "' holds just the loop '" +
                               inner + "'");
    }
  }
  Cursor outer = loop(p);
  if (!inner_of(outer))
    throw InvalidCursorError("'" + outer.describe() + "' does not hold just one loop");
  return outer;
}

Cursor Where::stmt(const ProcPtr& p) const {
  if (cursor_) return as_stmt(here(p, *cursor_), "a statement");
  return as_stmt(
      is_bare_name(pattern_) && pattern_ != "pass" ? find_loop(p, pattern_) : find(p, pattern_),
      "a statement");
}

Cursor Where::block(const ProcPtr& p) const {
  Cursor c = cursor_                                        ? here(p, *cursor_)
             : is_bare_name(pattern_) && pattern_ != "pass" ? find_loop(p, pattern_)
                                                            : find(p, pattern_);
  if (c.kind() == CursorKind::kBlock) return c;
  return as_stmt(c, "a block of statements").as_block();
}

Cursor Where::gap(const ProcPtr& p) const {
  Cursor c = cursor_ ? here(p, *cursor_) : find(p, pattern_);
  if (c.kind() == CursorKind::kGap) return c;
  return as_stmt(c, "a gap").after();
}

Cursor Where::expr(const ProcPtr& p) const {
  Cursor c = cursor_ ? here(p, *cursor_) : find(p, pattern_);
  if (c.kind() == CursorKind::kExpr) return c;
  throw InvalidCursorError(std::string("expected an expression, found a cursor to ") +
                           name_of(c.kind()));
}

Cursor Where::buffer(const ProcPtr& p) const {
  Cursor c = cursor_                  ? here(p, *cursor_)
             : is_bare_name(pattern_) ? find_alloc_or_arg(p, pattern_)
                                      : find(p, pattern_);
  if (c.kind() == CursorKind::kArg) return c;
  return require_node<Alloc>(c, "an allocation or argument");
}

Cursor Where::alloc(const ProcPtr& p) const {
  Cursor c = buffer(p);
  if (c.kind() == CursorKind::kArg)
    throw InvalidCursorError("expected an allocation, found the argument '" +
                             p->args[static_cast<size_t>(c.arg_index())].name.name() + "'");
  return c;
}

Cursor Where::call(const ProcPtr& p) const {
  if (cursor_) return require_node<Call>(here(p, *cursor_), "a call");
  std::string pattern = pattern_;
  if (is_bare_name(pattern)) {
    size_t end = pattern.find_first_of(" #");
    pattern =
        pattern.substr(0, end) + "(_)" + (end == std::string::npos ? "" : pattern.substr(end));
  }
  return require_node<Call>(find(p, pattern), "a call");
}

Value Where::value() const { return cursor_ ? Value(*cursor_) : Value(pattern_); }

namespace {

void collect_configs(const ExprPtr& e, std::map<std::string, ConfigPtr>& into) {
  if (const ReadConfig* r = e->as<ReadConfig>()) into[r->config->name] = r->config;
  for (const ExprPtr& c : expr_children(*e)) collect_configs(c, into);
}

void collect_configs(const Proc& p, std::map<std::string, ConfigPtr>& into) {
  for (const ExprPtr& e : p.asserts) collect_configs(e, into);
  for_each_expr(p.body, [&](const ExprPtr& e) { collect_configs(e, into); });
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const WriteConfig* w = s->as<WriteConfig>()) into[w->config->name] = w->config;
    if (const Call* c = s->as<Call>()) collect_configs(*c->callee, into);
  });
}

// Those that the proc or a callee mentions, when `text` may name one.
std::map<std::string, ConfigPtr> configs_for(const Proc& p, const std::string& text) {
  std::map<std::string, ConfigPtr> configs;
  if (text.find('.') != std::string::npos) collect_configs(p, configs);
  return configs;
}

}  // namespace

ExprPtr parse_expr_at(const ProcPtr& p, const Path& at, const std::string& text) {
  return parse_control_expr(text, scope_at(*p, at), configs_for(*p, text));
}

ExprPtr parse_window_at(const Proc& p, const Path& at, const std::string& text) {
  return parse_window(text, scope_at(p, at), configs_for(p, text));
}

}  // namespace exotune
