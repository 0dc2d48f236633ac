#include <xmmintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "runners/sandbox.h"
#include "search/families/library_bench.h"

namespace exotune::families {
// Libraries with threads of their own: each routine is timed in a process that has loaded one
// library only, the libraries in turn, several rounds. A ratio is of medians, since the processes
// of a round do not run in the same moment.
namespace {
using Clock = std::chrono::steady_clock;

// A library that lacks the routine, or did not come to its end.
constexpr double kNever = std::numeric_limits<double>::quiet_NaN();
constexpr int kBatches = 5;                 // a process, the best of which counts
constexpr double kSecondsOfChild = 600;     // for one routine at all sizes; longer hangs
constexpr double kSecondsOfWarming = 0.02;  // threads start, clocks rise

// One routine in one precision, at the sizes that are measured.
struct Row {
  Workload workload;
  bool is_double;
  std::vector<int> sizes;
};

double wall_seconds(const Calls& calls, int64_t times) {
  const Clock::time_point begin = Clock::now();
  calls(times);
  return std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(times);
}

double best_seconds(const Calls& calls, double batch_seconds) {
  double one = wall_seconds(calls, 1);
  for (const Clock::time_point begin = Clock::now();
       std::chrono::duration<double>(Clock::now() - begin).count() < kSecondsOfWarming;)
    one = std::min(one, wall_seconds(calls, 1));
  const double wanted = batch_seconds / std::max(one, 1e-9);
  const auto times = static_cast<int64_t>(std::clamp(wanted, 1.0, 1e7));
  double best = one;
  for (int k = 0; k < kBatches; ++k) best = std::min(best, wall_seconds(calls, times));
  return best;
}

// Fills `seconds` by size, 0 where the library lacks the routine. In the child.
void time_row(const RivalLibrary& library, int threads, const Row& row, double batch_seconds,
              double* seconds) {
  _mm_setcsr(_mm_getcsr() | 0x8040);  // no denormals after thousands of calls in place
  const Rival loaded = load_rival(library, threads);
  for (size_t k = 0; k < row.sizes.size(); ++k) {
    const WorkloadArrays arrays(row.workload, row.sizes[k], row.is_double);
    const Calls calls = arrays.call(loaded);
    if (calls) seconds[k] = best_seconds(calls, batch_seconds);
  }
}

double median_of_positive(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !(v > 0); });
  if (values.empty()) return kNever;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// By library, then by size; NaN where a library lacks the routine or did not come to its end.
std::vector<std::vector<double>> seconds_of_row(const std::vector<RivalLibrary>& libraries,
                                                int threads, const Row& row,
                                                const LibraryBenchOptions& options) {
  const size_t sizes = row.sizes.size();
  std::vector<std::vector<std::vector<double>>> all(libraries.size(),
                                                    std::vector<std::vector<double>>(sizes));
  for (int round = 0; round < options.rounds; ++round)
    for (size_t k = 0; k < libraries.size(); ++k) {
      const size_t who = (k + static_cast<size_t>(round)) % libraries.size();
      const SharedMemory memory(sizes * sizeof(double));
      auto* const seconds = memory.as<double>();
      run_in_child([&] { time_row(libraries[who], threads, row, options.batch_seconds, seconds); },
                   kSecondsOfChild);
      for (size_t n = 0; n < sizes; ++n) all[who][n].push_back(seconds[n]);
    }
  std::vector<std::vector<double>> out;
  for (const auto& of_library : all) {
    out.emplace_back();
    for (const std::vector<double>& of_size : of_library)
      out.back().push_back(median_of_positive(of_size));
  }
  return out;
}

std::vector<Row> rows_of(const LibraryBenchOptions& options) {
  std::vector<Row> out;
  for (const Workload& workload : workloads_of(options))
    for (const bool is_double : {false, true}) {
      Row row{workload, is_double, {}};
      for (const int n : sizes_of_level(workload.level))
        if (options.most == 0 || n <= options.most) row.sizes.push_back(n);
      if (!row.sizes.empty()) out.push_back(std::move(row));
    }
  return out;
}

}  // namespace

std::vector<BenchPoint> bench_library_threads(const RivalLibrary& ours,
                                              const std::vector<RivalLibrary>& rivals, int threads,
                                              const LibraryBenchOptions& options) {
  std::vector<RivalLibrary> libraries = {ours};
  libraries.insert(libraries.end(), rivals.begin(), rivals.end());
  std::vector<BenchPoint> points;
  for (const Row& row : rows_of(options)) {
    if (options.interrupted && options.interrupted()) break;
    const std::vector<std::vector<double>> seconds =
        seconds_of_row(libraries, threads, row, options);
    for (size_t k = 0; k < row.sizes.size(); ++k) {
      const int n = row.sizes[k];
      BenchPoint point{row.workload.title(row.is_double), row.workload.level, n};
      point.seconds = seconds[0][k];
      if (std::isnan(point.seconds)) continue;  // not of this library
      point.gflops = row.workload.flops(n) / point.seconds * 1e-9;
      point.bytes = row.workload.bytes(n, row.is_double);
      for (size_t other = 1; other < libraries.size(); ++other)
        point.ratios.push_back(seconds[other][k] / point.seconds);
      points.push_back(std::move(point));
      if (options.measured) options.measured(points.back());
    }
  }
  return points;
}

}  // namespace exotune::families
