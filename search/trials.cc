#include "search/trials.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace exotune {

const char* engine_version() { return "0.1.0"; }

namespace {

using Clock = std::chrono::steady_clock;

void adopt(Trial& t, const TrialRecord& record) {
  t.status = status_from_name(record.status);
  t.cause = record.cause;
  t.median = record.median;
  t.minimum = record.samples.empty() ? record.median
                                     : *std::min_element(record.samples.begin(), record.samples.end());
  t.reused = true;
}

TrialRecord record_of(const Trial& t, const TrialResult& r, const TrialKey& key, const Runner& runner) {
  TrialRecord out;
  out.key = key;
  out.candidate_id = t.candidate.id;
  out.status = status_name(r.status);
  out.cause = r.cause;
  out.script = t.script;
  out.samples = r.samples;
  out.median = r.median;
  out.unit = unit_name(runner.unit());
  out.proof = t.proof;
  out.engine_version = engine_version();
  out.created = static_cast<int64_t>(std::time(nullptr));
  return out;
}

}  // namespace

TrialRun run_trials(std::vector<Trial> trials, const TrialKey& key, const TuningProblem& problem, Runner& runner,
                    Store& store, const TrialLimits& limits) {
  TrialRun run;
  run.trials = std::move(trials);
  const auto start = Clock::now();
  std::vector<size_t> todo;
  for (size_t k = 0; k < run.trials.size(); ++k) {
    Trial& t = run.trials[k];
    std::optional<TrialRecord> known;
    if (!limits.fresh) known = store.find_trial(key, t.candidate.id);
    if (known) {
      adopt(t, *known);
      ++run.reused;
    } else {
      todo.push_back(k);
    }
  }
  double best = 0;
  auto note_best = [&](const Trial& t) {
    if (t.status == TrialStatus::kOk && t.median > 0 && (best == 0 || t.median < best)) best = t.median;
  };
  for (const Trial& t : run.trials) note_best(t);

  for (size_t first = 0; first < todo.size(); first += static_cast<size_t>(limits.batch)) {
    if (limits.interrupted && limits.interrupted()) {
      run.interrupted = true;
      break;
    }
    if (std::chrono::duration<double>(Clock::now() - start).count() > limits.budget_seconds) {
      run.out_of_budget = true;
      break;
    }
    size_t last = std::min(todo.size(), first + static_cast<size_t>(limits.batch));
    std::vector<Candidate> batch;
    for (size_t k = first; k < last; ++k) batch.push_back(run.trials[todo[k]].candidate);
    RunOptions options;
    options.timeout_seconds = limits.timeout_seconds;
    options.best_known = best;
    options.interrupted = limits.interrupted;
    std::vector<TrialResult> results = runner.run(batch, problem.test, options);
    std::vector<TrialRecord> records;
    for (size_t k = 0; k < results.size(); ++k) {
      Trial& t = run.trials[todo[first + k]];
      const TrialResult& r = results[k];
      t.status = r.status;
      t.cause = r.cause;
      t.median = r.median;
      t.minimum = r.minimum;
      note_best(t);
      if (r.status == TrialStatus::kSkipped) continue;  // nothing was learned
      ++run.measured;
      records.push_back(record_of(t, r, key, runner));
    }
    if (limits.fresh) {
      for (const TrialRecord& r : records) store.replace_trial(r);
    } else {
      store.put_trials(records);
    }
    if (limits.progress) limits.progress(run.trials, static_cast<size_t>(run.reused) + last);
  }
  for (const Trial& t : run.trials) {
    if (t.status == TrialStatus::kOk || t.status == TrialStatus::kSkipped) continue;
    if (++run.causes[status_name(t.status)] == 1)
      run.first_causes.push_back(std::string(status_name(t.status)) + ": " + t.cause);
  }
  return run;
}

}  // namespace exotune
