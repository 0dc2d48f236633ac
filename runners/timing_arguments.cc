#include "runners/timing_arguments.h"

#include <algorithm>

namespace exotune {

namespace {
// Calls in turn on so many sets do not wait for the stores of the call before.
constexpr size_t kMostSets = 8;
constexpr size_t kBytes = 16 << 10;  // half of a small L1 data cache
}  // namespace

TimingArguments::TimingArguments(const PreparedCase& prepared, bool one_set, int variation) {
  size_t bytes = 0;
  for (const PreparedCase::Arg& a : prepared.args) bytes += a.image(0).size();
  const size_t sets =
      one_set ? 1 : std::clamp<size_t>(kBytes / std::max<size_t>(bytes, 1), 1, kMostSets);
  // Sets that began at one place of their pages would compete for a few sets of the nearest cache.
  const size_t apart = (bytes / GuardedArguments::kLine + 1) * GuardedArguments::kLine;
  for (size_t k = 0; k < sets; ++k)
    copies_.push_back(std::make_unique<GuardedArguments>(
        prepared, GuardedArguments::Placement::kTiming, variation, k * apart));
  refill();
}

void TimingArguments::refill() const {
  for (const auto& c : copies_) c->fill(0);
}

std::vector<void**> TimingArguments::sets() const {
  std::vector<void**> out;
  for (const auto& c : copies_) out.push_back(c->pointers());
  return out;
}

std::vector<const GuardedArguments*> TimingArguments::all() const {
  std::vector<const GuardedArguments*> out;
  for (const auto& c : copies_) out.push_back(c.get());
  return out;
}

std::vector<GuardedArguments::Range> TimingArguments::ranges() const {
  std::vector<GuardedArguments::Range> out;
  for (const auto& c : copies_)
    for (const GuardedArguments::Range& r : c->ranges()) out.push_back(r);
  return out;
}

}  // namespace exotune
