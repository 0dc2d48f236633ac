// libFuzzer program: see entry_points.h.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/entry_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  exotune::fuzz::find_pattern({reinterpret_cast<const char*>(data), size});
  return 0;
}
