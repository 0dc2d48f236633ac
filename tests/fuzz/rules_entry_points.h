#pragma once
// Rules and terms of the e-graph as fuzzed texts: see entry_points.h.
#include <string_view>

namespace exotune::fuzz {

/// parse_rules; what is accepted is used on a small product and a convolution, within limits. Rules
/// may be unsound, but no class may end without a type, and no limit be passed by far.
bool use_rules(std::string_view text);
/// Term::parse; what is accepted is added, printed, read back and compared.
bool read_term(std::string_view text);

}  // namespace exotune::fuzz
