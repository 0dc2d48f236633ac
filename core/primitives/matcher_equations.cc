// Control formals: the unknowns of affine equations between the callee and the block.
//
// Matching bodies statement by statement leaves an equation for each pair of indices and bounds:
// the callee's expression over its formals equals the block's over what is visible there. Any call
// whose arguments solve all of them computes what the block does, so a solution needs no
// uniqueness; that there is none is only claimed where an equation fails.
#include <algorithm>
#include <functional>

#include "core/primitives/calls.h"
#include "core/primitives/matcher.h"
#include "core/primitives/uses.h"

namespace exotune::internal {

// A pattern expression with its iterators replaced by the block's.
ExprPtr Matcher::translated(ExprPtr e) const {
  for (const auto& [from, to] : iters_) e = substitute(e, from, to);
  return e;
}

void Matcher::equate(const ExprPtr& pattern, const ExprPtr& actual) {
  auto& list = reads_formal_stride(pattern) ? stride_equations_ : equations_;
  list.push_back({translated(pattern), actual});
}

bool Matcher::reads_formal_stride(const ExprPtr& e) const {
  if (const StrideExpr* s = e->as<StrideExpr>()) return formal(s->name) != nullptr;
  for (const ExprPtr& c : expr_children(*e))
    if (reads_formal_stride(c)) return true;
  return false;
}

// Strides of formals are known once the formals are bound, which is why these equations wait until
// all others are solved.
bool Matcher::strides_agree(const std::vector<ExprPtr>& args) {
  for (const Equation& eq : stride_equations_) {
    ExprPtr pattern = at_call(p_, first_, callee_, args, eq.pattern);
    ExprPtr actual = rewrite(eq.actual, [&](const ExprPtr& x) -> ExprPtr {
      const StrideExpr* s = x->as<StrideExpr>();
      return s ? stride_of(p_, first_, s->name, s->dim) : nullptr;
    });
    if (!free_of_iters(actual) || !free_of_iters(pattern))
      return no("a stride stands beside a loop's iterator");
    if (!affine_equal(pattern, actual) && !prove_equal(p_, first_, pattern, actual))
      return no("the strides differ");
  }
  return true;
}

bool Matcher::free_of_iters(const ExprPtr& e) const {
  for (Sym s : bound_iters_)
    if (mentions(e, s)) return false;
  return true;
}

bool Matcher::free_of_iters(const Affine& a) const {
  for (const Affine::Term& t : a.terms)
    if (!free_of_iters(t.atom)) return false;
  return true;
}

// The bloom of an expression's symbols saves most of the walks: few equations mention a formal.
ExprPtr Matcher::with_solutions(ExprPtr e) const {
  for (const auto& [name, value] : bound_)
    if (e->bloom & name.bloom()) e = substitute(e, name, value);
  return e;
}

bool Matcher::is_unknown(const ExprPtr& atom) const {
  const Read* r = atom->as<Read>();
  return r && r->idx.empty() && formal(r->name) && !bound_.count(r->name);
}

bool Matcher::mentions_unknown(const ExprPtr& e) const {
  for (const Arg& a : callee_.args)
    if (is_control(a.type.scalar) && !bound_.count(a.name) && mentions(e, a.name)) return true;
  return false;
}

// Substitution to a fixed point: an equation with one unknown of coefficient 1 or -1 gives its
// value, which may leave another with one. No elimination across equations: `i + j == a` beside
// `i - j == b` is refused, since no instruction is written so. Ends, as each round that makes
// progress closes an equation.
bool Matcher::solve_controls() {
  // Whole dense tensors: their sizes are the buffer's.
  for (const auto& [name, buffer] : buffers_) {
    const Arg* arg = formal(name);
    if (arg->type.window || !arg->type.is_tensor()) continue;
    auto entry = lookup(p_, first_, buffer.actual);
    if (entry->type.window || entry->window || entry->type.rank() != arg->type.rank())
      return no("an argument must be a dense tensor");
    for (size_t d = 0; d < arg->type.shape.size(); ++d)
      equate(arg->type.shape[d], entry->type.shape[d]);
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (Equation& eq : equations_) {
      if (eq.done) continue;
      switch (step(eq)) {
        case Outcome::kFailed:
          return false;
        case Outcome::kSolved:
          progress = true;
          break;
        case Outcome::kWaiting:
          break;
      }
    }
  }
  for (const Equation& eq : equations_)
    if (!eq.done) return no("a control argument is not determined");
  for (const Arg& a : callee_.args) {
    if (!is_control(a.type.scalar)) continue;
    if (!bound_.count(a.name)) return no("a control argument is not determined");
  }
  return true;
}

// Arguments are evaluated before the block begins: values, sizes, and where windows lie. None may
// name what only the block or the callee has (as a stride of it can).
bool Matcher::same_when_called() {
  for (const auto& [name, value] : bound_) {
    for (const auto& [from, to] : locals_)
      if (mentions(value, from) || mentions(value, to))
        return no("an argument is known in the block only");
    for (const Arg& a : callee_.args)
      if (mentions(value, a.name)) return no("an argument is known in the callee only");
  }
  if (!writes_config(callee_.body)) return true;
  for (const auto& [name, value] : bound_)
    if (reads_config(value))
      return no("an argument reads configuration state that the block writes");
  return true;
}

// One equation, with what is known by now. An unknown inside an atom that is not affine, as in
// n / 2, counts for two: it can only wait until another equation gives it.
Matcher::Outcome Matcher::step(Equation& eq) {
  constexpr int64_t kLimit = int64_t{1} << 40;  // far from overflow
  ExprPtr pattern = with_solutions(eq.pattern);
  auto x = affine(pattern), y = affine(eq.actual);
  if (!x || !y) return no("an index is not affine"), Outcome::kFailed;
  for (const Affine* side : {&*x, &*y}) {
    if (side->constant > kLimit || side->constant < -kLimit)
      return no("a constant is too large"), Outcome::kFailed;
    for (const Affine::Term& t : side->terms)
      if (t.coeff > kLimit || t.coeff < -kLimit)
        return no("a constant is too large"), Outcome::kFailed;
  }
  Affine residual = *x - *y;
  const Affine::Term* unknown = nullptr;
  int unknowns = 0;
  for (const Affine::Term& t : residual.terms) {
    if (is_unknown(t.atom))
      unknown = &t, ++unknowns;
    else if (mentions_unknown(t.atom))
      unknowns += 2;
  }
  if (unknowns > 1) return Outcome::kWaiting;
  if (unknowns == 0) {
    eq.done = true;
    return vanishes(residual) ? Outcome::kSolved : Outcome::kFailed;
  }
  if (unknown->coeff != 1 && unknown->coeff != -1)
    return no("an equation has no integer solution"), Outcome::kFailed;
  Sym name = unknown->atom->as<Read>()->name;
  Affine self{{{unknown->atom, unknown->coeff}}, 0};
  Affine value = (residual - self).scaled(-unknown->coeff);
  if (!free_of_iters(value))
    return no("a control argument would depend on a loop of the block"), Outcome::kFailed;
  bound_.emplace(name, to_expr(value));
  eq.done = true;
  return Outcome::kSolved;
}

// Both sides are equal: by their forms, or by what is known of the sizes where the block stands.
bool Matcher::vanishes(const Affine& residual) {
  if (residual.terms.empty()) return residual.constant == 0 || no("the bounds or indices differ");
  if (!free_of_iters(residual)) return no("the indices differ");
  Bounds b = bounds_of(p_, first_, to_expr(residual));
  return (b.lo && b.hi && *b.lo == 0 && *b.hi == 0) || no("the bounds or indices differ");
}

}  // namespace exotune::internal
