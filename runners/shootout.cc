#include "runners/shootout.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/diagnostic.h"
#include "runners/batch_compiler.h"
#include "runners/batch_timer.h"
#include "runners/judge.h"
#include "runners/loaded_candidate.h"
#include "runners/peer_library.h"
#include "runners/statistics.h"
#include "runners/timing_arguments.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

constexpr int kFewestRounds = 9;
// More rounds are added, up to this many times those asked for, while a candidate near the best can
// be told from it neither as slower nor as equal.
constexpr int kMostExtension = 4;
constexpr double kNear = 0.10;  // medians this far from the best are no rivals
constexpr double kTieMedian =
    0.02;  // an equal's median is at most this far, its interval as narrow
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What the timing child leaves behind; `samples` and `preempted` follow it in the same memory.
struct alignas(16) RoundsShared {
  ChildReport report;
  int32_t rounds;  // complete ones
};

/// One contender made ready.
struct Entry {
  const Contender* contender;
  CompiledCandidate unit;  // of a candidate
};

Binder load_entry(const Entry& entry, const std::vector<ArgSpec>& args, std::string* error) {
  return entry.contender->peer ? load_peer(*entry.contender->peer, args, error)
                               : load_candidate(entry.unit, error);
}

/// In its own child: does it load and compute the right thing?
Finding check_entry(const Entry& entry, const PreparedCase& prepared, double timeout) {
  // Reading computes nothing that could be wrong.
  if (entry.contender->peer && entry.contender->peer->problem.op == BlasOp::kRead) return {};
  SharedMemory memory(sizeof(ChildReport));
  auto* report = memory.as<ChildReport>();
  const ChildOutcome outcome = run_in_child(
      [&] {
        watch_faults(report, {});
        std::string error;
        const Binder bind = load_entry(entry, prepared.specs, &error);
        if (bind)
          judge(prepared, bind, report);
        else
          report->set(TrialStatus::kCrash, "cannot be loaded: " + error);
        report->stage = ChildReport::kDone;
      },
      timeout);
  return conclude(*report, outcome, timeout);
}

class Rounds {
 public:
  Rounds(const std::vector<Entry>& entries, const PreparedCase& prepared,
         const ShootoutOptions& options)
      : entries_(entries),
        prepared_(prepared),
        options_(options),
        most_(kMostExtension * std::max(options.rounds, kFewestRounds)),
        memory_(sizeof(RoundsShared) +
                entries.size() * static_cast<size_t>(most_) * (sizeof(double) + 1)) {}

  /// Runs in one child; how it ended.
  ChildOutcome run() {
    return run_in_child([this] { child_main(); }, options_.timeout_seconds);
  }
  const ChildReport& report() const { return shared()->report; }
  int rounds() const { return std::clamp<int>(shared()->rounds, 0, most_); }

  /// Samples of entry `e`. Preempted ones are NaN, unless too few would be left.
  std::vector<double> samples(size_t e) const {
    std::vector<double> out;
    int clean = 0;
    for (int r = 0; r < rounds(); ++r) {
      out.push_back(sample(e, r));
      clean += !preempted(e, r);
    }
    if (clean >= std::min(kFewestRounds, rounds()))
      for (int r = 0; r < rounds(); ++r)
        if (preempted(e, r)) out[static_cast<size_t>(r)] = kNaN;
    return out;
  }

 private:
  int threads() const {
    int most = 1;
    for (const Entry& e : entries_)
      most = std::max(most, e.contender->peer ? e.contender->peer->peer.threads : e.unit.threads);
    return most;
  }
  RoundsShared* shared() const { return memory_.as<RoundsShared>(); }
  double& sample(size_t e, int r) const {
    return reinterpret_cast<double*>(shared() +
                                     1)[e * static_cast<size_t>(most_) + static_cast<size_t>(r)];
  }
  char& preempted(size_t e, int r) const {
    char* flags = reinterpret_cast<char*>(shared() + 1) +
                  entries_.size() * static_cast<size_t>(most_) * sizeof(double);
    return flags[e * static_cast<size_t>(most_) + static_cast<size_t>(r)];
  }

  void child_main() {
    RoundsShared* s = shared();
    const double start = wall_seconds();
    const double deadline = start + 0.8 * options_.timeout_seconds;
    const double extension_deadline = start + 0.3 * options_.timeout_seconds;
    watch_faults(&s->report, {});
    const TimingArguments arguments(prepared_, options_.cold);
    std::vector<BoundCall> calls;
    for (size_t e = 0; e < entries_.size(); ++e) {
      s->report.current = static_cast<int32_t>(e);
      std::string error;
      const Binder bind = load_entry(entries_[e], prepared_.specs, &error);
      if (!bind) {
        s->report.set(TrialStatus::kCrash, "cannot be loaded: " + error);
        s->report.stage = ChildReport::kDone;
        return;
      }
      calls.push_back(bind(arguments.sets()));
    }
    s->report.stage = ChildReport::kTiming;
    watch_faults(&s->report, arguments.all());
    const BatchTimer timer(arguments.ranges(), options_.cold, threads());
    std::vector<int64_t> counts;
    for (size_t e = 0; e < entries_.size(); ++e) {
      s->report.current = static_cast<int32_t>(e);
      arguments.refill();
      counts.push_back(timer.calibrate(calls[e], options_.batch_seconds));
    }
    std::vector<int> clean(entries_.size(), 0);
    const auto enough = [&] {
      if (s->rounds < options_.rounds) return false;
      if (!options_.extend || entries_.size() < 2) return true;
      if (wall_seconds() > extension_deadline) return true;
      return *std::min_element(clean.begin(), clean.end()) >= kFewestRounds && decided();
    };
    while (s->rounds < most_ && !enough()) {
      const int r = s->rounds;
      arguments.refill();
      for (size_t i = 0; i < entries_.size(); ++i) {
        const size_t e = (i + static_cast<size_t>(r)) % entries_.size();
        s->report.current = static_cast<int32_t>(e);
        calls[e](1);  // brings its code and data back after the others
        const BatchTimer::Sample taken = timer.sample(calls[e], counts[e]);
        sample(e, r) = taken.seconds;
        preempted(e, r) = taken.preempted;
        clean[e] += !taken.preempted;
      }
      ++s->rounds;
      if (wall_seconds() > deadline) break;
    }
    watch_faults(&s->report, {});
    s->report.stage = ChildReport::kDone;
  }

  /// Every candidate near the best one is known to be slower, or as fast within narrow bounds.
  bool decided() const {
    std::vector<std::vector<double>> all;
    size_t best = entries_.size();
    for (size_t e = 0; e < entries_.size(); ++e) {
      all.push_back(samples(e));
      if (entries_[e].contender->peer) continue;
      if (best == entries_.size() || median_of(all[e]) < median_of(all[best])) best = e;
    }
    for (size_t e = 0; e < entries_.size(); ++e) {
      if (entries_[e].contender->peer || e == best) continue;
      const Ratio r = paired_ratio(all[e], all[best]);
      if (r.median > 1 - kNear && r.tie() && r.high - r.low > kTieMedian) return false;
    }
    return true;
  }

  const std::vector<Entry>& entries_;
  const PreparedCase& prepared_;
  const ShootoutOptions& options_;
  int most_;
  SharedMemory memory_;
};

/// Compiles the candidates and checks everyone; the entries that may take part.
std::vector<Entry> admit(const TargetToolchain& toolchain, std::span<const Contender> contenders,
                         const PreparedCase& prepared, const ShootoutOptions& options,
                         const NativeOptions& native, const std::string& directory,
                         std::vector<ContenderResult>& results) {
  std::vector<Candidate> candidates;
  for (const Contender& c : contenders)
    if (c.candidate) candidates.push_back(*c.candidate);
  const std::vector<CompiledCandidate> units =
      compile_batch(toolchain, candidates, directory, native.compile_timeout_seconds);
  std::vector<Entry> entries;
  size_t next_unit = 0;
  for (size_t k = 0; k < contenders.size(); ++k) {
    const Contender& c = contenders[k];
    Entry entry{&c, {}};
    if (c.candidate) {
      entry.unit = units[next_unit++];
      if (!entry.unit.ok()) {
        results[k].status = TrialStatus::kCompileError;
        results[k].cause = entry.unit.error;
        continue;
      }
    }
    const Finding found = check_entry(entry, prepared, options.check_timeout_seconds);
    results[k].status = found.status;
    results[k].cause = found.cause;
    if (found.ok()) entries.push_back(std::move(entry));
  }
  return entries;
}

void choose(ShootoutResult& out, std::span<const Contender> contenders,
            const ShootoutOptions& options) {
  std::vector<ContenderResult>& all = out.contenders;
  int best = -1;
  const auto faster = [&](size_t k, int than) {
    return than < 0 || all[k].median < all[static_cast<size_t>(than)].median;
  };
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].status != TrialStatus::kOk || !(all[k].median > 0)) continue;
    if (faster(k, out.fastest)) out.fastest = static_cast<int>(k);
    if (!all[k].is_peer && faster(k, best)) best = static_cast<int>(k);
  }
  out.winner = best;
  for (size_t k = 0; best >= 0 && k < all.size(); ++k) {
    if (all[k].is_peer || all[k].status != TrialStatus::kOk || !(all[k].median > 0)) continue;
    const bool simpler = contenders[k].candidate->complexity <
                         contenders[static_cast<size_t>(out.winner)].candidate->complexity;
    const Ratio r = out.ratio(k, static_cast<size_t>(best));
    const double margin = std::max(options.tie_margin, kTieMedian);
    if (simpler && r.tie(options.tie_margin) && r.median >= 1 - margin)
      out.winner = static_cast<int>(k);
  }
  int reference = -1;
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].status != TrialStatus::kOk || !(all[k].median > 0)) continue;
    if (all[k].name == options.reference) {
      reference = static_cast<int>(k);
      break;
    }
    const bool peer_before_candidate =
        reference < 0 || (all[k].is_peer && !all[static_cast<size_t>(reference)].is_peer);
    if (peer_before_candidate) reference = static_cast<int>(k);
  }
  if (reference < 0) return;
  out.reference = all[static_cast<size_t>(reference)].name;
  for (size_t k = 0; k < all.size(); ++k)
    if (all[k].status == TrialStatus::kOk)
      all[k].against_reference = out.ratio(k, static_cast<size_t>(reference));
}

}  // namespace

Ratio paired_ratio(std::span<const double> mine, std::span<const double> base) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(mine.size(), base.size()); ++i)
    if (mine[i] > 0 && base[i] > 0) ratios.push_back(base[i] / mine[i]);
  const SampleInterval i = median_interval(ratios);
  return {i.median, i.low, i.high, static_cast<int>(ratios.size())};
}

Ratio ShootoutResult::ratio(size_t index, size_t other) const {
  return paired_ratio(contenders.at(index).samples, contenders.at(other).samples);
}

ShootoutResult shootout(const TargetToolchain& toolchain, std::span<const Contender> contenders,
                        const std::vector<ArgSpec>& args, const TestCase& test,
                        const ShootoutOptions& options, const NativeOptions& native) {
  ShootoutResult out;
  out.cold = options.cold;
  for (const Contender& c : contenders) {
    EXO_CHECK(c.candidate.has_value() != c.peer.has_value());
    ContenderResult r;
    r.name = c.name;
    r.is_peer = c.peer.has_value();
    out.contenders.push_back(std::move(r));
  }
  const PreparedCase prepared = prepare(args, test);
  const WorkDirectory directory(native.work_directory);
  std::vector<Entry> entries =
      admit(toolchain, contenders, prepared, options, native, directory.path(), out.contenders);
  out.stop_reason = "complete";
  // A contender that breaks the joint process, though it passed alone, leaves; the rest start
  // again.
  while (!entries.empty()) {
    Rounds rounds(entries, prepared, options);
    const ChildOutcome outcome = rounds.run();
    const Finding found = conclude(rounds.report(), outcome, options.timeout_seconds);
    if (!found.ok() && found.status != TrialStatus::kTimeout) {
      const auto guilty = static_cast<size_t>(
          std::clamp<int>(rounds.report().current, 0, static_cast<int>(entries.size()) - 1));
      const size_t k = static_cast<size_t>(entries[guilty].contender - contenders.data());
      out.contenders[k].status = found.status;
      out.contenders[k].cause = found.cause;
      out.stop_reason = "crash: " + out.contenders[k].name + " left";
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(guilty));
      continue;
    }
    if (!found.ok() || rounds.rounds() < options.rounds) out.stop_reason = "timeout";
    for (size_t e = 0; e < entries.size(); ++e) {
      ContenderResult& r =
          out.contenders[static_cast<size_t>(entries[e].contender - contenders.data())];
      r.samples = rounds.samples(e);
      const SampleInterval i = median_interval(r.samples);
      r.median = i.median;
      r.low = i.low;
      r.high = i.high;
      if (r.samples.empty()) {
        r.status = TrialStatus::kTimeout;
        r.cause = "no round was complete within the time limit";
      }
    }
    break;
  }
  choose(out, contenders, options);
  return out;
}

}  // namespace exotune
