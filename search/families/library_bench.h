#pragma once
// A library against others, routine by routine and size by size: every point is timed in turn in
// one process, and the ratio is the median of pairs of the same round. Start at bench_library;
// with threads, at bench_library_threads.
#include <functional>
#include <string>
#include <vector>

#include "search/families/rivals.h"

namespace exotune::families {

struct BenchPoint {
  std::string title;  // "dgemv T"
  int level = 1;
  int n = 0;
  double seconds = 0;  // of one call of ours
  double gflops = 0;
  double bytes = 0;            // that a call reads or writes
  std::vector<double> ratios;  // by rival: its time over ours; NaN where it lacks the routine
  std::vector<double> cold;    // the same with the arrays out of the caches; empty: not measured
  /// Over the fastest rival; NaN without any.
  double against_best() const;
  double cold_against_best() const;
};

struct LibraryBenchOptions {
  std::vector<std::string> routines;  // "gemv": all its variants and precisions; empty: all
  int most = 0;                       // no size above it; 0: none is too large
  int rounds = 9;
  double batch_seconds = 3e-4;
  int cold_rounds = 5;                              // calls with cold caches; 0: none
  std::function<void(const BenchPoint&)> measured;  // may be empty
  std::function<bool()> interrupted;                // may be empty
};

/// InputError, naming the nearest, for a routine that there is not.
std::vector<BenchPoint> bench_library(const Rival& ours, const std::vector<Rival>& rivals,
                                      const LibraryBenchOptions& options);

/// The same with `threads` threads each, by wall time and with warm caches alone: every library in
/// processes of its own, in turn, since the waiting threads of one take the cores from another.
/// Cost: `rounds` times what a library takes, and its loading.
std::vector<BenchPoint> bench_library_threads(const RivalLibrary& ours,
                                              const std::vector<RivalLibrary>& rivals, int threads,
                                              const LibraryBenchOptions& options);

/// The workloads that the options ask for. InputError, naming the nearest, for a routine that there
/// is not.
std::vector<Workload> workloads_of(const LibraryBenchOptions& options);

/// Geometric mean of against_best over the points with this title (all for ""), and how many.
struct Mean {
  double value = 1, least = 1;
  size_t points = 0;
};
Mean mean_of(const std::vector<BenchPoint>& points, const std::string& title);
/// The same with cold caches.
Mean cold_mean_of(const std::vector<BenchPoint>& points, const std::string& title);

/// The points with the smallest ratios, the worst first.
std::vector<BenchPoint> worst_of(std::vector<BenchPoint> points, size_t count);

/// A page of its own: for each level a map of routines by sizes, coloured by the ratio to the best
/// rival, with the ratio to each in the cell's title, and the worst ten points.
std::string heat_map_page(const std::vector<BenchPoint>& points,
                          const std::vector<std::string>& rivals, const std::string& heading);

}  // namespace exotune::families
