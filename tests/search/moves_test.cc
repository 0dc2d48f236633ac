// Each move by itself: what it makes of a nest that it is for, that this computes the same, and
// what it leaves.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/ir/printer.h"
#include "core/library/script.h"
#include "search/moves/closures.h"
#include "search/moves/distribution.h"
#include "search/moves/gathers.h"
#include "search/moves/inner_storage.h"
#include "search/moves/loop_order.h"
#include "search/moves/own_arrays.h"
#include "search/moves/parts.h"
#include "search/moves/row_fusion.h"
#include "search/moves/separation.h"
#include "search/moves/shared_passes.h"
#include "search/moves/transposition.h"
#include "search/program_search.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kSweeps = R"(
@proc
def sweeps(x: f32[20, 12], y: f32[20, 12]):
    for t in seq(0, 5):
        for i in seq(1, 19):
            for j in seq(1, 11):
                y[i, j] = x[i - 1, j] + x[i, j - 1] + x[i, j + 1] + x[i + 1, j]
        for i in seq(1, 19):
            for j in seq(1, 11):
                x[i, j] = y[i - 1, j] + y[i, j - 1] + y[i, j + 1] + y[i + 1, j]
)";

const char* const kStaggered = R"(
@proc
def staggered(f: f32[6], ex: f32[20, 12], ey: f32[20, 12], hz: f32[20, 12]):
    for t in seq(0, 6):
        for j in seq(0, 12):
            ey[0, j] = f[t]
        for i in seq(1, 20):
            for j in seq(0, 12):
                ey[i, j] = ey[i, j] - hz[i, j] + hz[i - 1, j]
        for i in seq(0, 20):
            for j in seq(1, 12):
                ex[i, j] = ex[i, j] - hz[i, j] + hz[i, j - 1]
        for i in seq(0, 19):
            for j in seq(0, 11):
                hz[i, j] = hz[i, j] - ex[i, j + 1] + ex[i, j] - ey[i + 1, j] + ey[i, j]
)";

const char* const kTwoPasses = R"(
@proc
def two_passes(g: f32[5], x: f32[24, 16], t: f32[24, 12], y: f32[20, 12]):
    for i in seq(0, 24):
        for j in seq(0, 12):
            t[i, j] = 0.0
            for k in seq(0, 5):
                t[i, j] += g[k] * x[i, j + k]
    for i in seq(0, 20):
        for j in seq(0, 12):
            y[i, j] = 0.0
            for k in seq(0, 5):
                y[i, j] += g[k] * t[i + k, j]
)";

TEST(RowFusion, a_sweep_follows_another_one_row_behind) {
  const ProcPtr p = parsed(kSweeps);
  const Schedule one = fuse_rows({p, {}, false}, 1);
  EXPECT_EQ(count_of(one.steps, "fuse"), 1);
  EXPECT_EQ(count_of(one.steps, "shift_loop"), 1);
  expect_same_result(p, one.proc, str(*one.proc));
}

TEST(RowFusion, sweeps_of_several_time_steps_are_a_wavefront) {
  const ProcPtr p = parsed(kSweeps);
  const Schedule two = fuse_rows({p, {}, false}, 2);
  EXPECT_EQ(count_of(two.steps, "fuse"), 3);
  EXPECT_EQ(count_of(two.steps, "unroll_loop"), 1);
  expect_same_result(p, two.proc, str(*two.proc));
}

TEST(RowFusion, sweeps_of_other_ranges_are_cut_to_what_they_share) {
  const ProcPtr p = parsed(kStaggered);
  const Schedule fused = fuse_rows({p, {}, false}, 1);
  EXPECT_EQ(count_of(fused.steps, "fuse"), 2);
  expect_same_result(p, fused.proc, str(*fused.proc));
}

TEST(RowFusion, a_consumer_stays_its_halo_behind) {
  const ProcPtr p = parsed(kTwoPasses);
  const Schedule fused = fuse_rows({p, {}, false}, 1);
  EXPECT_EQ(count_of(fused.steps, "fuse"), 1);
  expect_same_result(p, fused.proc, str(*fused.proc));
}

TEST(RowFusion, what_needs_all_rows_before_stays_apart) {
  const ProcPtr p = parsed(R"(
@proc
def mirrored(x: f32[20, 4], y: f32[20, 4]):
    for i in seq(0, 20):
        for j in seq(0, 4):
            x[i, j] = y[i, j] + 1.0
    for i in seq(0, 20):
        for j in seq(0, 4):
            y[i, j] = x[19 - i, j]
)");
  EXPECT_TRUE(fuse_rows({p, {}, false}, 1).steps.empty());
  EXPECT_FALSE(has_repeated_sweeps(*p));
  EXPECT_TRUE(fuse_rows({p, {}, false}, 2).steps.empty());
}

// A matrix and its transpose times a vector, with what is in between.
const char* const kBothWays = R"(
@proc
def both_ways(a: f64[9, 13], x: f64[9], y: f64[13], u: f64[13], v: f64[9]):
    for i in seq(0, 9):
        for j in seq(0, 13):
            x[i] += a[i, j] * u[j]
    for i in seq(0, 9):
        v[i] = v[i] * 2.0
    for i in seq(0, 13):
        for j in seq(0, 9):
            y[i] += a[j, i] * v[j]
)";

TEST(SharedPasses, a_matrix_is_read_once_for_both_products) {
  const ProcPtr p = parsed(kBothWays);
  const Schedule one = share_passes({p, {}, false});
  EXPECT_EQ(count_of(one.steps, "reorder_loops"), 1);
  EXPECT_EQ(count_of(one.steps, "fuse"), 2);
  // v is scaled before the second product, which cannot pass it, but after the first, which can.
  EXPECT_EQ(count_of(one.steps, "reorder_stmts"), 1);
  EXPECT_EQ(one.proc->body.size(), 2u);
  expect_same_result(p, one.proc, str(*one.proc));
}

TEST(SharedPasses, an_updated_array_is_used_where_it_was_updated) {
  const ProcPtr p = parsed(R"(
@proc
def rank_one_and_product(a: f64[7, 9], s: f64[7], t: f64[9], x: f64[9], y: f64[7]):
    for i in seq(0, 7):
        for j in seq(0, 9):
            a[i, j] += s[i] * t[j]
    for j in seq(0, 9):
        for i in seq(0, 7):
            x[j] += a[i, j] * y[i]
)");
  const Schedule one = share_passes({p, {}, false});
  EXPECT_EQ(count_of(one.steps, "fuse"), 2);
  EXPECT_EQ(one.proc->body.size(), 1u);
  expect_same_result(p, one.proc, str(*one.proc));
}

TEST(SharedPasses, what_needs_the_whole_sum_before_stays_apart) {
  const ProcPtr p = parsed(R"(
@proc
def there_and_back(a: f64[7, 9], t: f64[7], x: f64[9], y: f64[9]):
    for i in seq(0, 7):
        for j in seq(0, 9):
            t[i] += a[i, j] * x[j]
    for j in seq(0, 9):
        for i in seq(0, 7):
            y[j] += a[i, j] * t[i]
)");
  EXPECT_TRUE(share_passes({p, {}, false}).steps.empty());
}

TEST(Parts, a_time_loop_is_walked_into) {
  EXPECT_EQ(parts_of(parsed(kSteps)).size(), 2u);
  EXPECT_TRUE(is_one_nest(parsed(kTransposed)));
  EXPECT_FALSE(is_one_nest(parsed(kSteps)));
}

// The loops over k alone would step from row to row.
TEST(Parts, a_loop_along_rows_is_one_with_the_nests_in_it) {
  const auto rows = [](const std::string& element) {
    return parsed(R"(
@proc
def chains(x: f32[5, 8, 16], y: f32[16, 16]):
    for t in seq(0, 5):
        for i in seq(0, 16):
            s: f32
            s = 0.0
            for k in seq(0, 8):
                s += x[t, k, i]
            for k in seq(0, 8):
                y[)" +
                  element + R"(] = y[)" + element + R"(] * s
)");
  };
  EXPECT_EQ(parts_of(rows("k, i")).size(), 1u);
  EXPECT_EQ(parts_of(rows("i, k")).size(), 2u);
}

TEST(LoopOrders, are_all_legal_ones) {
  const ProcPtr p = parsed(kTransposed);
  EXPECT_EQ(loop_orders({p, {}, false}, {{Child::kBody, 0}}).size(), 6u);
}

TEST(LoopOrders, bring_what_is_named_inside_with_the_fewest_swaps) {
  const Path band = {{Child::kBody, 0}};
  const ProcPtr p = parsed(kFourIndices);
  const std::vector<LoopOrder> orders = loop_orders({p, {}, false}, band);
  const auto product = with_innermost(orders.front(), band, {"b", "d", "e"});
  ASSERT_TRUE(product);
  EXPECT_EQ(product->order, (std::vector<int>{0, 2, 1, 3, 4}));
  EXPECT_EQ(product->schedule.steps.size(), 1u);
  EXPECT_FALSE(with_innermost(orders.front(), band, {"b", "q"}));
}

TEST(Distribution, keeps_what_depends_together) {
  const ProcPtr p = parsed(kSteps);
  EXPECT_TRUE(distribute({p, {}, false}, true).steps.empty());
}

// The rows of a triangle have as much room as the longest one.
TEST(Distribution, scalars_of_a_triangle_become_rows_of_a_square) {
  const ProcPtr p = parsed(R"(
@proc
def pairs(x: f32[7, 5], v: f32[5, 5]):
    for a in seq(0, 5):
        for b in seq(0, a + 1):
            s: f32 = 0.0
            for t in seq(0, 7):
                s += x[t, a] * x[t, b]
            v[a, b] = s
)");
  const Schedule apart = distribute({p, {}, false}, true);
  const std::string text = str(*apart.proc);
  EXPECT_NE(text.find("s : f32[5, 5]"), std::string::npos) << text;
  EXPECT_EQ(apart.proc->body.size(), 4u) << text;
  expect_same_result(p, apart.proc, text);
}

// What a point has a few of lies side by side over the points; longer rows stay rows.
TEST(Distribution, few_elements_of_each_point_are_rows_of_points) {
  const ProcPtr p = parsed(R"(
@proc
def gates(w: f32[3, 20, 6], x: f32[4, 6], y: f32[4, 20]):
    for b in seq(0, 4):
        for j in seq(0, 20):
            g: f32[3]
            for c in seq(0, 3):
                g[c] = 0.0
                for k in seq(0, 6):
                    g[c] += w[c, j, k] * x[b, k]
            y[b, j] = g[0] * g[1] + g[2]
)");
  const Schedule apart = distribute({p, {}, false}, true);
  EXPECT_NE(str(*apart.proc).find("g : f32[4, 3, 20]"), std::string::npos) << str(*apart.proc);
  expect_same_result(p, apart.proc, str(*apart.proc));

  const ProcPtr rows = parsed(R"(
@proc
def rows(w: f32[40, 6], x: f32[20, 6], y: f32[20, 40]):
    for j in seq(0, 20):
        g: f32[40]
        for c in seq(0, 40):
            g[c] = 0.0
            for k in seq(0, 6):
                g[c] += w[c, k] * x[j, k]
        for c in seq(0, 40):
            y[j, c] = g[c] * g[39 - c]
)");
  const std::string text = str(*distribute({rows, {}, false}, true).proc);
  EXPECT_NE(text.find("g : f32[20, 40]"), std::string::npos) << text;
}

// Doubles beside words: each has vectors of its own lanes then. What only one of them needs stays.
TEST(Distribution, statements_of_different_widths_part) {
  const ProcPtr p = parsed(R"(
@proc
def revenue(price: f32[3, 20], day: i32[3, 20], sum: f64[3], count: i32[3]):
    for g in seq(0, 3):
        for r in seq(0, 20):
            keep: i32
            late: i32
            late = day[g, r] + 1
            keep = select(late, 7, 1, 0)
            count[g] += keep
            sum[g] += f64(keep) * f64(price[g, r])
)");
  const Schedule apart = distribute({p, {}, false}, false);
  const std::string text = str(*apart.proc);
  EXPECT_NE(text.find("keep : i32[20]"), std::string::npos) << text;
  EXPECT_NE(text.find("late : i32 @"), std::string::npos) << text;
  EXPECT_EQ(apart.proc->body.size(), 1u) << text;
  EXPECT_EQ(text.find("for r", text.find("for r", text.find("for r") + 1) + 1), std::string::npos)
      << text;
  EXPECT_NE(text.find("for r", text.find("for r") + 1), std::string::npos) << text;
  expect_same_result(p, apart.proc, text);
}

TEST(Closures, are_taken_in_blocks_of_whole_vectors_that_divide_them_first) {
  const ProcPtr p = parsed(R"(
@proc
def paths(x: f32[144, 144]):
    for k in seq(0, 144):
        for i in seq(0, 144):
            for j in seq(0, 144):
                x[i, j] min= x[i, k] + x[k, j]
)");
  const std::vector<Schedule> made = blocks_of_closures({p, {}, false}, 4);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(*made[0].steps.back().args.back().as<int64_t>(), 48);
  EXPECT_NE(str(*made[0].proc).find("x[i, j] min= x_column1[k, i] + x_row1[k, j]"),
            std::string::npos);
  EXPECT_TRUE(blocks_of_closures({parsed(kSteps), {}, false}, 4).empty());
}

TEST(Gathers, take_short_windows_whole_and_long_ones_by_rows) {
  const ProcPtr p = parsed(R"(
@proc
def product(a: f32[20], b: f32[40], c: f32[60]):
    for i in seq(0, 20):
        for j in seq(0, 40):
            c[i + j] += a[i] * b[j]
)");
  const std::vector<Schedule> made = gathered_sums_of({p, {}, false}, {});
  ASSERT_EQ(made.size(), 3u);  // 16 and 8 rows, and all
  for (const Schedule& s : made) expect_same_result(p, s.proc, str(*s.proc));
  const ProcPtr window = parsed(R"(
@proc
def windows(x: f32[9, 10], w: f32[3, 3], y: f32[19, 12]):
    for i in seq(0, 9):
        for j in seq(0, 10):
            for u in seq(0, 3):
                for v in seq(0, 3):
                    y[2 * i + u, j + v] += x[i, j] * w[u, v]
)");
  const std::vector<Schedule> whole = gathered_sums_of({window, {}, false}, {});
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_NE(str(*whole[0].proc).find("y[2 * i + ur, j] += x[i - u, j - v] * w[2 * u + ur, v]"),
            std::string::npos)
      << str(*whole[0].proc);
  expect_same_result(window, whole[0].proc, str(*whole[0].proc));
  EXPECT_TRUE(gathered_sums_of({parsed(kSweeps), {}, false}, {}).empty());
}

// A row of sums that is made anew for each row of A; `first`: what each begins with.
ProcPtr rows_through_a_buffer(const std::string& first) {
  return parsed(R"(
@proc
def rows(A: f32[3, 5, 6], W: f32[6, 6], sum: f32[6]):
    for r in seq(0, 3):
        for q in seq(0, 5):
            for p in seq(0, 6):
                )" +
                first + R"(
                for s in seq(0, 6):
                    sum[p] += A[r, q, s] * W[s, p]
            for p in seq(0, 6):
                A[r, q, p] = sum[p]
)");
}

TEST(OwnArrays, are_made_for_each_iteration_of_the_innermost_loop) {
  const ProcPtr p = rows_through_a_buffer("sum[p] = 0.0");
  const std::optional<Schedule> own = with_own_arrays({p, {}, false});
  ASSERT_TRUE(own);
  const std::string text = str(*own->proc);
  EXPECT_NE(text.find("sum_own : f32[5, 6]"), std::string::npos) << text;
  EXPECT_NE(text.find("sum_own[q, p] += A[r, q, s] * W[s, p]"), std::string::npos) << text;
  EXPECT_EQ(own->steps.back().op, "fission");
  expect_same_result(p, own->proc, text);
}

TEST(OwnArrays, are_not_made_of_what_goes_from_iteration_to_iteration) {
  EXPECT_FALSE(with_own_arrays({rows_through_a_buffer("sum[p] += 1.0"), {}, false}));
  EXPECT_FALSE(with_own_arrays({parsed(kStages), {}, false}));  // moves along every loop
  EXPECT_FALSE(with_own_arrays({parsed(kSteps), {}, false}));
}

TEST(InnerStorage, keeps_an_element_where_each_iteration_uses_its_own) {
  const std::string text = R"(
@proc
def biased(A: f32[5, 6], B: f32[6, 7], b: f32[7], C: f32[5, 7]):
    T: f32[5, 7]
    for i in seq(0, 5):
        for j in seq(0, 7):
            T[i, j] = b[j]
            for k in seq(0, 6):
                T[i, j] += A[i, k] * B[k, j]
            C[i, j] = relu(T[i, j])
)";
  const ProcPtr p = parsed(text);
  const Schedule inside = with_storage_inside({p, {}, false});
  EXPECT_EQ(count_of(inside.steps, "store_at"), 1);
  EXPECT_NE(str(*inside.proc).find("            T : f32 @ DRAM"), std::string::npos)
      << str(*inside.proc);
  expect_same_result(p, inside.proc, str(*inside.proc));
  // Another nest reads it; an iteration reads what one before it made.
  EXPECT_TRUE(with_storage_inside({parsed(text + R"(
    for i in seq(0, 5):
        C[i, 0] = T[i, 1]
)"),
                                   {},
                                   false})
                  .steps.empty());
  EXPECT_TRUE(with_storage_inside({parsed(R"(
@proc
def running(x: f32[6], y: f32[6]):
    t: f32[7]
    t[0] = 0.0
    for i in seq(0, 6):
        t[i + 1] = t[i] + x[i]
        y[i] = t[i + 1]
)"),
                                   {},
                                   false})
                  .steps.empty());
}

TEST(Separation, gives_a_buffer_read_twice_a_copy) {
  const ProcPtr p = parsed(R"(
@proc
def twice(A: f32[16, 24], C: f32[8, 16]):
    for i in seq(0, 8):
        for j in seq(0, 16):
            for k in seq(0, 16):
                C[i, j] += A[k, i + 16] * A[k, j]
)");
  const std::optional<Schedule> apart =
      separate_operands({p, {}, false}, Cursor::stmt(p, {{Child::kBody, 0}}), {});
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->steps.front().op, "stage_mem");
  expect_same_result(p, apart->proc, str(*apart->proc));
}

TEST(Separation, leaves_the_parts_of_an_element_together) {
  const ProcPtr p = parsed(R"(
@proc
def parts(a: f32[8, 2], x: f32[8, 16]):
    for i in seq(0, 8):
        for j in seq(0, 16):
            x[i, j] = a[i, 0] * x[i, j] + a[i, 1]
)");
  EXPECT_FALSE(separate_operands({p, {}, false}, Cursor::stmt(p, {{Child::kBody, 0}}), {}));
}

TEST(Transposition, copies_what_the_nest_reads_of_an_operand) {
  const ProcPtr p = parsed(R"(
@proc
def part(A: f32[12, 16], B: f32[400, 16], C: f32[12, 40]):
    for i in seq(0, 12):
        for j in seq(0, 40):
            for k in seq(0, 16):
                C[i, j] += A[i, k] * B[j + 80, k]
)");
  const std::optional<Schedule> turned =
      transpose_operands({p, {}, false}, Cursor::stmt(p, {{Child::kBody, 0}}), {});
  ASSERT_TRUE(turned);
  EXPECT_NE(str(*turned->proc).find("B_t : f32[16, 40]"), std::string::npos) << str(*turned->proc);
  expect_same_result(p, turned->proc, str(*turned->proc));
}

}  // namespace
}  // namespace exotune
