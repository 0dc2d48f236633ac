#pragma once
// Builders of the steps that several searches are made of. Start at block_step.
//
// A loop that a step makes is found again through the step's values (value_of), never by how its
// name is spelt: who needs it later keeps the name that it passed here.
#include <cstdint>
#include <optional>
#include <string>

#include "core/library/step.h"
#include "hw/target.h"

namespace exotune {

/// Parts of `b` that `a` is cut into; both positive.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Vector registers that schedules may count on; 32 where the target's text does not say.
int64_t registers_of(const Target& target);

/// A target's vector unit as operators take it.
class VectorValues {
 public:
  /// `instructions`: those that may be used, in the order in which they are preferred.
  VectorValues(const Target& target, ScalarType precision, const ValueList& instructions);

  int64_t lanes() const { return lanes_; }
  int64_t registers() const { return registers_; }
  const Value& memory() const { return memory_; }
  /// op(p, before..., lanes, registers, instructions, after...)
  ScheduleStep step(const std::string& op, ValueList before, const ValueList& after = {}) const;

 private:
  int64_t lanes_, registers_;
  Value memory_, instructions_;
};

/// All of the target's instructions, as a list of values.
ValueList instruction_values(const Target& target);

/// for ..: for x: s  ->  for outer: for ..: for x: s, the outer part in front of the loop `outside`
/// ("": where the loop stands). `sizes` is a number, or a list for what the tiles before leave.
ScheduleStep block_step(const std::string& loop, Value sizes, const std::string& outer,
                        const std::string& outside = "");

/// [8, 4, 2, 1] for 8 and 1: for a boundary whose extent is not known.
Value halving(int64_t size, int64_t last);

/// Copies the operand in front of the loop, in strips of its dimension `dim` (-1: of its last).
ScheduleStep pack_step(const std::string& buffer, const std::string& before, int64_t strip,
                       const VectorValues& unit, int dim = -1);

/// The two loops, one directly inside the other, change places.
ScheduleStep swap_step(const std::string& outer, const std::string& inner);

/// Does a sum of so many terms (nothing: not known) last until the lines of its tile, which are
/// asked for meanwhile, are there? Then `apart` is worth it.
bool lasts_for_asking(std::optional<int64_t> terms);

/// Sums of a tile in registers, along three loops; `apart`: added to the result in the end.
ScheduleStep register_block_step(const std::string& rows, const std::string& columns,
                                 const std::string& sum, const VectorValues& unit, bool apart);
/// The same for sums over several loops; `window`: the one of them that moves what is read the way
/// rows do, of rows that are read once for all of the tile ("": none).
ScheduleStep sum_block_step(const std::string& rows, const std::string& columns,
                            const VectorValues& unit, const std::string& window = "");
ScheduleStep unroll_registers_step(const VectorValues& unit);
/// What the strip of `columns` elements beside this one has in the rows that the loop `sum` reads
/// of a buffer: by the last element of each of its lines, in which it ends wherever it begins.
ScheduleStep asks_beside_step(const std::string& sum, const std::string& buffer, int64_t columns,
                              int64_t elements_of_line);
ScheduleStep interleave_step(const std::string& loop, int64_t factor);

}  // namespace exotune
