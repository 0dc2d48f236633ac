#include "core/library/halide.h"

#include <algorithm>

#include "core/library/blocking.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"

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

namespace exotune {

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> halide_operators() {
  using namespace params;
  return {
      in_cpp("halide::tile",
             {"H_tile",
              {proc(), string("stage"), string("y"), string("x"), new_name("yi"), new_name("xi"),
               integer("y_size"), integer("x_size"), string("tail", "perfect")},
              "for y: for x: s  ->  for y: for x: for yi: for xi: s",
              [](const OperatorArgs& a) -> Value {
                return halide::tile(a.proc(), a.string(1), a.string(2), a.string(3), a.string(4),
                                    a.string(5), a.integer(6), a.integer(7),
                                    loop_tail(a.string(8)));
              }}),
      in_cpp("halide::split", {"H_split",
                               {proc(), string("stage"), string("x"), new_name("xo"),
                                new_name("xi"), integer("factor"), string("tail", "perfect")},
                               "for x: s  ->  for xo: for xi: s",
                               [](const OperatorArgs& a) -> Value {
                                 return halide::split(a.proc(), a.string(1), a.string(2),
                                                      a.string(3), a.string(4), a.integer(5),
                                                      loop_tail(a.string(6)));
                               }}),
      in_cpp("halide::fuse",
             {"H_fuse",
              {proc(), string("stage"), string("y"), string("x"), new_name("fused")},
              "for y: for x: s  ->  for fused: s",
              [](const OperatorArgs& a) -> Value {
                return halide::fuse(a.proc(), a.string(1), a.string(2), a.string(3), a.string(4));
              }}),
      in_cpp(
          "halide::reorder",
          {"H_reorder",
           {proc(), string("stage"), strings("loops")},
           "for y: for x: for c: s  ->  for y: for c: for x: s   with 'x c y': the innermost first",
           [](const OperatorArgs& a) -> Value {
             return halide::reorder(a.proc(), a.string(1), a.strings(2));
           }}),
      in_cpp("halide::vectorize",
             {"H_vectorize",
              {proc(), string("stage"), string("x"), integer("vw"), memory("mem_type"),
               procs("instructions"), string("tail", "cut_and_predicate")},
              "vectorize for every loop over x of the stage",
              [](const OperatorArgs& a) -> Value {
                return halide::vectorize(a.proc(), a.string(1), a.string(2),
                                         vector_unit(a, 3, 4, 5), vector_tail(a.string(6)));
              }}),
      in_cpp("halide::unroll",
             {"H_unroll",
              {proc(), string("stage"), string("x"), integer("factor", 0)},
              "for x: s  ->  s[x -> 0]; s[x -> 1]; ...   (factor: that many at a time)",
              [](const OperatorArgs& a) -> Value {
                return halide::unroll(a.proc(), a.string(1), a.string(2), a.integer(3));
              }}),
      in_cpp("halide::parallel", {"H_parallel",
                                  {proc(), string("loop")},
                                  "parallelize_loop for every loop of that name",
                                  [](const OperatorArgs& a) -> Value {
                                    return halide::parallel(a.proc(), a.string(1));
                                  }}),
      in_cpp("compute_at", {"H_compute_at",
                            {proc(), string("producer"), string("consumer"), string("loop")},
                            "compute_at with storage outside, as Halide does it: each iteration "
                            "computes what is new",
                            [](const OperatorArgs& a) -> Value {
                              return compute_at(a.proc(), a.string(1), a.string(2), a.string(3),
                                                Overlap::kSlide);
                            }}),
      in_cpp("store_at", {"H_store_at",
                          {proc(), string("producer"), string("consumer"), string("loop")},
                          "store_at",
                          [](const OperatorArgs& a) -> Value {
                            return store_at(a.proc(), a.string(1), a.string(2), a.string(3));
                          }}),
      in_cpp("compute_and_store_at",
             {"H_compute_store_at",
              {proc(), string("producer"), string("consumer"), string("loop")},
              "compute_and_store_at",
              [](const OperatorArgs& a) -> Value {
                return compute_and_store_at(a.proc(), a.string(1), a.string(2), a.string(3));
              }}),
      in_cpp("halide::compute_inline",
             {"H_compute_inline",
              {proc(), string("producer"), string("consumer"), string("loop")},
              "A[y] = e; s(A[y])  ->  s(e)   in the consumer's innermost loop",
              [](const OperatorArgs& a) -> Value {
                return halide::compute_inline(a.proc(), a.string(1), a.string(2), a.string(3));
              }}),
      in_cpp("compute_root",
             {"H_compute_root",
              {proc(), string("producer")},
              "compute_root",
              [](const OperatorArgs& a) -> Value { return compute_root(a.proc(), a.string(1)); }}),
      in_cpp("halide::store_root", {"H_store_root",
                                    {proc(), string("producer")},
                                    "lift_alloc out of all loops",
                                    [](const OperatorArgs& a) -> Value {
                                      return halide::store_root(a.proc(), a.string(1));
                                    }}),
      in_cpp("set_memory", {"H_store_in",
                            {proc(), string("producer"), memory("memory")},
                            "set_memory",
                            [](const OperatorArgs& a) -> Value {
                              return set_memory(a.proc(), a.string(1), a.memory(2));
                            }}),
      in_cpp("resize_dim", {"H_fold_storage",
                            {proc(), string("producer"), integer("dim"), integer("size")},
                            "A : T[n]; A[y]  ->  A : T[size]; A[y % size]",
                            [](const OperatorArgs& a) -> Value {
                              return resize_dim(a.proc(), a.string(1), a.small(2),
                                                int_const(a.integer(3)), int_const(0), true);
                            }}),
  };
}

}  // namespace exotune
