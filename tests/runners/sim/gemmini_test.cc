#include "runners/sim/gemmini.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace exotune::sim {
namespace {

constexpr uint64_t kBase = 0x80000000, kNone = 0xffffffff, kSums = 0x80000000, kAdd = 0x40000000,
                   kWhole = 0x20000000;
enum : uint32_t {
  kConfigure = 0,
  kMvin2 = 1,
  kMvin = 2,
  kMvout = 3,
  kPreloaded = 4,
  kAccumulated = 5,
  kPreload = 6,
  kFlush = 7,
  kMvin3 = 14
};

uint64_t tile(uint64_t local, uint64_t rows, uint64_t columns) {
  return local | columns << 32 | rows << 48;
}
uint64_t float_bits(float x) { return std::bit_cast<uint32_t>(x); }

struct Array {
  explicit Array(const GemminiFigures& figures = {}) : device(figures), memory(kBase, 0x10000) {}
  std::string issue(uint32_t upper, uint64_t rs1, uint64_t rs2) {
    const uint32_t word = upper << 25 | 11u << 20 | 10u << 15 | 3u << 12 | 0x7b;
    const Device::Reply reply = device.execute({word, rs1, rs2, now}, memory);
    now = reply.next;
    return reply.fault;
  }
  void configure(float scale = 1, bool rectify = false, uint64_t transposes = 0) {
    issue(kConfigure, uint64_t{1} << 16 | 4 | transposes << 8, uint64_t{1} << 48);
    for (uint64_t set = 0; set < 3; ++set) load_settings(set, 16, 1);
    issue(kConfigure, (rectify ? 4u : 0u) | 2, float_bits(scale) << 32 | 16);
  }
  std::string load_settings(uint64_t set, uint64_t stride, float scale, bool narrow = false,
                            uint64_t repeats = 1) {
    return issue(kConfigure,
                 float_bits(scale) << 32 | uint64_t{16} << 16 | repeats << 8 | set << 3 |
                     (narrow ? 4u : 0u) | 1,
                 stride);
  }
  std::string store_settings(uint64_t stride, float scale = 1, uint64_t more = 0) {
    return issue(kConfigure, more | 2, float_bits(scale) << 32 | stride);
  }
  /// The byte at (row, column) of a tile of 16 bytes a row.
  int8_t& at(uint64_t offset, uint64_t row, uint64_t column) {
    return *reinterpret_cast<int8_t*>(memory.at(kBase + offset + 16 * row + column));
  }
  int32_t& word_at(uint64_t offset, uint64_t k) {
    return *reinterpret_cast<int32_t*>(memory.at(kBase + offset + 4 * k));
  }
  void fill(uint64_t offset, int seed) {
    for (uint64_t i = 0; i < 16; ++i)
      for (uint64_t j = 0; j < 16; ++j)
        at(offset, i, j) = static_cast<int8_t>(
            static_cast<int>(i * 31 + j * 17 + static_cast<uint64_t>(seed)) % 255 - 127);
  }
  Gemmini device;
  Memory memory;
  uint64_t now = 0;
};

constexpr uint64_t kA = 0, kB = 0x100, kOut = 0x1000, kD = 0x2000;

// All of one product of tiles, out as words.
void expect_product(uint64_t transposes, bool with_d) {
  Array g;
  g.fill(kA, 3), g.fill(kB, 90), g.fill(kD, 41);
  g.configure(1, false, transposes);
  ASSERT_EQ(g.issue(kMvin, kBase + kA, tile(0, 16, 16)), "");
  g.issue(kMvin2, kBase + kB, tile(16, 16, 16));
  g.issue(kMvin3, kBase + kD, tile(32, 16, 16));
  g.store_settings(64);
  ASSERT_EQ(g.issue(kPreload, tile(16, 16, 16), tile(kSums, 16, 16)), "");
  ASSERT_EQ(g.issue(kPreloaded, tile(0, 16, 16), tile(with_d ? 32 : kNone, 16, 16)), "");
  ASSERT_EQ(g.issue(kMvout, kBase + kOut, tile(kSums | kWhole, 16, 16)), "");
  for (uint64_t i = 0; i < 16; ++i)
    for (uint64_t j = 0; j < 16; ++j) {
      int32_t want = with_d ? g.at(kD, i, j) : 0;
      for (uint64_t k = 0; k < 16; ++k)
        want += (transposes & 1 ? g.at(kA, k, i) : g.at(kA, i, k)) *
                (transposes & 2 ? g.at(kB, j, k) : g.at(kB, k, j));
      ASSERT_EQ(g.word_at(kOut, 16 * i + j), want) << i << ' ' << j;
    }
}

TEST(GemminiModel, multiplies_with_and_without_transposes) {
  for (const uint64_t transposes : {0, 1, 2}) expect_product(transposes, false);
}

TEST(GemminiModel, adds_a_bias_tile) { expect_product(0, true); }

TEST(GemminiModel, accumulates_and_keeps_the_weights) {
  Array g;
  g.fill(kA, 3), g.fill(kB, 90);
  g.configure();
  g.issue(kMvin, kBase + kA, tile(0, 16, 16));
  g.issue(kMvin, kBase + kB, tile(16, 16, 16));
  g.issue(kPreload, tile(16, 16, 16), tile(kSums, 16, 16));
  g.issue(kPreloaded, tile(0, 16, 16), tile(kNone, 16, 16));
  g.issue(kPreload, tile(kNone, 16, 16), tile(kSums | kAdd, 16, 16));
  ASSERT_EQ(g.issue(kAccumulated, tile(0, 16, 16), tile(kNone, 16, 16)), "");
  g.store_settings(64);
  g.issue(kMvout, kBase + kOut, tile(kSums | kWhole, 16, 16));
  int32_t once = 0;
  for (uint64_t k = 0; k < 16; ++k) once += g.at(kA, 2, k) * g.at(kB, k, 5);
  EXPECT_EQ(g.word_at(kOut, 16 * 2 + 5), 2 * once);
}

// What one sum becomes on its way to a byte.
int8_t stored(int32_t sum, float scale, bool rectify) {
  Array g;
  g.configure(scale, rectify);
  g.load_settings(2, 64, 1);
  g.word_at(kA, 0) = sum;
  g.issue(kMvin3, kBase + kA, tile(kSums, 1, 1));
  EXPECT_EQ(g.issue(kMvout, kBase + kOut, tile(kSums, 1, 1)), "");
  return g.at(kOut, 0, 0);
}

TEST(GemminiModel, sums_are_scaled_rounded_to_even_and_saturated) {
  EXPECT_EQ(stored(5, 0.5f, false), 2);
  EXPECT_EQ(stored(7, 0.5f, false), 4);
  EXPECT_EQ(stored(-5, 0.5f, false), -2);
  EXPECT_EQ(stored(-7, 0.5f, false), -4);
  EXPECT_EQ(stored(1000, 1, false), 127);
  EXPECT_EQ(stored(-1000, 1, false), -128);
  EXPECT_EQ(stored(-7, 1, true), 0);
  EXPECT_EQ(stored(7, 1, true), 7);
  EXPECT_EQ(stored(2147483647, 1e30f, false), 127);
}

TEST(GemminiModel, loads_scale_bytes) {
  Array g;
  g.configure();
  g.load_settings(0, 16, 0.5f);
  g.at(kA, 0, 0) = 7, g.at(kA, 0, 1) = -7, g.at(kA, 0, 2) = 127;
  g.issue(kMvin, kBase + kA, tile(0, 1, 3));
  ASSERT_EQ(g.issue(kMvout, kBase + kOut, tile(0, 1, 3)), "");
  EXPECT_EQ(g.at(kOut, 0, 0), 4);
  EXPECT_EQ(g.at(kOut, 0, 1), -4);
  EXPECT_EQ(g.at(kOut, 0, 2), 64);
}

TEST(GemminiModel, a_stride_of_zero_repeats_the_bias_row) {
  Array g;
  g.configure();
  g.load_settings(2, 0, 1);
  for (uint64_t k = 0; k < 16; ++k) g.word_at(kA, k) = static_cast<int32_t>(1000 * k);
  g.issue(kMvin3, kBase + kA, tile(kSums, 16, 16));
  g.store_settings(64);
  g.issue(kMvout, kBase + kOut, tile(kSums | kWhole, 16, 16));
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(g.word_at(kOut, 16 * i + 7), 7000);
}

TEST(GemminiModel, bytes_load_into_sums_and_add_to_them) {
  Array g;
  g.configure();
  g.load_settings(1, 16, 1, true);
  g.at(kA, 0, 0) = -3;
  g.issue(kMvin2, kBase + kA, tile(kSums, 1, 1));
  g.issue(kMvin2, kBase + kA, tile(kSums | kAdd, 1, 1));
  g.store_settings(64);
  g.issue(kMvout, kBase + kOut, tile(kSums | kWhole, 1, 1));
  EXPECT_EQ(g.word_at(kOut, 0), -6);
}

TEST(GemminiModel, a_wide_load_makes_blocks_and_no_address_makes_zeros) {
  Array g;
  g.configure();
  g.load_settings(0, 64, 1);
  for (uint64_t k = 0; k < 64; ++k) *g.memory.at(kBase + k) = static_cast<uint8_t>(k);
  g.issue(kMvin, kBase, tile(100, 1, 64));
  g.store_settings(16);
  for (uint64_t block = 0; block < 4; ++block) {
    ASSERT_EQ(g.issue(kMvout, kBase + kOut, tile(100 + 16 * block, 1, 16)), "");
    EXPECT_EQ(g.at(kOut, 0, 3), static_cast<int8_t>(16 * block + 3));
  }
  g.issue(kMvin, 0, tile(100, 1, 64));
  g.issue(kMvout, kBase + kOut, tile(116, 1, 16));
  EXPECT_EQ(g.at(kOut, 0, 3), 0);
}

TEST(GemminiModel, repeats_put_a_row_beside_the_rows_before) {
  Array g;
  g.configure();
  g.load_settings(0, 16, 1, false, 2);
  g.at(kA, 0, 0) = 5, g.at(kA, 1, 0) = 6;
  g.issue(kMvin, kBase + kA, tile(10, 2, 4));
  g.issue(kMvout, kBase + kOut, tile(10, 2, 8));
  EXPECT_EQ(g.at(kOut, 0, 0), 5);
  EXPECT_EQ(g.at(kOut, 0, 4), 6);
}

TEST(GemminiModel, stores_pool_by_the_maximum) {
  Array g;
  g.configure();
  // 4 x 4 pixels of 2 channels; windows of 3, stride 2, one row and column of padding: 2 x 2 out.
  for (uint64_t p = 0; p < 16; ++p)
    g.at(kA, p, 0) = static_cast<int8_t>(p),
                g.at(kA, p, 1) = static_cast<int8_t>(-1 - static_cast<int>(p));
  g.issue(kMvin, kBase + kA, tile(0, 16, 2));
  const uint64_t pool = 2u << 4 | 3u << 6 | 1u << 8 | 1u << 10 | 2u << 24 | uint64_t{2} << 32 |
                        uint64_t{2} << 40 | uint64_t{4} << 48 | uint64_t{4} << 56;
  g.store_settings(16, 1, pool);
  ASSERT_EQ(g.issue(kMvout, kBase + kOut, tile(0, 0, 2)), "");
  const int8_t want[4][2] = {{5, 0}, {7, 0}, {13, 0}, {15, -6}};
  for (uint64_t p = 0; p < 4; ++p)
    for (uint64_t c = 0; c < 2; ++c) EXPECT_EQ(g.at(kOut, p, c), want[p][c]) << p << ' ' << c;
}

TEST(GemminiModel, what_does_not_fit_is_a_fault) {
  Array g;
  g.configure();
  EXPECT_NE(g.issue(kMvin, kBase, tile(16380, 16, 16))
                .find("rows 16380 to 16395 of a scratchpad of 16384"),
            std::string::npos);
  EXPECT_NE(g.issue(kMvin3, kBase, tile(kSums | 1020, 16, 16)).find("accumulator"),
            std::string::npos);
  EXPECT_NE(g.issue(kMvin, kBase, tile(0, 17, 16)), "");
  EXPECT_NE(g.issue(kMvin, kBase, tile(0, 16, 65)), "");
  EXPECT_NE(g.issue(kMvin3, kBase, tile(kSums, 16, 17)), "");
  EXPECT_NE(g.issue(kMvin, 16, tile(0, 16, 16)).find("0x00000010"), std::string::npos);
  EXPECT_NE(g.issue(8, 0, 0).find("not in the default configuration"), std::string::npos);
}

TEST(GemminiModel, an_unconfigured_device_is_a_fault) {
  Array g;
  EXPECT_NE(g.issue(kMvin, kBase, tile(0, 1, 1)), "");
  EXPECT_NE(g.issue(kMvout, kBase, tile(0, 1, 1)), "");
  EXPECT_NE(g.issue(kPreloaded, tile(0, 1, 1), tile(kNone, 1, 1)), "");
}

TEST(GemminiModel, products_follow_each_other_every_sixteen_cycles) {
  Array g;
  g.configure();
  g.issue(kMvin, kBase + kA, tile(0, 16, 16));
  const auto run = [&](int count) {
    for (int k = 0; k < count; ++k) {
      g.issue(kPreload, tile(0, 16, 16), tile(kSums | kAdd, 16, 16));
      g.issue(kPreloaded, tile(0, 16, 16), tile(kNone, 16, 16));
    }
    return g.device.idle_at();
  };
  const uint64_t before = run(20);
  EXPECT_EQ(run(20) - before, 20u * 16);
}

TEST(GemminiModel, setting_up_the_array_drains_it) {
  Array g;
  g.configure();
  const auto pair = [&] {
    g.issue(kPreload, tile(0, 16, 16), tile(kSums, 16, 16));
    g.issue(kPreloaded, tile(0, 16, 16), tile(kNone, 16, 16));
  };
  pair();
  const uint64_t one = g.device.idle_at();
  pair();
  EXPECT_EQ(g.device.idle_at() - one, 16u);
  const uint64_t two = g.device.idle_at();
  g.issue(kConfigure, uint64_t{1} << 16 | 4, uint64_t{1} << 48);
  pair();
  EXPECT_EQ(g.device.idle_at() - two, 1u + 16 + 33);
}

TEST(GemminiModel, wide_rows_load_faster) {
  const auto cycles = [](uint64_t columns) {
    Array g;
    g.configure();
    g.load_settings(0, 64, 1);
    const uint64_t start = g.device.idle_at();
    for (uint64_t k = 0; k < 64; k += columns / 16)
      g.issue(kMvin, kBase, tile(16 * k, 16, columns));
    return g.device.idle_at() - start;
  };
  EXPECT_LT(cycles(64) + 64 * 16, 64u * 16 + 200 + 64 * 16) << "one bus: 16 bytes a cycle";
  EXPECT_GT(cycles(16), 2 * cycles(64));
}

TEST(GemminiModel, loads_overlap_the_array_but_not_what_they_feed) {
  Array g;
  g.configure();
  g.issue(kMvin, kBase, tile(0, 16, 16));
  const uint64_t loaded = g.device.idle_at();
  g.issue(kPreload, tile(0, 16, 16), tile(kSums, 16, 16));
  g.issue(kPreloaded, tile(0, 16, 16), tile(kNone, 16, 16));
  EXPECT_EQ(g.device.idle_at(), loaded + 16 + 33);
  g.issue(kMvin, kBase, tile(64, 16, 16));  // another place: under the product
  EXPECT_LT(g.device.idle_at(), loaded + 16 + 33 + 20);
}

}  // namespace
}  // namespace exotune::sim
