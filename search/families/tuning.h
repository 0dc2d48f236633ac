#pragma once
// Tuning: for each bucket of sizes of a kernel, the fastest of the schedules that its family's text
// tries, measured on this machine. Start at tune_member.
//
// A schedule that is refused costs nothing; one whose C computes something else never wins: each is
// proved under the bucket's condition and checked before it is timed. All are timed in turn in one
// process (runners/shootout.h).
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/store.h"
#include "hw/kernel_table.h"
#include "runners/arena.h"
#include "search/families/tunables.h"
#include "search/families/versions.h"

namespace exotune::families {

/// What was measured at one of a bucket's sizes: each run but for its key.
struct BucketPoint {
  SizeBinding sizes;
  std::vector<TrialRecord> trials;
  std::string winner_id;  // of them, the bucket's winner; "" when there is none
};

struct BucketResult {
  std::string at;
  std::string in_lines;  // the argument that was measured at the begin of a line; "" for none
  /// The script; "" in an answer that has none for these sizes: the next version is for them, too.
  std::string winner;
  /// Has the bucket before the same script, and is that as fast under this bucket's condition? Then
  /// one version serves both.
  bool joins = false;
  size_t tried = 0, refused = 0, failed = 0;  // failed: compiled or ran wrongly, at any size
  double gain = 1;                  // time of the usual schedule over the winner's, geometric mean;
                                    // 1 where the usual one is refused
  ProcPtr kernel;                   // that was measured, under the bucket's condition
  std::vector<BucketPoint> points;  // in the order of `at`
};

struct TunedMember {
  std::vector<Version> versions;  // neighbours with the same script joined
  std::vector<BucketResult> buckets;
};

/// What one run leaves to the next, bucket by bucket; either may be empty.
struct BucketMemory {
  /// What was measured of a candidate under the bucket's kernel at the sizes before.
  std::function<std::optional<TrialRecord>(const BucketResult& bucket, const SizeBinding& sizes,
                                           const std::string& candidate_id)>
      known;
  std::function<void(const BucketResult& bucket)> measured;
};

/// The versions that the buckets' winners make; none when no bucket has one.
std::vector<Version> versions_of(const Tunable& tunable, const std::vector<BucketResult>& buckets);

/// Of a bucket with several sizes that schedule wins whose times are the least in the geometric
/// mean. One that gains less than 3 % over what ships, over the one for the sizes below, or over
/// the usual one, is not worth its code. Of a bucket all of whose candidates `memory` knows nothing
/// runs. Error(kNoCandidate) when no schedule of a bucket is right, which the usual one is.
TunedMember tune_member(const Tunable& tunable, const TargetPtr& target, Arena& arena,
                        const BucketMemory& memory = {});

}  // namespace exotune::families
