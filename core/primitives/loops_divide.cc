// Loops by arithmetic on their range: divide, cut, join, shift, multiply.
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"

namespace exotune {

using namespace internal;

namespace {

// `n % 8 == 0`, or an equation such as n == 8 * m.
bool has_modulo(const ExprPtr& e) {
  if (const BinOp* b = e->as<BinOp>(); b && (b->op == BinOpKind::kMod || b->op == BinOpKind::kEq))
    return true;
  for (const ExprPtr& c : expr_children(*e))
    if (has_modulo(c)) return true;
  return false;
}

// Something known at `at` may say what a size is modulo a number: worth asking the prover.
bool knows_remainders(const Proc& p, const Path& at) {
  for (const ExprPtr& a : p.asserts)
    if (has_modulo(a)) return true;
  Path up = at;
  // Conditions around the loop hold in it, too.
  for (up.pop_back(); !up.empty(); up.pop_back())
    if (const If* i = stmt_at(p, up)->as<If>(); i && has_modulo(i->cond)) return true;
  return false;
}

// Does q surely divide `trip`? Cheap: the prover is asked only where a fact could help it.
bool divides(const Proc& p, const Path& at, const ExprPtr& trip, int64_t q) {
  auto a = affine(trip);
  if (!a) return false;
  // Every term a multiple of q: 8 * m + 16 by 4.
  bool syntactic = a->constant % q == 0;
  for (const Affine::Term& t : a->terms) syntactic = syntactic && t.coeff % q == 0;
  if (syntactic || a->is_constant()) return syntactic;
  return knows_remainders(p, at) &&
         prove(p, at, equals(modulo(trip, q), int_const(0))).verdict == Verdict::kProved;
}

const char* name_of(Tail t) {
  switch (t) {
    case Tail::kPerfect:
      return "perfect";
    case Tail::kGuard:
      return "guard";
    case Tail::kCut:
      return "cut";
    case Tail::kCutAndGuard:
      return "cut_and_guard";
    case Tail::kShort:
      return "short";
  }
  return "";
}

// How far the inner of two loops runs that share `trip` iterations, the last time as far as is
// left: io / (tiles - 1) is 0 before the last tile and 1 there.
ExprPtr extent_of_tile(int64_t trip, int64_t q, const ExprPtr& io) {
  const int64_t tiles = (trip + q - 1) / q, lacking = q * tiles - trip;
  // io is 0 only, and 0 / 0 is nothing.
  if (tiles == 1) return int_const(trip);
  return minus(int_const(q), times(lacking, floor_div(io, tiles - 1)));
}

// Two loops that become one iterate in parallel only if both did and the result surely may.
StmtPtr with_joint_mode(const Proc& result, const Path& at, LoopMode a, LoopMode b) {
  const For& f = *stmt_at(result, at)->as<For>();
  bool par = a == LoopMode::kPar && b == LoopMode::kPar && loop_parallel(result, at);
  return make_for(f.iter, f.lo, f.hi, f.body, par ? LoopMode::kPar : LoopMode::kSeq);
}

}  // namespace

ProcPtr divide_loop(ProcPtr p, const Where& where, int64_t q, const std::vector<std::string>& names,
                    Tail tail) {
  static const char op[] = "divide_loop";
  Cursor c = where.loop(p);
  if (q < 1) refuse(op, "the factor must be at least 1, not " + std::to_string(q));
  require_moderate(int_const(q), op);
  if (names.size() != 2) refuse(op, "two names are needed: the outer and the inner iterator");
  // A name that is taken is no fault: symbols are told apart, and printed apart.
  for (const std::string& n : names) require_name(op, n);
  const For& f = c.as<For>();
  const Path at = c.path();
  const int n = static_cast<int>(f.body.size());
  // Both loops evaluate the bounds again; the body may not have changed what they say.
  require_stable(*p, body_path(at), n, f.lo, op);
  require_stable(*p, body_path(at), n, f.hi, op);

  const ExprPtr trip = trip_count(f);
  const bool exact = divides(*p, at, trip, q);
  if (tail == Tail::kPerfect && !exact)
    require(prove(*p, at, equals(modulo(trip, q), int_const(0))), op,
            "cannot prove that " + std::to_string(q) + " divides the trip count " + str(trip));
  const bool guarded = tail == Tail::kGuard && !exact, shortened = tail == Tail::kShort && !exact;
  // Its extents are io's in whole numbers, which only a known trip count gives (extent_of_tile).
  if (shortened && literal(trip).value_or(0) < 1)
    refuse(op, "a last tile can be shorter where the trip count is a positive number, not " +
                   str(trip));
  const bool cut = (tail == Tail::kCut || tail == Tail::kCutAndGuard) && !exact;

  const Sym io = Sym::fresh(names[0]), ii = Sym::fresh(names[1]);
  const ExprPtr io_read = read_var(io, ScalarType::kIndex),
                ii_read = read_var(ii, ScalarType::kIndex);
  // What the old iterator was: lo + q * io + ii.
  const ExprPtr point = plus(f.lo, plus(times(q, io_read), ii_read));

  Rewrite rw(p);
  const ExprPtr inner_hi = shortened ? extent_of_tile(*literal(trip), q, io_read) : int_const(q);
  auto inner_loop = [&](Block b) { return make_for(ii, int_const(0), inner_hi, std::move(b)); };
  // The body as it will stand; wrap() tells cursors how they get there.
  Block body = substitute(f.body, f.iter, point);
  if (guarded) {
    const ExprPtr in_range = less(point, f.hi);
    rw.wrap(body_path(at), n, [&](Block b) { return make_if(in_range, std::move(b)); });
    rw.wrap(body_path(at), 1, inner_loop);
    body = {make_if(in_range, std::move(body))};
  } else {
    rw.wrap(body_path(at), n, inner_loop);
  }
  // Otherwise the outer loop counts whole tiles only.
  const bool rounded_up = guarded || shortened;
  const ExprPtr outer_hi = floor_div(rounded_up ? plus(trip, int_const(q - 1)) : trip, q);
  rw.replace_keep(at, make_for(io, int_const(0), outer_hi, {inner_loop(std::move(body))}, f.mode));

  // The rest stands behind the loop and runs trip % q times. A range that may be negative has a
  // remainder that is not: the rest then needs the loop's own condition, or it would run.
  if (cut) {
    // Of the same name as the inner iterator, another symbol.
    const Sym it = ii.copy();
    const ExprPtr start = plus(f.lo, times(q, floor_div(trip, q)));
    Block rest =
        refresh_binders(substitute(f.body, f.iter, plus(start, read_var(it, ScalarType::kIndex))));
    const ExprPtr left = modulo(trip, q);
    StmtPtr loop = make_for(it, int_const(0), left, std::move(rest), f.mode);
    ExprPtr condition;
    if (!literal(trip)) {
      // Exo's cut_and_guard: the rest under a condition of its own.
      if (tail == Tail::kCutAndGuard) condition = less(int_const(0), left);
      if (!prove(*p, at, less_equal(f.lo, f.hi))) {
        const ExprPtr runs = less(f.lo, f.hi);
        condition = condition ? both(runs, condition) : runs;
      }
    } else if (*literal(trip) <= 0) {
      condition = bool_const(false);
    }
    const bool never = condition && condition->as<Const>();
    if (!never) rw.insert(sibling(at, 1), {condition ? make_if(condition, {loop}) : loop});
  }
  require_config_may_stand(rw.proc(), {f.lo, f.hi}, op);
  // Subscripts are other formulas now: the checker has to accept them, or the step is refused here
  // and not at the end.
  require_still_checks(rw.proc(), {c.stmt()}, op);
  return rw.finish(op, {place(where, c), q, Value::strings(names), name_of(tail)});
}

ProcPtr divide_with_recompute(ProcPtr p, const Where& where, const ExprPtr& n, int64_t q,
                              const std::vector<std::string>& names) {
  static const char op[] = "divide_with_recompute";
  Cursor c = where.loop(p);
  if (q < 1) refuse(op, "the stride must be at least 1, not " + std::to_string(q));
  for (const ExprPtr& e : {int_const(q), n}) require_moderate(e, op);
  if (names.size() != 2) refuse(op, "two names are needed: the outer and the inner iterator");
  for (const std::string& name : names) require_name(op, name);
  const For& f = c.as<For>();
  const Path at = c.path();
  const int size = static_cast<int>(f.body.size());
  require_visible(*p, at, n, op);
  for (const ExprPtr& e : {f.lo, f.hi, n}) require_stable(*p, body_path(at), size, e, op);
  // n tiles begin q apart; each runs over what is left behind the last one as well, so that
  // neighbours share trip - q * n iterations.
  const ExprPtr trip = trip_count(f), covered = times(q, n);
  require(
      prove(*p, at, less_equal(covered, trip)), op,
      "cannot prove that " + str(covered) + " iterations lie within the trip count " + str(trip));
  // With n = 0 the rewritten loop would run nothing, where the loop itself runs trip times.
  require(
      prove(*p, at,
            bin_op(BinOpKind::kOr, less_equal(int_const(1), n), less_equal(trip, int_const(0)))),
      op, "cannot prove that the outer loop runs when the loop does");
  require(recompute_safe(*p, at), op, "iterations that run again may write other values");

  const Sym io = Sym::fresh(names[0]), ii = Sym::fresh(names[1]);
  const ExprPtr point = plus(
      f.lo, plus(times(q, read_var(io, ScalarType::kIndex)), read_var(ii, ScalarType::kIndex)));
  const ExprPtr inner_hi = normalize(plus(int_const(q), minus(trip, covered)));
  auto inner_loop = [&](Block b) { return make_for(ii, int_const(0), inner_hi, std::move(b)); };
  Rewrite rw(p);
  rw.wrap(body_path(at), size, inner_loop);
  rw.replace_keep(at,
                  make_for(io, int_const(0), n, {inner_loop(substitute(f.body, f.iter, point))}));
  require_config_may_stand(rw.proc(), {f.lo}, op);
  require_still_checks(rw.proc(), {c.stmt()}, op);
  return rw.finish(op, {place(where, c), str(n, scope_at(*p, at)), q, Value::strings(names)});
}

ProcPtr mult_loops(ProcPtr p, const Where& where, const std::string& name) {
  static const char op[] = "mult_loops";
  Cursor c = where.nested(p);
  require_name(op, name);
  const For& f = c.as<For>();
  const Path at = c.path();
  // where.nested has seen that the inner loop is all there is in the outer.
  const For& g = *f.body[0]->as<For>();
  // k / count and k % count stay affine for a constant only.
  const auto count = literal(trip_count(g));
  if (!count || *count < 1) refuse(op, "the inner trip count must be a positive constant");
  require_moderate(int_const(*count), op);
  if (mentions(g.lo, f.iter))
    refuse(op, "the inner lower bound depends on '" + f.iter.name() + "'");
  for (const ExprPtr& e : {f.lo, f.hi, g.lo}) require_stable(*p, body_path(at), 1, e, op);

  const Sym k = Sym::fresh(name);
  const ExprPtr k_read = read_var(k, ScalarType::kIndex);
  Block body = substitute(g.body, f.iter, plus(f.lo, floor_div(k_read, *count)));
  body = substitute(body, g.iter, plus(g.lo, modulo(k_read, *count)));
  const ExprPtr hi = normalize(times(*count, trip_count(f)));
  Rewrite rw(p);
  // Cursors into the inner body stay in it.
  rw.unwrap(body_path(at));
  rw.replace_keep(at, make_for(k, int_const(0), hi, std::move(body)));
  if (f.mode == LoopMode::kPar) rw.replace_keep(at, with_joint_mode(rw.proc(), at, f.mode, g.mode));
  require_config_may_stand(rw.proc(), {f.lo, g.lo}, op);
  require_still_checks(rw.proc(), {c.stmt()}, op);
  return rw.finish(op, {place(where, c), name});
}

ProcPtr cut_loop(ProcPtr p, const Where& where, const ExprPtr& e) {
  static const char op[] = "cut_loop";
  Cursor c = where.loop(p);
  const For& f = c.as<For>();
  const Path at = c.path();
  const int n = static_cast<int>(f.body.size());
  require_visible(*p, at, e, op);
  for (const ExprPtr& b : {f.hi, e}) require_stable(*p, body_path(at), n, b, op);
  require(prove(*p, at, both(less_equal(f.lo, e), less_equal(e, f.hi))), op,
          "cannot prove that " + str(e) + " lies between " + str(f.lo) + " and " + str(f.hi));
  Rewrite rw(p);
  // Cursors stay in the first part.
  rw.replace_keep(at, make_for(f.iter, f.lo, e, f.body, f.mode));
  rw.insert(sibling(at, 1), refresh_binders({make_for(f.iter, e, f.hi, f.body, f.mode)}));
  require_still_checks(rw.proc(), {c.stmt()}, op);
  return rw.finish(op, {place(where, c), str(e, scope_at(*p, at))});
}

ProcPtr cut_loop(ProcPtr p, const Where& where, int64_t cut_point) {
  return cut_loop(std::move(p), where, int_const(cut_point));
}

ProcPtr shift_loop(ProcPtr p, const Where& where, const ExprPtr& e) {
  static const char op[] = "shift_loop";
  Cursor c = where.loop(p);
  const For& f = c.as<For>();
  const Path at = c.path();
  const int n = static_cast<int>(f.body.size());
  require_visible(*p, at, e, op);
  require_moderate(e, op);
  for (const ExprPtr& b : {f.lo, e}) require_stable(*p, body_path(at), n, b, op);
  // Loops begin at 0 or above.
  require(prove(*p, at, less_equal(int_const(0), e)), op,
          "cannot prove that the new lower bound " + str(e) + " is not negative");
  const ExprPtr back = normalize(plus(read_var(f.iter, ScalarType::kIndex), minus(f.lo, e)));
  Rewrite rw(p);
  rw.replace_keep(at, make_for(f.iter, e, normalize(plus(e, trip_count(f))),
                               substitute(f.body, f.iter, back), f.mode));
  require_config_may_stand(rw.proc(), {f.lo, e}, op);
  require_still_checks(rw.proc(), {c.stmt()}, op);
  return rw.finish(op, {place(where, c), str(e, scope_at(*p, at))});
}

ProcPtr join_loops(ProcPtr p, const Where& first, const Where& second) {
  static const char op[] = "join_loops";
  Cursor c = first.loop(p), d = second.loop(p);
  const Path at = c.path();
  if (d.path() != sibling(at, 1)) refuse(op, "the second loop must stand right after the first");
  const For &f = c.as<For>(), &g = d.as<For>();
  // With the same bounds on both, so that only names and bodies are compared.
  if (!alpha_equal({make_for(f.iter, f.lo, f.hi, f.body)}, {make_for(g.iter, f.lo, f.hi, g.body)}))
    refuse(op, "the bodies of the two loops differ");
  for (const ExprPtr& b : {f.hi, g.lo, g.hi})
    require_stable(*p, body_path(at), static_cast<int>(f.body.size()), b, op);
  require(prove_equal(*p, at, f.hi, g.lo), op,
          "cannot prove that the first loop ends where the second begins");
  require(prove(*p, at, both(less_equal(f.lo, f.hi), less_equal(g.lo, g.hi))), op,
          "cannot prove that neither range is negative");
  Rewrite rw(p);
  rw.replace_keep(at, make_for(f.iter, f.lo, g.hi, f.body));
  rw.erase(d.path(), 1);
  if (f.mode == LoopMode::kPar) rw.replace_keep(at, with_joint_mode(rw.proc(), at, f.mode, g.mode));
  require_still_checks(rw.proc(), {c.stmt()}, op);
  return rw.finish(op, {place(first, c), place(second, d)});
}

// --- rows of the operator table ----------------------------------------------------------------

namespace {

// Exo's older scripts say perfect=True, newer ones tail='perfect'.
Tail tail_of(const OperatorArgs& a, int tail, int perfect) {
  if (a.boolean(perfect)) return Tail::kPerfect;
  return loop_tail(a.string(tail));
}

}  // namespace

std::vector<Operator> loops_divide_operators() {
  using namespace params;
  return {
      {"divide_loop",
       {proc(), place("loop"), integer("q"), new_names("new_iters"), string("tail", "guard"),
        boolean("perfect", false)},
       "for i in seq(0, N): s  ->  for io in seq(0, N / q): for ii in seq(0, q): s[i -> q * io + "
       "ii]",
       [](const OperatorArgs& a) -> Value {
         return divide_loop(a.proc(), a.where(1), a.integer(2), a.strings(3), tail_of(a, 4, 5));
       }},
      {"divide_with_recompute",
       {proc(), place("loop"), expression("outer_hi"), integer("outer_stride"),
        new_names("new_iters")},
       "for i in seq(0, n): s  ->  for io in seq(0, N): for ii in seq(0, n - q * (N - 1)): s[i -> "
       "q * io + ii]",
       [](const OperatorArgs& a) -> Value {
         Cursor loop = a.where(1).loop(a.proc());
         return divide_with_recompute(a.proc(), loop, a.expr(2, loop.path()), a.integer(3),
                                      a.strings(4));
       }},
      {"cut_loop",
       {proc(), place("loop"), expression("cut_point")},
       "for i in seq(lo, hi): s  ->  for i in seq(lo, c): s; for i in seq(c, hi): s",
       [](const OperatorArgs& a) -> Value {
         Cursor loop = a.where(1).loop(a.proc());
         return cut_loop(a.proc(), loop, a.expr(2, loop.path()));
       }},
      {"shift_loop",
       {proc(), place("loop"), expression("new_lo")},
       "for i in seq(lo, hi): s  ->  for i in seq(new_lo, new_lo + hi - lo): s[i -> i + lo - "
       "new_lo]",
       [](const OperatorArgs& a) -> Value {
         Cursor loop = a.where(1).loop(a.proc());
         return shift_loop(a.proc(), loop, a.expr(2, loop.path()));
       }},
      {"join_loops",
       {proc(), place("loop1"), place("loop2")},
       "for i in seq(lo, m): s; for i in seq(m, hi): s  ->  for i in seq(lo, hi): s",
       [](const OperatorArgs& a) -> Value { return join_loops(a.proc(), a.where(1), a.where(2)); }},
      {"mult_loops",
       {proc(), place("nested_loops"), new_name("new_iter")},
       "for i in seq(0, n): for j in seq(0, c): s  ->  for k in seq(0, n * c): s[i -> k / c, j -> "
       "k % c]",
       [](const OperatorArgs& a) -> Value {
         return mult_loops(a.proc(), a.where(1), a.string(2));
       }},
  };
}

}  // namespace exotune
