// Machines that do not exist, each a text as in hw/uarch: what differs between two of them must be
// seen in the plans for the same product. Small products and caches, in the proportions of large.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "core/frontend/parser.h"
#include "hw/machine_model.h"
#include "search/dp/dp_plans.h"
#include "search/figures.h"

namespace exotune {
namespace {

constexpr int64_t kSize = 256;
constexpr int64_t kLanes = 16;  // of avx512 in f32

struct MadeUp {
  int l1 = 32 << 10, l2 = 256 << 10, l3 = 512 << 10;  // bytes
  double l3_line = 2.4, memory_line = 6;              // cycles
  int registers = 32;
  std::string core;  // keys of [core]
};

std::string text_of(const MadeUp& m) {
  std::string text = "title = \"made up\"\nmicroarchs = []\n";
  const auto level = [&](const std::string& name, int bytes, double cycles) {
    text += "[[level]]\nname = \"" + name + "\"\nline = 64\n";
    if (bytes > 0) text += "bytes = " + std::to_string(bytes) + "\n";
    text += "cost_per_line = " + std::to_string(cycles) + "\n";
  };
  level("L1", m.l1, 0.5);
  level("L2", m.l2, 1.2);
  level("L3", m.l3, m.l3_line);
  level("DRAM", 0, m.memory_line);
  return text + "[core]\n" + m.core;
}

Module matmul() {
  const std::string n = std::to_string(kSize), matrix = ": f32[" + n + ", " + n + "]";
  return parse_module("@proc\ndef matmul(A" + matrix + ", B" + matrix + ", C" + matrix +
                          "):\n    for i in seq(0, " + n + "):\n        for j in seq(0, " + n +
                          "):\n            for k in seq(0, " + n +
                          "):\n                C[i, j] += A[i, k] * B[k, j]\n",
                      "matmul.exo");
}

// Sizes that the best plan blocks each loop by, outermost first.
struct Plan {
  std::map<std::string, std::vector<int64_t>> blocks;
  // The tile of the result that stays in registers.
  int64_t rows() const { return blocks.at("i").back(); }
  int64_t vectors() const { return rows() * blocks.at("j").back() / kLanes; }
  // Elements of A that are gone over before other rows come: the block that some cache keeps.
  int64_t panel() const { return blocks.at("i").front() * blocks.at("k").front(); }
};

Plan plan_for(const MadeUp& m) {
  const std::string file = testing::TempDir() + "/made_up.toml";
  std::ofstream(file) << text_of(m);
  Target target = *load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  auto memory = std::make_shared<Memory>(*target.vector_memory);
  memory->count = m.registers;
  target.vector_memory = memory;
  DpRequest ask{.plans = 1};
  ask.figures = figures_of(target, described_machine(Machine{}, file), nullptr);
  const Module module = matmul();
  const DpPlans plans = dp_plans(*module.procs.front(), target, ask);
  Plan out;
  for (const ScheduleStep& step : plans.plans.at(0).steps)
    if (step.op == "block_loop")
      out.blocks[*step.args[0].as<std::string>()].push_back(*step.args[1].as<int64_t>());
  return out;
}

TEST(Machines, of_fewer_registers_keep_smaller_tiles) {
  const Plan usual = plan_for({}), half = plan_for({.registers = 16}),
             quarter = plan_for({.registers = 8});
  EXPECT_GT(usual.vectors(), 15);
  EXPECT_LT(usual.vectors(), 32);
  EXPECT_GT(half.vectors(), 7);
  EXPECT_LT(half.vectors(), 16);
  EXPECT_LT(quarter.vectors(), 8);
  EXPECT_GT(quarter.vectors(), 3);  // four cycles of latency want as many sums at least
}

// Half the arithmetic: loads are hidden behind it even when each feeds one multiply-add, so that
// one column of vectors, packed once, is enough.
TEST(Machines, of_one_port_for_multiply_adds_take_narrower_tiles) {
  const Plan usual = plan_for({}), one = plan_for({.core = "fma = 1\n"});
  EXPECT_LT(one.blocks.at("j").back(), usual.blocks.at("j").back());
  EXPECT_GT(one.rows(), usual.rows());
}

// What a level delivers counts, not only what it holds: one that is as slow as memory is nothing to
// keep panels in, and they shrink until L2 holds them.
TEST(Machines, of_a_slow_third_cache_block_for_the_second) {
  MadeUp m{.l1 = 16 << 10, .l2 = 128 << 10, .l3_line = 1.25, .memory_line = 11.5};
  const Plan fast = plan_for(m);
  m.l3_line = 11;
  const Plan slow = plan_for(m);
  EXPECT_GT(4 * fast.panel(), m.l2 / 4);
  EXPECT_LT(slow.panel(), fast.panel());
}

}  // namespace
}  // namespace exotune
