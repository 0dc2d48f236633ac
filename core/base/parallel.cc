#include "core/base/parallel.h"

#include <tbb/parallel_for.h>

#include "core/base/deadline.h"

namespace exotune {

void in_parallel(size_t count, const std::function<void(size_t)>& task) {
  // A thread that waits for its own tasks may run another's meanwhile: each has the deadline, and
  // ends the work, of whoever shared it out.
  const InheritedScope scope;
  tbb::parallel_for(size_t{0}, count, [&](size_t k) { scope.run([&] { task(k); }); });
}

}  // namespace exotune
