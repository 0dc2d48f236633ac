// The interpreter's loop, for 32 and for 64 bits: one entry per operation, each of which jumps to
// the next one's. A switch would send all operations through one indirect jump, which predictors of
// branches know far less about than about one jump after each operation.
//
// Time is kept in half cycles, always even; a register's readiness is odd when a load writes it, so
// that one number says both how long to wait and for what.
#include <algorithm>
#include <bit>

#include "runners/sim/hart.h"

namespace exotune::sim {

// Dispatch: the address of the next operation's code is looked up by its number, and jumped to.
// Instructions were decoded into an array when their block was met first, so that "next" is the
// next element.
#define EXOTUNE_SIM_NEXT                               \
  do {                                                 \
    ++i;                                               \
    goto* kEntry[static_cast<unsigned>(i->operation)]; \
  } while (0)
// An instruction issues when its operands are ready, and one a cycle. What it waits is booked as
// waiting for loads when the operand that was last came from one: the odd half cycle says so. A
// jump and no maximum: it is foreseen, so that the clock does not wait here for what the
// instruction before it stored about its register. Without timing only the count of cycles remains.
#define EXOTUNE_SIM_WAIT(when)                                       \
  do {                                                               \
    if constexpr (kTiming)                                           \
      if (const uint64_t until = (when); until > now) [[unlikely]] { \
        const uint64_t wait = (until - now) >> 1;                    \
        waited += wait;                                              \
        waited_for_loads += wait & (0 - (until & 1));                \
        now = until & ~uint64_t{1};                                  \
      }                                                              \
    now += 2;                                                        \
  } while (0)
// `now` already stands one cycle behind the issue (WAIT adds it), hence the - 2.
#define EXOTUNE_SIM_READY(reg, cycles, load)                              \
  do {                                                                    \
    if constexpr (kTiming) ready_[reg] = now - 2 + 2 * (cycles) + (load); \
  } while (0)
// Entries of one shape: an expression over `a` (and `b`), its latency in cycles. rd is never 0
// here: the decoder sends such results to a register that nobody reads.
#define EXOTUNE_SIM_DO_ONE(cycles, expression) \
  {                                            \
    EXOTUNE_SIM_WAIT(ready_[i->rs1]);          \
    const Word a = x[i->rs1];                  \
    (void)a;                                   \
    x[i->rd] = static_cast<Word>(expression);  \
    EXOTUNE_SIM_READY(i->rd, cycles, 0);       \
  }
#define EXOTUNE_SIM_DO_TWO(cycles, expression)                  \
  {                                                             \
    EXOTUNE_SIM_WAIT(std::max(ready_[i->rs1], ready_[i->rs2])); \
    const Word a = x[i->rs1], b = x[i->rs2];                    \
    x[i->rd] = static_cast<Word>(expression);                   \
    EXOTUNE_SIM_READY(i->rd, cycles, 0);                        \
  }
#define EXOTUNE_SIM_ALONE(name, ...) L_##name : __VA_ARGS__ EXOTUNE_SIM_NEXT;
#define EXOTUNE_SIM_ONE(name, cycles, expression) \
  EXOTUNE_SIM_ALONE(name, EXOTUNE_SIM_DO_ONE(cycles, expression))
#define EXOTUNE_SIM_TWO(name, cycles, expression) \
  EXOTUNE_SIM_ALONE(name, EXOTUNE_SIM_DO_TWO(cycles, expression))
// The same operation alone, and once for each that may follow it in a pair.
#define EXOTUNE_SIM_THEN(first, second, ...)     \
  L_##first##Then##second : __VA_ARGS__ { ++i; } \
  goto L_##second;
#define EXOTUNE_SIM_FIRST(name, ...)        \
  EXOTUNE_SIM_ALONE(name, __VA_ARGS__)      \
  EXOTUNE_SIM_THEN(name, Addi, __VA_ARGS__) \
  EXOTUNE_SIM_THEN(name, Add, __VA_ARGS__)  \
  EXOTUNE_SIM_THEN(name, Slli, __VA_ARGS__) \
  EXOTUNE_SIM_THEN(name, Mul, __VA_ARGS__)  \
  EXOTUNE_SIM_THEN(name, Lb, __VA_ARGS__)   \
  EXOTUNE_SIM_THEN(name, Lw, __VA_ARGS__)   \
  EXOTUNE_SIM_THEN(name, Sw, __VA_ARGS__)   \
  EXOTUNE_SIM_THEN(name, Bne, __VA_ARGS__)  \
  EXOTUNE_SIM_THEN(name, Bge, __VA_ARGS__)
// Nothing issues while a division is under way.
#define EXOTUNE_SIM_DIVIDE(name, expression)                    \
  L_##name : {                                                  \
    EXOTUNE_SIM_WAIT(std::max(ready_[i->rs1], ready_[i->rs2])); \
    const Word a = x[i->rs1], b = x[i->rs2];                    \
    x[i->rd] = static_cast<Word>(expression);                   \
    if constexpr (kTiming) {                                    \
      now += 2 * timing.divide - 2;                             \
      ready_[i->rd] = now;                                      \
    }                                                           \
    EXOTUNE_SIM_NEXT;                                           \
  }
// One comparison finds addresses outside and misaligned ones: the low bits rotate to the top.
#define EXOTUNE_SIM_INSIDE(address, type, limit)                               \
  (std::rotr(static_cast<uint64_t>(address), std::countr_zero(sizeof(type))) < \
   ((limit) >> std::countr_zero(sizeof(type))))
// `put` says where the value goes. Wrong addresses leave for load_trap, out of the way of the hot
// path.
#define EXOTUNE_SIM_DO_LOAD(type, put)                                                     \
  {                                                                                        \
    EXOTUNE_SIM_WAIT(ready_[i->rs1]);                                                      \
    const Word address = x[i->rs1] + static_cast<Word>(static_cast<Signed>(i->immediate)); \
    const uint64_t at = address - load_base;                                               \
    if (!EXOTUNE_SIM_INSIDE(at, type, load_bytes)) [[unlikely]] {                          \
      bad_address = address;                                                               \
      bad_size = sizeof(type);                                                             \
      goto load_trap;                                                                      \
    }                                                                                      \
    type value;                                                                            \
    std::memcpy(&value, load_data + at, sizeof value);                                     \
    put;                                                                                   \
  }
#define EXOTUNE_SIM_LOAD(name, type, put) EXOTUNE_SIM_ALONE(name, EXOTUNE_SIM_DO_LOAD(type, put))
// Stores below `plain_stores` (code, constants, and the words by which the program talks to the
// host) fail the same test and are told apart in store_trap.
#define EXOTUNE_SIM_DO_STORE(type, when, from)                                             \
  {                                                                                        \
    EXOTUNE_SIM_WAIT(std::max(ready_[i->rs1], (when)));                                    \
    const Word address = x[i->rs1] + static_cast<Word>(static_cast<Signed>(i->immediate)); \
    const uint64_t at = address - store_base;                                              \
    const type value = static_cast<type>(from);                                            \
    if (!EXOTUNE_SIM_INSIDE(at, type, store_bytes)) [[unlikely]] {                         \
      bad_address = address;                                                               \
      bad_size = sizeof(type);                                                             \
      bad_value = value;                                                                   \
      goto store_trap;                                                                     \
    }                                                                                      \
    std::memcpy(store_data + at, &value, sizeof value);                                    \
  }
#define EXOTUNE_SIM_STORE(name, type, when, from) \
  EXOTUNE_SIM_ALONE(name, EXOTUNE_SIM_DO_STORE(type, when, from))
// Both ends of a branch are the beginning of a block, so both go through `go`, which finds it.
#define EXOTUNE_SIM_BRANCH(name, condition)                                                  \
  L_##name : {                                                                               \
    EXOTUNE_SIM_WAIT(std::max(ready_[i->rs1], ready_[i->rs2]));                              \
    const Word a = x[i->rs1], b = x[i->rs2];                                                 \
    if (condition) {                                                                         \
      if constexpr (kTiming) now += 2 * timing.branch_taken;                                 \
      target = base + i->offset + static_cast<uint64_t>(static_cast<int64_t>(i->immediate)); \
      goto go;                                                                               \
    }                                                                                        \
    target = base + i->offset + i->length;                                                   \
    goto go;                                                                                 \
  }

// Runs from pc_ until `limit` instructions have retired, the program speaks to its host, or a trap
// has no handler. Members that each instruction changes live in locals here, saved
// (EXOTUNE_SIM_SAVE) before anything out of line may look at them.
template <class Word>
template <bool kTiming>
typename Hart<Word>::Leave Hart<Word>::loop(uint64_t limit) {
  using SignedWord = Signed;
  using Wide = std::conditional_t<sizeof(Word) == 4, int64_t, __int128>;
  using WideUnsigned = std::conditional_t<sizeof(Word) == 4, uint64_t, unsigned __int128>;
  static const void* const kEntry[] = {
#define EXOTUNE_SIM_ENTRY(name) &&L_##name,
      EXOTUNE_SIM_INTEGER(EXOTUNE_SIM_ENTRY) EXOTUNE_SIM_MULTIPLY(EXOTUNE_SIM_ENTRY)
          EXOTUNE_SIM_MEMORY(EXOTUNE_SIM_ENTRY) EXOTUNE_SIM_CONTROL(EXOTUNE_SIM_ENTRY)
              EXOTUNE_SIM_OTHER(EXOTUNE_SIM_ENTRY)
#undef EXOTUNE_SIM_ENTRY
#define EXOTUNE_SIM_ENTRY(first, second) &&L_##first##Then##second,
                  EXOTUNE_SIM_PAIRS(EXOTUNE_SIM_ENTRY)
#undef EXOTUNE_SIM_ENTRY
  };
  constexpr Word kMost = Word{1} << (kBits - 1);
  constexpr Word kShift = kBits - 1;
  const Timing timing = options_.timing;
  Word* const x = x_;
  const uint64_t base = memory_.base();
  // Stores up to `tohost` go the slow way, so that the host notices.
  const uint64_t tohost = options_.tohost;
  const uint64_t plain_stores =
      std::max(memory_.writable(), memory_.holds(tohost, 16) ? (tohost + 23) & ~uint64_t{7} : 0);
  const Word load_base = static_cast<Word>(base), store_base = static_cast<Word>(plain_stores);
  const uint64_t load_bytes = memory_.bytes();
  const uint64_t store_bytes = base + memory_.bytes() - plain_stores;
  uint8_t* const load_data = memory_.data();
  uint8_t* const store_data = memory_.data() + (plain_stores - base);
  uint64_t now = now_, retired = retired_, waited = waited_, waited_for_loads = waited_for_loads_;
  uint64_t target = pc_, cause = 0, bad_address = 0, bad_value = 0;
  unsigned bad_size = 0;
  const Instruction* i = nullptr;
#define EXOTUNE_SIM_SAVE \
  now_ = now, retired_ = retired, waited_ = waited, waited_for_loads_ = waited_for_loads

// The next block: by its address in a table of what is decoded, else decoded now. A block's
// instructions are counted when it is entered; a trap in its middle takes back those behind it.
go : {
  if constexpr (sizeof(Word) == 4) target = static_cast<uint32_t>(target);
  uint32_t block = cache_.known(target);
  if (block == 0) [[unlikely]] {
    if (target & (options_.isa.compressed ? 1 : 3)) {
      cause = 0, bad_address = target;
      goto trap;
    }
    block = cache_.find(target);
    if (block == 0) {
      EXOTUNE_SIM_SAVE;
      pc_ = target;
      if (!begin_trap(1, target)) return Leave::kTrap;
      now = now_;
      target = pc_;
      if (cache_.find(target) == 0) return Leave::kTrap;
      goto go;
    }
  }
  // The limit is looked at once a block: runs end a few instructions later than asked, in the same
  // place every time.
  i = cache_.code() + block;
  if (retired >= limit) [[unlikely]] {
    EXOTUNE_SIM_SAVE;
    pc_ = target;
    return Leave::kLimit;
  }
  retired += static_cast<uint32_t>(i[-1].immediate);
  goto* kEntry[static_cast<unsigned>(i->operation)];
}

  EXOTUNE_SIM_FIRST(
      Addi, EXOTUNE_SIM_DO_ONE(1, a + static_cast<Word>(static_cast<SignedWord>(i->immediate))))
  EXOTUNE_SIM_ONE(Slti, 1, static_cast<SignedWord>(a) < static_cast<SignedWord>(i->immediate))
  EXOTUNE_SIM_ONE(Sltiu, 1, a < static_cast<Word>(static_cast<SignedWord>(i->immediate)))
  EXOTUNE_SIM_ONE(Xori, 1, a ^ static_cast<Word>(static_cast<SignedWord>(i->immediate)))
  EXOTUNE_SIM_ONE(Ori, 1, a | static_cast<Word>(static_cast<SignedWord>(i->immediate)))
  EXOTUNE_SIM_ONE(Andi, 1, a & static_cast<Word>(static_cast<SignedWord>(i->immediate)))
  EXOTUNE_SIM_FIRST(Slli, EXOTUNE_SIM_DO_ONE(1, a << i->immediate))
  EXOTUNE_SIM_ONE(Srli, 1, a >> i->immediate)
  EXOTUNE_SIM_ONE(Srai, 1, static_cast<SignedWord>(a) >> i->immediate)
  EXOTUNE_SIM_FIRST(Add, EXOTUNE_SIM_DO_TWO(1, a + b))
  EXOTUNE_SIM_TWO(Sub, 1, a - b)
  EXOTUNE_SIM_TWO(Sll, 1, a << (b & kShift))
  EXOTUNE_SIM_TWO(Slt, 1, static_cast<SignedWord>(a) < static_cast<SignedWord>(b))
  EXOTUNE_SIM_TWO(Sltu, 1, a < b)
  EXOTUNE_SIM_TWO(Xor, 1, a ^ b)
  EXOTUNE_SIM_TWO(Srl, 1, a >> (b & kShift))
  EXOTUNE_SIM_TWO(Sra, 1, static_cast<SignedWord>(a) >> (b & kShift))
  EXOTUNE_SIM_TWO(Or, 1, a | b)
  EXOTUNE_SIM_TWO(And, 1, a & b)
  EXOTUNE_SIM_ONE(Addiw, 1,
                  static_cast<SignedWord>(static_cast<int32_t>(
                      static_cast<uint32_t>(a) + static_cast<uint32_t>(i->immediate))))
  EXOTUNE_SIM_ONE(
      Slliw, 1,
      static_cast<SignedWord>(static_cast<int32_t>(static_cast<uint32_t>(a) << i->immediate)))
  EXOTUNE_SIM_ONE(
      Srliw, 1,
      static_cast<SignedWord>(static_cast<int32_t>(static_cast<uint32_t>(a) >> i->immediate)))
  EXOTUNE_SIM_ONE(Sraiw, 1, static_cast<SignedWord>(static_cast<int32_t>(a) >> i->immediate))
  EXOTUNE_SIM_TWO(Addw, 1,
                  static_cast<SignedWord>(
                      static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b))))
  EXOTUNE_SIM_TWO(Subw, 1,
                  static_cast<SignedWord>(
                      static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b))))
  EXOTUNE_SIM_TWO(
      Sllw, 1, static_cast<SignedWord>(static_cast<int32_t>(static_cast<uint32_t>(a) << (b & 31))))
  EXOTUNE_SIM_TWO(
      Srlw, 1, static_cast<SignedWord>(static_cast<int32_t>(static_cast<uint32_t>(a) >> (b & 31))))
  EXOTUNE_SIM_TWO(Sraw, 1, static_cast<SignedWord>(static_cast<int32_t>(a) >> (b & 31)))
L_Li : {
  now += 2;
  x[i->rd] = static_cast<Word>(static_cast<SignedWord>(i->immediate));
  EXOTUNE_SIM_READY(i->rd, 1, 0);
  EXOTUNE_SIM_NEXT;
}
L_Auipc : {
  now += 2;
  x[i->rd] = static_cast<Word>(base + i->offset +
                               static_cast<uint64_t>(static_cast<int64_t>(i->immediate)));
  EXOTUNE_SIM_READY(i->rd, 1, 0);
  EXOTUNE_SIM_NEXT;
}
  // Multiplications keep the upper half where asked; division follows RISC-V: by zero all ones, and
  // the one quotient that overflows is the dividend.
  EXOTUNE_SIM_FIRST(Mul, EXOTUNE_SIM_DO_TWO(timing.multiply, a * b))
  EXOTUNE_SIM_TWO(Mulh, timing.multiply_high,
                  static_cast<WideUnsigned>(static_cast<Wide>(static_cast<SignedWord>(a)) *
                                            static_cast<Wide>(static_cast<SignedWord>(b))) >>
                      kBits)
  EXOTUNE_SIM_TWO(Mulhsu, timing.multiply_high,
                  (static_cast<WideUnsigned>(static_cast<Wide>(static_cast<SignedWord>(a))) *
                   static_cast<WideUnsigned>(b)) >>
                      kBits)
  EXOTUNE_SIM_TWO(Mulhu, timing.multiply_high,
                  (static_cast<WideUnsigned>(a) * static_cast<WideUnsigned>(b)) >> kBits)
  EXOTUNE_SIM_TWO(Mulw, timing.multiply,
                  static_cast<SignedWord>(
                      static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b))))
  EXOTUNE_SIM_DIVIDE(
      Div, b == 0 ? ~Word{0}
           : a == kMost && b == ~Word{0}
               ? a
               : static_cast<Word>(static_cast<SignedWord>(a) / static_cast<SignedWord>(b)))
  EXOTUNE_SIM_DIVIDE(Divu, b == 0 ? ~Word{0} : a / b)
  EXOTUNE_SIM_DIVIDE(
      Rem, b == 0 ? a
           : a == kMost && b == ~Word{0}
               ? Word{0}
               : static_cast<Word>(static_cast<SignedWord>(a) % static_cast<SignedWord>(b)))
  EXOTUNE_SIM_DIVIDE(Remu, b == 0 ? a : a % b)
#define EXOTUNE_SIM_SA static_cast<int32_t>(a)
#define EXOTUNE_SIM_SB static_cast<int32_t>(b)
#define EXOTUNE_SIM_UA static_cast<uint32_t>(a)
#define EXOTUNE_SIM_UB static_cast<uint32_t>(b)
  // The word forms of RV64 work on the lower halves and extend the sign of the result.
  EXOTUNE_SIM_DIVIDE(Divw,
                     static_cast<SignedWord>(EXOTUNE_SIM_UB == 0 ? -1
                                             : EXOTUNE_SIM_UA == 0x80000000u && EXOTUNE_SIM_SB == -1
                                                 ? EXOTUNE_SIM_SA
                                                 : EXOTUNE_SIM_SA / EXOTUNE_SIM_SB))
  EXOTUNE_SIM_DIVIDE(
      Divuw, static_cast<SignedWord>(
                 EXOTUNE_SIM_UB == 0 ? -1 : static_cast<int32_t>(EXOTUNE_SIM_UA / EXOTUNE_SIM_UB)))
  EXOTUNE_SIM_DIVIDE(Remw,
                     static_cast<SignedWord>(EXOTUNE_SIM_UB == 0 ? EXOTUNE_SIM_SA
                                             : EXOTUNE_SIM_UA == 0x80000000u && EXOTUNE_SIM_SB == -1
                                                 ? 0
                                                 : EXOTUNE_SIM_SA % EXOTUNE_SIM_SB))
  EXOTUNE_SIM_DIVIDE(Remuw,
                     static_cast<SignedWord>(static_cast<int32_t>(
                         EXOTUNE_SIM_UB == 0 ? EXOTUNE_SIM_UA : EXOTUNE_SIM_UA % EXOTUNE_SIM_UB)))
#undef EXOTUNE_SIM_SA
#undef EXOTUNE_SIM_SB
#undef EXOTUNE_SIM_UA
#undef EXOTUNE_SIM_UB

#define EXOTUNE_SIM_PUT                                         \
  x[i->rd] = static_cast<Word>(static_cast<SignedWord>(value)); \
  EXOTUNE_SIM_READY(i->rd, timing.load, 1)
#define EXOTUNE_SIM_PUT_FLOAT(bits) \
  f_[i->rd] = (bits);               \
  if constexpr (kTiming) float_ready_[i->rd] = now - 2 + 2 * timing.load + 1
  EXOTUNE_SIM_FIRST(Lb, EXOTUNE_SIM_DO_LOAD(int8_t, EXOTUNE_SIM_PUT))
  EXOTUNE_SIM_LOAD(Lh, int16_t, EXOTUNE_SIM_PUT)
  EXOTUNE_SIM_FIRST(Lw, EXOTUNE_SIM_DO_LOAD(int32_t, EXOTUNE_SIM_PUT))
  EXOTUNE_SIM_LOAD(Lbu, uint8_t, EXOTUNE_SIM_PUT)
  EXOTUNE_SIM_LOAD(Lhu, uint16_t, EXOTUNE_SIM_PUT)
  EXOTUNE_SIM_LOAD(Lwu, uint32_t, EXOTUNE_SIM_PUT)
  EXOTUNE_SIM_LOAD(Ld, int64_t, EXOTUNE_SIM_PUT)
  EXOTUNE_SIM_LOAD(Flw, uint32_t, EXOTUNE_SIM_PUT_FLOAT(boxed(value)))
  EXOTUNE_SIM_LOAD(Fld, uint64_t, EXOTUNE_SIM_PUT_FLOAT(value))
#undef EXOTUNE_SIM_PUT
#undef EXOTUNE_SIM_PUT_FLOAT
  EXOTUNE_SIM_STORE(Sb, uint8_t, ready_[i->rs2], x[i->rs2])
  EXOTUNE_SIM_STORE(Sh, uint16_t, ready_[i->rs2], x[i->rs2])
  EXOTUNE_SIM_FIRST(Sw, EXOTUNE_SIM_DO_STORE(uint32_t, ready_[i->rs2], x[i->rs2]))
  EXOTUNE_SIM_STORE(Sd, uint64_t, ready_[i->rs2], x[i->rs2])
  EXOTUNE_SIM_STORE(Fsw, uint32_t, float_ready_[i->rs2], f_[i->rs2])
  EXOTUNE_SIM_STORE(Fsd, uint64_t, float_ready_[i->rs2], f_[i->rs2])

  EXOTUNE_SIM_BRANCH(Beq, a == b)
  EXOTUNE_SIM_BRANCH(Bne, a != b)
  EXOTUNE_SIM_BRANCH(Blt, static_cast<SignedWord>(a) < static_cast<SignedWord>(b))
  EXOTUNE_SIM_BRANCH(Bge, static_cast<SignedWord>(a) >= static_cast<SignedWord>(b))
  EXOTUNE_SIM_BRANCH(Bltu, a < b)
  EXOTUNE_SIM_BRANCH(Bgeu, a >= b)
// Without compressed instructions a target that is no multiple of four traps where it is fetched,
// not here; the link register stays as it was.
L_Jal : {
  now += 2;
  target = base + i->offset + static_cast<uint64_t>(static_cast<int64_t>(i->immediate));
  if ((target & 3) && !options_.isa.compressed) goto go;
  x[i->rd] = static_cast<Word>(base + i->offset + i->length);
  EXOTUNE_SIM_READY(i->rd, 1, 0);
  if constexpr (kTiming) now += 2 * timing.jump;
  goto go;
}
L_Jalr : {
  EXOTUNE_SIM_WAIT(ready_[i->rs1]);
  target = (x[i->rs1] + static_cast<Word>(static_cast<SignedWord>(i->immediate))) & ~Word{1};
  if ((target & 3) && !options_.isa.compressed) goto go;
  x[i->rd] = static_cast<Word>(base + i->offset + i->length);
  EXOTUNE_SIM_READY(i->rd, 1, 0);
  if constexpr (kTiming) now += 2 * timing.jump;
  goto go;
}
// A fence waits for the accelerator: whoever reads what it stored must say so, as on the hardware.
L_Fence : {
  now += 2;
  if (device_ != nullptr) {
    const uint64_t idle = 2 * device_->idle_at();
    if (kTiming && idle > now) {
      waited_for_device_ += (idle - now) >> 1;
      now = idle;
    }
  }
  target = base + i->offset + i->length;
  goto go;
}
// Code may have been written: everything decoded is dropped.
L_FenceI : {
  now += 2;
  target = base + i->offset + i->length;
  cache_.forget();
  goto go;
}
// Causes by their number in the privileged specification.
L_Ecall:
  cause = 11, bad_address = 0;
  goto trap;
L_Ebreak:
  cause = 3, bad_address = base + i->offset;
  goto trap;
L_Illegal:
  cause = 2, bad_address = static_cast<uint32_t>(i->immediate);
  goto trap;
L_Header:
  cause = 2, bad_address = 0;
  goto trap;
L_Mret:
  now += 2;
  target = control_.trap_pc;
  goto go;
L_Wfi:
  now += 2;
  target = base + i->offset + i->length;
  goto go;
L_GoOn:
  target = base + i->offset;
  goto go;
L_Fetch:
  cause = 1, bad_address = base + i->offset;
  goto trap;
// Immediate forms read no register.
L_Csr : {
  EXOTUNE_SIM_WAIT(i->detail & 4 ? uint64_t{0} : ready_[i->rs1]);
  EXOTUNE_SIM_SAVE;
  if (!control_register(*i)) {
    cause = 2, bad_address = static_cast<uint32_t>(i->immediate);
    goto trap;
  }
  EXOTUNE_SIM_READY(i->rd, 1, 0);
  target = base + i->offset + i->length;
  goto go;
}
L_Amo : {
  EXOTUNE_SIM_WAIT(std::max(ready_[i->rs1], ready_[i->rs2]));
  if (!atomic(*i, cause, bad_address)) goto trap;
  EXOTUNE_SIM_READY(i->rd, timing.load, 1);
  EXOTUNE_SIM_NEXT;
}
// Float operations share one entry: their work dwarfs the dispatch. Divisions and roots keep the
// unit; others can be followed at once, each ready after its latency.
L_Float : {
  EXOTUNE_SIM_WAIT(std::max(std::max(float_ready_[i->rs1], float_ready_[i->rs2]),
                            std::max(float_ready_[i->rs3], ready_[i->rs1])));
  const FloatUnit::Result r =
      floats_.operate(*i, f_[i->rs1], f_[i->rs2], f_[i->rs3], extended(x[i->rs1]));
  if (r.illegal) goto L_Illegal;
  f_[i->rd] = r.bits;
  if constexpr (kTiming) {
    const uint8_t what = i->detail & 127;
    if (what == 3 || what == 4) now += 2 * timing.float_divide - 2;
    float_ready_[i->rd] = what == 3 || what == 4 ? now : now - 2 + 2 * timing.float_operation;
  }
  EXOTUNE_SIM_NEXT;
}
L_FloatToInt : {
  EXOTUNE_SIM_WAIT(std::max(float_ready_[i->rs1], float_ready_[i->rs2]));
  const FloatUnit::Result r = floats_.operate(*i, f_[i->rs1], f_[i->rs2], 0, 0);
  if (r.illegal) goto L_Illegal;
  x[i->rd] = static_cast<Word>(r.bits);
  EXOTUNE_SIM_READY(i->rd, timing.float_operation, 0);
  EXOTUNE_SIM_NEXT;
}
// The device says when the processor goes on; 0 means that the program broke one of its rules
// (fault_).
L_Device : {
  EXOTUNE_SIM_WAIT(std::max(ready_[i->rs1], ready_[i->rs2]));
  const uint64_t next = 2 * run_device(*i, (now >> 1) - 1);
  if (next == 0) [[unlikely]] {
    cause = 2, bad_address = static_cast<uint32_t>(i->immediate);
    goto trap;
  }
  if (kTiming && next > now) {
    waited_for_device_ += (next - now) >> 1;
    now = next;
  }
  EXOTUNE_SIM_READY(i->rd, 1, 0);
  EXOTUNE_SIM_NEXT;
}

// Which of the two it was is found out here, where time does not matter.
load_trap:
  cause = bad_address & (bad_size - 1) ? 4 : 5;
  goto trap;
// Not only errors come here: the words at `tohost` are the way out of the program, and constants
// may lie in front of writable data.
store_trap : {
  if (bad_address & (bad_size - 1)) {
    cause = 6;
    goto trap;
  }
  const bool to_host = tohost != 0 && bad_address >= tohost && bad_address < tohost + 16;
  if (!to_host && !memory_.may_write(bad_address, bad_size)) {
    cause = 7;
    goto trap;
  }
  std::memcpy(memory_.at(bad_address), &bad_value, bad_size);
  if (bad_address != tohost || bad_value == 0) EXOTUNE_SIM_NEXT;
  // The rest of the block has not been executed.
  const Instruction* first = i;
  while (first->operation != Operation::kHeader) --first;
  retired -= static_cast<uint64_t>(first->immediate) - static_cast<uint64_t>(i - first);
  EXOTUNE_SIM_SAVE;
  pc_ = base + i->offset + i->length;
  return Leave::kHost;
}
trap : {
  // A block counts as a whole when it is entered; what the trap cuts off is taken back.
  const Instruction* first = i;
  while (first != nullptr && first->operation != Operation::kHeader) --first;
  if (first != nullptr)
    retired -= static_cast<uint64_t>(first->immediate) - static_cast<uint64_t>(i - first - 1);
  EXOTUNE_SIM_SAVE;
  pc_ = i != nullptr ? base + i->offset : target;
  // Here, where pc still says which instruction it was.
  if (!fault_.empty()) return Leave::kDeviceFault;
  const bool handled = begin_trap(cause, bad_address);
  if (!handled) return Leave::kTrap;
  now = now_;
  target = pc_;
  if (cache_.find(target) == 0) return Leave::kTrap;
  goto go;
}
}

#undef EXOTUNE_SIM_SAVE
#undef EXOTUNE_SIM_NEXT
#undef EXOTUNE_SIM_WAIT
#undef EXOTUNE_SIM_READY
#undef EXOTUNE_SIM_ONE
#undef EXOTUNE_SIM_TWO
#undef EXOTUNE_SIM_DO_ONE
#undef EXOTUNE_SIM_DO_TWO
#undef EXOTUNE_SIM_DO_LOAD
#undef EXOTUNE_SIM_DO_STORE
#undef EXOTUNE_SIM_ALONE
#undef EXOTUNE_SIM_THEN
#undef EXOTUNE_SIM_FIRST
#undef EXOTUNE_SIM_DIVIDE
#undef EXOTUNE_SIM_INSIDE
#undef EXOTUNE_SIM_LOAD
#undef EXOTUNE_SIM_STORE
#undef EXOTUNE_SIM_BRANCH

template Hart<uint32_t>::Leave Hart<uint32_t>::loop<false>(uint64_t);
template Hart<uint32_t>::Leave Hart<uint32_t>::loop<true>(uint64_t);
template Hart<uint64_t>::Leave Hart<uint64_t>::loop<false>(uint64_t);
template Hart<uint64_t>::Leave Hart<uint64_t>::loop<true>(uint64_t);

}  // namespace exotune::sim
