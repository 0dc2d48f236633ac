#pragma once
// Whole procedures and calls of them.
// How to read an entry: core/primitives/primitives.h.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/primitives/where.h"

namespace exotune {

/// def f(..)  ->  def name(..)
/// Obligation: none.
[[nodiscard]] ProcPtr rename_proc(ProcPtr p, const std::string& name);

/// s      ->      callee(args)
/// Obligation: s and the callee's body are equal up to names, commutative operands and affine
/// rearrangement, for arguments found by unification; and at the call the sizes are positive, the
/// asserts hold, windows stay in their buffers, precisions and memories agree, one formal stands
/// for one buffer, and arguments of which one is written do not overlap. Cursors into s die; one to
/// s as a whole goes to the call. Modulo reassociation where the callee is an instruction that adds
/// several numbers up: it does so in an order of its own.
/// Proposed for copies that an instruction makes: parts that lie side by side, taken apart.
[[nodiscard]] ProcPtr replace(ProcPtr p, const Where& block, const ProcPtr& callee);

/// The form for hot loops: nothing when `callee` does not fit, and no text is made.
[[nodiscard]] std::optional<ProcPtr> try_replace(const ProcPtr& p, const Cursor& block,
                                                 const ProcPtr& callee);

/// callee(args)     ->     the callee's body, its formals replaced by the arguments
/// Obligation: an argument that reads configuration keeps its value while the body runs. What the
/// callee asserts was proved at the call. A cursor to the call goes to the body. `names_apart`:
/// loops, allocations and windows of the body that are called as something that can be seen at the
/// call get another name.
[[nodiscard]] ProcPtr inline_call(ProcPtr p, const Where& call, bool names_apart = false);

/// f(args)     ->     g(args)
/// Obligation: f and g descend from one proc by steps that keep the meaning (added asserts too);
/// config fields they differ in are read no more before they are written again; the call is still
/// right (memories, windows, asserts of g). Equivalent modulo those fields that some path writes no
/// more.
/// Proposed for programs: the scheduled part takes the place of the one as written.
[[nodiscard]] ProcPtr call_eqv(ProcPtr p, const Where& call, const ProcPtr& other);

/// The caller, and the procedure that its statements became.
struct Extracted {
  ProcPtr proc, subproc;
};

/// s      ->      name(args)          and   def name(args): asserts; s
/// The new proc's arguments are the names that s uses, control first, each group in order of the
/// caller's scope; its asserts are what the caller knows about the control ones.
/// Obligation: s makes nothing that is used after it; the buffers it takes do not overlap when one
/// is written; the new proc passes `check`. Cursors into s die; one to s goes to the call.
/// Proposed for programs of several parts: each becomes a procedure.
[[nodiscard]] Extracted extract_subproc(ProcPtr p, const Where& block, const std::string& name);

/// def f(N: size, ..)  ->  def f(..), N replaced by its value.
/// Obligation: each name is a control argument, given once, a size's value is positive, and no
/// assert becomes false. The result is a special case: equivalence does not cross it.
/// Proposed always: the sizes that a kernel is tuned for.
[[nodiscard]] ProcPtr partial_eval(ProcPtr p,
                                   const std::vector<std::pair<std::string, int64_t>>& values);

/// def f(..): assert a; s   ->   def f(..): assert a; assert condition; s
/// Obligation: a condition over the arguments that is not false for all of them. The result is a
/// special case: equivalence does not cross it.
[[nodiscard]] ProcPtr add_assertion(ProcPtr p, const ExprPtr& condition);

/// def f(..): s   ->   @instr(c_template, c_global, cost) def f(..): s
/// Obligation: none here: the template is trusted to do what the body says.
[[nodiscard]] ProcPtr make_instr(ProcPtr p, const std::string& c_template,
                                 const std::string& c_global, double cost);

}  // namespace exotune
