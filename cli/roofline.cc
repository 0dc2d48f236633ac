#include "cli/roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.h"
#include "search/problem.h"

namespace exotune::cli {
namespace {

// Percent of a roof: what is above was not measured right.
constexpr double kAbove = 105;

FigureKey bandwidth_key(const Machine& machine, const std::string& isa) {
  return {"this machine", "bandwidth 1 " + isa, machine.microarch, "bandwidth"};
}

// As measured once; `again`: what was measured may be too low, the machine may have been busy.
Bandwidth bandwidth_here(const TuneRequest& request, Store& store, bool again = false) {
  const TargetToolchain toolchain = toolchain_of(*request.target);
  const FigureKey key = bandwidth_key(request.machine, toolchain.isa);
  Figures known = store.figures(key);
  if (known.empty() || again) {
    const Bandwidth b = measure_bandwidth(toolchain);
    for (const auto& [level, gbytes] :
         {std::pair{"l1", b.l1}, {"l2", b.l2}, {"l3", b.l3}, {"dram", b.dram}})
      known[level] = std::max(known[level], gbytes);
    store.put_figures(key, known);
  }
  return {known["l1"], known["l2"], known["l3"], known["dram"], 0};
}

}  // namespace

// The level is the first that all data fit into: repeated calls find them there. Its bandwidth
// bounds the time from one side, the peak from the other; whichever asks for more is the roof.
std::optional<Roofline> roofline_of(double operations, double bytes, double seconds, double peak,
                                    const Bandwidth& bandwidth, const Machine& machine) {
  if (bytes <= 0 || seconds <= 0) return std::nullopt;
  Roofline out;
  out.intensity = operations / bytes;
  out.level = "memory";
  out.level_gbytes = bandwidth.dram;
  const double levels[] = {bandwidth.l1, bandwidth.l2, bandwidth.l3};
  for (const CacheLevel& cache : machine.caches) {
    if (cache.level < 1 || cache.level > 3 || bytes > static_cast<double>(cache.bytes)) continue;
    out.level = "L" + std::to_string(cache.level);
    out.level_gbytes = levels[cache.level - 1];
    break;
  }
  const bool has_peak = operations > 0 && peak > 0;
  if (out.level_gbytes <= 0 || (operations > 0 && !has_peak)) return std::nullopt;
  const double by_memory = bytes / out.level_gbytes,
               by_arithmetic = has_peak ? operations / peak : 0;
  out.memory_bound = by_memory > by_arithmetic;
  out.percent = 100 * std::max(by_memory, by_arithmetic) * 1e-9 / seconds;
  return out;
}

// Once with the bandwidth as the store has it; a kernel that is faster than that shows that the
// store is wrong, and it is measured again, once.
std::optional<Roofline> find_roofline(const TuneRequest& request, const TuneResult& result,
                                      Store& store, const Deadline& deadline) {
  const KernelEntry& kernel = request.kernel;
  if (result.seconds <= 0 || request.threads > 1 || kernel.flops.text().empty() ||
      kernel.bytes.text().empty())
    return std::nullopt;
  const SizeBinding& sizes = sizes_of_speed(request, result);
  try {
    const DeadlineScope scope(deadline);
    std::optional<Roofline> roofline;
    for (const bool again : {false, true}) {
      roofline =
          roofline_of(kernel.flops.evaluate(sizes), kernel.bytes.evaluate(sizes), result.seconds,
                      result.peak_gflops, bandwidth_here(request, store, again), request.machine);
      if (!roofline || !roofline->memory_bound || roofline->percent <= kAbove) break;
    }
    return roofline;
  } catch (const Error&) {
    if (!deadline.over()) throw;
    return std::nullopt;  // the measurement was stopped
  }
}

std::string str(const Roofline& roofline) {
  const std::string intensity = number(roofline.intensity) + " operations a byte";
  const std::string level = roofline.level + ", " + number(roofline.level_gbytes) + " GB/s";
  if (roofline.memory_bound && roofline.percent > kAbove)
    return fmt::format(
        "memory ({} measured), and went beyond that by {:.0f} %: data were nearer, or "
        "the machine was busy when it was measured; {}",
        level, roofline.percent - 100, intensity);
  if (roofline.memory_bound)
    return fmt::format("memory ({}), {:.0f} % of that; {}", level, roofline.percent, intensity);
  return fmt::format("arithmetic, {:.0f} % of it; {}, data in {}", roofline.percent, intensity,
                     roofline.level);
}

}  // namespace exotune::cli
