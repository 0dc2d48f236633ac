#include "core/library/operator_values.h"

namespace exotune {

VectorTail vector_tail(const std::string& t) {
  if (t == "perfect") return VectorTail::kPerfect;
  if (t == "cut") return VectorTail::kCut;
  if (t == "cut_and_guard") return VectorTail::kCutAndGuard;
  if (t == "predicate") return VectorTail::kPredicate;
  if (t == "cut_and_predicate") return VectorTail::kCutAndPredicate;
  throw InputError(
      {}, "there is no tail '" + t + "' for vectors",
      "tails are 'perfect', 'cut', 'cut_and_guard', 'predicate' and 'cut_and_predicate'");
}

InterleaveTail interleave_tail(const std::string& t) {
  if (t == "cut") return InterleaveTail::kCut;
  if (t == "perfect") return InterleaveTail::kPerfect;
  if (t == "recursive") return InterleaveTail::kRecursive;
  if (t == "specialize") return InterleaveTail::kSpecialize;
  throw InputError({}, "there is no tail '" + t + "' for interleaving",
                   "tails are 'cut', 'perfect', 'recursive' and 'specialize'");
}

VectorUnit vector_unit(const OperatorArgs& a, int lanes, int memory, int instrs) {
  if (a.integer(lanes) < 1)
    throw SchedulingError("a vector has at least 1 lane, not " + std::to_string(a.integer(lanes)),
                          {}, "`vw` is how many numbers a register holds, 8 of f32 in 256 bits");
  return {a.small(lanes), a.memory(memory), a.procs(instrs)};
}

}  // namespace exotune
