#include "search/dp/solver_budget.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace exotune {
namespace {

// What this process holds in memory; 0 where the system does not say.
int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  if (!(file >> all >> resident)) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

bool SolverBudget::spend(int64_t specs) {
  // Between two questions to the system how much memory is in use.
  constexpr int64_t kSpecsPerWeighing = 1 << 14;
  const int64_t before = spent_.fetch_add(specs);
  if (most_bytes_ < INT64_MAX && before / kSpecsPerWeighing != (before + specs) / kSpecsPerWeighing)
    out_of_memory_ = out_of_memory_ || resident_bytes() > most_bytes_;
  return !out_of_memory_ && !out_of_specs();
}

void SolverBudget::give_up_early() {
  // Enough to finish what is open on the way up.
  constexpr int64_t kFewest = 1 << 14;
  if (gave_up_.exchange(true)) return;
  most_specs_ = std::min<int64_t>(most_specs_, spent_ + std::max<int64_t>(kFewest, spent_));
}

}  // namespace exotune
