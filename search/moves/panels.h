#pragma once
// Panels: loops cut so that what they go over again and again stays in a cache, where register
// tiles of one nest cannot see it. Start at sums_in_panels.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/target.h"
#include "search/moves/step.h"

namespace exotune {

/// Bytes of the two caches nearest to the core and of the farthest one, 0: there is none; and of a
/// line of the first.
struct NearestCaches {
  int64_t first = 0, second = 0, last = 0, line = 64;
};
NearestCaches nearest_caches(const std::vector<TargetLevel>& levels);
/// Iterations over elements of the widest type of which a quarter of the first cache is full: what
/// several passes over a strip have between them stays there.
int64_t strip_of(const NearestCaches& caches);

/// `most`, or a little less where equal parts of that leave no rest of the extent.
int64_t equal_parts(int64_t extent, int64_t most);
/// The same, or up to a quarter more where only that leaves no rest.
int64_t equal_parts_about(int64_t extent, int64_t most);

/// for i: for j in seq(i, N): for k in seq(0, K): C[i, j] += ..
///   ->  for ko: for i: for j in seq(i, N): for k in seq(0, D): C[i, j] += ..
///
/// The longest sum of a nest, D terms at a time for everything (block_loop): what the rows share of
/// D terms fits the nearest cache, two vectors wide. For triangles, and where a statement has
/// several products or several statements share their operands: register_tiles_of cuts plain
/// products. What is read is larger than the second cache. Nothing: there is no such nest, or the
/// core refused.
std::optional<Schedule> sums_in_panels(const Schedule& s,
                                       const std::map<std::string, int64_t>& sizes,
                                       const NearestCaches& caches, int64_t lanes);

/// A triangle cut into large rectangles (triangle_in_blocks), each as wide as such a panel is deep.
/// Where what is read is larger than the second cache. Nothing: as above.
std::optional<Schedule> triangle_in_panels(const Schedule& s, const Path& nest,
                                           const std::map<std::string, int64_t>& sizes,
                                           const NearestCaches& caches, int64_t lanes,
                                           int64_t corner_block = 0);

/// for i: { for k in seq(0, i): for j in seq(0, M): B[i, j] += .. B[k, j] ; for j in seq(0, M): ..
/// }
///   ->  for jo: { P[.., j] = B[.., W * jo + j]
///                 for i: { for k in seq(0, i): for j in seq(0, W): P[i, j] += .. P[k, j] ; .. }
///                 B[.., W * jo + j] = P[.., j] }
///
/// A recurrence over rows whose columns know nothing of each other, W of them at a time: all their
/// rows stay in the second cache until they are done (reorder_loops, fuse, block_loop, stage_panel,
/// and the loops as they were). Where the array does not fit it as a whole. Nothing: there is no
/// such recurrence, or the core refused.
std::optional<Schedule> recurrence_in_strips(const Schedule& s, const NearestCaches& caches,
                                             int64_t lanes);

}  // namespace exotune
