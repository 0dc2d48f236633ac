// The rows of a block are loops of their own first, shifted against each other; what they have in
// common is then brought together and fused, what is left stands before and behind it.
#include "core/library/skewing.h"

#include <limits>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

// Statements of one block while rows join: fills, the jammed loop, what is left at the end.
class Wavefront {
 public:
  Wavefront(ProcPtr p, Path first, int64_t rows, int64_t shift)
      : p_(std::move(p)), first_(std::move(first)), rows_(rows), shift_(shift) {
    const For& f = *stmt_at(*p_, first_)->as<For>();
    start_ = f.lo;
    end_ = f.hi;
  }

  ProcPtr run() {
    shift_rows();
    // The first row: its beginning alone, then the rest that others join.
    p_ = cut_loop(p_, at(p_, first_), all_begun());
    jammed_ = 1;
    for (int64_t row = 1; row < rows_; ++row) join(row);
    return p_;
  }

 private:
  ExprPtr all_begun() const { return normalize(start_ + int_const((rows_ - 1) * shift_)); }
  Path place(int k) const { return sibling(first_, k); }

  void shift_rows() {
    for (int64_t row = 1; row < rows_; ++row) {
      const Path path = place(static_cast<int>(row));
      p_ = shift_loop(p_, at(p_, path), normalize(start_ + int_const(row * shift_)));
      p_ = simplify(p_, at(p_, path));
    }
  }

  // Takes the statement at place `from` to place `to`, past what stands between.
  void move_up(int from, int to) {
    for (int k = from; k > to; --k) p_ = reorder_stmts(p_, Cursor::block(p_, place(k - 1), 2));
  }

  // The row's loop stands behind all that there is: fills [0, jammed_), the jammed loop, ends.
  void join(int64_t row) {
    int at_place = jammed_ + 1 + ends_;
    const bool begins = row + 1 < rows_;  // the last row begins where all have begun
    if (begins) {
      p_ = cut_loop(p_, at(p_, place(at_place)), all_begun());
      move_up(at_place, jammed_);
      ++jammed_;
      ++at_place;
    }
    p_ = cut_loop(p_, at(p_, place(at_place)), end_);
    move_up(at_place, jammed_ + 1);
    p_ = fuse(p_, at(p_, place(jammed_)), at(p_, place(jammed_ + 1)));
    ++ends_;
  }

  ProcPtr p_;
  const Path first_;
  const int64_t rows_, shift_;
  ExprPtr start_, end_;
  int jammed_ = 0;  // the place of the jammed loop: so many fills stand before it
  int ends_ = 0;    // behind it
};

}  // namespace

ProcPtr jam_skewed(ProcPtr p, const Where& where, int64_t rows, int64_t shift) {
  if (rows < 2 || shift < 0)
    throw SchedulingError("jam_skewed: at least two rows, and none ahead of the one before");
  const Cursor loop = where.loop(p);
  const For& f = loop.as<For>();
  const For* inner = f.body.size() == 1 ? f.body.front()->as<For>() : nullptr;
  if (!inner || mentions(inner->lo, f.iter) || mentions(inner->hi, f.iter))
    throw SchedulingError("jam_skewed: the loop is not around one loop whose bounds stay");
  // Before anything is unrolled: the last row must begin before the first one ends.
  const int64_t longest = literal_extent(*inner).value_or(std::numeric_limits<int32_t>::max());
  if (shift > 0 && rows - 1 >= longest / shift + (longest % shift != 0))
    throw SchedulingError("jam_skewed: the rows are too short for shifts of " +
                          std::to_string(shift));
  Path path = loop.path();
  const std::string name = f.iter.name();
  if (as_int(f.lo) != 0) p = shift_loop(p, at(p, path), int_const(0));
  p = divide_loop(p, at(p, path), rows, {name + "o", name}, Tail::kCut);
  p = unroll_loop(p, at(p, child(path)));
  return Wavefront(std::move(p), child(path), rows, shift).run();
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> skewing_operators() {
  using namespace params;
  return {
      {"jam_skewed",
       {proc(), place("loop"), integer("rows"), integer("shift")},
       "for i: for j: s(i, j)  ->  for io: for j: { s(2 * io, j); s(2 * io + 1, j - shift) }   "
       "(and "
       "its ends)",
       [](const OperatorArgs& a) -> Value {
         return jam_skewed(a.proc(), a.where(1), a.integer(2), a.integer(3));
       }},
  };
}

}  // namespace exotune
