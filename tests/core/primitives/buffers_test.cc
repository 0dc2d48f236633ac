#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

const std::vector<Sizes> kSmall{{{"N", 1}}, {{"N", 2}}, {{"N", 5}}};

TEST(LiftAlloc, moves_out_of_loops) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N, N], y: f32[N, N]):
    for i in seq(0, N):
        for j in seq(0, N):
            t : f32
            t = x[i, j]
            y[i, j] = t * t
)");
  ProcPtr q = lift_alloc(p, "t", 2);
  EXPECT_TRUE(contains(str(*q), "    t : f32 @ DRAM\n    for i in seq(0, N):") ||
              contains(str(*q), "    t : f32\n    for i in seq(0, N):"))
      << str(*q);
  expect_same_meaning(p, q, kSmall);
  EXPECT_REFUSED(lift_alloc(p, "t", 3), "top of the proc");
  EXPECT_REFUSED(lift_alloc(p, "t", 0), "at least 1");
}

TEST(LiftAlloc, refuses_a_size_that_depends_on_the_loop) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        t : f32[i + 1]
        t[i] = x[i]
        y[i] = t[i]
)");
  EXPECT_REFUSED(lift_alloc(p, "t"), "depends on the loop");
}

TEST(LiftAlloc, refuses_to_share_a_buffer_in_a_parallel_loop) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in par(0, N):
        t : f32
        t = x[i]
        y[i] = t
)");
  EXPECT_REFUSED(lift_alloc(p, "t"), "share");
  Cursor t = find(p, "t : _");
  ProcPtr q = expand_dim(p, t, control(p, t, "N"), control(p, t, "i"));
  expect_same_meaning(p, lift_alloc(q, "t"), kSmall);
}

// Read in order of another loop than it was written in: not seen to be written before, but nobody
// else's.
TEST(LiftAlloc, takes_what_has_elements_of_its_own_in_each_iteration) {
  const auto with = [](const std::string& one, const std::string& other) {
    return parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        t : f32[5, 2 * N + 2]
        for k in seq(0, 5):
            t[2 * k - 5 * (k / 3), )" +
                      one + R"(] = x[i]
        for k in seq(0, 5):
            y[i] += t[k, )" +
                      other + "]\n");
  };
  for (const char* own : {"i", "2 * i + 1"}) {
    const ProcPtr p = with(own, own);
    expect_same_meaning(p, lift_alloc(p, "t"), kSmall);
  }
  for (const char* other : {"i + 1", "2 * i", "0", "N"})
    EXPECT_REFUSED(lift_alloc(with("i", other), "t"), "would carry a value");
  EXPECT_REFUSED(lift_alloc(with("0", "0"), "t"), "would carry a value");
}

TEST(LiftAlloc, refuses_a_size_not_positive_outside_the_guard) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    if N > 2:
        t : f32[N - 2]
        t[0] = x[0]
        y[0] = t[0]
)");
  EXPECT_REFUSED(lift_alloc(p, "t"), "not proved positive");
}

TEST(SinkAlloc, moves_into_the_loop_that_uses_it) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    t : f32
    for i in seq(0, N):
        t = x[i]
        y[i] = t + t
)");
  ProcPtr q = sink_alloc(p, "t");
  EXPECT_TRUE(find(q, "t : _").parent().is<For>());
  expect_same_meaning(p, q, kSmall);
}

TEST(SinkAlloc, refuses_a_value_carried_over_iterations) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    t : f32
    for i in seq(0, N):
        if i == 0:
            t = x[0]
        y[i] = t
)");
  EXPECT_REFUSED(sink_alloc(p, "t"), "carries a value");
  ProcPtr sum = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    t : f32
    for i in seq(0, N):
        t += x[i]
        y[i] = t
)");
  EXPECT_REFUSED(sink_alloc(sum, "t"), "carries a value");
}

TEST(SinkAlloc, refuses_a_second_user) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    t : f32
    for i in seq(0, N):
        t = x[i]
    y[0] = t
)");
  EXPECT_REFUSED(sink_alloc(p, "t"), "more than one statement");
}

TEST(SinkAlloc, refuses_a_user_through_a_window) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    t : f32[4]
    w = t[0:2]
    for i in seq(0, N):
        t[0] = x[i]
        y[i] = t[0]
    y[0] = w[0]
)");
  EXPECT_REFUSED(sink_alloc(p, "t"), "more than one statement");
}

TEST(SinkAlloc, gives_each_branch_its_own) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    t : f32
    if N > 2:
        t = x[0]
        y[0] = t
    else:
        t = 2.0
        y[0] = t
)");
  ProcPtr q = sink_alloc(p, "t");
  EXPECT_EQ(find_all(q, "t : _").size(), 2u) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(DeleteBuffer, drops_what_nobody_reads) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    t : f32[N]
    for i in seq(0, N):
        t[i] = x[i]
        t[i] += 1.0
        y[i] = x[i]
)");
  ProcPtr q = delete_buffer(p, "t");
  EXPECT_FALSE(contains(str(*q), "t") && contains(str(*q), "t[")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(DeleteBuffer, refuses_one_that_is_read) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    t : f32[N]
    w = t[0:N]
    for i in seq(0, N):
        t[i] = x[i]
        y[i] = w[i]
)");
  EXPECT_REFUSED(delete_buffer(p, "t"), "still read");
}

TEST(ReuseBuffer, puts_a_second_buffer_in_the_first) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    a : f32[N]
    for i in seq(0, N):
        a[i] = x[i]
    for i in seq(0, N):
        y[i] = a[i]
    b : f32[N]
    for i in seq(0, N):
        b[i] = 2.0 * x[i]
    for i in seq(0, N):
        y[i] += b[i]
)");
  ProcPtr q = reuse_buffer(p, "a", "b");
  EXPECT_EQ(find_all(q, "_ : _").size(), 1u) << str(*q);
  expect_same_meaning(p, q, kSmall);
  EXPECT_REFUSED(reuse_buffer(p, "b", "a"), "not visible");
}

TEST(Unstage, sums_in_the_element_that_the_scalar_came_from) {
  const ProcPtr p = parse_last(R"(
@proc
def f(N: size, A: f32[N, N]):
    for i in seq(0, N):
        for j in seq(0, i):
            w : f32
            w = A[i, j]
            for k in seq(0, j):
                w += -(A[i, k] * A[k, j])
            A[i, j] = w / 2.0
)");
  const ProcPtr q = unstage(p, "w");
  EXPECT_TRUE(find_all(q, "_ : _").empty()) << str(*q);
  EXPECT_NE(str(*q).find("A[i, j] += -(A[i, k] * A[k, j])"), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("A[i, j] = A[i, j] / 2.0"), std::string::npos) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(Unstage, leaves_no_store_of_the_scalar_alone) {
  const ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        t : f32
        t = x[i]
        t += y[i]
        x[i] = t
)");
  const ProcPtr q = unstage(p, "t");
  EXPECT_EQ(str(*q).find("x[i] = x[i]"), std::string::npos) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(Unstage, refuses_where_somebody_sees_the_element_between) {
  const auto refused = [](const std::string& between, const std::string& why) {
    const ProcPtr p = parse_last(
        "@proc\ndef f(N: size, x: f32[N], y: f32[N]):\n    for i in seq(1, N):\n"
        "        t : f32\n        t = x[i]\n" +
        between);
    EXPECT_REFUSED(unstage(p, "t"), why);
  };
  refused("        t += 1.0\n        y[i] = x[i]\n        x[i] = t\n", "another program");
  refused("        x[i] = 2.0\n        t += 1.0\n        x[i] = t\n", "another program");
  refused("        for k in seq(0, N):\n            t += x[k]\n        x[i] = t\n", "staged again");
  refused("        t += 1.0\n        x[i - 1] = t\n", "does not end in the element");
  refused("        t += 1.0\n        x[i] = t\n        y[i] = t\n", "does not end in the element");
  refused("        x[i] = t\n", "nothing happens");
}

TEST(ReuseBuffer, refuses_a_live_buffer) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    a : f32[N]
    for i in seq(0, N):
        a[i] = x[i]
    b : f32[N]
    for i in seq(0, N):
        b[i] = 2.0 * x[i]
    for i in seq(0, N):
        y[i] = b[i] + a[i]
)");
  EXPECT_REFUSED(reuse_buffer(p, "a", "b"), "while");
}

TEST(ReuseBuffer, refuses_when_a_window_of_it_lives) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    a : f32[N]
    w = a[0:1]
    a[0] = x[0]
    b : f32[N]
    b[0] = 2.0 * x[0]
    y[0] = b[0] + w[0]
)");
  EXPECT_REFUSED(reuse_buffer(p, "a", "b"), "while");
}

TEST(ReuseBuffer, refuses_when_a_loop_reads_it_again) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    a : f32
    a = x[0]
    for i in seq(0, N):
        y[i] = a
        b : f32
        b = x[i]
        y[i] += b
)");
  EXPECT_REFUSED(reuse_buffer(p, "a", "b"), "runs again");
}

TEST(ReuseBuffer, refuses_other_types_and_sizes) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N]):
    a : f32[N]
    a[0] = x[0]
    b : f64[N]
    c : f32[N + 1]
    d : f32[N] @ DRAM_STACK
    b[0] = 1.0
    c[0] = 1.0
    d[0] = 1.0
)");
  EXPECT_REFUSED(reuse_buffer(p, "a", "b"), "precisions");
  EXPECT_REFUSED(reuse_buffer(p, "a", "c"), "sizes");
  EXPECT_REFUSED(reuse_buffer(p, "a", "d"), "memories");
}

TEST(Annotations, set_memory_and_precision_retype_what_reads) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        t : R[2]
        w = t[0:1]
        w[0] = x[i]
        t[1] = t[0] * 2.0
        y[i] = w[0]
)");
  ProcPtr q = set_memory(set_precision(p, "t", ScalarType::kF32), "t", dram_stack());
  EXPECT_TRUE(contains(str(*q), "t : f32[2] @ DRAM_STACK")) << str(*q);
  Cursor read = find(q, "t[1] = _").rhs();
  EXPECT_EQ(read.expr()->type, ScalarType::kF32);
  expect_same_meaning(p, q, kSmall);
  check(*q, /*for_codegen=*/true);
}

TEST(Annotations, set_precision_refuses_to_lose_values) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], z: i32[N]):
    x[0] = 0.5
    z[0] = 300.0
)");
  EXPECT_REFUSED(set_precision(p, "x", ScalarType::kI32), "not all values");
  EXPECT_REFUSED(set_precision(p, "z", ScalarType::kI8), "not all values");
  EXPECT_REFUSED(set_precision(p, "N", ScalarType::kF32), "no data");
  EXPECT_REFUSED(set_precision(p, "x", ScalarType::kSize), "no data type");
}

// Arithmetic in the wider type would not wrap around, and whole numbers have no reciprocals.
TEST(Annotations, set_precision_keeps_what_wraps_around) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: i8[N], y: i32[N], u: i32[1]):
    s: i8
    s = 0
    for i in seq(0, N):
        t: i8
        t = x[i]
        w: i8
        w = x[i]
        y[i] = i32(t * 2)
        y[i] += i32(w)
        s += t
    u[0] = i32(s)
)");
  EXPECT_REFUSED(set_precision(p, "s", ScalarType::kI32), "wraps around");
  EXPECT_REFUSED(set_precision(p, "t", ScalarType::kI32), "wraps around");
  expect_same_meaning(p, set_precision(p, "w", ScalarType::kI16), kSmall);
  ProcPtr r = parse_last(R"(
@proc
def g(x: R, y: R, z: R):
    z = x / y
)");
  r = multiply_by_reciprocal(r, find(r, "z = _").rhs());
  EXPECT_REFUSED(set_precision(r, std::vector<Where>{"x", "y", "z"}, ScalarType::kI32),
                 "real number");
}

// Nothing is computed where one of several is chosen.
TEST(Annotations, set_precision_widens_what_is_chosen) {
  const ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: i8[N], y: i32[N], n: i32[1]):
    for i in seq(0, N):
        t: i8
        t = x[i]
        u: i8
        u = x[N - 1 - i]
        y[i] = select(t, 3, select(u, 0, t, 7), fmax(u, -5))
        n[0] += select(t, u, 0, 1)
        v: i8
        v = x[i]
        y[i] += select(v + v, 0, 0, 1)
)");
  const std::vector<Where> both = {"t", "u"};
  expect_same_meaning(p, set_precision(p, both, ScalarType::kI32), kSmall);
  expect_same_meaning(p, set_precision(p, both, ScalarType::kI16), kSmall);
  EXPECT_REFUSED(set_precision(p, "t", ScalarType::kI32), "no valid program");  // and `u` as it was
  EXPECT_REFUSED(set_precision(p, "v", ScalarType::kI32), "wraps around");
}

TEST(Annotations, set_precision_narrows_what_holds_no_more) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: i8[N], y: i32[N]):
    for i in seq(0, N):
        a : i32
        a = x[i]
        t : i32
        t = a + 128.0
        b : i32
        b = t
        y[i] = b * b
)");
  const ProcPtr q = set_precision(p, "t", ScalarType::kUi8);
  EXPECT_TRUE(contains(str(*q), "t : ui8")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  check(*q, /*for_codegen=*/true);
  expect_same_meaning(p, set_precision(p, "t", ScalarType::kI16), kSmall);
  EXPECT_REFUSED(set_precision(p, "t", ScalarType::kI8), "not all values");
  EXPECT_REFUSED(set_precision(p, "b", ScalarType::kUi8), "not all values");  // b * b wraps around
  EXPECT_REFUSED(set_precision(p, "a", ScalarType::kI8), "not all values");   // and so may a + 128
}

TEST(Annotations, set_precision_narrows_nothing_that_is_written_otherwise) {
  const char* text = R"(
@proc
def g(d: [i32][1]):
    d[0] = 300.0
@proc
def f(x: i8[4], y: i32[4]):
    s : i32
    s = 0.0
    for i in seq(0, 4):
        s += x[i]
    y[0] = s
    w : i32[1]
    w[0] = 1.0
    g(w[0:1])
    y[1] = w[0]
    v : i32[2]
    v[0] = 1.0
    z = v[0:1]
    z[0] = 300.0
    y[2] = v[0]
    u : i32
    u = w[0]
    y[3] = u
)";
  ProcPtr p = parse_last(text);
  for (const char* name : {"s", "w", "v", "u"})
    EXPECT_REFUSED(set_precision(p, name, ScalarType::kI8), "not all values");
}

TEST(Annotations, set_window_looks_at_calls) {
  ProcPtr p = parse_last(R"(
@proc
def g(d: f32[4]):
    d[0] = 1.0
@proc
def f(x: f32[4]):
    g(x)
)");
  EXPECT_REFUSED(set_window(p, "x", true), "dense");
  ProcPtr w = parse_last("@proc\ndef f(x: f32[4]):\n    x[0] = 1.0\n");
  EXPECT_TRUE(contains(str(*set_window(w, "x", true)), "x: [f32][4]"))
      << str(*set_window(w, "x", true));
}

}  // namespace
}  // namespace exotune::test
