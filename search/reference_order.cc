#include "search/reference_order.h"

#include <algorithm>

#include "search/moves/distribution.h"
#include "search/moves/loop_order.h"
#include "search/moves/parts.h"
#include "search/outline/outline.h"

namespace exotune {

namespace {

constexpr double kLong = 2e8;       // accesses of one run: some tenths of a second
constexpr double kNextElement = 8;  // as many of them are had in the time of one line
constexpr double kWorthACall = 2;   // below it, the nest as it will be measured serves

// Accesses of one run.
double accesses_of(const Outline& o) {
  double count = 0;
  for (const OutlineAccess& a : o.accesses) count += o.trips(a);
  return count;
}

// Lines that the innermost loops step through in one run.
double lines_of(const Proc& p, const SizeBinding& sizes, int line_bytes) {
  const Outline o = outline_of(p, sizes);
  double lines = 0;
  for (const OutlineAccess& a : o.accesses) {
    if (a.loops.empty()) continue;
    const int inner = a.loops.back();
    lines += o.trips(a) / (o.scattered(a, inner, line_bytes) ? 1 : kNextElement);
  }
  return lines;
}

// Each nest in the order of its loops that steps least.
Schedule with_best_orders(Schedule s, const SizeBinding& sizes, int line_bytes) {
  const std::vector<Cursor> nests = parts_of(s.proc);
  // The last first: places in front of it stay.
  for (auto nest = nests.rbegin(); nest != nests.rend(); ++nest) {
    double least = lines_of(*s.proc, sizes, line_bytes);
    Schedule best = s;
    for (LoopOrder& o : loop_orders(s, nest->path()))
      if (const double lines = lines_of(*o.schedule.proc, sizes, line_bytes); lines < least) {
        least = lines;
        best = std::move(o.schedule);
      }
    s = std::move(best);
  }
  return s;
}

}  // namespace

ProcPtr in_reference_order(const ProcPtr& p, const SizeBinding& sizes,
                           const std::vector<TargetLevel>& levels, const Deadline& deadline) {
  const std::vector<TargetLevel> caches = caches_of(levels);
  if (caches.empty()) return p;
  const int line = caches.front().line_bytes;
  if (accesses_of(outline_of(*p, sizes)) < kLong) return p;
  ProcPtr best = p;
  double least = lines_of(*p, sizes, line) / kWorthACall;
  (void)done_within(deadline, [&] {
    // Arrays for scalars only where nests without them are no better.
    for (const bool expand : {false, true}) {
      const Schedule s = with_best_orders(distribute({p, {}, false}, expand), sizes, line);
      if (const double lines = lines_of(*s.proc, sizes, line); lines < least) {
        least = lines;
        best = s.proc;
      }
    }
  });
  return best;
}

}  // namespace exotune
