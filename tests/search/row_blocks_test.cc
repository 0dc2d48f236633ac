// Rows with arrays of their own: distributed some at a time, inside the loops around them.
#include "search/moves/row_blocks.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

TEST(RowBlocks, are_nests_over_some_rows_at_a_time) {
  const ProcPtr p = parsed(R"(
@proc
def causal(q: f32[2, 40, 3], k: f32[2, 40, 3], o: f32[2, 40]):
    for h in seq(0, 2):
        for i in seq(0, 40):
            p: f32[40]
            z: f32
            for j in seq(0, 40):
                p[j] = 0.0
                for d in seq(0, 3):
                    p[j] += q[h, i, d] * k[h, j, d]
            z = 0.0
            for j in seq(0, i + 1):
                z += p[j] * p[j]
            o[h, i] = z
)");
  // 160 bytes a row, of which a quarter of the second cache holds 16: two blocks, and 8 rows.
  const std::optional<Schedule> blocks = distributed_in_blocks({p, {}, false}, {}, {1024, 10400});
  ASSERT_TRUE(blocks);
  const std::string text = str(*blocks->proc);
  EXPECT_NE(text.find("for ib in seq(0, 2)"), std::string::npos) << text;
  EXPECT_NE(text.find("p : f32[16, 40]"), std::string::npos) << text;
  EXPECT_NE(text.find("p : f32[8, 40]"), std::string::npos) << text;
  expect_same_result(p, blocks->proc, text);
  // All rows of one h fit: nothing is cut, and h stays around.
  const std::optional<Schedule> whole = distributed_in_blocks({p, {}, false}, {}, {1024, 40000});
  ASSERT_TRUE(whole);
  EXPECT_NE(str(*whole->proc).find("p : f32[40, 40]"), std::string::npos) << str(*whole->proc);
  EXPECT_EQ(str(*whole->proc).find("for ib in"), std::string::npos) << str(*whole->proc);
  expect_same_result(p, whole->proc, str(*whole->proc));
  EXPECT_FALSE(distributed_in_blocks({p, {}, false}, {}, {1024, 2000}));  // not even 16 rows
}

}  // namespace
}  // namespace exotune
