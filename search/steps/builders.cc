#include "search/steps/builders.h"

#include <algorithm>

namespace exotune {

int64_t registers_of(const Target& target) {
  return target.vector_memory->count > 0 ? target.vector_memory->count : 32;
}

VectorValues::VectorValues(const Target& target, ScalarType precision,
                           const ValueList& instructions)
    : lanes_(target.lanes_of(precision)),
      registers_(registers_of(target)),
      memory_(target.vector_memory),
      instructions_(instructions) {}

ScheduleStep VectorValues::step(const std::string& op, ValueList before,
                                const ValueList& after) const {
  for (const Value& v : {Value(lanes_), memory_, instructions_}) before.push_back(v);
  before.insert(before.end(), after.begin(), after.end());
  return {op, std::move(before)};
}

ValueList instruction_values(const Target& target) {
  ValueList out;
  for (const ProcPtr& p : target.instructions()) out.emplace_back(p);
  return out;
}

ScheduleStep block_step(const std::string& loop, Value sizes, const std::string& outer,
                        const std::string& outside) {
  ScheduleStep step{"block_loop", {loop, std::move(sizes), Value::strings({outer, loop})}};
  if (!outside.empty()) step.named = {{"outside", outside}};
  return step;
}

Value halving(int64_t size, int64_t last) {
  std::vector<int64_t> out = {size};
  int64_t p = last;
  while (p * 2 < size) p *= 2;
  for (; p >= last; p /= 2) out.push_back(p);
  return Value::ints(out);
}

ScheduleStep pack_step(const std::string& buffer, const std::string& before, int64_t strip,
                       const VectorValues& unit, int dim) {
  ScheduleStep step = unit.step("pack_operand", {buffer, before, strip});
  if (dim >= 0) step.named = {{"dim", static_cast<int64_t>(dim)}};
  return step;
}

ScheduleStep swap_step(const std::string& outer, const std::string& inner) {
  return {"reorder_loops", {outer + " " + inner}};
}

// Products of 512 x 512 x 16 gain two to five per cent by it, one of 512 x 512 x 8 lost six.
constexpr int64_t kTermsToAsk = 16;

bool lasts_for_asking(std::optional<int64_t> terms) {
  return terms.value_or(kTermsToAsk) >= kTermsToAsk;
}

ScheduleStep register_block_step(const std::string& rows, const std::string& columns,
                                 const std::string& sum, const VectorValues& unit, bool apart) {
  ScheduleStep step = unit.step("register_block", {rows, columns, sum});
  if (apart) step.named = {{"apart", true}};
  return step;
}

ScheduleStep asks_beside_step(const std::string& sum, const std::string& buffer, int64_t columns,
                              int64_t elements_of_line) {
  const int64_t distance = columns + std::max<int64_t>(1, elements_of_line) - 1;
  return {"prefetch_beside", {Value(sum), Value(buffer), Value(distance)}};
}

ScheduleStep sum_block_step(const std::string& rows, const std::string& columns,
                            const VectorValues& unit, const std::string& window) {
  ScheduleStep step = unit.step("sum_block", {rows, columns});
  if (!window.empty()) step.named = {{"window", window}};
  return step;
}

ScheduleStep unroll_registers_step(const VectorValues& unit) {
  return {"unroll_registers", {unit.memory()}};
}

ScheduleStep interleave_step(const std::string& loop, int64_t factor) {
  return {"interleave_loop", {loop, factor}};
}

}  // namespace exotune
