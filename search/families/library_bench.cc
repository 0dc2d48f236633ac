#include "search/families/library_bench.h"

#include <xmmintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/diagnostic.h"
#include "runners/batch_timer.h"

namespace exotune::families {
namespace {

// A rival that does not have the routine.
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Values that shrink over thousands of calls do not become slow denormals meanwhile.
class FlushToZero {
 public:
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(before_); }

 private:
  unsigned before_;
};

constexpr double kLong = 0.1;  // seconds of calls that are not tried twice

double median(std::vector<double> values) {
  if (values.empty()) return kNone;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double seconds_of(const Calls& calls, int64_t times) {
  const double begin = thread_seconds();
  calls(times);
  return (thread_seconds() - begin) / static_cast<double>(times);
}

// An eighth of the time, seen twice: an interrupt looks like slow calls, and batches of a few time
// the clock.
int64_t times_for(const Calls& calls, double seconds) {
  calls(1);
  int64_t times = 1;
  for (double took = 0; times < (int64_t{1} << 24); times *= 4) {
    const auto all = static_cast<double>(times);
    took = seconds_of(calls, times) * all;
    if (took >= seconds / 8 && took < kLong) took = std::min(took, seconds_of(calls, times) * all);
    if (took >= seconds / 8)
      return std::max<int64_t>(1,
                               static_cast<int64_t>(static_cast<double>(times) * seconds / took));
  }
  return times;
}

// The calls of all libraries with the arrays in one place.
struct Turn {
  std::unique_ptr<WorkloadArrays> arrays;
  std::vector<Calls> calls;  // ours, then the rivals'; empty: it has no such routine
};

// Larger arrays begin in one place only: what matters there is how far they go.
constexpr double kLargeBytes = 4 << 20;
constexpr size_t kPlaces = 5;

std::vector<Turn> turns_of(const Workload& workload, bool is_double, int n, const Rival& ours,
                           const std::vector<Rival>& rivals) {
  std::vector<Turn> turns(workload.bytes(n, is_double) > kLargeBytes ? 1 : kPlaces);
  for (size_t place = 0; place < turns.size(); ++place) {
    Turn& turn = turns[place];
    turn.arrays =
        std::make_unique<WorkloadArrays>(workload, n, is_double, static_cast<unsigned>(place));
    turn.calls = {turn.arrays->call(ours)};
    for (const Rival& rival : rivals) turn.calls.push_back(turn.arrays->call(rival));
  }
  return turns;
}

// A call each in turn, the arrays out of the caches before every one.
std::vector<double> cold_ratios(const std::vector<Turn>& turns, int rounds) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> times(turns[0].calls.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t k = 0; k < times.size(); ++k) {
      const auto& [arrays, calls] = turns[static_cast<size_t>(round) % turns.size()];
      const size_t who = (k + static_cast<size_t>(round)) % calls.size();
      if (!calls[who]) continue;
      arrays->flush();
      const Clock::time_point begin = Clock::now();
      calls[who](1);
      times[who].push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    }
  const double ours = median(times[0]);
  std::vector<double> ratios;
  for (size_t k = 1; k < times.size(); ++k) ratios.push_back(median(times[k]) / ours);
  return ratios;
}

// Rounds for those that take several times as long as we do: their ratio need not be exact.
constexpr int kRoundsOfTheSlow = 3;
constexpr double kSlow = 4;

BenchPoint measure(const Workload& workload, bool is_double, int n, const Rival& ours,
                   const std::vector<Rival>& rivals, const LibraryBenchOptions& options) {
  const std::vector<Turn> turns = turns_of(workload, is_double, n, ours, rivals);
  const std::vector<Calls>& first_calls = turns.front().calls;
  std::vector<int64_t> repeats;
  std::vector<int> rounds;
  double first = 0;
  for (const auto& call : first_calls) {
    repeats.push_back(call ? times_for(call, options.batch_seconds) : 0);
    const double took = call ? seconds_of(call, 1) : 0;
    if (rounds.empty()) first = took;
    const bool slow = took > kSlow * first && took > options.batch_seconds;
    rounds.push_back(slow ? std::min(kRoundsOfTheSlow, options.rounds) : options.rounds);
  }
  // Each round the arrays lie elsewhere: no library is lucky with where they are.
  std::vector<std::vector<double>> times(first_calls.size());
  for (int round = 0; round < options.rounds; ++round)
    for (size_t k = 0; k < times.size(); ++k) {
      const auto& calls = turns[static_cast<size_t>(round) % turns.size()].calls;
      const size_t who = (k + static_cast<size_t>(round)) % calls.size();
      if (calls[who] && round < rounds[who])
        times[who].push_back(seconds_of(calls[who], repeats[who]));
    }
  BenchPoint point{workload.title(is_double), workload.level, n};
  point.seconds = median(times[0]);
  point.gflops = workload.flops(n) / point.seconds * 1e-9;
  point.bytes = workload.bytes(n, is_double);
  if (options.cold_rounds > 0) point.cold = cold_ratios(turns, options.cold_rounds);
  for (size_t k = 1; k < times.size(); ++k) {
    std::vector<double> ratios;
    for (size_t r = 0; r < times[k].size(); ++r) ratios.push_back(times[k][r] / times[0][r]);
    point.ratios.push_back(median(std::move(ratios)));
  }
  return point;
}

double least_of(const std::vector<double>& ratios) {
  double best = kNone;
  for (const double ratio : ratios)
    if (!std::isnan(ratio) && !(ratio >= best)) best = ratio;
  return best;
}

Mean mean_over(const std::vector<BenchPoint>& points, const std::string& title,
               double (BenchPoint::*ratio_of)() const) {
  Mean mean;
  double sum = 0;
  for (const BenchPoint& point : points) {
    const double ratio = (point.*ratio_of)();
    if ((!title.empty() && point.title != title) || std::isnan(ratio)) continue;
    sum += std::log(ratio);
    mean.least = mean.points == 0 ? ratio : std::min(mean.least, ratio);
    ++mean.points;
  }
  if (mean.points > 0) mean.value = std::exp(sum / static_cast<double>(mean.points));
  return mean;
}

}  // namespace

double BenchPoint::against_best() const { return least_of(ratios); }
double BenchPoint::cold_against_best() const { return least_of(cold); }

std::vector<Workload> workloads_of(const LibraryBenchOptions& options) {
  std::vector<std::string> known;
  for (const Workload& workload : workloads()) known.push_back(workload.routine);
  for (const std::string& name : options.routines) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest(name, known);
    throw InputError({}, "there is no routine '" + name + "' to measure",
                     near.empty() ? "gemv, gemm, axpy, ..." : "did you mean " + near + "?");
  }
  std::vector<Workload> out;
  for (const Workload& workload : workloads())
    if (options.routines.empty() || std::find(options.routines.begin(), options.routines.end(),
                                              workload.routine) != options.routines.end())
      out.push_back(workload);
  return out;
}

std::vector<BenchPoint> bench_library(const Rival& ours, const std::vector<Rival>& rivals,
                                      const LibraryBenchOptions& options) {
  const std::vector<Workload> asked = workloads_of(options);
  const FlushToZero flush;
  std::vector<BenchPoint> points;
  for (const Workload& workload : asked) {
    for (const bool is_double : {false, true}) {
      Workload plain = workload;
      plain.variant.clear();
      if (ours.find("cblas_" + plain.title(is_double)) == nullptr) continue;
      for (const int n : sizes_of_level(workload.level)) {
        if (options.most > 0 && n > options.most) continue;
        if (options.interrupted && options.interrupted()) return points;
        points.push_back(measure(workload, is_double, n, ours, rivals, options));
        if (options.measured) options.measured(points.back());
      }
    }
  }
  return points;
}

Mean mean_of(const std::vector<BenchPoint>& points, const std::string& title) {
  return mean_over(points, title, &BenchPoint::against_best);
}
Mean cold_mean_of(const std::vector<BenchPoint>& points, const std::string& title) {
  return mean_over(points, title, &BenchPoint::cold_against_best);
}

std::vector<BenchPoint> worst_of(std::vector<BenchPoint> points, size_t count) {
  std::erase_if(points, [](const BenchPoint& p) { return std::isnan(p.against_best()); });
  std::stable_sort(points.begin(), points.end(), [](const BenchPoint& a, const BenchPoint& b) {
    return a.against_best() < b.against_best();
  });
  points.resize(std::min(points.size(), count));
  return points;
}

}  // namespace exotune::families
