// What a search pays for attempts of `replace` that fail: most of them, and most of its time.
#include <benchmark/benchmark.h>

#include "core/frontend/parser.h"
#include "core/primitives/primitives.h"
#include "hw/target.h"

namespace exotune {
namespace {

constexpr const char* kNest = R"(
@proc
def f(x: f32[64] @ DRAM, y: f32[64] @ DRAM):
    for o in seq(0, 4):
        for i in seq(0, 16):
            x[16 * o + i] = 3.0 * y[16 * o + i] + x[16 * o + i] * x[16 * o + i]
)";

/// All of `count` instructions of a target against a loop that is none of them.
void every_attempt_fails(benchmark::State& state, const char* target) {
  TargetLibrary library({std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
  std::vector<ProcPtr> instrs = library.load(target)->library.procs;
  instrs.resize(std::min<size_t>(instrs.size(), static_cast<size_t>(state.range(0))));
  const ProcPtr p = parse_module(kNest, "bench.exo").procs.back();
  const Cursor loop = find_loop(p, "i");
  for (auto _ : state)
    for (const ProcPtr& instr : instrs)
      if (try_replace(p, loop, instr)) state.SkipWithError("an instruction fits");
  state.counters["instructions"] = static_cast<double>(instrs.size());
}
BENCHMARK_CAPTURE(every_attempt_fails, avx512, "avx512")->Arg(60)->Arg(1000);

/// One that has the right shape and fails only at its operands' memory.
void an_attempt_of_the_same_shape(benchmark::State& state) {
  TargetLibrary library({std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
  const ProcPtr p = parse_module(R"(
@proc
def f(x: f32[64] @ DRAM, y: f32[64] @ DRAM):
    for o in seq(0, 4):
        for i in seq(0, 16):
            x[16 * o + i] = y[16 * o + i]
)",
                                 "bench.exo")
                        .procs.back();
  std::vector<ProcPtr> instrs = library.load("avx512")->library.procs;
  const Cursor loop = find_loop(p, "i");
  for (auto _ : state)
    for (const ProcPtr& instr : instrs) benchmark::DoNotOptimize(try_replace(p, loop, instr));
}
BENCHMARK(an_attempt_of_the_same_shape);

}  // namespace
}  // namespace exotune

BENCHMARK_MAIN();
