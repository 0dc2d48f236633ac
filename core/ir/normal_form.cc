#include "core/ir/normal_form.h"

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/deadline.h"
#include "core/base/diagnostic.h"
#include "core/ir/printer.h"

namespace exotune {

namespace {

// Every sum and product is checked: a wrapped coefficient would make two different expressions
// equal, and with them two different programs.
bool add_into(int64_t& a, int64_t b) { return !__builtin_add_overflow(a, b, &a); }

// Terms are sorted by their atoms' hashes, so that adding is one merge and equal forms are equal
// lists. Nothing on overflow, or where two different atoms have one hash: they would become one.
std::optional<Affine> combined(const Affine& a, const Affine& b, int64_t scale_b) {
  Affine out;
  int64_t scaled;
  out.constant = a.constant;
  if (__builtin_mul_overflow(b.constant, scale_b, &scaled) || !add_into(out.constant, scaled))
    return std::nullopt;
  out.terms.reserve(a.terms.size() + b.terms.size());
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    // Both are taken where the hashes are equal.
    bool take_a = j == b.terms.size() ||
                  (i < a.terms.size() && a.terms[i].atom->hash <= b.terms[j].atom->hash);
    bool take_b = i == a.terms.size() ||
                  (j < b.terms.size() && b.terms[j].atom->hash <= a.terms[i].atom->hash);
    if (take_a && take_b && !equal(a.terms[i].atom, b.terms[j].atom)) return std::nullopt;
    int64_t coeff = take_a ? a.terms[i].coeff : 0;
    ExprPtr atom = take_a ? a.terms[i].atom : b.terms[j].atom;
    if (take_b) {
      if (__builtin_mul_overflow(b.terms[j].coeff, scale_b, &scaled) || !add_into(coeff, scaled))
        return std::nullopt;
    }
    // Terms that cancel leave: a form without them is the same form.
    if (coeff != 0) out.terms.push_back({std::move(atom), coeff});
    i += take_a;
    j += take_b;
  }
  return out;
}

std::optional<Affine> checked_scaled(const Affine& a, int64_t k) { return combined({}, a, k); }

// C rounds towards zero, the object language down.
int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

// An atom is what the form does not look into: a variable, a stride, a quotient.
Affine of_atom(ExprPtr atom) { return Affine{{{std::move(atom), 1}}, 0}; }

std::optional<Affine> quotient(const Affine& n, int64_t c, bool want_remainder) {
  // n = c*whole + rest: every coefficient's multiple of c leaves the division.
  Affine whole, rest;
  for (const Affine::Term& t : n.terms) {
    int64_t q = floor_div(t.coeff, c), r = t.coeff - q * c;
    if (q) whole.terms.push_back({t.atom, q});
    if (r) rest.terms.push_back({t.atom, r});
  }
  whole.constant = floor_div(n.constant, c);
  rest.constant = n.constant - whole.constant * c;
  // Only a constant is left, which is smaller than c: divisible but for it.
  if (rest.terms.empty()) return want_remainder ? rest : whole;
  ExprPtr atom =
      bin_op(want_remainder ? BinOpKind::kMod : BinOpKind::kDiv, to_expr(rest), int_const(c));
  return want_remainder ? of_atom(atom) : combined(whole, of_atom(atom), 1);
}

}  // namespace

int64_t Affine::coeff_of(Sym s) const {
  for (const Term& t : terms)
    if (const Read* r = t.atom->as<Read>(); r && r->name == s) return t.coeff;
  return 0;
}

namespace {

// Callers that must have a result: no number may stand for one that cannot be told.
Affine or_refused(std::optional<Affine> a) {
  if (!a) throw SchedulingError("the coefficients of an index are beyond 64 bits");
  return *std::move(a);
}

}  // namespace

Affine operator+(const Affine& a, const Affine& b) { return or_refused(combined(a, b, 1)); }
Affine operator-(const Affine& a, const Affine& b) { return or_refused(combined(a, b, -1)); }
Affine Affine::scaled(int64_t k) const { return or_refused(checked_scaled(*this, k)); }

bool operator==(const Affine& a, const Affine& b) {
  if (a.constant != b.constant || a.terms.size() != b.terms.size()) return false;
  for (size_t k = 0; k < a.terms.size(); ++k)
    if (a.terms[k].coeff != b.terms[k].coeff || !equal(a.terms[k].atom, b.terms[k].atom))
      return false;
  return true;
}

namespace {

// Loops over all pairs of accesses ask for this: their time is here, and so they look at it here,
// where the clock costs as much as some of the answers.
void look_at_the_time() {
  constexpr unsigned kTurns = 64;
  thread_local unsigned turn = 0;
  if (++turn % kTurns == 0) leave_if_over();
}

}  // namespace

std::optional<Affine> affine(const ExprPtr& e) {
  look_at_the_time();
  if (!is_integer_control(e->type) && !(e->as<Const>() && is_control(e->type))) return std::nullopt;
  struct Visitor {
    const ExprPtr& e;
    std::optional<Affine> operator()(const Read& n) {
      return n.idx.empty() ? std::optional(of_atom(e)) : std::nullopt;
    }
    std::optional<Affine> operator()(const Const& n) {
      if (auto* v = std::get_if<int64_t>(&n.value)) return Affine{{}, *v};
      return std::nullopt;
    }
    std::optional<Affine> operator()(const USub& n) {
      auto a = affine(n.arg);
      return a ? checked_scaled(*a, -1) : std::nullopt;
    }
    std::optional<Affine> operator()(const Not&) { return std::nullopt; }
    std::optional<Affine> operator()(const BinOp& n) {
      // Their operands may be integers, they themselves are not.
      if (is_comparison(n.op) || is_logical(n.op)) return std::nullopt;
      auto a = affine(n.lhs), b = affine(n.rhs);
      if (!a || !b) return std::nullopt;
      switch (n.op) {
        case BinOpKind::kAdd:
          return combined(*a, *b, 1);
        case BinOpKind::kSub:
          return combined(*a, *b, -1);
        case BinOpKind::kMul:
          if (b->is_constant()) return checked_scaled(*a, b->constant);
          if (a->is_constant()) return checked_scaled(*b, a->constant);
          return std::nullopt;
        case BinOpKind::kDiv:
        case BinOpKind::kMod:
          if (!b->is_constant() || b->constant <= 0) return std::nullopt;
          return quotient(*a, b->constant, n.op == BinOpKind::kMod);
        default:
          return std::nullopt;
      }
    }
    std::optional<Affine> operator()(const Extern&) { return std::nullopt; }
    std::optional<Affine> operator()(const Cast&) { return std::nullopt; }
    std::optional<Affine> operator()(const WindowExpr&) { return std::nullopt; }
    std::optional<Affine> operator()(const StrideExpr&) { return of_atom(e); }
    std::optional<Affine> operator()(const ReadConfig&) { return of_atom(e); }
  };
  return std::visit(Visitor{e}, e->node);
}

namespace {

// In the order of the text, with repetitions.
void symbols_in_order(const ExprPtr& e, std::vector<Sym>& out) {
  if (const Read* r = e->as<Read>()) out.push_back(r->name);
  if (const StrideExpr* s = e->as<StrideExpr>()) out.push_back(s->name);
  for (const ExprPtr& c : expr_children(*e)) symbols_in_order(c, out);
}

// Order by text, so that the result does not depend on what other code made symbols; atoms that
// print alike stand in the order in which their symbols were made.
bool prints_before(const ExprPtr& a, const ExprPtr& b) {
  const Read *x = a->as<Read>(), *y = b->as<Read>();
  if (x && y) {
    const int names = x->name.name().compare(y->name.name());
    return names != 0 ? names < 0 : x->name < y->name;
  }
  const int texts = str(a).compare(str(b));
  if (texts != 0) return texts < 0;
  std::vector<Sym> in_a, in_b;
  symbols_in_order(a, in_a);
  symbols_in_order(b, in_b);
  return in_a < in_b;
}

}  // namespace

// What people read: positive terms first, so that `n - i` is not printed as `-1 * i + n`.
ExprPtr to_expr(const Affine& a) {
  if (a.terms.empty()) return int_const(a.constant);
  // The atom itself, so that what was simple stays the same node.
  if (a.terms.size() == 1 && a.terms[0].coeff == 1 && a.constant == 0) return a.terms[0].atom;
  std::vector<const Affine::Term*> order;
  for (const Affine::Term& t : a.terms) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](const auto* x, const auto* y) {
    bool px = x->coeff > 0, py = y->coeff > 0;
    return px != py ? px : prints_before(x->atom, y->atom);
  });
  ExprPtr out;
  for (const Affine::Term* t : order) {
    if (t->coeff == std::numeric_limits<int64_t>::min()) {  // has no magnitude
      ExprPtr term = int_const(t->coeff) * t->atom;
      out = out ? out + term : term;
      continue;
    }
    int64_t magnitude = t->coeff < 0 ? -t->coeff : t->coeff;
    ExprPtr term = magnitude == 1 ? t->atom : int_const(magnitude) * t->atom;
    if (!out)
      out = t->coeff < 0 ? int_const(-magnitude) * t->atom : term;
    else
      out = t->coeff < 0 ? out - term : out + term;
  }
  if (a.constant > 0) out = out + int_const(a.constant);
  if (a.constant == std::numeric_limits<int64_t>::min()) return out + int_const(a.constant);
  if (a.constant < 0) out = out - int_const(-a.constant);
  return out;
}

bool affine_equal(const ExprPtr& a, const ExprPtr& b) {
  if (equal(a, b)) return true;
  auto x = affine(a), y = affine(b);
  return x && y && *x == *y;
}

namespace {

std::optional<bool> as_bool(const ExprPtr& e) {
  if (const Const* c = e->as<Const>())
    if (auto* b = std::get_if<bool>(&c->value)) return *b;
  return std::nullopt;
}

ExprPtr fold_logic(const ExprPtr& e) {
  if (const Not* n = e->as<Not>()) {
    if (auto b = as_bool(n->arg)) return bool_const(!*b);
    return nullptr;
  }
  const BinOp* o = e->as<BinOp>();
  if (!o) return nullptr;
  if (is_logical(o->op)) {
    bool is_and = o->op == BinOpKind::kAnd;
    // `true and x` is x, `false and x` is false; the other way round for or.
    for (auto [side, other] : {std::pair(o->lhs, o->rhs), std::pair(o->rhs, o->lhs)})
      if (auto b = as_bool(side)) return *b == is_and ? other : side;
    return nullptr;
  }
  if (!is_comparison(o->op)) return nullptr;
  auto a = affine(o->lhs), b = affine(o->rhs);
  if (!a || !b) return nullptr;
  // a < b says the same as a - b < 0, which is decided where the difference is a number.
  auto d = combined(*a, *b, -1);
  if (!d || !d->is_constant()) return nullptr;
  int64_t v = d->constant;
  switch (o->op) {
    case BinOpKind::kLt:
      return bool_const(v < 0);
    case BinOpKind::kGt:
      return bool_const(v > 0);
    case BinOpKind::kLe:
      return bool_const(v <= 0);
    case BinOpKind::kGe:
      return bool_const(v >= 0);
    case BinOpKind::kEq:
      return bool_const(v == 0);
    case BinOpKind::kNe:
      return bool_const(v != 0);
    default:
      return nullptr;
  }
}

}  // namespace

ExprPtr normalize(const ExprPtr& e) {
  // What most subscripts are, without a form being made for it.
  if (e->as<Const>() || (e->as<Read>() && e->as<Read>()->idx.empty())) return e;
  if (auto a = affine(e)) return to_expr(*a);
  std::vector<ExprPtr> children = expr_children(*e);
  bool changed = false;
  for (ExprPtr& c : children) {
    ExprPtr n = normalize(c);
    changed |= n != c;
    c = std::move(n);
  }
  ExprPtr out = changed ? with_children(e, children) : e;
  ExprPtr folded = fold_logic(out);
  return folded ? folded : out;
}

}  // namespace exotune
