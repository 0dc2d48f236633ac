#include "runners/sim/compressed.h"

#include "runners/sim/operation.h"

namespace exotune::sim {

namespace {

// Opcodes of the instructions that compressed ones stand for.
constexpr uint32_t kIntegerLoad = 0x03, kFloatLoad = 0x07, kIntegerStore = 0x23, kFloatStore = 0x27;
// Opcodes of arithmetic, with an immediate and without; Word: of 32 bits on a core of 64.
constexpr uint32_t kImmediate = 0x13, kImmediateWord = 0x1b, kRegisters = 0x33,
                   kRegistersWord = 0x3b;

constexpr uint32_t small(uint32_t half, int low) { return 8 + bits(half, low, 3); }

constexpr uint32_t i_type(uint32_t opcode, uint32_t f, uint32_t rd, uint32_t rs1,
                          uint32_t immediate) {
  return opcode | rd << 7 | f << 12 | rs1 << 15 | immediate << 20;
}
constexpr uint32_t s_type(uint32_t opcode, uint32_t f, uint32_t rs1, uint32_t rs2,
                          uint32_t immediate) {
  return opcode | bits(immediate, 0, 5) << 7 | f << 12 | rs1 << 15 | rs2 << 20 |
         bits(immediate, 5, 7) << 25;
}
constexpr uint32_t r_type(uint32_t opcode, uint32_t f, uint32_t rd, uint32_t rs1, uint32_t rs2,
                          uint32_t upper) {
  return opcode | rd << 7 | f << 12 | rs1 << 15 | rs2 << 20 | upper << 25;
}
constexpr uint32_t jump(uint32_t rd, uint32_t half) {
  const uint32_t m = bits(half, 12, 1) << 11 | bits(half, 11, 1) << 4 | bits(half, 9, 2) << 8 |
                     bits(half, 8, 1) << 10 | bits(half, 7, 1) << 6 | bits(half, 6, 1) << 7 |
                     bits(half, 3, 3) << 1 | bits(half, 2, 1) << 5;
  const uint32_t sign = bits(half, 12, 1) ? 0x1ffu : 0;  // bits 20 and 12 to 19
  return 0x6f | rd << 7 | bits(sign, 0, 8) << 12 | bits(m, 11, 1) << 20 | bits(m, 1, 10) << 21 |
         bits(sign, 8, 1) << 31;
}
constexpr uint32_t encoded_branch(uint32_t f, uint32_t half) {
  const uint32_t m = bits(half, 12, 1) << 8 | bits(half, 10, 2) << 3 | bits(half, 5, 2) << 6 |
                     bits(half, 3, 2) << 1 | bits(half, 2, 1) << 5;
  const uint32_t sign = bits(half, 12, 1) ? 0xfu : 0;  // bits 9 to 12
  const uint32_t all = m | sign << 9;
  return 0x63 | bits(all, 11, 1) << 7 | bits(all, 1, 4) << 8 | f << 12 | small(half, 7) << 15 |
         bits(all, 5, 6) << 25 | bits(all, 12, 1) << 31;
}
// Six bits with their sign, as an I immediate.
constexpr uint32_t immediate6(uint32_t half) {
  return bits(half, 2, 5) | (bits(half, 12, 1) ? 0xfe0u : 0);
}
constexpr uint32_t amount6(uint32_t half) { return bits(half, 2, 5) | bits(half, 12, 1) << 5; }

// Offsets of words and of double words, in the two places where they are kept.
constexpr uint32_t word_offset(uint32_t h) {
  return bits(h, 10, 3) << 3 | bits(h, 6, 1) << 2 | bits(h, 5, 1) << 6;
}
constexpr uint32_t double_offset(uint32_t h) { return bits(h, 10, 3) << 3 | bits(h, 5, 2) << 6; }

uint32_t quadrant0(uint32_t h, const Isa& isa) {
  const uint32_t rs1 = small(h, 7), other = small(h, 2);
  const bool wide = isa.xlen == 64;
  switch (bits(h, 13, 3)) {
    case 0: {
      const uint32_t n =
          bits(h, 11, 2) << 4 | bits(h, 7, 4) << 6 | bits(h, 6, 1) << 2 | bits(h, 5, 1) << 3;
      return n == 0 ? 0 : i_type(kImmediate, 0, other, 2, n);
    }
    case 1:
      return i_type(kFloatLoad, 3, other, rs1, double_offset(h));
    case 2:
      return i_type(kIntegerLoad, 2, other, rs1, word_offset(h));
    case 3:
      return wide ? i_type(kIntegerLoad, 3, other, rs1, double_offset(h))
                  : i_type(kFloatLoad, 2, other, rs1, word_offset(h));
    case 5:
      return s_type(kFloatStore, 3, rs1, other, double_offset(h));
    case 6:
      return s_type(kIntegerStore, 2, rs1, other, word_offset(h));
    case 7:
      return wide ? s_type(kIntegerStore, 3, rs1, other, double_offset(h))
                  : s_type(kFloatStore, 2, rs1, other, word_offset(h));
    default:
      return 0;
  }
}

uint32_t arithmetic1(uint32_t h, const Isa& isa) {
  const uint32_t rd = small(h, 7), rs2 = small(h, 2);
  switch (bits(h, 10, 2)) {
    case 0:
    case 1: {
      if (isa.xlen == 32 && bits(h, 12, 1)) return 0;
      const uint32_t upper = bits(h, 10, 2) ? 0x400u : 0;
      return i_type(kImmediate, 5, rd, rd, amount6(h) | upper);
    }
    case 2:
      return i_type(kImmediate, 7, rd, rd, immediate6(h));
    default:
      break;
  }
  const uint32_t which = bits(h, 5, 2);
  if (!bits(h, 12, 1)) {
    constexpr uint32_t kFunction[4] = {0, 4, 6, 7};
    return r_type(kRegisters, kFunction[which], rd, rd, rs2, which == 0 ? 0x20 : 0);
  }
  if (isa.xlen == 32 || which > 1) return 0;
  return r_type(kRegistersWord, 0, rd, rd, rs2, which == 0 ? 0x20 : 0);
}

uint32_t quadrant1(uint32_t h, const Isa& isa) {
  const uint32_t rd = bits(h, 7, 5);
  switch (bits(h, 13, 3)) {
    case 0:
      return i_type(kImmediate, 0, rd, rd, immediate6(h));
    case 1:
      if (isa.xlen == 32) return jump(1, h);
      return rd == 0 ? 0 : i_type(kImmediateWord, 0, rd, rd, immediate6(h));
    case 2:
      return i_type(kImmediate, 0, rd, 0, immediate6(h));
    case 3: {
      if (rd == 2) {
        const uint32_t n =
            bits(h, 6, 1) << 4 | bits(h, 5, 1) << 6 | bits(h, 3, 2) << 7 | bits(h, 2, 1) << 5;
        const uint32_t all = n | (bits(h, 12, 1) ? 0xe00u : 0);
        return all == 0 ? 0 : i_type(kImmediate, 0, 2, 2, all);
      }
      const uint32_t n = bits(h, 2, 5) | (bits(h, 12, 1) ? 0xfffe0u : 0);
      return n == 0 ? 0 : 0x37 | rd << 7 | n << 12;
    }
    case 4:
      return arithmetic1(h, isa);
    case 5:
      return jump(0, h);
    case 6:
      return encoded_branch(0, h);
    default:
      return encoded_branch(1, h);
  }
}

uint32_t registers2(uint32_t h) {
  const uint32_t rd = bits(h, 7, 5), rs2 = bits(h, 2, 5);
  if (!bits(h, 12, 1)) {
    if (rs2 != 0) return r_type(kRegisters, 0, rd, 0, rs2, 0);
    return rd == 0 ? 0 : i_type(0x67, 0, 0, rd, 0);
  }
  if (rs2 != 0) return r_type(kRegisters, 0, rd, rd, rs2, 0);
  return rd == 0 ? 0x00100073 : i_type(0x67, 0, 1, rd, 0);
}

uint32_t quadrant2(uint32_t h, const Isa& isa) {
  const uint32_t rd = bits(h, 7, 5), rs2 = bits(h, 2, 5);
  const bool wide = isa.xlen == 64;
  const uint32_t words = bits(h, 4, 3) << 2 | bits(h, 12, 1) << 5 | bits(h, 2, 2) << 6;
  const uint32_t doubles = bits(h, 5, 2) << 3 | bits(h, 12, 1) << 5 | bits(h, 2, 3) << 6;
  const uint32_t words_out = bits(h, 9, 4) << 2 | bits(h, 7, 2) << 6;
  const uint32_t doubles_out = bits(h, 10, 3) << 3 | bits(h, 7, 3) << 6;
  switch (bits(h, 13, 3)) {
    case 0:
      return !wide && bits(h, 12, 1) ? 0 : i_type(kImmediate, 1, rd, rd, amount6(h));
    case 1:
      return i_type(kFloatLoad, 3, rd, 2, doubles);
    case 2:
      return rd == 0 ? 0 : i_type(kIntegerLoad, 2, rd, 2, words);
    case 3:
      if (!wide) return i_type(kFloatLoad, 2, rd, 2, words);
      return rd == 0 ? 0 : i_type(kIntegerLoad, 3, rd, 2, doubles);
    case 4:
      return registers2(h);
    case 5:
      return s_type(kFloatStore, 3, 2, rs2, doubles_out);
    case 6:
      return s_type(kIntegerStore, 2, 2, rs2, words_out);
    default:
      return wide ? s_type(kIntegerStore, 3, 2, rs2, doubles_out)
                  : s_type(kFloatStore, 2, 2, rs2, words_out);
  }
}

}  // namespace

uint32_t expand_compressed(uint16_t half, const Isa& isa) {
  switch (half & 3) {
    case 0:
      return quadrant0(half, isa);
    case 1:
      return quadrant1(half, isa);
    case 2:
      return quadrant2(half, isa);
    default:
      return 0;
  }
}

}  // namespace exotune::sim
