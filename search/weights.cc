#include "search/weights.h"

#include <cmath>

#include "core/base/hashing.h"
#include "cost/machine_figures.h"

namespace exotune {

namespace {

// Changes whenever the same name begins to count something else.
constexpr const char* kTermModel = "terms 2";
constexpr const char* kHidden = "hidden share";
std::string not_for(const std::string& operation) { return "not for " + operation; }

}  // namespace

FigureKey weights_key(const Target& target, const Machine& machine,
                      const InstructionFigures& instructions) {
  std::string text = target.hash + "\n" + kTermModel + identity_of(instructions);
  for (const std::string& name : term_names()) text += "\n" + name;
  return {target.name, content_hash(text), machine.microarch, "weights"};
}

CostWeights unfitted_weights(const Target& target, const Machine& machine, const Store* store,
                             CostBasis basis) {
  return default_weights(
      cost_machine(target, machine.levels_of(target), figures_of(target, machine, store, basis)));
}

CostWeights weights_of(const Target& target, const Machine& machine, const Store* store,
                       const std::string& operation, CostBasis basis) {
  CostWeights out = unfitted_weights(target, machine, store, basis);
  if (!store || basis != CostBasis::kAll) return out;
  const Figures figures = store->figures(weights_key(target, machine, out.machine.instructions));
  if (figures.empty() || figures.count(not_for(operation))) return out;
  out.fitted = true;
  const std::vector<std::string> names = term_names();
  for (size_t k = 0; k < kTerms; ++k)
    if (const auto it = figures.find(names[k]); it != figures.end()) out.cycles[k] = it->second;
  if (const auto it = figures.find(kHidden); it != figures.end()) out.hidden = it->second;
  return out;
}

TargetFigures dp_figures(const Target& target, const Machine& machine, const Store* store,
                         const std::string& operation, CostBasis basis) {
  TargetFigures out = figures_of(target, machine, store, basis);
  const CostWeights weights = weights_of(target, machine, store, operation, basis);
  if (!weights.fitted) return out;
  // A line into a cache lies in the next level; what one in the nearest cache costs no run tells.
  const std::vector<double> into = weights.cycles_per_line();
  for (size_t k = 0; k < into.size() && k + 1 < out.lines.size(); ++k) out.lines[k + 1] = into[k];
  return out;
}

void keep_weights(const Target& target, const Machine& machine, const CostWeights& weights,
                  const std::vector<std::string>& worse, Store& store) {
  Figures figures;
  const std::vector<std::string> names = term_names();
  for (size_t k = 0; k < kTerms; ++k) figures[names[k]] = weights.cycles[k];
  figures[kHidden] = weights.hidden;
  for (const std::string& operation : worse) figures[not_for(operation)] = 1;
  store.put_figures(weights_key(target, machine, weights.machine.instructions), figures);
}

}  // namespace exotune
