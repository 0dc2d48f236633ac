#pragma once
// Libraries with CBLAS functions, loaded into this process, and calls of their routines at one
// size. Start at Rival and workloads.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runners/peers.h"
#include "runners/toolchain.h"

namespace exotune::families {

/// A library that stays loaded as long as the process.
class Rival {
 public:
  /// Of several shared objects the first that has a symbol gives it; "" is the program itself.
  /// InputError when one does not load.
  Rival(std::string name, const std::vector<std::string>& paths);
  const std::string& name() const { return name_; }
  void* find(const std::string& symbol) const;  // null when absent

 private:
  std::string name_;
  std::vector<void*> handles_;
};

/// What a Rival is loaded from.
struct RivalLibrary {
  std::string name;
  std::vector<std::string> paths;   // as Rival takes them
  std::string core_variable, core;  // the core type it is held to, for the environment; or ""
  bool has_threads = true;          // of its own
};

/// The peers of this machine that have CBLAS functions: OpenBLAS, BLIS, and Eigen and plain C, of
/// which what their peers lack is compiled for `toolchain` into `folder` (half a minute the first
/// time; without what does not compile).
std::vector<RivalLibrary> rival_libraries(const std::vector<Peer>& peers,
                                          const TargetToolchain& toolchain,
                                          const std::string& folder);

/// Loads it into this process, with the environment set that it reads then: for `threads` threads.
Rival load_rival(const RivalLibrary& library, int threads = 1);

/// One routine in one variant, as a heat map has rows.
struct Workload {
  std::string routine;  // "gemv"
  std::string variant;  // "T", "lower, T"; "" for the only one
  int level = 1;        // of BLAS
  bool trans = false, transb = false, lower = true, right = false;
  bool overwrites = false;  // beta is zero, where there is one: what stands there does not count
  std::string title(bool is_double) const;  // "dgemv T"
  double flops(double n) const;
  /// Bytes of what it reads and writes, each once.
  double bytes(double n, bool is_double) const;
};
const std::vector<Workload>& workloads();
/// Sizes a level is measured at: of vectors, or of square matrices.
const std::vector<int>& sizes_of_level(int level);

/// So many calls of a C function, one after the other. The loop is inside: what a call of a library
/// takes is a few nanoseconds, and should be all that is seen.
using Calls = std::function<void(int64_t times)>;

/// Memory for the calls of a workload at one size, filled so that thousands of calls in place keep
/// their values in range. It lies in its pages as `place` (0, 1, ...) says: at multiples of 16
/// bytes, as malloc gives. Where two short vectors lie moves the time of a call by up to 1.4.
class WorkloadArrays {
 public:
  WorkloadArrays(const Workload& workload, int n, bool is_double, unsigned place = 0);
  ~WorkloadArrays();
  WorkloadArrays(const WorkloadArrays&) = delete;
  WorkloadArrays& operator=(const WorkloadArrays&) = delete;
  /// The calls; empty when the library lacks the routine.
  Calls call(const Rival& rival) const;
  /// Takes the arrays out of all caches.
  void flush() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace exotune::families
