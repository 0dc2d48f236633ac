#pragma once
// What is fuzzed: each function takes any text whatsoever and returns true when it was accepted.
// All that may come out is a user's Error; anything else (InternalError, std::exception, a crash, a
// sanitizer's report) is a bug. Used by the libFuzzer programs and by the in-suite mutation test.
#include <string>
#include <string_view>

namespace exotune::fuzz {

/// parse_module; what is accepted is printed, read back and compared.
bool read_module(std::string_view text);
/// parse_pattern and find_all in a fixed proc; the pattern of each match leads back to it.
bool find_pattern(std::string_view text);
/// parse_schedule and run_script on a small matrix product, at most `max_steps` operators. A result
/// is printed and read back, and its trace replayed.
bool run_schedule(std::string_view text, int max_steps = 40);
/// parse_control_expr, parse_expr and parse_window in a fixed scope.
bool read_expression(std::string_view text);

}  // namespace exotune::fuzz
