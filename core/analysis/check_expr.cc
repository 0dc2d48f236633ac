// Expressions: sorts, precisions, bounds.
#include <algorithm>

#include "core/analysis/checker.h"
#include "core/ir/printer.h"

namespace exotune {

ScalarType Checker::decided(ScalarType t) const {
  return codegen_ && t == ScalarType::kR ? ScalarType::kF32 : t;
}

const Binding& Checker::buffer(Sym name, const SourceLocation& where) {
  const Binding* b = scope_.find(name);
  if (!b) fail(where, name.name() + " is not defined here");
  if (!b->type || !is_data(b->type->scalar))
    fail(where, name.name() + " is a control value, not data");
  return *b;
}

void Checker::config_read(const ReadConfig& r, const SourceLocation& where) {
  if (!r.config->find(r.field)) fail(where, "there is no field " + r.config->name + "." + r.field);
  if (codegen_ && !r.config->readable)
    fail(where, r.config->name + "." + r.field + " lives in hardware only and cannot be read");
}

void Checker::integer(const ExprPtr& e, const SourceLocation& where) {
  struct Visitor {
    Checker& c;
    const ExprPtr& e;
    const SourceLocation& where;
    void operator()(const Read& n) {
      const Binding* b = c.scope_.find(n.name);
      if (!b) c.fail(where, n.name.name() + " is not defined here");
      if (b->type && !is_integer_control(b->type->scalar))
        c.fail(where, n.name.name() + " is not an integer control value");
      if (!n.idx.empty()) c.fail(where, n.name.name() + " has no dimensions");
    }
    void operator()(const Const& n) {
      if (!std::holds_alternative<int64_t>(n.value)) c.fail(where, str(e) + " is not an integer");
    }
    void operator()(const USub& n) { c.integer(n.arg, where); }
    void operator()(const Not&) { c.fail(where, str(e) + " is not an integer"); }
    void operator()(const BinOp& n) {
      if (is_comparison(n.op) || is_logical(n.op)) c.fail(where, str(e) + " is not an integer");
      c.integer(n.lhs, where);
      c.integer(n.rhs, where);
      auto literal = [&](const ExprPtr& x) { return c.problem_.lin(x).is_constant(); };
      if (n.op == BinOpKind::kMul && !literal(n.lhs) && !literal(n.rhs))
        c.fail(where, str(e) + ": one side of * must be a literal");
      if ((n.op == BinOpKind::kDiv || n.op == BinOpKind::kMod) &&
          (!literal(n.rhs) || c.problem_.lin(n.rhs).constant <= 0))
        c.fail(where, str(e) + ": the right side of / and % must be a positive literal");
    }
    void operator()(const Extern&) { c.fail(where, "data never reaches control: " + str(e)); }
    void operator()(const WindowExpr&) { c.fail(where, "data never reaches control: " + str(e)); }
    void operator()(const StrideExpr& n) {
      const Binding& b = c.buffer(n.name, where);
      if (n.dim < 0 || n.dim >= b.type->rank())
        c.fail(where, str(e) + ": there is no such dimension");
    }
    void operator()(const ReadConfig& n) {
      c.config_read(n, where);
      if (!is_integer_control(n.config->find(n.field)->type))
        c.fail(where, str(e) + " is not an integer");
    }
  };
  std::visit(Visitor{*this, e, e->where.known() ? e->where : where}, e->node);
}

void Checker::boolean(const ExprPtr& e, const SourceLocation& where) {
  if (const Const* n = e->as<Const>(); n && std::holds_alternative<bool>(n->value)) return;
  if (const Not* n = e->as<Not>()) return boolean(n->arg, where);
  if (const Read* n = e->as<Read>()) {
    const Binding* b = scope_.find(n->name);
    if (b && b->type && b->type->scalar == ScalarType::kBool) return;
  }
  if (const ReadConfig* n = e->as<ReadConfig>()) {
    config_read(*n, where);
    if (n->config->find(n->field)->type == ScalarType::kBool) return;
  }
  if (const BinOp* n = e->as<BinOp>()) {
    if (is_logical(n->op)) {
      boolean(n->lhs, where);
      return boolean(n->rhs, where);
    }
    if (is_comparison(n->op)) {
      const bool of_booleans =
          n->lhs->type == ScalarType::kBool || n->rhs->type == ScalarType::kBool;
      for (const ExprPtr& side : {n->lhs, n->rhs})
        of_booleans ? boolean(side, where) : integer(side, where);
      return;
    }
  }
  fail(e->where.known() ? e->where : where, str(e) + " is not a condition");
}

std::optional<ScalarType> Checker::one_precision(std::optional<ScalarType> a,
                                                 std::optional<ScalarType> b,
                                                 const SourceLocation& where) {
  if (!a || *a == ScalarType::kR) return b ? b : a;
  if (!b || *b == ScalarType::kR || *a == *b) return a;
  fail(where,
       std::string("mixed precisions in one operator: ") + name_of(*a) + " and " + name_of(*b),
       "an assignment casts: bind one side to a buffer of the other's precision");
}

std::optional<ScalarType> Checker::data(const ExprPtr& e, const SourceLocation& where_in) {
  const SourceLocation& where = e->where.known() ? e->where : where_in;
  if (const Read* n = e->as<Read>()) {
    element(n->name, n->idx, where);
    return decided(scope_.find(n->name)->type->scalar);
  }
  if (e->as<Const>()) return std::nullopt;
  if (const USub* n = e->as<USub>()) return data(n->arg, where);
  if (const BinOp* n = e->as<BinOp>()) {
    if (is_comparison(n->op) || is_logical(n->op) || n->op == BinOpKind::kMod)
      fail(where, std::string(name_of(n->op)) + " does not apply to data: " + str(e));
    const std::optional<ScalarType> l = data(n->lhs, where), r = data(n->rhs, where);
    return one_precision(l, r, where);
  }
  if (const Extern* n = e->as<Extern>()) {
    std::optional<ScalarType> t;
    for (const ExprPtr& a : n->args) t = one_precision(t, data(a, where), where);
    return t;
  }
  if (const ReadConfig* n = e->as<ReadConfig>()) {
    config_read(*n, where);
    const ScalarType t = n->config->find(n->field)->type;
    if (!is_data(t)) fail(where, str(e) + " is a control value, not data");
    return decided(t);
  }
  fail(where, str(e) + " is not a data value");
}

void Checker::element(Sym name, const std::vector<ExprPtr>& idx, const SourceLocation& where) {
  buffer(name, where);
  const std::vector<ExprPtr> shape = scope_.shape_of(name);
  if (shape.size() != idx.size())
    fail(where, name.name() + " has " + std::to_string(shape.size()) + " dimensions, but " +
                    std::to_string(idx.size()) + " are indexed");
  if (codegen_) addressable(name, where);
  for (size_t k = 0; k < idx.size(); ++k) {
    integer(idx[k], where);
    const Lin at = problem_.lin(idx[k]);
    Lin room = problem_.lin(shape[k]) - at;
    const Formula low = Formula::at_least_zero(at),
                  high = Formula::at_least_zero(room.add_constant(-1));
    if (problem_.entails(Formula::all_of({low, high}))) continue;
    const std::string what = str(read_elem(name, idx, ScalarType::kR)) + " may be out of bounds";
    if (Answer a = problem_.entails(low); !a) fail(where, what, "0 <= " + str(idx[k]), a);
    fail(where, what, str(bin_op(BinOpKind::kLt, idx[k], shape[k])), problem_.entails(high));
  }
}

void Checker::window(const WindowExpr& w, const SourceLocation& where) {
  buffer(w.name, where);
  const std::vector<ExprPtr> shape = scope_.shape_of(w.name);
  if (shape.size() != w.access.size())
    fail(where, w.name.name() + " has " + std::to_string(shape.size()) +
                    " dimensions, but the window names " + std::to_string(w.access.size()));
  auto require = [&](const ExprPtr& smaller, const ExprPtr& larger, BinOpKind op) {
    const ExprPtr condition = bin_op(op, smaller, larger);
    const Answer a = problem_.entails(condition);
    if (!a)
      fail(where, "the window " + str(make_expr(w, ScalarType::kR)) + " may be out of bounds",
           str(condition), a);
  };
  for (size_t k = 0; k < shape.size(); ++k) {
    const WindowAccess& a = w.access[k];
    integer(a.lo, where);
    require(int_const(0), a.lo, BinOpKind::kLe);
    if (a.is_point()) {
      require(a.lo, shape[k], BinOpKind::kLt);
      continue;
    }
    integer(a.hi, where);
    require(a.lo, a.hi, BinOpKind::kLe);
    require(a.hi, shape[k], BinOpKind::kLe);
  }
}

}  // namespace exotune
