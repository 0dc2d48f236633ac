// How fast the embedded simulator runs: a product of bytes by the core alone, 256 cubed, and
// checksums (shifts, tests, jumps that are hard to foresee), plain and with the scoreboard, on both
// widths. The best of five runs, in millions of instructions a second.
//
//   bench_simulator
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "core/base/diagnostic.h"
#include "runners/command/program.h"
#include "runners/sim/simulation.h"
#include "runners/work_directory.h"

namespace exotune {
namespace {

constexpr int kSize = 256;
constexpr int kRows = 4096;  // of checksums
constexpr int kRuns = 5;

Candidate product() {
  Candidate c;
  c.id = c.stem = "product";
  c.function = "product";
  const std::string n = std::to_string(kSize);
  c.c_source =
      "void product(const int8_t* a, const int8_t* b, int32_t* c) {\n  for (int i = 0; i < " + n +
      "; ++i)\n    for (int j = 0; j < " + n +
      "; ++j) {\n      int32_t s = 0;\n      for (int k = 0; k < " + n + "; ++k) s += a[i * " + n +
      " + k] * b[k * " + n + " + j];\n      c[i * " + n + " + j] = s;\n    }\n}\n";
  c.args = {ArgSpec::tensor("a", ElementType::kI8, {kSize, kSize}, true, false),
            ArgSpec::tensor("b", ElementType::kI8, {kSize, kSize}, true, false),
            ArgSpec::tensor("c", ElementType::kI32, {kSize, kSize}, false, true)};
  return c;
}

TestCase test_of_product(const Candidate& c) {
  TestCase test = make_inputs(c.args, 1);
  test.expected.resize(3);
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k)
        sum += test.inputs[0][static_cast<size_t>(i * kSize + k)] *
               test.inputs[1][static_cast<size_t>(k * kSize + j)];
      test.expected[2].push_back(sum);
    }
  return test;
}

// Each word of a row with its neighbours: loads, shifts and stores, as where operands are copied.
Candidate smoothing() {
  Candidate c;
  c.id = c.stem = "smoothing";
  c.function = "smoothing";
  const std::string n = std::to_string(kRows), m = std::to_string(kSize);
  c.c_source = "void smoothing(const int32_t* a, int32_t* c) {\n  for (int i = 0; i < " + n +
               "; ++i)\n    for (int k = 1; k < " + m + " - 1; ++k) {\n      const int at = i * " +
               m + " + k;\n      c[at] = (a[at - 1] + (a[at] << 1) + a[at + 1]) >> 2;\n    }\n}\n";
  c.args = {ArgSpec::tensor("a", ElementType::kI32, {kRows, kSize}, true, false),
            ArgSpec::tensor("c", ElementType::kI32, {kRows, kSize}, true, true)};
  return c;
}

TestCase test_of_smoothing(const Candidate& c) {
  TestCase test = make_inputs(c.args, 1);
  test.expected.resize(2);
  test.expected[1] = test.inputs[1];
  const auto word = [&](size_t at) { return static_cast<int64_t>(test.inputs[0][at]); };
  for (size_t i = 0; i < kRows; ++i)
    for (size_t at = i * kSize + 1; at < (i + 1) * kSize - 1; ++at)
      test.expected[1][at] = static_cast<double>((word(at - 1) + 2 * word(at) + word(at + 1)) >> 2);
  return test;
}

// A checksum of each row, bit by bit, as without a table.
Candidate checksums() {
  Candidate c;
  c.id = c.stem = "checksums";
  c.function = "checksums";
  const std::string n = std::to_string(kRows), m = std::to_string(kSize);
  c.c_source =
      "void checksums(const int8_t* a, int32_t* c) {\n  for (int i = 0; i < " + n +
      "; ++i) {\n    uint32_t sum = ~0u;\n    for (int k = 0; k < " + m +
      "; ++k) {\n      sum ^= (uint8_t)a[i * " + m +
      " + k];\n      for (int bit = 0; bit < 8; ++bit)\n        if (sum & 1) sum = sum >> 1 "
      "^ 0xedb88320u; else sum >>= 1;\n    }\n    c[i] = (int32_t)sum;\n  }\n}\n";
  c.args = {ArgSpec::tensor("a", ElementType::kI8, {kRows, kSize}, true, false),
            ArgSpec::tensor("c", ElementType::kI32, {kRows}, false, true)};
  return c;
}

TestCase test_of_checksums(const Candidate& c) {
  TestCase test = make_inputs(c.args, 1);
  test.expected.resize(2);
  for (int i = 0; i < kRows; ++i) {
    uint32_t sum = ~0u;
    for (int k = 0; k < kSize; ++k) {
      sum ^= static_cast<uint8_t>(
          static_cast<int8_t>(test.inputs[0][static_cast<size_t>(i * kSize + k)]));
      for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) ? sum >> 1 ^ 0xedb88320u : sum >> 1;
    }
    test.expected[1].push_back(static_cast<int32_t>(sum));
  }
  return test;
}

void measure(const std::string& isa, const std::string& abi, const Candidate& candidate,
             const TestCase& test) {
  TargetToolchain toolchain;
  toolchain.cc = "riscv64-unknown-elf-gcc";
  toolchain.flags = {"-O3", "-march=" + isa, "-mabi=" + abi, "-mcmodel=medany", "-ffreestanding"};
  WorkDirectory folder("");
  ProgramBuilder builder(toolchain, folder.path(), 60);
  builder.prepare(candidate.args, test);
  const BuiltProgram program = builder.build(candidate);
  if (!program.ok()) throw InputError({}, program.error);
  const sim::ElfImage image = sim::ElfImage::read(program.elf);
  for (const bool timing : {false, true}) {
    sim::SimulationOptions options;
    options.isa = sim::Isa::parse(isa);
    options.with_timing = timing;
    double best = 0;
    uint64_t instructions = 0;
    for (int run = 0; run < kRuns; ++run) {
      const sim::SimulationResult r = sim::simulate(image, options, nullptr);
      if (!r.ok()) throw InputError({}, "the program failed: " + r.cause);
      instructions = r.total.instructions;
      best = std::max(best, static_cast<double>(instructions) / r.seconds / 1e6);
    }
    std::printf("%-10s %-11s %-15s %6.0f million instructions a second (%llu)\n",
                candidate.stem.c_str(), isa.c_str(), timing ? "with scoreboard" : "plain", best,
                static_cast<unsigned long long>(instructions));
  }
}

}  // namespace
}  // namespace exotune

int main() {
  try {
    using namespace exotune;
    for (const auto& [c, test] : {std::pair(product(), test_of_product(product())),
                                  std::pair(smoothing(), test_of_smoothing(smoothing())),
                                  std::pair(checksums(), test_of_checksums(checksums()))}) {
      measure("rv32imc", "ilp32", c, test);
      measure("rv64imafdc", "lp64d", c, test);
    }
  } catch (const exotune::Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.exit_code());
  }
}
