// libFuzzer program: rules and terms of the e-graph (rules_entry_points.h).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/rules_entry_points.h"
#include "tests/fuzz/seeds.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  exotune::fuzz::write_seeds(exotune::fuzz::kTerms, *argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  exotune::fuzz::read_term(text);
  exotune::fuzz::use_rules(text);
  return 0;
}
