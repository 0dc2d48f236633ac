// What trying one step of a schedule costs: as data, as the searches do it, and as a line of a
// script, which a user's schedule is. The schedule is a product's on AVX-512, its steps in turn.
#include <benchmark/benchmark.h>

#include "core/cursor/provenance.h"
#include "core/library/script.h"
#include "search/steps/builders.h"

namespace exotune {
namespace {

constexpr char kProduct[] = R"(
@proc
def product(A: f32[96, 128], B: f32[128, 192], C: f32[96, 192]):
    for i in seq(0, 96):
        for j in seq(0, 192):
            for k in seq(0, 128):
                C[i, j] += A[i, k] * B[k, j]
)";

struct Setting {
  TargetPtr target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  ProcPtr kernel = parse_module(kProduct, "product.exo").procs.front();
  VectorValues unit{*target, ScalarType::kF32, instruction_values(*target)};
  Steps steps = {block_step("k", 64, "ko", "i"),
                 pack_step("B", "i", 64, unit),
                 block_step("j", 64, "jo", "i"),
                 block_step("i", 6, "io"),
                 register_block_step("i", "j", "k", unit, false),
                 unroll_registers_step(unit)};
  ScriptEnvironment environment = script_environment({}, {&target->library});
};

const Setting& setting() {
  static const Setting made;
  return made;
}

// The step after those in front of it, or all of them.
ProcPtr before(size_t step) {
  const Setting& s = setting();
  return run_steps(s.kernel, Steps(s.steps.begin(), s.steps.begin() + static_cast<long>(step)))
      .proc;
}

ProcPtr by_line(ProcPtr p, const std::string& line, ScriptEnvironment& environment) {
  environment.start = std::move(p);
  environment.enforce = false;
  return without_provenance(run_script(line, "<search>", environment).proc);
}

void as_step(benchmark::State& state) {
  const auto k = static_cast<size_t>(state.range(0));
  const ProcPtr p = before(k);
  for (auto _ : state)
    benchmark::DoNotOptimize(without_provenance(run_step(p, setting().steps[k]).proc));
  state.SetLabel(setting().steps[k].op);
}

void as_line(benchmark::State& state) {
  const auto k = static_cast<size_t>(state.range(0));
  const ProcPtr p = before(k);
  const std::string line = line_of(setting().steps[k]);
  for (auto _ : state) {
    ScriptEnvironment environment = setting().environment;  // each state of a search has its own
    benchmark::DoNotOptimize(by_line(p, line, environment));
  }
  state.SetLabel(setting().steps[k].op);
}

void refused_step(benchmark::State& state) {
  const ScheduleStep step{"unroll_loop", {"nowhere"}};
  for (auto _ : state) benchmark::DoNotOptimize(run_step(setting().kernel, step));
}

void refused_line(benchmark::State& state) {
  for (auto _ : state) {
    ScriptEnvironment environment = setting().environment;
    try {
      benchmark::DoNotOptimize(
          by_line(setting().kernel, "p = unroll_loop(p, 'nowhere')", environment));
    } catch (const Error&) {
    }
  }
}

void schedule_as_steps(benchmark::State& state) {
  const Setting& s = setting();
  for (auto _ : state) {
    ProcPtr p = s.kernel;
    for (const ScheduleStep& step : s.steps) p = without_provenance(run_step(p, step).proc);
    benchmark::DoNotOptimize(p);
  }
}

void schedule_as_lines(benchmark::State& state) {
  const Setting& s = setting();
  std::vector<std::string> lines = lines_of(s.steps);
  for (auto _ : state) {
    ScriptEnvironment environment = s.environment;
    ProcPtr p = s.kernel;
    for (const std::string& line : lines) p = by_line(p, line, environment);
    benchmark::DoNotOptimize(p);
  }
}

BENCHMARK(as_step)->DenseRange(0, 5)->Unit(benchmark::kMicrosecond);
BENCHMARK(as_line)->DenseRange(0, 5)->Unit(benchmark::kMicrosecond);
BENCHMARK(refused_step)->Unit(benchmark::kMicrosecond);
BENCHMARK(refused_line)->Unit(benchmark::kMicrosecond);
BENCHMARK(schedule_as_steps)->Unit(benchmark::kMillisecond);
BENCHMARK(schedule_as_lines)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace exotune

BENCHMARK_MAIN();
