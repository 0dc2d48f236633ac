#include "search/measuring.h"

#include <algorithm>
#include <set>

#include "search/semifinal.h"

namespace exotune {

namespace {

constexpr int kInVain = 2;              // rounds around the fastest, in a row, that end them
constexpr size_t kRefined = 3;          // fastest schedules that are refined
constexpr double kWorthRefining = 1.5;  // times the fastest: no neighbour makes up for more
constexpr size_t kTriedOfForm = 3;  // schedules, that say how near the others of a form may come
constexpr double kBehind = 1.3;     // times the fastest
// Rounds of a comparison: as many as a small part of the time bears, and of the last ones, whose
// fields are half as wide each, twice as many.
constexpr int kFewestRounds = 5, kMostRounds = 15, kMostOfLast = 60;
constexpr double kOtherCalls = 3;           // of each, beside the rounds: checks, warming
constexpr double kSecondsOfRound = 1.5e-3;  // of each, for calls that are shorter
constexpr double kShareOfComparing = 0.15;  // of the time that is left
constexpr size_t kWideField = 8;    // times the finalists, compared once before the shoot-out
constexpr size_t kRefinedFrom = 2;  // times the finalists, of which the fastest are refined
constexpr double kBytesOfAField = 1 << 30;  // of the arguments of all of them, at most
constexpr double kGain = 0.995;   // of the time: a refinement that brings less was in vain
constexpr size_t kOtherwise = 2;  // fastest schedules that are compiled in other ways
// Each step of measuring leaves time to the next ones: what the parts' fastest are together, what
// is around the fastest, and what other compilers make of it change more than one schedule more
// does.
constexpr double kShareOfStates = 0.75;
constexpr double kShareOfMaking = 0.4;  // of a refinement's: neighbours of large programs
constexpr double kLongestWritten = 60;  // seconds for the nest as written, where no budget is given
// Times the fastest schedule: no other compiler makes up for that, and each would have a share of
// the time as long as all schedules'. The final comparison has the compilers all the same. Of long
// calls each of theirs is the time of several schedules.
constexpr double kHopeless = 32, kHopelessIfLong = 4;
// The others wait until schedules had their time: where they take more than this share of it, and
// some schedule is so many times as fast as the target's own compiler.
constexpr double kShareOfOthers = 0.15, kAhead = 2;
// Of the finals' time, for other ways to compile the nest; of what is left, for one candidate of a
// rescue.
constexpr double kShareOfOtherwise = 0.4, kShareOfRescue = 0.4;
// At first a few, so that something is known soon; then as many as take a small part of the time
// that is left.
constexpr size_t kFirstBatch = 6, kLargestBatch = 16, kFewest = 2;
constexpr double kShareOfBatch = 0.125;

// It, or its compiler, took longer than the time allowed, which says nothing else about it.
bool is_slow(const Trial& t) { return t.status == TrialStatus::kTimeout || t.late; }

Deadline share_of(const Deadline& deadline, double share) {
  return deadline.within(share * deadline.left());
}

}  // namespace

Measuring::Measuring(TuningState& run, Proposals& proposals, const Bench& bench)
    : run_(run),
      request_(run.request),
      proposals_(proposals),
      bench_(bench),
      candidates_(run, proposals, bench, measured_.trials) {}

void Measuring::as_written() {
  // A part that a search goes on from is a schedule like others; the nest itself has no turn.
  if (request_.shorter) {
    if (!request_.partial) candidates_.note_as_written_ran();
    return;
  }
  const Deadline deadline = run_.budget.written(run_.written_is_far);
  std::optional<Trial> written = candidates_.as_written();
  if (!written || deadline.over()) return;
  // What a better order of its loops takes longer for, a call of it cannot do.
  if (run_.written_is_far && run_.expected_seconds > deadline.left())
    return candidates_.note_as_written_ran();
  // All of its share of the time: what it takes bounds the others, and where it was stopped nobody
  // knows how long they may take.
  const double least = run_.written_is_far ? 0 : request_.timeout_seconds;
  const double timeout =
      std::clamp(deadline.left(), least, std::max(request_.timeout_seconds, kLongestWritten));
  measure({std::move(*written)}, 1, deadline, timeout, true);
  if (measured_.trials.back().status == TrialStatus::kSkipped) measured_.trials.pop_back();
  // Where there was no time for a call of it there is none before schedules are known.
  if (!measured_.trials.empty() || run_.written_is_far) candidates_.note_as_written_ran();
}

void Measuring::run() {
  const double begun = run_.clock.seconds();
  const Deadline deadline = run_.budget.measuring();
  if (run_.deadline.over() || !run_.can_measure) {
    run_.result.stop = stop_of(run_.deadline);
    return;
  }
  const size_t most = static_cast<size_t>(std::max(1, request_.trials));
  const size_t kept = most / 5;  // for refinement
  if (proposals_.states().size() > most - kept && !proposals_.cut_short())
    run_.result.stop = StopReason::kTrials;
  const bool all = measure_states(0, most - kept, share_of(deadline, kShareOfStates));
  if (proposals_.states().empty()) written_otherwise(deadline);
  if (run_.best_seconds == 0 ? !found_wrong() : (!all || some_were_late()) && !found_schedule())
    rescue();
  const size_t first = proposals_.states().size();
  if (!deadline.over() && proposals_.add_recombined(seconds_of_states(), deadline))
    measure_states(first, most - std::min(most, measured_.trials.size()),
                   share_of(deadline, kShareOfStates));
  refine(most, kept, share_of(deadline, kShareOfStates));
  compile_otherwise(deadline);
  // Where that had no turn yet: nobody's result may be slower than the compilers' own loops.
  written_otherwise(share_of(run_.deadline, kShareOfOtherwise), true);
  narrow_field(deadline);
  TuneStatistics& s = run_.result.statistics;
  s.measured = measured_.measured;
  s.reused = measured_.reused;
  s.causes = measured_.causes;
  run_.result.failures = measured_.first_causes;
  s.measure_seconds += run_.since(begun);
  if (!all || deadline.over() || s.cut_short) run_.result.stop = stop_of(deadline);
}

void Measuring::written_otherwise(const Deadline& deadline, bool in_turn) {
  for (const Trial& t : measured_.trials)
    if (t.compilation.is_usual() && candidates_.is_as_written(t)) {
      const double hopeless = t.median > kLongestCall ? kHopelessIfLong : kHopeless;
      if (t.status == TrialStatus::kOk && t.median > hopeless * run_.best_seconds) return;
      std::vector<Trial> others = candidates_.otherwise(t);
      const int planned = static_cast<int>(measured_.trials.size() + others.size());
      const double each = seconds_each();
      if (!in_turn) {
        const double all = each * static_cast<double>(others.size());
        if (t.median > kAhead * run_.best_seconds && all > kShareOfOthers * deadline.left()) return;
        return measure(std::move(others), planned, deadline, request_.timeout_seconds, false);
      }
      for (Trial& other : others)
        if (each <= deadline.left())
          measure({std::move(other)}, planned, deadline, request_.timeout_seconds, false);
      return;
    }
}

// Neighbours of the fastest are tried until that has helped nothing for some rounds, with what is
// left of the trials.
void Measuring::refine(size_t most, size_t kept, const Deadline& deadline) {
  for (int in_vain = 0; in_vain < kInVain && !deadline.over();) {
    if (calls_are_short())
      compare_fastest(kRefinedFrom * top(), 2 * kMostRounds, deadline);
    else
      compare_fastest(top(), kMostRounds, deadline);
    const double before = run_.best_seconds;
    const size_t first = proposals_.states().size();
    const size_t room = most - std::min(most, measured_.trials.size());
    if (room == 0 || before == 0 || deadline.over()) return;
    proposals_.add_around(fastest(), std::min(room, std::max<size_t>(1, kept / kInVain)),
                          share_of(deadline, kShareOfMaking));
    if (proposals_.states().size() == first) return;  // none is left
    measure_states(first, room, deadline);
    in_vain = run_.best_seconds < kGain * before ? 0 : in_vain + 1;
  }
}

std::optional<Trial> Measuring::one_more(const Steps& steps, const Deadline& deadline) {
  const size_t state = proposals_.states().size();
  if (steps.empty() || !proposals_.add_schedule(steps)) return std::nullopt;
  const size_t before = measured_.trials.size();
  measure_states(state, 1, deadline);
  if (measured_.trials.size() == before || measured_.trials.back().status != TrialStatus::kOk)
    return std::nullopt;
  run_.result.statistics.measured = measured_.measured;
  run_.result.statistics.reused = measured_.reused;
  return measured_.trials.back();
}

bool Measuring::take(size_t state, const Compilation& how) {
  std::vector<Trial> trials = candidates_.trials_of({state});
  if (trials.empty()) return false;
  if (!how.is_usual()) {
    for (Trial& other : candidates_.otherwise(trials.front()))
      if (other.compilation == how) trials.push_back(std::move(other));
    trials.erase(trials.begin(), trials.end() - 1);
  }
  if (run_.can_measure) {
    measure(std::move(trials), 1, run_.deadline, request_.timeout_seconds, false);
    trials = {measured_.trials.back()};
    run_.result.statistics.measured = measured_.measured;
    run_.result.statistics.reused = measured_.reused;
  }
  const Trial& t = trials.front();
  candidates_.take(t);
  if (t.status == TrialStatus::kOk) {
    run_.note_speed(t.median);
    run_.store.set_winner(run_.result.key, t.candidate.id);
  }
  return t.status == TrialStatus::kOk || t.status == TrialStatus::kSkipped ||
         t.status == TrialStatus::kTimeout;
}

bool Measuring::found_wrong() const {
  const auto wrong = [](const Trial& t) {
    return t.status != TrialStatus::kOk && t.status != TrialStatus::kSkipped && !is_slow(t);
  };
  const auto& all = measured_.trials;
  return !run_.deadline.over() && std::any_of(all.begin(), all.end(), wrong);
}

// There was no time to compile one of them.
bool Measuring::some_were_late() const {
  const auto& all = measured_.trials;
  return std::any_of(all.begin(), all.end(), [](const Trial& t) { return t.late; });
}

bool Measuring::written_takes(double seconds) const {
  if (run_.written_is_far && run_.expected_seconds > seconds) return true;
  return std::any_of(measured_.trials.begin(), measured_.trials.end(), [&](const Trial& t) {
    return candidates_.is_as_written(t) &&
           (t.status == TrialStatus::kTimeout || t.median > seconds);
  });
}

// Is some schedule ok, and not the nest as written alone?
bool Measuring::found_schedule() const {
  return std::any_of(measured_.trials.begin(), measured_.trials.end(), [&](const Trial& t) {
    return t.status == TrialStatus::kOk && !candidates_.is_as_written(t);
  });
}

// On a machine that is busy the finals' time is better spent on having a result at all: for the
// cheapest by the model, as long as there is.
void Measuring::rescue() {
  std::set<size_t> known;
  for (const Trial& t : measured_.trials)
    if (t.status != TrialStatus::kSkipped && !is_slow(t)) known.insert(candidates_.state_index(t));
  size_t tried = 0;
  for (const size_t k : proposals_.cheapest_first()) {
    if (known.count(k)) continue;
    if (found_schedule() || run_.deadline.over() || ++tried > kFewest) return;
    // What is slower than the nest as written is of no use.
    const double timeout = run_.best_seconds > 0 ? request_.timeout_seconds
                                                 : std::max(request_.timeout_seconds,
                                                            kShareOfRescue * run_.deadline.left());
    measure(candidates_.trials_of({k}), static_cast<int>(measured_.trials.size()) + 1,
            run_.deadline, timeout, run_.best_seconds == 0);
  }
}

// What the compiler makes of the fastest schedules is part of them: loops that were left to it,
// sums beside vectors, registers. The other ways to compile them, for the two fastest.
void Measuring::compile_otherwise(const Deadline& deadline) {
  if (measured_.measured == 0) return;  // a run that repeats another one repeats it whole
  std::set<size_t> done;
  std::vector<Trial> trials;
  for (const Trial* t : ranked()) {
    if (done.size() >= kOtherwise) break;
    const size_t state = candidates_.state_index(*t);
    if (!done.insert(state).second || !t->compilation.is_usual() || compiled_.count(state))
      continue;
    compiled_.insert(state);
    for (Trial& other : candidates_.otherwise(*t)) trials.push_back(std::move(other));
  }
  const double each = seconds_each();
  for (size_t k = 0; k < trials.size() && !deadline.over(); ++k)
    if (each <= deadline.left())
      measure({trials[k]}, static_cast<int>(measured_.trials.size() + trials.size() - k), deadline,
              request_.timeout_seconds, false);
}

double Measuring::seconds_each() const {
  return schedules_ == 0 ? 0 : schedules_seconds_ / schedules_;
}

// What whole programs took, by the text of their procedures.
std::map<std::string, double> Measuring::seconds_of_states() const {
  std::map<std::string, double> out;
  for (const Trial& t : measured_.trials)
    if (t.status == TrialStatus::kOk && t.compilation.is_usual())
      out[candidates_.state(t).text_hash] = t.median;
  return out;
}

// Each has its own arguments, at several places.
size_t Measuring::wide_field() const {
  double bytes = 0;
  for (const ArgSpec& a : run_.problem.args)
    if (a.is_data())
      bytes += static_cast<double>(a.span_elements()) * static_cast<double>(element_bytes(a.type));
  return std::clamp(static_cast<size_t>(kBytesOfAField / std::max(1.0, bytes)), top(),
                    kWideField * top());
}

// Who is among the few of the shoot-out is not left to times of one run each; nor is who is worth
// the other compilers. Of longer calls there is no time for more than one comparison: a schedule
// more is worth more.
void Measuring::narrow_field(const Deadline& deadline) {
  if (!calls_are_short()) return compare_fastest(wide_field(), kMostRounds, deadline);
  int rounds = kMostRounds;
  for (size_t most = wide_field(); most >= top() && rounds <= kMostOfLast; most /= 2, rounds *= 2)
    compare_fastest(most, rounds, deadline);
  const int before = measured_.measured;
  compile_otherwise(deadline);
  if (measured_.measured > before) compare_fastest(top(), kMostOfLast, deadline);
}

size_t Measuring::top() const { return static_cast<size_t>(std::max(1, request_.top_k)); }
bool Measuring::calls_are_short() const { return run_.best_seconds <= kSecondsOfRound; }

// Times of one run for those that may win; what it takes is part of the measuring.
void Measuring::compare_fastest(size_t most, int most_rounds, const Deadline& deadline) {
  // Nobody waits for it any more, or it would not end; long calls have few better uses of time than
  // another schedule, and what they are told by does not change from run to run.
  const double each =
      compared_ == 0 ? seconds_each() : comparing_seconds_ / static_cast<double>(compared_);
  if (deadline.over() || static_cast<double>(most) * each > deadline.left()) return;
  const double round = static_cast<double>(most) * std::max(run_.best_seconds, kSecondsOfRound);
  const double fit = kShareOfComparing * std::min(1e6, deadline.left()) / round - kOtherCalls;
  if (!calls_are_short() && fit < kFewestRounds) return;
  const int rounds = std::clamp(static_cast<int>(fit), kFewestRounds, most_rounds);
  const DeadlineScope scope(deadline);
  const double begun = run_.clock.seconds();
  compared_ += time_side_by_side(measured_.trials, most, rounds, *bench_.arena, run_.problem);
  comparing_seconds_ += run_.since(begun);
  run_.best_seconds = 0;
  for (const Trial& t : measured_.trials) note_best(t);
}

std::vector<BeamState> Measuring::fastest() const {
  std::vector<BeamState> out;
  std::set<size_t> done;  // the same schedule may be there in several compilations
  for (const Trial* t : ranked()) {
    if (t->median > kWorthRefining * run_.best_seconds) break;
    if (out.size() < kRefined && done.insert(candidates_.state_index(*t)).second)
      out.push_back(candidates_.state(*t));
  }
  return out;
}

std::vector<const Trial*> Measuring::ranked() const {
  std::vector<const Trial*> ok;
  for (const Trial& t : measured_.trials)
    if (t.status == TrialStatus::kOk) ok.push_back(&t);
  std::stable_sort(ok.begin(), ok.end(),
                   [](const Trial* a, const Trial* b) { return a->median < b->median; });
  return ok;
}

size_t Measuring::batch_size(const Deadline& deadline) const {
  const double each = seconds_each();
  if (schedules_ == 0)
    return std::clamp(static_cast<size_t>(request_.time_budget_seconds / 10), kFewest, kFirstBatch);
  if (each <= 0) return kLargestBatch;
  const double fit = kShareOfBatch * std::min(1e6, deadline.left()) / each;
  return std::clamp(static_cast<size_t>(fit), kFewest, kLargestBatch);
}

// Measures states from `first` on, at most `most` of them, and adds the trials to what is known.
// False: the time was over before all of them had a turn.
bool Measuring::measure_states(size_t first, size_t most, const Deadline& deadline) {
  const size_t all = proposals_.states().size();
  const size_t last = first + std::min(most, all - std::min(first, all));
  const int planned = static_cast<int>(measured_.trials.size()) + static_cast<int>(last - first);
  size_t next = first;
  std::vector<size_t> behind;  // that have their turn when all others had theirs
  const auto left = [&] { return next < last || !behind.empty(); };
  while (left() && !deadline.over()) {
    std::vector<size_t> batch;
    for (size_t n = batch_size(deadline); n > 0 && left();) {
      if (next == last) {
        batch.push_back(behind.front());
        behind.erase(behind.begin());
        --n;
      } else if (is_behind(next)) {
        behind.push_back(next++);
      } else {
        batch.push_back(next++);
        --n;
      }
    }
    const double begun = run_.clock.seconds();
    const int before = measured_.measured;
    const size_t before_batch = measured_.trials.size();
    measure(candidates_.trials_of(batch), planned, deadline, request_.timeout_seconds, false);
    compiled_elsewhere(before_batch, planned, deadline);
    if (measured_.measured > before) schedules_seconds_ += run_.since(begun);
    schedules_ += measured_.measured - before;
    // What other compilers make of the nest as written: nothing found may be slower. Not before
    // something is known of schedules: where the best of them is far ahead, one call is enough.
    if (batch.front() == 0) written_otherwise(deadline);
  }
  return !left() && !deadline.over();
}

// What takes the target's compiler minutes, or what it refuses, may be nothing to another one.
void Measuring::compiled_elsewhere(size_t first, int planned, const Deadline& deadline) {
  std::vector<Trial> others;
  for (size_t k = first; k < measured_.trials.size(); ++k)
    if (measured_.trials[k].status == TrialStatus::kCompileError)
      if (std::optional<Trial> other = candidates_.elsewhere(measured_.trials[k]))
        others.push_back(std::move(*other));
  if (!others.empty())
    measure(std::move(others), planned, deadline, request_.timeout_seconds, false);
}

// Of the nest as written, and of each form of it, the first few say how near the others may come.
bool Measuring::is_behind(size_t state) const {
  if (request_.starts.empty() || run_.best_seconds == 0) return false;
  const size_t form = proposals_.states()[state].form;
  size_t tried = 0;
  for (const Trial& t : measured_.trials) {
    if (candidates_.state(t).form != form || candidates_.is_as_written(t) ||
        !t.compilation.is_usual())
      continue;
    if (t.status == TrialStatus::kOk && t.median <= kBehind * run_.best_seconds) return false;
    tried += t.status != TrialStatus::kSkipped;
  }
  return tried >= kTriedOfForm;
}

std::vector<ViewOutcome> Measuring::outcomes_of_starts() const {
  std::vector<ViewOutcome> out(request_.starts.size());
  for (const Trial* t : ranked())
    if (const size_t form = candidates_.state(*t).form; form > 0 && out[form - 1].script.empty())
      out[form - 1] = {.script = t->script,
                       .gflops = run_.per_second(request_.kernel.flops, t->median),
                       .seconds = t->median,
                       .chosen = false};
  for (ViewOutcome& outcome : out)
    if (outcome.script.empty())
      outcome.trouble = run_.deadline.over() ? "no time to measure it" : "no schedule of it ran";
  if (const size_t form = candidates_.form_of_result(); form > 0) out[form - 1].chosen = true;
  return out;
}

// `rescue`: TrialLimits has it.
void Measuring::measure(std::vector<Trial> trials, int planned, const Deadline& deadline,
                        double timeout_seconds, bool rescue) {
  TrialLimits limits;
  limits.timeout_seconds = timeout_seconds;
  limits.rescue = rescue;
  limits.deadline = deadline;
  limits.best_known = run_.best_seconds;
  limits.fresh = request_.fresh;
  const int done_before = static_cast<int>(measured_.trials.size());
  const int ok_before = run_.ok, bad_before = run_.bad;
  limits.progress = [&](const std::vector<Trial>& all, size_t done) {
    run_.ok = ok_before, run_.bad = bad_before;
    for (const Trial& t : all) {
      run_.ok += t.status == TrialStatus::kOk;
      run_.bad += t.status != TrialStatus::kOk && t.status != TrialStatus::kSkipped;
      note_best(t);
    }
    run_.report("measure", done_before + static_cast<int>(done), planned);
  };
  TrialRun run = run_trials(std::move(trials), run_.result.key, run_.problem, *bench_.runner,
                            run_.store, limits);
  for (const Trial& t : run.trials) note_best(t);
  measured_.measured += run.measured;
  measured_.reused += run.reused;
  for (const auto& [cause, n] : run.causes)
    if ((measured_.causes[cause] += n) == n)
      for (std::string& text : run.first_causes)
        if (text.rfind(cause + ":", 0) == 0) measured_.first_causes.push_back(std::move(text));
  for (Trial& t : run.trials) measured_.trials.push_back(std::move(t));
}

void Measuring::note_best(const Trial& t) {
  if (t.status == TrialStatus::kOk && t.median > 0 &&
      (run_.best_seconds == 0 || t.median < run_.best_seconds))
    run_.best_seconds = t.median;
}

void Measuring::take_fastest() {
  const Trial* best = nullptr;
  for (const Trial& t : measured_.trials)
    if (t.status == TrialStatus::kOk && t.median > 0 && (!best || t.median < best->median))
      best = &t;
  if (!best) return;
  candidates_.take(*best);
  run_.note_speed(best->median);
  run_.result.failures.push_back(
      "no shoot-out: the time was over; the winner is the fastest trial");
}

}  // namespace exotune
