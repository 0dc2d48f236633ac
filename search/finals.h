#pragma once
// Finals: who wins a shoot-out, among our own and over several sizes.
#include <vector>

#include "core/base/deadline.h"
#include "runners/arena.h"
#include "search/compilation.h"
#include "search/problem.h"
#include "search/size_classes.h"

namespace exotune {

/// The winner among the first `finalists` contenders: the shoot-out's, or, when a rival won it, the
/// fastest of them.
size_t best_finalist(size_t finalists, const ShootoutResult& shot);

struct FinalsAtSizes {
  std::vector<ProcPtr> finalists;
  std::vector<Compilation> compilations;  // of the finalists; may be empty
  ProcPtr kernel;
  const Target* target = nullptr;
  Arena* arena = nullptr;
  std::vector<SizeBinding> sizes;  // besides those of the shoot-out that was
  uint64_t seed = 1;
  Deadline deadline;  // sizes that it cuts short do not count
};

/// A kernel for every size must be good at more than one: of the finalists that passed the
/// shoot-out, the one with the least geometric mean time over its sizes and these. Runs one
/// shoot-out a size. Into `table`, if given, goes what was seen, the shoot-out's sizes last (their
/// binding is the caller's to fill in).
size_t best_over_sizes(const FinalsAtSizes& finals, const ShootoutResult& shot,
                       SizeTable* table = nullptr);

}  // namespace exotune
