#include "search/families/bench_reasons.h"

#include <algorithm>
#include <cstdio>

namespace exotune::families {
namespace {

constexpr double kDear = 0.5;       // share of the time that the smallest call takes
constexpr double kSaturated = 0.7;  // share of the best bandwidth
constexpr int kFewVectors = 8;

std::string printed(const char* form, double a, double b) {
  char text[96];
  std::snprintf(text, sizeof text, form, a, b);
  return text;
}

bool is_double(const BenchPoint& p) { return p.title[p.title[0] == 'i' ? 1 : 0] == 'd'; }

}  // namespace

std::string bound_of(const BenchPoint& point, const std::vector<BenchPoint>& points,
                     int vector_bytes) {
  double call = point.seconds, bandwidth = 0, rate = 0;
  for (const BenchPoint& other : points) {
    if (other.title == point.title) call = std::min(call, other.seconds);
    const double part = other.bytes / point.bytes;
    if (other.level <= 2 && part > 0.5 && part < 2)
      bandwidth = std::max(bandwidth, other.bytes / other.seconds);
    if (other.level == point.level && is_double(other) == is_double(point))
      rate = std::max(rate, other.gflops);
  }
  const int lanes = vector_bytes / (is_double(point) ? 8 : 4);
  const double reached = point.bytes / point.seconds;
  if (call > kDear * point.seconds)
    return printed("the call: %.3g of %.3g ns", call * 1e9, point.seconds * 1e9);
  if (lanes > 1 && point.n % lanes != 0 && point.n < kFewVectors * lanes) return "partial vectors";
  if (point.level <= 2 && reached > kSaturated * bandwidth)
    return printed("bandwidth: %.3g of %.3g GB/s", reached * 1e-9, bandwidth * 1e-9);
  return printed("%.0f %% of the best rate of its level, %.3g GFLOP/s", 100 * point.gflops / rate,
                 rate);
}

}  // namespace exotune::families
