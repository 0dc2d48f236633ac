#pragma once
// What the instructions of a device do, read from their bodies: which multiply tiles, which bring
// tiles in. Nothing here knows a device: a product is any instruction whose body is a nest around
// `out += first * second`, a transfer any that copies into a memory that programs cannot address.
// Start at read_instructions.
#include <optional>
#include <string>
#include <vector>

#include "hw/target.h"

namespace exotune {

/// One data argument of a product: where it must lie and which of the nest's loops each of its
/// dimensions is.
struct TileArgument {
  MemoryPtr memory;
  std::vector<int> loops;  // indices into ProductInstruction::loops, by dimension
  bool has(int loop) const;
};

/// for ..: out[..] += first[..] * second[..]
struct ProductInstruction {
  struct Loop {
    std::string name;
    int64_t most = 0;    // iterations
    bool fixed = false;  // exactly that many
  };
  ProcPtr proc;
  std::vector<Loop> loops;
  TileArgument out, first, second;
  ScalarType operand = ScalarType::kI32;  // of first and second
  bool converts = false;                  // factors go through scalars of another type
  bool begins = false;  // there is one that sets the results to zero first, on the same memory
};

/// Instructions that fill one memory and share their settings: alternatives of each other, those
/// that bring most tiles at once first.
struct TransferFamily {
  MemoryPtr memory;  // what is filled
  ScalarType element = ScalarType::kI32;
  std::vector<ProcPtr> instructions;  // with those that only set configuration
  int64_t tiles = 1;                  // side by side in one instruction, at most
  ProcPtr alone;                      // the instruction that brings the fewest
};

/// An instruction that computes while it stores: a nest around what it makes of one argument in a
/// memory of the device's own, for one that programs address.
struct PassInstruction {
  ProcPtr proc;
  std::vector<ProductInstruction::Loop> loops;
  MemoryPtr from;
  ScalarType element = ScalarType::kI32;  // there
  size_t window = 0;  // loops around what it reads for one result, as of pixels that are pooled
};

/// What takes results out of a memory of the device's own: how many tiles side by side in one
/// instruction, and what one takes by the target's text.
struct TilesTaken {
  ProcPtr proc;
  MemoryPtr from;
  int64_t tiles = 1;  // at most
  double cost = 0;
};

struct DeviceInstructions {
  std::vector<ProductInstruction> products;
  std::vector<PassInstruction> passes;
  std::vector<TilesTaken> taken;
  std::vector<TransferFamily> families;
  /// All that may stand in a finished schedule: what works under settings made before, and what
  /// only makes settings. Instructions that do both are left out.
  std::vector<ProcPtr> usable;
  /// What waits for all others, an instruction that takes nothing and does nothing; null: none.
  ProcPtr fence;
  /// The device meets memory in the program's order, as parameter `memory_in_order` of the text
  /// says: it finds what the processor stored before, and has read what it overwrites after. Where
  /// not, a fence stands in between.
  bool in_order = false;
  /// Fields of configuration that some body reads as a value.
  struct Field {
    ConfigPtr config;
    std::string name;
    ScalarType type = ScalarType::kF32;
  };
  std::vector<Field> values;

  /// Tiles that one instruction takes out of the memory, at most; 1 where none takes several.
  int64_t tiles_taken(const MemoryPtr& from) const;
  /// The least that one of `tiles` side by side takes to leave the memory; 0: nothing takes any.
  double cost_of_leaving(const MemoryPtr& from, int64_t tiles) const;
};

/// Empty products: the target's instructions multiply no tiles.
DeviceInstructions read_instructions(const Target& target);

}  // namespace exotune
