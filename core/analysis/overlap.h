#pragma once
// May two accesses, each in its own instance of the code around it, touch one element? The two
// instances of a loop iterator are two variables of one Problem.
#include "core/analysis/effects.h"

namespace exotune {

/// What an iterator means in one instance.
struct Instance {
  struct Meaning {
    Sym iter;
    int var;
  };
  std::vector<Meaning> meanings;
  const char* suffix = "";  // of the names of its inner loops in counter-examples
};

/// kProved: no element is touched by both. The facts of `problem` hold for both instances.
Answer never_overlap(Problem& problem, const Effect& a, const Instance& in_a, const Effect& b,
                     const Instance& in_b);

/// Do the two kinds of access to one element commute? Reads with reads, sums with sums (over the
/// reals), maxima with maxima.
bool kinds_commute(Access::Kind a, Access::Kind b);

/// "A[i + 1]" as the code around the block would write it.
std::string describe(const Access& a);
/// "reads", "writes", ...
const char* verb(Access::Kind k);

}  // namespace exotune
