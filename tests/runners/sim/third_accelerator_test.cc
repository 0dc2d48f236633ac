// An accelerator that the product does not know: text in madeup/array8, the device model here.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"
#include "hw/target.h"
#include "runners/sim/sim_runner.h"
#include "search/problem.h"
#include "search/runner_tuning.h"

namespace exotune {
namespace {

using sim::Device;

/// One thing after another: an instruction ends before the next one begins.
class Array8 final : public Device {
 public:
  explicit Array8(sim::Figures& figures)
      : load_(figures.latency("tile_load")),
        product_(figures.latency("tile_product")),
        scratch_(64 * figures.parameter("scratch_tiles")),
        sums_(64 * figures.parameter("bias_tiles")) {}
  std::string name() const override { return "array8"; }
  std::optional<Form> decode(uint32_t word) const override {
    if ((word & 0x7f) != 0x0b || (word >> 25) > 3) return std::nullopt;
    return Form{true, true, false};
  }
  Reply execute(const Call& call, sim::Memory& memory) override {
    const uint64_t local = call.rs2 & 0xffffffff, step = call.rs2 >> 32;
    Reply reply;
    reply.next = call.now + 1;
    const bool product = call.word >> 25 == 2;
    idle_ = std::max(idle_, call.now) + (product ? product_ : load_);
    switch (call.word >> 25) {
      case 0:
        if (64 * local + 64 > scratch_.size())
          return fault("tile " + std::to_string(local) + " of the scratchpad");
        for (uint64_t i = 0; i < 8; ++i) {
          if (!memory.holds(call.rs1 + i * step, 8)) return fault("a load from outside memory");
          std::memcpy(&scratch_[64 * local + 8 * i], memory.at(call.rs1 + i * step), 8);
        }
        break;
      case 1:
        for (uint64_t i = 0; i < 8; ++i)
          std::memcpy(&sums_.at(64 * local + 8 * i), memory.at(call.rs1), 32);
        break;
      case 2:
        multiply(call.rs1 & 0xffffffff, call.rs1 >> 32, local);
        break;
      default:
        for (uint64_t i = 0; i < 8; ++i)
          std::memcpy(memory.at(call.rs1 + i * step), &sums_.at(64 * local + 8 * i), 32);
    }
    return reply;
  }
  uint64_t idle_at() const override { return idle_; }
  std::vector<sim::Event> events() const override { return {{"products", products_}}; }
  void reset() override { idle_ = products_ = 0; }

 private:
  static Reply fault(const std::string& what) {
    Reply reply;
    reply.fault = what;
    return reply;
  }
  void multiply(uint64_t a, uint64_t b, uint64_t c) {
    ++products_;
    for (uint64_t i = 0; i < 8; ++i)
      for (uint64_t j = 0; j < 8; ++j)
        for (uint64_t k = 0; k < 8; ++k)
          sums_.at(64 * c + 8 * i + j) +=
              scratch_.at(64 * a + 8 * i + k) * scratch_.at(64 * b + 8 * k + j);
  }
  uint64_t load_, product_;
  std::vector<int8_t> scratch_;
  std::vector<int32_t> sums_;
  uint64_t idle_ = 0, products_ = 0;
};

constexpr const char* kLayer = R"(
@proc
def layer(A: i8[8, 16] @ DRAM, B: i8[16, 8] @ DRAM, bias: i32[8] @ DRAM, C: i32[8, 8] @ DRAM):
    for i in seq(0, 8):
        for j in seq(0, 8):
            C[i, j] = bias[j]
            for k in seq(0, 16):
                left: i32
                right: i32
                left = A[i, k]
                right = B[k, j]
                C[i, j] += left * right
)";
constexpr const char* kOnArray = R"(
from array8 import *
@proc
def layer(A: i8[8, 16] @ DRAM, B: i8[16, 8] @ DRAM, bias: i32[8] @ DRAM, C: i32[8, 8] @ DRAM):
    sums: i32[8, 8] @ ARRAY8_SUMS
    array8_bias(sums[0:8, 0:8], bias[0:8])
    for k in seq(0, 2):
        a: i8[8, 8] @ ARRAY8_SCRATCH
        b: i8[8, 8] @ ARRAY8_SCRATCH
        array8_load(a[0:8, 0:8], A[0:8, 8*k:8*k + 8])
        array8_load(b[0:8, 0:8], B[8*k:8*k + 8, 0:8])
        array8_product(sums[0:8, 0:8], a[0:8, 0:8], b[0:8, 0:8])
    array8_store(sums[0:8, 0:8], C[0:8, 0:8])
)";

class ThirdAccelerator : public testing::Test {
 protected:
  ThirdAccelerator()
      : library_({std::filesystem::path(EXOTUNE_SOURCE_DIR) / "tests/runners/sim/madeup"}),
        target_(library_.load("array8")) {}
  void SetUp() override {
    if (find_program("riscv64-unknown-elf-gcc").empty())
      GTEST_SKIP() << "no cross compiler on PATH";
  }
  ProcPtr proc(const char* text) {
    return parse_module(text, "layer.exo", library_.importer()).user_procs().at(0);
  }
  std::unique_ptr<SimRunner> runner(std::map<std::string, double> parameters) {
    SimRunnerOptions options;
    options.devices["array8"] = [](sim::Figures& f) -> sim::DevicePtr {
      return std::make_unique<Array8>(f);
    };
    return std::make_unique<SimRunner>(
        toolchain_of(*target_),
        SimulatedMachine{target_->runner.options.at("isa"), "array8", target_->latency, parameters},
        options);
  }
  TargetLibrary library_;
  TargetPtr target_;
};

TEST_F(ThirdAccelerator, computes_what_its_text_says_and_faster_than_the_processor) {
  const ProcPtr plain = proc(kLayer);
  const TuningProblem problem = make_problem(plain, {});
  const std::vector<Candidate> candidates = {make_candidate(plain, *target_, problem),
                                             make_candidate(proc(kOnArray), *target_, problem)};
  const auto on = runner(target_->parameters);
  const std::vector<TrialResult> results = on->run(candidates, problem.test, {});
  ASSERT_TRUE(results[0].ok()) << results[0].cause;
  ASSERT_TRUE(results[1].ok()) << results[1].cause;
  EXPECT_LT(10 * results[1].median, results[0].median);
  EXPECT_EQ(on->account(candidates[1].id)->events.at(0).count, 2u);
}

TEST_F(ThirdAccelerator, is_tuned_like_the_others) {
  TuneRequest request;
  request.proc = proc(kLayer);
  request.kernel.name = request.kernel.proc = "layer";
  request.target = target_;
  const auto store = make_memory_store();
  const auto on = runner(target_->parameters);
  const TuneResult result = tune_on(*on, request, {}, *store);
  ASSERT_NE(result.winner, nullptr);
  EXPECT_EQ(result.cycles->unit, SampleUnit::kModelCycles);
  EXPECT_EQ(store->best(result.key)->unit, "model cycles");
  EXPECT_GT(result.cycles->as_written, 10 * result.cycles->count);
  EXPECT_NE(result.script.find("array8_product"), std::string::npos) << result.script;
}

TEST_F(ThirdAccelerator, what_overflows_its_scratchpad_is_a_fault) {
  const ProcPtr plain = proc(kLayer);
  const TuningProblem problem = make_problem(plain, {});
  std::map<std::string, double> small = target_->parameters;
  small["scratch_tiles"] = 1;
  const Candidate c = make_candidate(proc(kOnArray), *target_, problem);
  const TrialResult r = runner(small)->run({&c, 1}, problem.test, {})[0];
  EXPECT_EQ(r.status, TrialStatus::kCrash);
  EXPECT_NE(r.cause.find("tile 1 of the scratchpad"), std::string::npos) << r.cause;
}

// Every block that the chapter gives a file's name stands in that file.
TEST(ThirdAcceleratorsChapter, shows_what_is_run_here) {
  namespace fs = std::filesystem;
  const auto text_of = [](const fs::path& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const fs::path root = EXOTUNE_SOURCE_DIR, here = root / "tests/runners/sim";
  std::istringstream chapter(text_of(root / "docs/add-an-accelerator.md"));
  std::string file, block;
  int shown = 0;
  for (std::string line; std::getline(chapter, line);) {
    if (line.rfind("```", 0) != 0) {
      block += line + "\n";
      continue;
    }
    if (!file.empty()) {
      const fs::path path = file.ends_with(".cc") ? here / file : here / "madeup/array8" / file;
      EXPECT_NE(text_of(path).find(block), std::string::npos) << file << "\n" << block;
      ++shown;
    }
    const size_t space = line.find(' ');
    file = space == std::string::npos || line.rfind("```console", 0) == 0 ? ""
                                                                          : line.substr(space + 1);
    block.clear();
  }
  EXPECT_GE(shown, 9);
}

}  // namespace
}  // namespace exotune
