// A block of rows is taken apart in five passes: cut what moves with the rows, split loops that
// hold both kinds of work, bring what is finished to the front, join halves of one loop, leave.
// Every pass tries steps that the core may refuse: a refusal leaves that place as it was, and costs
// speed only.
#include "core/library/recurrences.h"

#include <algorithm>
#include <vector>

#include "core/ir/normal_form.h"
#include "core/library/attempted.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

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
    bool any = leave();
    any |= leave_behind(rows_);
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

  // Blocks are counted from 0: they end at multiples of their size.
  bool ends_block(const ExprPtr& point) const {
    const std::optional<Affine> a = affine(point);
    const auto rows = literal_extent(loop(rows_));
    return a && rows && a->constant % *rows == 0 &&
           std::all_of(a->terms.begin(), a->terms.end(),
                       [&](const Affine::Term& t) { return t.coeff % *rows == 0; });
  }

  void cut_inside(const Path& path) {
    for (int k = 0; k < size(path); ++k) {
      const Path inner = child(path, k);
      if (!stmt(inner)->as<For>()) continue;
      if (const auto point = cut_of(inner)) {
        // What begins behind its row is cut where the block ends too, not one element later.
        const ExprPtr before = normalize(*point - int_const(1));
        const ExprPtr where = ends_block(before) ? before : *point;
        // A loop that begins there was cut already: what comes behind the cut is met next.
        if (!surely_empty(loop(inner).lo, where))
          attempted(p_, [&](ProcPtr p) { return cut_loop(p, at(p, inner), where); });
      }
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

  bool ends_move(const Path& path) const {
    const For& f = loop(path);
    return moves_with(f.lo, {&loop(rows_)}) || moves_with(f.hi, {&loop(rows_)});
  }

  // What all rows have in common stays apart from what moves with them.
  void join_finished() {
    for (int k = 0; k + 1 < size(rows_);) {
      const Path first = child(rows_, k), second = child(rows_, k + 1);
      if (!finished(first) || !finished(second) || ends_move(first) != ends_move(second) ||
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
      // Steps on a matrix: what row after row needs, then what its columns beyond the block do.
      const int before = siblings(rows_);
      leave_behind(rows_);
      rows_ = sibling(rows_, 1 + siblings(rows_) - before);
      k = 0;
    }
    return any;
  }

  // What nobody in the loop needs leaves it at the end: a block's rows beyond its own columns, and
  // the rest of a matrix that each step changes. True: such a nest left.
  bool leave_behind(const Path& loop) {
    for (int k = size(loop) - 2; k >= 0; --k) {
      if (!finished(child(loop, k))) continue;
      for (int n = k; n + 1 < size(loop) && !finished(child(loop, n + 1)); ++n)
        if (!attempted(p_, [&](ProcPtr p) {
              return reorder_stmts(p, Cursor::block(p, child(loop, n), 2));
            }))
          break;
    }
    bool any = false;
    for (int gap = size(loop) - 1; gap >= 1; --gap) {
      const bool nest = finished(child(loop, gap));
      any |= attempted(
                 p_, [&](ProcPtr p) { return fission(p, Cursor::gap(p, child(loop, gap)), 1); }) &&
             nest;
    }
    return any;
  }
  // Statements of the block that the loop stands in.
  int siblings(const Path& loop) const { return size_of_block(p_, loop); }

  // for i: for j: { several statements }: a recurrence over j in each row, as a rule.
  void rows_inside(const Path& path) {
    const Path inner = child(path);
    if (stmt(inner)->as<For>() && size(inner) > 1)
      attempted(p_, [&](ProcPtr p) { return reorder_loops(p, at(p, path)); });
  }

  ProcPtr p_;
  Path rows_;
};

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

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> recurrences_operators() {
  using namespace params;
  return {
      {"block_recurrence",
       {proc(), place("loop"), integer("block")},
       "a loop whose rows need the rows before: in blocks, what finished rows give to a block "
       "apart",
       [](const OperatorArgs& a) -> Value {
         return block_recurrence(a.proc(), a.where(1), a.integer(2));
       }},
  };
}

}  // namespace exotune
