#include "hw/machine_model.h"

#include <gtest/gtest.h>

namespace exotune {
namespace {

const std::filesystem::path kTargets = EXOTUNE_SOURCE_DIR "/hw";

const ModelledNumber& number(const MachineModel& model, const std::string& what) {
  for (const ModelledNumber& n : model.numbers)
    if (n.what == what) return n;
  throw std::out_of_range(what);
}

TEST(MachineModel, of_an_unknown_core_is_the_default) {
  const TargetPtr target = load_target("avx512", {kTargets});
  const MachineModel model = model_of(*target, Machine{});
  EXPECT_EQ(number(model, "L2").source, "uarch/default.toml");
  EXPECT_EQ(number(model, "L2").value, 1 << 20);
}

TEST(MachineModel, a_known_core_outranks_the_default_and_the_probe_outranks_both) {
  const TargetPtr target = load_target("avx512", {kTargets});
  Machine machine;
  machine.microarch = "intel_spr";
  const MachineModel text = model_of(*target, machine);
  EXPECT_EQ(number(text, "L2").value, 2 << 20);
  EXPECT_EQ(number(text, "L2").source, "uarch/sapphirerapids.toml");
  machine.caches = {{1, 32 << 10, 64, 1}, {2, 512 << 10, 64, 1}};
  const MachineModel probed = model_of(*target, machine);
  EXPECT_EQ(number(probed, "L2").value, 512 << 10);
  EXPECT_EQ(number(probed, "L2").source, "probed");
  EXPECT_EQ(number(probed, "L2 line").source, "uarch/sapphirerapids.toml");
  EXPECT_EQ(number(probed, "L3").source, "uarch/sapphirerapids.toml");
}

TEST(MachineModel, what_was_measured_outranks_all) {
  const TargetPtr target = load_target("avx512", {kTargets});
  const MachineModel model = model_of(*target, Machine{}, {0.5, 2, 7, 13});
  EXPECT_EQ(number(model, "L3 line").value, 7);
  EXPECT_EQ(number(model, "DRAM line").value, 13);
  EXPECT_EQ(number(model, "DRAM line").source, "measured");
  EXPECT_EQ(model.levels.back().cost_per_line, 13);
}

TEST(MachineModel, a_target_of_ones_own_keeps_what_it_says) {
  const TargetPtr target = load_target(EXOTUNE_SOURCE_DIR "/tests/hw/madeup/vec4", {});
  const MachineModel model = model_of(*target, Machine{});
  ASSERT_FALSE(model.numbers.empty());
  for (const ModelledNumber& n : model.numbers) {
    const bool memory = n.what.starts_with("L") || n.what.starts_with("DRAM");
    EXPECT_EQ(memory ? n.source : "target text", "target text") << n.what;
  }
  EXPECT_EQ(number(model, "window").source, "uarch/default.toml");  // which is built in
}

TEST(MachineModel, a_core_that_is_only_described_is_as_its_file_says) {
  const TargetPtr target = load_target("avx512", {kTargets});
  Machine here;
  here.caches = {{1, 32 << 10, 64, 1}, {2, 512 << 10, 64, 1}};
  const Machine other =
      described_machine(here, EXOTUNE_SOURCE_DIR "/docs/examples/small_core.toml");
  const MachineModel model = model_of(*target, other);
  EXPECT_EQ(number(model, "L2").value, 128 << 10);
  EXPECT_EQ(number(model, "L2").source, "small_core.toml");
  EXPECT_EQ(number(model, "DRAM line").value, 40);
  EXPECT_NE(other.microarch, here.microarch);
}

TEST(CoreFacts, are_all_said_by_the_default_or_left_to_the_target) {
  for (const CoreFact& fact : core_facts()) {
    const bool of_target =
        std::string(fact.key).starts_with("fma") || std::string(fact.key) == "load_latency";
    EXPECT_EQ(default_core().*fact.value > 0, !of_target) << fact.key;
  }
  const TargetPtr target = load_target("avx512", {kTargets});
  const MachineModel model = model_of(*target, Machine{});
  EXPECT_EQ(model.core.fma_latency, target->latency.at("fma"));
  EXPECT_EQ(number(model, "fma_latency").source, "target text");
}

TEST(CoreFacts, of_a_file_outrank_the_default_one_by_one) {
  const CoreFacts core = read_core(TomlTable::parse("window = 64", "small.toml"), default_core());
  EXPECT_EQ(core.window, 64);
  EXPECT_EQ(core.page, default_core().page);
}

TEST(CoreFacts, that_nobody_reads_are_refused) {
  EXPECT_THROW(read_core(TomlTable::parse("windows = 64", "small.toml"), {}), InputError);
  EXPECT_THROW(read_core(TomlTable::parse("window = -1", "small.toml"), {}), InputError);
}

TEST(MachineModel, every_file_of_hw_is_read) {
  for (const auto& entry : std::filesystem::directory_iterator(kTargets / "uarch")) {
    const Microarchitecture m = load_microarchitecture(entry.path());
    EXPECT_EQ(m.levels.size(), 4u) << entry.path();
    for (size_t k = 1; k < m.levels.size(); ++k)
      EXPECT_GT(m.levels[k].cost_per_line, m.levels[k - 1].cost_per_line) << entry.path();
  }
}

}  // namespace
}  // namespace exotune
