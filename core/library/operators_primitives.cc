// The rows of the primitives. Names and argument order are Exo 2's.
#include <cstdlib>

#include "core/frontend/parser.h"
#include "core/library/operator_values.h"
#include "core/library/operators.h"
#include "core/library/staging.h"
#include "core/primitives/factor.h"
#include "core/primitives/reindex.h"

namespace exotune {
namespace {

using A = OperatorArgs;

// Exo's older scripts say perfect=True, newer ones tail='perfect'.
Tail tail_of(const A& a, int tail, int perfect) {
  if (a.boolean(perfect)) return Tail::kPerfect;
  return loop_tail(a.string(tail));
}

std::vector<int> small_integers(const A& a, int k) {
  std::vector<int> out;
  for (int64_t v : a.integers(k)) {
    // A dimension is an int below; a thousand are more than any tensor has.
    if (v < 0 || v > 1000) throw InputError({}, std::to_string(v) + " is no dimension");
    out.push_back(static_cast<int>(v));
  }
  return out;
}

// The place whose names an allocation's sizes and indices may use.
Path alloc_scope(const A& a, int k) {
  // An argument is declared before the first statement.
  Cursor c = a.where(k).buffer(a.proc());
  return c.kind() == CursorKind::kArg ? Path{{Child::kBody, 0}} : c.path();
}

// `('r', 3)` and `('r', '3')` are the same axis.
std::string text_of(const Value& v) {
  if (const std::string* s = v.as<std::string>()) return *s;
  if (const int64_t* k = v.as<int64_t>()) return std::to_string(*k);
  throw InputError({}, v.str() + " is no expression", "give an integer or text");
}

// [('j', '4'), ('r', 3)]
std::vector<ViewAxis> view_axes(const Value& v) {
  const ValueList* list = v.as<ValueList>();
  std::vector<ViewAxis> out;
  if (list) {
    for (const Value& axis : *list) {
      const ValueList* pair = axis.as<ValueList>();
      if (!pair || pair->size() != 2 || !(*pair)[0].as<std::string>()) break;
      out.push_back({*(*pair)[0].as<std::string>(), text_of((*pair)[1])});
    }
  }
  if (!list || out.size() != list->size())
    throw InputError({}, v.str() + " is no list of axes", "axes are [('j', '4'), ('r', '3')]");
  return out;
}

// Tuples of `width` texts: [('ko', 'K / 16', 'k / 16')]
std::vector<std::vector<std::string>> tuples_in(const Value& v, size_t width, const char* hint) {
  const ValueList* list = v.as<ValueList>();
  std::vector<std::vector<std::string>> out;
  for (const Value& item : list ? *list : ValueList{}) {
    const ValueList* tuple = item.as<ValueList>();
    if (!tuple || tuple->size() != width) break;
    std::vector<std::string>& texts = out.emplace_back();
    for (const Value& text : *tuple) texts.push_back(text_of(text));
  }
  if (!list || out.size() != list->size())
    throw InputError({}, v.str() + " is no list of loops", hint);
  return out;
}

Value reindexed(const A& a) {
  std::vector<CountedLoop> loops;
  FormerLoops former;
  for (const auto& l : tuples_in(a[2], 3, "loops are [('ko', 'K / 16', 'k / 16'), ..]"))
    loops.push_back({l[0], l[1], l[2]});
  for (const auto& f : tuples_in(a[3], 2, "former loops are [('k', '16 * ko + ki'), ..]"))
    former.push_back({f[0], f[1]});
  return reindex_loops(a.proc(), a.where(1), loops, former, a.string(4));
}

std::vector<std::string> names_in(const Value& v) {
  const ValueList* list = v.as<ValueList>();
  std::vector<std::string> out;
  if (list)
    for (const Value& name : *list)
      if (const std::string* text = name.as<std::string>()) out.push_back(*text);
  if (!list || out.size() != list->size())
    throw InputError({}, v.str() + " is no list of names", "factors are ['B', 'C']");
  return out;
}

// Scripts may quote a number, as Exo's examples do with -inf.
double number_of(const Value& v) {
  if (const double* d = v.as<double>()) return *d;
  if (const int64_t* k = v.as<int64_t>()) return static_cast<double>(*k);
  if (const std::string* s = v.as<std::string>()) {
    char* end = nullptr;
    double d = std::strtod(s->c_str(), &end);
    if (!s->empty() && *end == '\0') return d;
  }
  throw InputError({}, v.str() + " is no number");
}

}  // namespace

std::vector<Operator> primitive_operators() {
  using namespace params;
  return {
      // --- loops ---
      {"divide_loop",
       {proc(), place("loop"), integer("q"), new_names("new_iters"), string("tail", "guard"),
        boolean("perfect", false)},
       "for i in seq(0, N): s  ->  for io in seq(0, N / q): for ii in seq(0, q): s[i -> q * io + "
       "ii]",
       [](const A& a) -> Value {
         return divide_loop(a.proc(), a.where(1), a.integer(2), a.strings(3), tail_of(a, 4, 5));
       }},
      {"divide_with_recompute",
       {proc(), place("loop"), expression("outer_hi"), integer("outer_stride"),
        new_names("new_iters")},
       "for i in seq(0, n): s  ->  for io in seq(0, N): for ii in seq(0, n - q * (N - 1)): s[i -> "
       "q * io + ii]",
       [](const A& a) -> Value {
         Cursor loop = a.where(1).loop(a.proc());
         return divide_with_recompute(a.proc(), loop, a.expr(2, loop.path()), a.integer(3),
                                      a.strings(4));
       }},
      {"reorder_loops",
       {proc(), place("nested_loops")},
       "for i: for j: s  ->  for j: for i: s",
       [](const A& a) -> Value { return reorder_loops(a.proc(), a.where(1)); }},
      {"rename_loop",
       {proc(), place("loop"), new_name("name")},
       "for i in seq(lo, hi): s  ->  for name in seq(lo, hi): s[i -> name]",
       [](const A& a) -> Value { return rename_loop(a.proc(), a.where(1), a.string(2)); }},
      {"lift_scope",
       {proc(), place("scope")},
       "for i: if c: s  ->  if c: for i: s   (for/if out of for/if)",
       [](const A& a) -> Value { return lift_scope(a.proc(), a.where(1)); }},
      {"cut_loop",
       {proc(), place("loop"), expression("cut_point")},
       "for i in seq(lo, hi): s  ->  for i in seq(lo, c): s; for i in seq(c, hi): s",
       [](const A& a) -> Value {
         Cursor loop = a.where(1).loop(a.proc());
         return cut_loop(a.proc(), loop, a.expr(2, loop.path()));
       }},
      {"shift_loop",
       {proc(), place("loop"), expression("new_lo")},
       "for i in seq(lo, hi): s  ->  for i in seq(new_lo, new_lo + hi - lo): s[i -> i + lo - "
       "new_lo]",
       [](const A& a) -> Value {
         Cursor loop = a.where(1).loop(a.proc());
         return shift_loop(a.proc(), loop, a.expr(2, loop.path()));
       }},
      {"extend_loop",
       {proc(), place("loop"), expression("hi")},
       "for i in seq(lo, n): s  ->  for i in seq(lo, hi): s   (what more is written nobody reads)",
       [](const A& a) -> Value {
         Cursor loop = a.where(1).loop(a.proc());
         return extend_loop(a.proc(), loop, a.expr(2, loop.path()));
       }},
      {"join_loops",
       {proc(), place("loop1"), place("loop2")},
       "for i in seq(lo, m): s; for i in seq(m, hi): s  ->  for i in seq(lo, hi): s",
       [](const A& a) -> Value { return join_loops(a.proc(), a.where(1), a.where(2)); }},
      {"mult_loops",
       {proc(), place("nested_loops"), new_name("new_iter")},
       "for i in seq(0, n): for j in seq(0, c): s  ->  for k in seq(0, n * c): s[i -> k / c, j -> "
       "k % c]",
       [](const A& a) -> Value { return mult_loops(a.proc(), a.where(1), a.string(2)); }},
      {"fission",
       {proc(), place("gap"), integer("n_lifts", 1)},
       "for i: s1; s2  ->  for i: s1; for i: s2",
       [](const A& a) -> Value { return fission(a.proc(), a.where(1).gap(a.proc()), a.small(2)); }},
      {"fuse",
       {proc(), place("scope1"), place("scope2")},
       "for i: s1; for j: s2  ->  for i: s1; s2[j -> i]   (ifs of equal condition too)",
       [](const A& a) -> Value { return fuse(a.proc(), a.where(1), a.where(2)); }},
      {"remove_loop",
       {proc(), place("loop")},
       "for i: s  ->  s   (s idempotent and free of i)",
       [](const A& a) -> Value { return remove_loop(a.proc(), a.where(1)); }},
      {"add_loop",
       {proc(), place("block"), new_name("iter_name"), expression("hi"), boolean("guard", false)},
       "s  ->  for i in seq(0, hi): s   (s idempotent; guard: if i == 0)",
       [](const A& a) -> Value {
         Cursor block = a.where(1).block(a.proc());
         return add_loop(a.proc(), block, a.string(2), a.expr(3, block.path()), a.boolean(4));
       }},
      {"unroll_loop",
       {proc(), place("loop")},
       "for i in seq(0, 2): s  ->  s[i -> 0]; s[i -> 1]",
       [](const A& a) -> Value { return unroll_loop(a.proc(), a.where(1)); }},
      {"parallelize_loop",
       {proc(), place("loop")},
       "for i in seq(lo, hi): s  ->  for i in par(lo, hi): s",
       [](const A& a) -> Value { return parallelize_loop(a.proc(), a.where(1)); }},
      // --- statements and expressions ---
      {"reorder_stmts",
       {proc(), place("block")},
       "s1; s2  ->  s2; s1",
       [](const A& a) -> Value { return reorder_stmts(a.proc(), a.where(1)); }},
      {"insert_pass",
       {proc(), place("gap")},
       "s1; s2  ->  s1; pass; s2",
       [](const A& a) -> Value { return insert_pass(a.proc(), a.where(1).gap(a.proc())); }},
      {"delete_pass",
       {proc()},
       "pass; s  ->  s   (everywhere)",
       [](const A& a) -> Value { return delete_pass(a.proc()); }},
      {"bind_expr",
       {proc(), places("exprs"), new_name("new_name"), boolean("cse", false),
        place("before", Value())},
       "s(e)  ->  x : _; x = e; s(x)   (before: a statement around s)",
       [](const A& a) -> Value {
         // One expression, alone or with its equals (cse); or several that are given.
         std::vector<Where> exprs = a.places(1);
         if (exprs.size() == 1 && !a.given(4))
           return bind_expr(a.proc(), exprs[0], a.string(2), a.boolean(3));
         std::vector<Cursor> cursors;
         for (const Where& w : exprs) cursors.push_back(w.expr(a.proc()));
         if (cursors.empty()) throw InputError({}, "there is no expression to bind");
         if (a.given(4)) return bind_expr(a.proc(), cursors, a.string(2), a.where(4));
         return bind_expr(a.proc(), cursors, a.string(2));
       }},
      {"inline_assign",
       {proc(), place("assign")},
       "x = e; s(x)  ->  s(e)",
       [](const A& a) -> Value { return inline_assign(a.proc(), a.where(1)); }},
      {"inline_window",
       {proc(), place("window_stmt")},
       "w = x[lo:hi]; s(w[i])  ->  s(x[lo + i])",
       [](const A& a) -> Value { return inline_window(a.proc(), a.where(1)); }},
      {"merge_writes",
       {proc(), place("block")},
       "x = e1; x += e2  ->  x = e1 + e2",
       [](const A& a) -> Value { return merge_writes(a.proc(), a.where(1)); }},
      {"split_write",
       {proc(), place("stmt")},
       "x = e1 + e2  ->  x = e1; x += e2",
       [](const A& a) -> Value { return split_write(a.proc(), a.where(1)); }},
      {"fold_into_reduce",
       {proc(), place("assign")},
       "x = x + e  ->  x += e",
       [](const A& a) -> Value { return fold_into_reduce(a.proc(), a.where(1)); }},
      {"factor_sum",
       {proc(), place("loops"), new_name("name"), any("factors")},
       "for i: for j: for k: x[i] += a[i, j] * b[j, k] * c[k]  ->  t = sum over k of b * c; for i: "
       "for j: x[i] += a[i, j] * t[j]",
       [](const A& a) -> Value {
         return factor_sum(a.proc(), a.where(1), a.string(2), names_in(a[3]));
       }},
      {"reindex_loops",
       {proc(), place("loops"), any("counted"), any("former"), string("where", "")},
       "for k: x += a[k]  ->  for ko: for ki: if 4 * ko + ki < K: x += a[4 * ko + ki]",
       reindexed},
      {"lift_reduce_constant",
       {proc(), place("block")},
       "x = 0.0; for i: x += c * y[i]  ->  x = 0.0; for i: x += y[i]; x = c * x",
       [](const A& a) -> Value { return lift_reduce_constant(a.proc(), a.where(1)); }},
      {"commute_expr",
       {proc(), places("exprs")},
       "a * b  ->  b * a",
       [](const A& a) -> Value {
         ProcPtr p = a.proc();
         for (const Where& w : a.places(1)) p = commute_expr(p, w);
         return p;
       }},
      {"left_reassociate_expr",
       {proc(), place("expr")},
       "a + (b + c)  ->  (a + b) + c",
       [](const A& a) -> Value { return left_reassociate_expr(a.proc(), a.where(1)); }},
      {"multiply_by_reciprocal",
       {proc(), place("expr")},
       "a / b  ->  a * (1.0 / b)",
       [](const A& a) -> Value { return multiply_by_reciprocal(a.proc(), a.where(1)); }},
      {"negate_factor",
       {proc(), place("expr")},
       "-(a * b)  ->  -a * b",
       [](const A& a) -> Value { return negate_factor(a.proc(), a.where(1)); }},
      {"rewrite_expr",
       {proc(), place("expr"), expression("new_expr")},
       "e  ->  e'   (equal where it stands)",
       [](const A& a) -> Value {
         Cursor e = a.where(1).expr(a.proc());
         return rewrite_expr(a.proc(), e, a.any_expr(2, e.path()));
       }},
      // --- conditions ---
      {"specialize",
       {proc(), place("block"), expressions("conds")},
       "s  ->  if c: s else: s",
       [](const A& a) -> Value {
         Cursor block = a.where(1).block(a.proc());
         std::vector<ExprPtr> conds;
         for (const std::string& text : a.strings(2))
           conds.push_back(parse_expr_at(a.proc(), block.path(), text));
         return specialize(a.proc(), block, conds);
       }},
      {"eliminate_dead_code",
       {proc(), place("stmt")},
       "if c: s1 else: s2  ->  s1   (c proved; loops that never run too)",
       [](const A& a) -> Value { return eliminate_dead_code(a.proc(), a.where(1)); }},
      {"remove_guard",
       {proc(), place("guard")},
       "if c: s  ->  s   (what s writes where c is false nobody reads)",
       [](const A& a) -> Value { return remove_guard(a.proc(), a.where(1)); }},
      {"simplify",
       {proc(), place("block", Value())},
       "x[8 * io / 8 + 0]  ->  x[io]",
       [](const A& a) -> Value {
         return a.given(1) ? simplify(a.proc(), a.where(1)) : simplify(a.proc());
       }},
      // --- buffers ---
      {"expand_dim",
       {proc(), place("buf"), expression("alloc_dim"), expression("indexing_expr")},
       "x : T  ->  x : T[n]; x  ->  x[e]",
       [](const A& a) -> Value {
         Path at = alloc_scope(a, 1);
         return expand_dim(a.proc(), a.where(1), a.expr(2, at), a.expr(3, at));
       }},
      {"lift_alloc",
       {proc(), place("alloc"), integer("n_lifts", 1)},
       "for i: x : T; s  ->  x : T; for i: s",
       [](const A& a) -> Value { return lift_alloc(a.proc(), a.where(1), a.small(2)); }},
      {"sink_alloc",
       {proc(), place("alloc")},
       "x : T; for i: s  ->  for i: x : T; s",
       [](const A& a) -> Value { return sink_alloc(a.proc(), a.where(1)); }},
      {"divide_dim",
       {proc(), place("alloc"), integer("dim"), integer("quotient")},
       "x : T[n]; x[i]  ->  x : T[n / q, q]; x[i / q, i % q]",
       [](const A& a) -> Value {
         return divide_dim(a.proc(), a.where(1), a.small(2), a.integer(3));
       }},
      {"mult_dim",
       {proc(), place("alloc"), integer("hi_dim"), integer("lo_dim")},
       "x : T[n, c]; x[i, j]  ->  x : T[n * c]; x[c * i + j]",
       [](const A& a) -> Value { return mult_dim(a.proc(), a.where(1), a.small(2), a.small(3)); }},
      {"rearrange_dim",
       {proc(), place("buf"), integers("permutation")},
       "x : T[n, m]; x[i, j]  ->  x : T[m, n]; x[j, i]",
       [](const A& a) -> Value {
         return rearrange_dim(a.proc(), a.where(1), small_integers(a, 2));
       }},
      {"resize_dim",
       {proc(), place("buf"), integer("dim"), expression("size"), expression("offset"),
        boolean("fold", false)},
       "x : T[n]; x[i]  ->  x : T[size]; x[i - offset]   (fold: x[i % size])",
       [](const A& a) -> Value {
         Path at = alloc_scope(a, 1);
         return resize_dim(a.proc(), a.where(1), a.small(2), a.expr(3, at), a.expr(4, at),
                           a.boolean(5));
       }},
      {"unroll_buffer",
       {proc(), place("alloc"), integer("dim")},
       "x : T[2]; x[0]; x[1]  ->  x_0 : T; x_1 : T; x_0; x_1",
       [](const A& a) -> Value { return unroll_buffer(a.proc(), a.where(1), a.small(2)); }},
      {"unstage",
       {proc(), place("alloc")},
       "t : T; t = x[i]; s(t); x[i] = e(t)  ->  s(x[i]); x[i] = e(x[i])",
       [](const A& a) -> Value { return unstage(a.proc(), a.where(1)); }},
      {"reuse_buffer",
       {proc(), place("buf"), place("replace")},
       "x : T; s1; y : T; s2(y)  ->  x : T; s1; s2(x)",
       [](const A& a) -> Value { return reuse_buffer(a.proc(), a.where(1), a.where(2)); }},
      {"delete_buffer",
       {proc(), place("alloc")},
       "x : T; s  ->  s   (x unused in s)",
       [](const A& a) -> Value { return delete_buffer(a.proc(), a.where(1)); }},
      {"stage_mem",
       {proc(), place("block"), string("win_expr"), new_name("new_buf_name"),
        boolean("accum", false), places("per", ValueList{})},
       "s(x[lo + i])  ->  t : T[hi - lo]; t = x[lo:hi]; s(t[i]); x[lo:hi] = t   (accum: t = 0; "
       "s(t[i]); x += t; per: a copy for each iteration of these loops)",
       [](const A& a) -> Value {
         return stage_mem_if_any(a.proc(), a.where(1), a.string(2), a.string(3), a.boolean(4),
                                 a.places(5));
       }},
      {"stage_view",
       {proc(), place("block"), new_name("new_buf_name"), any("axes"), string("element"),
        string("where", ""), any("otherwise", Value(0.0))},
       "s(x[4 * io + i + r])  ->  t : T[4, 3]; t[i, r] = x[4 * io + i + r]; s(t[i, r])",
       [](const A& a) -> Value {
         return stage_view(a.proc(), a.where(1), a.string(2), view_axes(a[3]), a.string(4),
                           a.string(5), number_of(a[6]));
       }},
      {"set_memory",
       {proc(), place("buf"), memory("memory")},
       "x : T  ->  x : T @ MEM",
       [](const A& a) -> Value { return set_memory(a.proc(), a.where(1), a.memory(2)); }},
      {"set_precision",
       {proc(), places("bufs"), precision("precision")},
       "x : R  ->  x : f32   (one buffer, or a list of those that go together)",
       [](const A& a) -> Value { return set_precision(a.proc(), a.places(1), a.precision(2)); }},
      {"set_window",
       {proc(), place("arg"), boolean("is_window", true)},
       "x : T[n]  ->  x : [T][n]",
       [](const A& a) -> Value { return set_window(a.proc(), a.where(1), a.boolean(2)); }},
      {"transpose",
       {proc(), place("arg"), integers("permutation", Value(ValueList{}))},
       "def f(x: T[n, m]): s(x[i, j])  ->  def f(x: T[m, n]): s(x[j, i])",
       [](const A& a) -> Value { return transpose(a.proc(), a.where(1), small_integers(a, 2)); }},
      // --- hints and configuration state ---
      {"add_prefetch",
       {proc(), place("gap"), string("window"), integer("locality", Value(3))},
       "s  ->  prefetch(x[i + 8, 0:16]); s",
       [](const A& a) -> Value {
         return add_prefetch(a.proc(), a.where(1).gap(a.proc()), a.string(2), a.small(3));
       }},
      {"insert_noop_call",
       {proc(), place("gap"), proc("subproc"), strings("args")},
       "s  ->  f(...); s   (f does nothing)",
       [](const A& a) -> Value {
         return insert_noop_call(a.proc(), a.where(1).gap(a.proc()), a.proc(2), a.strings(3));
       }},
      {"write_config",
       {proc(), place("gap"), config("config"), string("field"), expression("value")},
       "s  ->  Cfg.f = e; s",
       [](const A& a) -> Value {
         Cursor gap = a.where(1).gap(a.proc());
         return write_config(a.proc(), gap, a.config(2), a.string(3), a.any_expr(4, gap.path()));
       }},
      {"bind_config",
       {proc(), place("expr"), config("config"), string("field")},
       "s(e)  ->  Cfg.f = e; s(Cfg.f)",
       [](const A& a) -> Value {
         return bind_config(a.proc(), a.where(1), a.config(2), a.string(3));
       }},
      {"delete_config",
       {proc(), place("stmt")},
       "Cfg.f = e; s  ->  s",
       [](const A& a) -> Value { return delete_config(a.proc(), a.where(1)); }},
      // --- procedures ---
      in_cpp("rename_proc",
             {"rename",
              {proc(), new_name("name")},
              "def f(...)  ->  def name(...)",
              [](const A& a) -> Value { return rename_proc(a.proc(), a.string(1)); }}),
      {"replace",
       {proc(), place("block"), proc("subproc")},
       "s  ->  f(...)   (s is f's body for some arguments)",
       [](const A& a) -> Value { return replace(a.proc(), a.where(1), a.proc(2)); }},
      in_cpp("inline_call",
             {"inline",
              {proc(), place("call")},
              "f(...)  ->  the body of f",
              [](const A& a) -> Value { return inline_call(a.proc(), a.where(1)); }}),
      {"call_eqv",
       {proc(), place("call"), proc("eqv_proc")},
       "f(...)  ->  g(...)   (g scheduled from f, or both from one)",
       [](const A& a) -> Value { return call_eqv(a.proc(), a.where(1), a.proc(2)); }},
      {"extract_subproc",
       {proc(), place("block"), new_name("subproc_name")},
       "s  ->  f(...); returns p, f",
       [](const A& a) -> Value {
         Extracted e = extract_subproc(a.proc(), a.where(1), a.string(2));
         return ValueList{e.proc, e.subproc};
       }},
      {"partial_eval",
       {proc(), keywords("sizes")},
       "def f(M: size, ...)  ->  def f(...)[M -> 6]   with M=6",
       [](const A& a) -> Value { return partial_eval(a.proc(), a.keywords(1)); }},
      {"add_assertion",
       {proc(), expression("condition")},
       "def f(...): s  ->  def f(...): assert c; s",
       [](const A& a) -> Value {
         return add_assertion(a.proc(), a.expr(1, {{Child::kBody, 0}}));
       }},
      {"make_instr",
       {proc(), string("c_instr"), string("c_global", ""), number("cost", 1.0)},
       "@proc def f  ->  @instr(c_instr) def f",
       [](const A& a) -> Value {
         return make_instr(a.proc(), a.string(1), a.string(2), a.number(3));
       }},
  };
}

}  // namespace exotune
