#pragma once
// The text of script lines that several kinds of moves are made of.
#include <cstdint>
#include <string>

#include "hw/target.h"

namespace exotune {

/// The script's vector-unit arguments: lanes, register file, instructions.
std::string unit_text(const Target& target, ScalarType precision);

/// 'name'
std::string literal(const std::string& s);

/// "p = block_loop(p, 'k', 256, ['ko', 'k'], outside='i')"; `outside` may be "".
std::string block_line(const std::string& loop, const std::string& sizes, const std::string& outer,
                       const std::string& outside);

/// 8 -> [8, 4, 2, 1]: for a boundary whose extent is not known.
std::string halving(int64_t size, int64_t last);

}  // namespace exotune
