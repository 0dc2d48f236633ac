#include "search/moves/triangle_cuts.h"

#include <algorithm>
#include <set>
#include <vector>

#include "search/moves.h"

namespace exotune {

namespace {

// Vectors of a register tile, at least one; where the target's text names no registers, too.
std::set<int64_t> widths_of_strips(const Target& target) {
  return {2, std::max<int64_t>(1, registers_of(target) / 8)};
}

}  // namespace

TriangleCuts::TriangleCuts(const Target& target, ScalarType precision,
                           const ValueList& instructions)
    : target_(target),
      precision_(precision),
      instructions_(instructions),
      lanes_(std::max(1, target.lanes_of(precision))) {}

void TriangleCuts::each(const Schedule& s, const Path& nest,
                        const std::map<std::string, int64_t>& sizes, bool inside,
                        const Take& take) const {
  if (!target_.vector_memory) return;
  const bool summed = triangle_is_summed(*s.proc, nest);
  // First, where the time is short: no other way packs what all blocks share once.
  if (!inside && !(summed ? each_in_strips(s, nest, take) : each_of_strips(s, nest, sizes, take)))
    return;
  each_block(s, nest, summed, take);
}

// Blocks of a few vectors: the corners stay small, the rectangles are worth tiles. Below four
// vectors no register tile fits between two corners, unless those are squares that have tiles of
// their own; above eight the corners, which run as they were written, are most of a small
// triangle. Where the sum is what gets longer from row to row, tiles fit blocks of any height,
// and the corners may be small. Triangles too short for all that have blocks of one vector.
void TriangleCuts::each_block(const Schedule& s, const Path& nest, bool summed,
                              const Take& take) const {
  bool any = false;
  for (const int64_t vectors :
       summed ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{4, 2, 8, 1})
    for (const bool squares : {true, false}) {
      if (!summed && ((!squares && vectors < 4) || (any && vectors == 1))) continue;
      const auto cut = rectangle_and_corner(s, nest, vectors * lanes_,
                                            squares ? Corners::kSquares : Corners::kTriangles);
      if (!cut) continue;
      any = true;
      if (!take(*cut, squares ? "rectangle and square" : "rectangle and corner")) return;
    }
}

// What the rows of a triangle share along its columns, in strips as wide as a register tile.
bool TriangleCuts::each_of_strips(const Schedule& s, const Path& nest,
                                  const std::map<std::string, int64_t>& sizes,
                                  const Take& take) const {
  for (const int64_t vectors : widths_of_strips(target_))
    for (const int64_t strips : {2, 1, 4}) {
      const int64_t width = vectors * lanes_;
      const auto cut = triangle_of_strips(s, nest, sizes, strips * width, width);
      if (cut && !take(*cut, "triangle of strips")) return false;
    }
  return true;
}

// What all rows share, in packed strips as wide as a register tile; blocks of one and two tiles'
// rows.
bool TriangleCuts::each_in_strips(const Schedule& s, const Path& nest, const Take& take) const {
  const VectorValues unit(target_, precision_, instructions_);
  for (const int64_t vectors : widths_of_strips(target_)) {
    const int64_t rows = (registers_of(target_) - 1 - vectors) / vectors;
    const auto strips = triangle_in_strips(s, nest, vectors * unit.lanes(), unit);
    if (!strips || rows < 1) continue;
    for (const int64_t block : {2 * rows, rows}) {
      const auto cut =
          rectangle_and_corner(strips->schedule, strips->band, block, Corners::kTriangles);
      if (cut && !take(*cut, "rectangle and corner in strips")) return false;
    }
  }
  return true;
}

}  // namespace exotune
