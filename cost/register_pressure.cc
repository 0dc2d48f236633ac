#include "cost/register_pressure.h"

#include <algorithm>
#include <vector>

namespace exotune {

namespace {

bool uses(const StmtPtr& s, Sym name) {
  return (s->bloom & name.bloom()) == name.bloom() && mentions(s, name);
}

}  // namespace

double register_pressure(const For& f, const std::map<Sym, double>& registers,
                         const std::set<Sym>& outside) {
  if (registers.empty()) return 0;
  double through = 0;
  for (const Sym s : outside)
    if (mentions(f.body, s)) through += registers.at(s);
  std::map<Sym, std::pair<size_t, size_t>> live;
  for (size_t k = 0; k < f.body.size(); ++k)
    for (const auto& [name, count] : registers)
      if (!outside.count(name) && !f.body[k]->as<Alloc>() && uses(f.body[k], name)) {
        const auto [it, fresh] = live.try_emplace(name, k, k);
        if (!fresh) it->second.second = k;
      }
  std::vector<double> at(f.body.size() + 1, 0);
  for (const auto& [name, span] : live) {
    at[span.first] += registers.at(name);
    at[span.second] -= registers.at(name);
  }
  double now = 0, most = 0;
  for (const double d : at) {
    now += d;
    most = std::max(most, now);
  }
  return through + most;
}

}  // namespace exotune
