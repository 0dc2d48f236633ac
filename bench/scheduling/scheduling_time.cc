// How long a schedule takes to apply: one row for each kernels/KERNEL_TARGET.sched, and one for all
// variants of axpy and symv on AVX2 and AVX-512 together, in a line or two of script each. Time is
// the CPU time of the script evaluator, in a process of its own each time, so that no answer of the
// prover is remembered from before. Counters: the primitives applied, the peak memory of that
// process, and, where Exo's papers report the same kernel, Exo's seconds and how many times faster
// this is.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "core/cursor/provenance.h"
#include "core/library/script.h"
#include "hw/kernel_table.h"
#include "hw/target.h"

namespace exotune {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = EXOTUNE_SOURCE_DIR;

struct Reported {
  const char* schedule;  // start of the name
  double seconds;
};
constexpr Reported kExo[] = {{"sgemm_", 22},        {"sconv3x3_", 1.6},    {"blur_", 3.4},
                             {"unsharp_", 63},      {"conv1d_rvm", 2.6},   {"i8gemm_", 25},
                             {"axpy variants", 33}, {"symv variants", 122}};

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct Cost {
  double seconds = 0;
  int64_t primitives = 0;
};

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Cost run_timed(const std::string& text, const std::string& file, const ScriptEnvironment& env) {
  const double start = cpu_seconds();
  const ProcPtr p = run_script(text, file, env).proc;
  return {cpu_seconds() - start, static_cast<int64_t>(trace_of(p).size())};
}

Cost apply_file(const std::string& name) {
  TargetLibrary library({kRoot / "hw"});
  const TargetPtr target = library.load(name.substr(name.rfind('_') + 1));
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  const KernelEntry& kernel = table.at(name.substr(0, name.rfind('_')));
  const Module module = parse_module(read(kernel.file), kernel.file.string());
  const std::string file = (kRoot / "kernels" / (name + ".sched")).string();
  return run_timed(read(file), file, script_environment(module, {&target->library}));
}

/// Every kernel whose peer is that operation, by the library's schedule for it.
Cost apply_variants(const std::string& op) {
  TargetLibrary library({kRoot / "hw"});
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  Cost all;
  for (const char* isa : {"avx2", "avx512"}) {
    const TargetPtr target = library.load(isa);
    for (const KernelEntry& kernel : table.kernels()) {
      if (kernel.peer.op != op) continue;
      const Module module = parse_module(read(kernel.file), kernel.file.string());
      const std::string unit = std::to_string(target->lanes_of(kernel.precision)) + ", " +
                               target->vector_memory->name + ", instrs)\n";
      std::string text = "p = " + kernel.proc + "\n";
      if (kernel.name.find("strided") != std::string::npos) text += "p = gather_vectors(p)\n";
      text += op == "axpy" ? "p = optimize_level_1(p, 'i', " + unit
                           : "p = optimize_level_2(p, 'i', 'j', " + unit;
      const Cost one = run_timed(text, kernel.name, script_environment(module, {&target->library}));
      all.seconds += one.seconds;
      all.primitives += one.primitives;
    }
  }
  return all;
}

Cost apply(const std::string& name) {
  const size_t variants = name.find(" variants");
  return variants == std::string::npos ? apply_file(name)
                                       : apply_variants(name.substr(0, variants));
}

void scheduling_time(benchmark::State& state, const std::string& name) {
  Cost cost;
  double kilobytes = 0;
  for (auto _ : state) {
    int ends[2];
    if (pipe(ends) != 0) return state.SkipWithError("no pipe");
    const pid_t child = fork();
    if (child == 0) {
      Cost mine;
      try {
        mine = apply(name);
      } catch (const Error& e) {
        std::fprintf(stderr, "%s\n", e.what());
      }
      _exit(write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1);
    }
    close(ends[1]);
    const bool told = ::read(ends[0], &cost, sizeof cost) == sizeof cost;
    close(ends[0]);
    rusage used{};
    int status = 0;
    wait4(child, &status, 0, &used);
    if (!told || cost.primitives == 0) return state.SkipWithError("the schedule was refused");
    kilobytes = std::max(kilobytes, static_cast<double>(used.ru_maxrss));
    state.SetIterationTime(cost.seconds);
  }
  state.counters["primitives"] = static_cast<double>(cost.primitives);
  state.counters["peak_MB"] = kilobytes / 1024;
  for (const Reported& exo : kExo) {
    if (name.rfind(exo.schedule, 0) != 0) continue;
    state.counters["exo_s"] = exo.seconds;
    state.counters["exo_ratio"] = exo.seconds / cost.seconds;
  }
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  std::vector<std::string> names;
  for (const auto& entry : exotune::fs::directory_iterator(exotune::kRoot / "kernels"))
    if (entry.path().extension() == ".sched") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  names.insert(names.end(), {"axpy variants", "symv variants"});
  for (const std::string& name : names)
    benchmark::RegisterBenchmark(
        name.c_str(), [name](benchmark::State& state) { exotune::scheduling_time(state, name); })
        ->UseManualTime()
        ->Iterations(5)
        ->Unit(benchmark::kMillisecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
