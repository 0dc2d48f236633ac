#include "search/final_round.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "core/interp/interp.h"
#include "search/bounds.h"
#include "search/finals.h"
#include "search/peer_problem.h"
#include "search/tuning_context.h"

namespace exotune {

namespace {

// Sizes at which every boundary of a kernel with open ones is met.
constexpr std::array<int64_t, 10> kOtherExtents = {1, 2, 3, 5, 17, 63, 64, 65, 100, 129};
// Many loops at odd sizes make more work than a check is worth: the largest sizes are halved.
constexpr double kCheckedOperations = 3e7;
constexpr double kShareOfCompiling = 0.3;  // of the time that is left, for finalists
// Of the time that is left, for finding and compiling the peers: the first time takes longest.
constexpr double kShareOfPeers = 0.4;
// Likewise, for one call of the nest as written.
constexpr double kShareOfWritten = 0.05;
// So many times behind the fastest trial no noise explains: it would take the others' time.
constexpr double kFarBehind = 3;
// What another way to compile a schedule gains within this is noise, and bars it from being one of
// two in a procedure.
constexpr double kSameSpeed = 1.02;
constexpr double kMostBandwidth = 1e13;  // bytes a second, more than any core moves
constexpr size_t kLargeTried = 8;        // schedules that meet at the largest size
constexpr size_t kLargeFinalists = 2;    // of them
constexpr int kLargeRounds = 3;

std::string failure_text(const ContenderResult& c) {
  return c.name + ": " + status_name(c.status) + ": " + c.cause;
}

constexpr const char* kTimeWasOver = "the time was over";
constexpr const char* kFarMore = "so many more operations that nobody waits for them";

}  // namespace

FinalRound::FinalRound(TuningState& run, Measuring& measured, const Bench& bench)
    : run_(run),
      request_(run.request),
      measured_(measured),
      candidates_(measured.candidates()),
      bench_(bench) {}

// Measured before and after: while another program shares the core's power and caches it is low.
void FinalRound::note_peak(TuningState& run, const Bench& bench) {
  const std::optional<ElementType> type = run.peak_type();
  if (run.request.kernel.flops.text().empty() || !type || run.deadline.over()) return;
  const DeadlineScope scope(run.deadline);
  try {
    run.result.peak_gflops =
        std::max(run.result.peak_gflops, run.request.threads * bench.arena->peak(*type));
    run.result.own_peak = run.has_own_peak();
  } catch (const Error&) {
    if (!run.deadline.over()) throw;  // else it was stopped, and nothing is known
  }
}

// Checks, finds rivals and peers, then one shoot-out of all; each part has a share of the time that
// is left, so that no part can take the winner's.
void FinalRound::run() {
  const double begun = run_.clock.seconds();
  if (run_.deadline.over() || measured_.ranked().empty()) return;
  const std::vector<const Trial*> chosen = finalists();
  if (chosen.empty() || run_.deadline.over()) return;
  const Field field = field_of(chosen);
  ShootoutOptions options;
  options.rounds = request_.rounds;
  run_.report("shoot-out", 0, static_cast<int>(field.contenders.size()));
  deadline_ = run_.budget.shootout(!run_.listed_sizes().empty());
  const ShootoutResult shot = [&] {
    const DeadlineScope scope(deadline_);
    return bench_.arena->compete(field.contenders, run_.problem.args, run_.problem.test, options);
  }();
  run_.result.statistics.shootout_seconds = run_.since(begun);
  if (shot.winner < 0) {
    note_end_of(std::span(shot.contenders).first(field.rivals));
    for (const ContenderResult& c : shot.contenders)
      if (c.status != TrialStatus::kOk) run_.result.failures.push_back(failure_text(c));
    for (size_t k = field.rivals; k < field.roofs; ++k) miss(shot.contenders[k]);
    return;
  }
  // Copies: one more trial moves the others.
  std::vector<Trial> finalists;
  for (const Trial* t : chosen) finalists.push_back(*t);
  SizeTable table;
  size_t w = winner_of(finalists, shot, table);
  if (shot.contenders[w].status != TrialStatus::kOk) return;
  const std::optional<Trial> two = shared_out(finalists, std::move(table), w);
  const Trial& best = two ? *two : finalists[w];
  candidates_.take(best);
  run_.note_speed(shot.contenders[w].median);
  enter_rows(field, shot, w);
  enter_winner(best, shot.contenders[w]);
}

// Why none of the finalists has a result.
void FinalRound::note_end_of(std::span<const ContenderResult> finalists) {
  const auto is_slow = [](const ContenderResult& c) {
    return c.status == TrialStatus::kTimeout || c.status == TrialStatus::kSkipped;
  };
  const auto is_wrong = [&](const ContenderResult& c) {
    return !is_slow(c) && c.status != TrialStatus::kOk && c.status != TrialStatus::kCompileError;
  };
  all_slow_ = std::all_of(finalists.begin(), finalists.end(), is_slow);
  wrong_ = std::any_of(finalists.begin(), finalists.end(), is_wrong);
}

// Contenders in the order in which `rivals`, `peers` and `roofs` divide them: ours first, then
// schedules to compare with, then libraries, and the machine's roofs last.
FinalRound::Field FinalRound::field_of(const std::vector<const Trial*>& finalists) {
  Field out;
  for (const Trial* t : finalists)
    out.contenders.push_back(
        contender_of("#" + std::to_string(out.contenders.size() + 1), t->candidate));
  out.rivals = out.contenders.size();
  for (const Rival& rival : request_.rivals) {
    // Its trial told how far behind it is; the time is for those who may be near.
    if (rival.proc == request_.proc && request_.shorter) {
      run_.result.missed.push_back(rival.name + ": " + kFarMore);
      continue;
    }
    if (rival.proc == request_.proc &&
        measured_.written_takes(kShareOfWritten * run_.deadline.left())) {
      run_.result.missed.push_back(rival.name + ": " + kTimeWasOver);
      continue;
    }
    out.contenders.push_back(contender_of(
        rival.name,
        make_candidate(at_sizes(rival.proc, request_.sizes), *request_.target, run_.problem)));
  }
  out.peers = out.contenders.size();
  if (request_.with_peers)
    add_peers(out.contenders, run_.deadline.within(kShareOfPeers * run_.deadline.left()));
  out.roofs = out.contenders.size();
  add_roofs(out.contenders);
  return out;
}

// Ratios are to the winner and of the same rounds: what slowed the machine slowed both.
void FinalRound::enter_rows(const Field& field, const ShootoutResult& shot, size_t winner) {
  for (size_t k = field.roofs; k < field.contenders.size(); ++k)
    take_roof(shot.ratio(winner, k), *field.contenders[k].roof);
  for (size_t k = field.rivals; k < field.roofs; ++k) {
    const ContenderResult& c = shot.contenders[k];
    const Ratio ratio = shot.ratio(winner, k);
    if (c.status != TrialStatus::kOk) run_.result.failures.push_back(failure_text(c));
    if (c.status == TrialStatus::kOk && ratio.rounds > 0)
      (k < field.peers ? run_.result.rivals : run_.result.peers)
          .push_back({c.name, run_.per_second(request_.kernel.flops, c.median), ratio});
    else
      miss(c);
  }
}

// Who was not timed beside the winner, and why.
void FinalRound::miss(const ContenderResult& c) {
  const bool failed = c.status != TrialStatus::kSkipped && c.status != TrialStatus::kOk;
  run_.result.missed.push_back(c.name + ": " + (failed ? status_name(c.status) : kTimeWasOver));
}

// What a constrained search found is a trial like others, not the kernel's winner.
void FinalRound::enter_winner(const Trial& best, const ContenderResult& shot) {
  if (request_.partial) return;
  auto record = run_.store.find_trial(run_.result.key, best.candidate.id);
  if (!record) return;
  record->samples = shot.samples;
  run_.store.replace_trial(*record);
  run_.store.set_winner(run_.result.key, best.candidate.id);
}

// --- who is in it -------------------------------------------------------------------------------

// The fastest that are correct at other sizes too, as many as the time allows for; one that there
// was no time to check only when no other is there.
std::vector<const Trial*> FinalRound::finalists() {
  const Deadline deadline = run_.budget.other_sizes();
  size_t most = static_cast<size_t>(request_.top_k);
  if (const double each = measured_.seconds_each(); each > 0)
    most = std::clamp(static_cast<size_t>(kShareOfCompiling * run_.deadline.left() / each),
                      std::min<size_t>(2, most), most);
  std::vector<const Trial*> chosen;
  for (const Trial* t : eligible()) {
    if (chosen.size() >= most) break;
    if (!chosen.empty() && t->median > kFarBehind * chosen.front()->median) break;
    std::optional<bool> correct = correct_elsewhere(*t, deadline);
    if (const Trial* usual = as_usually_compiled(*t); correct == false && usual != t) {
      t = usual;
      correct = correct_elsewhere(*t, deadline);
    }
    run_.report("other sizes", static_cast<int>(chosen.size()), static_cast<int>(most));
    if (!correct) {
      if (!chosen.empty()) break;
      run_.result.failures.push_back("not checked at other sizes: the time was over");
      chosen.push_back(t);
      break;
    }
    if (*correct) chosen.push_back(t);
  }
  add_large(chosen, deadline);
  add_written(chosen);
  return chosen;
}

// The schedule of `t` in its usual compilation, `t` where that was not measured: what a compiler's
// freedom broke may be right without it, and what is wrong in itself must not stay "ok".
const Trial* FinalRound::as_usually_compiled(const Trial& t) const {
  if (t.compilation.is_usual()) return &t;
  const size_t state = candidates_.state_index(t);
  for (const Trial* u : measured_.ranked())
    if (u->compilation.is_usual() && candidates_.state_index(*u) == state) return u;
  return &t;
}

// Trials run on data that one candidate has had to itself, in the nearest caches; among others,
// with data farther away, a compiler's own loops may be the fastest. They are right at every size.
void FinalRound::add_written(std::vector<const Trial*>& chosen) const {
  if (chosen.empty()) return;
  const auto written = [&](const Trial* t) { return candidates_.is_as_written(*t); };
  if (std::any_of(chosen.begin(), chosen.end(), written)) return;
  const std::vector<const Trial*> all = eligible();
  const auto fastest = std::find_if(all.begin(), all.end(), written);
  if (fastest != all.end() && (*fastest)->median <= kFarBehind * chosen.front()->median)
    chosen.push_back(*fastest);
}

std::vector<const Trial*> FinalRound::eligible() const {
  std::vector<const Trial*> ranked = measured_.ranked();
  if (run_.listed_sizes().empty()) return ranked;
  // The usual compilation stands for a schedule unless another one is faster than noise.
  const auto usual_of = [&](const Trial& t) {
    for (const Trial* u : ranked)
      if (u->compilation.is_usual() && candidates_.state_index(*u) == candidates_.state_index(t))
        return u->median <= kSameSpeed * t.median ? u : &t;
    return &t;
  };
  std::vector<const Trial*> out;
  std::set<size_t> seen;
  for (const Trial* t : ranked)
    if (seen.insert(candidates_.state_index(*t)).second) out.push_back(usual_of(*t));
  return out;
}

void FinalRound::add_large(std::vector<const Trial*>& chosen, const Deadline& deadline) {
  const std::optional<SizeBinding> large = run_.large_sizes();
  if (!large || chosen.empty() || deadline.over()) return;
  // The best of the others say what is fast there.
  std::vector<const Trial*> field(
      chosen.begin(),
      chosen.begin() + static_cast<std::ptrdiff_t>(std::min(chosen.size(), kLargeFinalists)));
  for (const Trial* t : eligible())
    if (field.size() < kLargeTried && candidates_.is_for_large(*t) &&
        std::find(chosen.begin(), chosen.end(), t) == chosen.end())
      field.push_back(t);
  if (field.size() <= kLargeFinalists) return;
  const std::vector<double> seconds = seconds_at(*large, field);
  std::vector<size_t> order(field.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return seconds[a] < seconds[b]; });
  for (size_t k = 0; k < kLargeFinalists; ++k) {
    const Trial* t = field[order[k]];
    if (std::isfinite(seconds[order[k]]) &&
        std::find(chosen.begin(), chosen.end(), t) == chosen.end() &&
        correct_elsewhere(*t, run_.deadline).value_or(false))
      chosen.push_back(t);
  }
}

// One call of each, as a few rounds tell; infinite where one is not ok.
std::vector<double> FinalRound::seconds_at(const SizeBinding& sizes,
                                           const std::vector<const Trial*>& trials) {
  const DeadlineScope scope(run_.deadline);
  const TuningProblem problem =
      make_problem(request_.proc, sizes, {.seed = request_.seed, .expected = false});
  std::vector<Contender> contenders;
  for (const Trial* t : trials)
    contenders.push_back(contender_of(
        "#" + std::to_string(contenders.size() + 1),
        compiled_as(make_candidate(candidates_.procedure(*t), *request_.target, problem),
                    t->compilation)));
  ShootoutOptions options;
  options.rounds = kLargeRounds;
  options.extend = false;
  options.blocks = 1;
  const ShootoutResult shot =
      bench_.arena->compete(contenders, problem.args, problem.test, options);
  std::vector<double> out;
  for (const ContenderResult& c : shot.contenders)
    out.push_back(c.status == TrialStatus::kOk && c.median > 0 ? c.median : INFINITY);
  return out;
}

// Halves the largest size until the work is small enough: boundaries are met at small sizes too.
void FinalRound::shrink_to(double operations, const std::vector<std::string>& free,
                           SizeBinding& sizes) const {
  if (request_.kernel.flops.text().empty()) return;
  while (request_.kernel.flops.evaluate(sizes) > operations) {
    int64_t* largest = &sizes[free.front()];
    for (const std::string& name : free)
      if (sizes[name] > *largest) largest = &sizes[name];
    if (*largest <= 1) return;
    *largest /= 2;
  }
}

// What to compute at the other sizes, each made once for all finalists; null when the deadline is
// over.
const TuningProblem* FinalRound::other_problem(size_t place, const std::vector<std::string>& free,
                                               const Deadline& deadline) {
  const DeadlineScope scope(deadline);
  if (deadline.over()) return nullptr;
  if (place < other_problems_.size()) return &other_problems_[place];
  SizeBinding sizes = run_.sizes;
  for (size_t d = 0; d < free.size(); ++d)
    sizes[free[d]] = kOtherExtents[(place + d * 3) % kOtherExtents.size()];
  shrink_to(kCheckedOperations, free, sizes);
  try {
    other_problems_.push_back(make_problem(request_.proc, sizes, {.seed = request_.seed + place}));
  } catch (const InterpError&) {
    if (!deadline.over()) throw;
    return nullptr;
  }
  return &other_problems_.back();
}

// Correct at other sizes too: a symbolic kernel is checked where every boundary is met. Nothing
// when the deadline was over before all was seen.
std::optional<bool> FinalRound::correct_elsewhere(const Trial& t, const Deadline& deadline) {
  std::vector<std::string> free;
  for (const auto& [name, value] : run_.sizes)
    if (!request_.sizes.count(name)) free.push_back(name);
  if (free.empty()) return true;
  for (size_t place = 0; place < kOtherExtents.size(); ++place) {
    const TuningProblem* problem = other_problem(place, free, deadline);
    if (problem == nullptr) return std::nullopt;
    const Candidate c = compiled_as(
        make_candidate(candidates_.procedure(t), *request_.target, *problem), t.compilation);
    RunOptions options;
    options.measure = false;
    options.timeout_seconds = request_.timeout_seconds;
    const DeadlineScope scope(deadline);
    const TrialResult r = bench_.runner->run(std::span(&c, 1), problem->test, options)[0];
    if (r.ok()) continue;
    if (r.status == TrialStatus::kSkipped) return std::nullopt;
    const std::string cause = "at " + sizes_text(problem->sizes) + ": " + r.cause;
    run_.result.failures.push_back(std::string(status_name(r.status)) + " " + cause);
    ++run_.result.statistics.causes[status_name(r.status)];
    retract(t, r.status, cause);
    return false;
  }
  return true;
}

// What failed at another size is not ok in the store either.
void FinalRound::retract(const Trial& t, TrialStatus status, const std::string& cause) {
  std::optional<TrialRecord> record = run_.store.find_trial(run_.result.key, t.candidate.id);
  if (!record) return;
  record->status = status_name(status);
  record->cause = cause;
  record->samples.clear();
  run_.store.replace_trial(*record);
}

// Who else does the same: the libraries, or where no library does, the compilers on their own.
void FinalRound::add_peers(std::vector<Contender>& contenders, const Deadline& deadline) {
  const std::optional<PeerProblem> peer = peer_problem(request_.kernel, run_.problem);
  if (!peer) {
    // Their loops are the nest's: where that has no time for a call they have none.
    if (run_.written_is_far && measured_.written_takes(kShareOfWritten * run_.deadline.left())) {
      run_.result.missed.push_back(std::string("C compilers' loops: ") + kTimeWasOver);
      return;
    }
    // Whoever compares would write the sizes that are known into the loops, too.
    const Candidate plain = make_candidate(at_sizes(request_.proc, request_.sizes),
                                           *request_.target, run_.problem, "plain");
    const DeadlineScope scope(deadline);
    for (Contender& c : bench_.arena->plain_code(plain)) contenders.push_back(std::move(c));
    return;
  }
  run_.report("peers", 0, 0);
  const DeadlineScope scope(deadline);
  run_.result.peer_report = bench_.arena->peers(*peer);
  for (const Peer& p : run_.result.peer_report.peers)
    if (p.supports(*peer))
      contenders.push_back(contender_of(shown_name(p, bench_.toolchain), PeerCall{p, *peer}));
  if (deadline.over() && run_.result.peer_report.peers.empty())
    run_.result.missed.push_back(std::string("libraries: ") + kTimeWasOver);
}

// The machine's roofs, where there is time to find them.
void FinalRound::add_roofs(std::vector<Contender>& contenders) {
  const DeadlineScope scope(run_.deadline);
  const auto add = [&](std::optional<Contender> roof) {
    if (roof) contenders.push_back(std::move(*roof));
  };
  const std::optional<ElementType> type = run_.peak_type();
  try {
    if (!request_.kernel.flops.text().empty() && type && !run_.deadline.over())
      add(bench_.arena->roof(*type));
    // Of one core: what several have together is no sum.
    if (request_.threads == 1 && !run_.deadline.over())
      add(bench_.arena->memory_roof(traffic_of(*request_.proc, request_.kernel, run_.sizes)));
  } catch (const Error&) {
    if (!run_.deadline.over()) throw;
  }
}

// --- who wins -----------------------------------------------------------------------------------

FinalsAtSizes FinalRound::finals_of(const std::vector<Trial>& finalists) {
  FinalsAtSizes finals;
  for (const Trial& t : finalists) {
    finals.finalists.push_back(candidates_.procedure(t));
    finals.compilations.push_back(t.compilation);
  }
  finals.kernel = request_.proc;
  finals.target = request_.target.get();
  finals.arena = bench_.arena;
  finals.seed = request_.seed;
  finals.deadline = run_.deadline;
  finals.sizes = run_.listed_sizes();
  return finals;
}

// The winner among the finalists; of a kernel for every size, over the sizes it lists.
size_t FinalRound::winner_of(const std::vector<Trial>& finalists, const ShootoutResult& shot,
                             SizeTable& table) {
  const FinalsAtSizes finals = finals_of(finalists);
  run_.report("finals", 0, static_cast<int>(finals.sizes.size()));
  return best_over_sizes(finals, shot, &table);
}

// Two schedules in one procedure, which is then a candidate like others: measured, checked at other
// sizes. At the sizes of the run it does what one of the two did in the shoot-out.
std::optional<Trial> FinalRound::shared_out(const std::vector<Trial>& finalists, SizeTable table,
                                            size_t& winner) {
  if (table.sizes.empty() || request_.partial || request_.threads > 1) return std::nullopt;
  table.sizes.push_back(run_.sizes);
  std::vector<std::string> names;
  for (const Arg& a : request_.proc->args)
    if (a.type.scalar == ScalarType::kSize && !request_.sizes.count(a.name.name()))
      names.push_back(a.name.name());
  // Another compiler, or leave to take sums in any order, is of a whole file.
  for (const Trial& t : finalists) table.whole.push_back(!t.compilation.is_usual());
  const std::optional<SizeClasses> classes = size_classes(table, names);
  if (!classes) return std::nullopt;
  const Trial &where = finalists[classes->where], &elsewhere = finalists[classes->elsewhere];
  // One procedure begins at one form of the kernel.
  if (candidates_.state(where).form + candidates_.state(elsewhere).form > 0) return std::nullopt;
  const Steps steps = steps_of(*classes, *request_.proc, candidates_.state(where).steps,
                               candidates_.state(elsewhere).steps);
  const std::optional<Trial> two = measured_.one_more(steps, run_.deadline);
  if (!two || !correct_elsewhere(*two, run_.deadline).value_or(false)) return std::nullopt;
  winner = classes->holds.back() ? classes->where : classes->elsewhere;
  return two;
}

// A roof as the rounds of the shoot-out saw it beside the winner.
void FinalRound::take_roof(const Ratio& of_winner, const Roof& roof) {
  if (of_winner.rounds == 0) return;
  if (roof.of_memory) {
    const double seconds = run_.result.seconds * of_winner.median;
    if (roof.work > kMostBandwidth * seconds) return;  // its arrays got no memory: it did nothing
    const Traffic traffic = traffic_of(*request_.proc, request_.kernel, run_.sizes);
    run_.result.memory_seconds = seconds * traffic.moved() / roof.work;
    return;
  }
  run_.result.own_peak = run_.has_own_peak();
  if (run_.result.gflops <= 0) return;
  const double share = request_.kernel.flops.evaluate(run_.sizes) / (request_.threads * roof.work) *
                       of_winner.median;
  if (share > 0) run_.result.peak_gflops = run_.result.gflops / share;
}

}  // namespace exotune
