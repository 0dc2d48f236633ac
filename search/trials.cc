#include "search/trials.h"

#include <algorithm>
#include <ctime>

namespace exotune {

const char* engine_version() { return EXOTUNE_VERSION; }

namespace {

constexpr double kForEver = 3600;      // seconds, where there is no deadline
constexpr double kCallsOfATrial = 4;   // two of its check, one to warm up, one sample
constexpr double kCallsOfALong = 2.5;  // one, one sample, and what filling and comparing takes
constexpr double kShareOfOne = 0.25;   // of the time that is left
constexpr double kShareOfALong = 0.5;  // where the fastest needs more: there will be few

void adopt(Trial& t, const TrialRecord& record) {
  t.status = status_from_name(record.status);
  t.cause = record.cause;
  t.median = record.median;
  t.minimum = record.samples.empty()
                  ? record.median
                  : *std::min_element(record.samples.begin(), record.samples.end());
  t.reused = true;
}

TrialRecord record_of(const Trial& t, const TrialResult& r, const TrialKey& key,
                      const Runner& runner, double limit) {
  TrialRecord out;
  out.key = key;
  out.candidate_id = t.candidate.id;
  out.status = status_name(r.status);
  out.cause = r.cause;
  out.script = t.script;
  // Of a timeout: the limit that it outlasted.
  out.samples = r.status == TrialStatus::kTimeout ? std::vector<double>{limit} : r.samples;
  out.median = r.median;
  out.unit = unit_name(runner.unit());
  out.proof = t.proof;
  out.engine_version = engine_version();
  out.created = static_cast<int64_t>(std::time(nullptr));
  return out;
}

// The trials of one call of run_trials on their way.
class Trials {
 public:
  Trials(std::vector<Trial> trials, const TrialKey& key, const TuningProblem& problem,
         Runner& runner, Store& store, const TrialLimits& limits)
      : key_(key), problem_(problem), runner_(runner), store_(store), limits_(limits) {
    run_.trials = std::move(trials);
  }

  // What the store knows first; what timed out before comes last, so that it cannot take the time
  // of the others.
  TrialRun run() {
    const DeadlineScope scope(limits_.deadline);
    best_ = limits_.best_known;
    recall();
    std::vector<size_t> todo;
    for (const bool outlasted : {false, true})  // what timed out before comes last
      for (size_t k = 0; k < run_.trials.size(); ++k)
        if (!run_.trials[k].reused && outlasted_[k] == outlasted) todo.push_back(k);
    run_all(todo);
    if (best_ == 0 && limits_.rescue) rescue();
    count_causes();
    run_.interrupted = limits_.deadline.interrupted();
    run_.out_of_budget = !run_.interrupted && limits_.deadline.expired();
    run_.reused += elsewhere_;
    return std::move(run_);
  }

 private:
  // What the store knows; a timeout under a lower limit than today's says nothing, nor does what
  // was not compiled.
  void recall() {
    outlasted_.assign(run_.trials.size(), false);
    for (size_t k = 0; k < run_.trials.size(); ++k) {
      Trial& t = run_.trials[k];
      const std::optional<TrialRecord> known =
          limits_.fresh ? std::nullopt : store_.find_trial(key_, t.candidate.id);
      if (!known) continue;
      // The compiler may have had little time then.
      if (known->status == status_name(TrialStatus::kCompileError)) {
        outlasted_[k] = true;
        continue;
      }
      if (known->status == status_name(TrialStatus::kTimeout) &&
          (known->samples.empty() || known->samples.front() < limits_.timeout_seconds)) {
        outlasted_[k] = true;
        continue;
      }
      adopt(t, *known);
      note_best(t);
      ++run_.reused;
    }
  }

  void note_best(const Trial& t) {
    if (t.status == TrialStatus::kOk && t.median > 0 && (best_ == 0 || t.median < best_))
      best_ = t.median;
  }

  // Of a sample, as limits count them: simulators take a thousand million of what they count for a
  // second.
  double seconds_of(double sample) const {
    return runner_.unit() == SampleUnit::kSeconds ? sample : 1e-9 * sample;
  }
  // Judge and native runner make fewer calls of those that take long.
  double calls_of_a_trial() const {
    return seconds_of(best_) > kLongestCall ? kCallsOfALong : kCallsOfATrial;
  }
  bool may_go_on() const { return !limits_.deadline.over(); }

  void run_all(const std::vector<size_t>& todo) {
    for (size_t first = 0; first < todo.size() && may_go_on();) {
      const size_t last = std::min(todo.size(), first + static_cast<size_t>(limits_.batch));
      // One that is slow must not take the time of all the others.
      const double left = limits_.deadline.left();
      const double needed = calls_of_a_trial() * seconds_of(best_);
      const double share = needed > kShareOfOne * left ? kShareOfALong : kShareOfOne;
      const double most = std::max(limits_.timeout_seconds, share * left);
      const double limit = std::min(most, std::max(limits_.timeout_seconds, needed));
      run_batch({todo.begin() + static_cast<std::ptrdiff_t>(first),
                 todo.begin() + static_cast<std::ptrdiff_t>(last)},
                limit);
      first = last;
    }
  }

  // One batch is compiled together and run one after the other; each result is in the store before
  // the next runs.
  void run_batch(const std::vector<size_t>& members, double limit) {
    std::vector<size_t> places;  // in run_.trials, of what is run
    std::vector<Candidate> batch;
    for (const size_t k : members) {
      if (measured_elsewhere(k)) continue;
      places.push_back(k);
      batch.push_back(run_.trials[k].candidate);
    }
    RunOptions options;
    options.timeout_seconds = limit;
    options.best_known = best_;
    options.interrupted = [this] { return !may_go_on(); };
    // One by one: a process that is killed loses the candidate in flight and no other.
    std::vector<bool> kept(places.size(), false);
    options.finished = [&](size_t place, const TrialResult& r) {
      kept[place] = true;
      keep(places[place], r, limit);
    };
    const std::vector<TrialResult> results = runner_.run(batch, problem_.test, options);
    for (size_t place = 0; place < results.size(); ++place)  // of a runner that tells at the end
      if (!kept[place]) keep(places[place], results[place], limit);
    done_ += members.size();
    if (limits_.progress)
      limits_.progress(run_.trials,
                       std::min(run_.trials.size(), static_cast<size_t>(run_.reused) + done_));
  }

  // What another process measured since the start is not measured again.
  bool measured_elsewhere(size_t k) {
    Trial& t = run_.trials[k];
    if (limits_.fresh || outlasted_[k]) return false;
    const std::optional<TrialRecord> known = store_.find_trial(key_, t.candidate.id);
    if (!known || known->status == status_name(TrialStatus::kTimeout)) return false;
    adopt(t, *known);
    note_best(t);
    ++elsewhere_;
    return true;
  }

  void keep(size_t k, const TrialResult& r, double limit) {
    Trial& t = run_.trials[k];
    t.status = r.status;
    t.cause = r.cause;
    t.late = r.late;
    t.median = r.median;
    t.minimum = r.minimum;
    note_best(t);
    if (r.status == TrialStatus::kSkipped) return;  // nothing was learned
    ++run_.measured;
    const TrialRecord record = record_of(t, r, key_, runner_, limit);
    if (limits_.fresh || outlasted_[k])
      store_.replace_trial(record);
    else
      store_.put_trial(record);
    outlasted_[k] = r.status == TrialStatus::kTimeout;
  }

  // Nothing is ok: slow calls are no reason to end with nothing.
  void rescue() {
    std::vector<size_t> written, others;
    for (size_t k = 0; k < run_.trials.size(); ++k) {
      Trial& t = run_.trials[k];
      if (t.status != TrialStatus::kTimeout) continue;
      outlasted_[k] = true;
      if (t.reused) --run_.reused;
      t.reused = false;
      (t.as_written ? written : others).push_back(k);
    }
    const double left = std::min(kForEver, limits_.deadline.left());
    if (written.empty() || !may_go_on() || left <= limits_.timeout_seconds) return;
    run_batch(written, left);
    if (best_ > 0 && calls_of_a_trial() * seconds_of(best_) > limits_.timeout_seconds)
      run_all(others);
  }

  void count_causes() {
    for (const Trial& t : run_.trials) {
      if (t.status == TrialStatus::kOk || t.status == TrialStatus::kSkipped) continue;
      if (++run_.causes[status_name(t.status)] == 1)
        run_.first_causes.push_back(std::string(status_name(t.status)) + ": " + t.cause);
    }
  }

  const TrialKey& key_;
  const TuningProblem& problem_;
  Runner& runner_;
  Store& store_;
  const TrialLimits& limits_;
  TrialRun run_;
  std::vector<bool> outlasted_;  // by trial: the store has a timeout of it under a lower limit,
                                 // or that it was not compiled
  double best_ = 0;
  size_t done_ = 0;
  int elsewhere_ = 0;  // measured by another process meanwhile
};

}  // namespace

TrialRun run_trials(std::vector<Trial> trials, const TrialKey& key, const TuningProblem& problem,
                    Runner& runner, Store& store, const TrialLimits& limits) {
  return Trials(std::move(trials), key, problem, runner, store, limits).run();
}

}  // namespace exotune
