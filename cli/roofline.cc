#include "cli/roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.h"
#include "cost/operation_costs.h"
#include "search/figures.h"
#include "search/problem.h"
#include "search/weights.h"

namespace exotune::cli {
namespace {

constexpr double kAbove = 105;   // percent of a roof: what is above was not measured right
constexpr double kAhead = 1.15;  // times what of a roof was reached: the share that tells more

FigureKey bandwidth_key(const Machine& machine, const std::string& isa) {
  return {"this machine", "bandwidth 1 " + isa, machine.microarch, "bandwidth"};
}

// As measured once; `again`: what was measured may be too low, the machine may have been busy.
Bandwidth bandwidth_here(const TuneRequest& request, Store& store, bool again) {
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

// "L1", ..., "memory"
std::string level_of(double footprint, const Machine& machine) {
  for (const CacheLevel& cache : machine.caches)
    if (cache.level >= 1 && cache.level <= 3 && footprint <= static_cast<double>(cache.bytes))
      return "L" + std::to_string(cache.level);
  return "memory";
}

double gbytes_of(const Bandwidth& bandwidth, const std::string& level) {
  if (level == "L1") return bandwidth.l1;
  if (level == "L2") return bandwidth.l2;
  return level == "L3" ? bandwidth.l3 : bandwidth.dram;
}

// Once with the bandwidth as the store has it; a kernel that is faster than that shows that the
// store is wrong, and it is measured again, once.
double stored_memory_seconds(const TuneRequest& request, const RooflineInput& call, Store& store) {
  double seconds = 0;
  for (const bool again : {false, true}) {
    const double gbytes =
        gbytes_of(bandwidth_here(request, store, again), level_of(call.footprint, request.machine));
    seconds = gbytes > 0 ? 1e-9 * call.bytes / gbytes : 0;
    if (100 * seconds <= kAbove * call.seconds) break;
  }
  return seconds;
}

// Hz of a core whose peak is of multiply-adds that take so many cycles for one element.
double clock_of(double peak_gflops, double cycles) { return peak_gflops * 1e9 * cycles / 2; }

// What its operations take one after the other at the peak that was seen, each at what the target's
// instructions ask for it: half of the peak where no product is added to anything.
double arithmetic_seconds(const TuneRequest& request, const TuneResult& result,
                          const SizeBinding& sizes, const std::map<std::string, double>& costs) {
  const SizeFormula& operations = request.kernel.flops;
  if (operations.text().empty() || result.peak_gflops <= 0) return 0;
  if (result.own_peak)
    if (const double cycles = operation_cycles(work_of(*request.proc), sizes, costs); cycles > 0)
      return cycles / clock_of(result.peak_gflops, costs.at("fma"));
  return operations.evaluate(sizes) / (1e9 * result.peak_gflops);
}

// Nothing without a clock, or where what was measured is of other sizes than the winner's.
std::vector<ResourceShare> shares_of(const TuneRequest& request, const TuneResult& result,
                                     const Store& store,
                                     const std::map<std::string, double>& costs) {
  if (!result.winner || result.timed_there || !result.own_peak || result.peak_gflops <= 0 ||
      !costs.count("fma"))
    return {};
  SizeBinding sizes = request.representative;
  for (const auto& [name, value] : request.sizes) sizes[name] = value;
  return resource_shares(*result.winner, sizes,
                         weights_of(*request.target, request.machine, &store,
                                    request.kernel.operation(), request.costs),
                         result.seconds * clock_of(result.peak_gflops, costs.at("fma")));
}

}  // namespace

// The level is the first that all data fit into: repeated calls find them there. Its bandwidth
// bounds the time from one side, the peak from the other; whichever asks for more is the roof.
std::optional<Roofline> roofline_of(const RooflineInput& call, const Machine& machine) {
  if (call.bytes <= 0 || call.seconds <= 0 || call.memory_seconds <= 0) return std::nullopt;
  if (call.operations > 0 && call.arithmetic_seconds <= 0) return std::nullopt;
  Roofline out;
  out.intensity = call.operations / call.bytes;
  out.level = level_of(call.footprint, machine);
  out.level_gbytes = 1e-9 * call.bytes / call.memory_seconds;
  out.memory_bound = call.memory_seconds > call.arithmetic_seconds;
  out.percent = 100 * std::max(call.memory_seconds, call.arithmetic_seconds) / call.seconds;
  return out;
}

std::optional<Roofline> find_roofline(const TuneRequest& request, const TuneResult& result,
                                      Store& store, const Deadline& deadline) {
  const KernelEntry& kernel = request.kernel;
  if (result.seconds <= 0 || request.threads > 1 || kernel.flops.text().empty() ||
      kernel.bytes.text().empty())
    return std::nullopt;
  const SizeBinding& sizes = sizes_of_speed(request, result);
  const Traffic traffic = traffic_of(*request.proc, kernel, sizes);
  const std::map<std::string, double> costs =
      operation_costs(*request.target, kernel.precision,
                      figures_of(*request.target, request.machine, &store).instructions);
  RooflineInput call;
  call.operations = kernel.flops.evaluate(sizes);
  call.bytes = kernel.bytes.evaluate(sizes);
  call.footprint = traffic.footprint();
  call.arithmetic_seconds = arithmetic_seconds(request, result, sizes, costs);
  call.seconds = result.seconds;
  try {
    const DeadlineScope scope(deadline);
    call.memory_seconds = result.memory_seconds > 0 ? result.memory_seconds
                                                    : stored_memory_seconds(request, call, store);
    std::optional<Roofline> roofline = roofline_of(call, request.machine);
    if (roofline) roofline->shares = shares_of(request, result, store, costs);
    return roofline;
  } catch (const Error&) {
    if (!deadline.over()) throw;
    return std::nullopt;  // the measurement was stopped
  }
}

std::string shares_text(const std::vector<ResourceShare>& shares) {
  std::string out;
  for (const ResourceShare& s : shares)
    out +=
        fmt::format("{}{} {:.0f} %", out.empty() ? "" : ", ", s.name, std::min(100.0, s.percent));
  return out;
}

std::string str(const Roofline& roofline) {
  const std::string level =
      fmt::format("memory ({}, {} GB/s)", roofline.level, number(roofline.level_gbytes));
  const std::string intensity = number(roofline.intensity) + " operations a byte";
  // A schedule with more arithmetic than the nest needs is bound by arithmetic all the same.
  const auto busiest =
      std::find_if(roofline.shares.begin(), roofline.shares.end(), [&](const ResourceShare& s) {
        return s.is_of_machine() && (roofline.memory_bound || s.name != "arithmetic");
      });
  if (busiest != roofline.shares.end() && busiest->percent > kAhead * roofline.percent)
    return fmt::format("{}, {:.0f} % of the time by the cost model; {:.0f} % of what {} gives; {}",
                       busiest->name, std::min(100.0, busiest->percent), roofline.percent,
                       roofline.memory_bound ? level : "arithmetic", intensity);
  if (roofline.percent > kAbove)
    return fmt::format(
        "{}, and went beyond that by {:.0f} %: {}; {}",
        roofline.memory_bound ? level : "arithmetic", roofline.percent - 100,
        roofline.memory_bound
            ? "data were nearer, or the machine was busy when it was measured"
            : "the schedule needs fewer operations than your loops, or units of its own for some",
        intensity);
  if (roofline.memory_bound)
    return fmt::format("{}, {:.0f} % of that; {}", level, roofline.percent, intensity);
  return fmt::format("arithmetic, {:.0f} % of it; {}, data in {}", roofline.percent, intensity,
                     roofline.level);
}

}  // namespace exotune::cli
