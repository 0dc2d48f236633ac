#pragma once
// What must hold of a call: arity, kinds, precisions, memories, positive sizes, shapes, windows in
// bounds, the callee's asserts, and no harmful aliasing between arguments. Used by every primitive
// that makes or changes calls.
#include <optional>
#include <vector>

#include "core/primitives/internal.h"

namespace exotune::internal {

struct CallProblem {
  LazyText what;
  Answer answer;  // kProved when no query was involved
};

/// The first thing wrong with `callee(args)` standing at `at`, or nothing. Cheap checks come first
/// and no text is made until `what` is printed.
std::optional<CallProblem> call_problem(const Proc& p, const Path& at, const ProcPtr& callee,
                                        const std::vector<ExprPtr>& args);

/// Throws SchedulingError when the call at `at` has a problem.
void require_call(const Proc& p, const Path& at, const char* op);
/// For every call in the `n` statements at `first` that mentions one of `names`: what require_call
/// asks, as far as it concerns these buffers. The rest was checked when the call was made, and a
/// change of layout, memory or window of `names` leaves it as it was.
void require_calls(const Proc& p, const Path& first, int n, const std::set<Sym>& names,
                   const char* op);

/// May an actual in memory `actual` stand for a formal in `formal`? Equal names, or any addressable
/// C array for DRAM.
bool memory_fits(const MemoryPtr& formal, const MemoryPtr& actual);
/// R is f32 as soon as code is generated.
bool same_precision(ScalarType a, ScalarType b);

/// An expression over a callee's formals as seen by the caller: control formals become the
/// arguments, strides of formals the strides of what they are bound to.
ExprPtr at_call(const Proc& p, const Path& at, const Proc& callee, const std::vector<ExprPtr>& args,
                const ExprPtr& e);

/// The data formals that running the proc may change, windows and calls seen through.
std::set<Sym> written_formals(const Proc& p);
bool writes_config(const Block& b);

}  // namespace exotune::internal
