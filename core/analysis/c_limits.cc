#include "core/analysis/c_limits.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/diagnostic.h"
#include "core/ir/c_template.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

// Half of what 64 bits hold: the other half is for the last step of a loop and a comparison.
constexpr double kMost = 4611686018427387904.0;

class ControlRange {
 public:
  explicit ControlRange(const Proc& p) : p_(p) {}

  void run() {
    for (const Arg& a : p_.args)
      for (const ExprPtr& e : a.type.shape) magnitude(e, p_.where);
    for (const ExprPtr& e : p_.asserts) magnitude(e, p_.where);
    block(p_.body);
  }

  void run_at(const Path& at) {
    for (size_t d = 1; d < at.size(); ++d)
      own(*stmt_at(p_, Path(at.begin(), at.begin() + static_cast<int64_t>(d))));
    block({stmt_at(p_, at)});
  }

 private:
  void block(const Block& b) {
    for (const StmtPtr& s : b) {
      own(*s);
      block(body_of(*s));
      block(orelse_of(*s));
    }
  }

  // The statement without those inside it.
  void own(const Stmt& s) {
    double largest = 0;
    for (const ExprPtr& e : stmt_exprs(s)) largest = std::max(largest, magnitude(e, s.where));
    if (const For* f = s.as<For>()) iterators_[f->iter] = largest;
  }

  // An upper bound of the absolute value of a number; every subexpression must stay below the
  // limit, since C computes them one by one.
  double magnitude(const ExprPtr& e, const SourceLocation& where) {
    const double m = any_magnitude(e, where);
    if (is_data(e->type) || e->type == ScalarType::kBool || m <= kMost) return m;
    throw InputError(where.known() ? where : p_.where, "`" + str(e) + "` may not fit 64 bits",
                     "sizes and indices are taken to be below 2^40");
  }

  double any_magnitude(const ExprPtr& e, const SourceLocation& where) {
    if (const auto v = as_int(e)) return std::fabs(static_cast<double>(*v));
    const auto* b = e->as<BinOp>();
    if (!b) {
      double largest = 0;
      for (const ExprPtr& child : expr_children(*e))
        largest = std::max(largest, magnitude(child, where));
      if (e->as<USub>()) return largest;
      const Read* r = e->as<Read>();
      const auto it = r ? iterators_.find(r->name) : iterators_.end();
      return it == iterators_.end() ? static_cast<double>(kLargestControlValue) : it->second;
    }
    const double x = magnitude(b->lhs, where), y = magnitude(b->rhs, where);
    switch (b->op) {
      case BinOpKind::kAdd:
      case BinOpKind::kSub:
        return x + y;
      case BinOpKind::kMul:
        return x * y;
      case BinOpKind::kDiv:
        return x / std::max(1.0, y) + 1;
      case BinOpKind::kMod:
        return y;
      default:
        return 0;
    }
  }

  const Proc& p_;
  std::map<Sym, double> iterators_;
};

}  // namespace

void check_c_limits(const Proc& p) {
  ControlRange(p).run();
  if (!p.instr) return;
  const std::string fault = instruction_template_fault(p);
  if (!fault.empty())
    throw InputError(p.where, "the template of `" + p.name + "`: " + fault,
                     "holes are {x}, {x_data}, {x_reg} and {x.strides[0]} of an argument x; a "
                     "literal brace is {{");
}

void check_c_limits(const Proc& p, const Path& at) { ControlRange(p).run_at(at); }

}  // namespace exotune
