// How fast the embedded simulator runs: a product of bytes by the core alone, 256 cubed, plain and
// with the scoreboard, on both widths. The best of five runs, in millions of instructions a second.
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

TestCase test_of(const Candidate& c) {
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

void measure(const std::string& isa, const std::string& abi) {
  TargetToolchain toolchain;
  toolchain.cc = "riscv64-unknown-elf-gcc";
  toolchain.flags = {"-O3", "-march=" + isa, "-mabi=" + abi, "-mcmodel=medany", "-ffreestanding"};
  WorkDirectory folder("");
  const Candidate candidate = product();
  ProgramBuilder builder(toolchain, folder.path(), 60);
  builder.prepare(candidate.args, test_of(candidate));
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
    std::printf("%-11s %-15s %6.0f million instructions a second (%llu)\n", isa.c_str(),
                timing ? "with scoreboard" : "plain", best,
                static_cast<unsigned long long>(instructions));
  }
}

}  // namespace
}  // namespace exotune

int main() {
  try {
    exotune::measure("rv32imc", "ilp32");
    exotune::measure("rv64imafdc", "lp64d");
  } catch (const exotune::Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.exit_code());
  }
}
