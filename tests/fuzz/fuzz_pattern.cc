// libFuzzer program: see entry_points.h.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/entry_points.h"
#include "tests/fuzz/seeds.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  exotune::fuzz::write_seeds(exotune::fuzz::kPatterns, *argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  exotune::fuzz::find_pattern({reinterpret_cast<const char*>(data), size});
  return 0;
}
