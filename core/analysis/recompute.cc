// Fusing a loop that computes values again: it may write an element that an earlier iteration of
// the other loop has read, as long as it writes the value that was there.
#include <algorithm>

#include "core/analysis/answers.h"
#include "core/analysis/coverage.h"
#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"

namespace exotune {
namespace {

bool reads(const Effect& e) { return e.access.kind == Access::Kind::kRead; }

/// One write with its loops' variables (and the iterator around them) given fresh names.
struct WriteInstance {
  std::vector<RangedVar> vars;
  std::vector<ExprPtr> conditions, idx;
  ExprPtr value;
};

WriteInstance renamed(const Access& write, const ExprPtr& value) {
  WriteInstance out;
  std::vector<std::pair<Sym, Sym>> names;
  auto apply = [&](ExprPtr e) {
    for (auto [from, to] : names) e = rename(e, from, to);
    return e;
  };
  for (const RangedVar& v : write.vars) {
    RangedVar fresh{v.var.copy(), apply(v.lo), apply(v.hi)};
    names.emplace_back(v.var, fresh.var);
    out.vars.push_back(std::move(fresh));
  }
  for (const ExprPtr& c : write.conditions) out.conditions.push_back(apply(c));
  for (const ExprPtr& i : write.idx) out.idx.push_back(apply(i));
  out.value = apply(value);
  return out;
}

/// What must be equal for `a` and `b` to have one value, given that no buffer in `changing` is
/// read; false when they differ in form.
bool same_form(const ExprPtr& a, const ExprPtr& b, const std::set<Sym>& changing,
               std::vector<std::pair<ExprPtr, ExprPtr>>& equal_indices) {
  if (a->node.index() != b->node.index() || a->type != b->type) return false;
  if (is_integer_control(a->type)) {
    equal_indices.emplace_back(a, b);
    return true;
  }
  if (const Read* x = a->as<Read>(), *y = b->as<Read>(); x && y) {
    if (x->name != y->name || x->idx.size() != y->idx.size() || changing.count(x->name))
      return false;
  } else if (const BinOp* o = a->as<BinOp>(), *q = b->as<BinOp>(); o && q) {
    if (o->op != q->op) return false;
  } else if (const Extern* f = a->as<Extern>(), *g = b->as<Extern>(); f && g) {
    if (f->fn != g->fn || f->args.size() != g->args.size()) return false;
  } else if (a->as<Const>()) {
    return equal(a, b);
  } else if (!a->as<USub>() && !a->as<Cast>()) {
    return false;
  }
  const std::vector<ExprPtr> s = expr_children(*a), t = expr_children(*b);
  for (size_t k = 0; k < s.size(); ++k)
    if (!same_form(s[k], t[k], changing, equal_indices)) return false;
  return true;
}

/// Any two writes of `buffer` in the loop at `loop` to one element write one value.
Answer writes_one_value(const Proc& p, const Path& loop, Sym buffer,
                        const std::set<Sym>& changing) {
  const Answer no = refused(LazyText([buffer] {
    return "an element of " + buffer.name() + " may be computed again with another value";
  }));
  std::vector<std::pair<Access, ExprPtr>> writes;
  for (Access& a : accesses_of(p, loop, 1, buffer)) {
    const Assign* s = stmt_at(p, a.stmt)->as<Assign>();
    if (a.kind != Access::Kind::kWrite || !s || s->name != buffer) return no;
    writes.emplace_back(std::move(a), s->rhs);
  }
  for (size_t m = 0; m < writes.size(); ++m) {
    for (size_t n = m; n < writes.size(); ++n) {
      const WriteInstance a = renamed(writes[m].first, writes[m].second),
                          b = renamed(writes[n].first, writes[n].second);
      std::vector<RangedVar> vars = a.vars;
      vars.insert(vars.end(), b.vars.begin(), b.vars.end());
      std::vector<ExprPtr> known = a.conditions;
      known.insert(known.end(), b.conditions.begin(), b.conditions.end());
      for (size_t d = 0; d < a.idx.size(); ++d)
        known.push_back(bin_op(BinOpKind::kEq, a.idx[d], b.idx[d]));
      std::vector<std::pair<ExprPtr, ExprPtr>> equal_indices;
      if (!same_form(a.value, b.value, changing, equal_indices)) return no;
      for (const auto& [x, y] : equal_indices) {
        if (affine_equal(x, y)) continue;
        if (!prove_for_all(p, loop, vars, known, bin_op(BinOpKind::kEq, x, y))) return no;
      }
    }
  }
  return proved();
}

}  // namespace

Answer can_fuse_recomputing(const Proc& p, const Path& first, const Proc& fused) {
  const Path second = sibling(first, 1);
  const StmtPtr a = stmt_at(p, first), b = stmt_at(p, second);
  const For *x = a ? a->as<For>() : nullptr, *y = b ? b->as<For>() : nullptr;
  if (!x || !y) return refused("both must be loops");
  Path body = first;
  body.push_back({Child::kBody, 0});
  Path other = second;
  other.push_back({Child::kBody, 0});
  const Effects ea = effects_of(Scope(p, body), x->body, body, static_cast<int>(x->body.size()));
  const Effects eb = effects_of(Scope(p, other), y->body, other, static_cast<int>(y->body.size()));
  if (!ea.config.empty() || !eb.config.empty())
    return refused("configuration state is used in the loops");
  std::set<Sym> computed, changing;
  for (const Effect& e : ea.memory)
    if (!reads(e)) (e.local ? changing : computed).insert(e.access.buffer);
  for (const Effect& e : eb.memory) {
    if (reads(e) || e.local) continue;
    if (computed.count(e.access.buffer))
      return refused(LazyText([s = e.access.buffer] { return s.name() + " is written by both"; }));
    changing.insert(e.access.buffer);
  }
  changing.insert(computed.begin(), computed.end());
  // What the first loop reads, neither changes; so an element's value does not depend on when.
  for (const Effect& e : ea.memory)
    if (reads(e) && changing.count(e.access.buffer))
      return refused(LazyText([s = e.access.buffer] { return s.name() + " changes in between"; }));
  for (Sym buffer : computed)
    if (Answer one = writes_one_value(p, first, buffer, changing); !one) return one;
  // And each iteration of the second finds all that it reads computed by the same one of the first.
  Place place(fused, body);
  const StmtPtr both = stmt_at(fused, first);
  const Effects e = effects_of(place.scope(), both->as<For>()->body, body,
                               static_cast<int>(both->as<For>()->body.size()));
  for (Sym buffer : computed)
    if (reads_earlier_value(place.problem(), e, buffer))
      return refused(LazyText([buffer] {
        return "an iteration may read what it did not compute itself of " + buffer.name();
      }));
  return proved();
}

}  // namespace exotune
