#include "cli/roofline.h"

#include <gtest/gtest.h>

namespace exotune::cli {
namespace {

Machine machine() {
  Machine m;
  m.caches = {{1, 32768, 64, 1}, {2, 1 << 20, 64, 1}};
  return m;
}
const Bandwidth kBandwidth = {200, 100, 50, 10, 0};

TEST(Roofline, a_sum_of_vectors_is_bound_by_the_cache_it_lies_in) {
  const auto r = roofline_of(2000, 8000, 80e-9, 100, kBandwidth, machine());
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->memory_bound);
  EXPECT_EQ(r->level, "L1");
  EXPECT_NEAR(r->percent, 50, 1e-6);
  EXPECT_EQ(str(*r), "memory (L1, 200 GB/s), 50 % of that; 0.25 operations a byte");
}

TEST(Roofline, a_product_is_bound_by_arithmetic) {
  const auto r = roofline_of(524288, 65536, 5242.88e-9, 100, kBandwidth, machine());
  ASSERT_TRUE(r);
  EXPECT_FALSE(r->memory_bound);
  EXPECT_EQ(str(*r), "arithmetic, 100 % of it; 8 operations a byte, data in L2");
}

TEST(Roofline, what_fits_no_cache_lies_in_memory) {
  EXPECT_EQ(roofline_of(1e6, 4e6, 1, 100, kBandwidth, machine())->level, "memory");
}

TEST(Roofline, a_copy_is_bound_by_memory_alone) {
  EXPECT_TRUE(roofline_of(0, 8000, 80e-9, 0, kBandwidth, machine())->memory_bound);
}

TEST(Roofline, nothing_is_said_of_what_cannot_be_counted) {
  EXPECT_FALSE(roofline_of(2000, 0, 1, 100, kBandwidth, machine()));
  EXPECT_FALSE(roofline_of(2000, 8000, 1, 0, kBandwidth, machine()));
}

}  // namespace
}  // namespace exotune::cli
