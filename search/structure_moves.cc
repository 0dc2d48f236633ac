#include "search/structure_moves.h"

#include <optional>
#include <utility>

#include "search/moves/carried_scalars.h"
#include "search/moves/chains.h"
#include "search/moves/closures.h"
#include "search/moves/components.h"
#include "search/moves/distribution.h"
#include "search/moves/factors.h"
#include "search/moves/filters.h"
#include "search/moves/guards.h"
#include "search/moves/inner_storage.h"
#include "search/moves/invariants.h"
#include "search/moves/own_arrays.h"
#include "search/moves/point_scalars.h"
#include "search/moves/quotients.h"
#include "search/moves/recurrences.h"
#include "search/moves/row_blocks.h"
#include "search/moves/row_fusion.h"
#include "search/moves/scans.h"
#include "search/moves/shared_passes.h"
#include "search/moves/stage_rows.h"
#include "search/moves/streams.h"
#include "search/moves/turned_blocks.h"
#include "search/moves/windows.h"

namespace exotune {

namespace {

using Found = std::vector<NewStructure>;

Found one(const std::string& move, std::optional<Schedule> s) {
  Found out;
  if (s) out.push_back({move, std::move(*s), false});
  return out;
}
Found all(const std::string& move, std::vector<Schedule> schedules) {
  Found out;
  for (Schedule& s : schedules) out.push_back({move, std::move(s), false});
  return out;
}

Found unguarded(const Schedule& s, const StructureContext& /*c*/) {
  return one("no guards", without_guards(s));
}

// What every iteration computes alike, once.
Found invariants(const Schedule& s, const StructureContext& /*c*/) {
  return one("invariants in front", invariants_in_front(s));
}

// What one point has a few of, as scalars.
Found point_scalars(const Schedule& s, const StructureContext& c) {
  return one("points in scalars", c.vectors ? points_in_scalars(s) : std::nullopt);
}

// Iterations that share something by twos or fours: loops of their own.
Found whole_quotients(const Schedule& s, const StructureContext& /*c*/) {
  return one("quotients apart", without_quotients(s));
}

// Passes over more than the caches hold, as several streams.
Found streams(const Schedule& s, const StructureContext& c) {
  Found out;
  if (c.vectors)
    for (Schedule& parts : in_streams(s, c.sizes, c.caches, c.page))
      out.push_back({"streams", std::move(parts), true});
  return out;
}

// Copies that turn over what they copy, by way of a buffer; and what is read across.
Found turned_blocks(const Schedule& s, const StructureContext& c) {
  Found out;
  if (std::optional<Schedule> blocks = turned_in_blocks(s, c.sizes, c.caches, c.lanes))
    out.push_back({"turned over block by block", std::move(*blocks), true});
  if (c.vectors)
    if (std::optional<Schedule> blocks = operands_turned_in_blocks(s, c.sizes, c.caches, c.lanes))
      out.push_back({"operands turned over block by block", std::move(*blocks), true});
  return out;
}

// Numbers of a few parts, side by side: vectors of each part.
Found components(const Schedule& s, const StructureContext& c) {
  return c.vectors ? all("components apart", in_components(s, c.sizes, *c.instructions, *c.unit))
                   : Found{};
}

// Rows with arrays of their own, some at a time.
Found blocks_of_rows(const Schedule& s, const StructureContext& c) {
  return one("blocks of rows", distributed_in_blocks(s, c.sizes, c.caches));
}

// Loops that need their own earlier iterations: factorizations, triangular solves, closures. Blocks
// are as many rows as a vector has lanes; without vectors there is nothing to gain.
Found recurrence_blocks(const Schedule& s, const StructureContext& c) {
  return c.vectors ? all("blocks of a recurrence", blocks_of_recurrences(s, c.lanes, c.unit))
                   : Found{};
}
Found closure_blocks(const Schedule& s, const StructureContext& c) {
  return c.vectors ? all("blocks of steps", blocks_of_closures(s, c.lanes)) : Found{};
}

// Sweeps in place: several rows at once, each behind the one before.
Found skewed(const Schedule& s, const StructureContext& /*c*/) {
  return all("rows one behind the other", wavefronts(s));
}

// Rows that are a recurrence each: vectors of rows.
Found rows_side_by_side(const Schedule& s, const StructureContext& c) {
  Found out;
  if (!c.vectors) return out;
  for (Schedule& rows : rows_in_lanes(s, c.lanes, c.unit)) {
    std::vector<Schedule> blocks = blocks_of_lanes(rows);
    out.push_back({"rows in lanes", std::move(rows), false});
    for (Schedule& b : blocks) out.push_back({"blocks of rows in lanes", std::move(b), false});
  }
  return out;
}

Found by_columns(const Schedule& s, const StructureContext& /*c*/) {
  return one("a recurrence by columns", recurrences_by_columns(s));
}
// What recurrences have beside their chain of values is vectors, in loops of its own; a chain that
// only adds up is vectors, too, and rows of others may then be nests of their own.
Found chains(const Schedule& s, const StructureContext& c) {
  if (!c.vectors) return {};
  const std::optional<Schedule> terms = chains_apart(s, c.caches, 1),
                                apart = chains_apart(s, c.caches);
  Found out = one("running values", scans_in_vectors(terms ? *terms : s, *c.instructions));
  if (apart) {
    out.push_back({"chains apart, distribute", distribute(*apart, true), false});
    out.push_back({"chains apart", *apart, false});
  }
  return out;
}
// What comes of the iteration before in a scalar, in rows: the rest is as independent as without
// it, but for chains that are there still.
Found carried_scalars(const Schedule& s, const StructureContext& c) {
  const std::optional<Schedule> rows = c.vectors ? carried_in_rows(s) : std::nullopt;
  if (!rows) return {};
  const Schedule apart = distribute(*rows, true);
  Found out;
  if (std::optional<Schedule> chains = chains_apart(apart, c.caches, 1))
    out.push_back({"carried scalars in rows, chains apart", std::move(*chains), false});
  out.push_back({"carried scalars in rows, distribute", apart, false});
  out.push_back({"carried scalars in rows", *rows, false});
  return out;
}
Found filters(const Schedule& s, const StructureContext& c) {
  return one("whole vectors of taps",
             c.vectors ? whole_vectors_of_taps(s, c.sizes, c.caches, c.lanes) : std::nullopt);
}
Found factors_inside(const Schedule& s, const StructureContext& /*c*/) {
  return one("factors into sums", with_factors_inside(s));
}
Found separable_windows(const Schedule& s, const StructureContext& c) {
  return all("windows one direction after the other", windows_ahead(s, c.sizes));
}
Found own_arrays(const Schedule& s, const StructureContext& /*c*/) {
  return one("an array for each iteration", with_own_arrays(s));
}

// One pass over what several nests read, and what lies between them in registers.
Found fused(const Schedule& s, const StructureContext& /*c*/) {
  const Schedule fused = fuse_neighbours(s), shared = share_passes(s);
  Found out = {{"fuse", fused, false}, {"one pass over a shared array", shared, false}};
  for (const Schedule* from : {&s, &fused, &shared})
    out.push_back({"nothing stored between", with_storage_inside(*from), false});
  return out;
}

Found staged_rows(const Schedule& s, const StructureContext& /*c*/) {
  return all("stages row by row", stages_by_rows(s));
}

// Each sweep more leaves the rows of one more in the cache between them and adds a boundary.
Found fused_sweeps(const Schedule& s, const StructureContext& /*c*/) {
  Found out;
  for (const int steps : {1, 2, 4})
    out.push_back({"rows of " + std::to_string(steps) + " sweeps", fuse_rows(s, steps), false});
  return out;
}

// Where numbers of a few parts are taken apart nothing else makes vectors of them: first.
constexpr StructureMove kBeforeDistribution[] = {
    components,     carried_scalars,   invariants,
    point_scalars,  rows_side_by_side, streams,
    turned_blocks,  unguarded,         whole_quotients,
    blocks_of_rows, recurrence_blocks, closure_blocks,
    skewed,         by_columns,        chains,
    filters,        factors_inside,    separable_windows,
};
constexpr StructureMove kOnGuards[] = {unguarded};
constexpr StructureMove kAfterDistribution[] = {own_arrays, fused, staged_rows, fused_sweeps};

}  // namespace

std::span<const StructureMove> moves_before_distribution() { return kBeforeDistribution; }
std::span<const StructureMove> moves_on_guards() { return kOnGuards; }
std::span<const StructureMove> moves_after_distribution() { return kAfterDistribution; }

}  // namespace exotune
