#include "core/library/stages.h"

#include <algorithm>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {
// Halide's compute_at and store_at over loops that are already there: the producer's loops are cut
// so that one step of them makes what one iteration of the consumer needs next, and fused with the
// consumer's. Made of primitives: fusing proves that nothing is read before it is computed.
namespace {

[[noreturn]] void refuse(const std::string& op, const std::string& message, std::string hint = "") {
  throw SchedulingError(op + ": " + message, {}, std::move(hint));
}

ExprPtr at_start(const ExprPtr& e, Sym iter) {
  return normalize(substitute(e, iter, int_const(0)));
}

bool same(const ProcPtr& p, const Path& where, const ExprPtr& a, const ExprPtr& b) {
  return affine_equal(a, b) || static_cast<bool>(prove_equal(*p, where, a, b));
}

/// How far the window moves with each iteration, and in which dimension.
struct Motion {
  size_t dim = 0;
  int64_t step = 0;  // 0: it does not move
};

std::optional<Motion> motion_of(const Rectangle& window, Sym iter) {
  Motion out;
  for (size_t d = 0; d < window.lo.size(); ++d) {
    if (!mentions(window.lo[d], iter) && !mentions(window.hi[d], iter)) continue;
    auto lo = affine(window.lo[d]), width = affine(window.hi[d] - window.lo[d]);
    if (!lo || !width || out.step || mentions(to_expr(*width), iter)) return std::nullopt;
    out = {d, lo->coeff_of(iter)};
    const ExprPtr rest =
        to_expr(*lo + affine(read_var(iter, ScalarType::kIndex))->scaled(-out.step));
    if (out.step <= 0 || mentions(rest, iter)) return std::nullopt;
  }
  return out;
}

/// One producer moved into the loops of one consumer.
// For a window that slides (a stencil) every iteration needs a few elements that the last one
// already has: the producer computes each once, since the loops are cut by the motion, not by the
// window; the first iteration computes a whole window.
class Fusion {
 public:
  Fusion(ProcPtr p, const std::string& producer, const std::string& consumer,
         const std::string& loop, Overlap overlap)
      : p_(std::move(p)), producer_(producer), consumer_(consumer), overlap_(overlap) {
    target_ = stage_loops(p_, consumer, loop).front();
  }

  ProcPtr run() {
    if (find_write(target_.path())) return p_;
    std::vector<Cursor> loops = enclosing_loops(target_);
    loops.push_back(target_);
    size_t level = loops.size();
    std::optional<Path> stage;
    while (level > 0 && !stage) stage = stage_before(loops[--level].path());
    if (!stage) {
      refuse("compute_at", "no loop that computes `" + producer_ + "` stands before those of `" +
                               consumer_ + "`");
    }
    for (; level < loops.size(); ++level) {
      const Cursor loop = forward(p_, loops[level]);
      stage = stage_before(loop.path());
      if (!stage) {
        refuse("compute_at", "`" + producer_ + "` is not computed right beside the loop over `" +
                                 loop.as<For>().iter.name() + "`");
      }
      fuse_with(*stage, loop);
    }
    return p_;
  }

 private:
  /// The first write of the producer in the statement at `scope`.
  std::optional<Path> find_write(const Path& scope) const {
    for (const Cursor& w : writes_of(p_, producer_))
      if (is_prefix(scope, w.path())) return w.path();
    return std::nullopt;
  }

  /// The nearest statement in front of `loop`, in its block, that computes the producer.
  std::optional<Path> stage_before(const Path& loop) const {
    for (int back = 1; back <= loop.back().index; ++back)
      if (Path s = sibling(loop, -back); at(p_, s).is<For>() && find_write(s)) return s;
    return std::nullopt;
  }

  void fuse_with(Path stage, Cursor loop) {
    while (stage.back().index + 1 < loop.path().back().index) {
      p_ = reorder_stmts(p_, Cursor::block(p_, stage, 2));
      ++stage.back().index;
    }
    loop = starting_at_zero(forward(p_, loop));
    const Sym iter = loop.as<For>().iter;
    const Path write = *find_write(stage);
    const Sym buffer = written_by(write);
    std::optional<Rectangle> window = touched(p_, loop.body(), buffer, Touch::kReads);
    if (!window)
      refuse("compute_at", "what `" + consumer_ + "` reads of `" + producer_ +
                               "` in one iteration of `" + iter.name() +
                               "` is no rectangle that can be inferred");
    std::optional<Motion> motion = motion_of(*window, iter);
    if (!motion)
      refuse("compute_at", "the window of `" + producer_ + "` that an iteration of `" +
                               iter.name() + "` reads does not move evenly along one dimension");
    if (motion->step == 0) {
      p_ = add_loop(p_, at(p_, stage), iter.name(), loop.as<For>().hi, false);
    } else {
      bring_outermost(stage, write, motion->dim);
      loop = forward(p_, loop);
      stage = cut_to_steps(stage, loop, *window, *motion);
    }
    p_ = fuse(p_, at(p_, stage), at(p_, sibling(stage, 1)));
    p_ = simplify(p_, at(p_, stage));
  }

  /// The loop right inside `stage` goes back in to where the loop stood that both come from.
  void bring_back(Path stage) {
    for (size_t k = 0; k < depth_; ++k) {
      stage.push_back({Child::kBody, 0});
      p_ = reorder_loops(p_, at(p_, stage));
    }
  }

  Cursor starting_at_zero(const Cursor& loop) {
    if (as_int(loop.as<For>().lo) == 0) return loop;
    p_ = shift_loop(p_, loop, int_const(0));
    return forward(p_, loop);
  }

  Sym written_by(const Path& write) const {
    const StmtPtr s = stmt_at(*p_, write);
    if (const Assign* a = s->as<Assign>()) return a->name;
    if (const Reduce* r = s->as<Reduce>()) return r->name;
    refuse("compute_at", "`" + producer_ + "` is written by a call",
           "fuse stages before their loops become instructions");
  }

  // A loop of the producer must run along the dimension in which the window moves: brought
  // outermost by exchanges, each of which is proved.
  /// Makes the loop that runs along dimension `dim` of the producer the outermost of its stage, and
  /// remembers how far the index is from its iterator.
  void bring_outermost(const Path& stage, const Path& write, size_t dim) {
    const StmtPtr s = stmt_at(*p_, write);
    const ExprPtr& index = s->as<Assign>() ? s->as<Assign>()->idx[dim] : s->as<Reduce>()->idx[dim];
    std::optional<size_t> depth;  // of the loop, in statements below the stage's outermost one
    for (size_t n = stage.size(); n < write.size(); ++n) {
      const Cursor around = at(p_, Path(write.begin(), write.begin() + static_cast<long>(n)));
      if (!around.is<For>() || !mentions(index, around.as<For>().iter)) continue;
      auto form = affine(index);
      if (depth || !form || form->coeff_of(around.as<For>().iter) != 1)
        refuse("compute_at", "dimension " + std::to_string(dim) + " of `" + producer_ +
                                 "` is not computed along one loop");
      depth = n - stage.size();
      offset_ = normalize(index - read_var(around.as<For>().iter, ScalarType::kIndex));
    }
    if (!depth)
      refuse("compute_at",
             "no loop runs along dimension " + std::to_string(dim) + " of `" + producer_ + "`");
    depth_ = *depth;
    for (size_t k = depth_; k-- > 0;)
      p_ = reorder_loops(
          p_, at(p_, Path(write.begin(), write.begin() + static_cast<long>(stage.size() + k))));
  }

  /// Cuts the producer's loop into as many steps as the consumer's loop has; returns where it is.
  // The first step is as long as the window, the others as long as its motion.
  Path cut_to_steps(Path stage, Cursor loop, const Rectangle& window, const Motion& m) {
    const Sym iter = loop.as<For>().iter;
    const ExprPtr steps = loop.as<For>().hi;
    const ExprPtr first = normalize(at_start(window.lo[m.dim], iter) - offset_);
    const ExprPtr width = normalize(window.hi[m.dim] - window.lo[m.dim]);
    const ExprPtr overlap = normalize(width - int_const(m.step));
    const ExprPtr end = normalize(first + int_const(m.step) * steps + overlap);
    if (!same(p_, stage, loop_at(stage).lo, first)) {
      p_ = cut_loop(p_, at(p_, stage), first);
      stage = sibling(stage, 1);
    }
    if (!same(p_, stage, loop_at(stage).hi, end)) {
      p_ = cut_loop(p_, at(p_, stage), end);
      p_ = reorder_stmts(p_, Cursor::block(p_, stage, 2));
      stage = sibling(stage, 1);
    }
    const std::vector<std::string> names = {iter.name(),
                                            loop_of_a_step(loop_at(stage).iter.name())};
    if (!same(p_, stage, overlap, int_const(0))) {
      if (overlap_ == Overlap::kRecompute) {
        p_ = divide_with_recompute(p_, at(p_, stage), steps, m.step, names);
        const Cursor inner = at(p_, stage).body()[0];
        if (as_int(width) && !as_int(inner.as<For>().hi)) p_ = rewrite_expr(p_, inner.hi(), width);
        bring_back(stage);
        return stage;
      }
      p_ = cut_loop(p_, at(p_, stage), normalize(first + overlap));
      stage = sibling(stage, 1);
    }
    if (m.step > 1) {
      p_ = divide_loop(p_, at(p_, stage), m.step, names, Tail::kPerfect);
      bring_back(stage);
    } else if (as_int(loop_at(stage).lo) != 0) {
      p_ = shift_loop(p_, at(p_, stage), int_const(0));
    }
    return stage;
  }

  const For& loop_at(const Path& path) const { return *stmt_at(*p_, path)->as<For>(); }

  ProcPtr p_;
  const std::string &producer_, &consumer_;
  Overlap overlap_;
  Cursor target_;
  ExprPtr offset_;    // the producer's index minus the iterator of the loop along it
  size_t depth_ = 0;  // how many loops of the stage were around that loop
};

}  // namespace

std::string loop_of_a_step(const std::string& loop) { return loop + "i"; }

// As many loops around the consumer's as there are; the innermost that finds its producer in front
// of it is used.
ProcPtr compute_at(ProcPtr p, const std::string& producer, const std::string& consumer,
                   const std::string& loop, Overlap overlap) {
  return Fusion(std::move(p), producer, consumer, loop, overlap).run();
}

// The allocation goes inside, shrunk to what an iteration touches: proved by the primitive that
// resizes it.
ProcPtr store_at(ProcPtr p, const std::string& producer, const std::string& consumer,
                 const std::string& loop) {
  Cursor alloc = Where(producer).alloc(p);
  Cursor target = stage_loops(p, consumer, loop).front();
  while (parent_stmt(alloc.path()) != target.path()) {
    if (!is_prefix(parent_stmt(alloc.path()), target.path()))
      refuse("store_at", "`" + producer + "` is not allocated around the loop over `" + loop + "`");
    p = sink_alloc(p, alloc);
    alloc = forward(p, alloc);
    target = forward(p, target);
  }
  const Sym buffer = alloc.as<Alloc>().name;
  const int rest = target.body().length() - alloc.path().back().index - 1;
  std::optional<Rectangle> window =
      touched(p, Cursor::block(p, sibling(alloc.path(), 1), rest), buffer);
  if (!window)
    refuse("store_at", "what an iteration of `" + loop + "` touches of `" + producer +
                           "` is no rectangle that can be inferred");
  for (size_t d = 0; d < window->lo.size(); ++d) {
    const ExprPtr size = normalize(window->hi[d] - window->lo[d]);
    const bool whole =
        as_int(window->lo[d]) == 0 && same(p, alloc.path(), size, alloc.as<Alloc>().type.shape[d]);
    if (whole) continue;
    p = resize_dim(p, alloc, static_cast<int>(d), size, window->lo[d], false);
    alloc = forward(p, alloc);
  }
  const std::vector<ExprPtr> shape = alloc.as<Alloc>().type.shape;
  const bool one =
      std::all_of(shape.begin(), shape.end(), [](const ExprPtr& e) { return as_int(e) == 1; });
  for (size_t d = 0; one && d < shape.size(); ++d) {
    p = unroll_buffer(p, alloc, 0);
    alloc = forward(p, alloc);
  }
  return p;
}

ProcPtr compute_and_store_at(ProcPtr p, const std::string& producer, const std::string& consumer,
                             const std::string& loop) {
  p = compute_at(std::move(p), producer, consumer, loop, Overlap::kRecompute);
  return store_at(std::move(p), producer, consumer, loop);
}

ProcPtr compute_root(ProcPtr p, const std::string& producer) {
  const ProcPtr before = p;
  const std::vector<Cursor> writers = writes_of(p, producer);
  if (writers.empty()) refuse("compute_root", "nothing writes `" + producer + "`");
  Cursor alloc = Where(producer).alloc(p);
  // The stage is the outermost statement around the last write that does nothing else.
  Path stage = writers.back().path();
  while (stage.size() > 1 && block_at(*p, stage).size() == 1) stage = parent_stmt(stage);
  while (stage.size() > 1) {
    const Path around = parent_stmt(stage);
    if (parent_stmt(alloc.path()) == around) {
      if (const For* f = stmt_at(*p, around)->as<For>()) {
        const ExprPtr index = normalize(read_var(f->iter, ScalarType::kIndex) - f->lo);
        p = expand_dim(p, alloc, normalize(f->hi - f->lo), index);
      }
      p = lift_alloc(p, forward(p, alloc), 1);
      const int gone = alloc.path().back().index < stage[around.size()].index ? 1 : 0;
      stage[around.size() - 1].index += 1;
      stage[around.size()].index -= gone;
      alloc = forward(p, alloc);
    }
    const int siblings = static_cast<int>(block_at(*p, stage).size());
    if (stage.back().index + 1 < siblings) p = fission(p, at(p, stage).after(), 1);
    const bool first = stage.back().index == 0;
    if (!first) p = fission(p, at(p, stage).before(), 1);
    stage = first ? parent_stmt(stage) : sibling(parent_stmt(stage), 1);
  }
  if (p == before) refuse("compute_root", "`" + producer + "` is computed on its own already");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> stages_operators() {
  using namespace params;
  return {
      {"compute_at",
       {proc(), string("producer"), string("consumer"), string("loop"), boolean("slide", false)},
       "for y: A[y] = e; for y: s(A[y:y+3])  ->  for y: { for yi: A[y+yi] = e; s(A[y:y+3]) }   "
       "(slide: one new A[y+2] per iteration)",
       [](const OperatorArgs& a) -> Value {
         return compute_at(a.proc(), a.string(1), a.string(2), a.string(3),
                           a.boolean(4) ? Overlap::kSlide : Overlap::kRecompute);
       }},
      {"store_at",
       {proc(), string("producer"), string("consumer"), string("loop")},
       "A : T[n]; for y: s(A[y:y+3])  ->  for y: A : T[3]; s(A[0:3])",
       [](const OperatorArgs& a) -> Value {
         return store_at(a.proc(), a.string(1), a.string(2), a.string(3));
       }},
      {"compute_and_store_at",
       {proc(), string("producer"), string("consumer"), string("loop")},
       "compute_at, then store_at",
       [](const OperatorArgs& a) -> Value {
         return compute_and_store_at(a.proc(), a.string(1), a.string(2), a.string(3));
       }},
      {"compute_root",
       {proc(), string("producer")},
       "for y: { A : T; A = e; s(A) }  ->  A : T[n]; for y: A[y] = e; for y: s(A[y])",
       [](const OperatorArgs& a) -> Value { return compute_root(a.proc(), a.string(1)); }},
  };
}

}  // namespace exotune
