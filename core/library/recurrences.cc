// A block of rows is taken apart in five passes: cut what moves with the rows, split loops that
// hold both kinds of work, bring what is finished to the front, join halves of one loop, leave.
// Every pass tries steps that the core may refuse: a refusal leaves that place as it was, and costs
// speed only.
#include "core/library/recurrences.h"

#include <algorithm>
#include <vector>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/staging.h"

namespace exotune {

namespace {

// A rewrite that may be refused: the procedure is then the one before.
template <class Rewrite>
bool attempted(ProcPtr& p, const Rewrite& rewrite) {
  try {
    p = rewrite(p);
    return true;
  } catch (const SchedulingError&) {
    return false;
  }
}

// The loops around a statement from the block of rows inwards, the rows' loop first.
std::vector<const For*> loops_between(const Proc& p, const Path& rows, const Path& path) {
  std::vector<const For*> out;
  for (size_t n = rows.size(); n < path.size(); ++n)
    if (const For* f =
            stmt_at(p, Path(path.begin(), path.begin() + static_cast<long>(n)))->as<For>())
      out.push_back(f);
  return out;
}

// What a bound is at the start of all `loops` that it moves with, or at their end (the first value
// that they do not reach); nothing: it is not affine in them. Innermost first, since an inner
// loop's own bounds may move with outer ones.
std::optional<ExprPtr> common_bound(ExprPtr bound, const std::vector<const For*>& loops,
                                    bool least) {
  for (auto f = loops.rbegin(); f != loops.rend(); ++f) {
    if (!mentions(bound, (*f)->iter)) continue;
    const std::optional<Affine> a = affine(bound);
    if (!a || a->coeff_of((*f)->iter) == 0) return std::nullopt;
    const bool at_start = (a->coeff_of((*f)->iter) > 0) == least;
    bound = normalize(substitute(bound, (*f)->iter, at_start ? (*f)->lo : (*f)->hi));
  }
  return normalize(bound);
}

bool moves_with(const ExprPtr& bound, const std::vector<const For*>& loops) {
  return std::any_of(loops.begin(), loops.end(),
                     [&](const For* f) { return mentions(bound, f->iter); });
}

// Of the loops around a bound those that move with the block's rows: the rows themselves, and every
// loop with a bound that moves.
std::vector<const For*> moving(const std::vector<const For*>& loops) {
  std::vector<const For*> out;
  for (const For* f : loops)
    if (out.empty() || moves_with(f->lo, out) || moves_with(f->hi, out)) out.push_back(f);
  return out;
}

// Known to be no iterations at all, whatever the block.
bool surely_empty(const ExprPtr& lo, const ExprPtr& hi) {
  const std::optional<int64_t> n = as_int(normalize(hi - lo));
  return n && *n <= 0;
}

// Works on the loop over one block's rows.
class RowBlock {
 public:
  RowBlock(ProcPtr p, Path rows) : p_(std::move(p)), rows_(std::move(rows)) {}

  /// True: something left the loop.
  bool take_apart() {
    cut_inside(rows_);
    split_inside(rows_);
    move_ahead();
    join_finished();
    const bool any = leave();
    leave_behind();
    return any;
  }
  ProcPtr proc() const { return p_; }

 private:
  const For& loop(const Path& path) const { return *stmt_at(*p_, path)->as<For>(); }
  StmtPtr stmt(const Path& path) const { return stmt_at(*p_, path); }
  int size(const Path& path) const { return static_cast<int>(body_of(*stmt(path)).size()); }

  // Where a loop in the block is cut: the end of what all rows (or columns) have in common.
  std::optional<ExprPtr> cut_of(const Path& path) const {
    const For& f = loop(path);
    const std::vector<const For*> around = loops_between(*p_, rows_, path), rows = moving(around);
    const bool upper = moves_with(f.hi, rows), lower = moves_with(f.lo, rows);
    if (upper == lower) return std::nullopt;
    const auto at = common_bound(upper ? f.hi : f.lo, around, upper);
    if (!at || surely_empty(upper ? f.lo : *at, upper ? *at : f.hi)) return std::nullopt;
    return at;
  }

  void cut_inside(const Path& path) {
    for (int k = 0; k < size(path); ++k) {
      const Path inner = child(path, k);
      if (!stmt(inner)->as<For>()) continue;
      if (const auto point = cut_of(inner))
        attempted(p_, [&](ProcPtr p) { return cut_loop(p, at(p, inner), *point); });
      cut_inside(inner);
    }
  }

  // Deepest first: a gap behind (or in front of) what does not move with the rows.
  void split_inside(const Path& path) {
    for (int k = size(path) - 1; k >= 0; --k) {
      const Path inner = child(path, k);
      if (!stmt(inner)->as<For>()) continue;
      split_inside(inner);
      for (int gap = size(inner) - 1; gap >= 1; --gap)
        if (finished(child(inner, gap - 1)) != finished(child(inner, gap)))
          attempted(p_,
                    [&](ProcPtr p) { return fission(p, Cursor::gap(p, child(inner, gap)), 1); });
    }
  }

  // A nest whose innermost loops all run over what stands still while the rows move.
  bool finished(const Path& path) const {
    if (!stmt(path)->as<For>()) return false;
    bool any = false, all = true;
    innermost_loops(path, [&](const Path& inner) {
      const std::vector<const For*> rows = moving(loops_between(*p_, rows_, inner));
      any = true;
      all &= !moves_with(loop(inner).lo, rows) && !moves_with(loop(inner).hi, rows);
    });
    return any && all;
  }
  template <class Visit>
  void innermost_loops(const Path& path, const Visit& visit) const {
    bool deepest = true;
    for (int k = 0; k < size(path); ++k)
      if (stmt(child(path, k))->as<For>()) {
        deepest = false;
        innermost_loops(child(path, k), visit);
      }
    if (deepest) visit(path);
  }

  // Bubbles finished nests to the front, in their order, as far as they may.
  void move_ahead() {
    for (int k = 1; k < size(rows_); ++k) {
      if (!finished(child(rows_, k))) continue;
      for (int n = k; n > 0 && !finished(child(rows_, n - 1)); --n)
        if (!attempted(p_, [&](ProcPtr p) {
              return reorder_stmts(p, Cursor::block(p, child(rows_, n - 1), 2));
            }))
          break;
    }
  }

  void join_finished() {
    for (int k = 0; k + 1 < size(rows_);) {
      const Path first = child(rows_, k), second = child(rows_, k + 1);
      if (!finished(first) || !finished(second) ||
          !attempted(p_, [&](ProcPtr p) { return join_loops(p, at(p, first), at(p, second)); }))
        ++k;
    }
  }

  // The finished nests leave the loop, one after the other, with what stands in front of them.
  bool leave() {
    bool any = false;
    for (int k = 0; k + 1 < size(rows_);) {
      const bool nest = finished(child(rows_, k));
      if (!nest || !attempted(p_, [&](ProcPtr p) {
            return fission(p, Cursor::gap(p, child(rows_, k + 1)), 1);
          })) {
        ++k;
        continue;
      }
      any = true;
      if (k == 0) rows_inside(rows_);
      rows_ = sibling(rows_, 1);
      k = 0;
    }
    return any;
  }

  // What nobody in the loop needs leaves it at the end: a block's rows beyond its own columns.
  void leave_behind() {
    for (int gap = size(rows_) - 1; gap >= 1; --gap)
      attempted(p_, [&](ProcPtr p) { return fission(p, Cursor::gap(p, child(rows_, gap)), 1); });
  }

  // for i: for j: { several statements }: a recurrence over j in each row, as a rule.
  void rows_inside(const Path& path) {
    const Path inner = child(path);
    if (stmt(inner)->as<For>() && size(inner) > 1)
      attempted(p_, [&](ProcPtr p) { return reorder_loops(p, at(p, path)); });
  }

  ProcPtr p_;
  Path rows_;
};

// The one array that the statements write.
Sym written_array(const StmtPtr& s) {
  std::vector<Sym> names;
  for_each_stmt({s}, [&](const StmtPtr& at) {
    if (const Assign* a = at->as<Assign>()) names.push_back(a->name);
    if (const Reduce* r = at->as<Reduce>()) names.push_back(r->name);
    if (at->as<Call>() || at->as<WindowStmt>())
      throw SchedulingError("stage_panel: the loop does more than write one array");
  });
  if (names.empty() ||
      std::any_of(names.begin(), names.end(), [&](Sym name) { return name != names.front(); }))
    throw SchedulingError("stage_panel: the loop does more than write one array");
  return names.front();
}

// An element that the loop writes, and which of its dimensions moves along `rows`.
struct Written {
  std::vector<ExprPtr> idx;
  int along = -1;
};
Written written_along(const StmtPtr& s, const std::string& rows) {
  Written out;
  const auto named = [&](const ExprPtr& e) {
    const std::optional<Affine> a = affine(e);
    return a && std::any_of(a->terms.begin(), a->terms.end(), [&](const Affine::Term& t) {
             const Read* r = t.atom->as<Read>();
             return r && r->name.name() == rows;
           });
  };
  const auto look = [&](const std::vector<ExprPtr>& idx) {
    for (size_t d = 0; d < idx.size(); ++d)
      if (named(idx[d])) out = {idx, static_cast<int>(d)};
  };
  for_each_stmt({s}, [&](const StmtPtr& at) {
    if (const Assign* a = at->as<Assign>()) look(a->idx);
    if (const Reduce* r = at->as<Reduce>()) look(r->idx);
  });
  return out;
}

// What is written; or with it what is read beside it, in the same column.
std::optional<Rectangle> panel_of(const ProcPtr& p, const Cursor& loop, Sym array,
                                  const Written& written, bool beside) {
  if (!beside) return touched(p, loop, array, Touch::kWrites);
  return touched(p, loop, array, Touch::kAny, [&](const Access& a) {
    for (size_t d = 0; d < a.idx.size(); ++d)
      if (static_cast<int>(d) != written.along && !affine_equal(a.idx[d], written.idx[d]))
        return false;
    return true;
  });
}

ProcPtr stage_one_panel(ProcPtr p, const Cursor& loop, const Rectangle& window, Sym array,
                        const std::string& name, int along) {
  const Path path = loop.path();
  p = stage_mem_if_any(p, loop, window.text(array.name(), scope_at(*p, path)), name);
  const bool guarded = stmt_at(*p, path)->as<If>();
  const Path alloc = guarded ? child(path) : path;
  // Where nothing is staged there is nothing to do.
  if (guarded) {
    Path otherwise = path;
    otherwise.push_back({Child::kOrelse, 0});
    attempted(p, [&](ProcPtr q) { return eliminate_dead_code(q, at(q, otherwise)); });
  }
  // One element along a dimension is a point of the window, and no dimension of the buffer.
  std::vector<int> order;
  int last = -1, kept = 0;
  for (size_t d = 0; d < window.lo.size(); ++d) {
    if (as_int(normalize(window.hi[d] - window.lo[d])) == 1) continue;
    if (static_cast<int>(d) == along)
      last = kept;
    else
      order.push_back(kept);
    ++kept;
  }
  if (last < 0 || last == kept - 1) return p;
  order.push_back(last);
  return rearrange_dim(p, at(p, alloc), order);
}

Path block_at_once(ProcPtr& p, const Path& path, int64_t block) {
  const std::string row = stmt_at(*p, path)->as<For>()->iter.name();
  p = divide_loop(p, at(p, path), block, {row + "b", row}, Tail::kCut);
  return child(path);
}

}  // namespace

ProcPtr block_recurrence(ProcPtr p, const Where& where, int64_t block) {
  const Path path = where.loop(p).path();
  const int before = size_of_block(p, path);
  const Path rows = block_at_once(p, path, block);
  std::vector<Path> loops = {rows};
  // The rows left over first: what is in front of them does not move by it.
  if (size_of_block(p, path) > before) loops.insert(loops.begin(), sibling(path, 1));
  bool any = false;
  for (const Path& loop : loops) {
    if (!stmt_at(*p, loop)->as<For>()) continue;
    RowBlock part(p, loop);
    any |= part.take_apart();
    p = part.proc();
  }
  if (!any)
    throw SchedulingError("block_recurrence: nothing could be taken out of a block of iterations",
                          {}, "it is for loops whose body has loops with bounds that follow them");
  return p;
}

ProcPtr stage_panel(ProcPtr p, const Where& where, const std::string& rows,
                    const std::string& name) {
  const Cursor loop = where.loop(p);
  const StmtPtr stmt = stmt_at(*p, loop.path());
  const Sym array = written_array(stmt);
  const Written written = written_along(stmt, rows);
  const auto only = panel_of(p, loop, array, written, false);
  if (written.along < 0 || !only)
    throw SchedulingError("stage_panel: what the loop writes of `" + array.name() +
                          "` is no rectangle with a dimension along `" + rows + "`");
  ProcPtr out = p;
  const auto stage = [&](const Rectangle& window) {
    return [&](ProcPtr q) { return stage_one_panel(q, loop, window, array, name, written.along); };
  };
  if (attempted(out, stage(*only))) return out;
  const auto beside = panel_of(p, loop, array, written, true);
  return stage_one_panel(p, loop, beside ? *beside : *only, array, name, written.along);
}

}  // namespace exotune
