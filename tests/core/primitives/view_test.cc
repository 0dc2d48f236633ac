#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

const std::vector<Sizes> kSmall{{{"N", 1}}, {{"N", 2}}, {{"N", 5}}};

const char* const kConv = R"(
@proc
def conv(N: size, x: f32[2, 4 * N + 2], w: f32[2, 3], y: f32[4 * N]):
    for jo in seq(0, N):
        for c in seq(0, 2):
            for ji in seq(0, 4):
                for r in seq(0, 3):
                    y[4 * jo + ji] += x[c, 4 * jo + ji + r] * w[c, r]
)";

TEST(StageView, makes_overlapping_windows_explicit) {
  ProcPtr p = parse_last(kConv);
  ProcPtr q =
      stage_view(p, "for ji in _: _", "cols", {{"j", "4"}, {"r", "3"}}, "x[c, 4 * jo + j + r]");
  EXPECT_TRUE(contains(str(*q), "cols : f32[4, 3]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "cols[ji, r] * w[c, r]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageView, covers_several_loops) {
  ProcPtr p = parse_last(kConv);
  ProcPtr q = stage_view(p, "for c in _: _", "cols", {{"k", "2"}, {"j", "4"}, {"r", "3"}},
                         "x[k, 4 * jo + j + r]");
  EXPECT_TRUE(contains(str(*q), "cols[c, ji, r]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

const char* const kPadded = R"(
@proc
def blur(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        for r in seq(0, 3):
            if i + r < N:
                y[i] += x[i + r]
)";

TEST(StageView, pads_what_does_not_exist) {
  ProcPtr p = parse_last(kPadded);
  ProcPtr q =
      stage_view(p, "for i in _: _", "v", {{"i", "N"}, {"r", "3"}}, "x[i + r]", "i + r < N", 0);
  EXPECT_TRUE(contains(str(*q), "y[i] += v[i, r]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "else:")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageView, refuses_a_map_that_leaves_the_buffer) {
  ProcPtr p = parse_last(kPadded);
  EXPECT_REFUSED(stage_view(p, "for i in _: _", "v", {{"i", "N"}, {"r", "3"}}, "x[i + r]"),
                 "may leave its buffer");
}

TEST(StageView, leaves_reads_where_the_padding_would_be_read) {
  ProcPtr p = parse_last(kPadded);
  // The condition of the view is stronger than what guards the read.
  EXPECT_REFUSED(
      stage_view(p, "for i in _: _", "v", {{"i", "N"}, {"r", "3"}}, "x[i + r]", "i + r < N - 1"),
      "no read");
}

TEST(StageView, refuses_a_source_that_is_written) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N + 1]):
    w = x[0:N]
    for i in seq(0, N):
        w[i] = x[i + 1]
)");
  EXPECT_REFUSED(stage_view(p, "for i in _: _", "v", {{"i", "N"}}, "x[i + 1]"), "writes");
}

TEST(StageView, refuses_a_range_that_is_too_small) {
  ProcPtr p = parse_last(kConv);
  EXPECT_REFUSED(
      stage_view(p, "for ji in _: _", "cols", {{"j", "3"}, {"r", "3"}}, "x[c, 4 * jo + j + r]"),
      "no read");
  EXPECT_REFUSED(stage_view(p, "for ji in _: _", "cols", {{"j", "0"}}, "x[c, 4 * jo + j]"),
                 "positive");
  EXPECT_REFUSED(stage_view(p, "for ji in _: _", "cols", {{"j", "2"}, {"j", "2"}}, "x[c, j]"),
                 "twice");
}

TEST(StageView, refuses_a_fill_that_races) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[2 * N], y: f32[N]):
    for i in par(0, N):
        y[i] = x[2 * i]
        x[2 * i + 1] = 3.0
)");
  check(*p);
  // The fill reads all of x while other iterations write it.
  EXPECT_REFUSED(stage_view(p, "y[_] = _", "v", {{"a", "2 * N"}}, "x[a]"),
                 "would touch the same location");
  EXPECT_NO_THROW((void)stage_view(p, "y[_] = _", "v", {{"a", "1"}}, "x[2 * i + a]"));
}

TEST(StageView, packs_and_strides) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[2 * N, 4], y: f32[N, 4]):
    for i in seq(0, N):
        for j in seq(0, 4):
            y[i, j] = x[2 * i + 1, j]
)");
  ProcPtr q = stage_view(p, "for i in _: _", "v", {{"b", "4"}, {"a", "N"}}, "x[2 * a + 1, b]");
  EXPECT_TRUE(contains(str(*q), "y[i, j] = v[j, i]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(StageView, finds_the_strip_that_a_sum_of_loops_lies_in) {
  const auto from = [](const std::string& first) {
    return parse_last(R"(
@proc
def f(N: size, x: f32[16 * N + 16], y: f32[N, 2, 4]):
    for i in seq(0, N):
        for jo in seq(0, 2):
            for j in seq(0, 4):
                y[i, jo, j] = x[16 * i + 4 * jo + j + )" +
                      first + "]\n");
  };
  ProcPtr p = from("8");
  ProcPtr q = stage_view(p, "for i in _: _", "v", {{"s", "4 * N + 4"}, {"t", "4"}}, "x[4 * s + t]");
  EXPECT_TRUE(contains(str(*q), "v[4 * i + jo + 2, j]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  // No strip begins at 4 * jo + 6.
  EXPECT_REFUSED(
      stage_view(from("6"), "for i in _: _", "v", {{"s", "4 * N + 4"}, {"t", "4"}}, "x[4 * s + t]"),
      "no read of `x`");
}

TEST(Transpose, swaps_an_argument) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N, 4], y: f32[N]):
    for i in seq(0, N):
        y[i] += x[i, 3]
)");
  ProcPtr q = transpose(p, "x");
  EXPECT_TRUE(contains(str(*q), "x: f32[4, N]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "x[3, i]")) << str(*q);
  EXPECT_FALSE(is_equivalent(p, q));
  check(*q);
  EXPECT_REFUSED(transpose(p, "y"), "fewer than two");
}

TEST(Prefetch, asks_line_by_line_for_what_exists) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N, 40], y: f32[40]):
    for i in seq(0, N):
        for j in seq(0, 40):
            y[j] += x[i, j]
)");
  ProcPtr q = add_prefetch(p, find_loop(p, "j").before(), "x[i + 8, 0:40]", 3);
  EXPECT_TRUE(contains(str(*q), "if i + 8 < N:")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "prefetch_3_f32(x[i + 8, 16 * i0])")) << str(*q);
  expect_same_meaning(p, q, {{{"N", 1}}, {{"N", 9}}});
  check(*q, /*for_codegen=*/true);
  EXPECT_REFUSED(add_prefetch(p, find_loop(p, "j").before(), "x[i, 0:40]", 4), "locality");
}

TEST(NoopCall, wants_a_proc_that_does_nothing) {
  Module m = parse_module(R"(
@instr("fence();")
def fence(n: size):
    pass
@proc
def act(x: [f32][4]):
    x[0] = 1.0
@proc
def f(N: size, x: f32[N, 4]):
    for i in seq(0, N):
        x[i, 0] = 2.0
)",
                          "t.exo");
  ProcPtr p = m.procs.back();
  Cursor gap = find(p, "x[_] = _").before();
  ProcPtr q = insert_noop_call(p, gap, m.find_proc("fence"), {"i + 1"});
  EXPECT_TRUE(contains(str(*q), "fence(i + 1)")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  EXPECT_REFUSED(insert_noop_call(p, gap, m.find_proc("fence"), {"i"}), "positive");
  EXPECT_REFUSED(insert_noop_call(p, gap, m.find_proc("act"), {"x[i, 0:4]"}), "does something");
}

const char* const kConfig = R"(
@config
class Cfg:
    a: index
@proc
def f(N: size, x: f32[N]):
    for i in seq(0, N):
        x[i] = 1.0
    if N < 3:
        x[0] = 2.0
)";

TEST(Configuration, is_written_where_nobody_reads_it) {
  Module m = parse_module(kConfig, "t.exo");
  ProcPtr p = m.procs.back();
  ConfigPtr cfg = m.configs.at("Cfg");
  Cursor top = find_loop(p, "i").before();
  ProcPtr q = write_config(p, top, cfg, "a", parse_expr_at(p, top.path(), "N + 1"));
  EXPECT_TRUE(contains(str(*q), "Cfg.a = N + 1")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  EXPECT_FALSE(is_equivalent(p, q));  // modulo Cfg.a only
  expect_same_meaning(p, delete_config(q, "Cfg.a = _"), kSmall);
  Cursor inside = find(p, "x[i] = _").before();
  EXPECT_REFUSED(write_config(p, inside, cfg, "a", parse_expr_at(p, inside.path(), "i")),
                 "depends on the loop");
  EXPECT_REFUSED(write_config(p, top, cfg, "b", int_const(0)), "no such configuration field");
}

TEST(Configuration, refuses_what_is_read_afterwards) {
  Module m = parse_module(R"(
@config
class Cfg:
    a: index
@proc
def f(N: size, x: f32[N]):
    Cfg.a = 1
    for i in seq(0, N):
        if Cfg.a == 1:
            x[i] = 1.0
)",
                          "t.exo");
  ProcPtr p = m.procs.back();
  ConfigPtr cfg = m.configs.at("Cfg");
  EXPECT_REFUSED(delete_config(p, "Cfg.a = _"), "read afterwards");
  EXPECT_REFUSED(write_config(p, find_loop(p, "i").before(), cfg, "a", int_const(2)),
                 "read afterwards");
  EXPECT_REFUSED(write_config(p, find(p, "x[_] = _").after(), cfg, "a", int_const(2)),
                 "later iteration");
}

TEST(Configuration, binds_an_expression) {
  Module m = parse_module(kConfig, "t.exo");
  ProcPtr p = m.procs.back();
  Cursor cond = find(p, "if _: _");
  Path lhs = cond.path();
  lhs.push_back({Child::kExpr, 0});
  lhs.push_back({Child::kExpr, 0});
  ProcPtr q = bind_config(p, Cursor::expr(p, lhs), m.configs.at("Cfg"), "a");
  EXPECT_TRUE(contains(str(*q), "Cfg.a = N\n    if Cfg.a < 3:")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

}  // namespace
}  // namespace exotune::test
