// Pattern matching: walks a proc once in pre-order and prints nothing. See cursor.h for what a
// pattern is and core/frontend/pattern.h for its syntax tree.
#include <algorithm>
#include <map>
#include <set>

#include "core/cursor/cursor.h"
#include "core/frontend/pattern.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

using Names = std::map<Sym, std::string>;

// A pattern against the program, node by node. `_` is any expression or statement, names match what
// the user sees; types and memories are not looked at.
class Matcher {
 public:
  /// `printed`: names also answer to the spelling they print by (`i_1` for a second visible i).
  explicit Matcher(const Names* printed = nullptr) : printed_(printed) {}

  bool expr(const PatternExpr& p, const ExprPtr& e) const {
    using Kind = PatternExpr::Kind;
    switch (p.kind) {
      case Kind::kHole:
        return true;
      case Kind::kRead:
        return read(p, *e);
      case Kind::kConst: {
        const Const* c = e->as<Const>();
        return c && same_constant(p.value, c->value);
      }
      case Kind::kUSub: {
        const USub* n = e->as<USub>();
        return n && expr(p.children[0], n->arg);
      }
      case Kind::kNot: {
        const Not* n = e->as<Not>();
        return n && expr(p.children[0], n->arg);
      }
      case Kind::kBinOp: {
        const BinOp* n = e->as<BinOp>();
        return n && n->op == p.op && expr(p.children[0], n->lhs) && expr(p.children[1], n->rhs);
      }
      case Kind::kExtern: {
        if (const Cast* c = e->as<Cast>())
          return text(p.name, name_of(e->type)) && list(p.children, p.any_children, {c->arg});
        const Extern* n = e->as<Extern>();
        return n && text(p.name, n->fn) && list(p.children, p.any_children, n->args);
      }
      case Kind::kStride: {
        const StrideExpr* n = e->as<StrideExpr>();
        return n && name(p.name, n->name) && (p.dim < 0 || p.dim == n->dim);
      }
      case Kind::kConfig: {
        const ReadConfig* n = e->as<ReadConfig>();
        return n && text(p.name, n->config->name) && text(p.field, n->field);
      }
    }
    return false;
  }

  bool stmt(const PatternStmt& p, const Stmt& s) const {
    using Kind = PatternStmt::Kind;
    switch (p.kind) {
      case Kind::kHole:
        return true;
      case Kind::kPass:
        return s.as<Pass>() != nullptr;
      case Kind::kAssign:
        if (const Assign* n = s.as<Assign>()) {
          return name(p.name, n->name) && list(p.idx, p.any_idx, n->idx) && expr(*p.first, n->rhs);
        }
        if (const WindowStmt* n = s.as<WindowStmt>()) {
          return p.idx.empty() && name(p.name, n->name) && expr(*p.first, n->rhs);
        }
        return false;
      case Kind::kReduce: {
        const Reduce* n = s.as<Reduce>();
        return n && n->op == p.op && name(p.name, n->name) && list(p.idx, p.any_idx, n->idx) &&
               expr(*p.first, n->rhs);
      }
      case Kind::kWriteConfig: {
        const WriteConfig* n = s.as<WriteConfig>();
        return n && text(p.name, n->config->name) && text(p.field, n->field) &&
               expr(*p.first, n->rhs);
      }
      case Kind::kIf: {
        const If* n = s.as<If>();
        return n && expr(*p.first, n->cond) && prefix(p.body, n->body) &&
               (!p.has_orelse || (!n->orelse.empty() && prefix(p.orelse, n->orelse)));
      }
      case Kind::kFor: {
        const For* n = s.as<For>();
        return n && name(p.name, n->iter) && (!p.mode || *p.mode == n->mode) &&
               (!p.first || expr(*p.first, n->lo)) && (!p.second || expr(*p.second, n->hi)) &&
               prefix(p.body, n->body);
      }
      case Kind::kAlloc: {
        const Alloc* n = s.as<Alloc>();
        return n && name(p.name, n->name) && (!p.precision || *p.precision == n->type.scalar) &&
               list(p.idx, p.any_idx, n->type.shape);
      }
      case Kind::kCall: {
        const Call* n = s.as<Call>();
        return n && text(p.name, n->callee->name) && list(p.idx, p.any_idx, n->args);
      }
    }
    return false;
  }

  /// The number of statements from `at` that `ps` covers; 0: no match. A hole covers any run; the
  /// last one covers the rest of the block when something stands before it, else one statement.
  size_t sequence(const std::vector<PatternStmt>& ps, const Block& b, size_t at) const {
    if (ps.size() == 1 && at < b.size()) return stmt(ps[0], *b[at]) ? 1 : 0;
    size_t end = run(ps, 0, b, at);
    return end == kNone ? 0 : end - at;
  }
  bool prefix(const std::vector<PatternStmt>& ps, const Block& b) const {
    return ps.empty() || run(ps, 0, b, 0) != kNone;
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  // Where the match of ps[i...] from b[j] ends. Each hole takes as little as possible; as only the
  // first success of each tail matters, this stays linear per hole.
  size_t run(const std::vector<PatternStmt>& ps, size_t i, const Block& b, size_t j) const {
    size_t hole = kNone, resume = 0;
    while (i < ps.size()) {
      if (ps[i].kind == PatternStmt::Kind::kHole) {
        if (i + 1 == ps.size()) return b.size();
        hole = ++i;
        resume = j;
      } else if (j < b.size() && stmt(ps[i], *b[j])) {
        ++i;
        ++j;
      } else if (hole != kNone && resume < b.size()) {
        i = hole;
        j = ++resume;
      } else {
        return kNone;
      }
    }
    return j;
  }

  // Names without a symbol: procedures, fields, functions. They are printed as they are.
  bool text(const std::string& p, const std::string& name) const { return p == "_" || p == name; }
  // A symbol's own name, or the one that it is printed under where another of that name shadows
  // it.
  bool name(const std::string& p, Sym s) const {
    if (p == "_" || p == s.name()) return true;
    if (!printed_) return false;
    auto it = printed_->find(s);
    return it != printed_->end() && it->second == p;
  }
  bool list(const std::vector<PatternExpr>& ps, bool any, const std::vector<ExprPtr>& es) const {
    if (any) return true;
    if (ps.size() != es.size()) return false;
    for (size_t k = 0; k < ps.size(); ++k)
      if (!expr(ps[k], es[k])) return false;
    return true;
  }
  // A bare name also matches an access with any subscripts: `x` finds x[i, j].
  bool read(const PatternExpr& p, const Expr& e) const {
    if (const Read* n = e.as<Read>()) {
      return p.window.empty() && name(p.name, n->name) && list(p.children, p.any_children, n->idx);
    }
    const WindowExpr* w = e.as<WindowExpr>();
    if (!w || !name(p.name, w->name)) return false;
    if (p.window.empty()) return p.any_children;
    if (p.window.size() != w->access.size()) return false;
    for (size_t k = 0; k < p.window.size(); ++k) {
      const std::vector<PatternExpr>& ends = p.window[k].ends;
      const WindowAccess& a = w->access[k];
      // `x[_]` stands for a point and for an interval: the hole asks for neither.
      if (ends.size() == 1 && ends[0].kind == PatternExpr::Kind::kHole) continue;
      if ((ends.size() == 1) != a.is_point() || !expr(ends[0], a.lo)) return false;
      if (ends.size() == 2 && !expr(ends[1], a.hi)) return false;
    }
    return true;
  }
  // `0` finds 0.0 and the other way round: a pattern does not know the type of what it looks for.
  static bool same_constant(const std::variant<int64_t, double, bool>& p,
                            const std::variant<int64_t, double, bool>& c) {
    if (p.index() == c.index()) return p == c;
    const int64_t* i = std::get_if<int64_t>(&p);
    const double* d = std::get_if<double>(&c);
    if (!i && !d) i = std::get_if<int64_t>(&c), d = std::get_if<double>(&p);
    return i && d && static_cast<double>(*i) == *d;
  }

  const Names* printed_;
};

// Walks a subtree in pre-order and hands out every match until `limit` are found.
// Pre-order, so that `#0` is the first in the text; stops as soon as enough are found.
class Finder {
 public:
  Finder(ProcPtr p, const Pattern& pattern, size_t limit, const Names* printed = nullptr)
      : proc_(std::move(p)), pattern_(pattern), limit_(limit), matcher_(printed) {}

  // The statements [first, first + count) of `b`, which is the `child` block of the statement at
  // `prefix`.
  void block(const Block& b, const Path& prefix, Child child, size_t first, size_t count) {
    path_ = prefix;
    path_.push_back({child, 0});
    visit(b, first, first + count);
    path_.pop_back();
  }
  void expr(const ExprPtr& e, const Path& at) {
    path_ = at;
    visit(e);
  }
  std::vector<Cursor> found;

 private:
  bool done() const { return found.size() >= limit_; }

  void visit(const Block& b, size_t first, size_t last) {
    for (size_t k = first; k < last && !done(); ++k) {
      path_.back().index = static_cast<int>(k);
      if (!pattern_.is_expr()) {
        // n: how many statements the pattern covers from here. One that would reach over the end
        // of the part that is searched does not count.
        size_t n = matcher_.sequence(pattern_.stmts(), b, k);
        if (n > 0 && k + n <= last) {
          found.push_back(pattern_.stmts().size() == 1
                              ? Cursor::stmt(proc_, path_)
                              : Cursor::block(proc_, path_, static_cast<int>(n)));
          if (done()) return;
        }
      } else {
        const std::vector<ExprPtr> exprs = stmt_exprs(*b[k]);
        path_.push_back({Child::kExpr, 0});
        for (size_t i = 0; i < exprs.size() && !done(); ++i) {
          path_.back().index = static_cast<int>(i);
          visit(exprs[i]);
        }
        path_.pop_back();
      }
      // A statement before what it holds, an if's first branch before its second: the order of the
      // text.
      nested(body_of(*b[k]), Child::kBody);
      nested(orelse_of(*b[k]), Child::kOrelse);
    }
  }
  // The path is one element longer while the block is walked; visit() sets its index.
  void nested(const Block& b, Child child) {
    if (b.empty() || done()) return;
    path_.push_back({child, 0});
    visit(b, 0, b.size());
    path_.pop_back();
  }
  // The whole expression before its parts: `x[_] + _` is found at the outermost sum.
  void visit(const ExprPtr& e) {
    if (matcher_.expr(pattern_.expr(), e)) found.push_back(Cursor::expr(proc_, path_));
    if (done()) return;
    const std::vector<ExprPtr> children = expr_children(*e);
    if (children.empty()) return;
    path_.push_back({Child::kExpr, 0});
    for (size_t i = 0; i < children.size() && !done(); ++i) {
      path_.back().index = static_cast<int>(i);
      visit(children[i]);
    }
    path_.pop_back();
  }

  ProcPtr proc_;
  const Pattern& pattern_;
  size_t limit_;
  Matcher matcher_;
  Path path_;
};

// Does any name of the pattern end in _DIGITS, as only printed names of shadowing symbols do?
bool may_be_printed(const std::string& text) {
  for (size_t k = 0; k + 1 < text.size(); ++k)
    if (text[k] == '_' && text[k + 1] >= '0' && text[k + 1] <= '9') return true;
  return false;
}

// Within the cursor's subtree, or everywhere.
std::vector<Cursor> matches(const ProcPtr& p, const Cursor* within, const Pattern& pattern,
                            size_t limit) {
  auto run = [&](Finder& f) {
    if (!within) {
      f.block(p->body, {}, Child::kBody, 0, p->body.size());
      return;
    }
    switch (within->kind()) {
      case CursorKind::kStmt:
      case CursorKind::kBlock: {
        const Path& at = within->path();
        f.block(block_at(*p, at), parent_stmt(at), at.back().child,
                static_cast<size_t>(at.back().index), static_cast<size_t>(within->length()));
        return;
      }
      case CursorKind::kExpr:
        if (pattern.is_expr()) f.expr(within->expr(), within->path());
        return;
      // Gaps, arguments and cursors whose target is gone.
      default:
        throw InvalidCursorError(std::string("there is nothing to find in a ") +
                                 name_of(within->kind()) + " cursor");
    }
  };
  Finder f(p, pattern, limit);
  run(f);
  // Names of the source win. Printed ones (`i_1`) are made only when nothing has the name:
  // printing a large procedure costs more than the search.
  if (f.found.empty() && may_be_printed(pattern.text)) {
    Names printed = printed_names(*p);
    Finder again(p, pattern, limit, &printed);
    run(again);
    return std::move(again.found);
  }
  return std::move(f.found);
}

// Matches to look for until the one that is asked for: `#2` is the third.
size_t limit_of(const Pattern& pattern) {
  return pattern.nth ? static_cast<size_t>(*pattern.nth) + 1 : 1;
}

// The pattern `for NAME in _: _`, built instead of parsed: NAME may be one that only printing
// gives.
Pattern loops_named(const std::string& name, std::optional<int> nth) {
  Pattern loops;
  loops.text = "for " + name + " in _: _";
  PatternStmt f;
  f.kind = PatternStmt::Kind::kFor;
  f.name = name;
  f.body.emplace_back();
  loops.what = std::vector<PatternStmt>{f};
  loops.nth = nth;
  return loops;
}

// Names that stand in the proc, for "did you mean".
std::vector<std::string> names_in(const Proc& p, bool loops) {
  std::set<std::string> names;
  if (!loops)
    for (const Arg& a : p.args) names.insert(a.name.name());
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const For* f = s->as<For>(); f && loops) names.insert(f->iter.name());
    if (Sym b = bound_symbol(*s); b.valid() && !loops) names.insert(b.name());
  });
  return {names.begin(), names.end()};
}

std::string first_names(const std::vector<std::string>& names) {
  std::string out;
  for (size_t k = 0; k < names.size() && k < 12; ++k) out += (k ? ", " : "") + names[k];
  return names.size() > 12 ? out + ", ..." : out;
}

// The name that a pattern looks for first.
std::string main_name(const Pattern& pattern) {
  return pattern.is_expr() ? pattern.expr().name : pattern.stmts()[0].name;
}

// The error counts what there is: "there are only 2", or the names that would have matched.
[[noreturn]] void not_found(const ProcPtr& p, const Pattern& pattern, size_t seen) {
  std::string what = "nothing in `" + p->name + "` matches `" + pattern.text + "`";
  if (seen > 0) {
    throw InvalidCursorError("`" + pattern.text + "`: there are only " + std::to_string(seen) +
                             " matches in `" + p->name + "`, numbered from 0");
  }
  bool loop = !pattern.is_expr() && pattern.stmts()[0].kind == PatternStmt::Kind::kFor;
  std::vector<std::string> names = names_in(*p, loop);
  std::string name = main_name(pattern);
  // Distances between words grow with the product of their lengths; nobody mistypes a word of 64
  // letters.
  std::string near = name.size() > 64 ? "" : nearest(name, names);
  std::string hint;
  if (!near.empty() && near != name) {
    hint = "did you mean `" + near + "`?";
  } else if (!names.empty()) {
    hint = std::string(loop ? "its loops are: " : "its buffers are: ") + first_names(names);
  }
  throw InvalidCursorError(what, hint);
}

Cursor pick(const ProcPtr& p, const Cursor* within, const Pattern& pattern) {
  size_t limit = limit_of(pattern);
  std::vector<Cursor> found = matches(p, within, pattern, limit);
  // Expressions first, as `x` usually means the buffer that is read.
  if (found.size() < limit && !pattern.bare_name().empty() && found.empty()) {
    // A bare name that no expression mentions: the loop over it, or the allocation of it.
    std::vector<Cursor> loops =
        matches(p, within, loops_named(pattern.bare_name(), pattern.nth), limit);
    if (loops.size() == limit) return loops.back();
  }
  if (found.size() < limit) not_found(p, pattern, found.size());
  return std::move(found.back());
}

}  // namespace

Cursor find(const ProcPtr& p, const std::string& pattern) {
  return pick(p, nullptr, *cached_pattern(pattern));
}

std::vector<Cursor> find_all(const ProcPtr& p, const std::string& pattern) {
  return matches(p, nullptr, *cached_pattern(pattern), static_cast<size_t>(-1));
}

Cursor Cursor::find(const std::string& pattern) const {
  return pick(proc_, this, *cached_pattern(pattern));
}

std::vector<Cursor> Cursor::find_all(const std::string& pattern) const {
  return matches(proc_, this, *cached_pattern(pattern), static_cast<size_t>(-1));
}

// A bare name means a loop here, whatever expressions are called so.
Cursor find_loop(const ProcPtr& p, const std::string& name) {
  std::shared_ptr<const Pattern> pattern = cached_pattern(name);
  std::string bare = pattern->bare_name();
  if (bare.empty()) {
    Cursor c = pick(p, nullptr, *pattern);
    c.as<For>();  // refuses anything else
    return c;
  }
  Pattern loops = loops_named(bare, pattern->nth);
  std::vector<Cursor> found = matches(p, nullptr, loops, limit_of(loops));
  if (found.size() < limit_of(loops)) not_found(p, loops, found.size());
  return std::move(found.back());
}

Cursor find_alloc_or_arg(const ProcPtr& p, const std::string& name) {
  std::shared_ptr<const Pattern> pattern = cached_pattern(name);
  std::string bare = pattern->bare_name();
  bool alloc = !pattern->is_expr() && pattern->stmts().size() == 1 &&
               pattern->stmts()[0].kind == PatternStmt::Kind::kAlloc;
  if (bare.empty() && !alloc) {
    throw InvalidCursorError("`" + name + "` is no pattern of an allocation",
                             "write the buffer's name, or `name : _`");
  }
  if (alloc) return pick(p, nullptr, *pattern);
  // Arguments come before allocations, unless the pattern counts, which only statements can be.
  if (!pattern->nth) {
    for (size_t k = 0; k < p->args.size(); ++k)
      if (p->args[k].name.name() == bare) return Cursor::arg(p, static_cast<int>(k));
  }
  Pattern allocs;
  allocs.text = bare + " : _";
  PatternStmt a;
  a.kind = PatternStmt::Kind::kAlloc;
  a.name = bare;
  allocs.what = std::vector<PatternStmt>{a};
  allocs.nth = pattern->nth;
  std::vector<Cursor> found = matches(p, nullptr, allocs, limit_of(allocs));
  if (found.size() < limit_of(allocs)) not_found(p, allocs, found.size());
  return std::move(found.back());
}

}  // namespace exotune
