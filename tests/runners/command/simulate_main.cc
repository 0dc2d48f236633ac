// simulate ELF ISA [TARGET]: a stand-in for other simulators, with the extension of a target that
// ships. Prints the program's console.
#include <iostream>

#include "core/base/diagnostic.h"
#include "hw/target.h"
#include "runners/sim/devices.h"
#include "runners/sim/simulation.h"

int main(int argc, char** argv) {
  using namespace exotune;
  try {
    if (argc < 3) return 2;
    sim::SimulationOptions options;
    options.isa = sim::Isa::parse(argv[2]);
    sim::Figures figures;
    std::string extension;
    if (argc > 3) {
      const TargetPtr target =
          load_target(argv[3], {std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
      figures = sim::Figures(target->latency, target->parameters);
      extension = target->runner.options.at("extension");
    }
    const sim::DevicePtr device = sim::make_device(extension, figures, sim::shipped_devices());
    const sim::SimulationResult result =
        sim::simulate(sim::ElfImage::read(argv[1]), options, device.get());
    std::cout << result.console;
    if (!result.cause.empty()) std::cerr << result.cause << '\n';
    return static_cast<int>(result.exit_code & 255);
  } catch (const Error& error) {
    std::cerr << error.what();
    return 2;
  }
}
