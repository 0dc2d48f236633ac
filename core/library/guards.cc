// From the outside in: what is cut outside tells the conditions of the loops inside in most places.
#include "core/library/guards.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/library/attempted.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

constexpr int kMostCuts = 64;  // each makes two loops of one

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// A point that a loop leaves out, or is about: a == b begins at a - b >= 0 and ceases at
// a - b - 1 >= 0.
void collect_point(const BinOp& o, std::vector<Affine>& out) {
  const std::optional<Affine> apart = affine(o.lhs - o.rhs);
  if (!apart) return;
  out.push_back(*apart);
  out.push_back(*apart);
  out.back().constant -= 1;
}

// The conjuncts of a condition as affine forms where it changes as they become negative; others
// are left out.
void collect_bounds(const ExprPtr& cond, std::vector<Affine>& out) {
  const BinOp* o = cond->as<BinOp>();
  if (!o) return;
  if (o->op == BinOpKind::kAnd) {
    collect_bounds(o->lhs, out);
    collect_bounds(o->rhs, out);
    return;
  }
  if (o->op == BinOpKind::kEq || o->op == BinOpKind::kNe) return collect_point(*o, out);
  const bool less = o->op == BinOpKind::kLt || o->op == BinOpKind::kLe;
  const bool more = o->op == BinOpKind::kGt || o->op == BinOpKind::kGe;
  if (!less && !more) return;
  const std::optional<Affine> a = less ? affine(o->rhs - o->lhs) : affine(o->lhs - o->rhs);
  if (!a) return;
  out.push_back(*a);
  if (o->op == BinOpKind::kLt || o->op == BinOpKind::kGt) out.back().constant -= 1;
}

struct Inner {
  Sym iter;
  ExprPtr lo, hi;
};

// One condition under a loop, and the loops between.
struct Asked {
  Affine bound;  // >= 0, or not, where the condition holds
  std::vector<Inner> inner;
};

class Guards {
 public:
  explicit Guards(ProcPtr p) : p_(std::move(p)) {}

  /// True: some condition is told now.
  bool run(const Path& loop) {
    top_ = loop.size();
    cut(loop);
    return told_;
  }
  ProcPtr proc() const { return p_; }

 private:
  StmtPtr stmt(const Path& path) const { return stmt_at(*p_, path); }

  void collect(const Block& body, std::vector<Inner>& inner, std::vector<Asked>& out) const {
    for (const StmtPtr& s : body) {
      if (const For* f = s->as<For>()) {
        inner.push_back({f->iter, f->lo, f->hi});
        collect(f->body, inner, out);
        inner.pop_back();
      }
      if (const If* i = s->as<If>()) {
        std::vector<Affine> bounds;
        collect_bounds(i->cond, bounds);
        for (Affine& bound : bounds) out.push_back({std::move(bound), inner});
        collect(i->body, inner, out);
        collect(i->orelse, inner, out);
      }
    }
  }

  // The least value of a bound over the loops inside; nothing when theirs move.
  static std::optional<Affine> least(Asked asked) {
    for (auto in = asked.inner.rbegin(); in != asked.inner.rend(); ++in) {
      const int64_t c = asked.bound.coeff_of(in->iter);
      if (c == 0) continue;
      const std::optional<Affine> end = affine(c > 0 ? in->lo : in->hi - int_const(1));
      const std::optional<Affine> iter = affine(read_var(in->iter, ScalarType::kIndex));
      if (!end || !iter) return std::nullopt;
      asked.bound = asked.bound - iter->scaled(c) + end->scaled(c);
    }
    return asked.bound;
  }

  // Where in the loop the bound begins to hold, or ceases to.
  static ExprPtr cut_point(const Affine& bound, Sym iter) {
    const int64_t c = bound.coeff_of(iter);
    const std::optional<Affine> self = affine(read_var(iter, ScalarType::kIndex));
    if (c == 0 || !self) return nullptr;
    const Affine rest = bound - self->scaled(c);
    if (mentions(to_expr(rest), iter)) return nullptr;
    if (c == 1) return to_expr(rest.scaled(-1));
    if (c == -1) return to_expr(rest + *affine(int_const(1)));
    if (!rest.is_constant()) return nullptr;
    return int_const(c > 0 ? -floor_div(rest.constant, c) : floor_div(rest.constant, -c) + 1);
  }

  // A strip at an end, not the greater part: nothing is gained by cutting a triangle's rows apart.
  static bool is_strip(const For& f, const ExprPtr& point, bool holds_above) {
    const auto strip = as_int(normalize(holds_above ? point - f.lo : f.hi - point));
    const auto all = literal_extent(f);
    return strip && (!all || 2 * *strip <= *all);
  }

  bool lies_inside(const Path& path, const ExprPtr& point) const {
    const For& f = *stmt(path)->as<For>();
    return prove(*p_, path, bin_op(BinOpKind::kLt, f.lo, point)) &&
           prove(*p_, path, bin_op(BinOpKind::kLt, point, f.hi));
  }
  // For loops whose bound moves with others one side may be empty at times.
  bool is_no_end(const Path& path, const ExprPtr& point) const {
    const For& f = *stmt(path)->as<For>();
    return !prove(*p_, path, bin_op(BinOpKind::kLe, point, f.lo)) &&
           !prove(*p_, path, bin_op(BinOpKind::kLe, f.hi, point));
  }

  bool cut_once(const Path& path) {
    const For& f = *stmt(path)->as<For>();
    std::vector<Inner> inner;
    std::vector<Asked> all;
    collect(f.body, inner, all);
    for (const Asked& asked : all) {
      const int64_t c = asked.bound.coeff_of(f.iter);
      const bool exact = std::none_of(asked.inner.begin(), asked.inner.end(), [&](const Inner& in) {
        return asked.bound.coeff_of(in.iter) != 0;
      });
      const std::optional<Affine> bound = least(asked);
      const ExprPtr point = bound ? cut_point(*bound, f.iter) : nullptr;
      if (!point || (!exact && (!is_strip(f, point, c > 0) || !lies_inside(path, point))) ||
          (exact && !is_no_end(path, point)))
        continue;
      try {
        p_ = cut_loop(p_, at(p_, path), point);
        return true;
      } catch (const SchedulingError&) {
        // Not always inside the loop.
      }
    }
    return false;
  }

  void cut(const Path& path) {
    if (cuts_ < kMostCuts && cut_once(path)) {
      ++cuts_;
      cut(second_half(path));  // the later one first: places in front of it stay
      cut(path);
      return;
    }
    inside(path);
  }
  // The loops around a loop that stood alone in them are split with it: a strip is a whole nest.
  Path second_half(const Path& path) {
    Path second = sibling(path, 1);
    for (Path around = parent_stmt(path); around.size() >= top_; around = parent_stmt(around)) {
      if (!stmt(around)->as<For>() || body_of(*stmt(around)).size() != 2) break;
      try {
        p_ = fission(p_, Cursor::gap(p_, child(around, 1)), 1);
      } catch (const SchedulingError&) {
        break;
      }
      second = sibling(around, 1);
      while (second.size() < path.size()) second = child(second);
      if (around.size() == top_) break;
    }
    return second;
  }

  void inside(const Path& path) {
    for (int k = static_cast<int>(body_of(*stmt(path)).size()) - 1; k >= 0; --k) {
      const Path inner = child(path, k);
      if (stmt(inner)->as<If>() && !tell(inner)) inside(inner);
      if (k < static_cast<int>(body_of(*stmt(path)).size()) && stmt(inner) &&
          stmt(inner)->as<For>())
        cut(inner);
    }
  }
  bool tell(const Path& guard) {
    try {
      p_ = eliminate_dead_code(p_, at(p_, guard));
      return told_ = true;
    } catch (const SchedulingError&) {
      return false;
    }
  }

  ProcPtr p_;
  size_t top_ = 0;  // the length of the outermost loop's path
  int cuts_ = 0;
  bool told_ = false;
};

}  // namespace

ProcPtr cut_at_guards(ProcPtr p, const Where& where) {
  Guards guards(p);
  if (!guards.run(where.loop(p).path()))
    throw SchedulingError("cut_at_guards: no condition inside the loop is told by its bounds", {},
                          "it is for affine conditions on loops, as of padded borders");
  p = delete_pass(simplify(guards.proc()));
  // Strips of one row: what is inside then has bounds that are known.
  const std::vector<Path> all = all_stmt_paths(*p);
  for (auto path = all.rbegin(); path != all.rend(); ++path)
    if (const For* f = stmt_at(*p, *path)->as<For>(); f && as_int(normalize(f->hi - f->lo)) == 1) {
      if (as_int(f->lo) != 0) p = shift_loop(p, at(p, *path), int_const(0));
      p = unroll_loop(p, at(p, *path));
    }
  return simplify(p);
}

namespace {

constexpr int64_t kMostPhases = 4;  // of the usual Runge and Kutta
constexpr int kMostWritten = 256;   // statements: what is searched part by part, and compiled

// Does it hold loops, and an `if` that asks about its iterator and about nothing that they move?
bool counts_phases(const For& loop) {
  const int64_t extent = literal_extent(loop).value_or(0);
  if (extent < 2 || extent > kMostPhases) return false;
  bool loops = false, asked = false;
  int statements = 0;
  std::vector<Sym> inner;
  for_each_stmt(loop.body, [&](const StmtPtr& s) {
    ++statements;
    loops = loops || s->as<For>();
    if (const For* f = s->as<For>()) inner.push_back(f->iter);
  });
  for_each_stmt(loop.body, [&](const StmtPtr& s) {
    const If* i = s->as<If>();
    asked = asked || (i && mentions(i->cond, loop.iter) &&
                      std::none_of(inner.begin(), inner.end(),
                                   [&](Sym other) { return mentions(i->cond, other); }));
  });
  return loops && asked && extent * statements <= kMostWritten;
}

}  // namespace

ProcPtr unroll_phases(ProcPtr p) {
  const ProcPtr before = p;
  // The last first: what is written out moves what stands behind it, and inner loops are copied.
  const std::vector<Path> all = all_stmt_paths(*p);
  for (auto path = all.rbegin(); path != all.rend(); ++path)
    if (const For* f = stmt_at(*p, *path)->as<For>(); f && counts_phases(*f))
      attempted(p, [&](const ProcPtr& q) { return unroll_loop(q, at(q, *path)); });
  if (p == before)
    throw SchedulingError(
        "unroll_phases: no loop of two to four iterations around others is asked about", {},
        "it is for phases that conditions tell apart: if s == 0");
  return delete_pass(simplify(p));
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> guards_operators() {
  using namespace params;
  return {
      {"cut_at_guards",
       {proc(), place("loop")},
       "for i: if 0 < i: s  ->  for i in seq(1, ..): s   loops are cut where conditions inside "
       "them "
       "change",
       [](const OperatorArgs& a) -> Value { return cut_at_guards(a.proc(), a.where(1)); }},
      {"unroll_phases",
       {proc()},
       "for s in seq(0, 2): for i: if s == 0: a else: b  ->  for i: a ; for i: b",
       [](const OperatorArgs& a) -> Value { return unroll_phases(a.proc()); }},
  };
}

}  // namespace exotune
