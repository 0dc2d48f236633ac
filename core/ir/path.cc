#include "core/ir/path.h"

#include <algorithm>

#include "core/base/diagnostic.h"

namespace exotune {

std::string str(const Path& path) {
  static const char* const names[] = {"body", "orelse", "expr"};
  std::string out;
  for (const Step& s : path) {
    if (!out.empty()) out += '.';
    out += names[static_cast<int>(s.child)];
    out += "[" + std::to_string(s.index) + "]";
  }
  return out;
}

namespace {
const Block& child_block(const Stmt& s, Child c) {
  return c == Child::kOrelse ? orelse_of(s) : body_of(s);
}
bool in_range(int index, size_t size) { return index >= 0 && static_cast<size_t>(index) < size; }
}  // namespace

// The statement a path leads to, its expression steps left out. Null where there is none: paths
// come from users' cursors and from forwarding, and may be stale.
StmtPtr stmt_at(const Proc& p, const Path& path) {
  StmtPtr s;
  const Block* block = &p.body;
  for (const Step& step : path) {
    // What follows are steps within the statement's expressions.
    if (step.child == Child::kExpr) break;
    // The first step is into the procedure's own body, each further one into a block of the
    // statement before.
    if (s) block = &child_block(*s, step.child);
    if (!in_range(step.index, block->size())) return nullptr;
    s = (*block)[step.index];
  }
  return s;
}

ExprPtr expr_at(const Proc& p, const Path& path) {
  StmtPtr s = stmt_at(p, path);
  if (!s) return nullptr;
  ExprPtr e;
  for (const Step& step : path) {
    if (step.child != Child::kExpr) continue;
    std::vector<ExprPtr> children = e ? expr_children(*e) : stmt_exprs(*s);
    if (!in_range(step.index, children.size())) return nullptr;
    e = children[step.index];
  }
  return e;
}

const Block& block_at(const Proc& p, const Path& path) {
  Path stmts = stmt_part(path);
  EXO_CHECK(!stmts.empty());
  Child last = stmts.back().child;
  stmts.pop_back();
  if (stmts.empty()) return p.body;
  StmtPtr parent = stmt_at(p, stmts);
  EXO_CHECK(parent != nullptr);
  return child_block(*parent, last);
}

Path stmt_part(const Path& path) {
  Path out = path;
  while (!out.empty() && out.back().child == Child::kExpr) out.pop_back();
  return out;
}

Path parent_stmt(const Path& stmt_path) {
  Path out = stmt_part(stmt_path);
  // The procedure is no statement, so that its statements have no parent.
  EXO_CHECK(!out.empty());
  out.pop_back();
  return out;
}

Path sibling(const Path& path, int offset) {
  Path out = path;
  EXO_CHECK(!out.empty());
  out.back().index += offset;
  return out;
}

bool is_prefix(const Path& prefix, const Path& path) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

namespace {

// Rebuilds the blocks on the path and shares all others: `n` statements from the path's end on
// become `with`.
Block splice_block(const Block& b, const Path& path, size_t depth, int n, const Block& with) {
  Block out;
  const Step& step = path[depth];
  // The block that holds the place itself.
  if (depth + 1 == path.size()) {
    EXO_CHECK(step.index >= 0 && n >= 0 && static_cast<size_t>(step.index + n) <= b.size());
    out.reserve(b.size() - static_cast<size_t>(n) + with.size());
    out.insert(out.end(), b.begin(), b.begin() + step.index);
    out.insert(out.end(), with.begin(), with.end());
    out.insert(out.end(), b.begin() + step.index + n, b.end());
    return out;
  }
  EXO_CHECK(in_range(step.index, b.size()));
  out = b;
  StmtPtr& s = out[static_cast<size_t>(step.index)];
  Block body = body_of(*s), orelse = orelse_of(*s);
  // Which block the path goes on in is said by its next step.
  Block& inner = path[depth + 1].child == Child::kOrelse ? orelse : body;
  inner = splice_block(inner, path, depth + 1, n, with);
  s = with_blocks(s, std::move(body), std::move(orelse));
  return out;
}

// Rebuilds the expressions on the path, as splice_block does the blocks.
ExprPtr replace_at(const ExprPtr& e, const Path& path, size_t depth, const ExprPtr& with) {
  if (depth == path.size()) return with;
  std::vector<ExprPtr> children = expr_children(*e);
  EXO_CHECK(in_range(path[depth].index, children.size()));
  ExprPtr& child = children[static_cast<size_t>(path[depth].index)];
  child = replace_at(child, path, depth + 1, with);
  return with_children(e, children);
}

}  // namespace

Block splice(const Proc& p, const Path& first, int n, const Block& with) {
  EXO_CHECK(!first.empty());
  return splice_block(p.body, first, 0, n, with);
}

Block with_expr_at(const Proc& p, const Path& path, const ExprPtr& e) {
  Path at = stmt_part(path);
  EXO_CHECK(at.size() < path.size());
  StmtPtr s = stmt_at(p, at);
  EXO_CHECK(s != nullptr);
  std::vector<ExprPtr> exprs = stmt_exprs(*s);
  EXO_CHECK(in_range(path[at.size()].index, exprs.size()));
  ExprPtr& slot = exprs[static_cast<size_t>(path[at.size()].index)];
  slot = replace_at(slot, path, at.size() + 1, e);
  return splice(p, at, 1, {with_exprs(s, exprs)});
}

namespace {
// Calls f(name, entry) for every name visible at `path`, outermost first; `entry()` makes its
// entry, which copies a type.
template <class F>
void visit_scope(const Proc& p, const Path& path, const F& f) {
  for (const Arg& a : p.args) f(a.name, [&] { return ScopeEntry{a.name, a.type, a.mem, nullptr}; });
  const Block* block = &p.body;
  Path at = stmt_part(path);
  for (size_t d = 0; d < at.size(); ++d) {
    // In each block on the way only what stands before the path: declarations are seen from there
    // on.
    size_t upto = std::min(static_cast<size_t>(std::max(at[d].index, 0)), block->size());
    for (size_t k = 0; k < upto; ++k) {
      const Stmt& s = *(*block)[k];
      if (const Alloc* a = s.as<Alloc>())
        f(a->name, [&] { return ScopeEntry{a->name, a->type, a->mem, nullptr}; });
      if (const WindowStmt* w = s.as<WindowStmt>())
        f(w->name, [&] { return ScopeEntry{w->name, w->type, nullptr, w}; });
    }
    // At the end of the path: the statement itself declares nothing for itself.
    if (d + 1 == at.size() || !in_range(at[d].index, block->size())) break;
    const Stmt& s = *(*block)[static_cast<size_t>(at[d].index)];
    if (const For* l = s.as<For>())
      // Inside the loop, the iterator; its bounds do not see it.
      f(l->iter, [&] {
        return ScopeEntry{l->iter, Type{ScalarType::kIndex, {}, false}, nullptr, nullptr};
      });
    block = &child_block(s, at[d + 1].child);
  }
}
}  // namespace

std::vector<ScopeEntry> scope_at(const Proc& p, const Path& path) {
  std::vector<ScopeEntry> out;
  // A window lies where its source does, which was declared before it.
  visit_scope(p, path, [&](Sym, const auto& entry) {
    ScopeEntry e = entry();
    if (e.window)
      for (const ScopeEntry& o : out)
        if (o.name == e.window->rhs->as<WindowExpr>()->name) e.mem = o.mem;
    out.push_back(std::move(e));
  });
  return out;
}

std::optional<ScopeEntry> lookup(const Proc& p, const Path& path, Sym s) {
  std::optional<ScopeEntry> found;
  // Symbols are unique: the last is the only one.
  visit_scope(p, path, [&](Sym name, const auto& entry) {
    if (name == s) found = entry();
  });
  if (found && found->window)
    if (auto source = lookup(p, path, found->window->rhs->as<WindowExpr>()->name))
      found->mem = source->mem;
  return found;
}

namespace {
// In the order of the text, each statement before what it holds.
void collect_paths(const Block& b, Path& prefix, Child child, std::vector<Path>& out) {
  for (size_t k = 0; k < b.size(); ++k) {
    prefix.push_back({child, static_cast<int>(k)});
    out.push_back(prefix);
    collect_paths(body_of(*b[k]), prefix, Child::kBody, out);
    collect_paths(orelse_of(*b[k]), prefix, Child::kOrelse, out);
    prefix.pop_back();
  }
}
}  // namespace

std::vector<Path> all_stmt_paths(const Proc& p) {
  std::vector<Path> out;
  Path prefix;
  collect_paths(p.body, prefix, Child::kBody, out);
  return out;
}

}  // namespace exotune
