#include "runners/sim/figures.h"

#include <cmath>
#include <optional>

#include "core/base/diagnostic.h"

namespace exotune::sim {

namespace {

std::optional<uint64_t> whole(const std::map<std::string, double>& from, const std::string& table,
                              const std::string& name) {
  const auto it = from.find(name);
  if (it == from.end()) return std::nullopt;
  if (it->second < 0 || it->second > 1e9 || it->second != std::floor(it->second))
    throw InputError({}, "[" + table + "] " + name + " of the target is not a whole number");
  return static_cast<uint64_t>(it->second);
}

[[noreturn]] void absent(const std::string& table, const std::string& name) {
  throw InputError({}, "the simulator needs '" + name + "' in the target's [" + table + "]");
}

}  // namespace

uint64_t Figures::latency(const std::string& name) {
  asked_.insert("latency." + name);
  if (const auto value = whole(latency_, "latency", name)) return *value;
  absent("latency", name);
}

uint64_t Figures::latency(const std::string& name, uint64_t absent) {
  asked_.insert("latency." + name);
  return whole(latency_, "latency", name).value_or(absent);
}

uint64_t Figures::parameter(const std::string& name) {
  asked_.insert("parameters." + name);
  if (const auto value = whole(parameters_, "parameters", name)) return *value;
  absent("parameters", name);
}

uint64_t Figures::parameter(const std::string& name, uint64_t absent) {
  asked_.insert("parameters." + name);
  return whole(parameters_, "parameters", name).value_or(absent);
}

void Figures::refuse_unread() const {
  for (const auto& [table, values] : {std::pair{std::string("latency"), &latency_},
                                      std::pair{std::string("parameters"), &parameters_}}) {
    for (const auto& [name, value] : *values) {
      if (asked_.count(table + "." + name)) continue;
      std::vector<std::string> known;
      for (const std::string& key : asked_)
        if (key.rfind(table + ".", 0) == 0) known.push_back(key.substr(table.size() + 1));
      const std::string near = nearest(name, known);
      throw InputError({}, "nothing reads '" + name + "' of the target's [" + table + "]",
                       near.empty() ? "" : "did you mean '" + near + "'?");
    }
  }
}

}  // namespace exotune::sim
