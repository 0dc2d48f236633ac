// simplify: arithmetic, decided branches and empty loops, in one pass.
#include "core/analysis/facts.h"
#include "core/analysis/place_simplifier.h"
#include "core/base/deadline.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

using namespace internal;

namespace {

// Rewrites the expressions of a block in place and notes which statements then go away. Facts are
// asked of the proc before: simplifying changes no value, so they hold throughout.
class Simplifier {
 public:
  enum class Change : uint8_t { kErase, kTakeBody, kTakeOrelse };
  struct Note {
    Path at;
    Change change;
  };

  explicit Simplifier(const Proc& p) : p_(p) {}

  // Of the siblings of one block in their order.
  StmtPtr stmt(const StmtPtr& s, Path& path) {
    StmtPtr out = rewritten(s, path);
    if (changes_facts(*s)) here_.reset();
    return out;
  }

  Block block(const Block& b, Child child, Path& path) {
    Block out;
    out.reserve(b.size());
    std::unique_ptr<PlaceSimplifier> outer = std::move(here_);
    for (size_t k = 0; k < b.size(); ++k) {
      leave_if_over();
      path.push_back({child, static_cast<int>(k)});
      out.push_back(stmt(b[k], path));
      path.pop_back();
    }
    here_ = std::move(outer);
    return out;
  }

  const std::vector<Note>& notes() const { return notes_; }

 private:
  PlaceSimplifier& at(const Path& path) {
    if (!here_) here_ = std::make_unique<PlaceSimplifier>(p_, path);
    return *here_;
  }

  StmtPtr rewritten(const StmtPtr& s, Path& path) {
    std::vector<ExprPtr> exprs = stmt_exprs(*s);
    bool changed = false;
    for (ExprPtr& e : exprs) {
      ExprPtr n = expr(e, path);
      changed |= n != e;
      e = std::move(n);
    }
    StmtPtr out = changed ? with_exprs(s, exprs) : s;
    if (const For* f = out->as<For>()) {
      auto lo = literal(f->lo), hi = literal(f->hi);
      if (lo && hi && *hi <= *lo) {
        notes_.push_back({path, Change::kErase});
        return out;
      }
    }
    const If* i = out->as<If>();
    const Const* decided = i ? i->cond->as<Const>() : nullptr;
    if (decided) {
      const bool yes = std::get<bool>(decided->value);
      notes_.push_back({path, yes ? Change::kTakeBody : Change::kTakeOrelse});
    }
    const Block &body = body_of(*out), &orelse = orelse_of(*out);
    if (body.empty() && orelse.empty()) return out;
    const bool skip_body = decided && notes_.back().change == Change::kTakeOrelse;
    const bool skip_orelse = decided && !skip_body;
    Block new_body = skip_body ? body : block(body, Child::kBody, path);
    Block new_orelse = skip_orelse ? orelse : block(orelse, Child::kOrelse, path);
    if (new_body == body && new_orelse == orelse) return out;
    return with_blocks(out, std::move(new_body), std::move(new_orelse));
  }

  // Simplifies every maximal control part; data operators keep their form.
  ExprPtr expr(const ExprPtr& e, const Path& path) {
    if (e->as<Const>()) return e;
    if (is_control(e->type) && !e->as<WindowExpr>()) {
      if (const Read* r = e->as<Read>(); r && r->idx.empty() && e->type == ScalarType::kSize)
        return e;
      ExprPtr n = at(path).run(e);
      return equal(n, e) ? e : n;
    }
    std::vector<ExprPtr> children = expr_children(*e);
    bool changed = false;
    for (ExprPtr& c : children) {
      ExprPtr n = expr(c, path);
      changed |= n != c;
      c = std::move(n);
    }
    return changed ? with_children(e, children) : e;
  }

  const Proc& p_;
  std::unique_ptr<PlaceSimplifier> here_;  // of the block being walked, while its facts last
  std::vector<Note> notes_;
};

void apply(Rewrite& rw, const std::vector<Simplifier::Note>& notes) {
  Block removed;
  for (const Simplifier::Note& n : notes) removed.push_back(stmt_at(rw.proc(), n.at));
  // Notes are in pre-order: from the last, no edit moves a statement noted before it.
  for (size_t k = notes.size(); k-- > 0;) {
    switch (notes[k].change) {
      case Simplifier::Change::kErase:
        rw.erase(notes[k].at, 1);
        break;
      case Simplifier::Change::kTakeBody:
        rw.unwrap(notes[k].at);
        break;
      case Simplifier::Change::kTakeOrelse:
        rw.unwrap(notes[k].at, /*orelse=*/true);
        break;
    }
  }
  require_still_checks(rw.proc(), removed, "simplify");
}

}  // namespace

ProcPtr simplify(ProcPtr p) {
  Rewrite rw(p);
  Simplifier s(*p);
  Path path;
  Block body = s.block(p->body, Child::kBody, path);
  if (body != p->body) rw.map_in_place(std::move(body));
  apply(rw, s.notes());
  return rw.finish("simplify", {});
}

ProcPtr simplify(ProcPtr p, const Where& where) {
  Cursor c = where.block(p);
  Rewrite rw(p);
  Simplifier s(*p);
  for (int k = 0; k < c.length(); ++k) {
    Path path = sibling(c.path(), k);
    const StmtPtr old = stmt_at(*p, path), now = s.stmt(old, path);
    if (now != old) rw.replace_keep(path, now);
  }
  apply(rw, s.notes());
  return rw.finish("simplify", {place(where, c)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> simplify_operators() {
  using namespace params;
  return {
      {"simplify",
       {proc(), place("block", Value())},
       "x[8 * io / 8 + 0]  ->  x[io]",
       [](const OperatorArgs& a) -> Value {
         return a.given(1) ? simplify(a.proc(), a.where(1)) : simplify(a.proc());
       }},
  };
}

}  // namespace exotune
