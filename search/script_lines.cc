#include "search/script_lines.h"

namespace exotune {

std::string unit_text(const Target& target, ScalarType precision) {
  return std::to_string(target.lanes_of(precision)) + ", " + target.vector_memory->name +
         ", instrs";
}

std::string literal(const std::string& s) { return "'" + s + "'"; }

std::string block_line(const std::string& loop, const std::string& sizes, const std::string& outer,
                       const std::string& outside) {
  return "p = block_loop(p, " + literal(loop) + ", " + sizes + ", [" + literal(outer) + ", " +
         literal(loop) + "]" + (outside.empty() ? "" : ", outside=" + literal(outside)) + ")";
}

std::string halving(int64_t size, int64_t last) {
  std::string out = "[" + std::to_string(size);
  int64_t p = last;
  while (p * 2 < size) p *= 2;
  for (; p >= last; p /= 2) out += ", " + std::to_string(p);
  return out + "]";
}

}  // namespace exotune
