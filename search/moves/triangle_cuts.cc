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

// Blocks of whole strips: `vectors` wide each, with `rows` of register tiles that leave no rest.
struct StripBlock {
  int64_t vectors = 1, strips = 1, rows = 1;
  int64_t columns() const { return vectors * strips; }
  int64_t results() const { return vectors * rows; }
};

// Those whose tiles fill three quarters of the registers with results, small blocks first (what a
// square computes for nothing is half of it), and the smallest of the others.
std::vector<StripBlock> blocks_of_strips(int64_t registers, int64_t lanes) {
  constexpr size_t kMost = 3;         // of full tiles
  constexpr int64_t kMostStrips = 4;  // of more the squares are most of a usual triangle
  std::vector<StripBlock> full, others;
  for (const int64_t vectors : std::set<int64_t>{2, 3, std::max<int64_t>(1, registers / 8)})
    for (int64_t strips = 1; strips <= kMostStrips; ++strips) {
      StripBlock b{vectors, strips, std::max<int64_t>(1, (registers - 1 - vectors) / vectors)};
      while (b.columns() * lanes % b.rows != 0) --b.rows;
      (4 * b.results() >= 3 * registers ? full : others).push_back(b);
    }
  const auto smaller = [](const StripBlock& a, const StripBlock& b) {
    return a.columns() < b.columns();
  };
  std::stable_sort(full.begin(), full.end(), smaller);
  std::stable_sort(others.begin(), others.end(), smaller);
  full.resize(std::min(full.size(), kMost));
  if (!others.empty()) full.push_back(others.front());
  return full;
}

// Strips of a vector that a register tile of a low block has: with as many rows as registers are
// left for, fewer loads than products.
constexpr int64_t kStripsOfATile = 3;

}  // namespace

TriangleCuts::TriangleCuts(const Target& target, ScalarType precision,
                           const ValueList& instructions, int64_t near_bytes)
    : target_(target),
      precision_(precision),
      instructions_(instructions),
      lanes_(std::max(1, target.lanes_of(precision))),
      near_bytes_(near_bytes) {}

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
  const auto lowest =
      triangle_of_strips(s, nest, sizes, {lanes_, lanes_, kStripsOfATile}, near_bytes_);
  if (lowest && !take(*lowest, "triangle of tiles of strips")) return false;
  for (const StripBlock& b : blocks_of_strips(registers_of(target_), lanes_)) {
    const auto cut =
        triangle_of_strips(s, nest, sizes, {b.columns() * lanes_, b.vectors * lanes_}, near_bytes_);
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
