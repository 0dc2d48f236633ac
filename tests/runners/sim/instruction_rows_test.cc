// Every instruction against another implementation's results, and every word against an assembler.
#include "tests/runners/sim/instruction_rows.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/subprocess.h"
#include "runners/sim/elf_image.h"
#include "tests/runners/sim/small_machine.h"

namespace exotune::sim {
namespace {

constexpr uint32_t kCountOn = 0x00150513;  // addi a0, a0, 1

uint64_t narrowed(const InstructionRow& row, uint64_t value) {
  return row.xlen == 32 ? value & 0xffffffffu : value;
}

// The machine after the row's instruction alone.
std::unique_ptr<SmallMachine> after(const InstructionRow& row) {
  std::vector<uint32_t> words = {row.word};
  if (row.kind == 'b') words.push_back(kCountOn);
  auto m = std::make_unique<SmallMachine>(row.xlen == 32 ? "rv32imac" : "rv64gc", words);
  Processor& p = *m->processor;
  for (uint64_t k = 0; k < 3; ++k) m->memory.write(SmallMachine::kData + 8 * k, kRowData[k]);
  p.set_x(11, row.in[0]);
  p.set_x(12, row.in[1]);
  for (int k = 0; k < 3; ++k) p.set_f(11 + k, row.in[k]);
  const bool compressed = row.text[0] == 'c' && row.text[1] == '.';
  if (row.kind == 'c') p.set_x(10, row.in[0]);
  if (row.kind == 'm') p.set_x(11, SmallMachine::kData);
  if (row.kind == 's') p.set_x(11, SmallMachine::kData + (compressed ? 0 : 8));
  if (row.kind == 'A') p.set_x(11, SmallMachine::kData + 8);
  m->run();
  return m;
}

TEST(Instructions, each_does_what_another_implementation_says) {
  for (const InstructionRow& row : kInstructionRows) {
    SCOPED_TRACE(std::string(row.text) + " on rv" + std::to_string(row.xlen));
    const auto m = after(row);
    const Processor& p = *m->processor;
    ASSERT_TRUE(m->reached_end()) << describe(p.trap());
    const uint64_t first = row.kind == 's' ? m->memory.read<uint64_t>(SmallMachine::kData)
                           : row.kind == 'f' || row.kind == 'g' ? p.f(10)
                                                                : narrowed(row, p.x(10));
    const uint64_t second = row.kind == 's' || row.kind == 'A'
                                ? m->memory.read<uint64_t>(SmallMachine::kData + 8)
                            : row.kind == 'f' || row.kind == 'x' || row.kind == 'g' ? p.fcsr() & 31
                                                                                    : 0;
    EXPECT_EQ(first, row.out[0]);
    EXPECT_EQ(second, row.out[1]);
  }
}

TEST(Instructions, an_assembler_makes_the_same_words) {
  const std::string compiler = find_program("riscv64-unknown-elf-gcc");
  if (compiler.empty()) GTEST_SKIP() << "no riscv64-unknown-elf-gcc on PATH";
  const std::string folder = testing::TempDir();
  for (const int xlen : {32, 64}) {
    std::ofstream source(folder + "/rows.S");
    source << ".option norelax\n";
    uint64_t at = 0;
    for (const InstructionRow& row : kInstructionRows)
      if (row.xlen == xlen)
        source << ".org " << 8 * at++ << "\n.option " << (row.text[1] == '.' ? "rvc" : "norvc")
               << "\n"
               << row.text << "\n.option rvc\n";
    source << ".org " << 8 * at << "\n";
    source.close();
    const CommandResult built =
        run_command({compiler, xlen == 32 ? "-march=rv32imac" : "-march=rv64gc",
                     xlen == 32 ? "-mabi=ilp32" : "-mabi=lp64d", "-nostdlib",
                     "-Wl,-Ttext=0x10000,-e,0x10000,-N", "-o", "rows", "rows.S"},
                    {folder, 60, {}});
    ASSERT_TRUE(built.ok()) << built.err;
    std::string bytes;
    for (const ElfImage::Segment& segment : ElfImage::read(folder + "/rows").segments)
      if (segment.executable) bytes = segment.content.substr(0x10000 - segment.address);
    at = 0;
    for (const InstructionRow& row : kInstructionRows) {
      if (row.xlen != xlen) continue;
      uint32_t word = 0;
      ASSERT_LE(8 * at + 4, bytes.size());
      std::memcpy(&word, &bytes[8 * at++], row.text[1] == '.' ? 2 : 4);
      EXPECT_EQ(word, row.word) << row.text;
    }
  }
}

}  // namespace
}  // namespace exotune::sim
