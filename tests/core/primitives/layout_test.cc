#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

const char* const kCopyRow = R"(
@proc
def f(N: size, x: f32[N, 8], y: f32[N, 8]):
    for i in seq(0, N):
        t : f32[8]
        for j in seq(0, 8):
            t[j] = 2.0 * x[i, j]
        for j in seq(0, 8):
            y[i, j] = t[j]
)";

TEST(Layout, expand_dim_gives_each_iteration_its_row) {
  ProcPtr p = parse_last(kCopyRow);
  Cursor t = find(p, "t : _");
  ProcPtr q = expand_dim(p, t, control(p, t, "N"), control(p, t, "i"));
  EXPECT_TRUE(contains(str(*q), "t : f32[N, 8]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "t[i, j]")) << str(*q);
  expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 3}}});
  q = lift_alloc(q, "t");
  expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 3}}});
}

TEST(Layout, expand_dim_refuses_an_index_outside) {
  ProcPtr p = parse_last(kCopyRow);
  Cursor t = find(p, "t : _");
  EXPECT_REFUSED(expand_dim(p, t, control(p, t, "4"), control(p, t, "i")), "not proved within");
  EXPECT_REFUSED(expand_dim(p, t, control(p, t, "N"), control(p, t, "i - 1")), "not proved within");
}

TEST(Layout, expand_dim_refuses_an_empty_size) {
  ProcPtr p = parse_last(kCopyRow);
  Cursor t = find(p, "t : _");
  EXPECT_REFUSED(expand_dim(p, t, control(p, t, "i"), control(p, t, "0")), "positive");
}

TEST(Layout, expand_dim_refuses_an_iterator_of_a_use) {
  ProcPtr p = parse_last(kCopyRow);
  Cursor t = find(p, "t : _");
  Cursor inner = find(p, "t[_] = _");
  EXPECT_REFUSED(expand_dim(p, t, control(p, t, "8"), control(p, inner, "j")), "not visible");
}

TEST(Layout, expand_dim_passes_windows_of_the_new_row) {
  ProcPtr p = parse_last(R"(
@proc
def g(dst: [f32][8]):
    for k in seq(0, 8):
        dst[k] = 1.0
@proc
def f(N: size, y: f32[N, 8]):
    for i in seq(0, N):
        t : f32[8]
        g(t)
        w = t[2:6]
        for j in seq(0, 4):
            y[i, j] = w[j]
)");
  Cursor t = find(p, "t : _");
  ProcPtr q = expand_dim(p, t, control(p, t, "N"), control(p, t, "i"));
  EXPECT_TRUE(contains(str(*q), "g(t[i, 0:8])")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "w = t[i, 2:6]")) << str(*q);
  expect_same_meaning(p, q, {{{"N", 2}}});
}

TEST(Layout, expand_dim_refuses_a_dense_formal) {
  ProcPtr p = parse_last(R"(
@proc
def g(dst: f32[8]):
    for k in seq(0, 8):
        dst[k] = 1.0
@proc
def f(N: size, y: f32[N, 8]):
    for i in seq(0, N):
        t : f32[8]
        g(t)
        for j in seq(0, 4):
            y[i, j] = t[j]
)");
  Cursor t = find(p, "t : _");
  EXPECT_REFUSED(expand_dim(p, t, control(p, t, "N"), control(p, t, "i")), "dense tensor");
}

const char* const kTile = R"(
@proc
def f(N: size, x: f32[8 * N], y: f32[8 * N]):
    t : f32[8 * N]
    for io in seq(0, N):
        for ii in seq(0, 8):
            t[8 * io + ii] = x[8 * io + ii]
    for io in seq(0, N):
        for ii in seq(0, 8):
            y[8 * io + ii] = t[8 * io + ii] + t[ii]
)";

TEST(Layout, divide_dim_splits_size_and_indices) {
  ProcPtr p = parse_last(kTile);
  ProcPtr q = divide_dim(p, "t", 0, 8);
  EXPECT_TRUE(contains(str(*q), "t : f32[N, 8]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "t[io, ii] = ")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "t[0, ii]")) << str(*q);
  expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 3}}});
}

TEST(Layout, divide_dim_refuses_a_remainder) {
  ProcPtr p = parse_last(kTile);
  EXPECT_REFUSED(divide_dim(p, "t", 0, 3), "divisible");
  EXPECT_REFUSED(divide_dim(p, "t", 1, 8), "no dimension");
  EXPECT_REFUSED(divide_dim(p, "t", 0, 0), "positive");
}

TEST(Layout, divide_dim_keeps_windows_within_one_run) {
  ProcPtr p = parse_last(R"(
@proc
def g(dst: [f32][4]):
    for k in seq(0, 4):
        dst[k] = 1.0
@proc
def f(y: f32[16]):
    t : f32[16]
    for i in seq(0, 4):
        g(t[4 * i:4 * i + 4])
    for i in seq(0, 16):
        y[i] = t[i]
)");
  ProcPtr q = divide_dim(p, "t", 0, 4);
  EXPECT_TRUE(contains(str(*q), "g(t[i, 0:4])")) << str(*q);
  expect_same_meaning(p, q);
  EXPECT_REFUSED(divide_dim(p, "t", 0, 2), "crosses a multiple");
}

TEST(Layout, mult_dim_is_the_way_back) {
  ProcPtr p = parse_last(kTile);
  ProcPtr q = mult_dim(divide_dim(p, "t", 0, 8), "t", 0, 1);
  EXPECT_TRUE(contains(str(*q), "t : f32[8 * N]")) << str(*q);
  expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 3}}});
}

TEST(Layout, mult_dim_refuses_a_symbolic_inner_size) {
  ProcPtr p = parse_last(kTile);
  EXPECT_REFUSED(mult_dim(divide_dim(p, "t", 0, 8), "t", 1, 0), "not a literal");
}

TEST(Layout, mult_dim_joins_the_point_and_the_run_of_a_window) {
  const char* const callee = R"(
@proc
def g(dst: [f32][2]):
    for k in seq(0, 2):
        dst[k] = 1.0
)";
  ProcPtr p = parse_last(std::string(callee) + R"(
@proc
def f(y: f32[3, 5, 4]):
    t : f32[3, 5, 4]
    for i in seq(0, 3):
        for j in seq(0, 5):
            g(t[i, j, 0:2])
            w = t[i, j, 2:4]
            g(w)
            for k in seq(0, 4):
                y[i, j, k] = t[i, j, k]
)");
  ProcPtr q = mult_dim(p, "t", 0, 2);
  EXPECT_TRUE(contains(str(*q), "t : f32[12, 5]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "g(t[4 * i:4 * i + 2, j])")) << str(*q);
  expect_same_meaning(p, q);
  ProcPtr across = parse_last(std::string(callee) + R"(
@proc
def f(y: f32[2]):
    t : f32[2, 4]
    g(t[0:2, 1])
    for i in seq(0, 2):
        y[i] = t[i, 1]
)");
  EXPECT_REFUSED(mult_dim(across, "t", 0, 1), "spans dimension 0");
}

TEST(Layout, join_dims_takes_the_same_memory) {
  ProcPtr p = parse_last(R"(
@proc
def g(dst: [f32][2]):
    for k in seq(0, 2):
        dst[k] = 1.0

@proc
def f(N: size, x: f32[N, 5, 4], y: f32[3, 5, 4]):
    for i in seq(0, 3):
        for j in seq(0, 5):
            g(y[i, j, 2:4])
            for k in seq(0, 2):
                y[i, j, k] = x[0, j, k]
)");
  ProcPtr q = join_dims(join_dims(join_dims(p, "x", 1), "y", 0), "y", 0);
  EXPECT_TRUE(contains(str(*q), "x: f32[N, 20] @ DRAM, y: f32[60]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "y[20 * i + 4 * j + k] = x[0, 4 * j + k]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "g(y[20 * i + 4 * j + 2:20 * i + 4 * j + 4])")) << str(*q);
  check(*q);
  EXPECT_FALSE(is_equivalent(p, q));  // who calls it passes another shape
  // The same numbers, row after row.
  Arguments before = make_arguments(*p, {{"N", 2}}, 1), after = copy_of(before);
  after.buffers[0]->shape = {2, 20};
  after.buffers[1]->shape = {60};
  Program(*p, Arithmetic::kExact).run(before.values, {});
  Program(*q, Arithmetic::kExact).run(after.values, {});
  EXPECT_EQ(before.buffers[1]->data, after.buffers[1]->data);
}

TEST(Layout, join_dims_refuses_what_is_no_row_after_row) {
  ProcPtr p = parse_last(R"(
@proc
def g(dst: [f32][3, 4]):
    dst[0, 0] = 1.0

@proc
def f(N: size, x: f32[4, N], w: [f32][3, 4], z: f32[3, 4], r: f32[3, 4]):
    assert stride(r, 0) == 4
    t : f32[3, 4]
    g(z)
    w[0, 0] = 0.0
    x[0, 0] = r[0, 0]
)");
  EXPECT_REFUSED(join_dims(p, "x", 0), "not a literal");
  EXPECT_REFUSED(join_dims(p, "w", 0), "is a window");
  EXPECT_REFUSED(join_dims(p, "z", 0), "spans dimension 0");
  EXPECT_REFUSED(join_dims(p, "r", 0), "about strides");
  EXPECT_REFUSED(join_dims(p, "x", 1), "no dimensions 1 and 2");
  EXPECT_REFUSED(join_dims(p, "x", -1), "no dimensions");
  EXPECT_REFUSED(join_dims(p, "t : _", 0), "mult_dim is for allocations");
}

TEST(Layout, rearrange_dim_permutes) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N, 4, 8], y: f32[N, 4, 8]):
    t : f32[N, 4, 8]
    for i in seq(0, N):
        for j in seq(0, 4):
            for k in seq(0, 8):
                t[i, j, k] = x[i, j, k]
    for i in seq(0, N):
        for j in seq(0, 4):
            for k in seq(0, 8):
                y[i, j, k] += t[i, j, k]
)");
  ProcPtr q = rearrange_dim(p, "t", {2, 0, 1});
  EXPECT_TRUE(contains(str(*q), "t : f32[8, N, 4]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "t[k, i, j]")) << str(*q);
  expect_same_meaning(p, q, {{{"N", 2}}});
  EXPECT_REFUSED(rearrange_dim(p, "t", {0, 1}), "permutation");
  EXPECT_REFUSED(rearrange_dim(p, "t", {0, 1, 1}), "permutation");
}

TEST(Layout, rearrange_dim_refuses_a_transposed_window) {
  ProcPtr p = parse_last(R"(
@proc
def g(dst: [f32][4, 8]):
    for k in seq(0, 4):
        dst[k, 0] = 1.0
@proc
def f(y: f32[4]):
    t : f32[4, 8]
    g(t)
    for i in seq(0, 4):
        y[i] = t[i, 0]
)");
  EXPECT_REFUSED(rearrange_dim(p, "t", {1, 0}), "order of its dimensions");
}

TEST(Layout, a_call_that_asserts_a_stride_is_proved_again) {
  ProcPtr p = parse_last(R"(
@proc
def g(dst: [f32][4]):
    assert stride(dst, 0) == 1
    for k in seq(0, 4):
        dst[k] = 1.0
@proc
def f(y: f32[4]):
    t : f32[2, 4]
    g(t[0, :])
    for i in seq(0, 4):
        y[i] = t[0, i]
)");
  EXPECT_REFUSED(rearrange_dim(p, "t", {1, 0}), "stride(dst, 0) == 1");
}

TEST(Layout, resize_dim_shifts_and_shrinks) {
  ProcPtr p = parse_last(R"(
@proc
def f(x: f32[16], y: f32[16]):
    t : f32[32]
    for i in seq(4, 16):
        t[i] = x[i]
    for i in seq(4, 16):
        y[i] = t[i]
)");
  Cursor t = find(p, "t : _");
  ProcPtr q = resize_dim(p, t, 0, int_const(12), int_const(4));
  EXPECT_TRUE(contains(str(*q), "t : f32[12]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "t[i - 4]")) << str(*q);
  expect_same_meaning(p, q);
  EXPECT_REFUSED(resize_dim(p, t, 0, int_const(11), int_const(4)), "within the new size");
  EXPECT_REFUSED(resize_dim(p, t, 0, int_const(12), int_const(5)), "within the new size");
  expect_same_meaning(p, resize_dim(p, t, 0, int_const(64), int_const(0)));
}

const char* const kStencil = R"(
@proc
def f(N: size, x: f32[N + 2], y: f32[N]):
    t : f32[N + 2]
    t[0] = x[0]
    t[1] = x[1]
    for i in seq(0, N):
        t[i + 2] = x[i + 2]
        y[i] = t[i] + t[i + 1] + t[i + 2]
)";

TEST(Layout, resize_dim_folds_a_sliding_window) {
  ProcPtr p = parse_last(kStencil);
  ProcPtr q = resize_dim(p, "t", 0, int_const(3), int_const(0), true);
  EXPECT_TRUE(contains(str(*q), "t : f32[3]")) << str(*q);
  expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 2}}, {{"N", 7}}});
}

TEST(Layout, resize_dim_refuses_to_fold_live_values) {
  ProcPtr p = parse_last(kStencil);
  EXPECT_REFUSED(resize_dim(p, "t", 0, int_const(2), int_const(0), true), "two live values");
  ProcPtr whole = parse_last(R"(
@proc
def f(x: f32[8], y: f32[8]):
    t : f32[8]
    for i in seq(0, 8):
        t[i] = x[i]
    for i in seq(0, 8):
        y[i] = t[i]
)");
  EXPECT_REFUSED(resize_dim(whole, "t", 0, int_const(4), int_const(0), true), "two live values");
}

TEST(Layout, unroll_buffer_makes_one_buffer_per_index) {
  ProcPtr p = parse_last(R"(
@proc
def f(x: f32[8], y: f32[8]):
    t : f32[2, 8]
    for i in seq(0, 8):
        t[0, i] = x[i]
    for i in seq(0, 8):
        t[1, i] = t[0, i] + 1.0
    for i in seq(0, 8):
        y[i] = t[1, i]
)");
  ProcPtr q = unroll_buffer(p, "t", 0);
  EXPECT_TRUE(contains(str(*q), "t_0 : f32[8]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "t_1[i] = t_0[i] + 1.0")) << str(*q);
  expect_same_meaning(p, q);
  EXPECT_REFUSED(unroll_buffer(p, "t", 1), "not a literal");
}

TEST(Layout, unroll_buffer_refuses_a_window_along_the_dimension) {
  ProcPtr p = parse_last(R"(
@proc
def g(dst: [f32][2]):
    dst[0] = 1.0
    dst[1] = 2.0
@proc
def f(y: f32[2]):
    t : f32[2, 8]
    g(t[:, 3])
    y[0] = t[0, 3]
)");
  EXPECT_REFUSED(unroll_buffer(p, "t", 0), "windowed along");
}

TEST(Layout, cursors_to_statements_stay) {
  ProcPtr p = parse_last(kTile);
  Cursor assign = find(p, "y[_] = _");
  ProcPtr q = divide_dim(p, "t", 0, 8);
  Cursor moved = forward(q, assign);
  ASSERT_TRUE(moved.valid());
  EXPECT_EQ(str(moved.stmt()), "y[8 * io + ii] = t[io, ii] + t[0, ii]\n");
}

}  // namespace
}  // namespace exotune::test
