#pragma once
// Plans: how a kernel's sum is done by a device's product, as data. Which loops are tiled by how
// much and in which order they run says all about reuse; how far each operand is kept says what is
// loaded when. Start at DevicePlan; build_plan (plan_builder.h) makes the schedule of one.
#include <optional>
#include <string>
#include <vector>

#include "search/device/kernel_sum.h"

namespace exotune {

/// The parts that a loop over tiles may be split into, outside in: a panel's worth, the tiles of a
/// panel, the tiles whose sums grow together.
enum class LoopPart : uint8_t { kWhole, kPanel, kBlock };

/// A loop over tiles, or one of the kernel's that no instruction knows. The outermost part of a
/// loop that is split is kWhole.
struct PlanLoop {
  size_t loop = 0;    // index into KernelSum::loops
  int64_t trips = 1;  // iterations
  LoopPart part = LoopPart::kWhole;
  friend bool operator==(const PlanLoop&, const PlanLoop&) = default;
};

struct PlanOperand {
  /// How many of the plan's innermost loops its buffer spans: what these touch is loaded once and
  /// kept. 0: each tile is loaded where it is used.
  size_t kept = 0;
  size_t family = 0;     // of transfers, index into DeviceInstructions::families
  bool grouped = false;  // several tiles side by side in one transfer
  /// Of the innermost loops, how many one tile spans: loops that move it by an element, as the taps
  /// of a convolution do. The tile is so much longer, and loaded outside them.
  size_t spanned = 0;
  int64_t turns = 1;  // places that tiles take in turns, where none is kept
};

/// When an operand's loads stand in the program.
enum class Loading : uint8_t {
  kInSum,      // where the sum needs them
  kInFront,    // in front of the sum, as far as what is kept has room
  kRunsAhead,  // in front of the sum before, one iteration of the loop around earlier
};

/// What sets results to zero: the first product, where the device has one that overwrites, or an
/// instruction of its own.
enum class Zeros : uint8_t { kByProduct, kByThemselves };

/// Finished results leave the device tile after tile, or several side by side in one instruction.
enum class Stores : uint8_t { kSideBySide, kOneByOne };

struct DevicePlan {
  const KernelSum* sum = nullptr;               // borrowed
  const ProductInstruction* product = nullptr;  // borrowed
  SumMapping mapping;
  std::vector<PlanLoop> order;  // outside in, the loops inside the tile left out
  PlanOperand first, second;    // of the kernel's sum
  size_t rotated = 0;           // loops right outside the sum that each get results of their own
  Loading loading = Loading::kInSum;
  Zeros zeros = Zeros::kByProduct;
  Stores stores = Stores::kSideBySide;

  /// The position in `order` of the first reduction: sums begin and end just outside it.
  size_t sums_begin() const;
  /// Iterations of the tile along a kernel loop; 1 for one that the product does not know.
  int64_t tile_of(size_t loop) const;
  /// Tiles along a kernel loop, and whether the last of them is shorter.
  int64_t tiles_along(size_t loop) const;
  bool ragged(size_t loop) const { return sum->loops[loop].extent % tile_of(loop) != 0; }
  /// Iterations of that part of a kernel loop; 1: there is none.
  int64_t trips_of(size_t loop, LoopPart part) const;
  /// What the trips of its parts multiply to: more than its tiles where blocks do not divide them,
  /// and the last block has fewer.
  int64_t places_along(size_t loop) const;
  bool uneven(size_t loop) const { return places_along(loop) != tiles_along(loop); }
  /// The kernel loop along a row of results in the device.
  size_t along_rows() const;
  /// Of a loop along rows in two parts, blocks inside: how many blocks have all their tiles, all of
  /// them whole. Where these are not all, the last one gets a program of its own, so that
  /// instructions for several tiles serve the others. Nothing: there is no such last block, or
  /// nothing to gain.
  std::optional<int64_t> blocks_before_last(size_t loop) const;
  bool reduces(const PlanLoop& l) const { return sum->loops[l.loop].reduction; }
  bool concerns(const SumFactor& f, const PlanLoop& l) const {
    return f.loops.contains(sum->loops[l.loop].iter);
  }
  /// Does each iteration move on by one tile, and not by a block of them?
  bool steps_by_tile(const PlanLoop& l) const;
  /// Tiles that a factor's buffer holds, and the results.
  int64_t tiles_of(const SumFactor& f, const PlanOperand& o) const;
  int64_t result_tiles() const;
  /// The product's argument that a factor is.
  const TileArgument& argument_of(const SumFactor& f) const;
  /// "io jo ko jb, A kept 2": for messages and for telling plans apart.
  std::string text() const;
};

}  // namespace exotune
