#pragma once
// The tables, and how an older database becomes a current one. Each step of the list is what one
// released version added; the number of steps applied is SQLite's user_version.
#include <string>
#include <vector>

namespace exotune {

/// Marks the file as ours (SQLite's application_id): "ExoT".
inline constexpr int kApplicationId = 0x45786f54;

/// SQL by step: steps()[k] brings version k to k + 1.
const std::vector<std::string>& schema_steps();

inline int current_schema_version() { return static_cast<int>(schema_steps().size()); }

}  // namespace exotune
