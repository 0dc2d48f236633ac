#include "core/library/dot_shift.h"

#include "core/library/inspection.h"
#include "core/library/tiles.h"

namespace exotune {
// The sum is taken apart where it stands, innermost; then each part leaves the loops that do not
// change it, from the inside out.

namespace {

Cursor operand_of(const Cursor& of, int k) {
  Path path = of.path();
  path.push_back({Child::kExpr, k});
  return Cursor::expr(of.proc(), path);
}

// The index of the first statement in the loop's body that `is`.
template <class F>
int find_in(const ProcPtr& p, const Path& loop, F is) {
  const Block& body = body_of(*stmt_at(*p, loop));
  for (size_t k = 0; k < body.size(); ++k)
    if (is(*body[k])) return static_cast<int>(k);
  throw SchedulingError("dot_block: `" + at(p, loop).describe() + "` holds no named factors");
}

int allocation_of(const ProcPtr& p, const Path& loop, Sym name) {
  return find_in(p, loop, [&](const Stmt& s) {
    const Alloc* a = s.as<Alloc>();
    return a && a->name == name;
  });
}

int assignment_of(const ProcPtr& p, const Path& loop, Sym name) {
  return find_in(p, loop, [&](const Stmt& s) {
    const Assign* a = s.as<Assign>();
    return a && a->name == name;
  });
}

// The name that the loop's body gives to the element of `buffer`.
Sym name_of_element(const ProcPtr& p, const Path& loop, Sym buffer) {
  const int k = find_in(p, loop, [&](const Stmt& s) {
    const Assign* a = s.as<Assign>();
    const Read* r = a ? a->rhs->as<Read>() : nullptr;
    return r && r->name == buffer;
  });
  return stmt_at(*p, child(loop, k))->as<Assign>()->name;
}

ProcPtr to_front(ProcPtr p, const Path& loop, int from, int to) {
  for (int k = from; k > to; --k) p = reorder_stmts(p, Cursor::block(p, child(loop, k - 1), 2));
  return p;
}

// What the first `length` statements of the loop's body make, the first of them its allocation,
// leaves the loop: with a dimension for it (of `extent`, where it is not the loop's own), or as
// what every iteration makes again.
ProcPtr lead_out(ProcPtr p, const Path& loop, int length, bool changes) {
  const For f = loop_at(p, loop);
  if (changes) p = expand_dim(p, at(p, child(loop)), f.hi, read_var(f.iter, ScalarType::kIndex));
  p = lift_alloc(p, at(p, child(loop)), 1);
  const Path filled = sibling(loop, 1);
  p = fission(p, Cursor::gap(p, child(filled, length - 1)), 1);
  return changes ? p : remove_loop(p, at(p, filled));
}

class RowShift {
 public:
  RowShift(ProcPtr p, Path nest, Sym first, Sym second, Sym sum)
      : p_(std::move(p)), nest_(std::move(nest)), first_(first), second_(second), sum_(sum) {}

  ShiftedProduct run(ScalarType unsigned_type, int64_t shift, int64_t group) {
    take_apart(shift);
    bring_rows_ahead(unsigned_type);
    const Sym correction = bring_correction_ahead();
    bring_shift_ahead(unsigned_type, group);
    return {p_, nest_, correction_, shifted_, correction};
  }

 private:
  Path rows() const { return nest_; }
  Path columns() const { return child(nest_); }
  Path depth() const { return child(child(nest_)); }
  Cursor last(const Path& loop) const {
    const int n = static_cast<int>(body_of(*stmt_at(*p_, loop)).size());
    return at(p_, child(loop, n - 1));
  }
  Sym bind(const Cursor& e, const std::string& name) {
    const Path stmt = stmt_part(e.path());
    p_ = bind_expr(p_, e, name);
    return at(p_, stmt).as<Alloc>().name;
  }

  // C += a * b  ->  C += (a + s) * b ; C += -1 * (s * b), each with a name of its own for b.
  void take_apart(int64_t shift) {
    const Sym a = name_of_element(p_, depth(), first_), b = name_of_element(p_, depth(), second_);
    Cursor product = last(depth()).rhs();
    const Read* left = operand_of(product, 0).expr()->as<Read>();
    if (!left || left->name != a) p_ = commute_expr(p_, product);
    p_ = shift_factor(p_, last(depth()).rhs(), shift);
    shifted_ = bind(operand_of(operand_of(last(depth()).rhs(), 0), 0), first_.name() + "_shift");
    bind(operand_of(operand_of(last(depth()).rhs(), 0), 0), a.name());
    p_ = split_write(p_, last(depth()));
    const Cursor main = last(depth()).prev();
    bind(operand_of(operand_of(last(depth()).rhs(), 1), 1), b.name());
    bind(operand_of(forward(p_, main).rhs(), 1), b.name());
    p_ = set_precision(p_, at(p_, child(depth(), allocation_of(p_, depth(), b))), type_of_second());
    p_ = inline_assign(p_, at(p_, child(depth(), assignment_of(p_, depth(), b))));
    p_ = delete_buffer(p_, at(p_, child(depth(), allocation_of(p_, depth(), b))));
  }

  ScalarType type_of_second() const { return lookup(*p_, depth(), second_)->type.scalar; }

  // for i: for j: for k: { t : T ; t = A + s ; .. }  ->  t : U[I, K] ahead
  void bring_rows_ahead(ScalarType type) {
    p_ = to_front(p_, depth(), allocation_of(p_, depth(), shifted_), 0);
    const int made = assignment_of(p_, depth(), shifted_) + 1;
    p_ = lead_out(p_, depth(), made, true);
    p_ = lead_out(p_, columns(), 2, false);
    p_ = lead_out(p_, rows(), 2, true);
    p_ = set_precision(p_, at(p_, nest_), type);
    nest_.back().index += 2;
  }

  // for i: for j: for k: { main ; C += -1 * (s * b) }
  //   ->  t : T[J] ; for j: t[j] = -1 * (the sum of s * b) ; for i: for j: { main ; C += t[j] }
  Sym bring_correction_ahead() {
    p_ = fission(p_, last(depth()).prev().prev().before(), 1);
    const Path second = child(columns(), 1);
    p_ = stage_around(p_, second, sum_, sum_.name() + "_shift", 1, false, true);
    p_ = lift_reduce_constant(p_, Cursor::block(p_, child(columns(), 2), 2));
    for (int k = 0; k < 4; ++k) p_ = reorder_stmts(p_, Cursor::block(p_, child(columns(), k), 2));
    const Sym t = at(p_, child(columns())).as<Alloc>().name;
    p_ = lead_out(p_, columns(), 4, true);
    p_ = lead_out(p_, rows(), 2, false);
    correction_ = sibling(nest_, 1);
    // Zero, sum and sign in loops of their own.
    p_ = fission(p_, Cursor::gap(p_, child(correction_, 1)), 1);
    correction_.back().index += 1;
    p_ = fission(p_, Cursor::gap(p_, child(correction_, 1)), 1);
    nest_.back().index += 4;
    return t;
  }

  // for j: for k: t[j] += s * b
  //   ->  u : U[G] ; for g: u[g] = s ; for j: for k: for g: { a : T ; a = u[g] ; t[j] += a * b }
  void bring_shift_ahead(ScalarType type, int64_t group) {
    const std::string k = loop_at(p_, child(correction_)).iter.name();
    p_ = divide_loop(p_, at(p_, child(correction_)), group, {k, k + "g"}, Tail::kPerfect);
    const Path inner = child(child(correction_));
    const Sym s = bind(operand_of(last(inner).rhs(), 0), first_.name() + "_ones");
    const Sym a = bind(operand_of(last(inner).rhs(), 0), "a");
    p_ = to_front(p_, inner, allocation_of(p_, inner, s), 0);
    p_ = to_front(p_, inner, assignment_of(p_, inner, s), 1);
    // The factors in the order in which the product has them.
    p_ = to_front(p_, inner, allocation_of(p_, inner, a), 2);
    p_ = to_front(p_, inner, assignment_of(p_, inner, a), 3);
    p_ = lead_out(p_, inner, 2, true);
    p_ = lead_out(p_, child(correction_), 2, false);
    p_ = lead_out(p_, correction_, 2, false);
    p_ = set_precision(p_, at(p_, correction_), type);
    correction_.back().index += 2;
    nest_.back().index += 2;
  }

  ProcPtr p_;
  Path nest_, correction_;
  Sym first_, second_, sum_, shifted_;
};

}  // namespace

ShiftedProduct shift_rows(ProcPtr p, const Path& nest, Sym first, Sym second, Sym sum,
                          ScalarType unsigned_type, int64_t shift, int64_t group) {
  return RowShift(std::move(p), nest, first, second, sum).run(unsigned_type, shift, group);
}

}  // namespace exotune
