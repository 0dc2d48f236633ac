#pragma once
// What bounds a kernel on this machine: its arithmetic, or the memory that its data lie in. Start
// at find_roofline.
#include <optional>
#include <string>

#include "core/base/deadline.h"
#include "db/store.h"
#include "runners/machine_peak.h"
#include "search/tuner.h"

namespace exotune::cli {

struct Roofline {
  double intensity = 0;     // operations a byte of compulsory traffic
  std::string level;        // where the data lie from one call to the next: "L1", ..., "memory"
  double level_gbytes = 0;  // what that level gives, GB/s, measured
  bool memory_bound = false;
  double percent = 0;  // of the lower of the two roofs, reached
};

/// Of a kernel that takes `operations` and moves `bytes` in `seconds` a call. Nothing where the
/// bytes or both roofs are unknown. `peak` in GFLOP/s.
std::optional<Roofline> roofline_of(double operations, double bytes, double seconds, double peak,
                                    const Bandwidth& bandwidth, const Machine& machine);

/// Of a tuned kernel. Bandwidths are measured once for a machine, which takes a second, and kept in
/// the store. Nothing for estimates, several threads, what cannot be counted, and when they are
/// not known and the deadline is over before they are.
std::optional<Roofline> find_roofline(const TuneRequest& request, const TuneResult& result,
                                      Store& store, const Deadline& deadline);

/// "memory (L2, 85 GB/s), 78 % of that; 0.25 operations a byte".
std::string str(const Roofline& roofline);

}  // namespace exotune::cli
