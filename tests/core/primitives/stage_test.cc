#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

const std::vector<Sizes> kSmall{{{"N", 1}}, {{"N", 2}}, {{"N", 5}}};

const char* const kGemm = R"(
@proc
def gemm(K: size, A: f32[6, K], B: f32[K, 8], C: f32[6, 8]):
    for k in seq(0, K):
        for i in seq(0, 6):
            for j in seq(0, 8):
                C[i, j] += A[i, k] * B[k, j]
)";

TEST(StageMem, loads_and_stores_what_is_reduced_into) {
  ProcPtr p = parse_last(kGemm);
  ProcPtr q = stage_mem(p, "for k in _: _", "C[0:6, 0:8]", "C_reg");
  EXPECT_EQ(str(*q), str(*parse_last(R"(
@proc
def gemm(K: size, A: f32[6, K], B: f32[K, 8], C: f32[6, 8]):
    C_reg : f32[6, 8]
    for i0 in seq(0, 6):
        for i1 in seq(0, 8):
            C_reg[i0, i1] = C[i0, i1]
    for k in seq(0, K):
        for i in seq(0, 6):
            for j in seq(0, 8):
                C_reg[i, j] += A[i, k] * B[k, j]
    for i0 in seq(0, 6):
        for i1 in seq(0, 8):
            C[i0, i1] = C_reg[i0, i1]
)")));
  expect_same_meaning(p, q, {{{"K", 1}}, {{"K", 4}}});
}

TEST(StageMem, accumulates_from_zero) {
  ProcPtr p = parse_last(kGemm);
  ProcPtr q = stage_mem(p, "for k in _: _", "C[0:6, 0:8]", "C_reg", true);
  EXPECT_TRUE(contains(str(*q), "C[i0, i1] += C_reg[i0, i1]")) << str(*q);
  expect_same_meaning(p, q, {{{"K", 1}}, {{"K", 4}}});
  EXPECT_TRUE(reassociates(q));
  EXPECT_FALSE(reassociates(p));
}

TEST(StageMem, only_loads_what_is_only_read) {
  ProcPtr p = parse_last(kGemm);
  ProcPtr q = stage_mem(p, "for i in _: _", "B[k, 0:8]", "b");
  EXPECT_FALSE(contains(str(*q), "B[k, i0] = ")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "b[i0] = B[k, i0]")) << str(*q);
  expect_same_meaning(p, q, {{{"K", 1}}, {{"K", 4}}});
}

TEST(StageMem, does_not_load_what_is_surely_written_first) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N, 8], y: f32[N, 8]):
    for i in seq(0, N):
        for jo in seq(0, 2):
            for ji in seq(0, 4):
                y[i, 4 * jo + ji] = 0.0
                y[i, 4 * jo + ji] += x[i, 4 * jo + ji]
)");
  ProcPtr q = stage_mem(p, "for jo in _: _", "y[i, 0:8]", "t");
  EXPECT_FALSE(contains(str(*q), "= y[")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

// Components of a number, each by a statement of its own, as rows of a matrix or side by side.
TEST(StageMem, does_not_load_what_several_writes_cover) {
  const auto staged = [](const std::string& type, const std::vector<std::string>& writes) {
    std::string text = "@proc\ndef f(N: size, x: f32[N, 4], y: " + type +
                       "):\n    for i in seq(0, N):\n        for j in seq(0, 4):\n";
    for (const std::string& w : writes) text += "            " + w + "\n";
    const bool flat = type == "f32[N, 12]";
    ProcPtr p = parse_last(text);
    ProcPtr q = stage_mem(p, "for j in _: _", flat ? "y[i, 0:12]" : "y[i, 0:4, 0:3]", "t");
    expect_same_meaning(p, q, kSmall);
    return contains(str(*q), "= y[");
  };
  const std::string parts = "f32[N, 4, 3]", flat = "f32[N, 12]";
  const std::vector<std::string> all = {"y[i, j, 0] = x[i, j]", "y[i, j, 2] = 2.0",
                                        "y[i, j, 1] = x[i, 3 - j]"};
  EXPECT_FALSE(staged(parts, all));
  EXPECT_TRUE(staged(parts, {all[0], all[1]})) << "a component is missing";
  EXPECT_TRUE(staged(parts, {all[0], all[1], all[0]})) << "one twice, one missing";
  EXPECT_TRUE(staged(parts, {all[0], all[1], "y[i, j, 1] += 1.0"})) << "one is added to";
  EXPECT_TRUE(staged(parts, {"y[i, j, 0] = y[i, j, 1]", all[1], all[2]})) << "one is read before";
  const std::vector<std::string> side = {"y[i, 3 * j] = x[i, j]", "y[i, 3 * j + 2] = 2.0",
                                         "y[i, 3 * j + 1] = x[i, 3 - j]"};
  EXPECT_FALSE(staged(flat, side));
  EXPECT_TRUE(staged(flat, {side[0], side[1]}));
  EXPECT_TRUE(staged(flat, {side[0], side[1], "y[i, 2 * j + 1] = 1.0"})) << "others in between";
}

// Elements of a small matrix, each by a statement of its own.
TEST(StageMem, does_not_load_what_writes_cover_place_by_place) {
  const auto staged = [](const std::vector<std::string>& writes) {
    std::string text =
        "@proc\ndef f(N: size, x: f32[N, 4], y: f32[N, 4, 2, 2]):\n    for i in seq(0, N):\n"
        "        for j in seq(0, 4):\n";
    for (const std::string& w : writes) text += "            " + w + "\n";
    ProcPtr p = parse_last(text);
    ProcPtr q = stage_mem(p, "for j in _: _", "y[i, 0:4, 0:2, 0:2]", "t");
    expect_same_meaning(p, q, kSmall);
    return contains(str(*q), "= y[");
  };
  const std::vector<std::string> all = {"y[i, j, 0, 0] = x[i, j]", "y[i, j, 1, 1] = 2.0",
                                        "y[i, j, 0, 1] = x[i, 3 - j]", "y[i, 3 - j, 1, 0] = 1.0"};
  EXPECT_TRUE(staged(all)) << "3 - j does not count from nothing";
  std::vector<std::string> four = {all[0], all[1], all[2], "y[i, j, 1, 0] = 1.0"};
  EXPECT_FALSE(staged(four));
  EXPECT_TRUE(staged({four[0], four[1], four[2]})) << "one is missing";
  EXPECT_TRUE(staged({four[0], four[1], four[2], four[1]})) << "one twice, one missing";
  EXPECT_TRUE(staged({four[0], four[1], four[2], "y[i, j, 1, 0] += 1.0"})) << "one is added to";
  EXPECT_TRUE(staged({four[0], four[1], "y[i, j, 0, 1] = y[i, j, 1, 0]", four[3]}))
      << "one is read before";
  EXPECT_TRUE(staged({four[0], four[1], four[2], "if j > 0:\n                " + four[3]}))
      << "one is written of some elements";
  EXPECT_FALSE(staged({"for k in seq(0, 2):\n                y[i, j, k, 0] = x[i, j]", four[1],
                       four[2], four[0], four[3]}))
      << "a loop beside them";
}

TEST(StageMem, a_loop_over_one_row_writes_that_row_surely) {
  const auto staged = [](const std::string& rows) {
    ProcPtr p = parse_last(R"(
@proc
def f(N: size, R: size, x: f32[N, 8], y: f32[N, 8]):
    assert R <= 2
    for i in seq(0, N):
        for ii in seq(0, )" +
                           rows + R"():
            for j in seq(0, 8):
                y[i + ii, j] = 0.0
        for j in seq(0, 8):
            y[i, j] += x[i, j]
)");
    Path first = find_loop(p, "ii").path();
    ProcPtr q = stage_mem(p, Cursor::block(p, first, 2), "y[i, 0:8]", "t");
    expect_same_meaning(p, q, {{{"N", 1}, {"R", 1}}, {{"N", 3}, {"R", 1}}});
    return str(*q);
  };
  EXPECT_FALSE(contains(staged("1"), "= y[")) << staged("1");
  // It may run no time.
  EXPECT_TRUE(contains(staged("R - 1"), "= y[")) << staged("R - 1");
}

TEST(StageMem, loads_where_a_write_is_conditional) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        if i < 2:
            y[i] = x[i]
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "y[0:N]", "t");
  EXPECT_TRUE(contains(str(*q), "t[i0] = y[i0]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, loads_where_writes_are_strided) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[2 * N]):
    for i in seq(0, N):
        y[2 * i] = x[i]
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "y[0:2 * N]", "t");
  EXPECT_TRUE(contains(str(*q), "t[i0] = y[i0]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, loads_what_is_read_before_it_is_written) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N + 1]):
    for i in seq(0, N + 1):
        x[0] += y[i]
        y[i] = 1.0
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "y[0:N + 1]", "t");
  EXPECT_TRUE(contains(str(*q), "t[i0] = y[i0]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, windows_may_be_set_by_configuration) {
  ProcPtr p = parse_last(R"(
@config
class C:
    a: index

@proc
def f(x: f32[8], y: f32[2]):
    assert 0 <= C.a and C.a < 7
    for i in seq(0, 2):
        y[i] = x[C.a + i]
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "x[C.a:C.a + 2]", "t");
  EXPECT_TRUE(contains(str(*q), "t[i0] = x[i0 + C.a]") || contains(str(*q), "t[i0] = x[C.a + i0]"))
      << str(*q);
}

TEST(StageMem, loads_what_the_next_iteration_reads) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N + 1]):
    for i in seq(0, N):
        y[i] = x[i]
        x[i] = y[i + 1]
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "y[0:N + 1]", "t");
  EXPECT_TRUE(contains(str(*q), "t[i0] = y[i0]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, refuses_an_access_outside_the_window) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N + 1], y: f32[N]):
    for i in seq(0, N):
        y[i] = x[i] + x[i + 1]
)");
  EXPECT_REFUSED(stage_mem(p, "for i in _: _", "x[0:N]", "t"), "neither proved inside");
  expect_same_meaning(p, stage_mem(p, "for i in _: _", "x[0:N + 1]", "t"), kSmall);
}

TEST(StageMem, leaves_disjoint_accesses_alone) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[2 * N]):
    for i in seq(0, N):
        x[i] = 2.0 * x[N + i]
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "x[0:N]", "t");
  EXPECT_TRUE(contains(str(*q), "t[i] = 2.0 * x[")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, sees_through_windows_made_before) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N + 2], y: f32[N]):
    w = x[1:N + 2]
    for i in seq(0, N):
        w[i] = 3.0
        y[i] = x[i + 1]
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "x[0:N + 2]", "t");
  EXPECT_TRUE(contains(str(*q), "t[")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  ProcPtr r = stage_mem(p, "for i in _: _", "w[0:N]", "t");
  expect_same_meaning(p, r, kSmall);
}

TEST(StageMem, moves_windows_made_inside) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N + 2], y: f32[N]):
    for i in seq(0, N):
        w = x[i:i + 2]
        w[1] = 3.0
        y[i] = w[0]
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "x[0:N + 2]", "t");
  EXPECT_TRUE(contains(str(*q), "w = t[")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, refuses_a_window_that_outlives_the_block) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    w = x[0:N]
    w[0] = 1.0
    w[0] = 2.0
    y[0] = x[0]
)");
  Cursor first = find(p, "w[0] = _").prev();
  Cursor block = first.as_block().expand(0, 1);
  EXPECT_REFUSED(stage_mem(p, block, "x[0:N]", "t"), "used after it");
}

TEST(StageMem, goes_through_calls) {
  ProcPtr p = parse_last(R"(
@proc
def add(n: size, dst: [f32][n], src: [f32][n]):
    for k in seq(0, n):
        dst[k] += src[k]
@proc
def f(N: size, x: f32[N, 4], y: f32[4]):
    for i in seq(0, N):
        add(4, y[0:4], x[i, 0:4])
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "y[0:4]", "t", true);
  EXPECT_TRUE(contains(str(*q), "add(4, t[0:4], x[i, 0:4])")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, refuses_accumulation_of_more_than_one_reduction) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N], z: f32[N]):
    for i in seq(0, N):
        x[i] = 1.0
        y[i] max= 1.0
        y[i] += 1.0
        z[i] += z[i]
)");
  EXPECT_REFUSED(stage_mem(p, "for i in _: _", "x[0:N]", "t", true), "more than add");
  EXPECT_REFUSED(stage_mem(p, "for i in _: _", "y[0:N]", "t", true), "more than add");
  EXPECT_REFUSED(stage_mem(p, "for i in _: _", "z[0:N]", "t", true), "more than add");
}

TEST(StageMem, guards_a_window_that_may_leave_the_buffer) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for io in seq(0, (N + 3) / 4):
        for ii in seq(0, 4):
            if 4 * io + ii < N:
                y[4 * io + ii] = 2.0 * x[4 * io + ii]
)");
  ProcPtr q = stage_mem(p, "for ii in _: _", "x[4 * io:4 * io + 4]", "t");
  EXPECT_TRUE(contains(str(*q), "if i0 + 4 * io < N:") || contains(str(*q), "if 4 * io + i0 < N:"))
      << str(*q);
  expect_same_meaning(p, q, kSmall);
  ProcPtr r = stage_mem(p, "for ii in _: _", "y[4 * io:4 * io + 4]", "t");
  expect_same_meaning(p, r, kSmall);
}

TEST(StageMem, refuses_a_store_that_races) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N]):
    for i in par(0, N):
        x[i] = 1.0
)");
  EXPECT_REFUSED(stage_mem(p, "x[_] = _", "x[0:N]", "t"), "same location");
  expect_same_meaning(p, stage_mem(p, "x[_] = _", "x[i]", "t"), kSmall);
}

TEST(StageMem, stages_one_element_and_scalars) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], s: f32):
    for i in seq(0, N):
        s += x[i]
)");
  expect_same_meaning(p, stage_mem(p, "for i in _: _", "s", "t"), kSmall);
  expect_same_meaning(p, stage_mem(p, "for i in _: _", "s", "t", true), kSmall);
  ProcPtr q = stage_mem(p, "s += _", "x[i]", "t");
  EXPECT_TRUE(contains(str(*q), "t = x[i]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, refuses_an_empty_window) {
  ProcPtr p = parse_last(kGemm);
  EXPECT_REFUSED(stage_mem(p, "for k in _: _", "C[0:0, 0:8]", "t"), "positive");
}

TEST(StageMem, keeps_cursors_to_the_block) {
  ProcPtr p = parse_last(kGemm);
  Cursor k = find_loop(p, "k"), sum = find(p, "C[_] += _");
  ProcPtr q = stage_mem(p, k, "C[0:6, 0:8]", "C_reg");
  EXPECT_TRUE(forward(q, k).is<For>());
  EXPECT_EQ(forward(q, k).as<For>().iter.name(), "k");
  EXPECT_EQ(str(forward(q, sum).stmt()), "C_reg[i, j] += A[i, k] * B[k, j]\n");
  EXPECT_TRUE(forward(q, k).prev(2).is<Alloc>());
}

TEST(StageMem, maxima_start_from_what_is_there) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N], m: f32[2]):
    for i in seq(0, N):
        m[1] max= x[i]
)");
  ProcPtr q = stage_mem(p, "for i in _: _", "m[1]", "t", /*accum=*/true);
  EXPECT_TRUE(contains(str(*q), "t = m[1]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "m[1] max= t")) << str(*q);
  EXPECT_FALSE(reassociates(q));
  expect_same_meaning(p, q, kSmall);
}

TEST(StageMem, iterations_with_copies_of_their_own_are_put_together) {
  for (const char* op : {"+=", "max="}) {
    ProcPtr p = parse_last(std::string(R"(
@proc
def f(N: size, x: f32[N, 4], m: f32[1]):
    for i in seq(0, N):
        for l in seq(0, 4):
            if l < N:
                m[0] )") + op +
                           R"( x[i, l]
)");
    ProcPtr q = stage_mem(p, "for i in _: _", "m[0]", "t", true, {"l"});
    EXPECT_TRUE(contains(str(*q), std::string("t[l] ") + op)) << str(*q);
    expect_same_meaning(p, q, kSmall);
  }
}

TEST(StageMem, copies_are_for_one_reduction_inside_the_loop) {
  const auto said = [](const std::string& body) {
    ProcPtr p = parse_last(
        "@proc\ndef f(N: size, x: f32[N], m: f32[1]):\n"
        "    for i in seq(0, N):\n" +
        body);
    return refused([&] { (void)stage_mem(p, "for i in _: _", "m[0]", "t", true, {"l"}); });
  };
  EXPECT_NE(said("        m[0] += 1.0\n        for l in seq(0, 4):\n            m[0] += x[i]\n")
                .find("outside of the loop over 'l'"),
            std::string::npos);
  EXPECT_NE(
      said("        for l in seq(0, 4):\n            m[0] += x[i]\n            m[0] max= 0.0\n")
          .find("does more than add into"),
      std::string::npos);
  EXPECT_NE(said("        for l in seq(0, i):\n            m[0] += x[i]\n")
                .find("not known before the block"),
            std::string::npos);
}

}  // namespace
}  // namespace exotune::test
