// The rows of stage fusion and of Halide's directives (H_...). Exo 2 section 6.3.2.
#include "core/library/blocking.h"
#include "core/library/cursor_methods.h"
#include "core/library/halide.h"
#include "core/library/inspection.h"
#include "core/library/operator_values.h"
#include "core/library/operators.h"
#include "core/library/replacement.h"
#include "core/library/statements.h"

namespace exotune {
namespace {

using A = OperatorArgs;

Touch touch_of(const std::string& t) {
  if (t == "RW") return Touch::kAny;
  if (t == "R") return Touch::kReads;
  if (t == "W") return Touch::kWrites;
  throw InputError({}, "there is no access '" + t + "'", "accesses are 'R', 'W' and 'RW'");
}

Value inferred(const A& a) {
  const Cursor block = a.where(1).block(a.proc());
  const std::optional<ScopeEntry> entry = visible(a.proc(), block.path(), a.string(2));
  if (!entry) throw InvalidCursorError("no buffer `" + a.string(2) + "` is visible there");
  const std::optional<Rectangle> r = touched(a.proc(), block, entry->name, touch_of(a.string(3)));
  if (!r)
    throw SchedulingError("bounds_inference: what the block touches of `" + a.string(2) +
                          "` is no rectangle that can be inferred");
  return ValueList{a.proc(), r->text(a.string(2), scope_at(*a.proc(), block.path()))};
}

}  // namespace

std::vector<Operator> stage_operators() {
  using namespace params;
  return {
      in_cpp("touched",
             {"bounds_inference",
              {proc(), place("block"), string("buf"), string("include", "RW")},
              "returns p and what the block touches of buf, as text: 'A[32 * y:32 * y + 34, 0:W]'",
              inferred}),
      {"compute_at",
       {proc(), string("producer"), string("consumer"), string("loop"), boolean("slide", false)},
       "for y: A[y] = e; for y: s(A[y:y+3])  ->  for y: { for yi: A[y+yi] = e; s(A[y:y+3]) }   "
       "(slide: one new A[y+2] per iteration)",
       [](const A& a) -> Value {
         return compute_at(a.proc(), a.string(1), a.string(2), a.string(3),
                           a.boolean(4) ? Overlap::kSlide : Overlap::kRecompute);
       }},
      {"store_at",
       {proc(), string("producer"), string("consumer"), string("loop")},
       "A : T[n]; for y: s(A[y:y+3])  ->  for y: A : T[3]; s(A[0:3])",
       [](const A& a) -> Value {
         return store_at(a.proc(), a.string(1), a.string(2), a.string(3));
       }},
      {"compute_and_store_at",
       {proc(), string("producer"), string("consumer"), string("loop")},
       "compute_at, then store_at",
       [](const A& a) -> Value {
         return compute_and_store_at(a.proc(), a.string(1), a.string(2), a.string(3));
       }},
      {"compute_root",
       {proc(), string("producer")},
       "for y: { A : T; A = e; s(A) }  ->  A : T[n]; for y: A[y] = e; for y: s(A[y])",
       [](const A& a) -> Value { return compute_root(a.proc(), a.string(1)); }},
      // --- statements and expressions ---
      {"cse",
       {proc(), place("block"), new_name("name", "shared")},
       "s(e); t(e)  ->  x = e; s(x); t(x)   for all that the block computes twice",
       [](const A& a) -> Value { return cse(a.proc(), a.where(1), a.string(2)); }},
      {"jam_stmt",
       {proc(), place("stmt")},
       "s; for i: t  ->  for i: s; t   (if i == 0: s, where s may not run again)",
       [](const A& a) -> Value { return jam_stmt(a.proc(), a.where(1)); }},
      {"bind_and_lift",
       {proc(), place("expr"), new_name("new_name"), integer("max_size")},
       "for i: s(e)  ->  x : T[c]; for i: x[i] = e; s(x[i])   returns p and cursors load, alloc",
       [](const A& a) -> Value {
         BoundAndLifted b = bind_and_lift(a.proc(), a.where(1), a.string(2), a.integer(3));
         return ValueList{b.proc, b.load, b.alloc};
       }},
      {"tile_loops_bottom_up",
       {proc(), place("outermost_loop"), integers("tiles"), string("tail", "cut")},
       "for i: for j: s  ->  for io: for jo: for ii: for ji: s   with [4, 16]; "
       "each combination of whole and left-over tiles is a nest",
       [](const A& a) -> Value {
         return tile_loops_bottom_up(a.proc(), a.where(1), a.integers(2), loop_tail(a.string(3)));
       }},
      in_cpp("replace_all",
             {"replace_all_stmts",
              {proc(), procs("instrs")},
              "replace_all",
              [](const A& a) -> Value { return replace_all(a.proc(), a.procs(1)); }}),
      in_cpp("replace_all",
             {"call_site_mem_aware_replace",
              {proc(), place("block"), proc("instr")},
              "replace: it refuses arguments whose memories do not fit",
              [](const A& a) -> Value { return replace(a.proc(), a.where(1), a.proc(2)); }}),
      // --- by Halide's names ---
      in_cpp("halide::tile",
             {"H_tile",
              {proc(), string("stage"), string("y"), string("x"), new_name("yi"), new_name("xi"),
               integer("y_size"), integer("x_size"), string("tail", "perfect")},
              "for y: for x: s  ->  for y: for x: for yi: for xi: s",
              [](const A& a) -> Value {
                return halide::tile(a.proc(), a.string(1), a.string(2), a.string(3), a.string(4),
                                    a.string(5), a.integer(6), a.integer(7),
                                    loop_tail(a.string(8)));
              }}),
      in_cpp("halide::split", {"H_split",
                               {proc(), string("stage"), string("x"), new_name("xo"),
                                new_name("xi"), integer("factor"), string("tail", "perfect")},
                               "for x: s  ->  for xo: for xi: s",
                               [](const A& a) -> Value {
                                 return halide::split(a.proc(), a.string(1), a.string(2),
                                                      a.string(3), a.string(4), a.integer(5),
                                                      loop_tail(a.string(6)));
                               }}),
      in_cpp("halide::fuse",
             {"H_fuse",
              {proc(), string("stage"), string("y"), string("x"), new_name("fused")},
              "for y: for x: s  ->  for fused: s",
              [](const A& a) -> Value {
                return halide::fuse(a.proc(), a.string(1), a.string(2), a.string(3), a.string(4));
              }}),
      in_cpp(
          "halide::reorder",
          {"H_reorder",
           {proc(), string("stage"), strings("loops")},
           "for y: for x: for c: s  ->  for y: for c: for x: s   with 'x c y': the innermost first",
           [](const A& a) -> Value {
             return halide::reorder(a.proc(), a.string(1), a.strings(2));
           }}),
      in_cpp("halide::vectorize",
             {"H_vectorize",
              {proc(), string("stage"), string("x"), integer("vw"), memory("mem_type"),
               procs("instructions"), string("tail", "cut_and_predicate")},
              "vectorize for every loop over x of the stage",
              [](const A& a) -> Value {
                return halide::vectorize(a.proc(), a.string(1), a.string(2),
                                         vector_unit(a, 3, 4, 5), vector_tail(a.string(6)));
              }}),
      in_cpp("halide::unroll",
             {"H_unroll",
              {proc(), string("stage"), string("x"), integer("factor", 0)},
              "for x: s  ->  s[x -> 0]; s[x -> 1]; ...   (factor: that many at a time)",
              [](const A& a) -> Value {
                return halide::unroll(a.proc(), a.string(1), a.string(2), a.integer(3));
              }}),
      in_cpp("halide::parallel",
             {"H_parallel",
              {proc(), string("loop")},
              "parallelize_loop for every loop of that name",
              [](const A& a) -> Value { return halide::parallel(a.proc(), a.string(1)); }}),
      in_cpp("compute_at", {"H_compute_at",
                            {proc(), string("producer"), string("consumer"), string("loop")},
                            "compute_at with storage outside, as Halide does it: each iteration "
                            "computes what is new",
                            [](const A& a) -> Value {
                              return compute_at(a.proc(), a.string(1), a.string(2), a.string(3),
                                                Overlap::kSlide);
                            }}),
      in_cpp("store_at", {"H_store_at",
                          {proc(), string("producer"), string("consumer"), string("loop")},
                          "store_at",
                          [](const A& a) -> Value {
                            return store_at(a.proc(), a.string(1), a.string(2), a.string(3));
                          }}),
      in_cpp("compute_and_store_at",
             {"H_compute_store_at",
              {proc(), string("producer"), string("consumer"), string("loop")},
              "compute_and_store_at",
              [](const A& a) -> Value {
                return compute_and_store_at(a.proc(), a.string(1), a.string(2), a.string(3));
              }}),
      in_cpp("halide::compute_inline",
             {"H_compute_inline",
              {proc(), string("producer"), string("consumer"), string("loop")},
              "A[y] = e; s(A[y])  ->  s(e)   in the consumer's innermost loop",
              [](const A& a) -> Value {
                return halide::compute_inline(a.proc(), a.string(1), a.string(2), a.string(3));
              }}),
      in_cpp("compute_root",
             {"H_compute_root",
              {proc(), string("producer")},
              "compute_root",
              [](const A& a) -> Value { return compute_root(a.proc(), a.string(1)); }}),
      in_cpp("halide::store_root",
             {"H_store_root",
              {proc(), string("producer")},
              "lift_alloc out of all loops",
              [](const A& a) -> Value { return halide::store_root(a.proc(), a.string(1)); }}),
      in_cpp("set_memory",
             {"H_store_in",
              {proc(), string("producer"), memory("memory")},
              "set_memory",
              [](const A& a) -> Value { return set_memory(a.proc(), a.string(1), a.memory(2)); }}),
      in_cpp("resize_dim", {"H_fold_storage",
                            {proc(), string("producer"), integer("dim"), integer("size")},
                            "A : T[n]; A[y]  ->  A : T[size]; A[y % size]",
                            [](const A& a) -> Value {
                              return resize_dim(a.proc(), a.string(1), a.small(2),
                                                int_const(a.integer(3)), int_const(0), true);
                            }}),
  };
}

}  // namespace exotune
