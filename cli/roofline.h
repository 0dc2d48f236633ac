#pragma once
// What bounds a kernel on this machine: its arithmetic, the memory that its data lie in, or a part
// of the machine that its schedule needs more of. Start at find_roofline.
#include <optional>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "db/store.h"
#include "runners/machine_peak.h"
#include "search/bounds.h"
#include "search/tuner.h"

namespace exotune::cli {

struct Roofline {
  double intensity = 0;     // operations a byte of compulsory traffic
  std::string level;        // where the data lie from one call to the next: "L1", ..., "memory"
  double level_gbytes = 0;  // what that level gives for such traffic, GB/s, measured
  bool memory_bound = false;
  double percent = 0;                 // of the lower of the two roofs, reached
  std::vector<ResourceShare> shares;  // of the winner's schedule; none: it is not known
};

/// What a call has to do at least, and what it took. Seconds; 0 where a roof is not known.
struct RooflineInput {
  double operations = 0, bytes = 0;
  double footprint = 0;  // bytes of the arrays
  double arithmetic_seconds = 0, memory_seconds = 0;
  double seconds = 0;
};
/// Nothing where the bytes or one of both roofs is unknown.
std::optional<Roofline> roofline_of(const RooflineInput& call, const Machine& machine);

/// Of a tuned kernel. The roof of arithmetic is the peak beside the winner, by what the target's
/// instructions ask for its kinds of operations; that of memory as many bytes moved beside the
/// winner (memory_roof.h). Where nothing ran beside it, bandwidths are measured once for a machine,
/// which takes a second, and kept in the store. Nothing for estimates, several threads, what cannot
/// be counted, and when they are not known and the deadline is over before they are.
std::optional<Roofline> find_roofline(const TuneRequest& request, const TuneResult& result,
                                      Store& store, const Deadline& deadline);

/// "memory (L2, 85 GB/s), 78 % of that; 0.25 operations a byte"; where the winner's schedule keeps
/// a part of the machine busier than that: "loads, 82 % of the time by the cost model; of what
/// memory (...) gives 40 %; ...".
std::string str(const Roofline& roofline);
/// "loads 82 %, arithmetic 55 %"; "" where nothing is known.
std::string shares_text(const std::vector<ResourceShare>& shares);

}  // namespace exotune::cli
