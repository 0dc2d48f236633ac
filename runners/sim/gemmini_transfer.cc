// Gemmini: loads and stores.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "runners/sim/gemmini.h"

namespace exotune::sim {

namespace {

std::string fault_at(const std::string& what, uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof text, " 0x%08llx", static_cast<unsigned long long>(address));
  return what + text;
}

// Times a factor in f32, rounded to even, saturated.
int8_t scaled(int32_t value, float scale) {
  const float wide = std::nearbyint(static_cast<float>(value) * scale);
  return static_cast<int8_t>(std::isnan(wide) ? 0 : std::clamp(wide, -128.0f, 127.0f));
}

/// What the host's floating-point unit is used for here is none of the simulated processor's.
class OwnFloats {
 public:
  OwnFloats() { std::fegetenv(&before_); }
  ~OwnFloats() { std::fesetenv(&before_); }
  OwnFloats(const OwnFloats&) = delete;
  OwnFloats& operator=(const OwnFloats&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace

// One row of memory into one row of each block.
std::string Gemmini::load_row(const LoadSettings& s, const GemminiTile& t, uint64_t from,
                              uint64_t row, const Memory& memory) {
  const uint64_t size = figures_.size;
  const bool words = t.accumulator && !s.narrow;
  const bool zeros = from == 0;
  const uint64_t address = from + row * s.stride;
  if (!zeros && !memory.holds(address, t.columns * (words ? 4 : 1)))
    return fault_at("mvin from outside memory at", address);
  for (uint64_t block = 0; block * size < t.columns; ++block) {
    const uint64_t first = block * size, count = std::min(size, t.columns - first);
    const uint64_t to = t.row + row + block * s.block_stride;
    const uint8_t* const source = zeros ? nullptr : memory.at(address + first * (words ? 4 : 1));
    for (uint64_t repeat = 0; repeat < s.repeats && repeat <= to; ++repeat) {
      const uint64_t shift = repeat * t.columns;
      if (shift + count > size) return "mvin of repeated columns beyond a row";
      int32_t* const sums = t.accumulator ? local_.sums(to - repeat) + shift : nullptr;
      int8_t* const scratch = t.accumulator ? nullptr : local_.scratch(to - repeat) + shift;
      for (uint64_t k = 0; k < count; ++k) {
        int32_t value = 0;
        if (!zeros && words)
          std::memcpy(&value, source + 4 * k, 4);
        else if (!zeros)
          value = s.scale == 1 ? static_cast<int8_t>(source[k])
                               : scaled(static_cast<int8_t>(source[k]), s.scale);
        if (scratch != nullptr)
          scratch[k] = static_cast<int8_t>(value);
        else
          sums[k] = static_cast<int32_t>(static_cast<uint32_t>(value) +
                                         (t.accumulate ? static_cast<uint32_t>(sums[k]) : 0u));
      }
    }
  }
  return "";
}

std::string Gemmini::load(int settings, uint64_t rs1, uint64_t rs2, uint64_t now, Memory& memory) {
  const LoadSettings& s = load_settings_[static_cast<size_t>(settings)];
  const GemminiTile t = GemminiTile::of(rs2);
  const uint64_t size = figures_.size;
  if (!s.set && rs1 != 0) return "mvin before config_ld of its settings";
  if (t.none) return "mvin without a local address";
  if (t.rows > size || t.columns > (t.accumulator ? size : 4 * size))
    return "mvin of " + std::to_string(t.rows) + " rows and " + std::to_string(t.columns) +
           " columns";
  const OwnFloats floats;
  const uint64_t blocks = (t.columns + size - 1) / size;
  uint64_t start = std::max(now, mvin_ends_[next_mvin_]);
  for (uint64_t block = 0; block < blocks; ++block) {
    const uint64_t row = t.row + block * s.block_stride;
    if (const std::string why = local_.refusal(t.accumulator, row, t.rows); !why.empty())
      return "mvin to " + why;
    for (uint64_t r = 0; r < t.rows; ++r) {
      const GemminiMemory::Times& times = local_.times(t.accumulator, row + r);
      start = std::max({start, times.computed, times.used, times.stored});
    }
  }
  uint64_t end = start;
  for (uint64_t row = 0; row < t.rows; ++row) {
    if (std::string fault = load_row(s, t, rs1, row, memory); !fault.empty()) return fault;
    const uint64_t bytes = t.columns * (t.accumulator && !s.narrow ? 4 : 1);
    end = rs1 == 0 ? start + row + 1
                   : std::max(end, in_.transfer(start + row, rs1 + row * s.stride, bytes));
  }
  for (uint64_t block = 0; block < blocks; ++block)
    for (uint64_t r = 0; r < t.rows; ++r) {
      uint64_t& loaded = local_.times(t.accumulator, t.row + block * s.block_stride + r).loaded;
      loaded = std::max(loaded, end);
    }
  mvin_ends_[next_mvin_] = end;
  next_mvin_ = (next_mvin_ + 1) % mvin_ends_.size();
  load_busy_ += end - std::min(end, std::max(start, loads_.last_end));
  loads_.leave(end);
  return "";
}

// What leaves the accumulator for a byte: scaled, rounded, saturated, then rectified.
int8_t Gemmini::stored_value(const GemminiTile& t, uint64_t row, uint64_t column) {
  if (!t.accumulator) return local_.scratch(row)[column];
  const int8_t value = scaled(local_.sums(row)[column], store_settings_.scale);
  return store_settings_.activation == 1 ? std::max<int8_t>(value, 0) : value;
}

std::string Gemmini::store_rows(const GemminiTile& t, uint64_t to, uint64_t start, Memory& memory) {
  const uint64_t size = figures_.size;
  const bool words = t.accumulator && t.full;
  const uint64_t bytes = t.columns * (words ? 4 : 1);
  uint64_t end = start;
  for (uint64_t row = 0; row < t.rows; ++row) {
    const uint64_t address = to + row * store_settings_.stride;
    if (!memory.may_write(address, bytes))
      return fault_at("mvout to a place that cannot be written,", address);
    for (uint64_t k = 0; k < t.columns; ++k) {
      const uint64_t from = t.row + k / size * size + row;
      if (words)
        memory.write(address + 4 * k, local_.sums(from)[k % size]);
      else
        memory.write(address + k, stored_value(t, from, k % size));
    }
    end = std::max(end, out_.transfer(start + row + (t.accumulator ? figures_.accumulator_read : 0),
                                      address, bytes));
  }
  stores_.leave(end);
  return "";
}

// The maximum over a window of pixels, each a row; pixels outside count as zero.
std::string Gemmini::store_pooled(const GemminiTile& t, uint64_t to, uint64_t start,
                                  Memory& memory) {
  const StoreSettings& s = store_settings_;
  uint64_t at = start + (t.accumulator ? figures_.accumulator_read : 0), end = at;
  for (uint64_t y = 0; y < s.pool_rows; ++y)
    for (uint64_t x = 0; x < s.pool_columns; ++x) {
      const uint64_t address = to + (y * s.out_columns + x) * s.stride;
      if (!memory.may_write(address, t.columns))
        return fault_at("mvout to a place that cannot be written,", address);
      for (uint64_t c = 0; c < t.columns; ++c) {
        int8_t most = -128;
        for (uint64_t window = 0; window < s.pool_size * s.pool_size; ++window) {
          const uint64_t row = y * s.pool_stride + window / s.pool_size - s.pad_up,
                         column = x * s.pool_stride + window % s.pool_size - s.pad_left;
          const bool inside = row < s.rows && column < s.columns;  // negative ones wrap around
          most = std::max<int8_t>(
              most, inside ? stored_value(t, t.row + row * s.columns + column, c) : 0);
        }
        memory.write(address + c, most);
      }
      at += s.pool_size * s.pool_size;  // one row a cycle
      end = std::max(end, out_.transfer(at, address, t.columns));
    }
  stores_.leave(end);
  return "";
}

std::string Gemmini::store(uint64_t rs1, uint64_t rs2, uint64_t now, Memory& memory) {
  const StoreSettings& s = store_settings_;
  const GemminiTile t = GemminiTile::of(rs2);
  const uint64_t size = figures_.size;
  const bool pooled = s.pool_stride != 0;
  if (!s.set) return "mvout before config_st";
  if (t.none) return "mvout without a local address";
  if (t.columns > (pooled ? size : 4 * size) || (!pooled && t.rows > size))
    return "mvout of " + std::to_string(t.rows) + " rows and " + std::to_string(t.columns) +
           " columns";
  const OwnFloats floats;
  const uint64_t blocks = pooled ? 1 : (t.columns + size - 1) / size;
  const uint64_t rows = pooled ? s.rows * s.columns : t.rows;
  uint64_t start = std::max(now, stores_.last_end);
  for (uint64_t block = 0; block < blocks; ++block) {
    if (const std::string why = local_.refusal(t.accumulator, t.row + block * size, rows);
        !why.empty())
      return "mvout of " + why;
    for (uint64_t r = 0; r < rows; ++r) {
      const GemminiMemory::Times& times = local_.times(t.accumulator, t.row + block * size + r);
      start = std::max({start, times.loaded, times.computed});
    }
  }
  if (std::string fault =
          pooled ? store_pooled(t, rs1, start, memory) : store_rows(t, rs1, start, memory);
      !fault.empty())
    return fault;
  const uint64_t end = stores_.last_end;
  store_busy_ += end - start;
  for (uint64_t block = 0; block < blocks; ++block)
    for (uint64_t r = 0; r < rows; ++r)
      local_.times(t.accumulator, t.row + block * size + r).stored = end;
  return "";
}

}  // namespace exotune::sim
