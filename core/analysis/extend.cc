// Iterations that a loop may run beyond its end: what they write nobody reads.
#include <set>

#include "core/analysis/effects.h"
#include "core/analysis/facts.h"
#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"

namespace exotune {
namespace {

Answer refused(LazyText why) { return {Verdict::kUnknown, {}, std::move(why)}; }

bool reads(Access::Kind k) { return k != Access::Kind::kWrite; }
bool writes(Access::Kind k) { return k != Access::Kind::kRead; }

bool calls(const Block& b) {
  bool any = false;
  for_each_stmt(b, [&](const StmtPtr& s) { any = any || s->as<Call>(); });
  return any;
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
    if (&r == range) out.conditions.push_back(bin_op(BinOpKind::kLe, v.lo, read_var(v.var, ScalarType::kIndex)));
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

}  // namespace

Answer later_iterations_unseen(const Proc& p, const Path& loop, const ExprPtr& hi) {
  const For& f = *stmt_at(p, loop)->as<For>();
  Path body = loop;
  body.push_back({Child::kBody, 0});
  const Scope scope(p, body);
  const Effects inside = effects_of(scope, f.body, body, static_cast<int>(f.body.size()));
  if (!inside.config.empty()) return refused("the body uses configuration state");
  if (calls(f.body)) return refused("the body calls a procedure");
  std::set<Sym> written;
  for (const Effect& e : inside.memory) {
    if (!writes(e.access.kind)) continue;
    const Sym buffer = e.access.buffer;
    if (!is_float(e.element))
      return refused(LazyText([buffer] { return buffer.name() + " holds integers"; }));
    if (e.local) continue;
    const Binding* b = scope.find(buffer);
    if (!b || !b->alloc)
      return refused(LazyText([buffer] { return buffer.name() + " is an argument"; }));
    written.insert(buffer);
  }
  const RangedVar later{f.iter, f.hi, hi};
  for (Sym buffer : written) {
    const Path alloc = allocation_of(p, loop, buffer);
    EXO_CHECK(!alloc.empty());
    const Path first = sibling(alloc, 1);
    const int n = static_cast<int>(block_at(p, first).size()) - first.back().index;
    const std::vector<Access> all = accesses_of(p, first, n);
    for (const Access& w : all) {
      if (w.buffer != buffer || !writes(w.kind) || !is_prefix(loop, w.stmt)) continue;
      const Access written_later = instance_of(w, &later);
      for (const Access& r : all) {
        if (r.buffer != buffer || !reads(r.kind)) continue;
        if (Answer a = never_meet(p, first, written_later, instance_of(r, nullptr)); !a) {
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

}  // namespace exotune
