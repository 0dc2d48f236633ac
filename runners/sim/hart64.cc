#include "runners/sim/hart_loop.h"

namespace exotune::sim {

template Hart<uint64_t>::Leave Hart<uint64_t>::loop<false>(uint64_t);
template Hart<uint64_t>::Leave Hart<uint64_t>::loop<true>(uint64_t);

}  // namespace exotune::sim
