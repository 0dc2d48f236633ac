#pragma once
// What the readers of nests share: how an index moves with a loop, and the nests that are rows.
// Internal to nest.cc and nest_rows.cc; start at inspect_nest in nest.h.
#include <optional>
#include <vector>

#include "search/nest.h"

namespace exotune::nest_parts {

/// What a statement of an innermost loop writes and computes.
struct Statement {
  Sym name;
  std::vector<ExprPtr> idx;
  ExprPtr rhs;
  bool reduces;
  bool adds = false;  // it reduces by a sum
};
/// Nothing for anything but assignments and reductions.
std::optional<Statement> statement_of(const StmtPtr& s);

/// The loop's name, its extent where both bounds are literal, and the most that the rest of a loop
/// cut into tiles can have.
NestLoop loop_of(const For& f);

/// Is the index exactly the loop's iterator plus what does not mention it (coefficient one)? Only
/// then do neighbouring iterations lie side by side.
bool runs_along(const ExprPtr& index, Sym iter);
/// j % c: the place in a strip of c elements; 0 for anything else.
int64_t strip_of(const ExprPtr& index, Sym iter);
/// j / c: the strip, or how many strips behind what other loops choose.
bool picks_strip(const ExprPtr& index, Sym iter, int64_t strip);
/// The factor of `iter` in a sum; 0 when it is not there, or not so simply.
int64_t coefficient(const ExprPtr& e, Sym iter);
/// Windows may have any stride unless an assert says that the last one is 1.
bool is_contiguous(const Proc& p, Sym buffer);

/// Rows of an imperfect nest: an outer loop with, somewhere in it, a loop along contiguous
/// elements, as in `for i: dot = 0; for j: dot += A[i, j] * x[j]; y[i] = dot`. kOther for anything
/// else.
Nest inspect_rows(const Proc& p);

}  // namespace exotune::nest_parts
