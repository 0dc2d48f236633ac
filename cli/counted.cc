#include "cli/counted.h"

#include <fmt/format.h>

#include "cli/quantities.h"
#include "runners/arena.h"
#include "search/runner_tuning.h"

namespace exotune::cli {

TuningProblem counted_problem(const KernelInput& input, const SizeBinding& sizes,
                              const Target& target) {
  const std::unique_ptr<Runner> here = native_runner(plain_toolchain());
  return make_problem(input.proc, sizes, {.runner = here.get(), .target = &target});
}

Table counted_table() {
  return Table({"kernel", "sizes", "status", "count", "of what", "% peak"}, {"count", "% peak"});
}

std::string hint_for(TrialStatus status) {
  switch (status) {
    case TrialStatus::kCompileError:
      return "exo-tune schedule KERNEL FILE.sched --emit c shows the code";
    case TrialStatus::kTimeout:
      return "a loop that does not end, or a run that is longer than --timeout";
    case TrialStatus::kCrash:
      return "the C of an instruction, or what it asks of addresses and places that its assertions "
             "do not say; exo-tune schedule KERNEL FILE.sched --emit c shows it";
    case TrialStatus::kMismatch:
    case TrialStatus::kPoisoned:
    case TrialStatus::kOutOfBounds:
      return "the C of an instruction does not do what its body says";
    default:
      return "";
  }
}

TrialResult add_counted(Runner& runner, const Candidate& candidate, const KernelEntry& entry,
                        const TuningProblem& problem, const Target& target, double seconds,
                        Table& table) {
  RunOptions options;
  options.timeout_seconds = seconds;
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
