#include "cost/terms.h"

#include <algorithm>

#include "core/base/diagnostic.h"

namespace exotune {

const char* name_of(Term t) { return kTermRows[static_cast<size_t>(t)].name; }

std::vector<std::string> term_names() {
  std::vector<std::string> names;
  for (const TermRow& row : kTermRows) names.push_back(row.name);
  return names;
}

Term term_of(const std::string& name) {
  const std::vector<std::string> names = term_names();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<Term>(it - names.begin());
  const std::string near = nearest(name, names);
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
  throw InputError({}, "the cost has no term '" + name + "'",
                   near.empty() ? "its terms: " + all : "did you mean '" + near + "'?");
}

void Features::add(const Features& other, double times) {
  for (size_t k = 0; k < kTerms; ++k) count[k] += times * other.count[k];
}

CostWeights CostWeights::without(Term t) const {
  CostWeights out = *this;
  out[t] = 0;
  return out;
}

std::vector<double> CostWeights::cycles_per_line() const {
  std::vector<double> out;
  for (size_t k = 0; k < std::min(machine.caches.size(), kCacheTerms); ++k)
    out.push_back(cycles[static_cast<size_t>(Term::kLines1) + k]);
  return out;
}

CostWeights default_weights(const CostMachine& machine) {
  CostWeights w;
  w.machine = machine;
  for (size_t k = 0; k < kTerms; ++k) w.cycles[k] = kTermRows[k].weight;
  for (size_t k = 0; k < std::min(machine.caches.size(), kCacheTerms); ++k)
    w.cycles[static_cast<size_t>(Term::kLines1) + k] = machine.caches[k].cycles_per_line;
  return w;
}

}  // namespace exotune
