#include <gtest/gtest.h>

#include "text.h"

namespace exotune {
namespace {
using testing::parse;
using testing::refusal;

TEST(Check, accepts_a_matrix_product) {
  EXPECT_EQ(refusal(R"(
@proc
def sgemm(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[k, j]
)",
                    true),
            "");
}

TEST(Check, refuses_an_index_past_the_end_with_the_smallest_example) {
  EXPECT_EQ(refusal(R"(
@proc
def f(M: size, A: f32[M]):
    for i in seq(0, M):
        A[i + 1] = 0.0
)"),
            "A[i + 1] may be out of bounds: i + 1 < M fails for M = 1, i = 0");
}

TEST(Check, refuses_a_negative_index) {
  EXPECT_EQ(refusal(R"(
@proc
def f(M: size, A: f32[M]):
    for i in seq(0, M):
        A[i - 1] = 0.0
)"),
            "A[i - 1] may be out of bounds: 0 <= i - 1 fails for M = 1, i = 0");
}

TEST(Check, refuses_a_read_past_the_end) {
  EXPECT_NE(refusal(R"(
@proc
def f(M: size, A: f32[M], x: f32):
    x = A[M]
)"),
            "");
}

TEST(Check, a_guard_makes_an_access_safe) {
  EXPECT_EQ(refusal(R"(
@proc
def f(M: size, A: f32[M]):
    for i in seq(-3, 8 * M):
        if 0 <= i and i < M:
            A[i] = 0.0
)"),
            "");
}

TEST(Check, tiles_with_a_guard_are_safe) {
  EXPECT_EQ(refusal(R"(
@proc
def f(M: size, A: f32[M]):
    for io in seq(0, (M + 7) / 8):
        for ii in seq(0, 8):
            if 8 * io + ii < M:
                A[8 * io + ii] = 0.0
)"),
            "");
}

TEST(Check, asserts_make_an_access_safe) {
  const char* with = R"(
@proc
def f(M: size, A: f32[M]):
    assert M % 8 == 0
    for io in seq(0, M / 8):
        A[8 * io + 7] = 0.0
)";
  const char* without = R"(
@proc
def f(M: size, A: f32[M]):
    for io in seq(0, (M + 7) / 8):
        A[8 * io + 7] = 0.0
)";
  EXPECT_EQ(refusal(with), "");
  EXPECT_NE(refusal(without), "");
}

TEST(Check, a_window_out_of_bounds_is_refused) {
  EXPECT_EQ(refusal(R"(
@proc
def f(M: size, A: f32[M]):
    w = A[0:M + 1]
    w[0] = 0.0
)"),
            "the window A[0:M + 1] may be out of bounds: M + 1 <= M never holds");
}

TEST(Check, an_index_is_bounded_by_the_window) {
  const char* text = R"(
@proc
def f(A: f32[10]):
    w = A[2:6]
    w[%] = 0.0
)";
  std::string inside = text, outside = text;
  inside.replace(inside.find('%'), 1, "3");
  outside.replace(outside.find('%'), 1, "4");
  EXPECT_EQ(refusal(inside), "");
  EXPECT_NE(refusal(outside), "");
}

TEST(Check, allocation_sizes_are_positive) {
  EXPECT_EQ(refusal(R"(
@proc
def f(N: size):
    t: f32[N - 1]
    pass
)"),
            "the size N - 1 of t may not be positive: N - 1 > 0 fails for N = 1");
}

constexpr const char* kCallee = R"(
@proc
def g(n: size, x: [f32][n], y: [f32][n]):
    assert n % 2 == 0
    for i in seq(0, n):
        x[i] = y[i]
@proc
def f(N: size, A: f32[2 * N], B: f32[2 * N], C: f32[N]):
)";

TEST(Check, a_call_that_keeps_its_promises) {
  EXPECT_EQ(refusal(std::string(kCallee) + "    g(2 * N, A, B)\n"), "");
  EXPECT_EQ(refusal(std::string(kCallee) + "    g(2, A[0:2], B[2 * N - 2:2 * N])\n"), "");
}

TEST(Check, the_callee_s_asserts_are_proved) {
  EXPECT_EQ(refusal(std::string(kCallee) + "    g(N, A[0:N], B[0:N])\n"),
            "g asserts n % 2 == 0: N % 2 == 0 fails for N = 1");
}

TEST(Check, sizes_passed_are_positive) {
  EXPECT_EQ(refusal(std::string(kCallee) +
                    "    for i in seq(0, N):\n        g(2 * i, A[0:2 * i], B[0:2 * i])\n"),
            "argument n of g is a size and must be positive: 2 * i > 0 fails for N = 1, i = 0");
}

TEST(Check, shapes_passed_are_equal) {
  EXPECT_EQ(refusal(std::string(kCallee) + "    g(2 * N, A, C)\n"),
            "argument y of g: dimension 0 differs: N == 2 * N fails for N = 1");
}

TEST(Check, overlapping_arguments_are_refused_when_one_is_written) {
  EXPECT_EQ(refusal(std::string(kCallee) + "    g(2, A[0:2], A[1:3])\n"),
            "the window A[1:3] may be out of bounds: 3 <= 2 * N fails for N = 1");
  const std::string overlap = refusal(std::string(kCallee) + "    g(2 * N, A, A)\n");
  EXPECT_EQ(overlap, "arguments A and A of g may overlap, and one is written");
}

TEST(Check, disjoint_windows_of_one_buffer_are_accepted) {
  EXPECT_EQ(refusal(R"(
@proc
def g(x: [f32][2], y: [f32][2]):
    for i in seq(0, 2):
        x[i] = y[i]
@proc
def f(A: f32[8, 2]):
    w = A[4:8, 0:2]
    for i in seq(0, 4):
        g(A[i, 0:2], w[i, 0:2])
)"),
            "");
}

TEST(Check, one_buffer_may_be_read_through_two_arguments) {
  EXPECT_EQ(refusal(R"(
@proc
def dot(n: size, x: [f32][n], y: [f32][n], out: f32):
    for i in seq(0, n):
        out += x[i] * y[i]
@proc
def norm(n: size, x: f32[n], out: f32):
    dot(n, x, x, out)
)"),
            "");
}

TEST(Check, a_callee_is_checked_too) {
  try {
    check(*parse(R"(
@proc
def g(n: size, x: f32[n]):
    x[n] = 0.0
@proc
def f(x: f32[4]):
    g(4, x)
)"));
    FAIL();
  } catch (const InputError& e) {
    ASSERT_EQ(e.diagnostic().notes.size(), 1u);
    EXPECT_EQ(e.diagnostic().notes[0].str(), "in g, which f calls");
  }
}

TEST(Check, parallel_races_are_found_in_nests) {
  EXPECT_EQ(refusal(R"(
@proc
def f(N: size, x: f32, A: f32[N, N]):
    for i in seq(0, N):
        for j in par(0, N):
            x += A[i, j]
)"),
            "the iterations of the parallel loop j may race");
  EXPECT_EQ(refusal(R"(
@proc
def f(N: size, A: f32[N, N]):
    for i in seq(0, N):
        for j in par(0, N):
            A[i, j] = 0.0
)"),
            "");
}

constexpr const char* kFlags = R"(
@config
class Unit:
    ready: bool

@proc
def prepare(on: bool):
    Unit.ready = on

@proc
def work(x: f32):
    assert Unit.ready
    x = 0.0
)";

TEST(Check, a_flag_that_a_callee_sets_is_known_after_the_call) {
  const std::string flags = kFlags;
  EXPECT_EQ(refusal(flags + "@proc\ndef f(x: f32):\n    prepare(True)\n    work(x)\n"), "");
  EXPECT_NE(refusal(flags + "@proc\ndef f(x: f32):\n    prepare(False)\n    work(x)\n"), "");
  EXPECT_NE(refusal(flags + "@proc\ndef f(x: f32):\n    work(x)\n"), "");
  EXPECT_EQ(
      refusal(
          flags +
          "@proc\ndef f(n: size, x: f32):\n    prepare(n > 3)\n    if n > 4:\n        work(x)\n"),
      "");
}

TEST(Check, config_values_do_not_depend_on_iterators) {
  const std::string head = R"(
@config
class Cfg:
    s: index
@proc
def f(N: size):
)";
  EXPECT_EQ(refusal(head + "    for i in seq(0, N):\n        Cfg.s = i\n"),
            "the value of Cfg.s depends on the loop iterator i");
  EXPECT_EQ(refusal(head + "    for i in seq(0, N):\n        Cfg.s = N\n"), "");
}

TEST(Check, a_written_field_has_its_value_until_it_is_written_again) {
  const std::string head = R"(
@config
class Cfg:
    s: index
@proc
def f(N: size, A: f32[4]):
    Cfg.s = 3
)";
  EXPECT_EQ(refusal(head + "    A[Cfg.s] = 0.0\n"), "");
  EXPECT_NE(refusal(head + "    Cfg.s = 4\n    A[Cfg.s] = 0.0\n"), "");
  EXPECT_NE(refusal(head + "    if N > 3:\n        Cfg.s = 4\n    A[Cfg.s] = 0.0\n"), "");
  EXPECT_NE(refusal(head + "    for i in seq(0, N):\n        A[Cfg.s] = 0.0\n        Cfg.s = 4\n"),
            "");
}

TEST(Check, shapes_do_not_depend_on_a_field_that_changes) {
  const std::string head = R"(
@config
class Cfg:
    s: size
@proc
def f(N: size, A: f32[4]):
    if Cfg.s > 2:
        t: f32[Cfg.s]
        t[2] = 0.0
)";
  EXPECT_EQ(refusal(head), "");
  EXPECT_EQ(refusal(head + "        Cfg.s = 9\n        t[8] = 0.0\n"),
            "the shape of t depends on configuration that is written");
}

TEST(Check, a_buffer_that_is_never_written_is_not_read) {
  EXPECT_EQ(refusal(R"(
@proc
def f(x: f32):
    t: f32
    x = t
)"),
            "t is read but never written: its contents are undefined");
  EXPECT_EQ(refusal(R"(
@proc
def f(x: f32):
    t: f32
    t += x
)"),
            "t is reduced into but never written: its contents are undefined");
}

TEST(Check, a_buffer_is_not_read_before_its_first_write) {
  EXPECT_EQ(refusal(R"(
@proc
def f(x: f32):
    t: f32[4]
    for i in seq(0, 4):
        x += t[i]
        t[i] = x
)"),
            "t is read before it is written: its contents are undefined");
  // Here the first iteration reads nothing.
  EXPECT_EQ(refusal(R"(
@proc
def f(N: size, x: f32):
    t: f32[N]
    for i in seq(0, N):
        for j in seq(0, i):
            x += t[j]
        t[i] = x
)"),
            "");
}

TEST(Check, errors_carry_the_place) {
  try {
    check(*parse("@proc\ndef f(A: f32[4]):\n    A[4] = 0.0\n"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostic().where.line, 3);
  }
}

TEST(Check, asserts_that_nothing_satisfies_are_errors) {
  EXPECT_EQ(refusal(R"(
@proc
def f(n: size, x: f32[n]):
    assert n < 1
    x[n + 7] = 0.0
)"),
            "nothing satisfies this assert: n < 1 never holds, as sizes are at least 1");
  EXPECT_EQ(refusal(R"(
@proc
def f(n: size, x: f32[n]):
    assert n % 8 == 0
    assert n < 8
    x[0] = 0.0
)"),
            "nothing satisfies this assert: n < 8 never holds, as sizes are at least 1 and the "
            "asserts before it hold");
}

TEST(Check, sizes_of_arguments_are_positive_where_they_are_constants) {
  EXPECT_EQ(refusal("@proc\ndef f(x: f32[4, 0]):\n    pass\n"), "the size 0 of x is not positive");
  EXPECT_EQ(refusal("@proc\ndef f(x: [f32][2 - 3]):\n    pass\n"),
            "the size 2 - 3 of x is not positive");
  EXPECT_EQ(refusal("@proc\ndef f(n: size, x: f32[n - 5]):\n    pass\n"), "");
}

TEST(Check, a_conditional_write_of_the_same_value_keeps_a_field) {
  EXPECT_EQ(refusal(R"(
@config
class C:
    a: index

@proc
def g(x: f32):
    assert C.a == 1
    x = 0.0

@proc
def f(N: size, k: size, x: f32):
    C.a = 1
    for i in seq(0, N):
        if k < 2:
            C.a = 1
        g(x)
)"),
            "");
}

TEST(Check, a_conditional_write_of_another_value_does_not) {
  EXPECT_NE(refusal(R"(
@config
class C:
    a: index

@proc
def g(x: f32):
    assert C.a == 1
    x = 0.0

@proc
def f(N: size, k: size, x: f32):
    C.a = 1
    for i in seq(0, N):
        g(x)
        if k < 2:
            C.a = 2
)"),
            "");
}

}  // namespace
}  // namespace exotune
