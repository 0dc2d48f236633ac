#include "runners/sim/devices.h"

#include "core/base/diagnostic.h"
#include "runners/sim/gemmini.h"
#include "runners/sim/tile_unit.h"

namespace exotune::sim {

std::map<std::string, DeviceMaker> shipped_devices() {
  return {
      {"rvm",
       [](Figures& f) -> DevicePtr {
         return std::make_unique<TileUnit>(TileUnit::Timing::read(f));
       }},
      {"gemmini",
       [](Figures& f) -> DevicePtr { return std::make_unique<Gemmini>(GemminiFigures::read(f)); }},
  };
}

DevicePtr make_device(const std::string& extension, Figures& figures,
                      const std::map<std::string, DeviceMaker>& makers) {
  if (extension.empty()) return nullptr;
  if (const auto it = makers.find(extension); it != makers.end()) return it->second(figures);
  std::vector<std::string> known;
  std::string all;
  for (const auto& [name, maker] : makers) {
    known.push_back(name);
    all += (all.empty() ? "it has " : ", ") + name;
  }
  const std::string near = nearest(extension, known);
  throw InputError({}, "the simulator has no extension '" + extension + "'",
                   near.empty() ? all : "did you mean '" + near + "'?");
}

}  // namespace exotune::sim
