#include "runners/sim/decoder.h"

#include "core/base/diagnostic.h"
#include "runners/sim/compressed.h"
#include "runners/sim/float_operation.h"
#include "runners/sim/operation.h"

namespace exotune::sim {
// Decoding after the unprivileged specification, one function a group of opcodes. Everything that
// is not exactly an instruction of the chosen set is kIllegal and traps when it is reached, never
// when it is decoded: data may lie behind a jump.

namespace {

using Op = Operation;

// Immediates are scattered over the word, differently in each format; the names are the
// specification's.
constexpr int32_t sign_extended(uint32_t value, int width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}
constexpr int32_t immediate_i(uint32_t w) { return static_cast<int32_t>(w) >> 20; }
constexpr int32_t immediate_s(uint32_t w) {
  return sign_extended(bits(w, 25, 7) << 5 | bits(w, 7, 5), 12);
}
constexpr int32_t immediate_b(uint32_t w) {
  return sign_extended(
      bits(w, 31, 1) << 12 | bits(w, 7, 1) << 11 | bits(w, 25, 6) << 5 | bits(w, 8, 4) << 1, 13);
}
constexpr int32_t immediate_j(uint32_t w) {
  return sign_extended(
      bits(w, 31, 1) << 20 | bits(w, 12, 8) << 12 | bits(w, 20, 1) << 11 | bits(w, 21, 10) << 1,
      21);
}
// Register 0 cannot be written: results for it go to a place that nobody reads, so that the loop
// that executes has no test.
constexpr uint8_t destination(uint32_t w) {
  return bits(w, 7, 5) ? static_cast<uint8_t>(bits(w, 7, 5)) : kNowhere;
}

// The word itself goes along, for the message of the trap.
Instruction illegal(uint32_t word) {
  Instruction i;
  i.immediate = static_cast<int32_t>(word);
  return i;
}

// Fields in their usual places.
Instruction plain(Op op, uint32_t w, int32_t immediate = 0) {
  Instruction i;
  i.operation = op;
  i.rd = destination(w);
  i.rs1 = static_cast<uint8_t>(bits(w, 15, 5));
  i.rs2 = static_cast<uint8_t>(bits(w, 20, 5));
  i.immediate = immediate;
  return i;
}

// Eight operations by function 3; holes in the table are illegal.
Instruction of_table(const Op (&table)[8], uint32_t w, int32_t immediate) {
  const Op op = table[bits(w, 12, 3)];
  return op == Op::kIllegal ? illegal(w) : plain(op, w, immediate);
}

// The 64-bit forms of loads and stores are illegal on RV32, which is why there are two tables.
Instruction load(uint32_t w, const Isa& isa) {
  static constexpr Op k64[8] = {Op::kLb,  Op::kLh,  Op::kLw,  Op::kLd,
                                Op::kLbu, Op::kLhu, Op::kLwu, Op::kIllegal};
  static constexpr Op k32[8] = {Op::kLb,  Op::kLh,  Op::kLw,      Op::kIllegal,
                                Op::kLbu, Op::kLhu, Op::kIllegal, Op::kIllegal};
  return of_table(isa.xlen == 64 ? k64 : k32, w, immediate_i(w));
}

Instruction store(uint32_t w, const Isa& isa) {
  static constexpr Op k64[8] = {Op::kSb,      Op::kSh,      Op::kSw,      Op::kSd,
                                Op::kIllegal, Op::kIllegal, Op::kIllegal, Op::kIllegal};
  if (bits(w, 12, 3) == 3 && isa.xlen == 32) return illegal(w);
  return of_table(k64, w, immediate_s(w));
}

Instruction branch(uint32_t w) {
  static constexpr Op kTable[8] = {Op::kBeq, Op::kBne, Op::kIllegal, Op::kIllegal,
                                   Op::kBlt, Op::kBge, Op::kBltu,    Op::kBgeu};
  return of_table(kTable, w, immediate_b(w));
}

// Shifts by an immediate: its upper bits choose between logical and arithmetic.
Instruction shift(uint32_t w, int width, Op left, Op right, Op right_signed) {
  const int amount_bits = width == 64 ? 6 : 5;
  const uint32_t upper = w >> (20 + amount_bits);
  const uint32_t signed_upper = 0x400u >> amount_bits;
  const int32_t amount = static_cast<int32_t>(bits(w, 20, amount_bits));
  const bool is_left = bits(w, 12, 3) == 1;
  if (upper == 0) return plain(is_left ? left : right, w, amount);
  if (upper == signed_upper && !is_left) return plain(right_signed, w, amount);
  return illegal(w);
}

Instruction with_immediate(uint32_t w, const Isa& isa) {
  static constexpr Op kTable[8] = {Op::kAddi, Op::kIllegal, Op::kSlti, Op::kSltiu,
                                   Op::kXori, Op::kIllegal, Op::kOri,  Op::kAndi};
  const uint32_t f = bits(w, 12, 3);
  if (f == 1 || f == 5) return shift(w, isa.xlen, Op::kSlli, Op::kSrli, Op::kSrai);
  return of_table(kTable, w, immediate_i(w));
}

Instruction with_immediate_word(uint32_t w, const Isa& isa) {
  if (isa.xlen == 32) return illegal(w);
  const uint32_t f = bits(w, 12, 3);
  if (f == 0) return plain(Op::kAddiw, w, immediate_i(w));
  if (f == 1 || f == 5) return shift(w, 32, Op::kSlliw, Op::kSrliw, Op::kSraiw);
  return illegal(w);
}

// Function 7 chooses base, other, or the products of the M extension.
Instruction of_registers(uint32_t w, const Isa& isa) {
  static constexpr Op kBase[8] = {Op::kAdd, Op::kSll, Op::kSlt, Op::kSltu,
                                  Op::kXor, Op::kSrl, Op::kOr,  Op::kAnd};
  static constexpr Op kOther[8] = {Op::kSub,     Op::kIllegal, Op::kIllegal, Op::kIllegal,
                                   Op::kIllegal, Op::kSra,     Op::kIllegal, Op::kIllegal};
  static constexpr Op kProduct[8] = {Op::kMul, Op::kMulh, Op::kMulhsu, Op::kMulhu,
                                     Op::kDiv, Op::kDivu, Op::kRem,    Op::kRemu};
  switch (bits(w, 25, 7)) {
    case 0:
      return of_table(kBase, w, 0);
    case 0x20:
      return of_table(kOther, w, 0);
    case 1:
      return isa.multiply ? of_table(kProduct, w, 0) : illegal(w);
    default:
      return illegal(w);
  }
}

Instruction of_registers_word(uint32_t w, const Isa& isa) {
  static constexpr Op kBase[8] = {Op::kAddw,    Op::kSllw, Op::kIllegal, Op::kIllegal,
                                  Op::kIllegal, Op::kSrlw, Op::kIllegal, Op::kIllegal};
  static constexpr Op kOther[8] = {Op::kSubw,    Op::kIllegal, Op::kIllegal, Op::kIllegal,
                                   Op::kIllegal, Op::kSraw,    Op::kIllegal, Op::kIllegal};
  static constexpr Op kProduct[8] = {Op::kMulw, Op::kIllegal, Op::kIllegal, Op::kIllegal,
                                     Op::kDivw, Op::kDivuw,   Op::kRemw,    Op::kRemuw};
  if (isa.xlen == 32) return illegal(w);
  switch (bits(w, 25, 7)) {
    case 0:
      return of_table(kBase, w, 0);
    case 0x20:
      return of_table(kOther, w, 0);
    case 1:
      return isa.multiply ? of_table(kProduct, w, 0) : illegal(w);
    default:
      return illegal(w);
  }
}

// Environment calls, returns from traps, wait, and control registers.
Instruction system(uint32_t w) {
  switch (w) {
    case 0x00000073:
      return plain(Op::kEcall, w);
    case 0x00100073:
      return plain(Op::kEbreak, w);
    case 0x30200073:
      return plain(Op::kMret, w);
    case 0x10500073:
      return plain(Op::kWfi, w);
    default:
      break;
  }
  const uint32_t f = bits(w, 12, 3);
  if (f == 0 || f == 4) return illegal(w);
  Instruction i = plain(Op::kCsr, w, static_cast<int32_t>(w));
  i.detail = static_cast<uint8_t>(f);
  return i;
}

Instruction atomic(uint32_t w, const Isa& isa) {
  const uint32_t width = bits(w, 12, 3), what = bits(w, 27, 5);
  const bool known =
      what <= 4 || what == 8 || what == 12 || what == 16 || what == 20 || what == 24 || what == 28;
  if (!isa.atomic || !known || (width != 2 && !(width == 3 && isa.xlen == 64))) return illegal(w);
  if (what == 2 && bits(w, 20, 5) != 0) return illegal(w);
  Instruction i = plain(Op::kAmo, w, static_cast<int32_t>(w));
  i.detail = static_cast<uint8_t>(what);
  i.mode = static_cast<uint8_t>(width);
  return i;
}

bool known_mode(uint32_t mode) { return mode <= 3 || mode == 7; }

// Rounding to the nearest with ties away from zero is known to conversions to integers only.
Instruction floating(uint32_t w, FloatOperation op, bool twice, bool to_integer = false) {
  Instruction i = plain(to_integer ? Op::kFloatToInt : Op::kFloat, w);
  i.immediate = static_cast<int32_t>(w);
  if (!to_integer) i.rd = static_cast<uint8_t>(bits(w, 7, 5));
  i.rs3 = static_cast<uint8_t>(bits(w, 27, 5));
  i.detail = static_cast<uint8_t>(static_cast<uint8_t>(op) | (twice ? kDoubleWidth : 0));
  i.mode = static_cast<uint8_t>(bits(w, 12, 3));
  return i;
}

Instruction fused(uint32_t w, FloatOperation op, const Isa& isa) {
  const uint32_t format = bits(w, 25, 2);
  if (format > 1 || !(format ? isa.twice : isa.single) || !known_mode(bits(w, 12, 3)))
    return illegal(w);
  return floating(w, op, format == 1);
}

// The precision is a bit of the word; rounding modes 5 and 6 are reserved and make an instruction
// illegal even where it would not round.
Instruction float_arithmetic(uint32_t w, const Isa& isa) {
  using F = FloatOperation;
  const uint32_t what = bits(w, 27, 5), format = bits(w, 25, 2), mode = bits(w, 12, 3);
  const uint32_t second = bits(w, 20, 5);
  const bool twice = format == 1;
  if (format > 1 || !(twice ? isa.twice : isa.single)) return illegal(w);
  const auto rounded = [&](F op) { return known_mode(mode) ? floating(w, op, twice) : illegal(w); };
  const auto pick = [&](std::initializer_list<F> ops, bool to_integer = false) {
    return mode < ops.size() ? floating(w, ops.begin()[mode], twice, to_integer) : illegal(w);
  };
  switch (what) {
    case 0:
      return rounded(F::kAdd);
    case 1:
      return rounded(F::kSub);
    case 2:
      return rounded(F::kMul);
    case 3:
      return rounded(F::kDiv);
    case 11:
      return second == 0 ? rounded(F::kSqrt) : illegal(w);
    case 4:
      return pick({F::kSgnj, F::kSgnjn, F::kSgnjx});
    case 5:
      return pick({F::kMin, F::kMax});
    case 8:
      return isa.twice && second == (twice ? 0u : 1u) ? rounded(F::kFromOther) : illegal(w);
    case 20:
      return pick({F::kLe, F::kLt, F::kEq}, true);
    case 24:
    case 26: {
      if (second > 3 || (second >= 2 && isa.xlen == 32)) return illegal(w);
      if (!known_mode(mode) && !(what == 24 && mode == 4)) return illegal(w);
      const F first = what == 24 ? F::kToW : F::kFromW;
      return floating(w, static_cast<F>(static_cast<uint32_t>(first) + second), twice, what == 24);
    }
    case 28:
      if (second != 0) return illegal(w);
      if (mode == 1) return floating(w, F::kClass, twice, true);
      return mode == 0 && !(twice && isa.xlen == 32) ? floating(w, F::kMoveToInt, twice, true)
                                                     : illegal(w);
    case 30:
      return second == 0 && mode == 0 && !(twice && isa.xlen == 32)
                 ? floating(w, F::kMoveFromInt, twice)
                 : illegal(w);
    default:
      return illegal(w);
  }
}

Instruction float_memory(uint32_t w, const Isa& isa, bool is_store) {
  const uint32_t width = bits(w, 12, 3);
  if (!(width == 2 && isa.single) && !(width == 3 && isa.twice)) return illegal(w);
  Instruction i = is_store ? plain(width == 2 ? Op::kFsw : Op::kFsd, w, immediate_s(w))
                           : plain(width == 2 ? Op::kFlw : Op::kFld, w, immediate_i(w));
  i.rd = static_cast<uint8_t>(bits(w, 7, 5));  // f0 is a register like the others
  return i;
}

// By the lower seven bits.
Instruction decode_word(uint32_t w, const Isa& isa) {
  switch (bits(w, 0, 7)) {
    case 0x37:
      return plain(Op::kLi, w, static_cast<int32_t>(w & 0xfffff000u));
    case 0x17:
      return plain(Op::kAuipc, w, static_cast<int32_t>(w & 0xfffff000u));
    case 0x6f:
      return plain(Op::kJal, w, immediate_j(w));
    case 0x67:
      return bits(w, 12, 3) == 0 ? plain(Op::kJalr, w, immediate_i(w)) : illegal(w);
    case 0x63:
      return branch(w);
    case 0x03:
      return load(w, isa);
    case 0x23:
      return store(w, isa);
    case 0x13:
      return with_immediate(w, isa);
    case 0x1b:
      return with_immediate_word(w, isa);
    case 0x33:
      return of_registers(w, isa);
    case 0x3b:
      return of_registers_word(w, isa);
    case 0x0f:
      if (bits(w, 12, 3) > 1) return illegal(w);
      return plain(bits(w, 12, 3) ? Op::kFenceI : Op::kFence, w);
    case 0x73:
      return system(w);
    case 0x2f:
      return atomic(w, isa);
    case 0x07:
      return float_memory(w, isa, false);
    case 0x27:
      return float_memory(w, isa, true);
    case 0x43:
      return fused(w, FloatOperation::kMadd, isa);
    case 0x47:
      return fused(w, FloatOperation::kMsub, isa);
    case 0x4b:
      return fused(w, FloatOperation::kNmsub, isa);
    case 0x4f:
      return fused(w, FloatOperation::kNmadd, isa);
    case 0x53:
      return float_arithmetic(w, isa);
    default:
      return illegal(w);
  }
}

}  // namespace

// Names as compilers spell them; what this simulator does not have is refused with the list of what
// it has, instead of trapping later.
Isa Isa::parse(const std::string& text) {
  Isa isa;
  const bool narrow = text.rfind("rv32", 0) == 0;
  if (!narrow && text.rfind("rv64", 0) != 0)
    throw InputError({}, "'" + text + "' is no RISC-V instruction set", "rv32imc, rv64imafdc");
  isa.xlen = narrow ? 32 : 64;
  for (const char letter : text.substr(4, text.find('_') - 4)) {
    switch (letter) {
      case 'i':
        break;
      case 'm':
        isa.multiply = true;
        break;
      case 'a':
        isa.atomic = true;
        break;
      case 'f':
        isa.single = true;
        break;
      case 'd':
        isa.single = isa.twice = true;
        break;
      case 'c':
        isa.compressed = true;
        break;
      case 'g':
        isa.multiply = isa.atomic = isa.single = isa.twice = true;
        break;
      default:
        throw InputError(
            {}, std::string("the simulator has no extension '") + letter + "' of '" + text + "'",
            "i, m, a, f, d and c");
    }
  }
  return isa;
}

Instruction decode(uint32_t word, const Isa& isa) {
  if (length_of(word) == 4) return decode_word(word, isa);
  const uint32_t half = word & 0xffff;
  const uint32_t whole = isa.compressed ? expand_compressed(static_cast<uint16_t>(half), isa) : 0;
  Instruction i = whole == 0 ? illegal(half) : decode_word(whole, isa);
  if (i.operation == Op::kIllegal) i = illegal(half);
  i.length = 2;
  return i;
}

}  // namespace exotune::sim
