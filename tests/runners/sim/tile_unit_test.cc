#include "runners/sim/tile_unit.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace exotune::sim {
namespace {

uint32_t word(uint32_t upper, uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return upper << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x2b;
}
uint32_t zero(uint32_t md) { return word(0x7c, 0, md, 0); }
uint32_t load(uint32_t md) { return word(0x02, 16 + md, 10, 11); }
uint32_t store(uint32_t ms) { return word(0x06, 16 + ms, 10, 11); }
uint32_t product(uint32_t md, uint32_t ms1, uint32_t ms2, uint32_t upper = 0x78, uint32_t rd = 16) {
  return word(upper, rd, (ms1 & 3) * 8 + md, ms2 * 2 + (ms1 >> 2));
}

constexpr uint64_t kBase = 0x80000000;

struct Tiles {
  explicit Tiles(const TileUnit::Timing& timing = {}) : unit(timing), memory(kBase, 0x1000) {}
  /// The instruction at the cycle at which the processor gets there.
  std::string issue(uint32_t w, uint64_t rs1 = kBase, uint64_t rs2 = 16) {
    const Device::Reply reply = unit.execute({w, rs1, rs2, now}, memory);
    now = reply.next;
    return reply.fault;
  }
  /// Cycles per repetition of `body` after many.
  uint64_t period(const std::vector<uint32_t>& body) {
    uint64_t before = 0;
    for (int k = 0; k < 60; ++k) {
      if (k == 40) before = unit.idle_at();
      for (const uint32_t w : body) EXPECT_EQ(issue(w), "");
    }
    return (unit.idle_at() - before) / 20;
  }
  TileUnit unit;
  Memory memory;
  uint64_t now = 0;
};

TEST(TileUnit, knows_its_words_and_no_others) {
  const TileUnit unit{TileUnit::Timing{}};
  EXPECT_TRUE(unit.decode(zero(7)));
  EXPECT_TRUE(unit.decode(load(3))->reads_rs1);
  EXPECT_FALSE(unit.decode(product(1, 2, 3))->reads_rs1);
  EXPECT_FALSE(unit.decode(zero(7) | 0x1000));
  EXPECT_FALSE(unit.decode(word(0x02, 8, 10, 11)));
  EXPECT_FALSE(unit.decode(0x00c58533));
}

TEST(TileUnit, loads_and_stores_four_rows) {
  Tiles t;
  for (uint64_t k = 0; k < 64; ++k) t.memory.write<int32_t>(kBase + 4 * k, static_cast<int32_t>(k));
  t.issue(load(5), kBase, 32);
  EXPECT_EQ(t.issue(store(5), kBase + 0x400, 16), "");
  for (uint64_t i = 0; i < 4; ++i)
    for (uint64_t j = 0; j < 4; ++j)
      EXPECT_EQ(t.memory.read<uint32_t>(kBase + 0x400 + 16 * i + 4 * j), 8 * i + j);
}

template <class T, class Sum>
void expect_product(uint32_t upper, uint32_t rd) {
  constexpr uint64_t kColumns = 16 / sizeof(T);
  Tiles t;
  const auto a = [](uint64_t i, uint64_t k) {
    return static_cast<T>(static_cast<int>(3 * i + 5 * k) - 11);
  };
  const auto b = [](uint64_t j, uint64_t k) {
    return static_cast<T>(7 - static_cast<int>(2 * j + k));
  };
  for (uint64_t i = 0; i < 4; ++i)
    for (uint64_t k = 0; k < kColumns; ++k) {
      t.memory.write(kBase + 16 * i + sizeof(T) * k, a(i, k));
      t.memory.write(kBase + 64 + 16 * i + sizeof(T) * k, b(i, k));
    }
  t.issue(zero(7));
  t.issue(load(6), kBase);
  t.issue(load(1), kBase + 64);
  t.issue(product(7, 6, 1, upper, rd));
  t.issue(product(7, 6, 1, upper, rd));
  EXPECT_EQ(t.issue(store(7), kBase + 256), "");
  for (uint64_t i = 0; i < 4; ++i)
    for (uint64_t j = 0; j < 4; ++j) {
      Sum want = 0;
      for (uint64_t k = 0; k < kColumns; ++k)
        want += 2 * static_cast<Sum>(a(i, k)) * static_cast<Sum>(b(j, k));
      EXPECT_EQ(t.memory.read<Sum>(kBase + 256 + 16 * i + 4 * j), want)
          << upper << ' ' << i << ' ' << j;
    }
}

TEST(TileUnit, products_are_of_rows_in_every_precision) {
  expect_product<int32_t, int32_t>(0x78, 16);
  expect_product<int16_t, int32_t>(0x70, 8);
  expect_product<int8_t, int32_t>(0x08, 0);
  expect_product<float, float>(0x04, 16);
}

TEST(TileUnit, each_instruction_alone_takes_its_latency) {
  for (const auto& [w, cycles] :
       {std::pair{zero(7), 10u}, {load(7), 12u}, {store(7), 12u}, {product(7, 6, 5), 17u}}) {
    Tiles t;
    t.issue(w);
    EXPECT_EQ(t.unit.idle_at(), cycles);
  }
}

TEST(TileUnit, bodies_take_what_the_hardware_takes) {
  const std::vector<uint32_t> one = {load(1), load(2), product(7, 1, 2)};
  const std::vector<uint32_t> convolution = {load(0),          load(3),          product(7, 3, 0),
                                             load(2),          product(6, 2, 0), load(1),
                                             product(5, 1, 0), load(3),          product(4, 3, 0)};
  const std::vector<uint32_t> square = {load(0),          load(1),          load(2),
                                        load(3),          product(7, 0, 2), product(6, 0, 3),
                                        product(5, 1, 2), product(4, 1, 3)};
  TileUnit::Timing published;
  published.product_interval = 12;
  EXPECT_EQ(Tiles().period(one), 14u);
  EXPECT_EQ(Tiles().period(convolution), 25u);
  EXPECT_EQ(Tiles(published).period(convolution), 48u);
  EXPECT_EQ(Tiles().period(square), 20u);
  EXPECT_EQ(Tiles(published).period(square), 48u);
}

TEST(TileUnit, consumers_chain) {
  Tiles t;
  t.issue(load(1));
  t.issue(product(7, 1, 2));
  EXPECT_EQ(t.unit.idle_at(), 12u + 8u);
  t.issue(store(7));
  EXPECT_EQ(t.unit.idle_at(), 12u + 8u + 3u);
  Tiles zeroed;
  zeroed.issue(zero(7));
  zeroed.issue(product(7, 1, 2));
  EXPECT_EQ(zeroed.unit.idle_at(), 10u + 14u);
}

TEST(TileUnit, the_processor_runs_on_until_the_queue_is_full) {
  Tiles t;
  for (int k = 0; k < 6; ++k) t.issue(load(static_cast<uint32_t>(k)));
  EXPECT_EQ(t.now, 6u);
  t.issue(load(6));  // waits for the third load to leave
  EXPECT_EQ(t.now, 11u);
}

TEST(TileUnit, a_store_of_the_first_register_is_a_fault) {
  Tiles t;
  EXPECT_NE(t.issue(store(0)).find("m0"), std::string::npos);
}

TEST(TileUnit, accesses_outside_memory_are_faults) {
  Tiles t;
  EXPECT_NE(t.issue(load(1), kBase + 0x1000 - 16, 16).find("0x80001000"), std::string::npos);
  EXPECT_NE(t.issue(store(1), kBase - 16, 16), "");
  EXPECT_NE(t.issue(load(1), kBase + 2, 16).find("misaligned"), std::string::npos);
}

TEST(TileUnit, every_figure_is_named_and_needed) {
  std::map<std::string, double> latency = {{"mzero", 10}, {"mld", 12}, {"mst", 12}, {"mmasa", 17}};
  std::map<std::string, double> parameters = {
      {"mmasa_interval", 4},     {"mmasa_same_accumulator", 14}, {"memory_interval", 5},
      {"issue_depth", 4},        {"chain_load_product", 8},      {"chain_product_store", 3},
      {"chain_zero_product", 14}};
  Figures whole(latency, parameters);
  TileUnit::Timing::read(whole);
  EXPECT_NO_THROW(whole.refuse_unread());
  parameters["memory_intervall"] = 6;
  Figures misspelt(latency, parameters);
  TileUnit::Timing::read(misspelt);
  EXPECT_THROW(misspelt.refuse_unread(), InputError);
  latency.erase("mld");
  Figures lacking(latency, parameters);
  EXPECT_THROW(TileUnit::Timing::read(lacking), InputError);
}

}  // namespace
}  // namespace exotune::sim
