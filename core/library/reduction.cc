#include "core/library/reduction.h"

#include "core/ir/printer.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {
Path child(Path path, int k = 0) {
  path.push_back({Child::kBody, k});
  return path;
}
Cursor at(const ProcPtr& p, const Path& path) { return Cursor::stmt(p, path); }
}  // namespace

ProcPtr parallelize_reduction(ProcPtr p, const Where& outer, const std::string& name,
                              MemoryPtr memory) {
  Cursor o = outer.loop(p);
  const Path top = o.path();

  // The lane loops under `outer`, and the reduction under them (perhaps guarded).
  std::vector<Sym> lanes;
  std::vector<int64_t> extents;
  StmtPtr s = o.stmt();
  bool guarded = false;
  for (;;) {
    const Block& body = body_of(*s);
    if (body.size() != 1 || !orelse_of(*s).empty())
      throw SchedulingError("parallelize_reduction: the loops are not perfectly nested");
    s = body[0];
    if (const For* f = s->as<For>()) {
      auto extent = literal_extent(*f);
      if (!extent || as_int(f->lo) != 0 || guarded)
        throw SchedulingError("parallelize_reduction: the loop over `" + f->iter.name() +
                              "` has no literal extent");
      lanes.push_back(f->iter);
      extents.push_back(*extent);
    } else if (s->as<If>() && !guarded) {
      guarded = true;
    } else {
      break;
    }
  }
  const Reduce* reduce = s->as<Reduce>();
  if (!reduce || lanes.empty())
    throw SchedulingError(
        "parallelize_reduction: there is no reduction inside lane loops of literal extent");
  const ExprPtr element = read_elem(reduce->name, reduce->idx, reduce->rhs->type);

  // Lane loops out, the sequential loop in.
  const int n = static_cast<int>(lanes.size());
  Path seq = top;
  for (int k = 0; k < n; ++k) {
    p = reorder_loops(p, at(p, seq));
    seq = child(seq);
  }
  // acc : _; acc = 0; for o: acc += e; r += acc   inside the lane loops
  p = stage_mem(p, at(p, seq), str(element, scope_at(*p, seq)), name, /*accum=*/true);
  Path alloc = seq;
  Path outermost = top;
  // Innermost lane is the last dimension: each expand_dim puts a new dimension in front.
  for (int k = n - 1; k >= 0; --k) {
    p = expand_dim(p, at(p, alloc), int_const(extents[k]), read_var(lanes[k], ScalarType::kIndex));
    p = lift_alloc(p, at(p, alloc), 1);
    alloc = parent_stmt(alloc);
  }
  p = set_memory(p, at(p, alloc), memory);
  outermost = sibling(top, 1);
  // Inside the lane loops now: zero; loop; add.
  Path inner = outermost;
  for (int k = 1; k < n; ++k) inner = child(inner);
  p = fission(p, Cursor::gap(p, child(inner, 2)), n);
  p = fission(p, Cursor::gap(p, child(inner, 1)), n);
  // The middle nest gets its old order back.
  Path middle = sibling(outermost, 1);
  Path lane = middle;
  for (int k = 1; k < n; ++k) lane = child(lane);
  for (int k = 0; k < n; ++k) {
    p = reorder_loops(p, at(p, lane));
    if (k + 1 < n) lane = parent_stmt(lane);
  }
  return p;
}

ProcPtr interleave_reduction(ProcPtr p, const Where& loop, int64_t factor,
                             const std::string& name) {
  const Cursor c = loop.loop(p);
  const Path top = c.path();
  const std::string iter = c.as<For>().iter.name();
  p = divide_loop(p, c, factor, {iter + "o", iter + "i"}, Tail::kCut);
  const StmtPtr rest = stmt_at(*p, sibling(top, 1));
  const For* left_over = rest ? rest->as<For>() : nullptr;
  if (left_over && left_over->iter.name() == iter + "i" && left_over->body.size() == 1)
    if (const Reduce* r = left_over->body[0]->as<Reduce>()) {
      const ExprPtr element = read_elem(r->name, r->idx, r->rhs->type);
      p = stage_mem(p, at(p, sibling(top, 1)), str(element, scope_at(*p, sibling(top, 1))),
                    name + "_rest",
                    /*accum=*/true);
    }
  p = parallelize_reduction(p, at(p, top), name, dram_stack());
  // acc : _[factor]; for i: acc[i] = 0; for o: for i: acc[i] += e; for i: r += acc[i]
  p = unroll_loop(p, at(p, sibling(top, 3)));
  p = unroll_loop(p, at(p, child(sibling(top, 2))));
  p = unroll_loop(p, at(p, sibling(top, 1)));
  return unroll_buffer(p, at(p, top), 0);
}

}  // namespace exotune
