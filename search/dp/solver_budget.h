#pragma once
// SolverBudget: what the threads of one question to the dynamic program may spend. Start at spend.
#include <atomic>
#include <cstdint>

namespace exotune {

/// What the threads of one question may spend. Counted in Specs, not in time, so that the answer of
/// one thread depends on the question alone; memory is a limit of this machine.
class SolverBudget {
 public:
  SolverBudget() = default;
  SolverBudget(int64_t most_specs, int64_t most_bytes)
      : most_specs_(most_specs), most_bytes_(most_bytes) {}
  /// Notes Specs that were solved; false when there is nothing left.
  bool spend(int64_t specs);
  /// Where no plan is near the floor there is mostly none: as many again may be solved, no more.
  void give_up_early();

  bool out_of_specs() const { return spent_ >= most_specs_; }
  bool out_of_memory() const { return out_of_memory_; }
  bool gave_up() const { return gave_up_; }

 private:
  std::atomic<int64_t> spent_ = 0, most_specs_ = INT64_MAX;
  int64_t most_bytes_ = INT64_MAX;
  std::atomic<bool> out_of_memory_ = false, gave_up_ = false;
};

}  // namespace exotune
