#include "core/analysis/problem.h"

#include <algorithm>

#include "core/analysis/solver.h"
#include "core/ir/printer.h"

namespace exotune {
// The translation from control expressions to linear constraints, which all proofs rest on. What it
// may do is lose knowledge (an unknown variable for what is not affine); what it must never do is
// claim something false: each constraint added here holds for every value the program can take.

int Problem::add(Var v) {
  is_size_.push_back(v.size);
  vars_.push_back(std::move(v));
  return static_cast<int>(vars_.size()) - 1;
}

int Problem::bind(Sym s, const char* suffix) {
  const int var = add({Var::Kind::kFresh, s, 0, nullptr, suffix, nullptr, false});
  bindings_.push_back({s, var});
  return var;
}

int Problem::fresh(std::string name) {
  return add({Var::Kind::kFresh, Sym(), 0, nullptr, std::move(name), nullptr, false});
}

// The innermost binding of a symbol counts, since two instances of one loop are compared by binding
// its iterator twice. Linear in the variables, which are a dozen.
int Problem::variable_of(Sym s, ScalarType type) {
  for (auto b = bindings_.rbegin(); b != bindings_.rend(); ++b)
    if (b->sym == s) return b->var;
  for (size_t k = 0; k < vars_.size(); ++k)
    if (vars_[k].kind == Var::Kind::kSymbol && vars_[k].sym == s) return static_cast<int>(k);
  const bool size = type == ScalarType::kSize;
  const int var = add({Var::Kind::kSymbol, s, 0, nullptr, "", nullptr, size});
  if (size) {
    // A size is at least 1, a boolean 0 or 1: stated when the variable appears, for it may come up
    // in a question only.
    Lin positive = Lin::variable(var);
    assume_at_least_zero(std::move(positive.add_constant(-1)));
  } else if (type == ScalarType::kBool) {
    Lin below = Lin::variable(var, -1);
    assume_at_least_zero(Lin::variable(var));
    assume_at_least_zero(std::move(below.add_constant(1)));
  }
  return var;
}

// Under havoc every read is a variable of its own: two reads of a field that somebody may write in
// between are not equal.
int Problem::config_variable(const ReadConfig& read) {
  for (const auto& [config, field] : havoc_)
    if (config == read.config->name && field == read.field) return fresh();
  for (size_t k = 0; k < vars_.size(); ++k)
    if (vars_[k].kind == Var::Kind::kConfig && vars_[k].config->name == read.config->name &&
        vars_[k].text == read.field)
      return static_cast<int>(k);
  const int var =
      add({Var::Kind::kConfig, Sym(), 0, read.config.get(), read.field, nullptr, false});
  const ConfigField* field = read.config->find(read.field);
  if (field && field->type == ScalarType::kBool) {
    Lin below = Lin::variable(var, -1);
    assume_at_least_zero(Lin::variable(var));
    assume_at_least_zero(std::move(below.add_constant(1)));
  }
  return var;
}

// Facts that were stated about the old value stay true of it under another name; the field's next
// read gets a new variable.
void Problem::forget_config(const std::string& config, const std::string& field) {
  for (Var& v : vars_)
    if (v.kind == Var::Kind::kConfig && v.config->name == config && v.text == field) {
      v.kind = Var::Kind::kFresh;
      v.text = config + "." + field + " before";
    }
}

Lin Problem::config_value(const ConfigPtr& config, const std::string& field) {
  return Lin::variable(config_variable({config, field}));
}

// The one place where equal text means equal value. It does not for anything that varies from
// instance to instance, or from read to read: those get a fresh variable, about which nothing is
// known.
int Problem::opaque_variable(const ExprPtr& e) {
  // Equal expressions have equal values only while they mention no variable bound per instance.
  for (const Bound& b : bindings_)
    if (mentions(e, b.sym)) return fresh();
  if (!havoc_.empty()) return fresh();
  for (size_t k = 0; k < vars_.size(); ++k)
    if (vars_[k].kind == Var::Kind::kOpaque && equal(vars_[k].opaque, e))
      return static_cast<int>(k);
  return add({Var::Kind::kOpaque, Sym(), 0, nullptr, "", e, false});
}

// floor(n / d) with as few variables as possible. Example: (8 * io + ii) / 8 is io + ii / 8; when
// facts say 0 <= ii < 8, the solver finds that q is 0 by itself.
Lin Problem::quotient(const Lin& n, int64_t divisor) {
  // Multiples of the divisor leave the quotient exactly; what remains gets a variable.
  Lin whole, rest;
  for (const Lin::Term& t : n.terms) {
    const int64_t q = floor_div(t.coeff, divisor), r = floor_mod(t.coeff, divisor);
    // The balanced remainder keeps -1 as -1 rather than divisor - 1.
    if (r > divisor / 2) {
      whole.add(Lin::variable(t.var, q + 1));
      rest.add(Lin::variable(t.var, r - divisor));
    } else {
      if (q != 0) whole.add(Lin::variable(t.var, q));
      if (r != 0) rest.add(Lin::variable(t.var, r));
    }
  }
  whole.constant = floor_div(n.constant, divisor);
  rest.constant = floor_mod(n.constant, divisor);
  whole.overflow = rest.overflow = n.overflow;
  if (rest.terms.empty() || n.overflow) return whole;
  // One variable for equal remainders: `i / 8` and `i % 8` speak of the same quotient, which is
  // what makes 8 * (i / 8) + i % 8 == i provable.
  for (const Quotient& q : quotients_)
    if (q.divisor == divisor && q.n == rest) return whole + Lin::variable(q.var);
  const int var = add({Var::Kind::kQuotient, Sym(), 0, nullptr, "", nullptr, false});
  quotients_.push_back({rest, divisor, var});
  Lin remainder = rest;
  // 0 <= rest - divisor * q < divisor: exactly floor division, for either sign of rest.
  remainder.add(Lin::variable(var), -divisor);
  Lin below = remainder.scaled(-1);
  assume_at_least_zero(std::move(remainder));
  assume_at_least_zero(std::move(below.add_constant(divisor - 1)));
  return whole + Lin::variable(var);
}

// A window's stride is its root's along the axis; a dense root's is the product of the later
// extents if at most one of them is symbolic. A window argument's stride is a variable: the caller
// decides.
Lin Problem::stride(Sym name, int dim) {
  Scope::Axis axis{name, dim};
  if (scope_) {
    axis = scope_->axis_of(name, dim);
    const Binding* root = scope_->find(axis.root);
    if (root && root->type && !root->type->window) {
      // Row-major: the product of the later extents, when that is affine.
      Lin product(1);
      bool is_affine = true;
      for (int k = axis.dim + 1; k < root->type->rank() && is_affine; ++k) {
        Lin extent = lin(root->type->shape[k]);
        if (product.is_constant()) {
          product = extent.scaled(product.constant);
        } else if (extent.is_constant()) {
          product = product.scaled(extent.constant);
        } else {
          is_affine = false;
        }
      }
      if (is_affine && !product.overflow) return product;
    }
  }
  for (size_t k = 0; k < vars_.size(); ++k)
    if (vars_[k].kind == Var::Kind::kStride && vars_[k].sym == axis.root &&
        vars_[k].dim == axis.dim)
      return Lin::variable(static_cast<int>(k));
  return Lin::variable(add({Var::Kind::kStride, axis.root, axis.dim, nullptr, "", nullptr, false}));
}

Lin Problem::lin(const ExprPtr& e) {
  struct Visitor {
    Problem& p;
    const ExprPtr& e;
    Lin operator()(const Read& n) {
      if (!n.idx.empty() || is_data(e->type)) return Lin::variable(p.opaque_variable(e));
      return Lin::variable(p.variable_of(n.name, e->type));
    }
    Lin operator()(const Const& n) {
      if (const int64_t* v = std::get_if<int64_t>(&n.value)) return Lin(*v);
      if (const bool* b = std::get_if<bool>(&n.value)) return Lin(*b ? 1 : 0);
      return Lin::variable(p.opaque_variable(e));
    }
    Lin operator()(const USub& n) { return p.lin(n.arg).scaled(-1); }
    Lin operator()(const Not& n) { return Lin(1) - p.lin(n.arg); }
    Lin operator()(const BinOp& n) {
      switch (n.op) {
        case BinOpKind::kAdd:
          return p.lin(n.lhs) + p.lin(n.rhs);
        case BinOpKind::kSub:
          return p.lin(n.lhs) - p.lin(n.rhs);
        // A product with a constant side stays linear; one of two variables is opaque (and equal to
        // itself).
        case BinOpKind::kMul: {
          Lin a = p.lin(n.lhs), b = p.lin(n.rhs);
          if (a.is_constant()) return b.scaled(a.constant);
          if (b.is_constant()) return a.scaled(b.constant);
          break;
        }
        case BinOpKind::kDiv:
        case BinOpKind::kMod: {
          Lin divisor = p.lin(n.rhs);
          if (!divisor.is_constant() || divisor.constant <= 0) break;
          Lin value = p.lin(n.lhs);
          Lin q = p.quotient(value, divisor.constant);
          if (n.op == BinOpKind::kDiv) return q;
          return std::move(value.add(q, -divisor.constant));
        }
        default:
          break;
      }
      return Lin::variable(p.opaque_variable(e));
    }
    Lin operator()(const Extern&) { return Lin::variable(p.opaque_variable(e)); }
    Lin operator()(const Cast&) { return Lin::variable(p.opaque_variable(e)); }
    Lin operator()(const WindowExpr&) { return Lin::variable(p.opaque_variable(e)); }
    Lin operator()(const StrideExpr& n) { return p.stride(n.name, n.dim); }
    Lin operator()(const ReadConfig& n) { return Lin::variable(p.config_variable(n)); }
  };
  Lin out = std::visit(Visitor{*this, e}, e->node);
  // Overflow of 64 bits while folding constants: an unknown is sound, a wrapped number is not.
  if (out.overflow) return Lin::variable(fresh());
  return out;
}

// Equality of booleans is not a difference of integers here: it is spelled out as a formula, so
// that comparisons inside of both sides keep their meaning.
Formula Problem::compare(BinOpKind op, const ExprPtr& a, const ExprPtr& b) {
  if (a->type == ScalarType::kBool || b->type == ScalarType::kBool) {
    Formula x = formula(a), y = formula(b);
    Formula both = Formula::all_of({x, y}), neither = Formula::all_of({negated(x), negated(y)});
    Formula same = Formula::any_of({std::move(both), std::move(neither)});
    return op == BinOpKind::kEq ? same : negated(same);
  }
  // Strict comparisons become weak ones by the integers' gap of one.
  Lin difference = lin(a) - lin(b);  // a - b
  switch (op) {
    case BinOpKind::kLt:
      return Formula::at_least_zero(std::move(difference.scaled(-1).add_constant(-1)));
    case BinOpKind::kLe:
      return Formula::at_least_zero(difference.scaled(-1));
    case BinOpKind::kGt:
      return Formula::at_least_zero(std::move(difference.add_constant(-1)));
    case BinOpKind::kGe:
      return Formula::at_least_zero(std::move(difference));
    case BinOpKind::kEq:
      return Formula::equals_zero(std::move(difference));
    default:
      return Formula::not_zero(difference);
  }
}

Formula Problem::formula(const ExprPtr& e) {
  if (const Const* c = e->as<Const>())
    if (const bool* b = std::get_if<bool>(&c->value)) return Formula::truth(*b);
  if (const Not* n = e->as<Not>()) return negated(formula(n->arg));
  if (const BinOp* o = e->as<BinOp>()) {
    if (o->op == BinOpKind::kAnd) return Formula::all_of({formula(o->lhs), formula(o->rhs)});
    if (o->op == BinOpKind::kOr) return Formula::any_of({formula(o->lhs), formula(o->rhs)});
    if (is_comparison(o->op)) return compare(o->op, o->lhs, o->rhs);
  }
  // A boolean variable or field: 1 is true.
  Lin value = lin(e);
  return Formula::at_least_zero(std::move(value.add_constant(-1)));
}

void Problem::assume_at_least_zero(Lin lin) {
  if (lin.overflow) return;
  constraints_.push_back({std::move(lin), false});
}

// A disjunction costs the solver a case split: only where a field or flag really is the truth of a
// formula.
void Problem::assume_flag(const Lin& flag, const Formula& value) {
  Lin set = flag, clear = flag.scaled(-1);
  const Formula is_true = Formula::at_least_zero(set.add_constant(-1));
  const Formula is_false = Formula::at_least_zero(std::move(clear));
  assume(Formula::any_of(
      {Formula::all_of({value, is_true}), Formula::all_of({negated(value), is_false})}));
}

void Problem::assume_zero(Lin lin) {
  if (lin.overflow) return;
  constraints_.push_back({std::move(lin), true});
}

// Conjunctions fall into single constraints, which elimination handles directly; disjunctions are
// kept aside and split only when the constraints alone do not decide.
void Problem::assume(Formula f) {
  switch (f.kind) {
    case Formula::Kind::kTrue:
      return;
    case Formula::Kind::kFalse:
      // False facts: -1 >= 0, from which everything follows. This is right for code that cannot be
      // reached.
      constraints_.push_back({Lin(-1), false});
      return;
    case Formula::Kind::kAtom:
      if (!f.atom.lin.overflow) constraints_.push_back(std::move(f.atom));
      return;
    case Formula::Kind::kAnd:
      for (Formula& kid : f.kids) assume(std::move(kid));
      return;
    case Formula::Kind::kOr: {
      bool overflow = false;
      for_each_atom(f, [&](const Constraint& c) { overflow |= c.lin.overflow; });
      if (!overflow) disjunctions_.push_back(std::move(f));
      return;
    }
  }
}

void Problem::assume_range(int var, const ExprPtr& lo, const ExprPtr& hi) {
  assume_at_least_zero(Lin::variable(var) - lin(lo));
  Lin above = lin(hi) - Lin::variable(var);
  assume_at_least_zero(std::move(above.add_constant(-1)));
}

Problem::Mark Problem::mark() const {
  return {vars_.size(), constraints_.size(), disjunctions_.size(), quotients_.size(),
          bindings_.size()};
}

// Variables made after the mark go too: whatever mentions them was stated after it.
void Problem::rollback(const Mark& m) {
  vars_.resize(m.variables);
  is_size_.resize(m.variables);
  constraints_.resize(m.constraints);
  disjunctions_.resize(m.disjunctions);
  quotients_.resize(m.quotients);
  bindings_.resize(m.bindings);
}

}  // namespace exotune
