// Loops that come and go: remove, add, unroll, and the parallel annotation.
#include "core/base/deadline.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

using namespace internal;

namespace {
// More statements than that are no kernel any more, and every later step would walk them all.
constexpr int64_t kMaxUnrolledIterations = 1 << 14;
}  // namespace

// One trip at most needs no proof of the body, whose iterator is then the lower bound; several need
// that running it again changes nothing, and none at all must stay none: where the bounds do not
// say that it runs, an `if` does.
ProcPtr remove_loop(ProcPtr p, const Where& where) {
  static const char op[] = "remove_loop";
  Cursor c = where.loop(p);
  const For& f = c.as<For>();
  const Path at = c.path();
  const int n = static_cast<int>(f.body.size());
  const bool chosen = mentions(f.body, f.iter);
  auto trip = literal(trip_count(f));
  const bool once =
      trip ? *trip <= 1 : bool(prove(*p, at, less_equal(f.hi, plus(f.lo, int_const(1)))));
  if (!once && chosen)
    refuse(op, "the body depends on '" + f.iter.name() + "', and the loop may run more than once");
  if (!once)
    require(block_idempotent(*p, body_path(at), n), op,
            "running the body again may change what it did");
  if (chosen) require_stable(*p, body_path(at), n, f.lo, op);
  const ExprPtr runs = less(f.lo, f.hi);
  Rewrite rw(p);
  rw.replace_keep(at, make_if(runs, chosen ? substitute(f.body, f.iter, f.lo) : f.body));
  if (prove(*p, at, runs)) rw.unwrap(at);
  if (chosen) {
    require_config_may_stand(rw.proc(), {f.lo}, op);
    require_still_checks(rw.proc(), {c.stmt()}, op);
  }
  return rw.finish(op, {place(where, c)});
}

// The new loop must run at least once, or the statements would be lost. With a guard they run in
// its first iteration only, so that nothing is asked of them.
ProcPtr add_loop(ProcPtr p, const Where& where, const std::string& name, const ExprPtr& hi,
                 bool guard) {
  static const char op[] = "add_loop";
  Cursor c = where.block(p);
  require_name(op, name);
  const Path at = c.path();
  const int n = c.length();
  require_visible(*p, at, hi, op);
  require_moderate(hi, op);
  require_no_escape(*p, at, n, op);
  require(prove(*p, at, less(int_const(0), hi)), op,
          "cannot prove that the loop runs: 0 < " + str(hi));
  if (!guard && literal(hi) != 1)
    require(block_idempotent(*p, at, n), op,
            "running the statements again may change what they did");
  const Sym iter = Sym::fresh(name);
  Rewrite rw(p);
  if (guard) {
    const ExprPtr first = equals(read_var(iter, ScalarType::kIndex), int_const(0));
    rw.wrap(at, n, [&](Block b) { return make_if(first, std::move(b)); });
  }
  rw.wrap(at, guard ? 1 : n,
          [&](Block b) { return make_for(iter, int_const(0), hi, std::move(b)); });
  require_still_checks(rw.proc(), c.stmts(), op);
  return rw.finish(op, {place(where, c), name, str(hi, scope_at(*p, at)), guard});
}

// The further iterations may do what nobody sees: write what is overwritten before it is read,
// within bounds. The whole statement is checked again, as asserts of calls in it may fail there.
ProcPtr extend_loop(ProcPtr p, const Where& where, const ExprPtr& hi) {
  static const char op[] = "extend_loop";
  Cursor c = where.loop(p);
  const For& f = c.as<For>();
  const Path at = c.path();
  require_visible(*p, at, hi, op);
  require_moderate(hi, op);
  if (reads_config(hi)) refuse(op, "the new end may not read configuration state");
  require(prove(*p, at, less_equal(f.hi, hi)), op,
          "cannot prove that the loop does not become shorter: " + str(f.hi) + " <= " + str(hi));
  require(later_iterations_unseen(*p, at, hi), op, "the further iterations may be seen");
  Rewrite rw(p);
  rw.replace_keep(at, make_for(f.iter, f.lo, hi, f.body, f.mode));
  try {
    check_statement(rw.proc(), at);
  } catch (const InputError& e) {
    throw SchedulingError(std::string(op) + ": the further iterations are not allowed",
                          {e.diagnostic().message});
  }
  return rw.finish(op, {place(where, c), str(hi, scope_at(*p, at))});
}

// Always allowed. The first iteration stays in place, so that cursors into the body stay good;
// each copy binds names of its own.
ProcPtr unroll_loop(ProcPtr p, const Where& where) {
  static const char op[] = "unroll_loop";
  Cursor c = where.loop(p);
  const For& f = c.as<For>();
  const Path at = c.path();
  const auto lo = literal(f.lo), hi = literal(f.hi);
  if (!lo || !hi)
    refuse(op, "the bounds must be constants, not " + str(f.lo) + " and " + str(f.hi));
  Rewrite rw(p);
  if (*hi <= *lo) {
    rw.replace(at, 1, {make_pass()});
    return rw.finish(op, {place(where, c)});
  }
  if (static_cast<uint64_t>(*hi) - static_cast<uint64_t>(*lo) >
      static_cast<uint64_t>(kMaxUnrolledIterations))
    refuse(op, "more than " + std::to_string(kMaxUnrolledIterations) + " iterations",
           "divide the loop and unroll the inner one");
  rw.replace_keep(at, make_for(f.iter, f.lo, f.hi, substitute(f.body, f.iter, int_const(*lo))));
  rw.unwrap(at);
  Block rest;
  rest.reserve(f.body.size() * static_cast<size_t>(*hi - *lo - 1));
  for (int64_t k = *lo + 1; k < *hi; ++k) {
    leave_if_over();
    for (StmtPtr& s : refresh_binders(substitute(f.body, f.iter, int_const(k))))
      rest.push_back(std::move(s));
  }
  if (!rest.empty()) rw.insert(sibling(at, static_cast<int>(f.body.size())), std::move(rest));
  return rw.finish(op, {place(where, c)});
}

// Iterations may come in any order and at once when no two touch a location that one of them
// changes.
ProcPtr parallelize_loop(ProcPtr p, const Where& where) {
  static const char op[] = "parallelize_loop";
  Cursor c = where.loop(p);
  const For& f = c.as<For>();
  require(loop_parallel(*p, c.path()), op, "two iterations may touch one location");
  Rewrite rw(p);
  rw.replace_keep(c.path(), make_for(f.iter, f.lo, f.hi, f.body, LoopMode::kPar));
  return rw.finish(op, {place(where, c)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> loops_remove_operators() {
  using namespace params;
  return {
      {"extend_loop",
       {proc(), place("loop"), expression("hi")},
       "for i in seq(lo, n): s  ->  for i in seq(lo, hi): s   (what more is written nobody reads)",
       [](const OperatorArgs& a) -> Value {
         Cursor loop = a.where(1).loop(a.proc());
         return extend_loop(a.proc(), loop, a.expr(2, loop.path()));
       }},
      {"remove_loop",
       {proc(), place("loop")},
       "for i: s  ->  s   (one iteration at most; or s idempotent and free of i)",
       [](const OperatorArgs& a) -> Value { return remove_loop(a.proc(), a.where(1)); }},
      {"add_loop",
       {proc(), place("block"), new_name("iter_name"), expression("hi"), boolean("guard", false)},
       "s  ->  for i in seq(0, hi): s   (s idempotent; guard: if i == 0)",
       [](const OperatorArgs& a) -> Value {
         Cursor block = a.where(1).block(a.proc());
         return add_loop(a.proc(), block, a.string(2), a.expr(3, block.path()), a.boolean(4));
       }},
      {"unroll_loop",
       {proc(), place("loop")},
       "for i in seq(0, 2): s  ->  s[i -> 0]; s[i -> 1]",
       [](const OperatorArgs& a) -> Value { return unroll_loop(a.proc(), a.where(1)); }},
      {"parallelize_loop",
       {proc(), place("loop")},
       "for i in seq(lo, hi): s  ->  for i in par(lo, hi): s",
       [](const OperatorArgs& a) -> Value { return parallelize_loop(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
