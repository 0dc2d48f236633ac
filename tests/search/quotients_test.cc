// Loops whose subscripts are divided: what they become, with and without a rest.
#include "search/moves/quotients.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

TEST(Quotients, become_loops_of_their_own) {
  const ProcPtr p = parsed(kGrouped);
  const std::optional<Schedule> apart = without_quotients({p, {}, false});
  ASSERT_TRUE(apart);
  const std::string text = str(*apart->proc);
  EXPECT_NE(text.find("for hq in seq(0, 2):"), std::string::npos) << text;
  EXPECT_NE(text.find("k[hq, t, d]"), std::string::npos) << text;
  expect_same_result(p, apart->proc, text);
}

TEST(Quotients, leave_a_rest_where_iterations_are_no_multiple) {
  const ProcPtr p = parsed(R"(
@proc
def doubled(x: f32[4], y: f32[7], z: f32[7]):
    for i in seq(0, 7):
        y[i] = x[i / 2]
        z[i] = x[i % 3]
)");
  const std::optional<Schedule> apart = without_quotients({p, {}, false});
  ASSERT_TRUE(apart);
  EXPECT_NE(str(*apart->proc).find("for iq in seq(0, 3):"), std::string::npos) << str(*apart->proc);
  expect_same_result(p, apart->proc, str(*apart->proc));
}

TEST(Quotients, are_not_seen_where_there_are_none) {
  EXPECT_FALSE(without_quotients({parsed(kTransposed), {}, false}));
}

}  // namespace
}  // namespace exotune
