#pragma once
// Moves for contractions: what the beam may do with nests whose innermost statement is
// `out[..] += a[..] * b[..]`. Start at contraction_space (sums of one loop) and sums_space (of
// several: convolutions); space_for chooses. The stages below are what both are put together from.
#include <optional>
#include <string>
#include <vector>

#include "search/moves.h"
#include "search/steps/builders.h"

namespace exotune {

/// What the moves of a contraction are made from.
struct Contraction {
  const Nest& nest;
  const Target& target;
  const std::vector<ScriptConstraint>& constraints;
  std::string i, j, k;              // row, vector and reduction loop
  std::string front;                // the outermost loop
  std::string place;                // the loop that what is outside the tiles goes in front of
  std::string vectored;             // the operand that runs along j
  int turned = -1;                  // in this dimension, so that it must be packed; -1: in its last
  std::vector<std::string> beside;  // of several sums: others that run along j, packed with it
  /// The operand that runs along i and is read across its rows, since k is not its last dimension:
  /// the dimensions that i and k move. "": there is none.
  struct Strided {
    std::string buffer;
    int rows = -1, sum = -1;
  } strided;
  int64_t strip = 0;  // it lies in strips already
  int64_t lanes = 0, registers = 0;
  double l1 = 0, l2 = 0, l3 = 0, element = 0;
  int64_t line = 64;  // bytes of a line, where no machine says
  VectorValues unit;
  int64_t most_vectors = 1;

  /// What the steps call the outer part of a loop: of a tile's strips or rows, of a block in a
  /// farther cache.
  std::string outer_of(const std::string& loop) const { return loop + "o"; }
  std::string block_of(const std::string& loop) const { return loop + "c"; }

  std::optional<int64_t> extent(const std::string& loop) const { return nest.find(loop)->extent; }
  /// Iterations at most, when that is known.
  std::optional<int64_t> most(const std::string& loop) const { return nest.find(loop)->most; }
  bool is_tile(const std::string& loop) const { return !nest.find(loop)->outer.empty(); }
  double vector_line() const { return l1 / (static_cast<double>(lanes) * element); }

  // A tile set decides; else what the caches suggest.
  std::vector<int64_t> sizes(const std::string& loop, std::vector<int64_t> wishes) const {
    return allowed_tiles(loop, constraints).value_or(std::move(wishes));
  }
};

Contraction contraction_of(const Nest& nest, const Target& target,
                           const std::vector<TargetLevel>& levels,
                           const std::vector<ScriptConstraint>& constraints,
                           const VectorValues& unit);

/// The decisions for out[i, j] += a[i, k] * b[k, j] and the like.
SearchSpace contraction_space(const Contraction& c);

/// The decisions for sums over several loops, whose order is free.
SearchSpace sums_space(const Contraction& c);

// --- the stages ---------------------------------------------------------------------------------

/// The loop at the end of a chain of tiles: io for i in io * 8 + i.
const NestLoop& outermost_part(const Nest& nest, const std::string& loop);

/// Is the order of the loops the user's?
bool keeps_order(const std::vector<ScriptConstraint>& constraints);

/// Block sizes near each wish that cut the extent into equal parts, largest first.
std::vector<int64_t> balanced(std::optional<int64_t> extent, const std::vector<double>& wishes);

/// "vectors=2": the width of a register tile, which strips and tiles agree on.
std::string vectors_tag(int64_t vectors);

/// The steps that make a tile of registers of sums along one loop.
Steps micro_kernel(const Contraction& c);

/// Heights of the register tile for each width, each with a tag that its strips have; no
/// micro-kernel yet.
Stage register_heights(const Contraction& c);

/// The same, each followed by `kernel`.
Stage register_tiles(const Contraction& c, const Steps& kernel);

/// The tag of schedules that pack the strided operand as well.
extern const char kRowsPacked[];

/// Each of the register tiles with the strided operand packed in front of the loop `before`: in
/// strips as high as the tile, or turned, so that its rows lie as the sum goes. None where there is
/// no such operand, or where tiles are given.
std::vector<Move> with_rows_packed(const Contraction& c, const std::vector<Move>& tiles,
                                   const std::string& before);

/// The tag of schedules that keep a strip of the vectored operand near, which the stages of
/// contraction_space go on with.
extern const char kByColumns[];

/// Which operand stays in the nearest cache while the other goes by: a strip of the vectored one
/// (kByColumns, or standing_tag where it is not copied), or the rows of a tile. Then a panel of
/// strips lies in the second cache, sums are longer, and the result is visited less often. Worth a
/// try only when the vectored operand is larger than that cache; else no moves.
Stage orders(const Contraction& c);

/// The tag of schedules in panels that ask for what comes next.
extern const char kMeanwhile[];

/// The tag of schedules in panels of strips so many vectors wide, which their tiles ask for. Far
/// ones lie in the third cache.
std::string panel_tag(int64_t vectors, bool far);

/// The tag of schedules that read a far operand where it stands, in strips so many vectors wide.
std::string standing_tag(int64_t vectors);

/// The register tiles of such strips: each asks for what the next strip reads of the same rows,
/// which lie too far apart for anybody to fetch ahead. For few rows, that packing would not pay
/// for.
std::vector<Move> standing_tiles(const Contraction& c, int64_t vectors);

/// The register tiles of panels: rows outside, strips inside; with what the next rows and the next
/// panel need asked for meanwhile, and plain for where there is no time for that.
std::vector<Move> panel_tiles(const Contraction& c, int64_t vectors, bool far);

}  // namespace exotune
