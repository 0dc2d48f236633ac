#pragma once
// Operation: what one instruction of RV32/RV64 IMAFDC + Zicsr does once its compressed form, its
// operands and its immediate are taken apart (decoder.h). The lists are in the order of the
// interpreter's table of entry points.
#include <cstdint>

namespace exotune::sim {

/// `count` bits of an instruction word, from bit `low` up; fewer than 32.
constexpr uint32_t bits(uint32_t word, int low, int count) {
  return (word >> low) & ((1u << count) - 1);
}

// clang-format off
// X(name): integer operations without a memory access.
#define EXOTUNE_SIM_INTEGER(X) \
  X(Addi) X(Slti) X(Sltiu) X(Xori) X(Ori) X(Andi) X(Slli) X(Srli) X(Srai) X(Add) X(Sub) X(Sll) \
  X(Slt) X(Sltu) X(Xor) X(Srl) X(Sra) X(Or) X(And) X(Addiw) X(Slliw) X(Srliw) X(Sraiw) X(Addw) \
  X(Subw) X(Sllw) X(Srlw) X(Sraw) X(Li) X(Auipc)
#define EXOTUNE_SIM_MULTIPLY(X) \
  X(Mul) X(Mulh) X(Mulhsu) X(Mulhu) X(Div) X(Divu) X(Rem) X(Remu) X(Mulw) X(Divw) X(Divuw) \
  X(Remw) X(Remuw)
#define EXOTUNE_SIM_MEMORY(X) \
  X(Lb) X(Lh) X(Lw) X(Lbu) X(Lhu) X(Lwu) X(Ld) X(Sb) X(Sh) X(Sw) X(Sd) X(Flw) X(Fld) X(Fsw) \
  X(Fsd)
// These end a block of straight-line code.
#define EXOTUNE_SIM_CONTROL(X) \
  X(Jal) X(Jalr) X(Beq) X(Bne) X(Blt) X(Bge) X(Bltu) X(Bgeu) X(Fence) X(FenceI) X(Ecall) \
  X(Ebreak) X(Mret) X(Wfi) X(Csr) X(Illegal) X(GoOn) X(Fetch)
// Done outside the loop: floats, atomics, devices. Header precedes a block and is never executed.
#define EXOTUNE_SIM_OTHER(X) \
  X(Float) X(FloatToInt) X(Amo) X(Device) X(Header)
// Two operations that often stand next to each other. The first knows which one follows and goes
// there straight: a jump that needs no prediction. The second is decoded as itself.
#define EXOTUNE_SIM_SECONDS(X, first) \
  X(first, Addi) X(first, Add) X(first, Slli) X(first, Mul) X(first, Lb) X(first, Lw) \
  X(first, Sw) X(first, Bne) X(first, Bge)
#define EXOTUNE_SIM_PAIRS(X) \
  EXOTUNE_SIM_SECONDS(X, Addi) EXOTUNE_SIM_SECONDS(X, Add) EXOTUNE_SIM_SECONDS(X, Slli) \
  EXOTUNE_SIM_SECONDS(X, Mul) EXOTUNE_SIM_SECONDS(X, Lb) EXOTUNE_SIM_SECONDS(X, Lw) \
  EXOTUNE_SIM_SECONDS(X, Sw)
// clang-format on

enum class Operation : uint16_t {
#define EXOTUNE_SIM_ENUM(name) k##name,
  EXOTUNE_SIM_INTEGER(EXOTUNE_SIM_ENUM) EXOTUNE_SIM_MULTIPLY(EXOTUNE_SIM_ENUM)
      EXOTUNE_SIM_MEMORY(EXOTUNE_SIM_ENUM) EXOTUNE_SIM_CONTROL(EXOTUNE_SIM_ENUM)
          EXOTUNE_SIM_OTHER(EXOTUNE_SIM_ENUM)
#undef EXOTUNE_SIM_ENUM
#define EXOTUNE_SIM_ENUM(first, second) k##first##Then##second,
              EXOTUNE_SIM_PAIRS(EXOTUNE_SIM_ENUM)
#undef EXOTUNE_SIM_ENUM
};

/// The first of a pair with that second, where the two are one; else as it was.
constexpr Operation followed_by(Operation first, Operation second) {
#define EXOTUNE_SIM_PAIR(a, b) \
  if (first == Operation::k##a && second == Operation::k##b) return Operation::k##a##Then##b;
  EXOTUNE_SIM_PAIRS(EXOTUNE_SIM_PAIR)
#undef EXOTUNE_SIM_PAIR
  return first;
}

/// Register 0 as a destination: written, never read.
constexpr uint8_t kNowhere = 32;

/// A decoded instruction. `word` of the original is kept where the operation needs more of it.
struct Instruction {
  Operation operation = Operation::kIllegal;
  uint8_t rd = kNowhere;
  uint8_t rs1 = 0;
  uint8_t rs2 = 0;
  uint8_t rs3 = 0;        // floats: the addend; register figures of a float result in `rd`
  uint8_t detail = 0;     // floats: FloatOperation; csr: funct3; rounding mode is in `mode`
  uint8_t mode = 0;       // rounding mode of a float operation; aq, rl are of no consequence
  uint8_t length = 4;     // bytes: 2 or 4
  int32_t immediate = 0;  // Header: instructions of the block; Device, Csr, Illegal: the word
  uint32_t offset = 0;    // of the instruction from the start of memory
};

/// True for operations after which the next instruction is looked up.
constexpr bool ends_block(Operation op) { return op >= Operation::kJal && op <= Operation::kFetch; }

}  // namespace exotune::sim
