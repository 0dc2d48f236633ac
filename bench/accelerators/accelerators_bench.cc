// Cycles of the schedules that ship for simulated targets, beside the plain loops: every
// kernels/KERNEL_TARGET.sched whose target's runner is the simulator.
//
//   bench_accelerators [KERNEL_TARGET [NAME=VALUE...]]
// A NAME of a size sets it; a NAME of [latency] or [parameters] replaces that figure; plain=0
// leaves the plain loops out.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "core/base/subprocess.h"
#include "core/library/script.h"
#include "core/primitives/primitives.h"
#include "hw/kernel_table.h"
#include "runners/sim/sim_runner.h"
#include "search/problem.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

const fs::path kRoot = EXOTUNE_SOURCE_DIR;

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct Wanted {
  std::string name;
  std::map<std::string, double> values;
};

class Comparison {
 public:
  explicit Comparison(const Wanted& wanted)
      : wanted_(wanted),
        library_({kRoot / "hw"}),
        target_(library_.load(wanted.name.substr(wanted.name.rfind('_') + 1))),
        table_(load_kernel_table(kRoot / "kernels")),
        kernel_(table_.at(wanted.name.substr(0, wanted.name.rfind('_')))) {}

  bool simulated() const { return target_->runner.kind == "sim"; }

  void print() {
    const ProcPtr before = kernel_.load();
    const Module module = parse_module(read(kernel_.file), kernel_.file.string());
    const std::string file = (kRoot / "kernels" / (wanted_.name + ".sched")).string();
    const ProcPtr after =
        run_script(read(file), file, script_environment(module, {&target_->library})).proc;
    SizeBinding sizes = kernel_.sizes.front();
    for (auto& [name, value] : sizes)
      if (const auto it = wanted_.values.find(name); it != wanted_.values.end())
        value = static_cast<int64_t>(it->second);
    const TuningProblem problem = make_problem(before, sizes, {});
    std::cout << wanted_.name;
    for (const auto& [name, value] : sizes) std::cout << ' ' << name << '=' << value;
    std::cout << '\n';
    std::vector<Candidate> candidates = {make_candidate(after, *target_, problem)};
    const auto plain = wanted_.values.find("plain");
    // The compiler knows the sizes of the plain loops, as it knows those of the schedule.
    if (plain == wanted_.values.end() || plain->second != 0)
      candidates.push_back(
          make_candidate(partial_eval(before, {sizes.begin(), sizes.end()}), *target_, problem));
    SimRunner runner(toolchain_of(*target_), machine());
    RunOptions options;
    options.timeout_seconds = 60;
    const auto start = std::chrono::steady_clock::now();
    const std::vector<TrialResult> results = runner.run(candidates, problem.test, options);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double peak = target_->peak_of(kernel_.precision) > 0
                            ? target_->peak_of(kernel_.precision)
                            : target_->peak_of(ScalarType::kI8);
    for (size_t k = 0; k < results.size(); ++k)
      row(k == 0 ? "schedule" : "plain", results[k], runner.account(candidates[k].id),
          kernel_.flops.evaluate(sizes) / peak);
    if (results.size() == 2 && results[0].ok() && results[1].ok())
      std::printf("  plain / schedule: %.2f\n", results[1].median / results[0].median);
    std::printf("  (%.1f s)\n", seconds);
  }

 private:
  SimulatedMachine machine() const {
    SimulatedMachine m{target_->runner.options.at("isa"), target_->runner.options.at("extension"),
                       target_->latency, target_->parameters};
    for (const auto& [name, value] : wanted_.values)
      for (auto* figures : {&m.latency, &m.parameters})
        if (figures->count(name)) (*figures)[name] = value;
    return m;
  }

  static void row(const char* what, const TrialResult& r, const sim::Account* a, double ideal) {
    if (!r.ok()) {
      std::printf("  %-9s %s: %s\n", what, status_name(r.status), r.cause.c_str());
      return;
    }
    std::printf("  %-9s %12.0f model cycles  %5.1f %% of peak", what, r.median,
                100 * ideal / r.median);
    if (a != nullptr) {
      std::printf("  instret %llu  waited %llu (loads %llu, device %llu)",
                  static_cast<unsigned long long>(a->instructions),
                  static_cast<unsigned long long>(a->waited + a->waited_for_device),
                  static_cast<unsigned long long>(a->waited_for_loads),
                  static_cast<unsigned long long>(a->waited_for_device));
      for (const sim::Event& e : a->events)
        std::printf("  %s %llu", e.name.c_str(), static_cast<unsigned long long>(e.count));
    }
    std::printf("\n");
  }

  Wanted wanted_;
  TargetLibrary library_;
  TargetPtr target_;
  KernelTable table_;
  const KernelEntry& kernel_;
};

std::vector<std::string> schedules() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kRoot / "kernels"))
    if (entry.path().extension() == ".sched") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  using namespace exotune;
  try {
    Wanted wanted;
    for (int k = 1; k < argc; ++k) {
      const std::string word = argv[k];
      const size_t equal = word.find('=');
      if (equal == std::string::npos)
        wanted.name = word;
      else
        wanted.values[word.substr(0, equal)] = std::stod(word.substr(equal + 1));
    }
    for (const std::string& name :
         wanted.name.empty() ? schedules() : std::vector<std::string>{wanted.name}) {
      wanted.name = name;
      Comparison comparison(wanted);
      if (comparison.simulated()) comparison.print();
    }
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.exit_code());
  }
}
