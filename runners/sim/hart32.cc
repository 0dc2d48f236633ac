#include "runners/sim/hart_loop.h"

namespace exotune::sim {

template Hart<uint32_t>::Leave Hart<uint32_t>::loop<false>(uint64_t);
template Hart<uint32_t>::Leave Hart<uint32_t>::loop<true>(uint64_t);

}  // namespace exotune::sim
