#include "runners/sim/decoder.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace exotune::sim {
namespace {

TEST(Decoder, an_isa_is_its_letters) {
  const Isa isa = Isa::parse("rv32imc");
  EXPECT_EQ(isa.xlen, 32);
  EXPECT_TRUE(isa.multiply && isa.compressed);
  EXPECT_FALSE(isa.atomic || isa.single || isa.twice);
  EXPECT_TRUE(Isa::parse("rv64gc_zicsr").twice);
}

TEST(Decoder, an_isa_that_is_not_simulated_is_refused) {
  EXPECT_THROW(Isa::parse("rv64imv"), InputError);
  EXPECT_THROW(Isa::parse("arm64"), InputError);
}

TEST(Decoder, what_an_isa_lacks_is_illegal) {
  const uint32_t mul = 0x02c58533, ld = 0x0005b503, fadd = 0x00c5f553, c_nop = 0x0001;
  EXPECT_EQ(decode(mul, Isa::parse("rv32im")).operation, Operation::kMul);
  EXPECT_EQ(decode(mul, Isa::parse("rv32i")).operation, Operation::kIllegal);
  EXPECT_EQ(decode(ld, Isa::parse("rv64i")).operation, Operation::kLd);
  EXPECT_EQ(decode(ld, Isa::parse("rv32i")).operation, Operation::kIllegal);
  EXPECT_EQ(decode(fadd, Isa::parse("rv64if")).operation, Operation::kFloat);
  EXPECT_EQ(decode(fadd, Isa::parse("rv64i")).operation, Operation::kIllegal);
  EXPECT_EQ(decode(c_nop, Isa::parse("rv32ic")).operation, Operation::kAddi);
  EXPECT_EQ(decode(c_nop, Isa::parse("rv32i")).operation, Operation::kIllegal);
}

TEST(Decoder, zeros_and_ones_are_illegal) {
  for (const char* isa : {"rv32gc", "rv64gc"}) {
    EXPECT_EQ(decode(0, Isa::parse(isa)).operation, Operation::kIllegal);
    EXPECT_EQ(decode(0xffffffffu, Isa::parse(isa)).operation, Operation::kIllegal);
  }
}

TEST(Decoder, register_zero_as_a_destination_is_nowhere) {
  EXPECT_EQ(decode(0x00c58033, Isa::parse("rv32i")).rd, kNowhere);  // add x0, a1, a2
}

}  // namespace
}  // namespace exotune::sim
