// The rows of the operators that are made of primitives. Names and argument order are Exo 2's where
// Exo 2 has them.
#include "core/library/ahead.h"
#include "core/library/blocking.h"
#include "core/library/cleanup.h"
#include "core/library/closures.h"
#include "core/library/columns.h"
#include "core/library/configuration.h"
#include "core/library/contraction.h"
#include "core/library/cursor_methods.h"
#include "core/library/dot_block.h"
#include "core/library/factors.h"
#include "core/library/gemm.h"
#include "core/library/guards.h"
#include "core/library/lane_rows.h"
#include "core/library/level1.h"
#include "core/library/level2.h"
#include "core/library/operator_values.h"
#include "core/library/operators.h"
#include "core/library/overlap.h"
#include "core/library/prefetching.h"
#include "core/library/rearranging.h"
#include "core/library/recurrences.h"
#include "core/library/reduction.h"
#include "core/library/replacement.h"
#include "core/library/skewing.h"
#include "core/library/skinny.h"
#include "core/library/staging.h"
#include "core/library/statements.h"
#include "core/library/sum_block.h"
#include "core/library/transposition.h"
#include "core/library/triangles.h"
#include "core/library/vectorize.h"

namespace exotune {
namespace {

using A = OperatorArgs;

// tile_loops: the pairs name loops or are cursors to them.
Value tiled(const A& a) {
  std::vector<std::pair<Where, int64_t>> loops;
  const ValueList* list = a[1].as<ValueList>();
  for (const Value& v : list ? *list : ValueList{Value()}) {
    const ValueList* pair = v.as<ValueList>();
    const bool two = pair && pair->size() == 2 && (*pair)[1].as<int64_t>();
    const std::string* name = two ? (*pair)[0].as<std::string>() : nullptr;
    const Cursor* cursor = two ? (*pair)[0].as<Cursor>() : nullptr;
    if (!name && !cursor)
      throw InputError({}, "the tiles are a list of loops and sizes",
                       "write [('i', 4), ('j', 16)]");
    loops.emplace_back(name ? Where(*name) : Where(*cursor), *(*pair)[1].as<int64_t>());
  }
  const Tiled t =
      tile_loops(a.proc(), loops, a.boolean(3) ? Tail::kPerfect : loop_tail(a.string(2)));
  ValueList inner(t.inner.begin(), t.inner.end());
  return ValueList{t.proc, std::move(inner)};
}

}  // namespace

std::vector<Operator> library_operators() {
  using namespace params;
  return {
      {"replace_all",
       {proc(), procs("instrs"), place("block", Value())},
       "s  ->  f(...)   wherever an instruction fits, the first of the list first",
       [](const A& a) -> Value {
         return a.given(2) ? replace_all(a.proc(), a.where(2), a.procs(1))
                           : replace_all(a.proc(), a.procs(1));
       }},
      // --- configuration ---
      {"replace_configured",
       {proc(), procs("instrs"), place("block", Value())},
       "s  ->  config_f(...); f(...)   wherever an instruction fits but for the settings it "
       "asserts",
       [](const A& a) -> Value {
         return replace_configured(a.proc(), a.given(2) ? a.where(2) : Where(body_of(a.proc())),
                                   a.procs(1));
       }},
      {"hoist_config",
       {proc()},
       "for i: config_f(...); s  ->  config_f(...); for i: s   and settings that hold already "
       "disappear",
       [](const A& a) -> Value { return hoist_config(a.proc()); }},
      // --- blocking ---
      {"block_loop",
       {proc(), place("loop"), integers("sizes"), new_names("new_iters"), string("outside", "")},
       "for ...: for x: s  ->  for xo: for ...: for xi: s   (and the rest of x after it)",
       [](const A& a) -> Value {
         return block_loop(a.proc(), a.where(1), a.integers(2), a.strings(3), a.string(4));
       }},
      {"tile_loops",
       {proc(), any("loop_tile_pairs"), string("tail", "cut"), boolean("perfect", false)},
       "for i: for j: s  ->  for io: for jo: for ii: for ji: s   with [('i', 4), ('j', 16)]; "
       "returns "
       "p and the list of the inner loops",
       tiled},
      {"lift_alone",
       {proc(), place("scope")},
       "for i: s1; for j: s  ->  for i: s1; for j: for i: s",
       [](const A& a) -> Value { return lift_alone(a.proc(), a.where(1)); }},
      {"tile_to_instr",
       {proc(), place("outermost_loop"), proc("instr")},
       "for i: for j: s  ->  for io: for jo: f(...)   (and the rest of each loop after it)",
       [](const A& a) -> Value { return tile_to_instr(a.proc(), a.where(1), a.proc(2)); }},
      {"split_triangle",
       {proc(), string("outer"), string("inner"), integer("size")},
       "for i: for j in seq(0, i + 1): s  ->  for io: (for ii: for j in seq(0, q * io + 1): s; for "
       "ii: for j in seq(q * io + 1, q * io + ii + 1): s)",
       [](const A& a) -> Value {
         return split_triangle(a.proc(), a.string(1), a.string(2), a.integer(3));
       }},
      // --- statements and loops of whole nests ---
      {"isolate",
       {proc(), place("stmt")},
       "for i: s1; s; s2  ->  for i: s1; for i: s; for i: s2   (through all loops around)",
       [](const A& a) -> Value { return isolate(a.proc(), a.where(1)); }},
      {"fuse_all_loops",
       {proc(), place("scope")},
       "for i: s1; for i: s2  ->  for i: s1; s2   (neighbours of equal bounds, outer loops first)",
       [](const A& a) -> Value { return fuse_all_loops(a.proc(), a.where(1)); }},
      {"add_guard",
       {proc(), place("stmt")},
       "for i: s  ->  for i: if i == 0: s   (the nearest loop that does not concern s)",
       [](const A& a) -> Value { return add_guard(a.proc(), a.where(1)); }},
      {"reorder_loops_from_idx",
       {proc(), place("access")},
       "for j: for i: x[i, j] = e  ->  for i: for j: x[i, j] = e",
       [](const A& a) -> Value { return reorder_loops_from_idx(a.proc(), a.where(1)); }},
      {"unroll_loops",
       {proc(), place("block", Value()), integer("threshold", 0)},
       "for i in seq(0, 2): s  ->  s[i -> 0]; s[i -> 1]   every loop of at most threshold "
       "iterations "
       "(0: any number)",
       [](const A& a) -> Value {
         return unroll_loops(a.proc(), a.given(1) ? a.where(1) : Where(body_of(a.proc())),
                             a.integer(2));
       }},
      {"replace_and_inline",
       {proc(), procs("instr_and_setting")},
       "s  ->  config_f(...); f(...)   (f and a procedure that sets and calls it)",
       [](const A& a) -> Value { return replace_and_inline(a.proc(), a.procs(1).back()); }},
      {"get_inner_loop",
       {proc(), place("outer_loop")},
       "returns the first loop inside the loop, as a cursor",
       [](const A& a) -> Value { return get_inner_loop(a.proc(), a.where(1)); }},
      {"lift_scope_n",
       {proc(), place("scope"), integer("n_lifts", 1)},
       "lift_scope n times",
       [](const A& a) -> Value { return lift_scope_n(a.proc(), a.where(1), a.small(2)); }},
      {"fission_as_much_as_possible",
       {proc(), place("loop")},
       "for i: s1; s2; s3  ->  for i: s1; for i: s2; for i: s3",
       [](const A& a) -> Value {
         const Cursor c = a.where(1).stmt(a.proc());
         // Exo 2 gives the statement that is to have loops of its own.
         return c.is<For>() ? fission_as_much_as_possible(a.proc(), c) : isolate(a.proc(), c);
       }},
      {"round_loop",
       {proc(), place("loop"), integer("factor"), new_names("new_iters")},
       "for i in seq(0, n): s  ->  for io in seq(0, ceil(n / q)): for ii in seq(0, q): if q * io + "
       "ii < n: s",
       [](const A& a) -> Value {
         return round_loop(a.proc(), a.where(1), a.integer(2), a.strings(3));
       }},
      {"interleave_loop",
       {proc(), place("loop"), integer("factor")},
       "for i: s  ->  for io: s[ii -> 0]; s[ii -> 1]; ...",
       [](const A& a) -> Value { return interleave_loop(a.proc(), a.where(1), a.integer(2)); }},
      {"prefetch_ahead",
       {proc(), string("loop"), string("buffer", ""), integer("distance", 1)},
       "for r: s(x[r])  ->  for r: prefetch(x[r + distance]); s(x[r])",
       [](const A& a) -> Value {
         return prefetch_ahead(a.proc(), a.string(1), a.string(2), a.integer(3));
       }},
      {"prefetch_meanwhile",
       {proc(), string("loop"), string("within"), string("buffer", ""), integer("locality", 3)},
       "for r: for ..: for k: s(x[r])  ->  for r: for ..: for kl: prefetch(a line of x[r + 1]); "
       "for k: s(x[r])",
       [](const A& a) -> Value {
         return prefetch_meanwhile(a.proc(), a.string(1), a.string(2), a.string(3),
                                   static_cast<int>(a.integer(4)));
       }},
      {"prefetch_behind",
       {proc(), string("loop"), string("buffer")},
       "for k: s; for j: t(x)  ->  prefetch(x); for k: s; for j: t(x)",
       [](const A& a) -> Value { return prefetch_behind(a.proc(), a.string(1), a.string(2)); }},
      {"unroll_and_jam",
       {proc(), place("outer"), integer("factor")},
       "for i: for j: s  ->  for io: for j: s[ii -> 0]; s[ii -> 1]; ...",
       [](const A& a) -> Value { return unroll_and_jam(a.proc(), a.where(1), a.integer(2)); }},
      {"unroll_all",
       {proc(), string("loop")},
       "unroll_loop for every loop of that name",
       [](const A& a) -> Value { return unroll_all(a.proc(), a.string(1)); }},
      // --- staging and lifting ---
      {"auto_stage_mem",
       {proc(), place("block"), string("buf"), new_name("new_buf_name"), boolean("accum", false),
        boolean("rc", false)},
       "stage_mem with the smallest window; rc: returns p and cursors alloc, load, block, store",
       [](const A& a) -> Value {
         Staged s = auto_stage_mem(a.proc(), a.where(1), a.string(2), a.string(3), a.boolean(4));
         if (!a.boolean(5)) return s.proc;
         auto some = [](const Cursor& c) { return c.valid() ? Value(c) : Value(); };
         return ValueList{s.proc, record({{"alloc", some(s.alloc)},
                                          {"load", some(s.load)},
                                          {"block", some(s.block)},
                                          {"store", some(s.store)}})};
       }},
      {"autolift_alloc",
       {proc(), place("alloc"), strings("dep_set", ValueList{}), integer("max_size", 0)},
       "for i in seq(0, c): x : T; s  ->  x : T[c]; for i: s[x -> x[i]]   as far out as it goes",
       [](const A& a) -> Value {
         std::vector<std::string> loops = a.strings(2);
         return autolift_alloc(a.proc(), a.where(1), {loops.begin(), loops.end()}, a.integer(3));
       }},
      {"autofission",
       {proc(), place("gap"), integer("n_lifts", 1)},
       "for i: s1; s2  ->  s1; for i: s2   (fission; a half that may leaves its loop)",
       [](const A& a) -> Value {
         return autofission(a.proc(), a.where(1).gap(a.proc()), a.small(2));
       }},
      {"hoist_stmt",
       {proc(), place("stmt")},
       "for i: s1; s; s2  ->  s; for i: s1; s2",
       [](const A& a) -> Value { return hoist_stmt(a.proc(), a.where(1)); }},
      {"remove_redundant_loops",
       {proc(), place("stmt"), integer("num", 1)},
       "takes a statement out of the `num` nearest loops that do not concern it",
       [](const A& a) -> Value {
         return remove_redundant_loops(a.proc(), a.where(1), a.small(2));
       }},
      {"dce",
       {proc()},
       "decided ifs, loops that never run, unused buffers and pass disappear",
       [](const A& a) -> Value { return dce(a.proc()); }},
      {"cleanup",
       {proc()},
       "simplify, dce, and loops of one iteration unrolled",
       [](const A& a) -> Value { return cleanup(a.proc()); }},
      // --- vectors ---
      {"vectorize",
       {proc(), place("loop"), integer("vw"), memory("mem_type"), procs("instructions"),
        string("tail", "cut_and_predicate")},
       "for i: x[i] = y[i] * z[i]  ->  for io: load; load; mul; store",
       [](const A& a) -> Value {
         return vectorize(a.proc(), a.where(1), vector_unit(a, 2, 3, 4), vector_tail(a.string(5)));
       }},
      {"vectorize_lanes",
       {proc(), place("lane_loop"), integer("vw"), memory("mem_type"), procs("instructions")},
       "for i in seq(0, vw): s  ->  one instruction per operation",
       [](const A& a) -> Value {
         return vectorize_lanes(a.proc(), a.where(1), vector_unit(a, 2, 3, 4));
       }},
      {"hoist_from_loop",
       {proc(), place("loop")},
       "for i: s1; s2  ->  s1; for i: s2   (s1 the same in every iteration)",
       [](const A& a) -> Value { return hoist_from_loop(a.proc(), a.where(1)); }},
      {"parallelize_reduction",
       {proc(), place("outer"), new_name("acc_name"), memory("memory")},
       "for o: for i in seq(0, c): r += e  ->  acc = 0; for o: for i: acc[i] += e; for i: r += "
       "acc[i]",
       [](const A& a) -> Value {
         return parallelize_reduction(a.proc(), a.where(1), a.string(2), a.memory(3));
       }},
      {"interleave_reduction",
       {proc(), place("loop"), integer("factor"), new_name("acc_name")},
       "for i: r += e  ->  for io: acc_0 += e[ii -> 0]; acc_1 += e[ii -> 1]; ...; r += acc_0; r += "
       "acc_1; ...",
       [](const A& a) -> Value {
         return interleave_reduction(a.proc(), a.where(1), a.integer(2), a.string(3));
       }},
      {"gather_vectors",
       {proc()},
       "s(x)  ->  x_unit = x; s(x_unit); x = x_unit   for vector arguments of any stride",
       [](const A& a) -> Value { return gather_vectors(a.proc()); }},
      {"optimize_level_1",
       {proc(), string("loop"), integer("vw"), memory("mem_type"), procs("instructions"),
        integer("interleave", 4)},
       "for i: s  ->  `interleave` vectors an iteration, then single ones, then a guarded one",
       [](const A& a) -> Value {
         return optimize_level_1(a.proc(), a.string(1), vector_unit(a, 2, 3, 4), a.integer(5));
       }},
      {"dot_block",
       {proc(), string("i"), string("j"), string("k"), integer("rows"), integer("vectors"),
        memory("mem_type"), procs("instructions")},
       "for i: for j: for k: {a = A; b = B; C += a * b}  ->  tiles of `rows` x `vectors` "
       "registers, "
       "summed by an instruction that multiplies groups of k",
       [](const A& a) -> Value {
         return dot_block(a.proc(), a.string(1), a.string(2), a.string(3), a.integer(4),
                          a.integer(5), {0, a.memory(6), a.procs(7), {}});
       }},
      {"keep_scalars",
       {proc(), string("loop")},
       "for i: s(alpha)  ->  alpha_r = alpha; for i: s(alpha_r)   for scalars that are only read",
       [](const A& a) -> Value { return keep_scalars(a.proc(), a.string(1)); }},
      {"optimize_level_2",
       {proc(), string("outer"), string("inner"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("rows", 4), integer("interleave", 1),
        boolean("fused", false)},
       "for i: for j: s  ->  vectors along j, `rows` iterations of i at a time",
       [](const A& a) -> Value {
         return optimize_level_2(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                                 a.integer(6), a.integer(7), a.boolean(8));
       }},
      {"optimize_level_2_general",
       {proc(), string("outer"), integer("vw"), memory("mem_type"), procs("instructions"),
        integer("r_fac", 4), integer("c_fac", 1)},
       "optimize_level_2 along the loops inside `outer`, whatever they are called",
       [](const A& a) -> Value {
         return optimize_level_2_general(a.proc(), a.string(1), vector_unit(a, 2, 3, 4),
                                         a.integer(5), a.integer(6));
       }},
      {"opt_skinny",
       {proc(), string("outer"), string("inner"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("vectors", 0)},
       "for i: for j in seq(0, n): s(v[j])  ->  if n <= vw: w = v; for i: s(w) elif n <= 2 * vw: "
       "...   "
       "(v in registers)",
       [](const A& a) -> Value {
         return opt_skinny(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                           a.integer(6));
       }},
      {"optimize_columns",
       {proc(), string("outer"), string("inner"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("vectors", 4)},
       "for i: for j: y[j] += e  ->  for blocks of j: registers = y; for i: registers += e; y = "
       "registers",
       [](const A& a) -> Value {
         return optimize_columns(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                                 a.integer(6));
       }},
      {"accumulate_columns",
       {proc(), string("rows"), string("columns"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("vectors", 4), integer("depth", 1)},
       "for j: for k: y[j] += e  ->  for blocks of j: registers = y; for k by depth: registers += "
       "e; "
       "y = registers",
       [](const A& a) -> Value {
         return accumulate_columns(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                                   a.integer(6), a.integer(7));
       }},
      // --- contractions ---
      {"pack_operand",
       {proc(), string("buffer"), string("before"), integer("strip"), integer("vw"),
        memory("mem_type"), procs("instructions"), new_name("rows", "i0")},
       "for k: s(B[k])  ->  for k: B_pack = B[k]; s(B_pack)   copied row by row, in a loop `rows`",
       [](const A& a) -> Value {
         return pack_operand(a.proc(), a.string(1), a.string(2), a.integer(3),
                             vector_unit(a, 4, 5, 6), a.string(7));
       }},
      {"pack_transposed",
       {proc(), string("buffer"), place("block"), procs("instructions")},
       "s(B[j, k])  ->  B_t : T[K, J]; B_t[k, j] = B[j, k]; s(B_t[k, j])   in register tiles where "
       "an "
       "instruction transposes",
       [](const A& a) -> Value {
         return pack_transposed(a.proc(), a.string(1), a.where(2), a.procs(3));
       }},
      {"pack_ahead",
       {proc(), string("buffer"), integers("tiles"), integers("order")},
       "s(W)  ->  W_ahead : T[..]; NAME_pack_W(W, W_ahead); s(W_ahead), which become functions of "
       "their own",
       [](const A& a) -> Value {
         std::vector<int> order;
         for (const int64_t d : a.integers(3)) order.push_back(static_cast<int>(d));
         return pack_ahead(a.proc(), a.string(1), a.integers(2), order);
       }},
      {"gen_ukernel",
       {proc(), string("i"), string("j"), string("k"), integer("vw"), memory("mem_type"),
        procs("instructions")},
       "register_block, then unroll_registers",
       [](const A& a) -> Value {
         return gen_ukernel(a.proc(), a.string(1), a.string(2), a.string(3),
                            vector_unit(a, 4, 5, 6));
       }},
      {"gemm",
       {proc(), string("i"), string("j"), string("k"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("mr", 6), integer("nr", 16), integer("kc", 0),
        integer("mc", 0), integer("nc", 0), boolean("pack", true)},
       "for i: for j: for k: C[i, j] += A[i, k] * B[k, j]  ->  cache blocks, B packed, register "
       "tiles",
       [](const A& a) -> Value {
         const GemmBlocks blocks{a.integer(7),  a.integer(8),  a.integer(9),
                                 a.integer(10), a.integer(11), a.boolean(12)};
         return gemm(a.proc(), a.string(1), a.string(2), a.string(3), vector_unit(a, 4, 5, 6),
                     blocks);
       }},
      {"register_block",
       {proc(), string("i"), string("j"), string("k"), integer("vw"), memory("mem_type"),
        procs("instructions"), boolean("apart", false)},
       "for i: for j: for k: C[i, j] += A[i, k] * B[k, j]  ->  the micro-kernel, C in registers",
       [](const A& a) -> Value {
         return register_block(a.proc(), a.string(1), a.string(2), a.string(3),
                               vector_unit(a, 4, 5, 6), a.boolean(7));
       }},
      {"sum_block",
       {proc(), string("i"), string("j"), integer("vw"), memory("mem_type"), procs("instructions"),
        boolean("reads_first", false)},
       "for i: for j: s = b; for r..: s += x * y; out = f(s)  ->  for r..: for i: for j:, s[i, j] "
       "in registers",
       [](const A& a) -> Value {
         return sum_block(a.proc(), a.string(1), a.string(2), vector_unit(a, 3, 4, 5),
                          a.boolean(6));
       }},
      {"unroll_registers",
       {proc(), memory("memory")},
       "unroll every loop that picks a register of the memory, then its buffers",
       [](const A& a) -> Value { return unroll_registers(a.proc(), a.memory(1)); }},
      {"block_recurrence",
       {proc(), place("loop"), integer("block")},
       "a loop whose rows need the rows before: in blocks, what finished rows give to a block "
       "apart",
       [](const A& a) -> Value { return block_recurrence(a.proc(), a.where(1), a.integer(2)); }},
      {"stage_panel",
       {proc(), place("loop"), string("rows"), new_name("new_name")},
       "for j: for i: s(A[r + i, j])  ->  P[j, i] = A[r + i, j]; for j: for i: s(P[j, i]); A[r + "
       "i, j] = P[j, i]",
       [](const A& a) -> Value {
         return stage_panel(a.proc(), a.where(1), a.string(2), a.string(3));
       }},
      {"jam_skewed",
       {proc(), place("loop"), integer("rows"), integer("shift")},
       "for i: for j: s(i, j)  ->  for io: for j: { s(2 * io, j); s(2 * io + 1, j - shift) }   "
       "(and "
       "its ends)",
       [](const A& a) -> Value {
         return jam_skewed(a.proc(), a.where(1), a.integer(2), a.integer(3));
       }},
      {"begin_sums",
       {proc(), place("init"), place("nest")},
       "x = 0; for k: x += e  ->  for k: if k == 0: { x = 0; x += e } else: x += e   (x and e in "
       "nests: `nest` is what an instruction does)",
       [](const A& a) -> Value { return begin_sums(a.proc(), a.where(1), a.where(2)); }},
      {"run_ahead",
       {proc(), place("gap")},
       "for i: s(i); t(i)  ->  s(0); for i: s(i + 1); t(i); and the last t   (double buffering; "
       "the "
       "gap stands between s and t)",
       [](const A& a) -> Value { return run_ahead(a.proc(), a.where(1)); }},
      {"block_closure",
       {proc(), place("loop"), integer("block")},
       "for k: for i: for j: x[i, j] min= x[i, k] + x[k, j]  ->  blocks of k: what the rest of the "
       "matrix reads is kept, the rest is a product",
       [](const A& a) -> Value { return block_closure(a.proc(), a.where(1), a.integer(2)); }},
      {"factors_ahead",
       {proc(), place("loop")},
       "for i: for k: for j: s(a * x[i, k])  ->  t[i, k] = a * x[i, k] ahead; for i: for k: for j: "
       "s(t[i, k])",
       [](const A& a) -> Value { return factors_ahead(a.proc(), a.where(1)); }},
      {"cut_at_guards",
       {proc(), place("loop")},
       "for i: if 0 < i: s  ->  for i in seq(1, ..): s   loops are cut where conditions inside "
       "them "
       "change",
       [](const A& a) -> Value { return cut_at_guards(a.proc(), a.where(1)); }},
      {"sink_loop",
       {proc(), place("loop")},
       "for r: for i: s  ->  for i: for r: s, inside every loop that it may go into, allocations "
       "with a dimension more",
       [](const A& a) -> Value { return sink_loop(a.proc(), a.where(1)); }},
      {"rows_to_lanes",
       {proc(), place("loop"), integer("lanes")},
       "for i: for j: s  ->  for io: for j: for i in seq(0, lanes): s, what rows hold apart turned "
       "over in buffers",
       [](const A& a) -> Value { return rows_to_lanes(a.proc(), a.where(1), a.integer(2)); }},
      {"square_corner",
       {proc(), string("outer"), string("inner")},
       "a triangle of sums is computed as a square in a buffer, and leaves it as the triangle",
       [](const A& a) -> Value { return square_corner(a.proc(), a.string(1), a.string(2)); }},
      {"take_reciprocals",
       {proc(), place("loop")},
       "for i: s(a / b)  ->  for i: s(a * (1.0 / b)), where b stays the same",
       [](const A& a) -> Value { return take_reciprocals(a.proc(), a.where(1)); }},
      {"fold_updates",
       {proc()},
       "x[i] = x[i] + e  ->  x[i] += e   (and fmax, fmin), wherever the element is written again",
       [](const A& a) -> Value { return fold_updates(a.proc()); }},
      {"unroll_buffers",
       {proc(), memory("memory")},
       "unroll_buffer for every dimension but the vector one of all that lives in the memory",
       [](const A& a) -> Value { return unroll_buffers(a.proc(), a.memory(1)); }},
  };
}

}  // namespace exotune
