#include "runners/line_timing.h"

#include <algorithm>

namespace exotune {

namespace {

// A buffer outside of all caches, wherever they end, which a small machine still has.
constexpr int64_t kMostMemory = int64_t{512} << 20, kLeastMemory = int64_t{64} << 20;
constexpr int64_t kTimesNearer = 8;  // a buffer of a cache is this many times the nearer cache
constexpr int64_t kBlock = 1024;     // bytes that one iteration reads: a whole number of vectors

// A buffer that the cache before it holds nearly nothing of, and this one all.
int64_t buffer_bytes(const std::vector<int64_t>& caches, size_t level) {
  const int64_t nearer = level == 0 ? 0 : caches[level - 1];
  int64_t bytes = 0;
  if (level == caches.size())
    bytes = std::clamp(kTimesNearer * nearer, kLeastMemory, kMostMemory);
  else
    bytes = nearer == 0 ? caches[level] / 2 : std::min(caches[level] / 2, kTimesNearer * nearer);
  return std::max(kBlock, bytes / kBlock * kBlock);
}

std::string text_for(size_t level, int64_t bytes, int vector_bytes) {
  const int vectors = static_cast<int>(kBlock) / vector_bytes;
  // Enough chains to hide the latency of additions: loads are what is timed.
  constexpr int kSums = 8;
  std::string sums, reads, all;
  for (int k = 0; k < kSums; ++k) {
    const std::string sum = "s" + std::to_string(k);
    sums += (k > 0 ? ", " : "") + sum + " = {0}";
    all += (k > 0 ? " ^ " : "") + sum;
  }
  for (int v = 0; v < vectors; ++v)
    reads += "      s" + std::to_string(v % kSums) + " ^= w[" + std::to_string(v) + "];\n";
  return "void exo_lines_" + std::to_string(level) + "(int64_t steps, char* m) {\n" +
         "  exo_lines_vector " + sums + ";\n  for (int64_t i = 0; i < steps; ++i) {\n" +
         "    for (const char* p = m; p < m + " + std::to_string(bytes) +
         "; p += " + std::to_string(kBlock) +
         ") {\n      const exo_lines_vector* w = (const exo_lines_vector*)p;\n" + reads +
         "    }\n    __asm__ volatile(\"\" : : : \"memory\");\n  }\n" +
         "  *(exo_lines_vector*)m = " + all + ";\n}\n";
}

}  // namespace

std::vector<double> time_lines(const std::vector<int64_t>& caches, int line_bytes, int vector_bytes,
                               const TargetToolchain& toolchain, const LoopTimingOptions& options) {
  const int width = std::clamp(vector_bytes, 8, 64);
  std::vector<LoopUnit> units;
  for (size_t level = 0; level <= caches.size(); ++level) {
    LoopUnit unit;
    unit.globals = {
        "#include <stdint.h>\ntypedef int64_t exo_lines_vector __attribute__((vector_size(" +
        std::to_string(width) + "), aligned(8), may_alias));"};
    unit.memory_bytes = buffer_bytes(caches, level);
    unit.text = text_for(level, unit.memory_bytes, width);
    unit.functions = {{"exo_lines_" + std::to_string(level),
                       static_cast<double>(unit.memory_bytes / std::max(1, line_bytes))}};
    units.push_back(std::move(unit));
  }
  std::vector<double> out;
  for (const std::vector<LoopTiming>& unit : time_loops(units, toolchain, options))
    out.push_back(unit.front().cycles);
  return out;
}

}  // namespace exotune
