// Simplification of expressions with the facts of a place.
#include <algorithm>
#include <numeric>

#include "core/analysis/facts.h"
#include "core/analysis/place_simplifier.h"
#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"

namespace exotune {
namespace {

using Terms = Affine;

// a + k*b; nothing on overflow.
std::optional<Terms> combine(const Terms& a, const Terms& b, int64_t k) {
  Terms out = a;
  int64_t scaled;
  if (__builtin_mul_overflow(b.constant, k, &scaled) ||
      __builtin_add_overflow(out.constant, scaled, &out.constant))
    return std::nullopt;
  for (const Affine::Term& t : b.terms) {
    if (__builtin_mul_overflow(t.coeff, k, &scaled)) return std::nullopt;
    auto at =
        std::lower_bound(out.terms.begin(), out.terms.end(), t.atom->hash,
                         [](const Affine::Term& x, uint64_t hash) { return x.atom->hash < hash; });
    // Atoms of one hash stand side by side; each has its own term.
    while (at != out.terms.end() && at->atom->hash == t.atom->hash && !equal(at->atom, t.atom))
      ++at;
    if (at != out.terms.end() && equal(at->atom, t.atom)) {
      if (__builtin_add_overflow(at->coeff, scaled, &at->coeff)) return std::nullopt;
      if (at->coeff == 0) out.terms.erase(at);
    } else if (scaled != 0) {
      out.terms.insert(at, {t.atom, scaled});
    }
  }
  return out;
}

}  // namespace

// Every rule holds for floor division and for remainders that are never negative, as the object
// language has them.
class PlaceSimplifier::Rules {
 public:
  Rules(const Proc& p, Path at) : p_(p), at_(std::move(at)) {}

  // Forgets the variables that questions about one expression introduced.
  // The place's facts are kept from one expression to the next; they cost more to gather than most
  // questions do.
  ExprPtr fresh_run(const ExprPtr& e) {
    if (!place_) return run(e);
    const Problem::Mark before = place_->problem().mark();
    ExprPtr out = run(e);
    place_->problem().rollback(before);
    return out;
  }

 private:
  ExprPtr run(const ExprPtr& e) {
    if (e->as<Const>()) return e;
    if (const Read* r = e->as<Read>(); r && r->idx.empty()) return e;
    // An integer as a sum over atoms, where it is one; what is none is simplified child by child.
    if (is_integer_control(e->type))
      if (std::optional<Terms> a = integer(e)) {
        ExprPtr out = to_expr(*a);
        return equal(out, e) ? e : out;
      }
    std::vector<ExprPtr> children = expr_children(*e);
    bool changed = false;
    for (ExprPtr& c : children) {
      ExprPtr simple = run(c);
      changed |= simple != c;
      c = std::move(simple);
    }
    ExprPtr out = changed ? with_children(e, children) : e;
    if (out->type == ScalarType::kBool) return logic(out);
    return out;
  }

  // Made at the first question: many expressions are simplified without any.
  Problem& problem() {
    if (!place_) place_ = std::make_unique<Place>(p_, at_);
    return place_->problem();
  }

  // Where no fact bounds a side, that side is missing.
  Interval range_of(const Terms& t) {
    if (t.is_constant()) return {true, true, false, t.constant, t.constant};
    return problem().bounds(problem().lin(to_expr(t)));
  }

  std::optional<Terms> integer(const ExprPtr& e) {
    if (const Read* r = e->as<Read>(); r && r->idx.empty()) return Terms{{{e, 1}}, 0};
    if (const Const* c = e->as<Const>()) {
      if (const int64_t* v = std::get_if<int64_t>(&c->value)) return Terms{{}, *v};
      return std::nullopt;
    }
    if (const USub* u = e->as<USub>()) {
      std::optional<Terms> a = integer(u->arg);
      return a ? combine({}, *a, -1) : std::nullopt;
    }
    // An assert may fix it.
    if (e->as<StrideExpr>()) {
      const Lin value = problem().lin(e);
      if (value.is_constant()) return Terms{{}, value.constant};
      return Terms{{{e, 1}}, 0};
    }
    if (e->as<ReadConfig>()) return Terms{{{e, 1}}, 0};
    const BinOp* o = e->as<BinOp>();
    if (!o) return std::nullopt;
    std::optional<Terms> a = integer(o->lhs), b = integer(o->rhs);
    if (!a || !b) return std::nullopt;
    switch (o->op) {
      case BinOpKind::kAdd:
        return collected(combine(*a, *b, 1));
      case BinOpKind::kSub:
        return collected(combine(*a, *b, -1));
      case BinOpKind::kMul:
        // A product of two that vary is no sum of atoms: nothing is said of it.
        if (b->is_constant()) return combine({}, *a, b->constant);
        if (a->is_constant()) return combine({}, *b, a->constant);
        return std::nullopt;
      case BinOpKind::kDiv:
      case BinOpKind::kMod:
        // Division by what may be zero or negative is not for these rules.
        if (!b->is_constant() || b->constant <= 0) return std::nullopt;
        return o->op == BinOpKind::kDiv ? quotient(*a, b->constant) : remainder(*a, b->constant);
      default:
        return std::nullopt;
    }
  }

  struct Parts {
    Terms whole, rest;  // n = c*whole + rest
  };
  // (8*i + 5*j + 9) by 4: whole 2*i + j + 2, rest j + 1. The rest's constant lies in [0, c).
  static Parts split(const Terms& n, int64_t c) {
    Parts out;
    for (const Affine::Term& t : n.terms) {
      const int64_t q = floor_div(t.coeff, c), r = floor_mod(t.coeff, c);
      if (q != 0) out.whole.terms.push_back({t.atom, q});
      if (r != 0) out.rest.terms.push_back({t.atom, r});
    }
    out.whole.constant = floor_div(n.constant, c);
    out.rest.constant = floor_mod(n.constant, c);
    return out;
  }
  // With remainders in (-c/2, c/2] instead of [0, c): x - y keeps its shape.
  static Parts split_balanced(const Terms& n, int64_t c) {
    Parts out;
    for (const Affine::Term& t : n.terms) {
      int64_t q = floor_div(t.coeff, c), r = floor_mod(t.coeff, c);
      if (r > c / 2) ++q, r -= c;
      if (q != 0) out.whole.terms.push_back({t.atom, q});
      if (r != 0) out.rest.terms.push_back({t.atom, r});
    }
    out.whole.constant = floor_div(n.constant, c);
    out.rest.constant = floor_mod(n.constant, c);
    return out;
  }

  // The constant value of floor(rest / c), when the range of `rest` decides it.
  std::optional<int64_t> constant_quotient(const Terms& rest, int64_t c) {
    const Interval r = range_of(rest);
    // Contradictory facts: the place is never reached, and nothing about it is worth changing.
    if (r.empty || !r.has_lo || !r.has_hi) return std::nullopt;
    if (floor_div(r.lo, c) != floor_div(r.hi, c)) return std::nullopt;
    return floor_div(r.lo, c);
  }

  std::optional<Terms> quotient(const Terms& n, int64_t c) {
    if (c == 1) return n;
    // Of the two ways of splitting one may leave a rest of known quotient and the other not: with
    // i in [0, 4), 3*i - 1 by 4 leaves 3*i + 3 or 3 - i.
    for (const Parts& parts : {split(n, c), split_balanced(n, c)})
      if (std::optional<int64_t> k = constant_quotient(parts.rest, c))
        return combine(parts.whole, Terms{{}, *k}, 1);
    const Parts parts = split_balanced(n, c);
    // floor(floor(x / a) / c) = floor(x / (a*c)).
    if (parts.rest.terms.size() == 1 && parts.rest.constant == 0 &&
        parts.rest.terms[0].coeff == 1) {
      const BinOp* inner = parts.rest.terms[0].atom->as<BinOp>();
      std::optional<int64_t> a =
          inner && inner->op == BinOpKind::kDiv ? as_int(inner->rhs) : std::nullopt;
      int64_t product;
      if (a && !__builtin_mul_overflow(*a, c, &product))
        return combine(parts.whole,
                       Terms{{{bin_op(BinOpKind::kDiv, inner->lhs, int_const(product)), 1}}, 0}, 1);
    }
    // A common factor of the remainder and the divisor leaves both.
    int64_t g = c;
    for (const Affine::Term& t : parts.rest.terms) g = std::gcd(g, t.coeff);
    Terms reduced = parts.rest;
    if (g > 1) {
      for (Affine::Term& t : reduced.terms) t.coeff /= g;
      reduced.constant = floor_div(reduced.constant, g);
    }
    ExprPtr atom = bin_op(BinOpKind::kDiv, to_expr(reduced), int_const(c / g));
    return combine(parts.whole, Terms{{{atom, 1}}, 0}, 1);
  }

  // x % a is x minus a multiple of a: where c divides that multiple, the remainder by c is that of
  // x.
  std::optional<Terms> without_inner_remainders(const Terms& n, int64_t c) {
    std::optional<Terms> out = n;
    for (const Affine::Term& t : n.terms) {
      const BinOp* mod = t.atom->as<BinOp>();
      if (!mod || mod->op != BinOpKind::kMod) continue;
      const std::optional<int64_t> a = as_int(mod->rhs);
      int64_t multiple;
      if (!a || __builtin_mul_overflow(*a, t.coeff, &multiple) || multiple % c != 0) continue;
      const std::optional<Terms> x = affine_of(mod->lhs);
      if (!x) continue;
      if (out) out = combine(*out, Terms{{{t.atom, 1}}, 0}, -t.coeff);
      if (out) out = combine(*out, *x, t.coeff);
    }
    return out;
  }

  std::optional<Terms> remainder(const Terms& sum, int64_t c) {
    if (c == 1) return Terms{};
    const std::optional<Terms> flat = without_inner_remainders(sum, c);
    const Terms& n = flat ? *flat : sum;
    for (const Parts& parts : {split(n, c), split_balanced(n, c)})
      if (std::optional<int64_t> k = constant_quotient(parts.rest, c)) {
        int64_t shift;
        if (__builtin_mul_overflow(*k, c, &shift)) return std::nullopt;
        return combine(parts.rest, Terms{{}, shift}, -1);
      }
    const Parts parts = split_balanced(n, c);
    return Terms{{{bin_op(BinOpKind::kMod, to_expr(parts.rest), int_const(c)), 1}}, 0};
  }

  // n - c*(n / c) becomes n % c, and c*(n / c) + n % c becomes n.
  std::optional<Terms> collected(std::optional<Terms> sum) {
    if (!sum) return sum;
    for (size_t k = 0; k < sum->terms.size(); ++k) {
      const BinOp* q = sum->terms[k].atom->as<BinOp>();
      // Look for each quotient n / c in the sum, and for what makes it a remainder or takes it
      // away.
      if (!q || q->op != BinOpKind::kDiv) continue;
      const std::optional<int64_t> c = as_int(q->rhs);
      if (!c || *c <= 0 || sum->terms[k].coeff % *c != 0) continue;
      const int64_t m = sum->terms[k].coeff / *c;  // m * c * (n / c)
      const std::optional<Terms> n = affine_of(q->lhs);
      if (!n || n->terms.empty()) continue;
      const ExprPtr mod = bin_op(BinOpKind::kMod, q->lhs, q->rhs);
      for (const Affine::Term& t : sum->terms)
        if (equal(t.atom, mod) && t.coeff == m) {
          std::optional<Terms> out = combine(*sum, Terms{{{mod, 1}}, 0}, -m);
          if (out) out = combine(*out, Terms{{{sum->terms[k].atom, 1}}, 0}, -sum->terms[k].coeff);
          if (out) out = combine(*out, *n, m);
          // Each such step takes a term away or turns a quotient into a remainder, so that this
          // ends.
          return collected(std::move(out));
        }
      // All of n is there, with the opposite sign.
      // Every term of n with the factor -m: then the quotient and they are -m times n % c.
      bool whole = m != 0;
      for (const Affine::Term& t : n->terms) {
        int64_t have = 0;
        for (const Affine::Term& s : sum->terms)
          if (equal(s.atom, t.atom)) have = s.coeff;
        whole &= have == -m * t.coeff;
      }
      if (whole) {
        std::optional<Terms> out = combine(*sum, *n, m);
        if (out) out = combine(*out, Terms{{{sum->terms[k].atom, 1}}, 0}, -sum->terms[k].coeff);
        if (out) out = combine(*out, Terms{{{mod, 1}}, 0}, -m);
        return collected(std::move(out));
      }
    }
    return sum;
  }

  std::optional<Terms> affine_of(const ExprPtr& e) { return affine(e); }

  ExprPtr logic(const ExprPtr& e) {
    const BinOp* o = e->as<BinOp>();
    if (const Not* n = e->as<Not>()) {
      if (std::optional<bool> b = literal(n->arg)) return bool_const(!*b);
      return e;
    }
    if (!o) return e;
    // A literal on one side decides, or leaves the other; both sides have been simplified before.
    if (is_logical(o->op)) {
      const bool absorbing = o->op == BinOpKind::kOr;
      const std::optional<bool> l = literal(o->lhs), r = literal(o->rhs);
      if (l) return *l == absorbing ? bool_const(absorbing) : o->rhs;
      if (r) return *r == absorbing ? bool_const(absorbing) : o->lhs;
      return e;
    }
    if (!is_comparison(o->op) || is_data(o->lhs->type) || is_data(o->rhs->type)) return e;
    // Data are not compared: no fact says anything of their values.
    const Formula f = problem().formula(e);
    if (f.kind == Formula::Kind::kTrue) return bool_const(true);
    if (f.kind == Formula::Kind::kFalse) return bool_const(false);
    const Answer yes = problem().entails(f);
    if (yes) return bool_const(true);
    const Answer no = problem().excludes(f);
    if (no) return bool_const(false);
    return e;
  }

  static std::optional<bool> literal(const ExprPtr& e) {
    if (const Const* c = e->as<Const>())
      if (const bool* b = std::get_if<bool>(&c->value)) return *b;
    return std::nullopt;
  }

  const Proc& p_;
  const Path at_;
  std::unique_ptr<Place> place_;
};

PlaceSimplifier::PlaceSimplifier(const Proc& p, Path at)
    : rules_(std::make_unique<Rules>(p, std::move(at))) {}
PlaceSimplifier::~PlaceSimplifier() = default;

ExprPtr PlaceSimplifier::run(const ExprPtr& e) {
  if (e->as<Const>()) return e;
  if (const Read* r = e->as<Read>(); r && r->idx.empty()) return e;
  // One expression comes often: bounds of the same loops, subscripts of the same accesses.
  auto [first, last] = known_.equal_range(e->hash);
  for (; first != last; ++first)
    if (equal(first->second.first, e)) return first->second.second;
  ExprPtr out = rules_->fresh_run(e);
  known_.emplace(e->hash, std::pair{e, out});
  return out;
}

ExprPtr simplify_expr(const Proc& p, const Path& at, const ExprPtr& e) {
  return PlaceSimplifier(p, at).run(e);
}

}  // namespace exotune
