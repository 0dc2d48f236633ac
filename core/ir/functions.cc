#include "core/ir/functions.h"

#include <unordered_map>

namespace exotune {

const std::vector<Function>& functions() {
  static const std::vector<Function> table = {
      {"fabs", 1, true, true},   {"fmax", 2, true, false},   {"fmin", 2, true, false},
      {"relu", 1, true, false},  {"select", 4, true, false}, {"sqrt", 1, false, true},
      {"cbrt", 1, false, true},  {"hypot", 2, false, true},  {"exp", 1, false, true},
      {"exp2", 1, false, true},  {"expm1", 1, false, true},  {"log", 1, false, true},
      {"log2", 1, false, true},  {"log10", 1, false, true},  {"log1p", 1, false, true},
      {"pow", 2, false, true},   {"sin", 1, false, true},    {"cos", 1, false, true},
      {"tan", 1, false, true},   {"asin", 1, false, true},   {"acos", 1, false, true},
      {"atan", 1, false, true},  {"atan2", 2, false, true},  {"sinh", 1, false, true},
      {"cosh", 1, false, true},  {"tanh", 1, false, true},   {"sigmoid", 1, false, false},
      {"erf", 1, false, true},   {"floor", 1, false, true},  {"ceil", 1, false, true},
      {"trunc", 1, false, true}, {"round", 1, false, true},  {"rint", 1, false, true},
      {"fmod", 2, false, true}};
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
