#include "core/ir/functions.h"

#include <unordered_map>

namespace exotune {

const std::vector<Function>& functions() {
  static const std::vector<Function> table = {
      {"fabs", 1, true, true, 1},   {"fmax", 2, true, false, 1},   {"fmin", 2, true, false, 1},
      {"relu", 1, true, false, 1},  {"select", 4, true, false, 2}, {"sqrt", 1, false, true, 8},
      {"cbrt", 1, false, true, 40}, {"hypot", 2, false, true, 20}, {"exp", 1, false, true, 40},
      {"exp2", 1, false, true, 40}, {"expm1", 1, false, true, 60}, {"log", 1, false, true, 40},
      {"log2", 1, false, true, 40}, {"log10", 1, false, true, 50}, {"log1p", 1, false, true, 60},
      {"pow", 2, false, true, 100}, {"sin", 1, false, true, 50},   {"cos", 1, false, true, 50},
      {"tan", 1, false, true, 80},  {"asin", 1, false, true, 50},  {"acos", 1, false, true, 50},
      {"atan", 1, false, true, 50}, {"atan2", 2, false, true, 80}, {"sinh", 1, false, true, 80},
      {"cosh", 1, false, true, 80}, {"tanh", 1, false, true, 80},  {"sigmoid", 1, false, false, 60},
      {"erf", 1, false, true, 60},  {"floor", 1, false, true, 2},  {"ceil", 1, false, true, 2},
      {"trunc", 1, false, true, 2}, {"round", 1, false, true, 4},  {"rint", 1, false, true, 2},
      {"fmod", 2, false, true, 40}};
  return table;
}

const Function* find_function(const std::string& name) {
  static const auto by_name = [] {
    std::unordered_map<std::string, const Function*> out;
    for (const Function& f : functions()) out.emplace(f.name, &f);
    return out;
  }();
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

}  // namespace exotune
