// What nests make for one another, row by row or element by element, where it is read.
#include "search/moves/stage_rows.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "core/library/script.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

TEST(StageRows, rows_are_made_where_they_are_read) {
  const ProcPtr p = parsed(kStages);
  const std::vector<Schedule> rows = stages_by_rows({p, {}, false});
  ASSERT_EQ(rows.size(), 2u);  // not inside the planes: rows of edge would be made for each
  EXPECT_EQ(count_of(rows[1].steps, "reorder_loops"), 1);
  EXPECT_EQ(count_of(rows[1].steps, "compute_at"), 2);
  EXPECT_EQ(count_of(rows[1].steps, "store_at"), 1);    // of edge one row at a time
  EXPECT_EQ(count_of(rows[1].steps, "resize_dim"), 1);  // of gray a ring
  EXPECT_NE(str(*rows[1].proc).find("gray : f32[4, 9]"), std::string::npos) << str(*rows[1].proc);
  expect_same_result(p, rows[1].proc, str(*rows[1].proc));
}

TEST(StageRows, what_is_read_by_single_elements_is_made_there) {
  const ProcPtr p = parsed(kStages);
  const std::vector<Schedule> rows = stages_by_rows({p, {}, false});
  ASSERT_FALSE(rows.empty());
  const std::string text = str(*rows[0].proc);
  EXPECT_EQ(count_of(rows[0].steps, "unroll_loop"), 1);  // both planes
  EXPECT_NE(text.find("            edge : f32 @ DRAM\n            edge = "), std::string::npos)
      << text;
  EXPECT_NE(text.find("gray : f32[4, 9]"), std::string::npos) << text;
  EXPECT_EQ(text.find("for c in"), std::string::npos) << text;
  expect_same_result(p, rows[0].proc, text);
}

TEST(StageRows, elements_with_neighbours_stay_rows) {
  const ProcPtr p = parsed(R"(
@proc
def smoothed(x: f32[9, 12], y: f32[9, 8]):
    t: f32[9, 12]
    for i in seq(0, 9):
        for j in seq(0, 12):
            t[i, j] = x[i, j] * x[i, j]
    for i in seq(0, 9):
        for j in seq(0, 8):
            y[i, j] = t[i, j] + t[i, j + 4]
)");
  const std::vector<Schedule> rows = stages_by_rows({p, {}, false});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NE(str(*rows[0].proc).find("t : f32[1, 12]"), std::string::npos) << str(*rows[0].proc);
}

TEST(StageRows, an_argument_between_them_stays_whole) {
  const ProcPtr p = parsed(R"(
@proc
def two_passes(x: f32[9, 12], t: f32[9, 8], y: f32[5, 8]):
    for i in seq(0, 9):
        for j in seq(0, 8):
            t[i, j] = x[i, j] + x[i, j + 4]
    for i in seq(0, 5):
        for j in seq(0, 8):
            y[i, j] = t[i, j] + t[i + 4, j]
)");
  const std::vector<Schedule> rows = stages_by_rows({p, {}, false});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(count_of(rows[0].steps, "compute_at"), 1);
  EXPECT_EQ(rows[0].steps.size(), 1u);
  expect_same_result(p, rows[0].proc, str(*rows[0].proc));
}

TEST(StageRows, what_needs_all_rows_before_stays_apart) {
  const ProcPtr p = parsed(R"(
@proc
def mirrored(x: f32[20, 4], y: f32[20, 4]):
    t: f32[20, 4]
    for i in seq(0, 20):
        for j in seq(0, 4):
            t[i, j] = x[i, j] + 1.0
    for i in seq(0, 20):
        for j in seq(0, 4):
            y[i, j] = t[19 - i, j]
)");
  EXPECT_TRUE(stages_by_rows({p, {}, false}).empty());
}

}  // namespace
}  // namespace exotune
