#pragma once
// The peers of this machine, found once for all tests, with an environment set to mislead them.
#include <stdlib.h>

#include "runners/peers.h"
#include "tests/runners/shipped_targets.h"

namespace exotune::samples {

inline const PeerReport& shared_peers() {
  static const PeerReport report = [] {
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    setenv("BLIS_ARCH_TYPE", "5", 1);
    PeerOptions options;
    options.cache_directory = std::string(EXOTUNE_BINARY_DIR) + "/peers";
    return discover_peers(widest_toolchain(), options);
  }();
  return report;
}

}  // namespace exotune::samples
