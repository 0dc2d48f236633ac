#pragma once
// What primitives ask before they rewrite. Each question is put at a place of a proc and is
// answered with everything known there: sizes > 0, asserts, bounds of enclosing loops, enclosing
// conditions, window aliases, allocation shapes. docs/how-proofs-work.md says how answers are
// found; thesis chapter 4-5 what they mean.
//
// An answer is a proof or a refusal: kUnknown never lets a rewrite through.
#include <map>
#include <string>

#include "core/base/diagnostic.h"
#include "core/ir/path.h"

namespace exotune {

enum class Verdict : uint8_t { kProved, kRefuted, kUnknown };

/// What a question came to. Only kProved is a yes: unknown counts as a refusal, and `if (answer)`
/// asks for the proof.
struct Answer {
  Verdict verdict = Verdict::kUnknown;
  /// The smallest counter-example found: values of sizes, indices (by printed name).
  std::map<std::string, int64_t> counter_example;
  /// Which access or bound failed; made when printed.
  LazyText why;
  /// kUnknown is what the solver said; else it was not asked, and `why` is all there is.
  bool undecided = false;
  explicit operator bool() const { return verdict == Verdict::kProved; }
  /// `why`, and "fails for N = 1, i = 0" when refuted or "the solver answered unknown" when so.
  std::vector<LazyText> notes() const;
};

// --- facts ------------------------------------------------------------------------------------
/// Is the control boolean `cond` true whenever control reaches `at` (before that statement)?
/// What it reads of configuration counts as known only when nothing in the block from `at` on
/// writes it: `cond` may stand for what is evaluated there.
Answer prove(const Proc& p, const Path& at, const ExprPtr& cond);
/// As above, for a condition evaluated exactly when control reaches `at`: with the values that
/// configuration has at that moment.
Answer prove_on_arrival(const Proc& p, const Path& at, const ExprPtr& cond);
/// As above, for a condition also over `extra` variables with lo <= v < hi each.
struct RangedVar {
  Sym var;
  ExprPtr lo, hi;
};
Answer prove_for_all(const Proc& p, const Path& at, const std::vector<RangedVar>& extra,
                     const std::vector<ExprPtr>& assumptions, const ExprPtr& cond);
/// The control expressions have equal value at `at`.
Answer prove_equal(const Proc& p, const Path& at, const ExprPtr& a, const ExprPtr& b);
/// `e` with normal forms, range facts and known conditions at `at` applied: x/8 with 0 <= x < 8
/// becomes 0, (8*io + ii)/8 becomes io, (8*io + ii)%8 becomes ii, decided comparisons fold.
ExprPtr simplify_expr(const Proc& p, const Path& at, const ExprPtr& e);
/// Constant bounds of an integer control expression at `at` where they can be found (inclusive).
struct Bounds {
  std::optional<int64_t> lo, hi;
};
Bounds bounds_of(const Proc& p, const Path& at, const ExprPtr& e);

// --- effects ----------------------------------------------------------------------------------
/// Reduction += is commutative with itself over the reals; `reassociates` when that was needed.
struct LoopAnswer : Answer {
  bool reassociates = false;
};
/// May `na` statements at `a` and the `nb` statements right after them swap places? Covers data,
/// config, windows, and allocations of the first used by the second (never).
LoopAnswer blocks_commute(const Proc& p, const Path& a, int na, int nb);
/// For the loop at `loop`: do any two different iterations commute?
LoopAnswer iterations_commute(const Proc& p, const Path& loop);
/// May `for i: for j: s` become `for j: for i: s`? Only iteration pairs whose order flips must
/// commute. Bounds are not looked at.
LoopAnswer loops_interchange(const Proc& p, const Path& outer);
/// No two iterations touch one location unless both only reduce into it with += (then
/// `reassociates`, and only if `allow_reductions`). Private allocations inside do not count.
LoopAnswer loop_parallel(const Proc& p, const Path& loop, bool allow_reductions = false);
/// `for i: { s1; s2 }` split at `gap` (a path inside the loop body) into two loops: s2 of an
/// earlier iteration commutes with s1 of a later one; nothing s1 allocates is used in s2; the
/// loop's bounds do not change. Or: s1 does not depend on the iterator, is idempotent, and s2
/// writes nothing that s1 touches (what is the same in every iteration can be done first). For
/// `if`: s1 does not change the condition.
LoopAnswer can_fission(const Proc& p, const Path& gap);
/// The reverse, for two adjacent loops (or ifs) `first` and the statement after it, with the
/// second's iterator taken for the first's.
LoopAnswer can_fuse(const Proc& p, const Path& first);
/// Another way, where that fails for loops that compute values again: `fused` is `p` with the two
/// loops fused at `first`. The first loop only assigns; it reads nothing that either changes,
/// writes no element with two values, and each iteration computes all that the second reads in it.
Answer can_fuse_recomputing(const Proc& p, const Path& first, const Proc& fused);
/// Running the block again right after itself changes nothing. For remove_loop, add_loop: the
/// loop's body at `loop` does not depend on the iterator and is idempotent.
Answer block_idempotent(const Proc& p, const Path& first, int n);
/// The block of `n` statements at `first` does not change the value of `e` (data or control).
Answer value_unchanged_by(const Proc& p, const Path& first, int n, const ExprPtr& e);
/// Does the statement at `at` leave the config field as it finds it?
Answer keeps_field(const Proc& p, const Path& at, const std::string& config,
                   const std::string& field);
/// Each iteration pair (earlier, later) of the loop writes the same values again, so that running
/// earlier iterations again after later ones is harmless: divide_with_recompute.
Answer recompute_safe(const Proc& p, const Path& loop);
/// When the loop at `loop` goes on to `hi`: the further iterations write only floating-point
/// elements of allocations, and none that is read (through windows and calls, in any iteration of
/// the loops around) other than by further iterations. Bounds and races are not looked at.
Answer later_iterations_unseen(const Proc& p, const Path& loop, const ExprPtr& hi);
/// The same when the body of the `if` at `at` (without else) runs also where its condition is
/// false.
Answer unguarded_runs_unseen(const Proc& p, const Path& at);
/// After `stmt`, no read of the buffer's contents (through windows and calls, in later iterations
/// of loops around it too) sees what is in it now. Never true of an argument.
Answer buffer_dead_after(const Proc& p, const Path& stmt, Sym buffer);
/// For an allocation inside or outside of the loop: no iteration reads what it has not itself
/// written first. Then lift_alloc out of (or sink_alloc into) the loop carries no value.
Answer alloc_carries_nothing(const Proc& p, const Path& alloc, const Path& loop);
/// For an allocation that stands in the loop's body: in one dimension, each access is at the
/// loop's own variable, scaled and moved alike in all. Then no two iterations touch one element,
/// and one buffer for all of them is as good as one for each, also where elements are read that
/// were never written. Syntax alone, no proof: false where it is not seen.
bool alloc_is_apart_by(const Proc& p, const Path& alloc, const Path& loop);

// --- locations --------------------------------------------------------------------------------
/// One access to a buffer's elements, with windows resolved to the root buffer.
struct Access {
  enum class Kind : uint8_t { kRead, kWrite, kReduceAdd, kReduceMax, kReduceMin };
  Kind kind;
  Sym buffer;                       // root allocation or argument
  Sym through;                      // the name the code uses (a window), else == buffer
  std::vector<ExprPtr> idx;         // in the root buffer's coordinates
  std::vector<RangedVar> vars;      // loops between the asked block and the access
  std::vector<ExprPtr> conditions;  // guards between the block and the access
  Path stmt;                        // where it stands
  bool whole_window = false;        // idx ranges over `vars` added for a window passed to a call
};
/// Every element access of the `n` statements at `first`, in program order (reads of a statement
/// before its write), calls seen through their bodies, without buffers allocated inside. A read of
/// a config field that the block writes is replaced by an unknown variable. With `only`, those of
/// that buffer.
std::vector<Access> accesses_of(const Proc& p, const Path& first, int n,
                                std::optional<Sym> only = {});

// --- whole programs ---------------------------------------------------------------------------
/// All that must hold of a proc before it is accepted or emitted: types, bounds of every access,
/// positive allocation sizes, call preconditions, argument aliasing, races in `par`, config rules,
/// memories and precisions. Throws InputError with the first offence (location, counter-example).
/// `for_codegen` adds what only emission needs: every R decided, one precision per operator,
/// memories that can hold and address what is asked, no access to non-addressable memory.
void check(const Proc& p, bool for_codegen = false);
/// check(p) of a text that a user wrote: throws InputError with all that is wrong with the body,
/// the first offence and the others as its `more`.
void check_to_the_end(const Proc& p);
/// The same question about a proc that differs from one that check() accepts in the statement at
/// `at` alone, and costs what that statement costs. A statement that writes configuration is
/// asked about with all that follows it: the whole proc.
void check_statement(const Proc& p, const Path& at);

// --- statistics -------------------------------------------------------------------------------
struct SolverStats {
  int64_t syntactic = 0, affine = 0, z3 = 0, cached = 0, unknown = 0;
};
SolverStats solver_stats();  // since the process began; printed by -v
/// Queries are written as SMT-LIB 2 into this directory with their verdict (unsat: proved), one
/// file each, named by content; "" turns it off. `every_tier`: also those decided without Z3, so
/// that another solver can re-check all that a schedule rests on.
void set_proofs_directory(const std::string& directory, bool every_tier = true);

}  // namespace exotune
