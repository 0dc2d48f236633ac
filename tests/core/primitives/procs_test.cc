#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

const std::vector<Sizes> kSmall{{{"N", 1}}, {{"N", 2}}, {{"N", 5}}};

const char* const kScale = R"(
@proc
def scale(n: size, dst: [f32][n], a: f32):
    t : f32[n]
    w = dst[0:n]
    for i in seq(0, n):
        t[i] = w[i] * a
    for i in seq(0, n):
        dst[i] = t[i]

@proc
def f(N: size, x: f32[N, 8], y: f32[N + 2]):
    for i in seq(0, N):
        scale(8, x[i, :], y[i + 1])
    scale(N, y[1:N + 1], x[0, 0])
)";

TEST(Inline, puts_the_body_in_place_of_the_call) {
  ProcPtr p = parse_last(kScale);
  ProcPtr q = inline_call(p, "scale(_)");
  EXPECT_TRUE(contains(str(*q), "w = x[i, 0:8]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "* y[i + 1]")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  q = inline_call(q, "scale(_)");
  EXPECT_FALSE(contains(str(*q), "scale(")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(Inline, hands_windows_on_to_inner_calls) {
  ProcPtr p = parse_last(R"(
@proc
def inner(dst: [f32][4]):
    assert stride(dst, 0) == 1
    for k in seq(0, 4):
        dst[k] += 1.0
@proc
def outer(dst: [f32][8]):
    assert stride(dst, 0) == 1
    inner(dst[0:4])
    inner(dst[4:8])
@proc
def f(N: size, x: f32[N, 16]):
    for i in seq(0, N):
        outer(x[i, 2:10])
)");
  ProcPtr q = inline_call(p, "outer(_)");
  EXPECT_TRUE(contains(str(*q), "inner(x[i, 6:10])")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(Inline, keeps_the_value_of_a_configuration_argument) {
  ProcPtr p = parse_last(R"(
@config
class Cfg:
    a: index
@proc
def g(n: index, x: [f32][4]):
    Cfg.a = 3
    if n == 0:
        x[0] = 1.0
@proc
def f(x: f32[4]):
    Cfg.a = 0
    g(Cfg.a, x[0:4])
)");
  EXPECT_REFUSED(inline_call(p, "g(_)"), "configuration");
}

TEST(Inline, puts_no_written_configuration_into_the_bounds_of_a_window) {
  ProcPtr p = parse_last(R"(
@config
class Cfg:
    a: index
@proc
def g(n: index, x: [f32][4]):
    assert n >= 1 and n <= 4
    w = x[0:n]
    w[0] = 1.0
@proc
def f(x: f32[4]):
    Cfg.a = 2
    g(Cfg.a, x[0:4])
)");
  EXPECT_REFUSED(inline_call(p, "g(_)"), "may not stand");
}

TEST(CallEqv, takes_a_proc_scheduled_from_the_same) {
  Module m = parse_module(kScale, "test.exo");
  ProcPtr p = m.procs.back(), scale = m.find_proc("scale");
  ProcPtr fast = rename_proc(cut_loop(scale, "i", 1), "scale_fast");
  ProcPtr q = call_eqv(p, "scale(_)", fast);
  EXPECT_TRUE(contains(str(*q), "scale_fast(8, ")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  EXPECT_TRUE(is_equivalent(p, q));
}

TEST(CallEqv, takes_a_narrower_proc_where_its_asserts_hold) {
  Module m = parse_module(kScale, "test.exo");
  ProcPtr p = m.procs.back(), scale = m.find_proc("scale");
  ExprPtr n = read_var(scale->args[0].name, ScalarType::kSize);
  ProcPtr eight = add_assertion(scale, bin_op(BinOpKind::kEq, n, int_const(8)));
  eight = rename_proc(divide_loop(eight, "i", 4, {"io", "ii"}, Tail::kPerfect), "scale_8");
  ProcPtr q = call_eqv(p, "scale(_)", eight);
  EXPECT_TRUE(contains(str(*q), "scale_8(8, ")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  EXPECT_REFUSED(call_eqv(p, "scale(_) #1", eight), "n == 8");
}

TEST(CallEqv, refuses_others) {
  Module m = parse_module(kScale, "test.exo");
  ProcPtr p = m.procs.back(), scale = m.find_proc("scale");
  EXPECT_REFUSED(call_eqv(p, "scale(_)", parse_module(kScale, "again.exo").find_proc("scale")),
                 "not known to be equivalent");
  EXPECT_REFUSED(call_eqv(p, "scale(_)", partial_eval(scale, {{"n", 8}})),
                 "not known to be equivalent");
  EXPECT_REFUSED(call_eqv(p, "scale(_)", set_window(scale, "dst", false)), "dense tensor");
  EXPECT_REFUSED(call_eqv(p, "scale(_)", set_precision(scale, "dst", ScalarType::kF64)),
                 "precision");
}

TEST(ExtractSubproc, makes_a_proc_of_a_block) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, M: size, x: f32[N, M], y: f32[M]):
    for i in seq(0, N):
        t : f32[M]
        w = x[i, 0:M]
        for j in seq(0, M):
            t[j] = w[j]
        for j in seq(0, M):
            y[j] += t[j] * x[i, j]
)");
  Extracted e = extract_subproc(p, "for j in _: _ #1", "dot_row");
  check(*e.subproc);
  EXPECT_EQ(e.subproc->name, "dot_row");
  EXPECT_TRUE(contains(str(*e.proc), "dot_row(N, M, i, x, y, t)"))
      << str(*e.proc) << str(*e.subproc);
  expect_same_meaning(p, e.proc, {{{"N", 1}, {"M", 3}}, {{"N", 3}, {"M", 2}}});
  Extracted f = extract_subproc(p, "for j in _: _", "copy_row");
  expect_same_meaning(p, f.proc, {{{"N", 1}, {"M", 3}}, {{"N", 3}, {"M", 2}}});
}

TEST(ExtractSubproc, refuses_what_escapes_and_what_overlaps) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, x: f32[N]):
    w = x[0:N]
    t : f32
    t = x[0]
    x[0] = t + w[0]
)");
  EXPECT_REFUSED(extract_subproc(p, "t : _", "g"), "used after");
  EXPECT_REFUSED(extract_subproc(p, "x[0] = _", "g"), "overlap");
}

TEST(PartialEval, fixes_sizes) {
  ProcPtr p = parse_last(R"(
@proc
def f(N: size, M: size, x: f32[N, 2 * M]):
    assert M % 2 == 0
    for i in seq(0, N):
        for j in seq(0, 2 * M):
            x[i, j] += 1.0
)");
  ProcPtr q = partial_eval(p, {{"M", 4}});
  EXPECT_TRUE(contains(str(*q), "x: f32[N, 8]")) << str(*q);
  EXPECT_TRUE(contains(str(*q), "seq(0, 8)")) << str(*q);
  EXPECT_FALSE(contains(str(*q), "assert")) << str(*q);
  EXPECT_FALSE(is_equivalent(p, q));
  EXPECT_NO_THROW(trace_script(q));
  EXPECT_REFUSED(partial_eval(p, {{"M", 3}}), "would be false");
  EXPECT_REFUSED(partial_eval(p, {{"M", 0}}), "positive");
  EXPECT_REFUSED(partial_eval(p, {{"L", 1}}), "no control argument");
  EXPECT_REFUSED(partial_eval(p, {{"M", 2}, {"M", 4}}), "twice");
  EXPECT_REFUSED(partial_eval(p, {{"x", 2}}), "no control argument");
}

TEST(AddAssertion, narrows_a_proc) {
  ProcPtr p = parse_last(
      "@proc\ndef f(N: size, x: f32[N]):\n    for i in seq(0, N):\n        x[i] = 1.0\n");
  ExprPtr n = read_var(p->args[0].name, ScalarType::kSize);
  ProcPtr q = add_assertion(p, bin_op(BinOpKind::kGe, n, int_const(4)));
  EXPECT_TRUE(contains(str(*q), "assert N >= 4")) << str(*q);
  EXPECT_FALSE(is_equivalent(p, q));
  EXPECT_REFUSED(add_assertion(p, bin_op(BinOpKind::kLt, n, int_const(1))), "never true");
  Cursor i = find_loop(p, "i");
  EXPECT_REFUSED(add_assertion(p, parse_expr_at(p, i.body()[0].path(), "i < 2")), "no argument");
}

TEST(MakeInstr, attaches_a_template) {
  ProcPtr p = parse_last("@proc\ndef f(x: f32[4]):\n    for i in seq(0, 4):\n        x[i] = 1.0\n");
  ProcPtr q = make_instr(p, "fill({x_data});", "#include <fill.h>", 2.0);
  ASSERT_TRUE(q->instr.has_value());
  EXPECT_EQ(q->instr->c_template, "fill({x_data});");
  EXPECT_EQ(q->instr->cost, 2.0);
  EXPECT_REFUSED(make_instr(p, "", "", 1), "empty");
}

TEST(RenameProc, wants_a_name) {
  ProcPtr p = parse_last("@proc\ndef f(x: f32[4]):\n    x[0] = 1.0\n");
  EXPECT_EQ(rename_proc(p, "g")->name, "g");
  EXPECT_REFUSED(rename_proc(p, "1g"), "not a name");
}

}  // namespace
}  // namespace exotune::test
