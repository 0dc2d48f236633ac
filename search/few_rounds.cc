#include "search/few_rounds.h"

#include <algorithm>

#include "core/interp/interp.h"
#include "search/expected_results.h"

namespace exotune {
namespace {

// Rounds kept: some of the deepest tiles of them; fewer where calls are long even so.
constexpr int64_t kRoundsKept[] = {48, 32, 16};
constexpr int64_t kAlikeBy = 16;    // the rest by which is kept
constexpr int64_t kWorthIt = 4;     // times fewer: the winner is proved and measured twice
constexpr double kSameBytes = 0.9;  // of all: fewer of them are in nearer caches
// A call is long when it takes a hundredth of a run's time, at an operation a nanosecond.
constexpr double kShortCall = 0.01, kOperationsOfASecond = 1e9;

bool only_bounds_outermost(const Proc& p, Sym size) {
  bool bounds = false;
  for (const StmtPtr& s : p.body) {
    const For* loop = s->as<For>();
    if (loop == nullptr) {
      if (mentions(s, size)) return false;
      continue;
    }
    if (mentions(loop->body, size) || mentions(loop->lo, size)) return false;
    bounds = bounds || mentions(loop->hi, size);
  }
  return bounds;
}

double bytes_of_arguments(const Proc& p, const SizeBinding& sizes) {
  const std::map<Sym, int64_t> env = control_values(p, sizes);
  double bytes = 0;
  for (const Arg& a : p.args) {
    if (!is_data(a.type.scalar)) continue;
    double each = static_cast<double>(bytes_of(a.type.scalar));
    for (const ExprPtr& extent : a.type.shape)
      each *= static_cast<double>(eval_control(extent, env));
    bytes += each;
  }
  return bytes;
}

// The sizes with so many rounds and the rest; as they are where nothing is repeated.
SizeBinding with_rounds(const Proc& p, SizeBinding sizes, int64_t rounds) {
  for (const Arg& a : p.args)
    if (const auto size = sizes.find(a.name.name()); size != sizes.end())
      if (only_bounds_outermost(p, a.name))
        size->second = std::min(size->second, rounds + size->second % kAlikeBy);
  return sizes;
}

bool has_open_sizes(const Proc& p, const SizeBinding& sizes) {
  return std::any_of(p.args.begin(), p.args.end(), [&](const Arg& a) {
    return is_control(a.type.scalar) && sizes.count(a.name.name()) == 0;
  });
}

}  // namespace

std::optional<SizeBinding> few_rounds(const TuneRequest& request) {
  const Proc& p = *request.proc;
  const bool bare = !request.partial && request.starts.empty() && !request.shorter;
  const bool alone = std::all_of(request.rivals.begin(), request.rivals.end(),
                                 [&](const Rival& r) { return r.proc == request.proc; });
  if (!bare || !alone || request.effort == Effort::kEstimate || has_open_sizes(p, request.sizes))
    return std::nullopt;
  const double most = kShortCall * kOperationsOfASecond * request.time_budget_seconds;
  const double operations = operations_of(p, request.sizes);
  if (operations < most) return std::nullopt;
  SizeBinding few;
  for (const int64_t rounds : kRoundsKept) {
    few = with_rounds(p, request.sizes, rounds);
    if (operations_of(p, few) < most) break;
  }
  const bool same_data =
      bytes_of_arguments(p, few) > kSameBytes * bytes_of_arguments(p, request.sizes);
  const bool worth_it = operations > kWorthIt * operations_of(p, few);
  return same_data && worth_it && keeps_asserts(p, few) ? std::optional(few) : std::nullopt;
}

double times_fewer(const TuneRequest& request, const SizeBinding& few) {
  return operations_of(*request.proc, request.sizes) /
         std::max(1.0, operations_of(*request.proc, few));
}

}  // namespace exotune
