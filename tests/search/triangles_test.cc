// Cuts of triangles: blocks and corners, squares, strips of what rows share.
#include "search/moves/triangles.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

TEST(Triangles, are_cut_into_whole_blocks_and_corners) {
  const ProcPtr p = parsed(R"(
@proc
def triangle(A: f32[24, 24], B: f32[24, 24]):
    for i in seq(0, 24):
        for j in seq(0, i + 1):
            B[i, j] += A[j, i]
)");
  const std::optional<Schedule> cut =
      rectangle_and_corner({p, {}, false}, {{Child::kBody, 0}}, 8, Corners::kTriangles);
  ASSERT_TRUE(cut);
  EXPECT_NE(str(*cut->proc).find("for j in seq(0, 8 * ib)"), std::string::npos) << str(*cut->proc);
  expect_same_result(p, cut->proc, str(*cut->proc));
}

TEST(Triangles, may_be_of_the_sum_or_of_the_result) {
  const Path band = {{Child::kBody, 0}};
  EXPECT_TRUE(triangle_is_summed(*parsed(R"(
@proc
def lower(L: f32[24, 24], B: f32[24, 9], C: f32[24, 9]):
    for i in seq(0, 24):
        for j in seq(0, 9):
            for k in seq(0, i + 1):
                C[i, j] += L[i, k] * B[k, j]
)"),
                                 band));
  EXPECT_FALSE(triangle_is_summed(*parsed(R"(
@proc
def gram(X: f32[24, 12], G: f32[24, 24]):
    for i in seq(0, 24):
        for j in seq(0, i + 1):
            for k in seq(0, 12):
                G[i, j] += X[i, k] * X[j, k]
)"),
                                  band));
  EXPECT_FALSE(triangle_is_summed(*parsed(kTransposed), band));
}

TEST(Triangles, have_corners_that_are_squares_in_a_buffer) {
  const ProcPtr p = parsed(R"(
@proc
def gram(X: f32[12, 24], G: f32[24, 24]):
    for i in seq(0, 24):
        for j in seq(i, 24):
            G[i, j] = 0.0
            for k in seq(0, 12):
                G[i, j] += X[k, i] * X[k, j]
)");
  const std::optional<Schedule> cut =
      rectangle_and_corner({p, {}, false}, {{Child::kBody, 0}}, 8, Corners::kSquares);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->steps.back().op, "square_corner");
  EXPECT_NE(str(*cut->proc).find("G_square : f32[8, 8]"), std::string::npos) << str(*cut->proc);
  expect_same_result(p, cut->proc, str(*cut->proc));
}

// What the rows of a lower and of an upper triangle share, along the columns and across them.
TEST(Triangles, of_results_share_strips) {
  for (const auto& [bounds, row, column] :
       {std::tuple{"0, i + 1", "i, k", "j, k"}, {"i, 26", "k, i", "k, j"}}) {
    const ProcPtr p = parsed(
        "@proc\ndef gram(X: f32[26, 26], G: f32[26, 26]):\n"
        "    for i in seq(0, 26):\n        for j in seq(" +
        std::string(bounds) +
        "):\n            for k in seq(0, 26):\n                G[i, j] += X[" + row + "] * X[" +
        column + "]\n");
    const auto cut = triangle_of_strips({p, {}, false}, {{Child::kBody, 0}}, {}, {8, 4}, 0, 4);
    ASSERT_TRUE(cut) << bounds;
    EXPECT_NE(str(*cut->proc).find("X_s : f32[7, 26, 4]"), std::string::npos) << str(*cut->proc);
    expect_same_result(p, cut->proc, str(*cut->proc));
    // Too little is read again.
    EXPECT_FALSE(triangle_of_strips({p, {}, false}, {{Child::kBody, 0}}, {}, {8, 4}, 0, 40));
    // 26 * 26 floats that are near enough stay where they are, if vectors run along them.
    const auto near = triangle_of_strips({p, {}, false}, {{Child::kBody, 0}}, {}, {8, 4}, 2704, 4);
    ASSERT_TRUE(near);
    const bool lies_well = std::string(column) == "k, j";
    EXPECT_EQ(str(*near->proc).find("X_s") == std::string::npos, lies_well) << str(*near->proc);
    EXPECT_NE(str(*near->proc).find("for jo in"), std::string::npos) << str(*near->proc);
    expect_same_result(p, near->proc, str(*near->proc));
  }
  EXPECT_FALSE(
      triangle_of_strips({parsed(kTransposed), {}, false}, {{Child::kBody, 0}}, {}, {8, 4}));
}

// The last rows of a lower triangle are no whole block; an upper one ends with whole strips or with
// a part of one.
TEST(Triangles, go_several_strips_at_once_in_low_blocks) {
  for (const auto& [extent, bounds, row, column] : {std::tuple{"26", "0, i + 1", "i, k", "j, k"},
                                                    {"28", "i, 28", "k, i", "k, j"},
                                                    {"26", "i, 26", "k, i", "k, j"}}) {
    const std::string n = extent;
    const ProcPtr p = parsed("@proc\ndef gram(X: f32[" + n + ", " + n + "], G: f32[" + n + ", " +
                             n + "]):\n    for i in seq(0, " + n + "):\n        for j in seq(" +
                             bounds + "):\n            for k in seq(0, " + n +
                             "):\n                G[i, j] += X[" + row + "] * X[" + column + "]\n");
    for (const int64_t near : {0, 4096}) {
      const auto cut =
          triangle_of_strips({p, {}, false}, {{Child::kBody, 0}}, {}, {4, 4, 3}, near, 4);
      ASSERT_TRUE(cut) << n << bounds;
      EXPECT_EQ(
          str(*cut->proc).find("for j in seq(0, 2):\n                for k") == std::string::npos,
          n != "26" || bounds[0] == '0')
          << str(*cut->proc);
      EXPECT_NE(str(*cut->proc).find("for j in seq(0, 12)"), std::string::npos) << str(*cut->proc);
      EXPECT_NE(str(*cut->proc).find("for jb in"), std::string::npos) << str(*cut->proc);
      expect_same_result(p, cut->proc, str(*cut->proc));
    }
  }
}

TEST(Triangles, of_sums_go_strip_by_strip) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const VectorValues unit(*target, ScalarType::kF32, instruction_values(*target));
  const ProcPtr p = parsed(R"(
@proc
def lower(L: f32[24, 24], B: f32[24, 40], C: f32[24, 40]):
    for i in seq(0, 24):
        for j in seq(0, 40):
            for k in seq(0, i + 1):
                C[i, j] += L[i, k] * B[k, j]
)");
  const auto strips = triangle_in_strips({p, {}, false}, {{Child::kBody, 0}}, 16, unit);
  ASSERT_TRUE(strips);
  const auto cut = rectangle_and_corner(strips->schedule, strips->band, 6, Corners::kTriangles);
  ASSERT_TRUE(cut);
  EXPECT_NE(str(*cut->proc).find("C[6 * ib + i, 16 * js + j] += L[6 * ib + i, k] * B_pack"),
            std::string::npos)
      << str(*cut->proc);
  expect_same_result(p, cut->proc, str(*cut->proc));
  EXPECT_FALSE(triangle_in_strips({p, {}, false}, {{Child::kBody, 0}}, 64, unit));  // one strip
}

// for each sample: an outer product of which a triangle is kept.
std::string outer_products(const std::string& columns, const std::string& result) {
  return "@proc\ndef gram(x: f64[9, 12], A: f64[9, 12, 12]):\n    for n in seq(0, 9):\n"
         "        for i in seq(0, 12):\n            for j in seq(0, " +
         columns + "):\n                A[" + result + ", i, j] += x[n, i] * x[n, j]\n";
}

TEST(TriangleWithSumInside, computes_each_element_at_once) {
  const ProcPtr p = parsed(outer_products("i + 1", "0"));
  const std::optional<Schedule> made =
      triangle_with_sum_inside({p, {}, false}, {{Child::kBody, 0}});
  ASSERT_TRUE(made);
  const std::string text = str(*made->proc);
  EXPECT_LT(text.find("for i"), text.find("for j")) << text;
  EXPECT_LT(text.find("for j"), text.find("for n")) << text;
  expect_same_result(p, made->proc, text);
}

TEST(TriangleWithSumInside, is_for_triangles_and_for_sums) {
  for (const auto& [columns, result] : {std::pair("12", "0"), std::pair("i + 1", "n")}) {
    const ProcPtr p = parsed(outer_products(columns, result));
    EXPECT_FALSE(triangle_with_sum_inside({p, {}, false}, {{Child::kBody, 0}})) << str(*p);
  }
}

}  // namespace
}  // namespace exotune
