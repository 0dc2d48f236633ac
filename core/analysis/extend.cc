// Iterations that a loop may run beyond its end, and runs of a body where its guard is false: what
// they write nobody reads.
#include <algorithm>
#include <functional>
#include <set>

#include "core/analysis/answers.h"
#include "core/analysis/effects.h"
#include "core/analysis/facts.h"
#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"

namespace exotune {
namespace {

bool is_reading(Access::Kind k) { return k != Access::Kind::kWrite; }
bool is_writing(Access::Kind k) { return k != Access::Kind::kRead; }

bool calls(const Block& b) {
  bool any = false;
  for_each_stmt(b, [&](const StmtPtr& s) { any = any || s->as<Call>(); });
  return any;
}

/// Is this an integer whatever its operands are, undefined ones too? Sums and products wrap; a
/// divisor may be zero, a floating-point value out of range.
bool total_over_integers(const ExprPtr& e) {
  if (is_control(e->type)) return true;
  if (is_float(e->type) || e->as<Extern>()) return false;
  if (const BinOp* b = e->as<BinOp>())
    if (b->op != BinOpKind::kAdd && b->op != BinOpKind::kSub && b->op != BinOpKind::kMul)
      return false;
  const std::vector<ExprPtr> parts = expr_children(*e);
  return std::all_of(parts.begin(), parts.end(), total_over_integers);
}

/// What the statement writes into integers is one whatever it reads.
bool writes_some_integer(const Stmt& s) {
  if (const Assign* a = s.as<Assign>()) return total_over_integers(a->rhs);
  if (const Reduce* r = s.as<Reduce>()) return total_over_integers(r->rhs);
  return false;
}

bool writes_what_may_trap(const Stmt& s) {
  if (const Assign* a = s.as<Assign>()) return may_trap(a->rhs);
  if (const Reduce* r = s.as<Reduce>()) return may_trap(r->rhs);
  return false;
}

/// The statement that allocates `buffer`, among those before `at` in the blocks around it.
Path allocation_of(const Proc& p, const Path& at, Sym buffer) {
  for (Path path = at; !path.empty(); path = parent_stmt(path)) {
    const Block& block = block_at(p, path);
    for (int k = path.back().index - 1; k >= 0; --k)
      if (const Alloc* a = block[static_cast<size_t>(k)]->as<Alloc>(); a && a->name == buffer)
        return sibling(path, k - path.back().index);
  }
  return {};
}

/// An access with names of its own for the loops around it; `range` stands in for the iterator's.
Access instance_of(const Access& a, const RangedVar* range) {
  Access out = a;
  std::vector<std::pair<Sym, Sym>> names;
  auto apply = [&](ExprPtr e) {
    for (auto [from, to] : names) e = rename(e, from, to);
    return e;
  };
  out.vars.clear();
  for (const RangedVar& v : a.vars) {
    const RangedVar& r = range && v.var == range->var ? *range : v;
    RangedVar fresh{v.var.copy(), apply(r.lo), apply(r.hi)};
    names.emplace_back(v.var, fresh.var);
    if (&r == range)
      out.conditions.push_back(bin_op(BinOpKind::kLe, v.lo, read_var(v.var, ScalarType::kIndex)));
    out.vars.push_back(std::move(fresh));
  }
  for (ExprPtr& c : out.conditions) c = apply(c);
  for (ExprPtr& i : out.idx) i = apply(i);
  return out;
}

Answer never_meet(const Proc& p, const Path& at, const Access& a, const Access& b) {
  std::vector<RangedVar> vars = a.vars;
  vars.insert(vars.end(), b.vars.begin(), b.vars.end());
  std::vector<ExprPtr> known = a.conditions;
  known.insert(known.end(), b.conditions.begin(), b.conditions.end());
  for (size_t d = 0; d < a.idx.size(); ++d)
    known.push_back(bin_op(BinOpKind::kEq, a.idx[d], b.idx[d]));
  return prove_for_all(p, at, vars, known, bool_const(false));
}

// The statements of `body` below the loop or if at `at` run more often than they do; `further`
// makes the accesses of those runs alone.
Answer runs_unseen(const Proc& p, const Path& at, const Block& statements,
                   const std::function<Access(const Access&)>& further) {
  Path body = at;
  body.push_back({Child::kBody, 0});
  const Scope scope(p, body);
  const Effects inside = effects_of(scope, statements, body, static_cast<int>(statements.size()));
  if (!inside.config.empty()) return refused("the body uses configuration state");
  if (calls(statements)) return refused("the body calls a procedure");
  std::set<Sym> written;
  for (const Effect& e : inside.memory) {
    if (!is_writing(e.access.kind)) continue;
    const Sym buffer = e.access.buffer;
    if (writes_what_may_trap(*stmt_at(p, e.access.stmt)))
      return refused(LazyText([buffer] {
        return "what " + buffer.name() + " gets is an integer divided by what may be zero";
      }));
    if (!is_float(e.element) && !writes_some_integer(*stmt_at(p, e.access.stmt)))
      return refused(LazyText([buffer] {
        return "what " + buffer.name() + " gets is no integer for each value there may be";
      }));
    if (e.local) continue;
    const Binding* b = scope.find(buffer);
    if (!b || !b->alloc)
      return refused(LazyText([buffer] { return buffer.name() + " is an argument"; }));
    written.insert(buffer);
  }
  for (Sym buffer : written) {
    const Path alloc = allocation_of(p, at, buffer);
    EXO_CHECK(!alloc.empty());
    const Path first = sibling(alloc, 1);
    const int n = static_cast<int>(block_at(p, first).size()) - first.back().index;
    const std::vector<Access> all = accesses_of(p, first, n, buffer);
    for (const Access& w : all) {
      if (!is_writing(w.kind) || !is_prefix(at, w.stmt)) continue;
      const Access written_more = further(w);
      for (const Access& r : all) {
        if (!is_reading(r.kind)) continue;
        if (Answer a = never_meet(p, first, written_more, instance_of(r, nullptr)); !a) {
          a.why = LazyText([buffer] {
            return "what the further iterations write of " + buffer.name() + " may be read";
          });
          return a;
        }
      }
    }
  }
  return {Verdict::kProved, {}, {}};
}

}  // namespace

Answer later_iterations_unseen(const Proc& p, const Path& loop, const ExprPtr& hi) {
  const For& f = *stmt_at(p, loop)->as<For>();
  const RangedVar later{f.iter, f.hi, hi};
  return runs_unseen(p, loop, f.body, [&](const Access& a) { return instance_of(a, &later); });
}

Answer unguarded_runs_unseen(const Proc& p, const Path& at) {
  const If& i = *stmt_at(p, at)->as<If>();
  bool found = true;
  const Answer answer = runs_unseen(p, at, i.body, [&](const Access& a) {
    Access out = a;
    std::erase_if(out.conditions, [&](const ExprPtr& c) { return equal(c, i.cond); });
    found = found && out.conditions.size() < a.conditions.size();
    out.conditions.push_back(logical_not(i.cond));
    return instance_of(out, nullptr);
  });
  return found ? answer : refused("the condition is not followed");
}

}  // namespace exotune
