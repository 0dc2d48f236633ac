#include "cli/roofline.h"

#include <fmt/format.h>

#include "cli/table.h"
#include "search/problem.h"

namespace exotune::cli {
namespace {

FigureKey key_of(const Machine& machine, const std::string& isa) {
  return {"this machine", "bandwidth 1 " + isa, machine.microarch, "bandwidth"};
}

Bandwidth bandwidth_here(const TuneRequest& request, Store& store) {
  const TargetToolchain toolchain = toolchain_of(*request.target);
  const FigureKey key = key_of(request.machine, toolchain.isa);
  Figures known = store.figures(key);
  if (known.empty()) {
    const Bandwidth b = measure_bandwidth(toolchain.isa, toolchain.cc);
    known = {{"l1", b.l1}, {"l2", b.l2}, {"l3", b.l3}, {"dram", b.dram}};
    store.put_figures(key, known);
  }
  return {known["l1"], known["l2"], known["l3"], known["dram"], 0};
}

}  // namespace

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

std::optional<Roofline> find_roofline(const TuneRequest& request, const TuneResult& result,
                                      Store& store, const Deadline& deadline) {
  const KernelEntry& kernel = request.kernel;
  if (result.seconds <= 0 || request.threads > 1 || kernel.flops.text().empty() ||
      kernel.bytes.text().empty())
    return std::nullopt;
  const SizeBinding& sizes = request.sizes.empty() ? request.representative : request.sizes;
  try {
    const DeadlineScope scope(deadline);
    return roofline_of(kernel.flops.evaluate(sizes), kernel.bytes.evaluate(sizes), result.seconds,
                       result.peak_gflops, bandwidth_here(request, store), request.machine);
  } catch (const Error&) {
    if (!deadline.over()) throw;
    return std::nullopt;  // the measurement was stopped
  }
}

std::string str(const Roofline& roofline) {
  const std::string intensity = number(roofline.intensity) + " operations a byte";
  const std::string level = roofline.level + ", " + number(roofline.level_gbytes) + " GB/s";
  if (roofline.memory_bound)
    return fmt::format("memory ({}), {:.0f} % of that; {}", level, roofline.percent, intensity);
  return fmt::format("arithmetic, {:.0f} % of it; {}, data in {}", roofline.percent, intensity,
                     roofline.level);
}

}  // namespace exotune::cli
