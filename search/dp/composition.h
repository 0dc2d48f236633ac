#pragma once
// Compositions: nests joined by intermediate tensors, each a Spec by itself (a chain of matrix
// products, the steps of a softmax). Start at chain_plans.
//
// What may be done with one: bufferize (the whole intermediate is kept, in the nearest level that
// holds it) and fuse (the rows that the parts share are cut into tiles; each tile goes through all
// parts, so that its part of the intermediate stays in a cache). SpecSolver says what the parts
// cost, with the memory that the intermediate and the operands shared by all tiles leave over.
// Steps along rows that are no products (row_steps.cc) are fused row by row and made of vectors.
#include <string>
#include <vector>

#include "core/library/step.h"
#include "hw/target.h"
#include "search/dp/dp.h"
#include "search/dp/lift.h"

namespace exotune {

/// One nest, and the statement in front of its sum that sets the result (zero), if there is one.
struct ChainPart {
  LiftedNest nest;
  bool initialised = false;
  int rows = -1;  // the loop that all parts share
};

struct Composition {
  std::vector<ChainPart> parts;
  std::vector<Sym> intermediates;  // of part k, read by part k + 1
};

/// The proc as a chain: allocations, then nests of literal extents of which each reads what the one
/// before it writes, row by row. Nothing when it is none.
std::optional<Composition> lift_chain(const Proc& p);

struct ChainPlan {
  int64_t tile = 0;   // rows; 0: bufferized
  std::string level;  // where the intermediate lies
  int64_t units = 0;  // cost by the model
  Steps steps;        // that make it
};

/// Bufferized and fused by every tile of rows that divides them, cheapest first, each with the
/// register tiles of the parts' cheapest plans and of the library's default. Steps along rows:
/// row_plans. Empty for no chain, or for products that name two loops alike.
/// `instructions`: those that may be used.
std::vector<ChainPlan> chain_plans(const Proc& p, const Target& target,
                                   const ValueList& instructions,
                                   const TargetFigures& figures = {});

/// Steps along rows, all of whose loops over rows have one name: each row through all steps, and
/// the steps one after the other; every loop along a row in vectors, 1 to 8 of them at a time (a
/// maximum one at a time). What a plan costs is the lines of memory that pass by.
std::vector<ChainPlan> row_plans(const Composition& chain, const Target& target,
                                 const ValueList& instructions, const DpMachine& machine);

}  // namespace exotune
