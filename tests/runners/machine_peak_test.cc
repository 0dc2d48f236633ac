#include "runners/machine_peak.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace exotune {
namespace {

TEST(MachinePeak, is_measured_for_both_precisions) {
  for (ElementType t : {ElementType::kF32, ElementType::kF64})
    EXPECT_GT(measure_peak("scalar", t), 0);
  EXPECT_THROW(measure_peak("scalar", ElementType::kI16), InputError);
  EXPECT_THROW(measure_peak("scalar", ElementType::kI8), Error);
}

TEST(MachinePeak, dot_products_are_measured_where_the_cpu_has_them) {
  for (ElementType t : {ElementType::kBf16, ElementType::kI8}) try {
      EXPECT_GT(measure_peak("avx512", t), 0);
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), ExitCode::kUnavailable);
    }
}

TEST(MachinePeak, an_unknown_isa_is_unavailable) {
  EXPECT_THROW(measure_peak("vliw", ElementType::kF32), Error);
}

TEST(MachinePeak, every_level_has_a_bandwidth) {
  const Bandwidth b = measure_bandwidth("scalar");
  for (double v : {b.l1, b.l2, b.l3, b.dram, b.dram_copy}) EXPECT_GT(v, 0);
}

}  // namespace
}  // namespace exotune
