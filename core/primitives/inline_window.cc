// inline_window: a window away, its accesses made those of what it looks at.
#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

// Accesses of a window as accesses of its source.
class WindowInliner {
 public:
  explicit WindowInliner(const WindowStmt& w) : name_(w.name), window_(*w.rhs->as<WindowExpr>()) {}

  Block inline_in(const Block& b) const {
    Block exprs = rewrite_exprs(b, [this](const ExprPtr& e) { return inlined(e); });
    return rewrite_stmts(exprs, [this](const StmtPtr& s) -> std::optional<Block> {
      if (const Assign* a = s->as<Assign>(); a && a->name == name_)
        return Block{make_stmt(Assign{window_.name, points(a->idx), a->rhs}, s->where)};
      if (const Reduce* r = s->as<Reduce>(); r && r->name == name_)
        return Block{make_stmt(Reduce{window_.name, points(r->idx), r->rhs, r->op}, s->where)};
      return std::nullopt;
    });
  }

 private:
  // Subscript i of the window is lo + i of its source.
  static ExprPtr moved(const ExprPtr& lo, const ExprPtr& e) { return plus(lo, e); }

  // One subscript for each dimension of the source: the points that the window fixes are put back.
  std::vector<ExprPtr> points(const std::vector<ExprPtr>& idx) const {
    std::vector<ExprPtr> out;
    size_t k = 0;
    for (const WindowAccess& a : window_.access)
      out.push_back(a.is_point() ? a.lo : moved(a.lo, idx[k++]));
    return out;
  }

  ExprPtr inlined(const ExprPtr& e) const {
    if (const Read* r = e->as<Read>(); r && r->name == name_) {
      if (r->idx.empty()) return make_expr(window_, e->type, e->where);  // passed whole to a call
      return make_expr(Read{window_.name, points(r->idx)}, e->type, e->where);
    }
    if (const StrideExpr* s = e->as<StrideExpr>(); s && s->name == name_) {
      // Dimension `dim` of the window is the dim-th of the source that it keeps.
      int seen = 0;
      for (size_t d = 0; d < window_.access.size(); ++d)
        if (!window_.access[d].is_point() && seen++ == s->dim)
          return make_expr(StrideExpr{window_.name, static_cast<int>(d)}, e->type, e->where);
    }
    if (const WindowExpr* w = e->as<WindowExpr>(); w && w->name == name_) {
      WindowExpr out{window_.name, {}};
      size_t k = 0;
      for (const WindowAccess& a : window_.access) {
        if (a.is_point()) {
          out.access.push_back(a);
          continue;
        }
        const WindowAccess& inner = w->access[k++];
        out.access.push_back(
            {moved(a.lo, inner.lo), inner.is_point() ? nullptr : moved(a.lo, inner.hi)});
      }
      return make_expr(std::move(out), e->type, e->where);
    }
    return nullptr;
  }

  Sym name_;
  WindowExpr window_;
};

}  // namespace

ProcPtr inline_window(ProcPtr p, const Where& where) {
  static const char op[] = "inline_window";
  Cursor c = where.stmt(p);
  if (!c.is<WindowStmt>())
    throw InvalidCursorError("inline_window: expected a window statement, found '" + c.describe() +
                             "'");
  const WindowStmt& w = c.as<WindowStmt>();
  const Path at = c.path();
  const Block& block = block_at(*p, at);
  const int rest = static_cast<int>(block.size()) - at.back().index - 1;
  if (rest > 0)
    for (const ExprPtr& e : expr_children(*w.rhs)) require_stable(*p, sibling(at, 1), rest, e, op);
  const WindowInliner inliner(w);
  Rewrite rw(p);
  for (int k = 1; k <= rest; ++k) {
    const StmtPtr& s = block[static_cast<size_t>(at.back().index + k)];
    if (mentions(s, w.name)) rw.replace_keep(sibling(at, k), inliner.inline_in({s})[0]);
  }
  rw.erase(at, 1);
  require_config_writes_fixed(rw.proc(), op);
  return rw.finish(op, {place(where, c)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> inline_window_operators() {
  using namespace params;
  return {
      {"inline_window",
       {proc(), place("window_stmt")},
       "w = x[lo:hi]; s(w[i])  ->  s(x[lo + i])",
       [](const OperatorArgs& a) -> Value { return inline_window(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
