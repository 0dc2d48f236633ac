#pragma once
// The device models that ship. A target names one by `extension = "NAME"` in its [runner]; another
// may be registered by whoever links one.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runners/sim/device.h"
#include "runners/sim/figures.h"

namespace exotune::sim {

/// Makes a device with the target's figures; throws InputError for figures it cannot work with.
using DeviceMaker = std::function<DevicePtr(Figures&)>;

/// Those that ship, by the name of their extension.
std::map<std::string, DeviceMaker> shipped_devices();

/// The device for `extension`; null for "". InputError for a name that `makers` lacks.
DevicePtr make_device(const std::string& extension, Figures& figures,
                      const std::map<std::string, DeviceMaker>& makers);

}  // namespace exotune::sim
