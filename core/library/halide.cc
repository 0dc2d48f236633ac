#include "core/library/halide.h"

#include <algorithm>

#include "core/library/blocking.h"
#include "core/library/inspection.h"

namespace exotune::halide {
// Halide's scheduling words over the loops of a stage, by name. Each is a composition of this
// library's operators; a stage's loops are those around the writes of its buffer.
namespace {

/// Rewrites each loop over `x` of the stage, the last first: what comes before it keeps its place.
template <class F>
ProcPtr each(ProcPtr p, const std::string& stage, const std::string& x, const F& rewrite) {
  std::vector<Cursor> loops = stage_loops(p, stage, x);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) p = rewrite(p, Cursor::stmt(p, c->path()));
  return p;
}

bool over(const Cursor& c, const std::string& name) {
  return c.is<For>() && c.as<For>().iter.name() == name;
}

}  // namespace

ProcPtr tile(ProcPtr p, const std::string& stage, const std::string& y, const std::string& x,
             const std::string& yi, const std::string& xi, int64_t ys, int64_t xs, Tail tail) {
  p = split(std::move(p), stage, y, y, yi, ys, tail);
  p = split(std::move(p), stage, x, x, xi, xs, tail);
  // The outer x moves out of the inner y; boundaries stay as they are.
  return each(std::move(p), stage, yi, [&](const ProcPtr& q, const Cursor& inner) {
    const Cursor below = inner.body()[0];
    const bool nested = inner.body().length() == 1 && over(below, x) &&
                        below.body().length() == 1 && over(below.body()[0], xi);
    return nested ? reorder_loops(q, inner) : q;
  });
}

ProcPtr split(ProcPtr p, const std::string& stage, const std::string& x, const std::string& xo,
              const std::string& xi, int64_t factor, Tail tail) {
  return each(std::move(p), stage, x, [&](const ProcPtr& q, const Cursor& loop) {
    return divide_loop(q, loop, factor, {xo, xi}, tail);
  });
}

ProcPtr fuse(ProcPtr p, const std::string& stage, const std::string& y, const std::string& x,
             const std::string& fused) {
  return each(std::move(p), stage, y, [&](const ProcPtr& q, const Cursor& loop) {
    if (!over(loop.body()[0], x))
      throw SchedulingError("H_fuse: no loop over `" + x + "` stands right inside that over `" + y +
                            "`");
    return mult_loops(q, loop, fused);
  });
}

ProcPtr reorder(ProcPtr p, const std::string& stage, const std::vector<std::string>& loops) {
  if (loops.empty()) throw SchedulingError("H_reorder: no loops are given");
  auto rank = [&](const Cursor& c) {  // outermost first
    auto it = std::find(loops.rbegin(), loops.rend(), c.as<For>().iter.name());
    if (it == loops.rend())
      throw SchedulingError("H_reorder: `" + c.as<For>().iter.name() + "` stands between the loops",
                            {}, "name all loops from the outermost to the innermost");
    return it - loops.rbegin();
  };
  // The outermost of the named loops of each nest, then a bubble sort of the loops inside it.
  std::vector<Path> nests;
  for (const std::string& name : loops)
    for (const Cursor& c : stage_loops(p, stage, name)) {
      bool inside = false;
      for (const Cursor& around : enclosing_loops(c))
        inside |= std::count(loops.begin(), loops.end(), around.as<For>().iter.name()) > 0;
      if (!inside) nests.push_back(c.path());
    }
  for (const Path& nest : nests) {
    for (size_t end = loops.size(); end-- > 1;) {
      Path path = nest;
      for (size_t k = 0; k < end; ++k) {
        const Cursor outer = Cursor::stmt(p, path);
        if (outer.body().length() != 1 || !outer.body()[0].is<For>())
          throw SchedulingError("H_reorder: the loops of `" + stage + "` are not perfectly nested");
        if (rank(outer) > rank(outer.body()[0])) p = reorder_loops(p, outer);
        path.push_back({Child::kBody, 0});
      }
    }
  }
  return p;
}

ProcPtr vectorize(ProcPtr p, const std::string& stage, const std::string& x, const VectorUnit& unit,
                  VectorTail tail) {
  return each(std::move(p), stage, x, [&](const ProcPtr& q, const Cursor& loop) {
    return exotune::vectorize(q, loop, unit, tail);
  });
}

ProcPtr unroll(ProcPtr p, const std::string& stage, const std::string& x, int64_t factor) {
  return each(std::move(p), stage, x, [&](const ProcPtr& q, const Cursor& loop) {
    return factor > 0 ? interleave_loop(q, loop, factor) : unroll_loop(q, loop);
  });
}

ProcPtr parallel(ProcPtr p, const std::string& loop) {
  for (const Cursor& c : require_loops(p, loop)) {
    const Cursor here = Cursor::stmt(p, c.path());
    if (here.as<For>().mode == LoopMode::kSeq) p = parallelize_loop(p, here);
  }
  return p;
}

ProcPtr store_root(ProcPtr p, const std::string& stage) {
  Cursor alloc = Where(stage).alloc(p);
  const int levels = static_cast<int>(alloc.path().size()) - 1;
  if (levels == 0) throw SchedulingError("H_store_root: `" + stage + "` is stored there already");
  return lift_alloc(p, alloc, levels);
}

ProcPtr compute_inline(ProcPtr p, const std::string& stage, const std::string& consumer,
                       const std::string& loop) {
  p = compute_and_store_at(std::move(p), stage, consumer, loop);
  const std::vector<Cursor> writers = writes_of(p, stage);
  Cursor alloc = Where(stage).alloc(p);
  p = inline_assign(p, writers.front());
  return delete_buffer(p, forward(p, alloc));
}

}  // namespace exotune::halide
