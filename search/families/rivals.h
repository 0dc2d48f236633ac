#pragma once
// Libraries with CBLAS functions, loaded into this process, and calls of their routines at one
// size. Start at Rival and workloads.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runners/peers.h"

namespace exotune::families {

/// A library that stays loaded as long as the process.
class Rival {
 public:
  /// "" is the program itself. InputError when it does not load.
  Rival(std::string name, const std::string& path);
  const std::string& name() const { return name_; }
  void* find(const std::string& symbol) const;  // null when absent

 private:
  std::string name_;
  void* handle_ = nullptr;
};

/// The CBLAS libraries among the peers of this machine, with one thread each. Sets the environment
/// that they read when they are loaded.
std::vector<Rival> load_rivals(const std::vector<Peer>& peers);

/// One routine in one variant, as a heat map has rows.
struct Workload {
  std::string routine;  // "gemv"
  std::string variant;  // "T", "lower, T"; "" for the only one
  int level = 1;        // of BLAS
  bool trans = false, transb = false, lower = true, right = false;
  std::string title(bool is_double) const;  // "dgemv T"
  double flops(double n) const;
};
const std::vector<Workload>& workloads();
/// Sizes a level is measured at: of vectors, or of square matrices.
const std::vector<int>& sizes_of_level(int level);

/// Memory for the calls of a workload at one size, filled so that thousands of calls in place keep
/// their values in range.
class WorkloadArrays {
 public:
  WorkloadArrays(const Workload& workload, int n, bool is_double);
  ~WorkloadArrays();
  WorkloadArrays(const WorkloadArrays&) = delete;
  WorkloadArrays& operator=(const WorkloadArrays&) = delete;
  /// The call; empty when the library lacks the routine.
  std::function<void()> call(const Rival& rival) const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace exotune::families
