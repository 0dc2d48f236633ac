#pragma once
// Every primitive at every place of a proc with a few arguments each: what the exhaustive test
// tries.
#include <functional>
#include <string>
#include <vector>

#include "core/ir/proc.h"
#include "tests/exhaustive/oracle.h"

namespace exotune::exhaustive {

struct Move {
  const char* op;
  size_t number = 0;  // among the moves of its proc
  std::function<ProcPtr()> apply;
  bool fixes_n = false;                 // the result has no N: it was evaluated for N = 3
  Matrices matrices = Matrices::kSame;  // how the result takes z
  bool composite = false;               // several steps
};

/// With `shadowing`, new loops are called i and new buffers t, whatever is visible there. `known`:
/// the procs to replace code by, and to call instead of others.
std::vector<Move> moves_of(const ProcPtr& p, const std::vector<ProcPtr>& known,
                           bool shadowing = false);

/// Operator and arguments of a move that moves_of(p, known, shadowing) has made, for messages.
std::string text_of(const Move& m, const ProcPtr& p, const std::vector<ProcPtr>& known,
                    bool shadowing = false);

}  // namespace exotune::exhaustive
