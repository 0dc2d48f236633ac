// Vector machines that this one is not, through the command: schedules are found as for any other,
// checked and counted under qemu. Skipped without the compilers or qemu.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

struct Processor {
  std::string target, compiler, emulator, mark;  // mark: what its instructions begin with
};

class Emulated : public testing::TestWithParam<Processor> {
 protected:
  void SetUp() override {
    for (const std::string& program : {GetParam().compiler, GetParam().emulator})
      if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
  }
};

// At sizes that no vector divides; each result is checked there, and counted against plain C by the
// same compiler.
TEST_P(Emulated, vectors_are_found_and_take_fewer_instructions_than_plain_c) {
  const CommandHarness harness("emulated_" + GetParam().target);
  const std::pair<const char*, const char*> kernels[] = {
      {"sgemm", "M=13,N=21,K=9"}, {"sdot", "n=103"}, {"saxpy", "n=103"}, {"sgemv_n", "M=11,N=27"}};
  for (const auto& [kernel, sizes] : kernels) {
    const CommandResult r = harness.run(
        {kernel, "--target", GetParam().target, "--size", sizes, "--trials", "3", "-q"});
    ASSERT_EQ(r.exit_status, 0) << kernel << "\n" << r.err;
    const auto record = nlohmann::json::parse(harness.read("out/" + std::string(kernel) + ".json"));
    EXPECT_EQ(record["cycles"]["unit"], "instret");
    EXPECT_LT(record["cycles"]["count"], record["cycles"]["as_written"]) << kernel;
    const std::string c = harness.read("out/" + std::string(kernel) + ".c");
    EXPECT_NE(c.find(GetParam().mark), std::string::npos) << c;
  }
}

// Bytes summed in words: four products at once.
TEST(EmulatedBytes, products_take_the_instruction_that_sums_groups) {
  for (const char* program : {"aarch64-linux-gnu-gcc", "qemu-aarch64"})
    if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
  const CommandHarness harness("emulated_bytes");
  const CommandResult r = harness.run({"i8gemm", "--target", "neon", "--size", "M=16,N=16,K=34",
                                       "--strategy", "beam", "--trials", "8", "-q"});
  ASSERT_EQ(r.exit_status, 0) << r.err;
  const std::string c = harness.read("out/i8gemm.c");
  EXPECT_NE(c.find("exo_neon_sdot("), std::string::npos) << c;
}

TEST(EmulatedBook, what_the_book_shows_runs) {
  for (const char* program :
       {"aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc", "qemu-aarch64", "qemu-riscv64"})
    if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
  std::ifstream book(std::string(EXOTUNE_SOURCE_DIR) + "/docs/targets.md");
  const CommandHarness harness("emulated_book");
  int shown = 0;
  bool ours = false;
  for (std::string line; std::getline(book, line);) {
    if (line.rfind("```", 0) == 0) ours = line == "```console emulators";
    if (!ours || line.rfind("$ exo-tune ", 0) != 0) continue;
    std::istringstream words(line.substr(11));
    std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
    arguments.insert(arguments.end(), {"--trials", "2"});
    const CommandResult result = harness.run(arguments);
    EXPECT_EQ(result.exit_status, 0) << line << "\n" << result.err;
    ++shown;
  }
  EXPECT_GT(shown, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Processors, Emulated,
    testing::Values(Processor{"neon", "aarch64-linux-gnu-gcc", "qemu-aarch64", "vld1q_f"},
                    Processor{"rvv", "riscv64-linux-gnu-gcc", "qemu-riscv64", "vsetivli"}),
    [](const auto& info) { return info.param.target; });

}  // namespace
}  // namespace exotune::cli
