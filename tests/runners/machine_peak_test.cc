#include "runners/machine_peak.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "tests/runners/shipped_targets.h"

namespace exotune {
namespace {

TEST(MachinePeak, is_measured_for_both_precisions) {
  for (ElementType t : {ElementType::kF32, ElementType::kF64})
    EXPECT_GT(measure_peak(plain_toolchain(), t), 0);
}

TEST(MachinePeak, of_others_is_that_of_the_instruction_in_the_targets_text) {
  EXPECT_THROW(measure_peak(plain_toolchain(), ElementType::kI8), Error);
  TargetToolchain own = plain_toolchain();
  own.roofs["i8"] = {"int", "int", "a = a * x + y", 2};
  EXPECT_GT(measure_peak(own, ElementType::kI8), 0);
}

TEST(MachinePeak, every_roof_of_a_target_compiles_and_runs_where_the_cpu_has_it) {
  for (const std::string& name : list_targets({EXOTUNE_SOURCE_DIR "/hw"})) {
    const TargetPtr target = samples::shipped_target(name);
    if (!supports(probe_machine(), *target)) continue;
    const TargetToolchain toolchain = toolchain_of(*target);
    for (const auto& [type, roof] : toolchain.roofs)
      EXPECT_GT(measure_peak(toolchain, element_from_name(type)), 0) << name << " " << type;
  }
}

TEST(MachinePeak, what_the_cpu_lacks_is_unavailable) {
  TargetToolchain foreign = plain_toolchain();
  foreign.lacking = {"wide"};
  EXPECT_THROW(measure_peak(foreign, ElementType::kF32), Error);
}

TEST(MachinePeak, every_level_has_a_bandwidth) {
  const Bandwidth b = measure_bandwidth(plain_toolchain());
  for (double v : {b.l1, b.l2, b.l3, b.dram, b.dram_copy}) EXPECT_GT(v, 0);
}

}  // namespace
}  // namespace exotune
