#include "cli/counted.h"

#include <fmt/format.h>

#include "cli/quantities.h"
#include "runners/arena.h"
#include "search/runner_tuning.h"

namespace exotune::cli {

namespace {

constexpr double kSeconds = 60;  // of a run: nests as written take long

}  // namespace

TuningProblem counted_problem(const KernelInput& input, const SizeBinding& sizes,
                              const Target& target) {
  const std::unique_ptr<Runner> here = native_runner(default_toolchain("scalar"));
  return make_problem(input.proc, sizes, {.runner = here.get(), .target = &target});
}

Table counted_table() {
  return Table({"kernel", "sizes", "status", "count", "of what", "% peak"}, {"count", "% peak"});
}

TrialResult add_counted(Runner& runner, const Candidate& candidate, const KernelEntry& entry,
                        const TuningProblem& problem, const Target& target, Table& table) {
  RunOptions options;
  options.timeout_seconds = kSeconds;
  TrialResult result = runner.run({&candidate, 1}, problem.test, options)[0];
  const double share =
      result.ok() && runner.unit() != SampleUnit::kInstret
          ? share_of_peak(entry, *problem.kernel, problem.sizes, target, result.median)
          : 0;
  table.add({entry.name, str(problem.sizes), status_name(result.status),
             result.ok() ? fmt::format("{:.0f}", result.median) : "-", unit_name(runner.unit()),
             share > 0 ? fmt::format("{:.1f}", 100 * share) : "-"});
  return result;
}

}  // namespace exotune::cli
