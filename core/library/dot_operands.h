#pragma once
// Products of narrow elements as they stand in a program, and their operands in the order that
// instructions take which sum groups of neighbours in the depth: what dot_block and tile_block
// share. Made of primitives.
#include <optional>
#include <string>
#include <vector>

#include "core/library/vectorize.h"

namespace exotune {

struct DotInstr;

/// The factors and the sum of for i: for j: { C = c; for k: {..; C += a * b} }.
struct NarrowProduct {
  Sym a, b, sum;  // a does not run along j
  ScalarType a_type{}, b_type{}, sum_type{};
  bool begun = false;  // the sum is set in front of k
};

/// The elements that a block reads.
std::vector<const Read*> elements_read(const Block& block);

/// The loop that the statement is, if it is called so; else null.
const For* loop_called(const StmtPtr& s, const std::string& name);

/// for j: { C = c; .. }
bool sets_first(const For& loop);

/// Of the nest at `top` over loops of these three names, which hold nothing else.
std::optional<NarrowProduct> narrow_product_at(const ProcPtr& p, const Path& top,
                                               const std::vector<std::string>& names);

/// for k: { a : T ; a = x ; b : T ; b = y ; s }  ->  for k: { a : T ; b : T ; a = x ; b = y ; s }
/// for the loop at the path: casts in an expression declare each where it is used, instructions
/// declare first.
[[nodiscard]] ProcPtr declarations_first(ProcPtr p, const Path& loop);

/// for i: for j: for k: s  ->  the same for as many k as `group` divides; what is left of the depth
/// is a nest of its own behind, since padding would need zeros that the caller has not.
/// SchedulingError: fewer iterations than that, or no literal number.
[[nodiscard]] ProcPtr group_depth(ProcPtr p, const Path& top, int64_t group);

/// B_dot : T[J/lanes, K/group, lanes, group], filled from B by instructions that interleave rows
/// where the unit has them; the nest at `top` reads it. The nest stands two statements on.
[[nodiscard]] ProcPtr pack_strips(ProcPtr p, const Path& top, const NarrowProduct& product,
                                  const DotInstr& dot, const std::string& j, const std::string& k,
                                  const VectorUnit& unit);

/// A with its depth last and in the instruction's type, copied only where it is not: an allocation
/// and a copy then stand in front of the nest.
[[nodiscard]] ProcPtr align_rows(ProcPtr p, const Path& top, const NarrowProduct& product,
                                 const DotInstr& dot, const std::string& k);

/// for i: for j: C = c ; .. ; for i: for j: s   ->   .. ; for i: for j: { C = c; s }
/// for the nest at `set` and the one at `top` behind it; the latter is then one place earlier.
[[nodiscard]] ProcPtr begin_inside(ProcPtr p, const Path& set, const Path& top);

}  // namespace exotune
