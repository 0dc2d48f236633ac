// The named restrictions of the search: each leaves the optimum where it is, at sizes where the
// unrestricted search finishes too. On the AVX-512 machine as its text states it; nothing runs.
#include <gtest/gtest.h>

#include "search/dp/dp.h"

namespace exotune {
namespace {

int64_t optimum(const DpRules& rules, const std::array<uint32_t, 3>& sizes) {
  const DpMachine machine = machine_of(*load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"}));
  SpecKinds kinds;
  LayoutPool layouts;
  BoxMemo memo;
  ActionSpace space(machine, rules, kinds, layouts);
  SpecSolver solver(space, memo);
  const Subscript i{{0, 1}}, j{{1, 1}}, k{{2, 1}};
  const ScalarType t = ScalarType::kF32;
  const SpecKind kind{"+= $0 * $1",         true,
                      {false, false, true}, {{t, {i, k}}, {t, {k, j}}, {t, {i, j}}},
                      {{0, 1}, {1, 0}},     "0"};
  Spec spec;
  spec.kind = static_cast<uint16_t>(kinds.id(kind));
  std::copy(sizes.begin(), sizes.end(), spec.extents.begin());
  for (int o = 0; o < 3; ++o) {
    const OperandShape shape = operand_shape(kind.operands[o], spec.extents.data());
    spec.operands[o].level = static_cast<uint8_t>(machine.outermost());
    spec.operands[o].layout = layouts.id(TensorLayout::row_major(shape));
  }
  const std::optional<MemoValue> value = solver.solve(spec);
  return value && !value->best.empty() ? value->best.front().cost.units : -1;
}

struct Restriction {
  const char* name;
  void (*lift)(DpRules&);
};

const Restriction kRestrictions[] = {
    {"one copy for each operand", [](DpRules& r) { r.relayout = Relayout::kAlways; }},
    {"one copy for each operand and level", [](DpRules& r) { r.relayout = Relayout::kOnce; }},
    {"outermost level first", [](DpRules& r) { r.outermost_first = false; }},
    {"tiles in steps", [](DpRules& r) { r.tiles_in_steps = false; }},
    {"all of them",
     [](DpRules& r) {
       r.relayout = Relayout::kAlways;
       r.outermost_first = r.tiles_in_steps = false;
     }},
};

TEST(DpRules, restrictions_keep_the_optimum) {
  for (const auto& sizes :
       {std::array{16u, 16u, 16u}, {32u, 32u, 32u}, {64u, 64u, 64u}, {20u, 48u, 30u}}) {
    const int64_t expected = optimum(search_rules(), sizes);
    EXPECT_GT(expected, 0);
    for (const Restriction& r : kRestrictions) {
      DpRules rules = search_rules();
      r.lift(rules);
      EXPECT_EQ(optimum(rules, sizes), expected)
          << r.name << " at " << sizes[0] << "x" << sizes[1] << "x" << sizes[2];
    }
  }
}

TEST(DpRules, a_block_costs_its_busiest_port_or_the_sum) {
  DpRules sum = search_rules();
  sum.ports = false;
  EXPECT_GT(optimum(sum, {32, 32, 32}), optimum(search_rules(), {32, 32, 32}));
}

// More sizes to choose from never cost more.
TEST(DpRules, further_tiles_only_help) {
  DpRules powers = search_rules();
  powers.factors = {};
  for (const auto& sizes : {std::array{96u, 96u, 96u}, {100u, 48u, 64u}})
    EXPECT_LE(optimum(search_rules(), sizes), optimum(powers, sizes));
}

}  // namespace
}  // namespace exotune
