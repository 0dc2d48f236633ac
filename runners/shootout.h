#pragma once
// Shoot-out: the finalists and the peers, timed in turn in ONE process, round after round with the
// order rotated, so that whatever slows the machine slows all of them. Start at shootout().
//
// The rounds come in blocks, each in a process of its own with its data elsewhere: addresses and
// pages are luck that a user's process draws anew, and an interval from one process does not know
// it: who is best in the mean of the blocks wins. The roof of the machine may run among the
// contenders: a peak of another minute is another.
//
// Ratios come from pairs of samples of the same round; an interval that holds 1, with a median
// within 2 %, is a tie, and ties go to the simpler code. While a candidate near the best is neither
// known to be slower nor tied within 2 %, rounds are added. A candidate that is known to be slower
// sits out what is left (by a third before all places were seen, by 2 % then); ratios are of the
// rounds that both have, other figures are brought to the machine's speed over all blocks.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runners/native_runner.h"
#include "runners/peers.h"
#include "runners/roof.h"

namespace exotune {

/// A candidate, a peer's call on the same arguments, or a roof of the machine.
struct Contender {
  std::string name;                    // shown in tables; unique
  std::optional<Candidate> candidate;  // exactly one of the three
  std::optional<PeerCall> peer;
  std::optional<Roof> roof;
  /// A candidate with this is a peer too: code that another compiler, or other flags, made of it.
  std::optional<TargetToolchain> toolchain;
  bool is_peer() const { return peer || toolchain; }
  bool competes() const { return candidate && !toolchain; }
};
/// One of our own.
Contender contender_of(std::string name, Candidate candidate);
Contender contender_of(std::string name, PeerCall peer);

/// How fair, and how long, a comparison is; the defaults are those of `kernel` and `bench`.
/// Seconds.
struct ShootoutOptions {
  int rounds = 15;                   // at least
  int blocks = 5;                    // that they are dealt to, each a process
  bool extend = true;                // up to four times as many while it is undecided
  double batch_seconds = 1e-3;       // per contender and round
  bool cold = false;                 // flush the caches before each timed call
  bool one_set = false;              // small problems on the same arguments call after call, too
  double timeout_seconds = 60;       // for the whole
  double check_timeout_seconds = 5;  // per contender, for its check
  std::string reference;  // the contender ratios are against; "" = the first peer, else first
  double tie_margin = 0;  // an interval within 1 +- this is also a tie
  std::function<bool()> interrupted;  // asked between blocks: true ends them; may be empty
};

/// The median of reference time / time over the rounds both have, with its 95 % interval (order
/// statistics of the paired ratios): above 1 is faster than the reference. Whoever measures again,
/// in another process, finds a median between `next_low` and `next_high` (next_block_interval).
struct Ratio {
  double median = 0, low = 0, high = 0;
  int rounds = 0;
  double next_low = 0, next_high = 0;
  bool tie(double margin = 0) const { return low <= 1 + margin && high >= 1 - margin; }
};

struct ContenderResult {
  std::string name;
  bool is_peer = false, is_roof = false;
  TrialStatus status = TrialStatus::kSkipped;
  std::string cause;
  std::vector<double>
      samples;  // seconds per call, by round; NaN = dropped (preempted, or it sat out)
  double median = 0, low = 0, high = 0;  // of the kept samples, 95 % interval of the median
  double typical = 0;                    // geometric mean of the blocks' medians: decides
  Ratio against_reference;
};

struct ShootoutResult {
  std::vector<ContenderResult> contenders;  // in the order given
  std::string reference;
  int winner = -1;   // index of the best candidate (never a peer); -1: none is valid
  int fastest = -1;  // index of the best of all
  bool cold = false;
  std::vector<int> blocks;  // rounds of each
  std::string stop_reason;  // "complete", "timeout", "interrupted", "crash: ..."
  /// Ratio of contender `other`'s time to contender `index`'s: above 1, `index` is faster.
  Ratio ratio(size_t index, size_t other) const;
};

/// Order-statistics interval of the paired ratio base[i] / mine[i]; rounds with a NaN are left out.
/// `blocks`: how many rounds each block has; none: all are of one.
Ratio paired_ratio(std::span<const double> mine, std::span<const double> base,
                   const std::vector<int>& blocks = {});

/// Checks every contender in its own child, then times the valid ones interleaved. All take the
/// arguments `test` was made for. Candidates are compiled with `toolchain` into one shared object.
ShootoutResult shootout(const TargetToolchain& toolchain, std::span<const Contender> contenders,
                        const std::vector<ArgSpec>& args, const TestCase& test,
                        const ShootoutOptions& options = {}, const NativeOptions& native = {});

}  // namespace exotune
