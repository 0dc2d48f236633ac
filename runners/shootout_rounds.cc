#include "runners/shootout_rounds.h"

#include <algorithm>
#include <limits>

#include "core/base/diagnostic.h"
#include "runners/batch_timer.h"
#include "runners/sandbox.h"
#include "runners/statistics.h"
#include "runners/timing_arguments.h"

namespace exotune {

namespace {

// The 95 % interval of a median by order statistics needs six; nine bear three lost ones.
constexpr int kFewestRounds = 9;
// More rounds are added, up to this many times those asked for, while a candidate near the best can
// be told from it neither as slower nor as equal.
constexpr int kMostExtension = 4;
constexpr double kNear = 0.10;                      // medians this far from the best are no rivals
constexpr double kPlaces = 0.35;                    // the most that addresses make out, with room
constexpr double kLongCall = 5e-3, kFarBehind = 4;  // of who need not come back
// In a block of what was written just before, calls that are timed one by one: long enough for the
// clock, and of data that a cache may hold.
constexpr double kShortestWritten = 3e-6, kLongestWritten = 1e-3;
constexpr int kWrittenCalls = 7;                       // of which the median counts
constexpr int kPlacesMeasured = 5, kWrittenPlace = 3;  // blocks of a shoot-out, and which one it is
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What the timing child leaves behind; `samples` and `preempted` follow it in the same memory.
struct alignas(16) RoundsShared {
  ChildReport report;
  int32_t rounds;  // complete ones
};

/// One block: some rounds in one child.
class Block {
 public:
  Block(const std::vector<Entry>& entries, const std::vector<bool>& sits_out,
        const PreparedCase& prepared, const ShootoutOptions& options, int variation, bool written,
        int most, double timeout_seconds)
      : entries_(entries),
        sits_out_(sits_out),
        takes_long_(entries.size(), false),
        prepared_(prepared),
        options_(options),
        variation_(variation),
        written_(written),
        most_(most),
        timeout_seconds_(timeout_seconds),
        memory_(sizeof(RoundsShared) +
                entries.size() * static_cast<size_t>(most) * (sizeof(double) + 1)) {}

  /// Runs in one child; how it ended.
  ChildOutcome run() {
    return run_in_child([this] { child_main(); }, timeout_seconds_);
  }
  const ChildReport& report() const { return shared()->report; }
  int rounds() const { return std::clamp<int>(shared()->rounds, 0, most_); }
  double& sample(size_t e, int r) const {
    return reinterpret_cast<double*>(shared() +
                                     1)[e * static_cast<size_t>(most_) + static_cast<size_t>(r)];
  }
  char& preempted(size_t e, int r) const {
    char* flags = reinterpret_cast<char*>(shared() + 1) +
                  entries_.size() * static_cast<size_t>(most_) * sizeof(double);
    return flags[e * static_cast<size_t>(most_) + static_cast<size_t>(r)];
  }

 private:
  int threads() const {
    int most = 1;
    for (const Entry& e : entries_)
      most = std::max(most, e.contender->peer ? e.contender->peer->peer.threads : e.unit.threads);
    return most;
  }
  RoundsShared* shared() const { return memory_.as<RoundsShared>(); }

  /// Brings every contender in and binds it to the arguments; false when one does not load.
  bool bind_all(const TimingArguments& arguments, std::vector<BoundCall>& calls) {
    RoundsShared* s = shared();
    for (size_t e = 0; e < entries_.size(); ++e) {
      s->report.current = static_cast<int32_t>(e);
      std::string error;
      const Binder bind = load_entry(entries_[e], prepared_.specs, &error);
      if (!bind) {
        s->report.set(TrialStatus::kCrash, "cannot be loaded: " + error);
        s->report.stage = ChildReport::kDone;
        return false;
      }
      calls.push_back(bind(arguments.sets()));
    }
    return true;
  }

  void child_main() {
    RoundsShared* s = shared();
    const double deadline = wall_seconds() + 0.8 * timeout_seconds_;
    watch_faults(&s->report, {});
    const TimingArguments arguments(prepared_, options_.cold || options_.one_set, variation_);
    std::vector<BoundCall> calls;
    if (!bind_all(arguments, calls)) return;
    s->report.stage = ChildReport::kTiming;
    watch_faults(&s->report, arguments.all());
    const BatchTimer timer(arguments.ranges(), options_.cold, threads());
    std::vector<int64_t> counts(entries_.size(), 1);
    for (size_t e = 0; e < entries_.size(); ++e) {
      // One call is a sample by itself, and was made before.
      takes_long_[e] = entries_[e].call_seconds > kLongestCall;
      if (sits_out_[e] || takes_long_[e]) continue;
      s->report.current = static_cast<int32_t>(e);
      arguments.refill();
      counts[e] = timer.calibrate(calls[e], options_.batch_seconds);
    }
    while (s->rounds < most_) {
      arguments.refill();
      for (size_t i = 0; i < entries_.size(); ++i) {
        // One round is always finished: it is all there is to compare.
        if (s->rounds > 0 && wall_seconds() > deadline) break;
        take(timer, arguments, (i + static_cast<size_t>(s->rounds)) % entries_.size(), calls,
             counts);
      }
      if (wall_seconds() > deadline && s->rounds > 0) break;
      rest_the_slowest(s->rounds++);
    }
    watch_faults(&s->report, {});
    s->report.stage = ChildReport::kDone;
  }

  void take(const BatchTimer& timer, const TimingArguments& arguments, size_t e,
            const std::vector<BoundCall>& calls, const std::vector<int64_t>& counts) {
    RoundsShared* s = shared();
    const int r = s->rounds;
    s->report.current = static_cast<int32_t>(e);
    sample(e, r) = kNaN;
    if (sits_out_[e]) return;
    if (!takes_long_[e]) calls[e](1);  // brings its code and data back after the others
    const BatchTimer::Sample taken =
        written_ ? sample_written(timer, arguments, calls[e]) : timer.sample(calls[e], counts[e]);
    sample(e, r) = taken.seconds;
    preempted(e, r) = taken.preempted;
  }

  /// One call after each refill of the arguments, so that their lines are in other caches and not
  /// clean.
  static BatchTimer::Sample sample_written(const BatchTimer& timer,
                                           const TimingArguments& arguments,
                                           const BoundCall& call) {
    std::vector<double> seconds;
    BatchTimer::Sample out{kNaN, false};
    for (int k = 0; k < kWrittenCalls; ++k) {
      const BatchTimer::Sample one = timer.sample_after([&] { arguments.refill(); }, call);
      seconds.push_back(one.seconds);
      out.preempted |= one.preempted;
    }
    out.seconds = median_of(seconds);
    return out;
  }

  /// Many times slower than the best and very long: one round of the block is enough of it.
  void rest_the_slowest(int round) {
    double best = 0;
    for (size_t e = 0; e < entries_.size(); ++e)
      if (const double m = sample(e, round); m > 0 && !entries_[e].contender->roof)
        best = best == 0 ? m : std::min(best, m);
    for (size_t e = 0; e < entries_.size(); ++e)
      if (takes_long_[e] && sample(e, round) > kFarBehind * best) sits_out_[e] = true;
  }

  const std::vector<Entry>& entries_;
  std::vector<bool> sits_out_;
  std::vector<bool> takes_long_;  // a call by itself
  const PreparedCase& prepared_;
  const ShootoutOptions& options_;
  const int variation_;
  const bool written_;  // just before each call
  const int most_;
  const double timeout_seconds_;
  SharedMemory memory_;
};

/// All blocks of one shoot-out.
class Rounds {
 public:
  Rounds(const std::vector<Entry>& entries, const PreparedCase& prepared,
         const ShootoutOptions& options)
      : entries_(entries),
        prepared_(prepared),
        options_(options),
        raw_(entries.size()),
        clean_(entries.size()),
        sits_out_(entries.size(), false) {}

  /// "complete", "timeout", "interrupted"; or "" when a contender broke its block: finding().
  std::string run() {
    const int wanted = std::max(options_.rounds, 1),
              blocks = std::clamp(options_.blocks, 1, wanted);
    const int each = (wanted + blocks - 1) / blocks;
    const int most = kMostExtension * std::max(wanted, kFewestRounds);
    while (rounds() < most && !(rounds() >= wanted && enough())) {
      if (options_.interrupted && options_.interrupted()) return "interrupted";
      const double left = options_.timeout_seconds - spent();
      if (left <= 0) return "timeout";
      const int place = static_cast<int>(blocks_.size());
      Block block(entries_, sits_out_, prepared_, options_, place, as_written(place), each, left);
      const ChildOutcome outcome = block.run();
      finding_ = conclude(block.report(), outcome, left);
      guilty_ = static_cast<size_t>(
          std::clamp<int>(block.report().current, 0, static_cast<int>(entries_.size()) - 1));
      if (!finding_.ok() && finding_.status != TrialStatus::kTimeout &&
          finding_.status != TrialStatus::kSkipped)
        return "";
      take(block);
      if (!finding_.ok() || block.rounds() < each) return "timeout";
    }
    return "complete";
  }
  const Finding& finding() const { return finding_; }
  size_t guilty() const { return guilty_; }
  const std::vector<int>& blocks() const { return blocks_; }

  /// Samples of entry `e`. Preempted ones are NaN, unless too few would be left.
  std::vector<double> samples(size_t e) const {
    std::vector<double> out = raw_[e];
    const auto kept = std::count(clean_[e].begin(), clean_[e].end(), true);
    if (kept < std::min(kFewestRounds, rounds())) return out;
    for (size_t r = 0; r < out.size(); ++r)
      if (!clean_[e][r]) out[r] = kNaN;
    return out;
  }

 private:
  int rounds() const { return raw_.empty() ? 0 : static_cast<int>(raw_[0].size()); }
  double spent() const { return wall_seconds() - start_; }

  /// A producer writes what the kernel reads, as often as not. Every fifth place is measured so,
  /// for all contenders alike, if the fastest takes long enough in the places before it.
  bool as_written(int place) const {
    if (place % kPlacesMeasured != kWrittenPlace || options_.cold) return false;
    const double seconds = fastest();
    return seconds > kShortestWritten && seconds < kLongestWritten;
  }

  /// The least median of all blocks so far; 0 before the first.
  double fastest() const {
    double best = 0;
    for (size_t e = 0; e < entries_.size(); ++e)
      if (const double m = median_of(raw_[e]); !entries_[e].contender->roof && m > 0)
        best = best == 0 ? m : std::min(best, m);
    return best;
  }

  void take(const Block& block) {
    for (size_t e = 0; e < entries_.size(); ++e)
      for (int r = 0; r < block.rounds(); ++r) {
        raw_[e].push_back(block.sample(e, r));
        clean_[e].push_back(!block.preempted(e, r) && block.sample(e, r) > 0);
      }
    blocks_.push_back(block.rounds());
    rest_the_slow();
    rest_the_beaten();
  }

  /// Who is many times slower and takes long was seen often enough after one block: the compilers
  /// on the nest as written, and the nest itself.
  void rest_the_slow() {
    const double best = fastest();
    for (size_t e = 0; e < entries_.size(); ++e)
      if (const double m = median_of(raw_[e]);
          !entries_[e].contender->roof && m > kLongCall && m > kFarBehind * best)
        sits_out_[e] = true;
  }

  /// A candidate that is known to be slower than the best sits out the rest: as long as not all
  /// places were seen only who is slower by more than places make out, then whoever is slower.
  void rest_the_beaten() {
    if (rounds() < kFewestRounds) return;
    const double near = rounds() < options_.rounds ? kPlaces : kTieMedian;
    const size_t best = best_candidate();
    for (size_t e = 0; e < entries_.size(); ++e) {
      if (!entries_[e].contender->competes() || e == best || sits_out_[e]) continue;
      // In most rounds, and in the mean of the places as well.
      if (paired_ratio(samples(e), samples(best)).high < 1 - near &&
          typical_of(samples(e), blocks_) * (1 - near) > typical_of(samples(best), blocks_))
        sits_out_[e] = true;
    }
  }

  /// By the medians of the rounds so far; entries_.size() when none competes. What sits out took
  /// part in fewer, and is no longer asked.
  size_t best_candidate() const {
    size_t best = entries_.size();
    double least = 0;
    for (size_t e = 0; e < entries_.size(); ++e) {
      if (!entries_[e].contender->competes() || sits_out_[e]) continue;
      const double m = median_of(samples(e));
      if (best == entries_.size() || m < least) best = e, least = m;
    }
    return best;
  }

  bool enough() const {
    if (!options_.extend || entries_.size() < 2) return true;
    if (spent() > 0.3 * options_.timeout_seconds) return true;
    for (size_t e = 0; e < entries_.size(); ++e)
      if (!sits_out_[e] && std::count(clean_[e].begin(), clean_[e].end(), true) < kFewestRounds)
        return false;
    return decided();
  }

  /// Every candidate near the best one is known to be slower, or as fast within narrow bounds.
  bool decided() const {
    const size_t best = best_candidate();
    for (size_t e = 0; e < entries_.size(); ++e) {
      if (!entries_[e].contender->competes() || e == best || sits_out_[e]) continue;
      const Ratio r = paired_ratio(samples(e), samples(best));
      if (r.median > 1 - kNear && r.tie() && r.high - r.low > kTieMedian) return false;
    }
    return true;
  }

  const std::vector<Entry>& entries_;
  const PreparedCase& prepared_;
  const ShootoutOptions& options_;
  const double start_ = wall_seconds();
  std::vector<std::vector<double>> raw_;  // by entry and round
  std::vector<std::vector<bool>> clean_;  // not preempted
  std::vector<int> blocks_;
  std::vector<bool> sits_out_;
  Finding finding_;
  size_t guilty_ = 0;
};

}  // namespace

TimedRounds time_rounds(const std::vector<Entry>& entries, const PreparedCase& prepared,
                        const ShootoutOptions& options) {
  Rounds rounds(entries, prepared, options);
  TimedRounds out;
  out.ended = rounds.run();
  out.finding = rounds.finding();
  out.guilty = rounds.guilty();
  out.blocks = rounds.blocks();
  for (size_t e = 0; e < entries.size(); ++e) out.samples.push_back(rounds.samples(e));
  return out;
}

}  // namespace exotune
