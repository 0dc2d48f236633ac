// Calls: arity and sorts, sizes, shapes, preconditions, aliasing.
#include <algorithm>

#include "core/analysis/checker.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

// The part of a root buffer that an argument shows: first and last element per dimension.
struct Region {
  Sym root;
  std::vector<ExprPtr> first, last;
};

std::optional<Region> region_of(const Scope& scope, const ExprPtr& arg) {
  std::vector<ExprPtr> first, last;
  Sym name;
  if (const WindowExpr* w = arg->as<WindowExpr>()) {
    name = w->name;
    // A point is its own first and last.
    for (const WindowAccess& a : w->access) {
      first.push_back(a.lo);
      last.push_back(a.is_point() ? a.lo : a.hi - int_const(1));
    }
  } else if (const Read* r = arg->as<Read>(); r && is_data(arg->type)) {
    name = r->name;
    if (r->idx.empty()) {
      for (const ExprPtr& extent : scope.shape_of(name)) {
        first.push_back(int_const(0));
        last.push_back(extent - int_const(1));
      }
    } else {
      first = last = r->idx;
    }
  } else {
    return std::nullopt;
  }
  // Through windows of windows, down to the buffer itself: only there can two arguments be
  // compared.
  Location from = scope.resolve(name, std::move(first)), to = scope.resolve(name, std::move(last));
  return Region{from.root, std::move(from.idx), std::move(to.idx)};
}

bool writes_formal(const Effects& callee, Sym formal) {
  return std::any_of(callee.memory.begin(), callee.memory.end(), [&](const Effect& e) {
    return e.access.buffer == formal && e.access.kind != Access::Kind::kRead;
  });
}

}  // namespace

// The compiler moves or drops what it believes to touch no memory.
void Checker::instruction(const Proc& callee, const SourceLocation& where) {
  const std::string text = callee.instr->c_template + callee.instr->c_global;
  if (text.find("asm") == std::string::npos || text.find("\"memory\"") != std::string::npos) return;
  fail(where,
       "the assembly of " + callee.name + " has no \"memory\" clobber: the compiler may move it",
       "end its text with : \"memory\"");
}

void Checker::call(const Stmt& s, const Call& n) {
  const Proc& callee = *n.callee;
  if (codegen_ && callee.instr) instruction(callee, s.where);
  if (callee.args.size() != n.args.size())
    fail(s.where, callee.name + " takes " + std::to_string(callee.args.size()) +
                      " arguments, not " + std::to_string(n.args.size()));
  const CallSubstitution substitution(callee, n.args);
  // Before the asserts, which may rely on sizes being positive.
  for (size_t k = 0; k < n.args.size(); ++k) argument(n, k, substitution, s.where);
  // The caller has to prove what the callee may assume, with its own arguments in place.
  for (const ExprPtr& condition : callee.asserts) {
    const ExprPtr here = substitution.apply(condition);
    const Answer a = problem_.entails(here);
    if (!a) fail(s.where, callee.name + " asserts " + str(condition), str(here), a);
  }
  aliases(n, s.where);
  // Outside of loops any value may be set.
  if (!s.writes_config || iters_.empty()) return;
  for (const ConfigEffect& c : effects_of_callee(n.callee)->config) {
    const ExprPtr value = substitution.apply(c.value);
    for (Sym i : iters_)
      if (value && mentions(value, i))
        fail(s.where,
             callee.name + " sets " + c.field.first + "." + c.field.second +
                 ", which would depend on the loop iterator " + i.name(),
             "configuration is set once for a whole loop");
  }
}

void Checker::argument(const Call& n, size_t k, const CallSubstitution& substitution,
                       const SourceLocation& where_in) {
  const Arg& formal = n.callee->args[k];
  const ExprPtr& arg = n.args[k];
  const SourceLocation& where = arg->where.known() ? arg->where : where_in;
  const std::string what = "argument " + formal.name.name() + " of " + n.callee->name;
  if (is_control(formal.type.scalar)) {
    if (formal.type.scalar == ScalarType::kBool) return boolean(arg, where);
    integer(arg, where);
    // Extents and trip counts are made of sizes: a callee may divide its work by one.
    if (formal.type.scalar == ScalarType::kSize) {
      const ExprPtr positive = bin_op(BinOpKind::kGt, arg, int_const(0));
      const Answer a = problem_.entails(positive);
      if (!a) fail(where, what + " is a size and must be positive", str(positive), a);
    }
    return;
  }
  const Read* read = arg->as<Read>();
  const WindowExpr* window_expr = arg->as<WindowExpr>();
  std::optional<ScalarType> precision;
  if (!formal.type.is_tensor()) {
    const bool written = writes_formal(*effects_of_callee(n.callee), formal.name);
    if (window_expr) {
      window(*window_expr, where);
      for (const WindowAccess& a : window_expr->access)
        if (!a.is_point()) fail(where, what + " is a scalar, not " + str(arg));
      precision = decided(buffer(window_expr->name, where).type->scalar);
    } else {
      if (written && !read)
        fail(where, what + " is written: it needs a place, not the value " + str(arg));
      // An instruction may take an element of a vector; what it touches is its own affair.
      const bool was = codegen_;
      codegen_ = codegen_ && !(read && n.callee->instr);
      precision = data(arg, where);
      codegen_ = was;
      if (precision) precision = decided(*precision);
    }
  } else {
    std::vector<ExprPtr> shape;
    if (window_expr) {
      if (!formal.type.window)
        fail(where, what + " is a dense tensor and takes no window", "pass the whole tensor");
      window(*window_expr, where);
      for (const WindowAccess& a : window_expr->access)
        if (!a.is_point()) shape.push_back(as_int(a.lo) == 0 ? a.hi : a.hi - a.lo);
      precision = decided(buffer(window_expr->name, where).type->scalar);
    } else if (read && read->idx.empty()) {
      const Binding& b = buffer(read->name, where);
      if (!formal.type.window && (b.window || b.type->window))
        fail(where, what + " is a dense tensor and takes no window", "pass the whole tensor");
      shape = scope_.shape_of(read->name);
      precision = decided(b.type->scalar);
    } else {
      fail(where, what + " is a tensor, not " + str(arg));
    }
    if (shape.size() != formal.type.shape.size())
      fail(where, what + " has " + std::to_string(formal.type.shape.size()) + " dimensions, not " +
                      std::to_string(shape.size()));
    for (size_t d = 0; d < shape.size(); ++d) {
      const ExprPtr wanted = substitution.apply(formal.type.shape[d]);
      const ExprPtr same = bin_op(BinOpKind::kEq, shape[d], wanted);
      const Answer a = problem_.entails(same);
      if (!a) fail(where, what + ": dimension " + std::to_string(d) + " differs", str(same), a);
    }
  }
  if (precision) {
    const ScalarType wanted = decided(formal.type.scalar);
    if (*precision != wanted && *precision != ScalarType::kR && wanted != ScalarType::kR)
      fail(where, what + " is " + name_of(wanted) + ", not " + name_of(*precision));
  }
  if (codegen_) argument_memory(n, k, where);
}

void Checker::aliases(const Call& n, const SourceLocation& where) {
  const std::shared_ptr<const Effects> effects = effects_of_callee(n.callee);
  std::vector<std::optional<Region>> regions(n.args.size());
  for (size_t k = 0; k < n.args.size(); ++k)
    if (is_data(n.callee->args[k].type.scalar)) regions[k] = region_of(scope_, n.args[k]);
  for (size_t a = 0; a < regions.size(); ++a)
    for (size_t b = a + 1; b < regions.size(); ++b) {
      if (!regions[a] || !regions[b] || regions[a]->root != regions[b]->root) continue;
      if (!writes_formal(*effects, n.callee->args[a].name) &&
          !writes_formal(*effects, n.callee->args[b].name))
        continue;
      std::vector<Formula> apart;
      const size_t rank = std::min(regions[a]->first.size(), regions[b]->first.size());
      for (size_t d = 0; d < rank; ++d)
        for (const auto& [low, high] : {std::pair(a, b), std::pair(b, a)}) {
          Lin gap = problem_.lin(regions[high]->first[d]) - problem_.lin(regions[low]->last[d]);
          apart.push_back(Formula::at_least_zero(gap.add_constant(-1)));
        }
      const Answer disjoint = problem_.entails(Formula::any_of(std::move(apart)));
      if (disjoint) continue;
      Diagnostic d{where.known() ? where : p_.where,
                   "arguments " + str(n.args[a]) + " and " + str(n.args[b]) + " of " +
                       n.callee->name + " may overlap, and one is written",
                   disjoint.notes(), "pass disjoint windows or copy one of them"};
      throw InputError(std::move(d));
    }
}

}  // namespace exotune
