// The nest whose C tells what must come out: in an order that steps through fewer lines where it
// runs long, and as it was written otherwise.
#include "search/reference_order.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "tests/search/machines.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kGated = R"(
@proc
def gated(N: size, x: f32[N, N], g: f32[N, N], h: f32[N, N]):
    for i in seq(0, N):
        for j in seq(0, N):
            G: f32
            G = 0.0
            for k in seq(0, N):
                G += x[i, k] * g[k, j]
            h[i, j] = G * G
)";

const std::vector<TargetLevel> kLevels = avx512()->levels;

TEST(ReferenceOrder, a_long_product_goes_along_its_rows) {
  const ProcPtr p = parsed(kGated), q = in_reference_order(p, {{"N", 1000}}, kLevels, {});
  const std::string text = str(*q);
  EXPECT_LT(text.find("for k in"), text.find("for j in", text.find("for k in"))) << text;
  expect_same_result(p, q, text, {{"N", 7}});
}

TEST(ReferenceOrder, stays_as_written_where_that_is_quick_or_no_worse) {
  const ProcPtr p = parsed(kGated);
  EXPECT_EQ(in_reference_order(p, {{"N", 50}}, kLevels, {}), p);
  EXPECT_EQ(in_reference_order(p, {{"N", 1000}}, kLevels, Deadline::after(0)), p);
  const ProcPtr rows = parsed(R"(
@proc
def rows(N: size, x: f32[N, N], s: f32[N]):
    for i in seq(0, N):
        for k in seq(0, N):
            s[i] += x[i, k]
)");
  EXPECT_EQ(in_reference_order(rows, {{"N", 20000}}, kLevels, {}), rows);
}

}  // namespace
}  // namespace exotune
