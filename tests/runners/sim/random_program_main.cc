// random_program SEED XLEN: an assembler program of random instructions, the same under Linux (for
// qemu's user mode) and bare metal (for the simulator): what differs is how it ends. It prints
// checksums of all registers, the float flags and its memory. compare_with_qemu.sh uses it.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kInstructions = 3000, kRounds = 400;

class Program {
 public:
  Program(uint64_t seed, int xlen) : random_(seed), wide_(xlen == 64) {}

  std::string text() {
    std::string out = start();
    for (int k = 0; k < kInstructions; ++k) out += instruction(k);
    return out + end();
  }

 private:
  uint64_t pick(uint64_t n) { return random_() % n; }
  const char* of(const std::vector<const char*>& names) { return names[pick(names.size())]; }
  // Not sp, gp, tp, s0 (memory) and s1 (rounds).
  std::string x() {
    static const int kFree[] = {1,  5,  6,  7,  10, 11, 12, 13, 14, 15, 16, 17, 18,
                                19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    return pick(16) == 0 ? "x0" : "x" + std::to_string(kFree[pick(std::size(kFree))]);
  }
  std::string target() {
    std::string name = x();
    return pick(8) && name == "x0" ? "x12" : name;
  }
  std::string f() { return "f" + std::to_string(pick(32)); }
  std::string number(int64_t low, int64_t high) {
    return std::to_string(low + static_cast<int64_t>(pick(static_cast<uint64_t>(high - low + 1))));
  }
  std::string place(uint64_t size) { return std::to_string(pick(1024 / size) * size) + "(s0)"; }

  std::string integer() {
    static const std::vector<const char*> kBoth = {
        "add", "sub", "sll",  "slt",    "sltu",  "xor", "srl",  "sra", "or",
        "and", "mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu"};
    static const std::vector<const char*> kWord = {"addw", "subw", "sllw",  "srlw", "sraw",
                                                   "mulw", "divw", "divuw", "remw", "remuw"};
    static const std::vector<const char*> kNumber = {"addi", "slti", "sltiu",
                                                     "xori", "ori",  "andi"};
    static const std::vector<const char*> kShift = {"slli", "srli", "srai"};
    switch (pick(6)) {
      case 0:
        return std::string(of(kNumber)) + " " + target() + "," + x() + "," + number(-2048, 2047);
      case 1:
        return std::string(of(kShift)) + " " + target() + "," + x() + "," +
               number(0, wide_ ? 63 : 31);
      case 2:
        return std::string(pick(2) ? "lui " : "auipc ") + (pick(2) ? "x0" : "x13") + "," +
               number(0, 0xfffff);
      case 3: {
        // The forms that have a short encoding.
        const std::string both = target();
        return std::string(of(kBoth)) + " " + both + "," + both + "," + x();
      }
      case 4:
        if (wide_) {
          if (pick(4) == 0) return "addiw " + target() + "," + x() + "," + number(-2048, 2047);
          return std::string(of(kWord)) + " " + target() + "," + x() + "," + x();
        }
        [[fallthrough]];
      default:
        return std::string(of(kBoth)) + " " + target() + "," + x() + "," + x();
    }
  }

  std::string memory() {
    struct Access {
      const char* name;
      uint64_t size;
      bool wide, floating;
    };
    static const Access kAll[] = {
        {"lb", 1, false, false},  {"lbu", 1, false, false}, {"lh", 2, false, false},
        {"lhu", 2, false, false}, {"lw", 4, false, false},  {"sb", 1, false, false},
        {"sh", 2, false, false},  {"sw", 4, false, false},  {"lwu", 4, true, false},
        {"ld", 8, true, false},   {"sd", 8, true, false},   {"flw", 4, true, true},
        {"fld", 8, true, true},   {"fsw", 4, true, true},   {"fsd", 8, true, true}};
    const Access& a = kAll[pick(wide_ ? std::size(kAll) : 8)];
    return std::string(a.name) + " " +
           (a.floating         ? f()
            : a.name[0] == 'l' ? target()
                               : x()) +
           "," + place(a.size);
  }

  std::string atomic() {
    static const std::vector<const char*> kNames = {
        "amoswap", "amoadd", "amoxor", "amoand", "amoor", "amomin", "amomax", "amominu", "amomaxu"};
    return std::string(of(kNames)) + (wide_ && pick(2) ? ".d " : ".w ") + target() + "," + x() +
           ",(s0)";
  }

  std::string floating() {
    const std::string t = pick(2) ? ".s" : ".d", mode = of({"", ",rne", ",rtz", ",rdn", ",rup"});
    switch (pick(9)) {
      case 0:
        return std::string(of({"fmadd", "fmsub", "fnmsub", "fnmadd"})) + t + " " + f() + "," + f() +
               "," + f() + "," + f() + mode;
      case 1:
        return std::string(of({"fsgnj", "fsgnjn", "fsgnjx", "fmin", "fmax"})) + t + " " + f() +
               "," + f() + "," + f();
      case 2:
        return std::string(of({"feq", "flt", "fle"})) + t + " " + target() + "," + f() + "," + f();
      case 3:
        return "fcvt" + t + of({".w", ".wu", ".l", ".lu"}) + " " + f() + "," + x();
      case 4:
        return std::string("fcvt") + of({".w", ".wu", ".l", ".lu"}) + t + " " + target() + "," +
               f() + of({",rne", ",rtz", ",rdn", ",rup", ",rmm"});
      case 5:
        return std::string(of({"fclass.s ", "fclass.d ", "fmv.x.w ", "fmv.x.d "})) + target() +
               "," + f();
      case 6:
        return pick(2) ? std::string(pick(2) ? "fcvt.s.d " : "fcvt.d.s ") + f() + "," + f()
                       : "fsqrt" + t + " " + f() + "," + f() + mode;
      case 7:
        return pick(8) ? "frflags " + target() : "fsrmi " + number(0, 3);
      default:
        return std::string(of({"fadd", "fsub", "fmul", "fdiv"})) + t + " " + f() + "," + f() + "," +
               f() + mode;
    }
  }

  std::string instruction(int k) {
    const uint64_t kind = pick(20);
    if (kind < 10) return " " + integer() + "\n";
    if (kind < 13) return " " + memory() + "\n";
    if (kind < 14) return " " + atomic() + "\n";
    if (kind < 16) {
      const std::string label = "1" + std::to_string(k % 10) + "0";
      return " " + std::string(of({"beq", "bne", "blt", "bge", "bltu", "bgeu"})) + " " + x() + "," +
             x() + "," + label + "f\n " + integer() + "\n" + label + ":\n";
    }
    return " " + (wide_ ? floating() : integer()) + "\n";
  }

  std::string start() {
    std::string out = ".option norelax\n.section .text.init,\"ax\"\n.globl _start\n_start:\n";
    out +=
        " li t0, 0x6000\n#ifdef BARE\n csrs mstatus, t0\n#else\n .option push\n .option norvc\n "
        "nop\n .option pop\n#endif\n la s0, area\n li s1, " +
        std::to_string(kRounds) + "\n";
    for (int k = 5; k < 32; ++k)
      if (k != 8 && k != 9)
        out += " li x" + std::to_string(k) + ", " +
               std::to_string(static_cast<int32_t>(random_())) + "\n";
    out += " li x1, 77\n";
    for (int k = 0; k < 32 && wide_; ++k)
      out += " fcvt.d.w f" + std::to_string(k) + ", x" +
             std::to_string(k == 8 || k == 9 || (k > 1 && k < 5) ? 10 : k) + "\n";
    return out + " j round\nround:\n";
  }

  // Every round's registers are mixed into the checksum; the addresses that auipc makes are not.
  std::string end() {
    const std::string store = wide_ ? "sd" : "sw", load = wide_ ? "ld" : "lw",
                      size = wide_ ? "8" : "4";
    std::string out = " li x13, 5\n la tp, sum\n " + load + " gp, 0(tp)\n";
    const auto mix = [&](const std::string& reg) {
      out += " slli sp, gp, 5\n add gp, gp, sp\n xor gp, gp, " + reg + "\n";
    };
    for (int k = 1; k < 32; ++k)
      if (k == 1 || (k > 4 && k != 8 && k != 9)) mix("x" + std::to_string(k));
    for (int k = 0; k < 32 && wide_; ++k)
      out += " fmv.x.d x12, f" + std::to_string(k) + "\n", mix("x12");
    if (wide_) out += " frflags x12\n", mix("x12");
    out += " li x12, 99\n mv x14, s0\n addi x15, s0, 1024\n9: " + load + " x12, 0(x14)\n";
    mix("x12");
    out += " addi x14, x14, " + size + "\n bne x14, x15, 9b\n li x14, 3\n li x15, -9\n " + store +
           " gp, 0(tp)\n addi s1, s1, -1\n beqz s1, finish\n la tp, round\n jr tp\n";
    out += "finish:\n la a1, sum\n " + load + " t1, 0(a1)\n la a1, text\n li t2, " +
           (wide_ ? std::string("16") : std::string("8")) +
           "\n add a1, a1, t2\n"
           "1: addi a1, a1, -1\n andi t3, t1, 15\n srli t1, t1, 4\n la t4, hex\n add t4, t4, t3\n "
           "lbu t4, 0(t4)\n sb t4, 0(a1)\n addi t2, t2, -1\n bnez t2, 1b\n";
    out += "#ifdef BARE\n la t0, call\n la t1, tohost\n " + store +
           " t0, 0(t1)\n2: la t1, fromhost\n lw t0, 0(t1)\n beqz t0, 2b\n sw zero, 0(t1)\n li t0, "
           "1\n la t1, tohost\n3: " +
           store +
           " t0, 0(t1)\n j 3b\n#else\n li a0, 1\n la a1, text\n li a2, 17\n li a7, 64\n ecall\n li "
           "a0, 0\n li a7, 93\n ecall\n#endif\n";
    out +=
        ".section .rodata\nhex: .ascii \"0123456789abcdef\"\n.section .tohost,\"aw\"\n.balign "
        "64\n.globl tohost\ntohost: .dword 0\n.globl fromhost\nfromhost: .dword 0\n"
        ".section .data\n.balign 64\ncall: .dword 64, 1\n.dword text, 17\narea:\n";
    for (int k = 0; k < 128; ++k) out += " .dword " + std::to_string(random_()) + "\n";
    return out + "sum: .dword 0\ntext: .fill 16, 1, 32\n .ascii \"\\n\"\n";
  }

  std::mt19937_64 random_;
  bool wide_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::cout << Program(std::strtoull(argv[1], nullptr, 10), std::atoi(argv[2])).text();
}
