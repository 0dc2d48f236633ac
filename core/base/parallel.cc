#include "core/base/parallel.h"

#include <tbb/parallel_for.h>

namespace exotune {

void in_parallel(size_t count, const std::function<void(size_t)>& task) {
  tbb::parallel_for(size_t{0}, count, [&](size_t k) { task(k); });
}

}  // namespace exotune
