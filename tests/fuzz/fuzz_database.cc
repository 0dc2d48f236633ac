// libFuzzer program: see database_entry_points.h.
#include <cstddef>
#include <cstdint>

#include "tests/db/sample_records.h"
#include "tests/fuzz/database_entry_points.h"
#include "tests/fuzz/seeds.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  exotune::fuzz::write_seeds({exotune::samples::sample_file()}, *argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  exotune::fuzz::open_database({reinterpret_cast<const char*>(data), size});
  return 0;
}
