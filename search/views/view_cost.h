#pragma once
// What a form of a program takes on a target, copies included: vector operations, or cycles of the
// instructions that multiply tiles. A guess from extents and shapes alone, to say which forms are
// worth a search; what is chosen is measured. Start at ViewCosts.
#include <optional>
#include <string>

#include "core/ir/type.h"
#include "hw/target.h"
#include "search/device/instruction_set.h"
#include "search/eqsat/lowering.h"

namespace exotune {

/// What all products of a program take in tiles.
struct TileFit {
  double cycles = 0;
  double points = 0;  // multiplications of them all; others have loops that do not start at 0
  std::string tile;   // "16 x 16 x 16" of the last product that fits one; "" where none does
  bool made =
      false;  // the processor makes operands of tiles, how often is a plan's: not in `cycles`
};

/// For one target and the type of a kernel's results.
class ViewCosts {
 public:
  ViewCosts(TargetPtr target, ScalarType result);

  /// A machine without vectors, whose instructions multiply tiles: what counts is that loops are
  /// long enough to fill them, and that rows lie as an instruction reads them.
  bool multiplies_tiles() const { return multiplies_tiles_; }
  /// Elements of a vector, or the shorter side of the largest tile; 1 where there are neither.
  int64_t block() const;
  /// What `operations` counts: "vectors of 8", "cycles of tiles".
  std::string unit() const;

  /// Of a form whose extents are known. Vectors: of the one product that it is of; a vector that is
  /// copied is loaded and stored, an element that is copied by itself counts as one. Tiles: of the
  /// whole program, each copied element loaded and stored by the processor. Nothing where sizes are
  /// open.
  std::optional<double> operations(const std::optional<eqsat::ViewFigures>& figures,
                                   const ProcPtr& proc) const;
  /// How `proc`, whose sizes are fixed, fits instructions that multiply tiles. A product that fits
  /// none is the processor's.
  TileFit fit(const ProcPtr& proc) const;
  /// Of a machine that multiplies tiles; empty otherwise.
  const DeviceInstructions& device() const { return device_; }

 private:
  TargetPtr target_;
  bool multiplies_tiles_;
  double lanes_ = 1;
  DeviceInstructions device_;
};

/// How many times fewer operations than as written, by `report`; 1 where nobody can tell.
double gain_of(const ViewCosts& costs, const eqsat::CandidateReport& report,
               const eqsat::Candidate& c);

}  // namespace exotune
