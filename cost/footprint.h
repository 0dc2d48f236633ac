#pragma once
// Working sets of a scheduled proc: which part of each buffer every loop body touches, and from
// that the lines that a cache of a given size brings in. Start at Footprints.
//
// A cache is taken to keep what was used last: a body whose working set fits brings in again only
// what moves from one iteration to the next; one that does not fit keeps nothing. Rows a power of
// two apart fall into few sets, so that many of them do not fit although their bytes would.
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/ir/proc.h"
#include "cost/terms.h"
#include "hw/core_facts.h"

namespace exotune {

struct LineCount {
  double all = 0;
  double scattered = 0;  // of them, in runs too short for prefetchers
  void add(const LineCount& o, double times = 1);
};

class Footprints {
 public:
  /// `vectors`: buffers that are registers and touch no memory.
  Footprints(const Proc& p, const std::map<std::string, int64_t>& sizes);
  ~Footprints();

  /// Lines brought into a cache by one of many runs on the same data: nothing when all of it fits.
  /// `core` says how its sets repeat, when it begins to lose lines, and how soon streams are met.
  LineCount traffic(int64_t cache_bytes, int line_bytes,
                    const CoreFacts& core = default_core()) const;
  /// Bytes of everything the proc touches, in whole lines.
  double bytes(int line_bytes) const;

 private:
  struct Node;
  std::unique_ptr<Node> root_;
};

}  // namespace exotune
