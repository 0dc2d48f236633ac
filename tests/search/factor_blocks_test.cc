// Factors brought ahead block by block: in every order of the loops, with and without a rest, and
// that it computes the same.
#include "search/moves/factor_blocks.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "hw/target.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

// A strip of one vector, 16 terms of it: 512 bytes; 16 rows of those terms: 1 KB.
constexpr NearestCaches kSmall = {700, 2048};

std::optional<Schedule> in_blocks(const std::string& text, const NearestCaches& caches = kSmall) {
  static const TargetPtr avx2 = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const VectorValues unit(*avx2, ScalarType::kF32, instruction_values(*avx2));
  return with_factors_in_blocks({parsed(text), {}, false}, caches, unit, 1);
}

// A sum over 32 terms for each of so many rows and 26 columns, the loops in an order.
std::string product(const std::string& rows, const std::string& order, const std::string& sum) {
  const std::map<char, std::string> extents = {{'i', rows}, {'j', "26"}, {'k', "32"}};
  std::string out = "@proc\ndef p(s: f32, A: f32[" + rows + ", 32], T: f32[32, " + rows +
                    "], B: f32[32, 26], C: f32[" + rows + ", 26]):\n",
              indent = "    ";
  for (const char loop : order) {
    out += indent + "for " + loop + " in seq(0, " + extents.at(loop) + "):\n";
    indent += "    ";
  }
  return out + indent + "C[i, j] += " + sum + "\n";
}

TEST(FactorsInBlocks, compute_the_same_in_every_order_with_and_without_a_rest) {
  for (const char* rows : {"48", "41"})
    for (const char* order : {"ijk", "ikj", "kij"})
      for (const char* sum : {"s * A[i, k] * B[k, j]", "A[i, k] * s * B[k, j]",
                              "-A[i, k] * B[k, j]", "s * T[k, i] * B[k, j]"}) {
        const std::string text = product(rows, order, sum);
        const std::optional<Schedule> made = in_blocks(text);
        ASSERT_TRUE(made) << text;
        expect_same_result(parsed(text), made->proc, str(*made->proc));
      }
}

TEST(FactorsInBlocks, leave_a_plain_product_of_a_block_and_strips) {
  const std::optional<Schedule> made = in_blocks(product("48", "ikj", "s * A[i, k] * B[k, j]"));
  ASSERT_TRUE(made);
  const std::string text = str(*made->proc);
  EXPECT_NE(text.find("for ib in seq(0, 3):\n"
                      "            s_A : f32[16, 16] @ DRAM\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("C[16 * ib + i, j] += s_A[i, k] * B_pack[j / 8, k, j % 8]"),
            std::string::npos)
      << text;
}

TEST(FactorsInBlocks, are_for_what_no_cache_holds_and_what_has_a_factor_to_bring) {
  const std::string text = product("48", "ijk", "s * A[i, k] * B[k, j]");
  EXPECT_FALSE(in_blocks(text, {700, 32 * 26 * 4})) << "B fits";
  EXPECT_FALSE(in_blocks(text, {700, 32 * 26 * 4 - 4 * 16})) << "one block";
  EXPECT_FALSE(in_blocks(product("48", "ijk", "A[i, k] * B[k, j]"))) << "no factor";
  EXPECT_FALSE(in_blocks(product("48", "ijk", "B[k, j] * s"))) << "no rows";
  EXPECT_FALSE(in_blocks(R"(
@proc
def p(s: f32, A: f32[48, 32], B: f32[32, 26], c: f32[48]):
    for i in seq(0, 48):
        for j in seq(0, 26):
            for k in seq(0, 32):
                c[i] += s * A[i, k] * B[k, j]
)")) << "two sums";
  EXPECT_FALSE(in_blocks(R"(
@proc
def p(N: size, s: f32, A: f32[N, 32], B: f32[32, 26], C: f32[N, 26]):
    for i in seq(0, N):
        for j in seq(0, 26):
            for k in seq(0, 32):
                C[i, j] += s * A[i, k] * B[k, j]
)")) << "bounds are not known";
}

}  // namespace
}  // namespace exotune
