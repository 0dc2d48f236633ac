#include "search/tuner.h"

#include <algorithm>

#include "runners/arena.h"
#include "runners/threads.h"
#include "search/few_rounds.h"
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

const SizeBinding& sizes_of_speed(const TuneRequest& request, const TuneResult& result) {
  if (result.timed_there) return result.searched_at;
  return request.sizes.empty() ? request.representative : request.sizes;
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

TrialKey entered_context(const TuningState& run, const Bench& bench) {
  const TuneRequest& request = run.request;
  return enter_context(request.proc, request.kernel.name, sizes_of_key(run), *request.target,
                       request.machine, bench.toolchain, run.store);
}

// What must come out, by the nest as written or by `fast`, which is proved equal; not when there is
// no time for it, and then nothing is measured.
void find_expected(TuningState& run, const Bench& bench, const ProcPtr& fast) {
  ProblemOptions data{.seed = run.request.seed};
  data.runner = bench.runner;
  data.target = run.request.target.get();
  const Deadline deadline = run.budget.reference();
  const ProcPtr written = at_sizes(run.request.proc, run.request.sizes);
  data.written = fast ? fast
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
  run.problem = forms_of(run);
  run.result.key = entered_context(run, bench);
  const double begun = run.clock.seconds();
  find_expected(run, bench, run.request.shorter);
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
  // What was found wrong there wins in no other way.
  const bool wrong = finals.found_wrong();
  if (!run.result.winner && !wrong && (run.deadline.over() || finals.cut_short()))
    measuring.take_fastest();
  if (!run.result.winner && !wrong && !measuring.found_wrong())
    measuring.candidates().take_cheapest();
  run.result.views = measuring.outcomes_of_starts();
  return std::move(run.result);
}

// --- at few of the rounds -----------------------------------------------------------------------

constexpr double kShareOfFewRounds = 0.7;  // of the time of a run
constexpr double kCallsToMeasure = 6;      // what must come out, its check, and samples
constexpr double kPatience = 4;            // times what a call is expected to take
constexpr double kSecondsToProve = 30;     // the winner's steps again: nothing found is lost

TuneRequest at_few_rounds(const TuneRequest& request, const SizeBinding& few) {
  TuneRequest there = request;
  there.sizes = few;
  there.representative.clear();
  there.time_budget_seconds *= kShareOfFewRounds;
  return there;
}

// The winner at few rounds made of the nest itself, proved there, and measured if there is time for
// it. Its peers it met at few rounds. Nothing: the core refuses it.
std::optional<TuneResult> at_all_rounds(TuningState& run, const Bench& bench, TuneResult few,
                                        const SizeBinding& where, bool measures) {
  run.problem = forms_of(run);
  run.result.key = entered_context(run, bench);
  Proposals proposals(run);
  Measuring measuring(run, proposals, bench);
  // What does not begin as the search does is the nest as the user wrote it.
  const std::optional<Steps> found = steps_behind(proposals.start().steps, few.steps);
  if (found && !found->empty() && !proposals.add_schedule(*found)) return std::nullopt;
  if (!found && !proposals.untouched()) return std::nullopt;
  const size_t state = !found ? 1 : found->empty() ? 0 : proposals.states().size() - 1;
  if (measures) find_expected(run, bench, proposals.states()[state].proc);
  if (!measuring.take(state, few.compilation)) return std::nullopt;
  TuneResult out = std::move(run.result);
  TuneStatistics& all = few.statistics;
  all.prepare_seconds += run.expected_seconds;
  all.measured += out.statistics.measured;
  all.reused += out.statistics.reused;
  out.statistics = std::move(all);
  out.searched_at = where;
  out.timed_there = out.seconds == 0;
  if (out.timed_there) {
    out.seconds = few.seconds;
    out.gflops = few.gflops;
    out.gbytes = few.gbytes;
  }
  out.peak_gflops = few.peak_gflops;
  out.own_peak = few.own_peak;
  out.memory_seconds = few.memory_seconds;
  out.peers = std::move(few.peers);
  out.rivals = std::move(few.rivals);
  out.peer_report = std::move(few.peer_report);
  out.missed = std::move(few.missed);
  out.failures = std::move(few.failures);
  out.stop = few.stop;
  return out;
}

TuneResult measure(const Bench& bench, const TuneRequest& request, Store& store,
                   const TuneHooks& hooks, const TimeSource& clock) {
  const double begun = clock.seconds();
  TuneRequest rest = request;
  if (const std::optional<SizeBinding> few = few_rounds(request)) {
    const TuneRequest there = at_few_rounds(request, *few);
    TuningState first(there, store, hooks, clock);
    TuneResult found = measure(first, bench);
    const double left = request.time_budget_seconds - (clock.seconds() - begun);
    const double call = found.seconds * times_fewer(request, *few);
    const bool stopped = found.stop == StopReason::kInterrupted;
    rest.time_budget_seconds = left;
    if (found.winner && (call > 0 || stopped)) {
      TuneRequest patient = rest;
      patient.time_budget_seconds = std::max(left, kSecondsToProve);
      patient.timeout_seconds = std::max(request.timeout_seconds, kPatience * call);
      // Who stopped the run wants what it has.
      const TuneHooks deaf = {hooks.progress, {}};
      TuningState all(patient, store, stopped ? deaf : hooks, clock);
      const bool measures = !stopped && kCallsToMeasure * call < left;
      if (auto out = at_all_rounds(all, bench, std::move(found), *few, measures))
        return std::move(*out);
    }
  }
  TuningState run(rest, store, hooks, clock);
  return measure(run, bench);
}

}  // namespace

TuneResult tune_with(const Bench& bench, const TuneRequest& request, Store& store,
                     const TuneHooks& hooks, const TimeSource& clock) {
  return measure(bench, request, store, hooks, clock);
}

TuneResult tune(const TuneRequest& request, Store& store, const TuneHooks& hooks) {
  const bool runs = request.effort != Effort::kEstimate;
  {
    TuningState run(request, store, hooks, TimeSource::steady());
    require_memory(*request.proc, run.sizes, request.machine, runs);
    run.problem = forms_of(run);
    if (!runs) return estimate(run);
  }
  NativeOptions native{.work_directory = request.work_directory, .jobs = request.jobs};
  const TargetToolchain toolchain = with_threads(toolchain_of(*request.target), request.threads);
  // One for all phases: what was compiled stays so, for comparisons and for other sizes too.
  native.compiler = shared_compiler(toolchain, native);
  const std::unique_ptr<Runner> runner = native_runner(toolchain, native);
  const std::unique_ptr<Arena> arena = native_arena(toolchain, native);
  return measure({runner.get(), arena.get(), toolchain}, request, store, hooks,
                 TimeSource::steady());
}

}  // namespace exotune
