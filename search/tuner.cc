#include "search/tuner.h"

#include "runners/arena.h"
#include "runners/threads.h"
#include "search/final_round.h"
#include "search/measuring.h"
#include "search/operand_memory.h"
#include "search/reference_order.h"
#include "search/tuning_bench.h"
#include "search/tuning_context.h"

namespace exotune {

const char* name_of(StopReason r) {
  static const char* const names[] = {"complete", "trials", "time budget", "interrupted"};
  return names[static_cast<int>(r)];
}

const char* name_of(Strategy s) {
  static const char* const names[] = {"dp", "beam", "eqsat", "all"};
  return names[static_cast<int>(s)];
}

namespace {

// Of the kernel's arguments only their forms: nothing runs, and what must come out need not be
// known.
TuningProblem forms_of(const TuningState& run) {
  return make_problem(run.request.proc, run.sizes, {.inputs = false});
}

std::string sizes_of_key(const TuningState& run) {
  return sizes_text(run.sizes) + (run.request.sizes.empty() ? " (symbolic)" : "") +
         threads_text(run.request.threads);
}

// Of the time for what must come out: a better order for it.
constexpr double kShareOfOrder = 0.1;

// What must come out; not when there is no time for it, and then nothing is measured.
void find_expected(TuningState& run, const Bench& bench) {
  ProblemOptions data{.seed = run.request.seed};
  data.runner = bench.runner;
  data.target = run.request.target.get();
  const Deadline deadline = run.budget.reference();
  const ProcPtr written = at_sizes(run.request.proc, run.request.sizes);
  data.written = run.request.shorter
                     ? run.request.shorter
                     : in_reference_order(written, run.sizes, run.request.target->levels,
                                          deadline.within(kShareOfOrder * deadline.left()));
  run.written_is_far = data.written != written;
  const double begun = run.clock.seconds();
  try {
    const DeadlineScope scope(deadline);
    run.problem = make_problem(run.request.proc, run.sizes, data);
    run.can_measure = true;
  } catch (const Error&) {
    if (!deadline.over()) throw;
  }
  run.expected_seconds = run.since(begun);
}

TuneResult estimate(TuningState& run) {
  run.result.key =
      context_key(*run.request.proc, sizes_of_key(run), *run.request.target, run.request.machine);
  Proposals proposals(run);
  proposals.search();
  const Bench none;
  Candidates(run, proposals, none, {}).take_cheapest();
  return std::move(run.result);
}

TuneResult measure(TuningState& run, const Bench& bench) {
  const TuneRequest& request = run.request;
  run.result.key = enter_context(request.proc, request.kernel.name, sizes_of_key(run),
                                 *request.target, request.machine, bench.toolchain, run.store);
  const double begun = run.clock.seconds();
  find_expected(run, bench);
  FinalRound::note_peak(run, bench);
  Proposals proposals(run);
  Measuring measuring(run, proposals, bench);
  if (run.can_measure) measuring.as_written();
  run.result.statistics.prepare_seconds = run.since(begun);
  proposals.search();
  measuring.run();
  FinalRound finals(run, measuring, bench);
  finals.run();
  // The end came before the shoot-out had a result, or before anything was measured.
  if (!run.result.winner && (run.deadline.over() || finals.cut_short())) measuring.take_fastest();
  if (!run.result.winner && !measuring.found_wrong()) measuring.candidates().take_cheapest();
  run.result.views = measuring.outcomes_of_starts();
  return std::move(run.result);
}

}  // namespace

TuneResult tune_with(const Bench& bench, const TuneRequest& request, Store& store,
                     const TuneHooks& hooks, const TimeSource& clock) {
  TuningState run(request, store, hooks, clock);
  run.problem = forms_of(run);
  return measure(run, bench);
}

TuneResult tune(const TuneRequest& request, Store& store, const TuneHooks& hooks) {
  TuningState run(request, store, hooks, TimeSource::steady());
  const bool runs = request.effort != Effort::kEstimate;
  require_memory(*request.proc, run.sizes, request.machine, runs);
  run.problem = forms_of(run);
  if (!runs) return estimate(run);
  NativeOptions native{.work_directory = request.work_directory, .jobs = request.jobs};
  const TargetToolchain toolchain = with_threads(toolchain_of(*request.target), request.threads);
  // One for all phases: what was compiled stays so, for comparisons and for other sizes too.
  native.compiler = shared_compiler(toolchain, native);
  const std::unique_ptr<Runner> runner = native_runner(toolchain, native);
  const std::unique_ptr<Arena> arena = native_arena(toolchain, native);
  return measure(run, {runner.get(), arena.get(), toolchain});
}

}  // namespace exotune
