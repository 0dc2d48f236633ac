// The order of an operand that is packed ahead: what the dynamic program chooses can be packed, and
// is what the instruction takes.
#include "search/dp/ahead_layout.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/ahead.h"
#include "core/library/columns.h"
#include "hw/kernel_table.h"

namespace exotune {
namespace {

const std::filesystem::path kRoot = EXOTUNE_SOURCE_DIR;

ProcPtr vecmat(int64_t k, int64_t n) {
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  return partial_eval(table.at("bf16_vecmat").load(), {{"K", k}, {"N", n}});
}

std::vector<double> result(const ProcPtr& p, int64_t k, int64_t n) {
  std::vector<double> x, w;
  for (int64_t i = 0; i < k; ++i) x.push_back(static_cast<double>(i % 3) - 1);
  for (int64_t i = 0; i < k * n; ++i) w.push_back(static_cast<double>(i % 5) - 2);
  Buffer X(ScalarType::kBf16, {k}, x), W(ScalarType::kBf16, {k, n}, w),
      Y(ScalarType::kF32, {n}, std::vector<double>(static_cast<size_t>(n), 1));
  run(*p, {&X, &W, &Y});
  return Y.data;
}

class AheadLayouts : public testing::TestWithParam<const char*> {};

TEST_P(AheadLayouts, are_what_the_instruction_takes) {
  TargetLibrary library({kRoot / "hw"});
  const TargetPtr target = library.load(GetParam());
  const ProcPtr before = vecmat(32, 128);
  const VectorUnit unit{
      target->lanes_of(ScalarType::kF32), target->vector_memory, target->instructions(), {}};
  const std::vector<AheadLayout> layouts = ahead_layouts(*before, "W", *target, {});
  ASSERT_GT(layouts.size(), 1u);
  for (size_t k = 0; k < layouts.size(); ++k) {
    const AheadLayout& l = layouts[k];
    if (k > 0) {
      EXPECT_GE(l.cycles, layouts[k - 1].cycles);
    }
    EXPECT_GT(l.cycles, 0);
    ProcPtr p = pack_ahead(before, "W", l.tiles, l.order);
    p = accumulate_columns(p, "k", "j", unit, l.tiles[1] / unit.lanes, l.depth);
    EXPECT_NE(str(*p).find(l.instruction + "("), std::string::npos) << l.instruction << str(*p);
    EXPECT_EQ(result(p, 32, 128), result(before, 32, 128));
  }
}

// Columns of blocks are read from end to end; rows of blocks are not.
TEST_P(AheadLayouts, that_are_read_from_end_to_end_are_cheapest) {
  TargetLibrary library({kRoot / "hw"});
  const ProcPtr large = vecmat(512, 8192);
  const std::vector<AheadLayout> layouts =
      ahead_layouts(*large, "W", *library.load(GetParam()), {}, 99);
  ASSERT_FALSE(layouts.empty());
  EXPECT_EQ(layouts.front().order.front(), layouts.front().depth > 1 ? 2 : 1);
  EXPECT_EQ(layouts.back().order.front(), 0);
  EXPECT_LT(layouts.front().cycles, layouts.back().cycles);
}
INSTANTIATE_TEST_SUITE_P(Targets, AheadLayouts, testing::Values("avx512", "avx512_bf16"));

// A matrix that a cache holds costs less to read than one that no cache does.
TEST(AheadLayouts, are_priced_for_the_machine_at_hand) {
  TargetLibrary library({kRoot / "hw"});
  const TargetPtr target = library.load("avx512");
  TargetFigures large, small;
  large.levels = small.levels = target->levels;
  for (TargetLevel& level : large.levels)
    if (level.name == "L2") level.bytes = 1 << 26;
  for (TargetLevel& level : small.levels)
    if (level.name == "L2" || level.name == "L3") level.bytes = 1 << 18;
  const ProcPtr before = vecmat(512, 8192);
  const auto cheapest = [&](const TargetFigures& figures) {
    return ahead_layouts(*before, "W", *target, figures).at(0).cycles;
  };
  EXPECT_LT(cheapest(large), cheapest(small));
}

TEST(AheadLayouts, there_are_none_for_what_is_no_spec_or_has_no_instruction) {
  TargetLibrary library({kRoot / "hw"});
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  EXPECT_TRUE(
      ahead_layouts(*table.at("bf16_vecmat").load(), "W", *library.load("avx512"), {}).empty());
  EXPECT_TRUE(ahead_layouts(*vecmat(32, 128), "W", *library.load("avx2"), {}).empty());
  EXPECT_TRUE(ahead_layouts(*vecmat(32, 128), "y", *library.load("avx512"), {}).empty());
}

}  // namespace
}  // namespace exotune
