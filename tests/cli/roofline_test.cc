#include "cli/roofline.h"

#include <gtest/gtest.h>

namespace exotune::cli {
namespace {

Machine machine() {
  Machine m;
  m.caches = {{1, 32768, 64, 1}, {2, 1 << 20, 64, 1}};
  return m;
}

// 2000 operations on 8000 bytes that come in at 200 GB/s, at a peak of 100 GFLOP/s.
RooflineInput sum() {
  return {.operations = 2000,
          .bytes = 8000,
          .footprint = 8000,
          .arithmetic_seconds = 20e-9,
          .memory_seconds = 40e-9,
          .seconds = 80e-9};
}

TEST(Roofline, a_sum_of_vectors_is_bound_by_the_cache_it_lies_in) {
  const auto r = roofline_of(sum(), machine());
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->memory_bound);
  EXPECT_EQ(r->level, "L1");
  EXPECT_NEAR(r->percent, 50, 1e-6);
  EXPECT_EQ(str(*r), "memory (L1, 200 GB/s), 50 % of that; 0.25 operations a byte");
}

TEST(Roofline, a_product_is_bound_by_arithmetic) {
  const auto r = roofline_of({.operations = 524288,
                              .bytes = 65536,
                              .footprint = 49152,
                              .arithmetic_seconds = 5e-6,
                              .memory_seconds = 1e-6,
                              .seconds = 5e-6},
                             machine());
  ASSERT_TRUE(r);
  EXPECT_FALSE(r->memory_bound);
  EXPECT_EQ(str(*r), "arithmetic, 100 % of it; 8 operations a byte, data in L2");
}

TEST(Roofline, what_fits_no_cache_lies_in_memory) {
  RooflineInput call = sum();
  call.footprint = 4e6;
  EXPECT_EQ(roofline_of(call, machine())->level, "memory");
}

TEST(Roofline, what_is_updated_in_place_lies_where_its_elements_fit_once) {
  RooflineInput call = sum();
  call.bytes = 2 * 20000, call.footprint = 20000;
  EXPECT_EQ(roofline_of(call, machine())->level, "L1");
}

TEST(Roofline, a_copy_is_bound_by_memory_alone) {
  RooflineInput call = sum();
  call.operations = call.arithmetic_seconds = 0;
  EXPECT_TRUE(roofline_of(call, machine())->memory_bound);
}

TEST(Roofline, the_part_that_is_busier_than_a_roof_was_reached_comes_first) {
  Roofline r = *roofline_of(sum(), machine());
  r.shares = {{"loads", 82}, {"arithmetic", 25}};
  EXPECT_EQ(str(r),
            "loads, 82 % of the time by the cost model; 50 % of what memory (L1, 200 GB/s) gives; "
            "0.25 operations a byte");
  EXPECT_EQ(shares_text(r.shares), "loads 82 %, arithmetic 25 %");
  const std::string of_memory = "memory (L1, 200 GB/s), 50 % of that; 0.25 operations a byte";
  r.shares = {{"loads", 52}};
  EXPECT_EQ(str(r), of_memory);
  r.shares = {{"loops left to the compiler", 90}};
  EXPECT_EQ(str(r), of_memory);
}

TEST(Roofline, what_is_faster_than_its_roof_is_said) {
  RooflineInput call = sum();
  call.seconds = 20e-9;
  EXPECT_NE(str(*roofline_of(call, machine())).find("beyond that by 100 %"), std::string::npos);
}

TEST(Roofline, nothing_is_said_of_what_cannot_be_counted) {
  RooflineInput no_bytes = sum(), no_peak = sum(), no_bandwidth = sum();
  no_bytes.bytes = 0, no_peak.arithmetic_seconds = 0, no_bandwidth.memory_seconds = 0;
  for (const RooflineInput& call : {no_bytes, no_peak, no_bandwidth})
    EXPECT_FALSE(roofline_of(call, machine()));
}

}  // namespace
}  // namespace exotune::cli
