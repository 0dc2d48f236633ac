#pragma once
// What the primitives share and nobody else sees: refusing, requiring proofs, small control
// arithmetic, and the side conditions that many rewrites have in common.
#include <set>

#include "core/analysis/queries.h"
#include "core/cursor/edit.h"
#include "core/primitives/primitives.h"

namespace exotune::internal {

// --- refusing ---------------------------------------------------------------------------------
/// Throws SchedulingError "op: message".
/// A statement as messages quote it: its first line.
std::string quoted(const StmtPtr& s);

[[noreturn]] void refuse(const char* op, const std::string& message, LazyText hint = {});

/// Throws SchedulingError "op: message" with the answer's notes, unless it is a proof.
void require(const Answer& answer, const char* op, const std::string& message);

/// `name` must be an identifier of the object language.
void require_name(const char* op, const std::string& name);

/// Every symbol of `e` is visible just before `at`.
void require_visible(const Proc& p, const Path& at, const ExprPtr& e, const char* op);

/// No allocation or window made by the `n` statements at `first` is used after them in their block:
/// needed wherever those statements get a scope of their own.
void require_no_escape(const Proc& p, const Path& first, int n, const char* op);

/// `e` keeps its value while the `n` statements at `first` run (only config reads can change).
void require_stable(const Proc& p, const Path& first, int n, const ExprPtr& e, const char* op);

/// A value put into the config field at `gap` is read nowhere: not in the rest of the blocks
/// around, nor in later iterations of the loops around; asserts of callees count as reads. True:
/// every path writes the field again, so that the value is not even there in the end.
bool require_unread_after(const Proc& p, const Path& gap, const std::string& config,
                          const std::string& field, const char* op);

/// For rewrites that put `moved` under another scope: what configuration holds after a scope is
/// known less well than after a plain write, so when `moved` writes some, `result` is checked
/// again.
void require_still_checks(const Proc& result, const Block& moved, const char* op);

/// For rewrites that carry `exprs` into the body: when one reads configuration, `result` is checked
/// again, as shapes and windows must not depend on what is written.
void require_config_may_stand(const Proc& result, const std::vector<ExprPtr>& exprs,
                              const char* op);

/// For rewrites that put other expressions in the place of reads: no value written to configuration
/// comes to depend on the iterator of a loop around it.
void require_config_writes_fixed(const Proc& result, const char* op);

/// No literal of `e` is beyond 2^31: indices are 64-bit numbers in C, and proofs take them for
/// integers.
void require_moderate(const ExprPtr& e, const char* op);

// --- paths ------------------------------------------------------------------------------------
Path child_path(const Path& stmt, Child child, int index = 0);
inline Path body_path(const Path& stmt, int index = 0) {
  return child_path(stmt, Child::kBody, index);
}
int body_size(const Proc& p, const Path& stmt);
/// The place as the trace keeps it: the pattern when one was given, else the cursor in `p`.
Value place(const Where& where, const Cursor& resolved);
/// A gap or other cursor as seen in `p`; InvalidCursorError when its target is gone.
Cursor here(const ProcPtr& p, const Cursor& c);

// --- control arithmetic (folds literals and neutral elements only) ------------------------------
std::optional<int64_t> literal(const ExprPtr& e);  // constants, after normalisation
ExprPtr plus(const ExprPtr& a, const ExprPtr& b);
ExprPtr minus(const ExprPtr& a, const ExprPtr& b);
ExprPtr times(int64_t k, const ExprPtr& e);
ExprPtr floor_div(const ExprPtr& e, int64_t k);
ExprPtr modulo(const ExprPtr& e, int64_t k);
ExprPtr less(const ExprPtr& a, const ExprPtr& b);
ExprPtr less_equal(const ExprPtr& a, const ExprPtr& b);
ExprPtr equals(const ExprPtr& a, const ExprPtr& b);
ExprPtr both(const ExprPtr& a, const ExprPtr& b);
/// hi - lo, in normal form; negative for some empty loops.
ExprPtr trip_count(const For& f);
bool reads_config(const ExprPtr& e);

// --- data -------------------------------------------------------------------------------------
/// The data symbols that `e` reads (tensors, scalars and windows), not control variables.
std::set<Sym> data_read(const ExprPtr& e);
/// The allocation or argument that `s` is, or is a window of.
Sym root_of(const Proc& p, const Path& at, Sym s);
/// May `e` read an element of the buffer behind `s`?
bool reads_buffer(const Proc& p, const Path& at, const ExprPtr& e, Sym s);
/// A value of `e` stored in an element of type `target` and read back is the same value.
bool keeps_value(const ExprPtr& e, ScalarType target);
void require_no_cast(const ExprPtr& e, ScalarType target, const char* op);
/// Every element read in `e` lies in its tensor when control is just before `at`, and no integer is
/// divided by what may be zero.
Answer reads_in_bounds(const Proc& p, const Path& at, const ExprPtr& e);
/// Element type of `s` at `at`.
ScalarType element_type(const Proc& p, const Path& at, Sym s);
/// The same values wherever control is at `at`: equal trees up to proved-equal control parts.
Answer equal_in_context(const Proc& p, const Path& at, const ExprPtr& a, const ExprPtr& b);

}  // namespace exotune::internal
