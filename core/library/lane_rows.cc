// The rows' loop is divided, its inner part goes down through the statements, and what it then
// reaches across rows is turned over in buffers. The buffers come last: only then is it known which
// arrays are met with rows apart.
#include "core/library/lane_rows.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/attempted.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

bool names_loop(const ExprPtr& index, const std::string& iter) {
  const std::optional<Affine> a = affine(index);
  return a && std::any_of(a->terms.begin(), a->terms.end(), [&](const Affine::Term& t) {
           const Read* r = t.atom->as<Read>();
           return r && r->name.name() == iter;
         });
}

// The statements that one loop over lanes becomes, in the block that it stood in.
class Lanes {
 public:
  Lanes(ProcPtr p, Path loop) : p_(std::move(p)), first_(std::move(loop)) {
    iter_ = loop_at(first_).iter.name();
    others_ = size_of_block(p_, first_) - 1;
  }

  /// True: the lanes went inside some loop.
  bool run(bool turn_over) {
    const int allocations = expand_allocations();
    const Path loop = sibling(first_, allocations);
    split(loop);
    for (int k = allocations; k < count(); ++k) sink(sibling(first_, k));
    if (sunk_ && turn_over) stage(allocations);
    return sunk_;
  }
  ProcPtr proc() const { return p_; }

 private:
  StmtPtr stmt(const Path& path) const { return stmt_at(*p_, path); }
  const For& loop_at(const Path& path) const { return *stmt(path)->as<For>(); }
  int size(const Path& path) const { return static_cast<int>(body_of(*stmt(path)).size()); }
  int count() const { return size_of_block(p_, first_) - others_; }
  bool is_lanes(const Path& path) const {
    const For* f = stmt(path)->as<For>();
    return f && f->iter.name() == iter_;
  }

  // What a row allocates belongs to its lane; the number of allocations that stand in front now.
  int expand_allocations() {
    int lifted = 0;
    for (int k = 0; k < size(sibling(first_, lifted)); ++k) {
      const Path alloc = child(sibling(first_, lifted), k);
      const Alloc* a = stmt(alloc)->as<Alloc>();
      if (!a) continue;
      const int rank = a->type.rank();
      const For& f = loop_at(sibling(first_, lifted));
      const ExprPtr extent = f.hi, lane = read_var(f.iter, ScalarType::kIndex);
      if (!attempted(p_, [&](ProcPtr p) {
            p = expand_dim(p, at(p, alloc), extent, lane);
            if (rank > 0) p = rearrange_dim(p, at(p, alloc), lane_last(rank));
            return lift_alloc(p, at(p, alloc), 1);
          }))
        continue;
      ++lifted;
      --k;
    }
    return lifted;
  }
  static std::vector<int> lane_last(int rank) {
    std::vector<int> order;
    for (int d = 1; d <= rank; ++d) order.push_back(d);
    order.push_back(0);
    return order;
  }

  // Every gap of the loop that may be one.
  void split(const Path& loop) {
    for (int gap = size(loop) - 1; gap >= 1; --gap)
      attempted(p_, [&](ProcPtr p) { return fission(p, Cursor::gap(p, child(loop, gap)), 1); });
  }

  // The lanes' loop at `path` goes inside what it is around.
  void sink(const Path& path) {
    if (!is_lanes(path)) return;
    const Path inner = child(path);
    if (size(path) == 1 && stmt(inner)->as<For>()) {
      if (!attempted(p_, [&](ProcPtr p) { return reorder_loops(p, at(p, path)); })) return;
      sunk_ = true;
      split_around_loops(inner);
      for (int k = 0; k < size(path); ++k) sink(sibling(inner, k));
    }
  }
  // Statements without loops stay together: they are one recurrence's step.
  void split_around_loops(const Path& loop) {
    for (int gap = size(loop) - 1; gap >= 1; --gap) {
      const Path here = child(loop, gap);
      if (!stmt(here)->as<For>() && !stmt(child(loop, gap - 1))->as<For>()) continue;
      attempted(p_, [&](ProcPtr p) { return fission(p, Cursor::gap(p, here), 1); });
    }
  }

  // Arrays that are met with the rows in another dimension than the last.
  struct Apart {
    Sym array;
    size_t along;
  };
  std::vector<Apart> arrays_apart(const Path& from, int length) const {
    std::vector<Apart> out;
    for (const Access& a : accesses_of(*p_, from, length)) {
      if (std::any_of(out.begin(), out.end(), [&](const Apart& o) { return o.array == a.buffer; }))
        continue;
      for (size_t d = 0; d + 1 < a.idx.size(); ++d)
        if (names_loop(a.idx[d], iter_) && !names_loop(a.idx.back(), iter_))
          out.push_back({a.buffer, d});
    }
    return out;
  }

  void stage(int allocations) {
    const Path from = sibling(first_, allocations);
    const int length = count() - allocations;
    Cursor block = Cursor::block(p_, from, length);
    for (const Apart& apart : arrays_apart(from, length)) {
      block = forward(p_, block);
      if (!block.valid()) return;
      attempted(p_, [&](ProcPtr p) { return turned_over(p, block, apart); });
    }
  }

  static ProcPtr turned_over(ProcPtr p, const Cursor& block, const Apart& apart) {
    const std::optional<Rectangle> window = touched(p, block, apart.array);
    if (!window) throw SchedulingError("rows_to_lanes: what is touched is no rectangle");
    const Path alloc = block.path();
    p = stage_mem(p, block, window->text(apart.array.name(), scope_at(*p, alloc)),
                  apart.array.name() + "_lanes");
    std::vector<int> order;
    int kept = 0, last = -1;
    for (size_t d = 0; d < window->lo.size(); ++d) {
      if (as_int(normalize(window->hi[d] - window->lo[d])) == 1) continue;  // a point of the window
      if (d == apart.along)
        last = kept++;
      else
        order.push_back(kept++);
    }
    if (last < 0) throw SchedulingError("rows_to_lanes: one row alone");
    order.push_back(last);
    return rearrange_dim(p, at(p, alloc), order);
  }

  ProcPtr p_;
  const Path first_;
  std::string iter_;
  int others_ = 0;  // statements of the block that are not ours
  bool sunk_ = false;
};

}  // namespace

ProcPtr rows_to_lanes(ProcPtr p, const Where& where, int64_t lanes) {
  if (lanes < 2) throw SchedulingError("rows_to_lanes: at least two lanes");
  const Path path = where.loop(p).path();
  const std::string row = stmt_at(*p, path)->as<For>()->iter.name();
  if (as_int(stmt_at(*p, path)->as<For>()->lo) != 0) p = shift_loop(p, at(p, path), int_const(0));
  const int before = size_of_block(p, path);
  p = divide_loop(p, at(p, path), lanes, {row + "o", row}, Tail::kCut);
  // The rows left over first: what is in front of them does not move by it.
  const Path rest = sibling(path, 1);
  const StmtPtr behind = size_of_block(p, path) > before ? stmt_at(*p, rest) : nullptr;
  if (const For* tail = behind ? behind->as<For>() : nullptr; tail && literal_extent(*tail)) {
    Lanes left(p, rest);
    left.run(true);
    p = left.proc();
  }
  Lanes block(p, child(path));
  if (!block.run(true))
    throw SchedulingError("rows_to_lanes: the rows may not run side by side inside a loop", {},
                          "it is for rows that know nothing of each other, each a recurrence");
  return simplify(block.proc());
}

ProcPtr sink_loop(ProcPtr p, const Where& where) {
  const Path path = where.loop(p).path();
  if (as_int(stmt_at(*p, path)->as<For>()->lo) != 0) p = shift_loop(p, at(p, path), int_const(0));
  Lanes all(p, path);
  if (!all.run(false))
    throw SchedulingError("sink_loop: the loop may go inside no loop of its body");
  return simplify(all.proc());
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> lane_rows_operators() {
  using namespace params;
  return {
      {"sink_loop",
       {proc(), place("loop")},
       "for r: for i: s  ->  for i: for r: s, inside every loop that it may go into, allocations "
       "with a dimension more",
       [](const OperatorArgs& a) -> Value { return sink_loop(a.proc(), a.where(1)); }},
      {"rows_to_lanes",
       {proc(), place("loop"), integer("lanes")},
       "for i: for j: s  ->  for io: for j: for i in seq(0, lanes): s, what rows hold apart turned "
       "over in buffers",
       [](const OperatorArgs& a) -> Value {
         return rows_to_lanes(a.proc(), a.where(1), a.integer(2));
       }},
  };
}

}  // namespace exotune
