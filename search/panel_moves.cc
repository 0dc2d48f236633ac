#include <algorithm>
#include <set>

#include "search/contraction_moves.h"
#include "search/moves/tiles.h"

namespace exotune {

const char kByColumns[] = "by columns";
const char kMeanwhile[] = "asked for meanwhile";
constexpr double kFarPanels = 2;        // times the second cache: of panels that it does not hold
constexpr double kPanelsInThird = 8;    // such panels that the third holds, at least
constexpr int64_t kLeastForPanels = 8;  // rows that go by as one tile or two: nothing comes again
std::string standing_tag(int64_t vectors) { return "as it stands, " + vectors_tag(vectors); }
std::string panel_tag(int64_t vectors, bool far) {
  return (far ? "far panels, vectors=" : "panels, vectors=") + std::to_string(vectors);
}

namespace {

// Strips of the operand where it stands. As deep as a part of the first cache holds: of rows that
// begin within a line a strip lies in two lines each, and the next strip comes meanwhile.
void add_standing(const Contraction& c, int64_t depth, Stage& stage) {
  for (int64_t vectors = c.most_vectors; vectors >= 1 && vectors + 1 >= c.most_vectors; --vectors) {
    const double row = static_cast<double>(vectors * c.lanes) * c.element;
    for (const int64_t k : balanced(depth, {c.l1 / 2 / row, c.l1 / 4 / row}))
      stage.moves.push_back(
          {{block_step(c.k, k, c.outer_of(c.k), c.place)}, standing_tag(vectors), ""});
  }
}

}  // namespace

Stage orders(const Contraction& c) {
  Stage stage{"order", {}};
  const auto rows = c.extent(c.i), columns = c.extent(c.j), depth = c.extent(c.k);
  if (!c.constraints.empty() || c.vectored.empty() || c.strip > 0 || c.is_tile(c.i) ||
      c.is_tile(c.j) || c.is_tile(c.k) || !rows || !columns || !depth ||
      static_cast<double>(*columns * *depth) * c.element <= c.l2)
    return stage;
  stage.moves.push_back({{}, kByColumns, ""});
  if (*rows <= kStandingRows && c.turned < 0) add_standing(c, *depth, stage);
  if (*rows <= kLeastForPanels) return stage;
  for (int64_t vectors = c.most_vectors; vectors >= 1 && vectors + 1 >= c.most_vectors; --vectors) {
    const int64_t width = vectors * c.lanes, height = (c.registers - vectors - 1) / vectors;
    const double line = c.l1 / (static_cast<double>(height) * c.element);
    // As deep as the rows of one tile fill a part of the first cache; the panel's strip streams.
    for (const int64_t k : balanced(depth, {line * 0.25, line * 0.5, line * 0.75})) {
      if (static_cast<double>(k) > line) continue;  // the nearest number of parts is one too few
      std::set<int64_t> sizes;
      const auto add = [&](double bytes, bool far) {
        const int64_t strips = std::max<int64_t>(
            1, static_cast<int64_t>(bytes / (static_cast<double>(k * width) * c.element)));
        if (!sizes.insert(strips).second) return;
        stage.moves.push_back({{block_step(c.k, k, c.outer_of(c.k), c.place),
                                block_step(c.j, strips * width, c.block_of(c.j), c.place),
                                pack_step(c.vectored, c.place, width, c.unit, c.turned)},
                               panel_tag(vectors, far),
                               ""});
      };
      // Of the second cache: half of it leaves the other half to what streams by; less and more,
      // since how much of that stays in the way depends on how the cache replaces lines.
      for (const double share : {0.375, 0.5, 0.75}) add(share * c.l2, false);
      // Where the third holds it many times over the panel may stream from there: the rows go by
      // less often.
      if (kFarPanels * kPanelsInThird * c.l2 <= c.l3) add(kFarPanels * c.l2, true);
    }
  }
  return stage;
}

std::vector<Move> standing_tiles(const Contraction& c, int64_t vectors) {
  std::vector<Move> out;
  const int64_t most = std::min((c.registers - vectors - 1) / vectors, *c.extent(c.i)),
                width = vectors * c.lanes;
  const ScheduleStep asks =
      asks_beside_step(c.k, c.vectored, width, c.line / static_cast<int64_t>(c.element));
  for (int64_t h = most; h >= std::max<int64_t>(1, most - 2); --h) {
    Move tile{
        {block_step(c.j, width, c.outer_of(c.j), c.place), block_step(c.i, h, c.outer_of(c.i))},
        "",
        standing_tag(vectors)};
    Steps kernel = micro_kernel(c);
    kernel.insert(kernel.end() - 1, asks);
    tile.steps.insert(tile.steps.end(), kernel.begin(), kernel.end());
    out.push_back(std::move(tile));
  }
  return out;
}

std::vector<Move> panel_tiles(const Contraction& c, int64_t vectors, bool far) {
  std::vector<Move> out;
  const int64_t most = (c.registers - vectors - 1) / vectors;
  for (int64_t h = most; h >= std::max<int64_t>(1, most - 2); --h) {
    Move plain{{block_step(c.i, h, c.outer_of(c.i)),
                block_step(c.j, vectors * c.lanes, c.outer_of(c.j), c.i)},
               "",
               panel_tag(vectors, far)};
    Move asking = plain;
    for (const ScheduleStep& step : micro_kernel(c)) plain.steps.push_back(step);
    asking.steps.push_back(register_block_step(c.i, c.j, c.k, c.unit, true));
    asking.steps.push_back({"prefetch_meanwhile", {c.outer_of(c.i), c.k}});
    asking.steps.push_back(
        {"prefetch_meanwhile", {c.block_of(c.j), c.k, c.vectored}, {}, {{"locality", 2}}});
    asking.steps.push_back(unroll_registers_step(c.unit));
    asking.tag = kMeanwhile;
    out.push_back(std::move(asking));
    if (h == most) out.push_back(std::move(plain));
  }
  return out;
}

}  // namespace exotune
