#pragma once
// The small languages of option values: durations (10m, 2s, 500ms), percentages (80%), sizes
// (M=512,N=512) and size sweeps (a:b:step). Each refuses with an InputError that names the option.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace exotune::cli {

using Sizes = std::map<std::string, int64_t>;  // sorted by name, as the database keys them

/// Seconds of "90", "90s", "10m", "1.5h" or "500ms"; positive.
double parse_duration(const std::string& option, const std::string& text);

/// Like a duration, with days too and 0 allowed: "30d", "12h", "0d".
double parse_age(const std::string& option, const std::string& text);

/// 0.8 of "80%" or "0.8"; within (0, 1].
double parse_fraction(const std::string& option, const std::string& text);

/// "M=512,N=512,K=512": every value positive, no name twice.
Sizes parse_sizes(const std::string& option, const std::string& text);

/// The value of --sizes: "16:256:16" (first, last, step: the same number for each of `names`) or a
/// file with one "M=..,N=.." per line ('#' starts a comment).
std::vector<Sizes> parse_size_sweep(const std::string& text, const std::vector<std::string>& names);

/// "K=512,M=512,N=512".
std::string str(const Sizes& sizes);

}  // namespace exotune::cli
