#pragma once
// What the environment asks of a test program: the long form, seeds, how many.
#include <cstdint>
#include <cstdlib>
#include <string>

namespace exotune::exhaustive {

/// "" when it is not set.
inline std::string variable(const char* name) {
  const char* v = std::getenv(name);
  return v ? v : "";
}
inline int64_t number(const char* name, int64_t otherwise) {
  const std::string v = variable(name);
  return v.empty() ? otherwise : std::stoll(v);
}
/// EXOTUNE_LONG is set, and not to 0.
inline bool long_form() {
  return !variable("EXOTUNE_LONG").empty() && variable("EXOTUNE_LONG") != "0";
}

}  // namespace exotune::exhaustive
