#include "cli/machine_text.h"

#include <fmt/format.h>

#include "hw/machine_model.h"
#include "search/figures.h"
#include "search/phase_budget.h"

namespace exotune::cli {

std::vector<std::string> model_lines(const Target& target, const Machine& machine,
                                     const Store* store) {
  std::vector<std::string> lines;
  const MachineModel model = model_of(target, machine, figures_of(target, machine, store).lines);
  for (const ModelledNumber& n : model.numbers)
    lines.push_back(n.unit == "bytes"
                        ? fmt::format("{}: {:.0f} bytes ({})", n.what, n.value, n.source)
                        : fmt::format("{}: {:g} {} ({})", n.what, n.value, n.unit, n.source));
  lines.push_back(fmt::format("registers: {} of {} bits (target text)",
                              target.vector_memory ? target.vector_memory->count : 0,
                              target.vector_bits));
  for (const auto& [type, operations] : target.peak)
    lines.push_back(
        fmt::format("peak {}: {:g} operations a cycle (target text)", name_of(type), operations));
  for (const auto& [what, cycles] : target.latency)
    if (what != "fma" && what != "load")  // of the model above
      lines.push_back(fmt::format("latency {}: {:g} cycles (target text)", what, cycles));
  return lines;
}

std::string reckoning_text(const TuneRequest& request, const Store* store) {
  std::string text;
  for (const std::string& line : model_lines(*request.target, request.machine, store))
    text += "  " + line + "\n";
  text +=
      fmt::format("  plans: {} asked for, at most {} Specs\n", request.dp_plans, request.dp_specs);
  text += fmt::format("  finals: the {} best, {} rounds\n", request.top_k, request.rounds);
  const BudgetShares s;
  text += fmt::format(
      "  shares of the time: {:g} what must come out, {:g} the nest as written, {:g} of the rest "
      "proposing, {:g} of that planning, {:g} kept for the finals (at most {:g} s), {:g} of which "
      "other sizes, {:g} of the rest the shoot-out\n",
      s.reference, s.written, s.search, s.plan, s.finals, s.finals_most, s.other_sizes, s.shootout);
  return text;
}

}  // namespace exotune::cli
