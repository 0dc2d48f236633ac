#include "search/moves/quotients.h"

#include "core/ir/normal_form.h"
#include "core/library/traversal.h"

namespace exotune {

namespace {

constexpr int64_t kMostParts = 64;  // beyond it is no few iterations that share something

// The least c of a subscript (.. + i + ..) / c or % c in the loop over i; nothing: there is none.
std::optional<int64_t> divisor_of(const For& loop) {
  std::optional<int64_t> least;
  (void)rewrite_exprs(loop.body, [&](const ExprPtr& e) -> ExprPtr {
    const BinOp* op = e->as<BinOp>();
    if (op == nullptr || (op->op != BinOpKind::kDiv && op->op != BinOpKind::kMod)) return nullptr;
    const std::optional<int64_t> by = as_int(op->rhs);
    const std::optional<Affine> a = by ? affine(op->lhs) : std::nullopt;
    if (a && a->coeff_of(loop.iter) == 1 && *by > 1 && *by <= kMostParts)
      least = std::min(least.value_or(*by), *by);
    return nullptr;
  });
  return least;
}

}  // namespace

std::optional<Schedule> without_quotients(const Schedule& s) {
  Schedule out = s;
  // What is inside first: places around it stay.
  for (int k = static_cast<int>(s.proc->body.size()) - 1; k >= 0; --k)
    for (const Cursor& c : rln(Cursor::stmt(s.proc, {{Child::kBody, k}}))) {
      const For* loop = stmt_at(*s.proc, c.path())->as<For>();
      const std::optional<int64_t> by = loop ? divisor_of(*loop) : std::nullopt;
      if (!by) continue;
      const std::string name = loop->iter.name();
      const ValueList values = {Value(Cursor::stmt(out.proc, c.path())), Value(*by),
                                Value::strings({name + "q", name})};
      ValueList whole = values, rest = values;
      whole.emplace_back("perfect"), rest.emplace_back("cut");
      if (apply(out, "divide_loop", whole)) (void)!apply(out, "divide_loop", rest);
    }
  if (out.steps.size() == s.steps.size() || apply(out, "simplify", {})) return std::nullopt;
  return out;
}

}  // namespace exotune
