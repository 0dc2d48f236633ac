// Gemmini: the array.
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "runners/sim/gemmini.h"

namespace exotune::sim {

namespace {

// sums[j] += left[k] * right[k][j] for an even count of k, two at a time: the two rows of `right`
// lie element by element side by side (see Gemmini::weight), as machines multiply and add them.
void add_products(int32_t* sums, const int16_t* left, size_t count, const int16_t* right,
                  size_t columns) {
  for (size_t k = 0; k < count; k += 2, right += 2 * columns)
    for (size_t j = 0; j < columns; ++j)
      sums[j] += left[k] * right[2 * j] + left[k + 1] * right[2 * j + 1];
}

#ifdef __SSE2__
// The same for sixteen columns, which stay in registers.
void add_products_of_16(int32_t* sums, const int16_t* left, size_t count, const int16_t* right) {
  __m128i sum[4];
  for (int v = 0; v < 4; ++v)
    sum[v] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(sums + 4 * v));
  for (size_t k = 0; k < count; k += 2, right += 32) {
    int32_t both = 0;
    std::memcpy(&both, left + k, sizeof both);
    for (int v = 0; v < 4; ++v) {
      const __m128i rows = _mm_loadu_si128(reinterpret_cast<const __m128i*>(right + 8 * v));
      sum[v] = _mm_add_epi32(sum[v], _mm_madd_epi16(_mm_set1_epi32(both), rows));
    }
  }
  for (int v = 0; v < 4; ++v) _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + 4 * v), sum[v]);
}
#endif

}  // namespace

// The weights that preload named, as the array will hold them: zero outside their extent.
std::string Gemmini::take_weights() {
  const GemminiTile& w = weights_;
  std::fill(next_array_.begin(), next_array_.end(), int16_t{0});
  if (w.none) return "";
  if (w.accumulator) return "preload of weights from the accumulator";
  const bool transposed = execute_settings_.transpose_b;
  if (const std::string why = local_.refusal(false, w.row, transposed ? w.columns : w.rows);
      !why.empty())
    return "preload of " + why;
  for (uint64_t k = 0; k < w.rows; ++k)
    for (uint64_t j = 0; j < w.columns; ++j)
      next_array_[weight(k, j)] =
          transposed ? local_.scratch(w.row + j)[k] : local_.scratch(w.row + k)[j];
  return "";
}

std::string Gemmini::check_compute(const GemminiTile& a, const GemminiTile& d) {
  const ExecuteSettings& s = execute_settings_;
  const uint64_t size = figures_.size;
  if (!s.set) return "compute before config_ex";
  if (!preloaded_) return "compute before preload";
  if (a.none || a.accumulator || (!d.none && d.accumulator))
    return "compute with an operand outside the scratchpad";
  if (a.rows > size || a.columns > size || d.rows > size || d.columns > size)
    return "compute on more than a tile";
  const uint64_t a_rows = s.transpose_a ? a.columns : a.rows;
  for (const auto& [accumulator, row, rows, stride, what] :
       {std::tuple{false, a.row, a_rows, s.a_stride, "compute on "},
        std::tuple{false, d.row, d.none ? 0 : d.rows, uint64_t{1}, "compute on "},
        std::tuple{result_.accumulator, result_.row, result_.none ? 0 : result_.rows, s.c_stride,
                   "compute into "}})
    if (rows > 0)
      if (const std::string why = local_.refusal(accumulator, row, (rows - 1) * stride + 1);
          !why.empty())
        return what + why;
  return "";
}

void Gemmini::multiply(const GemminiTile& a, const GemminiTile& d) {
  const uint64_t size = figures_.size;
  const ExecuteSettings& s = execute_settings_;
  const auto add = [&](uint64_t count) {
#ifdef __SSE2__
    if (size == 16)
      return add_products_of_16(row_sums_.data(), row_left_.data(), count, array_.data());
#endif
    add_products(row_sums_.data(), row_left_.data(), count, array_.data(), size);
  };
  const uint64_t rows = result_.none ? 0 : result_.rows;
  for (uint64_t i = 0; i < rows; ++i) {
    std::fill(row_sums_.begin(), row_sums_.end(), 0);
    if (!d.none && i < d.rows) std::copy_n(local_.scratch(d.row + i), d.columns, row_sums_.begin());
    const uint64_t count = i < a.rows ? a.columns : 0;
    for (uint64_t k = 0; k < count; ++k)
      row_left_[k] = s.transpose_a ? local_.scratch(a.row + k * s.a_stride)[i]
                                   : local_.scratch(a.row + i * s.a_stride)[k];
    if (count % 2 != 0) row_left_[count] = 0;
    add(count + count % 2);
    keep_row(result_.row + i * s.c_stride);
  }
}

// A row of sums goes to the place of the result.
void Gemmini::keep_row(uint64_t row) {
  for (uint64_t j = 0; j < result_.columns; ++j) {
    if (result_.accumulator) {
      int32_t& sum = local_.sums(row)[j];
      sum = static_cast<int32_t>(static_cast<uint32_t>(row_sums_[j]) +
                                 (result_.accumulate ? static_cast<uint32_t>(sum) : 0u));
    } else {
      const int32_t low = execute_settings_.activation == 1 ? 0 : -128;
      local_.scratch(row)[j] = static_cast<int8_t>(std::clamp(row_sums_[j], low, 127));
    }
  }
}

// After what loads and other tiles bring, and after what still has to leave the place of the
// result.
uint64_t Gemmini::compute_start(const GemminiTile& a, const GemminiTile& d, bool with_preload,
                                uint64_t now) {
  const ExecuteSettings& s = execute_settings_;
  uint64_t start = std::max(now, array_free_);
  const auto wait_for_operand = [&](const GemminiTile& t, uint64_t rows, uint64_t stride) {
    for (uint64_t r = 0; r < rows && !t.none; ++r) {
      const GemminiMemory::Times& times = local_.times(t.accumulator, t.row + r * stride);
      start = std::max({start, times.loaded, times.computed});
    }
  };
  wait_for_operand(a, s.transpose_a ? a.columns : a.rows, s.a_stride);
  wait_for_operand(d, d.rows, 1);
  if (with_preload) wait_for_operand(weights_, s.transpose_b ? weights_.columns : weights_.rows, 1);
  for (uint64_t r = 0; r < result_.rows && !result_.none; ++r) {
    const GemminiMemory::Times& times =
        local_.times(result_.accumulator, result_.row + r * s.c_stride);
    start = std::max({start, times.loaded, times.stored});
  }
  return start;
}

std::string Gemmini::compute(uint64_t rs1, uint64_t rs2, bool with_preload, uint64_t now) {
  const GemminiTile a = GemminiTile::of(rs1), d = GemminiTile::of(rs2);
  const ExecuteSettings& s = execute_settings_;
  if (std::string fault = check_compute(a, d); !fault.empty()) return fault;
  if (with_preload) array_ = next_array_;
  multiply(a, d);
  const uint64_t start = compute_start(a, d, with_preload, now);
  const uint64_t cycles = with_preload
                              ? figures_.execute_cycles
                              : std::min(figures_.execute_cycles, std::max<uint64_t>(1, a.rows));
  const uint64_t read = start + cycles, end = read + figures_.mesh;
  array_free_ = read;
  array_busy_ += cycles;
  const auto mark = [&](const GemminiTile& t, uint64_t rows, uint64_t stride,
                        uint64_t GemminiMemory::Times::*which, uint64_t when) {
    for (uint64_t r = 0; r < rows && !t.none; ++r) {
      uint64_t& time = local_.times(t.accumulator, t.row + r * stride).*which;
      time = std::max(time, when);
    }
  };
  mark(a, s.transpose_a ? a.columns : a.rows, s.a_stride, &GemminiMemory::Times::used, read);
  mark(d, d.rows, 1, &GemminiMemory::Times::used, read);
  if (with_preload)
    mark(weights_, s.transpose_b ? weights_.columns : weights_.rows, 1, &GemminiMemory::Times::used,
         read);
  mark(result_, result_.rows, s.c_stride, &GemminiMemory::Times::computed, end);
  // The entries of this command and of its preload.
  executes_.ends[(executes_.next + executes_.ends.size() - 1) % executes_.ends.size()] = end;
  executes_.leave(end);
  return "";
}

}  // namespace exotune::sim
