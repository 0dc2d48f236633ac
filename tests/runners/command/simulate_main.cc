// simulate ELF ISA [EXTENSION]: a stand-in for other simulators. Prints the program's console.
#include <iostream>

#include "core/base/diagnostic.h"
#include "runners/sim/devices.h"
#include "runners/sim/simulation.h"

int main(int argc, char** argv) {
  using namespace exotune;
  try {
    if (argc < 3) return 2;
    sim::SimulationOptions options;
    options.isa = sim::Isa::parse(argv[2]);
    sim::Figures figures;
    const sim::DevicePtr device =
        sim::make_device(argc > 3 ? argv[3] : "", figures, sim::shipped_devices());
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
