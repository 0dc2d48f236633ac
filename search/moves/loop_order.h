#pragma once
// Loop orders: every legal order of a band of perfectly nested loops. Start at loop_orders.
#include <optional>
#include <string>
#include <vector>

#include "search/moves/step.h"

namespace exotune {

struct LoopOrder {
  Schedule schedule;
  std::vector<int> order;  // of the original loops, outermost first
};

/// for i: for j: s  ->  for j: for i: s, for every order that swaps of neighbours reach
/// (reorder_loops, proved each), the given order first. Bounds may depend on other loops: triangles
/// change with the order. `band` is the outermost loop; the band goes down as far as loops hold
/// nothing but a loop. Bands deeper than `most_loops` only try each loop as the innermost one.
std::vector<LoopOrder> loop_orders(const Schedule& s, const Path& band, int most_loops = 4);

/// The same with these loops innermost, the last of them inside; nothing: a swap was refused, or
/// the band has no loop of a name.
std::optional<LoopOrder> with_innermost(const LoopOrder& o, const Path& band,
                                        const std::vector<std::string>& loops);

/// The loop `levels` below, where loops hold nothing but a loop.
Path down(Path path, int levels);
/// Loops of the band from `band` down.
int band_depth(const Proc& p, const Path& band);

}  // namespace exotune
