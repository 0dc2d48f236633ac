// reduce_ahead: a reduction over a window is that of reductions over its rows, by associativity.
#include "core/primitives/reduce_ahead.h"

#include <algorithm>

#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

const char* const kReduceAhead = "reduce_ahead";

// One reduction in a nest, and the loop that is reduced over before the nest. Everything that the
// operand's element depends on beside it becomes an axis of the new buffer.
class WindowReduction {
 public:
  WindowReduction(const ProcPtr& p, Path nest, Path loop)
      : p_(p), nest_(std::move(nest)), loop_path_(std::move(loop)) {
    read_loops();
    read_operand();
    require_exact();
    require_unchanged();
    choose_axes();
  }

  ProcPtr run(const std::string& name, std::vector<Value> args) const {
    Rewrite rw(p_);
    rw.flags.reassociates = sum_->op == ReduceOp::kAdd;
    rw.unwrap(loop_path_);
    Path inner = loop_path_;
    for (size_t k = 0; k < inner_loops_; ++k) inner = body_path(inner);
    const Sym t = Sym::fresh(name);
    std::vector<ExprPtr> at;
    for (const Axis& axis : axes_) at.push_back(axis.index);
    ExprPtr rhs = read_elem(t, at, type_);
    for (size_t k = others_.size(); k-- > 0;) rhs = others_[k] * rhs;
    rw.replace_keep(inner, make_reduce(sum_->name, sum_->idx, rhs, sum_->op));
    rw.insert(nest_, ahead(t));
    require_reads(rw.proc());
    require_parallel_loops(rw.proc(), nest_, kReduceAhead);
    return rw.finish(kReduceAhead, std::move(args));
  }

 private:
  struct Axis {
    Sym iter;
    ExprPtr extent;
    ExprPtr index;  // where the nest reads it
  };

  // From the nest to the loop anything that runs what it holds; from there only loops.
  void read_loops() {
    if (loop_path_.size() < nest_.size() ||
        !std::equal(nest_.begin(), nest_.end(), loop_path_.begin()))
      refuse(kReduceAhead, "the loop does not stand in the nest");
    for (size_t n = nest_.size(); n < loop_path_.size(); ++n)
      hold(stmt_at(*p_, Path(loop_path_.begin(), loop_path_.begin() + static_cast<long>(n))));
    const StmtPtr loop = stmt_at(*p_, loop_path_);
    loop_ = loop->as<For>();
    require_loop(*loop_);
    if (loop_->mode != LoopMode::kSeq)
      refuse(kReduceAhead, "`" + loop_->iter.name() + "` is no sequential loop");
    sum_path_ = body_path(loop_path_);
    const For* around = loop_;
    StmtPtr s = stmt_at(*p_, sum_path_);
    for (; around->body.size() == 1 && s->as<For>(); s = stmt_at(*p_, sum_path_)) {
      hold(s);
      around = s->as<For>();
      if (mentions(around->hi, loop_->iter) || mentions(around->lo, loop_->iter))
        refuse(kReduceAhead, "the bounds of `" + around->iter.name() + "` depend on the loop");
      ++inner_loops_;
      sum_path_ = body_path(sum_path_);
    }
    sum_ = s->as<Reduce>();
    if (!sum_ || around->body.size() != 1)
      refuse(kReduceAhead, "the loop holds more than one sum or maximum");
    if (std::any_of(sum_->idx.begin(), sum_->idx.end(),
                    [&](const ExprPtr& e) { return mentions(e, loop_->iter); }))
      refuse(kReduceAhead, "the element depends on the loop");
  }

  void hold(const StmtPtr& s) {
    if (const For* f = s->as<For>()) loops_.push_back(f);
  }

  // Begins at 0, at least one iteration wherever the nest stands.
  void require_loop(const For& f) const {
    const std::string name = "`" + f.iter.name() + "`";
    if (literal(f.lo) != 0) refuse(kReduceAhead, name + " does not begin at 0");
    if (reads_config(f.hi)) refuse(kReduceAhead, "the bound of " + name + " reads configuration");
    for (const For* outer : loops_)
      if (mentions(f.hi, outer->iter))
        refuse(kReduceAhead, "the bound of " + name + " depends on a loop around it");
    require(prove(*p_, nest_, less(int_const(0), f.hi)), kReduceAhead,
            name + " may have no iteration");
  }

  void collect(const ExprPtr& e) {
    const BinOp* b = e->as<BinOp>();
    if (sum_->op == ReduceOp::kAdd && b && b->op == BinOpKind::kMul) {
      collect(b->lhs);
      collect(b->rhs);
    } else if (!mentions(e, loop_->iter)) {
      others_.push_back(e);
    } else if (operand_) {
      refuse(kReduceAhead, "two operands depend on the loop");
    } else {
      operand_ = e;
      read_ = e->as<Read>();
      if (!read_ || read_->idx.empty())
        refuse(kReduceAhead, "`" + str(e) + "` is no element of a buffer");
    }
  }

  void read_operand() {
    collect(sum_->rhs);
    if (!operand_) refuse(kReduceAhead, "no operand depends on the loop");
    const auto entry = lookup(*p_, nest_, read_->name);
    if (!entry) refuse(kReduceAhead, "`" + read_->name.name() + "` is not there before the nest");
    shape_ = entry->type.shape;
    if (reads_config(operand_)) refuse(kReduceAhead, "the operand reads configuration");
  }

  // Over the reals both are equal. Maxima are exact; sums only in another order.
  void require_exact() {
    type_ = element_type(*p_, sum_path_, sum_->name);
    if (sum_->op == ReduceOp::kAdd && !is_float(type_))
      refuse(kReduceAhead, "`" + sum_->name.name() + "` holds no floating-point numbers");
    require_no_cast(operand_, type_, kReduceAhead);
    for (const ExprPtr& e : others_) {
      require_no_cast(e, type_, kReduceAhead);
      if (reads_buffer(*p_, sum_path_, e, sum_->name))
        refuse(kReduceAhead, "`" + str(e) + "` reads what is summed into");
      if (reads_config(e)) refuse(kReduceAhead, "`" + str(e) + "` reads configuration");
    }
  }

  // What t is made of is read before the nest instead of in it.
  void require_unchanged() const {
    for (const Path& path : all_stmt_paths(*p_)) {
      if (path.size() < nest_.size() || !std::equal(nest_.begin(), nest_.end(), path.begin()))
        continue;
      const StmtPtr s = stmt_at(*p_, path);
      const Assign* a = s->as<Assign>();
      const Reduce* r = s->as<Reduce>();
      const bool plain = a || r || s->as<For>() || s->as<If>() || s->as<Alloc>() || s->as<Pass>();
      if (!plain) refuse(kReduceAhead, "the nest holds " + quoted(s));
      if ((a || r) && reads_buffer(*p_, path, operand_, a ? a->name : r->name))
        refuse(kReduceAhead, "the nest writes what `" + str(operand_) + "` reads");
    }
  }

  const For* loop_of(Sym iter) const {
    for (const For* f : loops_)
      if (f->iter == iter) return f;
    return nullptr;
  }
  bool mentions_loops(const ExprPtr& e) const {
    return std::any_of(loops_.begin(), loops_.end(),
                       [&](const For* f) { return mentions(e, f->iter); });
  }

  void add_axis(const For& f) {
    if (std::any_of(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.iter == f.iter; }))
      return;
    require_loop(f);
    axes_.push_back({f.iter, f.hi, read_var(f.iter, ScalarType::kIndex)});
  }

  void choose_axes() {
    for (size_t d = 0; d < read_->idx.size(); ++d) {
      const ExprPtr& e = read_->idx[d];
      const Read* single = e->as<Read>();
      const For* own = single ? loop_of(single->name) : nullptr;
      index_.push_back(e);
      if (mentions(e, loop_->iter)) {
        for (const For* f : loops_)
          if (mentions(e, f->iter)) add_axis(*f);
      } else if (own && literal(own->lo) == 0) {
        add_axis(*own);
      } else if (mentions_loops(e)) {
        whole_dimension(d);
      }
    }
  }

  void whole_dimension(size_t d) {
    require(prove(*p_, nest_, less(int_const(0), shape_[d])), kReduceAhead,
            "a dimension of `" + read_->name.name() + "` may be empty");
    const Sym iter = Sym::fresh("w");
    axes_.push_back({iter, shape_[d], read_->idx[d]});
    index_.back() = read_var(iter, ScalarType::kIndex);
  }

  ExprPtr first_element() const {
    std::vector<ExprPtr> index = index_;
    for (ExprPtr& e : index)
      if (mentions(e, loop_->iter)) e = fold(substitute(e, loop_->iter, int_const(0)));
    return read_elem(read_->name, index, operand_->type);
  }

  // Allocation and fill.
  Block ahead(Sym t) const {
    std::vector<ExprPtr> shape, at;
    for (const Axis& axis : axes_) {
      shape.push_back(axis.extent);
      at.push_back(read_var(axis.iter, ScalarType::kIndex));
    }
    const bool sum = sum_->op == ReduceOp::kAdd;
    const StmtPtr reduce =
        make_reduce(t, at, read_elem(read_->name, index_, operand_->type), sum_->op);
    Block fill = {make_assign(t, at, sum ? data_const(0, type_) : first_element()),
                  make_for(loop_->iter, int_const(sum ? 0 : 1), loop_->hi, {reduce})};
    for (size_t k = axes_.size(); k-- > 0;)
      fill = {make_for(axes_[k].iter, int_const(0), axes_[k].extent, std::move(fill))};
    // The same loops stand in the nest still: names that are bound twice are two symbols.
    fill = refresh_binders(fill);
    fill.insert(fill.begin(), make_alloc(t, Type{type_, shape, false}, dram()));
    return fill;
  }

  // Of the fill, which reads for all values of its loops, the nest perhaps only for some.
  void require_reads(const Proc& made) const {
    Path first = sibling(nest_, 1);
    for (size_t k = 0; k < axes_.size(); ++k) first = body_path(first);
    const Path reduce = body_path(sibling(first, 1));
    const Assign* begin = stmt_at(made, first)->as<Assign>();
    for (const auto& [path, rhs] :
         {std::pair{first, begin->rhs}, {reduce, stmt_at(made, reduce)->as<Reduce>()->rhs}})
      require(reads_in_bounds(made, path, rhs), kReduceAhead,
              "`" + str(operand_) + "` may not exist outside the nest");
  }

  const ProcPtr& p_;
  const Path nest_, loop_path_;
  const For* loop_ = nullptr;
  std::vector<const For*> loops_;  // of the nest around the reduction, but for `loop_`
  size_t inner_loops_ = 0;
  Path sum_path_;
  const Reduce* sum_ = nullptr;
  ExprPtr operand_;
  const Read* read_ = nullptr;
  std::vector<ExprPtr> others_, shape_;
  ScalarType type_ = ScalarType::kF32;
  std::vector<Axis> axes_;
  std::vector<ExprPtr> index_;  // of the operand in the fill
};

}  // namespace

ProcPtr reduce_ahead(ProcPtr p, const Where& nest, const Where& loop, const std::string& name) {
  require_name(kReduceAhead, name);
  const Cursor outer = nest.loop(p), inner = loop.loop(p);
  const WindowReduction reduction(p, outer.path(), inner.path());
  return reduction.run(name, {place(nest, outer), place(loop, inner), name});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> reduce_ahead_operators() {
  using namespace params;
  return {
      {"reduce_ahead",
       {proc(), place("nest"), place("loop"), new_name("name")},
       "for y: for x: for r: for s: out[y, x] max= a[y + r, x + s]  ->  t[y, w] = max over r of "
       "a[y + r, w]; for y: for x: for s: out[y, x] max= t[y, x + s]",
       [](const OperatorArgs& a) -> Value {
         return reduce_ahead(a.proc(), a.where(1), a.where(2), a.string(3));
       }},
  };
}

}  // namespace exotune
