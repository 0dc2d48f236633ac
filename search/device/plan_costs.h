#pragma once
// PlanCosts: what a plan takes on a device, in cycles, reckoned from the target's text alone: the
// cost of each instruction, bytes from main memory, commands that the processor issues. It orders
// trials and chooses among ways to keep operands; only runs decide. The figures that no text has
// are named in plan_costs.cc.
#include "search/device/device_plan.h"
#include "search/device/instruction_set.h"

namespace exotune {

class PlanCosts {
 public:
  /// For plans of that product. `product` and `instructions` are borrowed. Bytes from main memory
  /// cost what the target's level of the heap says, a quarter of a cycle where it has none.
  PlanCosts(const ProductInstruction& product, const DeviceInstructions& instructions,
            const Target& target);
  /// Cycles: the longest of what the array, transfers and the processor take, what they wait for
  /// each other, and a tenth of the sum, since nothing overlaps wholly. Linear in the plan's loops.
  double estimate(const DevicePlan& plan) const;
  /// Tiles of that operand that are loaded in all.
  static double loads_of(const DevicePlan& plan, const SumFactor& f, const PlanOperand& o);
  /// Bytes of a whole tile whose elements are of that type.
  int64_t tile_bytes(const TileArgument& t, ScalarType element) const;

 private:
  /// Iterations of a loop. Blocks that do not divide the tiles: the last one counts for as much of
  /// a block as it has.
  static double iterations_of(const DevicePlan& plan, const PlanLoop& l);
  bool in_registers() const;
  /// Of one product: less where its tile is smaller than the instruction can do.
  double product_cycles(const DevicePlan& plan) const;
  /// Of one tile of results that leaves, `together` of them finished side by side.
  double leaving_cycles(const DevicePlan& plan, int64_t together) const;
  int64_t results_together(const DevicePlan& plan) const;
  /// Of one tile that is loaded.
  double load_cycles(const DevicePlan& plan, const SumFactor& f, const PlanOperand& o) const;
  /// What the array waits while what is kept for a loop's iterations is loaded in the first.
  double first_pass_stall(const DevicePlan& plan, const SumFactor& f, const PlanOperand& o,
                          double array, double each) const;
  /// Elements that the processor computes or converts for a made operand.
  double made_elements(const DevicePlan& plan, const SumFactor& f) const;

  const ProductInstruction& product_;
  const DeviceInstructions& instructions_;
  double cycles_per_byte_ = 0.25;
  double line_bytes_ = 0;  // of main memory; 0: the text does not say
};

}  // namespace exotune
