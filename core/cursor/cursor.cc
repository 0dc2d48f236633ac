#include "core/cursor/cursor.h"

#include "core/ir/printer.h"

namespace exotune {

const char* name_of(CursorKind k) {
  static const char* const names[] = {"invalid", "statement",  "block",
                                      "gap",     "expression", "argument"};
  return names[static_cast<int>(k)];
}

namespace {
[[noreturn]] void wrong_kind(const Cursor& c, const char* wanted) {
  throw InvalidCursorError(std::string("expected a ") + wanted + " cursor, got " +
                           (c.valid() ? std::string("a ") + name_of(c.kind()) + " cursor"
                                      : "a cursor whose target is gone"));
}
}  // namespace

// Cursors are checked when they are made: one that exists points at something of its kind in its
// procedure.
Cursor Cursor::stmt(ProcPtr p, Path path) {
  EXO_CHECK(stmt_at(*p, path) != nullptr);
  Cursor c;
  c.proc_ = std::move(p);
  c.kind_ = CursorKind::kStmt;
  c.path_ = std::move(path);
  return c;
}
Cursor Cursor::block(ProcPtr p, Path first, int length) {
  Cursor c = stmt(std::move(p), std::move(first));
  EXO_CHECK(length > 0);
  c.kind_ = CursorKind::kBlock;
  c.length_ = length;
  return c;
}
Cursor Cursor::gap(ProcPtr p, Path before) {
  Cursor c;
  c.proc_ = std::move(p);
  c.kind_ = CursorKind::kGap;
  c.path_ = std::move(before);
  return c;
}
Cursor Cursor::expr(ProcPtr p, Path path) {
  EXO_CHECK(expr_at(*p, path) != nullptr);
  Cursor c;
  c.proc_ = std::move(p);
  c.kind_ = CursorKind::kExpr;
  c.path_ = std::move(path);
  return c;
}
Cursor Cursor::arg(ProcPtr p, int index) {
  EXO_CHECK(index >= 0 && static_cast<size_t>(index) < p->args.size());
  Cursor c;
  c.proc_ = std::move(p);
  c.kind_ = CursorKind::kArg;
  c.length_ = index;
  return c;
}
Cursor Cursor::invalid(ProcPtr p) {
  Cursor c;
  c.proc_ = std::move(p);
  return c;
}

// Looks the path up again each time: procedures are immutable, so the answer never changes, and a
// cursor stays two words and a path.
StmtPtr Cursor::stmt() const {
  if (kind_ == CursorKind::kStmt || (kind_ == CursorKind::kBlock && length_ == 1))
    return stmt_at(*proc_, path_);
  wrong_kind(*this, "statement");
}

ExprPtr Cursor::expr() const {
  if (kind_ != CursorKind::kExpr) wrong_kind(*this, "expression");
  return expr_at(*proc_, path_);
}

Block Cursor::stmts() const {
  if (kind_ == CursorKind::kStmt) return {stmt_at(*proc_, path_)};
  if (kind_ != CursorKind::kBlock) wrong_kind(*this, "block");
  const exotune::Block& b = block_at(*proc_, path_);
  auto first = b.begin() + path_.back().index;
  return {first, first + length_};
}

void Cursor::wrong_node() const {
  throw InvalidCursorError("the cursor points at `" + describe() +
                           "`, which is another kind of statement");
}

// Out of an expression to the one around it, then to its statement, then to the loop or branch;
// invalid at the top.
Cursor Cursor::parent() const {
  if (kind_ == CursorKind::kExpr) {
    Path up = path_;
    up.pop_back();
    return up.back().child == Child::kExpr ? expr(proc_, up) : stmt(proc_, up);
  }
  if (kind_ == CursorKind::kInvalid || kind_ == CursorKind::kArg) wrong_kind(*this, "statement");
  Path up = parent_stmt(path_);
  return up.empty() ? invalid(proc_) : stmt(proc_, up);
}

// Within its block; leaving it is an error with how many there are, since a schedule that counts
// statements wants to know.
Cursor Cursor::next(int distance) const {
  if (kind_ != CursorKind::kStmt && kind_ != CursorKind::kBlock) wrong_kind(*this, "statement");
  Path to = sibling(path_, distance > 0 ? distance + length_ - 1 : distance);
  if (to.back().index < 0 || !stmt_at(*proc_, to))
    throw InvalidCursorError("there is no statement " + std::to_string(distance) + " steps from `" +
                             describe() + "`");
  return stmt(proc_, to);
}
Cursor Cursor::prev(int distance) const { return next(-distance); }

Cursor Cursor::before() const {
  if (kind_ != CursorKind::kStmt && kind_ != CursorKind::kBlock) wrong_kind(*this, "statement");
  return gap(proc_, path_);
}
Cursor Cursor::after() const {
  if (kind_ != CursorKind::kStmt && kind_ != CursorKind::kBlock) wrong_kind(*this, "statement");
  return gap(proc_, sibling(path_, length_));
}
Cursor Cursor::anchor() const {
  if (kind_ != CursorKind::kGap) wrong_kind(*this, "gap");
  if (stmt_at(*proc_, path_)) return stmt(proc_, path_);
  if (path_.back().index > 0) return stmt(proc_, sibling(path_, -1));
  return invalid(proc_);
}

namespace {
Cursor block_under(const Cursor& c, Child child, const exotune::Block& b) {
  if (b.empty()) return Cursor::invalid(c.proc());
  Path first = c.path();
  first.push_back({child, 0});
  return Cursor::block(c.proc(), first, static_cast<int>(b.size()));
}
}  // namespace

Cursor Cursor::body() const {
  StmtPtr s = stmt();
  if (!s->as<For>() && !s->as<If>()) wrong_kind(*this, "for or if");
  return block_under(*this, Child::kBody, exotune::body_of(*s));
}
Cursor Cursor::orelse() const {
  as<If>();
  return block_under(*this, Child::kOrelse, orelse_of(*stmt()));
}

Cursor Cursor::operator[](int k) const {
  if (kind_ != CursorKind::kBlock && kind_ != CursorKind::kStmt) wrong_kind(*this, "block");
  int at = k < 0 ? length_ + k : k;
  if (at < 0 || at >= length_)
    throw InvalidCursorError("statement " + std::to_string(k) + " of a block of " +
                             std::to_string(length_));
  return stmt(proc_, sibling(path_, at));
}

Cursor Cursor::as_block() const {
  if (kind_ == CursorKind::kBlock) return *this;
  if (kind_ != CursorKind::kStmt) wrong_kind(*this, "statement");
  return block(proc_, path_, 1);
}

// Grows a block on both sides, within its block of the program.
Cursor Cursor::expand(int before, int after) const {
  Cursor c = as_block();
  int size = static_cast<int>(block_at(*proc_, path_).size());
  int first = path_.back().index;
  int left = before < 0 ? first : std::min(before, first);
  int right = after < 0 ? size : after;
  right = std::min(right, size - first - length_);
  return block(proc_, sibling(path_, -left), length_ + left + right);
}

Cursor Cursor::child_expr(int k) const {
  size_t count =
      kind_ == CursorKind::kExpr ? expr_children(*expr()).size() : stmt_exprs(*stmt()).size();
  if (k < 0 || static_cast<size_t>(k) >= count)
    throw InvalidCursorError("`" + describe() + "` has no expression " + std::to_string(k));
  Path to = path_;
  to.push_back({Child::kExpr, k});
  return expr(proc_, to);
}

Cursor Cursor::lo() const { return as<For>(), child_expr(0); }
Cursor Cursor::hi() const { return as<For>(), child_expr(1); }
Cursor Cursor::cond() const { return as<If>(), child_expr(0); }
Cursor Cursor::rhs() const {
  StmtPtr s = stmt();
  if (!s->as<Assign>() && !s->as<Reduce>() && !s->as<WriteConfig>() && !s->as<WindowStmt>())
    wrong_node();
  return child_expr(static_cast<int>(stmt_exprs(*s).size()) - 1);
}
std::vector<Cursor> Cursor::idx() const {
  size_t n = 0;
  if (kind_ == CursorKind::kExpr) {
    n = expr_children(*expr()).size();
  } else {
    StmtPtr s = stmt();
    if (!s->as<Assign>() && !s->as<Reduce>()) wrong_node();
    n = stmt_exprs(*s).size() - 1;
  }
  std::vector<Cursor> out;
  for (size_t k = 0; k < n; ++k) out.push_back(child_expr(static_cast<int>(k)));
  return out;
}
std::vector<Cursor> Cursor::args() const {
  size_t n = kind_ == CursorKind::kExpr ? expr_children(*expr()).size() : as<Call>().args.size();
  std::vector<Cursor> out;
  for (size_t k = 0; k < n; ++k) out.push_back(child_expr(static_cast<int>(k)));
  return out;
}

// For messages: the first line of what it points at.
std::string Cursor::describe() const {
  switch (kind_) {
    case CursorKind::kInvalid:
      return "<gone>";
    case CursorKind::kArg: {
      const Arg& a = proc_->args[static_cast<size_t>(length_)];
      return a.name.name() + ": " + str(a.type);
    }
    case CursorKind::kExpr:
      return str(expr());
    case CursorKind::kGap: {
      Cursor near = anchor();
      return near.valid() ? "gap at " + near.describe() : "gap";
    }
    case CursorKind::kStmt:
    case CursorKind::kBlock:
      break;
  }
  std::string text = str(stmt_at(*proc_, path_));
  size_t end = text.find('\n');
  bool more = end + 1 < text.size() || length_ > 1;
  return text.substr(0, end) + (more ? " ..." : "");
}

Cursor body_of(const ProcPtr& p) {
  EXO_CHECK(!p->body.empty());
  return Cursor::block(p, {{Child::kBody, 0}}, static_cast<int>(p->body.size()));
}

}  // namespace exotune
