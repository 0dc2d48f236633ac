#include "runners/sim/processor.h"

#include <gtest/gtest.h>

#include "tests/runners/sim/small_machine.h"

namespace exotune::sim {
namespace {

constexpr uint32_t kAddA0A1A2 = 0x00c58533, kLwA0A1 = 0x0005a503, kSwA2A1 = 0x00c5a023,
                   kAddiA0A0One = 0x00150513, kJumpToSelf = 0x0000006f;

TEST(Processor, a_sum_of_two_registers) {
  SmallMachine m("rv64i", {kAddA0A1A2});
  m.processor->set_x(11, 40);
  m.processor->set_x(12, 2);
  EXPECT_EQ(m.run(), Stop::kTrap);
  EXPECT_TRUE(m.reached_end());
  EXPECT_EQ(m.processor->x(10), 42u);
  EXPECT_EQ(m.processor->account().instructions, 1u);
}

TEST(Processor, a_narrow_machine_wraps_around) {
  SmallMachine m("rv32i", {kAddA0A1A2});
  m.processor->set_x(11, 0x7fffffff);
  m.processor->set_x(12, 1);
  m.run();
  EXPECT_EQ(m.processor->x(10), 0xffffffff80000000u);
}

TEST(Processor, an_illegal_instruction_traps_where_it_stands) {
  SmallMachine m("rv64i", {kAddiA0A0One, 0x0000006b, kAddiA0A0One});
  EXPECT_EQ(m.run(), Stop::kTrap);
  EXPECT_EQ(m.processor->trap().cause, 2u);
  EXPECT_EQ(m.processor->trap().pc, SmallMachine::kCode + 4);
  EXPECT_EQ(m.processor->trap().value, 0x6bu);
  EXPECT_EQ(m.processor->x(10), 1u);
  EXPECT_EQ(m.processor->account().instructions, 1u);
  EXPECT_NE(describe(m.processor->trap()).find("illegal instruction 0x0000006b"),
            std::string::npos);
}

TEST(Processor, a_misaligned_access_traps_and_changes_nothing) {
  for (const auto& [word, cause] : {std::pair{kLwA0A1, 4u}, std::pair{kSwA2A1, 6u}}) {
    SmallMachine m("rv32i", {word});
    m.processor->set_x(10, 7);
    m.processor->set_x(11, SmallMachine::kData + 2);
    EXPECT_EQ(m.run(), Stop::kTrap);
    EXPECT_EQ(m.processor->trap().cause, cause);
    EXPECT_EQ(m.processor->trap().value & 0xffffffffu, SmallMachine::kData + 2);
    EXPECT_EQ(m.processor->x(10), 7u);
  }
}

TEST(Processor, an_access_outside_memory_traps) {
  for (const auto& [word, cause] : {std::pair{kLwA0A1, 5u}, std::pair{kSwA2A1, 7u}})
    for (const uint64_t address :
         {SmallMachine::kCode - 4, SmallMachine::kCode + 0x4000, uint64_t{0}}) {
      SmallMachine m("rv64i", {word});
      m.processor->set_x(11, address);
      m.run();
      EXPECT_EQ(m.processor->trap().cause, cause) << address;
      EXPECT_EQ(m.processor->trap().value, address);
    }
}

TEST(Processor, code_cannot_be_written) {
  SmallMachine m("rv64i", {kSwA2A1});
  m.processor->set_x(11, SmallMachine::kCode);
  m.run();
  EXPECT_EQ(m.processor->trap().cause, 7u);
}

TEST(Processor, a_jump_out_of_the_code_traps) {
  SmallMachine m("rv64i", {0x000580e7});  // jalr a1
  m.processor->set_x(11, SmallMachine::kData);
  m.run();
  EXPECT_EQ(m.processor->trap().cause, 1u);
  EXPECT_EQ(m.processor->trap().value, SmallMachine::kData);
}

TEST(Processor, a_jump_to_half_an_instruction_traps_without_compressed_ones) {
  SmallMachine m("rv64i", {0x000580e7});
  m.processor->set_x(11, SmallMachine::kCode + 2);
  m.run();
  EXPECT_EQ(m.processor->trap().cause, 0u);
  EXPECT_EQ(m.processor->trap().pc, SmallMachine::kCode);
  EXPECT_EQ(m.processor->x(1), 0u) << "the jump did not happen";
}

TEST(Processor, a_runaway_loop_meets_the_limit) {
  SmallMachine m("rv64i", {kJumpToSelf});
  EXPECT_EQ(m.run(1000), Stop::kLimit);
  EXPECT_EQ(m.processor->account().instructions, 1000u);
  EXPECT_EQ(m.run(1000), Stop::kLimit);
  EXPECT_EQ(m.processor->account().instructions, 2000u);
}

TEST(Processor, a_handler_that_traps_at_once_ends_the_run) {
  // csrw mtvec, a1; an illegal word; the handler is another.
  SmallMachine m("rv64i", {0x30559073, 0x6b, 0x6b});
  m.processor->set_x(11, SmallMachine::kCode + 8);
  EXPECT_EQ(m.run(), Stop::kTrap);
  EXPECT_EQ(m.processor->first_trap().pc, SmallMachine::kCode + 4);
  EXPECT_EQ(m.processor->trap().pc, SmallMachine::kCode + 8);
}

TEST(Processor, a_handler_sees_the_cause_and_may_return) {
  // csrw mtvec, a1; illegal; (handler:) csrr a0, mcause; csrr a2, mepc; ebreak
  SmallMachine m("rv64i", {0x30559073, 0x6b, 0x34202573, 0x34102673});
  m.processor->set_x(11, SmallMachine::kCode + 8);
  m.run(3);
  EXPECT_EQ(m.processor->x(10), 2u);
  EXPECT_EQ(m.processor->x(12), SmallMachine::kCode + 4);
}

TEST(Processor, instret_counts_what_came_before) {
  // addi; csrr a1, instret; addi; csrr a2, instret
  SmallMachine m("rv64i", {kAddiA0A0One, 0xc02025f3, kAddiA0A0One, 0xc0202673});
  m.run();
  EXPECT_EQ(m.processor->x(11), 1u);
  EXPECT_EQ(m.processor->x(12), 3u);
}

TEST(Processor, a_register_of_the_clock_cannot_be_written) {
  SmallMachine m("rv64i", {0xc0059073});  // csrw cycle, a1
  m.run();
  EXPECT_EQ(m.processor->trap().cause, 2u);
}

uint64_t cycles_of(const std::vector<uint32_t>& words, const Timing& timing) {
  SmallMachine m("rv64im", words, nullptr, timing);
  m.processor->set_x(11, SmallMachine::kData);
  m.run();
  return m.processor->account().cycles - 1;  // the trap takes one
}

TEST(Processor, a_use_right_after_a_load_waits) {
  Timing timing;
  timing.load = 3;
  const uint32_t use = kAddiA0A0One, other = 0x00168693;  // addi a3, a3, 1
  EXPECT_EQ(cycles_of({kLwA0A1, use}, timing), 4u);
  EXPECT_EQ(cycles_of({kLwA0A1, other, use}, timing), 4u);
  EXPECT_EQ(cycles_of({kLwA0A1, other, other, use}, timing), 4u);
  EXPECT_EQ(cycles_of({kLwA0A1, other, other, other, use}, timing), 5u);
}

TEST(Processor, waiting_for_loads_is_told_apart) {
  Timing timing;
  timing.load = 5, timing.multiply = 4;
  SmallMachine m("rv64im", {kLwA0A1, kAddiA0A0One, 0x02c58533, kAddiA0A0One}, nullptr, timing);
  m.processor->set_x(11, SmallMachine::kData);
  m.run();
  EXPECT_EQ(m.processor->account().waited_for_loads, 4u);
  EXPECT_EQ(m.processor->account().waited, 4u + 3u);
}

TEST(Processor, nothing_issues_during_a_division) {
  Timing timing;
  timing.divide = 20;
  EXPECT_EQ(cycles_of({0x02c5c533, 0x00168693}, timing), 21u);
}

TEST(Processor, a_taken_branch_costs_more) {
  Timing timing;
  timing.branch_taken = 2;
  const uint32_t equal = 0x00000463, unequal = 0x00001463;  // beq, bne zero, zero, +8
  EXPECT_EQ(cycles_of({equal, kAddiA0A0One, kAddiA0A0One}, timing), 1u + 2u + 1u);
  EXPECT_EQ(cycles_of({unequal, kAddiA0A0One, kAddiA0A0One}, timing), 3u);
}

}  // namespace
}  // namespace exotune::sim
