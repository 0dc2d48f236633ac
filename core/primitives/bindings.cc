// Names for values and views: bind_expr, inline_assign.
#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

// Nothing is written between a statement's start and its own expressions, so a leaf that ends the
// run does not count; a loop or if does.
int statements_before_use(const Proc& p, const Path& first, int last) {
  const bool leaf = body_of(*stmt_at(p, sibling(first, last))).empty();
  return leaf ? last : last + 1;
}

// Compared as trees, not as values: `i + 1` and `1 + i` are two expressions here, and binding one
// leaves the other.
bool holds(const ExprPtr& e, const ExprPtr& part) {
  if (equal(e, part)) return true;
  for (const ExprPtr& c : expr_children(*e))
    if (holds(c, part)) return true;
  return false;
}
bool holds(const Block& b, const ExprPtr& part) {
  bool found = false;
  for_each_expr(b, [&](const ExprPtr& e) { found = found || holds(e, part); });
  return found;
}

// What may be bound: a data value, computed by its statement, not handed to a callee by reference.
void require_bindable(const Proc& p, const Path& path, const char* op) {
  const ExprPtr e = expr_at(p, path);
  if (!is_data(e->type) || e->as<WindowExpr>()) refuse(op, "'" + str(e) + "' is no data value");
  const Path at = stmt_part(path);
  if (stmt_at(p, at)->as<Call>() || stmt_at(p, at)->as<WindowStmt>())
    refuse(op, "'" + str(e) + "' is passed by reference");
  // A scalar and a whole tensor are read the same way; only the type tells them apart.
  if (const Read* r = e->as<Read>(); r && r->idx.empty()) {
    auto entry = lookup(p, at, r->name);
    if (entry && entry->type.is_tensor()) refuse(op, "'" + str(e) + "' is a whole tensor");
  }
}

// Puts `name: T; name = e` before `at` and `name` in place of the expressions at `uses`, all below
// statements at..at+last.
ProcPtr bind_at(ProcPtr p, const Path& at, const ExprPtr& e, const std::vector<Path>& uses,
                const std::string& name, const char* op, std::vector<Value> args) {
  const Sym sym = Sym::fresh(name);
  const ExprPtr read = read_var(sym, e->type);
  Rewrite rw(std::move(p));
  // The uses first, while their paths hold; then the two statements in front, which move them.
  for (const Path& u : uses) rw.replace_expr(u, read);
  rw.insert(at, {make_alloc(sym, Type{e->type, {}, false}, dram()), make_assign(sym, {}, e)});
  return rw.finish(op, std::move(args));
}

void collect_uses(const ExprPtr& here, const ExprPtr& e, Path& path, std::vector<Path>& out) {
  // An expression has no proper part equal to itself, so that nothing below a use is one.
  if (equal(here, e)) {
    out.push_back(path);
    return;
  }
  std::vector<ExprPtr> children = expr_children(*here);
  for (size_t k = 0; k < children.size(); ++k) {
    path.push_back({Child::kExpr, static_cast<int>(k)});
    collect_uses(children[k], e, path, out);
    path.pop_back();
  }
}

// Every place below the statement at `path` that reads `e` as a value.
void collect_uses(const StmtPtr& s, const ExprPtr& e, Path& path, std::vector<Path>& out) {
  // Arguments of calls and windows pass places, not values: a copy would be another place.
  if (!s->as<Call>() && !s->as<WindowStmt>()) {
    std::vector<ExprPtr> exprs = stmt_exprs(*s);
    for (size_t k = 0; k < exprs.size(); ++k) {
      path.push_back({Child::kExpr, static_cast<int>(k)});
      collect_uses(exprs[k], e, path, out);
      path.pop_back();
    }
  }
  for (Child branch : {Child::kBody, Child::kOrelse}) {
    const Block& b = branch == Child::kBody ? body_of(*s) : orelse_of(*s);
    for (size_t k = 0; k < b.size(); ++k) {
      path.push_back({branch, static_cast<int>(k)});
      collect_uses(b[k], e, path, out);
      path.pop_back();
    }
  }
}

// Does the expression at `use` stand in a branch of a select?
bool is_chosen(const Proc& p, const Path& use) {
  constexpr int kCompared = 2;  // arguments in front of the branches
  for (size_t n = stmt_part(use).size() + 1; n < use.size(); ++n) {
    const Extern* f =
        expr_at(p, Path(use.begin(), use.begin() + static_cast<std::ptrdiff_t>(n)))->as<Extern>();
    if (f && f->fn == "select" && use[n].index >= kCompared) return true;
  }
  return false;
}

// Of a select only the branch that is chosen is computed: nothing that may trap is taken from
// there.
void require_computed(const Proc& p, const Path& use, const ExprPtr& e, const char* op) {
  if (may_trap(e) && is_chosen(p, use))
    refuse(op, "'" + str(e) + "' is not always computed, and divides by what may be zero");
}

}  // namespace

ProcPtr bind_expr(ProcPtr p, const Where& where, const std::string& name, bool cse) {
  static const char op[] = "bind_expr";
  Cursor c = where.expr(p);
  require_name(op, name);
  require_bindable(*p, c.path(), op);
  const Path at = stmt_part(c.path());
  const ExprPtr e = c.expr();
  require_computed(*p, c.path(), e, op);
  std::vector<Path> uses;
  if (!cse) {
    uses.push_back(c.path());
  } else {
    const Block& block = block_at(*p, at);
    // With cse also what the rest of the block computes, as long as nothing on the way may change
    // the value.
    for (int k = at.back().index; k < static_cast<int>(block.size()); ++k) {
      const StmtPtr& s = block[static_cast<size_t>(k)];
      const int ahead = k - at.back().index;
      if (holds({s}, e)) {
        const int run = statements_before_use(*p, at, ahead);
        if (run > 0 && !value_unchanged_by(*p, at, run, e)) break;
        Path path = sibling(at, ahead);
        collect_uses(s, e, path, uses);
      }
    }
  }
  return bind_at(p, at, e, uses, name, op, {place(where, c), name, cse});
}

namespace {

// A run of statements of one block: the one at `at` and the `run - 1` after it.
struct Run {
  Path at;
  int length = 1;
  bool direct = false;  // the first of them computes one of the expressions itself
};

// From `depth` on in the block that the uses share, `first` (or the earliest use) to the last use.
Run run_of(const std::vector<Path>& uses, size_t depth, std::optional<int> first) {
  // Paths of statements of one block agree up to `depth`, where they hold the index in it.
  int from = first.value_or(uses[0][depth].index), last = from;
  for (const Path& u : uses) {
    if (!first) from = std::min(from, u[depth].index);
    last = std::max(last, u[depth].index);
  }
  Run out;
  out.at.assign(uses[0].begin(), uses[0].begin() + static_cast<std::ptrdiff_t>(depth) + 1);
  out.at.back().index = from;
  out.length = last - from + 1;
  for (const Path& u : uses)
    out.direct = out.direct || (u[depth].index == from && stmt_part(u).size() == depth + 1);
  return out;
}

// The innermost block above all uses, and the run of its statements that holds them.
Run innermost_run(const std::vector<Path>& uses) {
  const Path s0 = stmt_part(uses[0]);
  size_t depth = s0.size() - 1;
  for (const Path& u : uses) {
    const Path s = stmt_part(u);
    const size_t limit = std::min(depth, s.size() - 1);
    size_t common = 0;
    while (common < limit && s[common] == s0[common]) ++common;
    // The step in front of the binding then stands before the if, where both branches see the
    // name.
    if (s[common].child != s0[common].child) --common;  // two branches of one if: the if itself
    depth = common;
  }
  return run_of(uses, depth, std::nullopt);
}

// The run from the statement at `before` on; refuses when a use does not stand in or after it.
Run run_from(const std::vector<Path>& uses, const Path& before, const char* op) {
  const size_t depth = before.size() - 1;
  for (const Path& u : uses) {
    // In the block of `before` (or below one of its statements), not earlier.
    const bool below =
        stmt_part(u).size() > depth && std::equal(before.begin(), before.end() - 1, u.begin()) &&
        u[depth].child == before[depth].child && u[depth].index >= before[depth].index;
    if (!below)
      refuse(op, "an expression stands neither in nor after the statement to bind before");
  }
  return run_of(uses, depth, before[depth].index);
}

ProcPtr bind_exprs(ProcPtr p, const std::vector<Cursor>& exprs, const std::string& name,
                   const Where* before) {
  static const char op[] = "bind_expr";
  if (exprs.empty()) refuse(op, "no expression is given");
  require_name(op, name);
  std::vector<Path> uses;
  ValueList given;
  for (const Cursor& x : exprs) {
    Cursor c = here(p, x);
    if (c.kind() != CursorKind::kExpr)
      throw InvalidCursorError("bind_expr: expected an expression");
    require_bindable(*p, c.path(), op);
    uses.push_back(c.path());
    given.emplace_back(c);
  }
  const ExprPtr e = expr_at(*p, uses[0]);
  // One name can stand for one value only: each of them has to be the same tree.
  for (const Path& u : uses)
    if (!equal(expr_at(*p, u), e))
      refuse(op, "'" + str(expr_at(*p, u)) + "' is not '" + str(e) + "'");
  std::vector<Value> args{Value(std::move(given)), name};
  Run run;
  if (before) {
    const Cursor c = before->stmt(p);
    run = run_from(uses, c.path(), op);
    args.insert(args.end(), {Value(false), place(*before, c)});
  } else {
    run = innermost_run(uses);
  }
  // Iterators and buffers that the expression names may be declared between there and the first
  // use.
  require_visible(*p, run.at, e, op);
  const int ahead = statements_before_use(*p, run.at, run.length - 1);
  if (ahead > 0)
    require(value_unchanged_by(*p, run.at, ahead, e), op,
            "a statement before the last use may change '" + str(e) + "'");
  // Where the run begins with a loop, the expression is now computed even if that loop does not
  // run: nobody has proved its subscripts for that yet.
  if (!run.direct)
    require(reads_in_bounds(*p, run.at, e), op,
            "'" + str(e) + "' may not be computed there in every case");
  for (const Path& u : uses) require_computed(*p, u, e, op);
  ProcPtr bound = bind_at(p, run.at, e, uses, name, op, std::move(args));
  // In front of a loop that may never run the elements were not read at all.
  if (!run.direct) require_parallel_loops(*bound, run.at, op);
  return bound;
}

}  // namespace

ProcPtr bind_expr(ProcPtr p, const std::vector<Cursor>& exprs, const std::string& name) {
  return bind_exprs(std::move(p), exprs, name, nullptr);
}

ProcPtr bind_expr(ProcPtr p, const std::vector<Cursor>& exprs, const std::string& name,
                  const Where& before) {
  return bind_exprs(std::move(p), exprs, name, &before);
}

namespace {

// Every place that mentions x below `b` reads the element at `idx` as a value: collects them.
void collect_reads(const Proc& p, const StmtPtr& s, Sym x, const std::vector<ExprPtr>& idx,
                   Path& path, std::vector<Path>& out, const char* op);

void collect_reads(const Proc& p, const ExprPtr& e, Sym x, const std::vector<ExprPtr>& idx,
                   Path& path, std::vector<Path>& out, const char* op) {
  // Most expressions do not mention x: no bit, no walk.
  if (!(e->bloom & x.bloom())) return;
  if (const Read* r = e->as<Read>(); r && r->name == x) {
    // As a whole: passed to a callee, which may write it.
    if (r->idx.size() != idx.size()) refuse(op, "'" + x.name() + "' is used as a whole");
    const Path at = stmt_part(path);
    for (size_t k = 0; k < idx.size(); ++k)
      require(equal_in_context(p, at, r->idx[k], idx[k]), op,
              "cannot prove that '" + str(e) + "' is the element assigned");
    out.push_back(path);
    return;
  }
  if (e->as<WindowExpr>() && e->as<WindowExpr>()->name == x)
    refuse(op, "a window of '" + x.name() + "' is taken");
  if (e->as<StrideExpr>() && e->as<StrideExpr>()->name == x)
    refuse(op, "the stride of '" + x.name() + "' is read");
  std::vector<ExprPtr> children = expr_children(*e);
  for (size_t k = 0; k < children.size(); ++k) {
    path.push_back({Child::kExpr, static_cast<int>(k)});
    collect_reads(p, children[k], x, idx, path, out, op);
    path.pop_back();
  }
}

void collect_reads(const Proc& p, const StmtPtr& s, Sym x, const std::vector<ExprPtr>& idx,
                   Path& path, std::vector<Path>& out, const char* op) {
  if (!mentions(s, x)) return;
  const Assign* a = s->as<Assign>();
  const Reduce* r = s->as<Reduce>();
  // A second write would have to be told apart from the first at each read; nothing here does
  // that.
  if ((a && a->name == x) || (r && r->name == x)) refuse(op, "'" + x.name() + "' is written again");
  if (s->as<Call>()) refuse(op, "'" + x.name() + "' is passed to a call");
  std::vector<ExprPtr> exprs = stmt_exprs(*s);
  for (size_t k = 0; k < exprs.size(); ++k) {
    path.push_back({Child::kExpr, static_cast<int>(k)});
    collect_reads(p, exprs[k], x, idx, path, out, op);
    path.pop_back();
  }
  for (Child branch : {Child::kBody, Child::kOrelse}) {
    const Block& b = branch == Child::kBody ? body_of(*s) : orelse_of(*s);
    for (size_t k = 0; k < b.size(); ++k) {
      path.push_back({branch, static_cast<int>(k)});
      collect_reads(p, b[k], x, idx, path, out, op);
      path.pop_back();
    }
  }
}

// The allocation of x above or before `at`, or nothing (an argument, a window).
std::optional<Path> allocation_of(const Proc& p, const Path& at, Sym x) {
  // From the statement outwards: before it in its own block, then before the loop around it, ...
  Path block = at;
  while (!block.empty()) {
    for (int k = 0; k < block.back().index; ++k) {
      Path s = block;
      s.back().index = k;
      const Alloc* a = stmt_at(p, s)->as<Alloc>();
      if (a && a->name == x) return s;
    }
    block.pop_back();
  }
  return std::nullopt;
}

// Is the expression at `use` all that an assignment to an element of that type stores?
bool is_stored_as(const Proc& p, const Path& use, ScalarType type) {
  const Path stmt = stmt_part(use);
  const Assign* a = stmt_at(p, stmt)->as<Assign>();
  return a && use.size() == stmt.size() + 1 &&
         use.back().index == static_cast<int>(a->idx.size()) &&
         element_type(p, stmt, a->name) == type;
}

}  // namespace

ProcPtr inline_assign(ProcPtr p, const Where& where) {
  static const char op[] = "inline_assign";
  Cursor c = where.stmt(p);
  if (!c.is<Assign>())
    throw InvalidCursorError("inline_assign: expected an assignment, found '" + c.describe() + "'");
  const Assign& a = c.as<Assign>();
  const Path at = c.path();
  auto alloc = allocation_of(*p, at, a.name);
  // An argument's value is seen by the caller, a window's by whoever reads its source.
  if (!alloc) refuse(op, "'" + a.name.name() + "' is not allocated in this procedure");
  if (reads_buffer(*p, at, a.rhs, a.name))
    refuse(op, "the right side reads '" + a.name.name() + "'");

  const Block& block = block_at(*p, at);
  // last: how many statements after the assignment the last read stands.
  std::vector<Path> uses;
  int last = 0;
  for (size_t k = static_cast<size_t>(at.back().index) + 1; k < block.size(); ++k) {
    const size_t before = uses.size();
    Path path = at;
    path.back().index = static_cast<int>(k);
    collect_reads(*p, block[k], a.name, a.idx, path, uses, op);
    if (uses.size() > before) last = static_cast<int>(k) - at.back().index;
  }
  // Storing in the buffer may round: f64 into f32 is another value than the expression. Where all
  // that is done with it is to store it as the same type, it is rounded there.
  const ScalarType stored = element_type(*p, at, a.name);
  if (!std::all_of(uses.begin(), uses.end(),
                   [&](const Path& use) { return is_stored_as(*p, use, stored); }))
    require_no_cast(a.rhs, stored, op);
  // Nowhere else: in the allocation's scope, only this statement's block, from it on, mentions x.
  Path level = *alloc;
  for (size_t d = alloc->size() - 1; d < at.size(); ++d) {
    level.assign(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    const Block& b = block_at(*p, level);
    const int own = level.back().index;
    const bool innermost = d + 1 == at.size();
    for (int k = d + 1 == alloc->size() ? alloc->back().index + 1 : 0;
         k < static_cast<int>(b.size()); ++k) {
      if (k == own || (innermost && k > own)) continue;
      if (mentions(b[static_cast<size_t>(k)], a.name))
        refuse(op,
               "'" + a.name.name() + "' is also used outside the statements after the assignment");
    }
    if (innermost) break;
    // The branch beside the one that holds the assignment.
    const StmtPtr s = b[static_cast<size_t>(own)];
    const Block& other = at[d + 1].child == Child::kBody ? orelse_of(*s) : body_of(*s);
    if (mentions(other, a.name))
      refuse(op, "'" + a.name.name() + "' is also used in another branch");
  }
  // The value must be the same where it is read as where it was assigned.
  if (last > 0) {
    const Path next = sibling(at, 1);
    const int run = statements_before_use(*p, next, last - 1);
    if (run > 0)
      require(value_unchanged_by(*p, next, run, a.rhs), op,
              "a statement before the last use may change '" + str(a.rhs) + "'");
  }
  Rewrite rw(p);
  for (const Path& u : uses) rw.replace_expr(u, a.rhs);
  rw.erase(at, 1);
  require_config_writes_fixed(rw.proc(), op);
  return rw.finish(op, {place(where, c)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> bindings_operators() {
  using namespace params;
  return {
      {"bind_expr",
       {proc(), places("exprs"), new_name("new_name"), boolean("cse", false),
        place("before", Value())},
       "s(e)  ->  x : _; x = e; s(x)   (before: a statement around s)",
       [](const OperatorArgs& a) -> Value {
         // One expression, alone or with its equals (cse); or several that are given.
         std::vector<Where> exprs = a.places(1);
         if (exprs.size() == 1 && !a.given(4))
           return bind_expr(a.proc(), exprs[0], a.string(2), a.boolean(3));
         std::vector<Cursor> cursors;
         for (const Where& w : exprs) cursors.push_back(w.expr(a.proc()));
         if (cursors.empty()) throw InputError({}, "there is no expression to bind");
         if (a.given(4)) return bind_expr(a.proc(), cursors, a.string(2), a.where(4));
         return bind_expr(a.proc(), cursors, a.string(2));
       }},
      {"inline_assign",
       {proc(), place("assign")},
       "x = e; s(x)  ->  s(e)",
       [](const OperatorArgs& a) -> Value { return inline_assign(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
