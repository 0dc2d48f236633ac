#include <cmath>

#include "core/cursor/provenance.h"
#include "core/interp/interp.h"
#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;
using test::refusal;

TEST(ReorderStmts, refuses_a_dependence) {
  ProcPtr p = parse("def f(x: f32, y: f32, z: f32):\n    x = 1.0\n    y = 2.0\n    z = y\n");
  Cursor second = find(p, "y = _");
  ProcPtr q = reorder_stmts(p, "x = _; y = _");
  expect_proc(q, "def f(x: f32, y: f32, z: f32):\n    y = 2.0\n    x = 1.0\n    z = y\n");
  EXPECT_EQ(str(forward(q, second).path()), "body[0]");
  EXPECT_NE(refusal([&] { (void)reorder_stmts(p, "y = _; z = _"); }), "");
}

TEST(ReorderBlocks, asks_once_for_all_of_both) {
  ProcPtr p = parse(R"(
def f(a: f32, b: f32, x: f32, y: f32, z: f32):
    x = 1.0
    y = 2.0
    a = z
    b = a
)");
  const Cursor all = Cursor::block(p, {{Child::kBody, 0}}, 4), third = find(p, "a = _");
  ProcPtr q = reorder_blocks(p, all, 2);
  expect_proc(q, R"(
def f(a: f32, b: f32, x: f32, y: f32, z: f32):
    a = z
    b = a
    x = 1.0
    y = 2.0
)");
  EXPECT_EQ(str(forward(q, third).path()), "body[0]");
  // One statement of a block that depends on one of the other is enough.
  EXPECT_NE(refusal([&] { (void)reorder_blocks(p, all, 3); }), "");
  EXPECT_NE(refusal([&] { (void)reorder_blocks(p, all, 4); }), "");
  EXPECT_NE(refusal([&] { (void)reorder_blocks(p, all, 0); }), "");
  ProcPtr bound = parse("def f(x: f32):\n    x = 1.0\n    t: f32\n    t = 2.0\n");
  const Cursor made = Cursor::block(bound, {{Child::kBody, 0}}, 3);
  EXPECT_NE(refusal([&] { (void)reorder_blocks(bound, made, 2); }), "");
}

TEST(BindExpr, names_a_value) {
  expect_proc(bind_expr(parse("def f(x: f32[4], y: f32):\n    y = x[0] + 1.0\n"), "x[_]", "t"), R"(
def f(x: f32[4], y: f32):
    t: f32
    t = x[0]
    y = t + 1.0
)");
}

TEST(BindExpr, cse_stops_where_the_value_changes) {
  expect_proc(bind_expr(parse(R"(
def f(x: f32[4], y: f32[4]):
    y[0] = x[0] + x[0]
    y[1] = x[0]
    x[0] = 3.0
    y[2] = x[0]
)"),
                        "x[_]", "t", true),
              R"(
def f(x: f32[4], y: f32[4]):
    t: f32
    t = x[0]
    y[0] = t + t
    y[1] = t
    x[0] = 3.0
    y[2] = x[0]
)");
}

TEST(BindExpr, counts_writes_through_windows) {
  ProcPtr p = parse(R"(
def f(x: f32[4], y: f32[4]):
    w = x[0:2]
    y[0] = x[0]
    w[0] = 3.0
    y[1] = x[0]
)");
  std::vector<Cursor> reads = {find(p, "x[_]"), find(p, "x[_] #1")};
  EXPECT_NE(refusal([&] { (void)bind_expr(p, reads, "t"); }), "");
}

TEST(InlineAssign, undoes_bind_expr) {
  ProcPtr p = parse("def f(x: f32[4], y: f32):\n    t: f32\n    t = x[0]\n    y = t + t\n");
  expect_proc(inline_assign(p, "t = _"),
              "def f(x: f32[4], y: f32):\n    t: f32\n    y = x[0] + x[0]\n");
}

// A quotient of integers ends the process where the divisor is zero: it is computed where the
// program computes it, and nowhere else.
TEST(Quotients, of_integers_are_computed_no_more_often) {
  const ProcPtr p = parse(R"(def f(N: index, x: i32[4], y: i32[4], z: i32[4]):
    for i in seq(0, N):
        if i < 4:
            z[0] = x[0] / y[0]
)");
  const auto outside = [](const ProcPtr& q, const Cursor& e) {
    return bind_expr(q, std::vector<Cursor>{e}, "q", "for i in _: _");
  };
  EXPECT_NE(refusal([&] { (void)outside(p, find(p, "z[_] = _").rhs()); }), "");
  const ProcPtr chosen = parse("def f(x: i32, y: i32, z: i32):\n    y = select(0, z, x / z, 7)\n");
  EXPECT_NE(refusal([&] { (void)bind_expr(chosen, find(chosen, "_ / _"), "q"); }), "");
  // By what is not zero, and of floating-point numbers, it is any value.
  const ProcPtr by_two = parse(R"(def f(N: index, x: i32[4], z: i32[4]):
    for i in seq(0, N):
        if i < 4:
            z[0] = x[0] / 2
)");
  EXPECT_NO_THROW((void)outside(by_two, find(by_two, "z[_] = _").rhs()));
  const ProcPtr sums = parse(R"(def f(N: index, s: i32, x: i32[4], y: i32[4], z: i32[4]):
    s = 0
    for i in seq(0, N):
        if i < 4:
            s += x[i] * (z[0] / y[0])
)");
  EXPECT_NE(refusal([&] { (void)lift_reduce_constant(sums, body_of(sums)); }), "");
  const ProcPtr beyond = parse(R"(def f(x: i32[8], z: i32[8], y: f32[8]):
    a: f32[8]
    for i in seq(0, 7):
        a[i] = x[i] / z[i]
    for i in seq(0, 7):
        y[i] = a[i]
)");
  EXPECT_NE(refusal([&] { (void)extend_loop(beyond, "i", int_const(8)); }), "");
}

TEST(ReorderStmts, says_when_sums_change_their_order) {
  const ProcPtr p =
      parse("def f(x: f32[4], y: f32[4], s: f32):\n    s += x[0]\n    s += y[0]\n    s = s\n");
  const ProcPtr q = reorder_stmts(p, "s += _ ; s += _");
  EXPECT_TRUE(reassociates(q));
}

// A value that is rounded when it is stored may be rounded where it is stored next, as the same
// type; nowhere else.
TEST(InlineAssign, leaves_a_conversion_to_the_next_assignment) {
  const std::string head = "def f(x: f32[4], y: i8[4], z: i32[4], w: i8):\n    t: i8\n";
  const std::string cast = "    t = i8(fmin(fmax(x[0], 0.0), 9.0))\n";
  const auto inlined = [&](const std::string& use) {
    const ProcPtr p = parse(head + cast + use);  // the cast is an assignment of its own
    return inline_assign(inline_assign(p, "t = _"), "t_i8 = _");
  };
  EXPECT_NE(str(*inlined("    y[1] = t\n")).find("y[1] = fmin(fmax(x[0], 0.0), 9.0)"),
            std::string::npos)
      << str(*inlined("    y[1] = t\n"));
  for (const char* use : {"    y[1] = t + t\n", "    z[1] = i32(t)\n", "    y[1] += t\n",
                          "    y[1] = t\n    w = -t\n"})
    EXPECT_NE(refusal([&] { (void)inlined(use); }), "") << use;
}

TEST(InlineAssign, refuses_an_overwritten_operand) {
  ProcPtr p =
      parse("def f(x: f32[4], y: f32):\n    t: f32\n    t = x[0]\n    x[0] = 2.0\n    y = t\n");
  EXPECT_NE(refusal([&] { (void)inline_assign(p, "t = _"); }), "");
}

TEST(InlineWindow, composes_indices) {
  expect_proc(inline_window(parse(R"(
def f(x: f32[8, 8], y: f32[8]):
    for i in seq(0, 4):
        w = x[i, 2:8]
        v = w[1:3]
        w[0] = y[i]
        v[1] += w[2]
)"),
                            "w = _"),
              R"(
def f(x: f32[8, 8], y: f32[8]):
    for i in seq(0, 4):
        v = x[i, 3:5]
        x[i, 2] = y[i]
        v[1] += x[i, 4]
)");
}

TEST(MergeWrites, all_four_forms) {
  auto check_form = [](const std::string& a, const std::string& b, const std::string& c) {
    const std::string head = "def f(x: f32[4], y: f32[4]):\n    ";
    ProcPtr p = parse(head + a + "\n    " + b + "\n");
    expect_proc(merge_writes(p, body_of(p)), head + c + "\n");
  };
  check_form("x[0] = y[1]", "x[0] = y[2]", "x[0] = y[2]");
  check_form("x[0] += y[1]", "x[0] = y[2]", "x[0] = y[2]");
  check_form("x[0] = y[1]", "x[0] += y[2]", "x[0] = y[1] + y[2]");
  check_form("x[0] += y[1]", "x[0] += y[2]", "x[0] += y[1] + y[2]");
}

TEST(MergeWrites, refuses_a_right_side_that_reads_the_target) {
  ProcPtr p = parse("def f(x: f32[4], y: f32[4]):\n    x[0] = y[1]\n    x[0] += x[0]\n");
  EXPECT_NE(refusal([&] { (void)merge_writes(p, body_of(p)); }), "");
}

TEST(SplitWrite, reads_of_the_target_stay_first) {
  ProcPtr p = parse("def f(x: f32[4], y: f32[4]):\n    x[0] = x[0] + y[0]\n");
  expect_proc(split_write(p, "x[_] = _"),
              "def f(x: f32[4], y: f32[4]):\n    x[0] = x[0]\n    x[0] += y[0]\n");
  ProcPtr q = parse("def f(x: f32[4], y: f32[4]):\n    x[0] = y[0] + x[0]\n");
  EXPECT_NE(refusal([&] { (void)split_write(q, "x[_] = _"); }), "");
}

TEST(SplitWrite, of_a_difference_the_second_is_negative) {
  ProcPtr p = parse("def f(x: f32[4], y: f32[4]):\n    x[0] += y[0] - y[1] * y[2]\n");
  expect_proc(split_write(p, "x[_] += _"),
              "def f(x: f32[4], y: f32[4]):\n    x[0] += y[0]\n    x[0] += -(y[1] * y[2])\n");
  ProcPtr q = parse("def f(x: f32[4], y: f32[4]):\n    x[0] = y[1] - x[0]\n");
  EXPECT_NE(refusal([&] { (void)split_write(q, "x[_] = _"); }), "");
  ProcPtr r = parse("def f(x: i32[4], y: i32[4]):\n    x[0] += y[0] - y[1]\n");
  EXPECT_NE(refusal([&] { (void)split_write(r, "x[_] += _"); }).find("integers"),
            std::string::npos);
}

TEST(FoldIntoReduce, finds_the_target_among_the_summands) {
  ProcPtr p = parse("def f(x: f32[4], y: f32[4]):\n    x[0] = y[1] + x[0]\n");
  ProcPtr q = fold_into_reduce(p, "x[_] = _");
  expect_proc(q, "def f(x: f32[4], y: f32[4]):\n    x[0] += y[1]\n");
  EXPECT_FALSE(reassociates(q));
  ProcPtr r = fold_into_reduce(
      parse("def f(x: f32[4], y: f32[4]):\n    x[0] = x[0] + y[1] + y[2]\n"), "x[_] = _");
  expect_proc(r, "def f(x: f32[4], y: f32[4]):\n    x[0] += y[1] + y[2]\n");
  EXPECT_TRUE(reassociates(r));
}

TEST(FoldIntoReduce, takes_what_is_taken_away) {
  const std::string head = "def f(x: f32[4], y: f32[4]):\n    x[0] ";
  ProcPtr q = fold_into_reduce(parse(head + "= x[0] - y[1]\n"), "x[_] = _");
  expect_proc(q, head + "+= -y[1]\n");
  EXPECT_FALSE(reassociates(q));
  ProcPtr r = fold_into_reduce(parse(head + "= x[0] - y[1] - y[2]\n"), "x[_] = _");
  expect_proc(r, head + "+= -y[1] - y[2]\n");
  EXPECT_TRUE(reassociates(r));
  EXPECT_NE(refusal([&] { (void)fold_into_reduce(parse(head + "= y[1] - x[0]\n"), "x[_] = _"); }),
            "");
  // The least integer has no negative: x - e may be one where x + -e is none.
  const std::string words = "def f(x: i32[4], y: i32[4]):\n    x[0] = x[0] - y[1]\n";
  EXPECT_NE(refusal([&] { (void)fold_into_reduce(parse(words), "x[_] = _"); }), "");
}

TEST(FoldIntoReduce, knows_extremes) {
  for (const auto& [fn, op] : {std::pair("fmax", "max="), std::pair("fmin", "min=")}) {
    const std::string head = "def f(x: f32[4], y: f32[4]):\n    x[0] ";
    expect_proc(fold_into_reduce(parse(head + "= " + fn + "(y[1], x[0])\n"), "x[_] = _"),
                head + op + " y[1]\n");
    expect_proc(merge_writes(parse(head + op + " y[1]\n    x[0] " + op + " y[2]\n"),
                             std::string("x[_] ") + op + " _; x[_] " + op + " _"),
                head + op + " " + fn + "(y[1], y[2])\n");
  }
}

TEST(LiftReduceConstant, what_parallel_iterations_write_is_not_read_later) {
  const auto lifted = [](const std::string& written) {
    const ProcPtr p = parse(
        "def f(x: f32[3], y: f32[2], z: f32[2]):\n    for i in par(0, 2):\n"
        "        y[i] = 0.0\n        for j in seq(3, 3):\n"
        "            y[i] += x[i] * z[i]\n        " +
        written + " = 1.0\n");
    const Cursor pair = find(p, "y[_] = 0.0").expand(0, 1);
    return refusal([&] { check(*lift_reduce_constant(p, pair)); });
  };
  EXPECT_EQ(lifted("z[i]"), "");
  EXPECT_NE(lifted("x[i + 1]").find("lift_reduce_constant"), std::string::npos);
}

TEST(LiftReduceConstant, multiplies_once_at_the_end) {
  ProcPtr p = parse(R"(
def f(N: size, a: f32, x: f32[N], y: f32):
    y = 0.0
    for i in seq(0, N):
        y += a * x[i]
)");
  ProcPtr q = lift_reduce_constant(p, body_of(p));
  expect_proc(q, R"(
def f(N: size, a: f32, x: f32[N], y: f32):
    y = 0.0
    for i in seq(0, N):
        y += x[i]
    y = a * y
)");
  EXPECT_TRUE(reassociates(q));
}

TEST(Expressions, commute_and_reassociate) {
  ProcPtr p = parse("def f(x: f32[4], y: f32):\n    y = x[0] + (x[1] + x[2])\n");
  Cursor rhs = find(p, "y = _").rhs();
  expect_proc(left_reassociate_expr(p, rhs),
              "def f(x: f32[4], y: f32):\n    y = x[0] + x[1] + x[2]\n");
  expect_proc(commute_expr(p, rhs), "def f(x: f32[4], y: f32):\n    y = x[1] + x[2] + x[0]\n");
}

TEST(Expressions, a_difference_takes_a_term_in_front_of_it) {
  ProcPtr p = parse("def f(x: i32[4], y: i32):\n    y = x[0] + (x[1] - x[2])\n");
  expect_proc(left_reassociate_expr(p, find(p, "y = _").rhs()),
              "def f(x: i32[4], y: i32):\n    y = x[0] + x[1] - x[2]\n");
  ProcPtr q = parse("def f(x: f32[4], y: f32):\n    y = x[0] - (x[1] + x[2])\n");
  EXPECT_NE(refusal([&] {
              (void)left_reassociate_expr(q, find(q, "y = _").rhs());
            }).find("is not of the form"),
            std::string::npos);
}

TEST(Statements, what_is_added_to_integers_is_converted_by_a_statement_of_its_own) {
  ProcPtr p =
      parse("def f(x: f32[4], y: i32, z: i8[4]):\n    y += x[0] * 2.5\n    z[1] max= x[2]\n");
  const ProcPtr q = bind_converted(bind_converted(p, "z[_] max= _", "u"), "y += _", "t");
  expect_proc(q, R"(
def f(x: f32[4], y: i32, z: i8[4]):
    t: i32
    t = x[0] * 2.5
    y += t
    u: i8
    u = x[2]
    z[1] max= u
)");
  EXPECT_FALSE(reassociates(q));
  // Fractions are cut off before the sum, whatever the sum has.
  for (const double x : {2.9, -2.9, 0.7, 120.6}) {
    for (const ProcPtr& f : {p, q}) {
      Arguments a = make_arguments(*f, {}, 1);
      for (double& v : a.buffers[0]->data) v = x;
      a.buffers[1]->data[0] = -7;
      a.buffers[2]->data[1] = 1;
      run(*f, a.values);
      EXPECT_EQ(a.buffers[1]->data[0], -7 + std::trunc(static_cast<float>(x) * 2.5F)) << x;
      EXPECT_EQ(a.buffers[2]->data[1], std::max(1.0, std::trunc(x))) << x;
    }
  }
}

TEST(Statements, what_is_not_converted_or_added_to_no_integer_has_no_name_of_its_type) {
  const auto refused = [](const char* text, const char* stmt) {
    ProcPtr p = parse(text);
    return refusal([&] { (void)bind_converted(p, stmt, "t"); });
  };
  EXPECT_NE(refused("def f(x: f32, y: i32):\n    y = x\n", "y = _").find("an assignment"),
            std::string::npos);
  EXPECT_NE(refused("def f(x: f64, y: f32):\n    y += x\n", "y += _").find("holds no integers"),
            std::string::npos);
  EXPECT_NE(refused("def f(x: i32, y: i32):\n    y += x\n", "y += _").find("is not converted"),
            std::string::npos);
}

TEST(Expressions, powers_go_nearer_to_products_by_one_step) {
  const auto expanded = [](const std::string& power) {
    const std::string head = "def f(x: f32, y: f32):\n    y = ";
    ProcPtr p = parse((head + power + "\n").c_str());
    const ProcPtr q = expand_power(p, find(p, "y = _").rhs());
    EXPECT_TRUE(reassociates(q));
    const std::string text = str(*q);
    const size_t at = text.find("y = ") + 4;
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(expanded("pow(x, 0.0)"), "1.0");
  EXPECT_EQ(expanded("pow(x, 1.0)"), "x");
  EXPECT_EQ(expanded("pow(x, 2.0)"), "x * x");
  EXPECT_EQ(expanded("pow(x, 5.0)"), "pow(x * x, 2.0) * x");
  EXPECT_EQ(expanded("pow(x, 64.0)"), "pow(x * x, 32.0)");
  EXPECT_EQ(expanded("pow(x, 0.5)"), "sqrt(x)");
  EXPECT_EQ(expanded("pow(x, 2.5)"), "pow(x, 2.0) * sqrt(x)");
  EXPECT_EQ(expanded("pow(x, -1.0)"), "1.0 / x");
  EXPECT_EQ(expanded("pow(x, -3.0)"), "1.0 / pow(x, 3.0)");
  EXPECT_EQ(expanded("pow(x, -1.5)"), "pow(1.0 / sqrt(x), 3.0)");
  EXPECT_EQ(expanded("pow(2.0, x)"), "exp2(x)");
}

TEST(Expressions, powers_that_are_no_products_are_refused) {
  const auto refused = [](const std::string& power) {
    const std::string head = "def f(x: f32, y: f32):\n    y = ";
    ProcPtr p = parse((head + power + "\n").c_str());
    return refusal([&] { (void)expand_power(p, find(p, "y = _").rhs()); });
  };
  EXPECT_NE(refused("sqrt(x)").find("is no power"), std::string::npos);
  for (const char* power :
       {"pow(x, x)", "pow(x, 0.3)", "pow(x, 65.0)", "pow(x, 1e300)", "pow(3.0, x)"})
    EXPECT_NE(refused(power).find("no whole or half exponent"), std::string::npos) << power;
}

TEST(Expressions, quotients_become_products_with_reciprocals) {
  ProcPtr p = parse("def f(x: f32[4], y: f32):\n    y = x[0] / (x[1] + 2.0)\n");
  const ProcPtr q = multiply_by_reciprocal(p, find(p, "y = _").rhs());
  expect_proc(q, "def f(x: f32[4], y: f32):\n    y = x[0] * (1.0 / (x[1] + 2.0))\n");
  EXPECT_TRUE(reassociates(q));
}

TEST(Expressions, the_opposite_of_a_product_is_a_product_with_an_opposite) {
  ProcPtr p = parse("def f(x: f32[4], y: f32):\n    y += -((x[0] + x[1]) * x[2])\n");
  const ProcPtr q = negate_factor(p, find(p, "y += _").rhs());
  expect_proc(q, "def f(x: f32[4], y: f32):\n    y += -(x[0] + x[1]) * x[2]\n");
  EXPECT_FALSE(reassociates(q));
}

TEST(Expressions, integers_and_sums_keep_their_sign) {
  ProcPtr p = parse("def f(x: i32[4], y: i32):\n    y = -(x[0] * x[1])\n    y = -(x[0] + x[1])\n");
  EXPECT_NE(refusal([&] {
              check(*negate_factor(p, find(p, "y = _").rhs()));
            }).find("an integer may have no opposite"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              check(*negate_factor(p, find(p, "y = _ #1").rhs()));
            }).find("no negative product of data"),
            std::string::npos);
}

TEST(Expressions, a_factor_of_integers_is_shifted_exactly) {
  ProcPtr p = parse("def f(x: i32[4], y: i32):\n    y += x[0] * x[1]\n");
  const ProcPtr q = shift_factor(p, find(p, "y += _").rhs(), 128);
  expect_proc(q,
              "def f(x: i32[4], y: i32):\n"
              "    y += (x[0] + 128.0) * x[1] + -1.0 * (128.0 * x[1])\n");
  EXPECT_FALSE(reassociates(q));
  test::expect_same_meaning(p, q, {{}});
}

TEST(Expressions, a_shift_that_would_lose_digits_or_is_no_integer_is_refused) {
  const auto shifted = [](const char* text, int64_t by) {
    ProcPtr p = parse(text);
    return refusal([&] { (void)shift_factor(p, find(p, "y += _").rhs(), by); });
  };
  const char* floats = "def f(x: f32[4], y: f32):\n    y += x[0] * x[1]\n";
  const char* sums = "def f(x: i32[4], y: i32):\n    y += x[0] + x[1]\n";
  const char* bytes = "def f(x: i8[4], y: i8):\n    y += x[0] * x[1]\n";
  const char* words = "def f(x: i32[4], y: i32):\n    y += x[0] * x[1]\n";
  EXPECT_NE(shifted(floats, 128).find("no product of integers"), std::string::npos);
  EXPECT_NE(shifted(sums, 128).find("no product of data"), std::string::npos);
  EXPECT_NE(shifted(bytes, 128).find("128 or its opposite is no `i8`"), std::string::npos);
  EXPECT_EQ(shifted(bytes, 127), "");
  EXPECT_NE(shifted(words, -2147483648LL), "");
  EXPECT_NE(shifted(words, INT64_MIN), "");
}

TEST(Expressions, integers_and_products_have_no_reciprocal) {
  ProcPtr p = parse("def f(x: i32[4], y: i32):\n    y = x[0] / x[1]\n    y = x[0] * x[1]\n");
  EXPECT_NE(refusal([&] {
              check(*multiply_by_reciprocal(p, find(p, "y = _").rhs()));
            }).find("an integer has no reciprocal"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              check(*multiply_by_reciprocal(p, find(p, "y = _ #1").rhs()));
            }).find("no quotient of data"),
            std::string::npos);
}

TEST(Expressions, rewrite_needs_equality_in_context) {
  ProcPtr p = parse(R"(
def f(N: size, x: f32[N]):
    for i in seq(0, N):
        if i == 2:
            x[i] = 1.0
)");
  Cursor index = find(p, "x[_] = _").idx()[0];
  expect_proc(rewrite_expr(p, index, int_const(2)), R"(
def f(N: size, x: f32[N]):
    for i in seq(0, N):
        if i == 2:
            x[2] = 1.0
)");
  EXPECT_NE(refusal([&] { (void)rewrite_expr(p, index, int_const(1)); }), "");
}

TEST(Passes, come_and_go) {
  ProcPtr p = parse("def f(x: f32):\n    x = 1.0\n");
  ProcPtr q = insert_pass(p, find(p, "x = _").before());
  expect_proc(q, "def f(x: f32):\n    pass\n    x = 1.0\n");
  EXPECT_EQ(str(*delete_pass(q)), str(*p));
}

TEST(Specialize, orders_its_conditions) {
  ProcPtr p = parse("def f(N: size, x: f32[N]):\n    x[0] = 1.0\n");
  const Path at = {{Child::kBody, 0}};
  expect_proc(
      specialize(p, "x[_] = _", {parse_expr_at(p, at, "N < 4"), parse_expr_at(p, at, "N < 8")}), R"(
def f(N: size, x: f32[N]):
    if N < 4:
        x[0] = 1.0
    else:
        if N < 8:
            x[0] = 1.0
        else:
            x[0] = 1.0
)");
}

TEST(EliminateDeadCode, decides_by_context) {
  expect_proc(eliminate_dead_code(parse(R"(
def f(N: size, x: f32[N]):
    for i in seq(0, N):
        if i < N:
            x[i] = 1.0
        else:
            x[i] = 2.0
)"),
                                  "if _: _"),
              "def f(N: size, x: f32[N]):\n    for i in seq(0, N):\n        x[i] = 1.0\n");
}

TEST(Simplify, remainders_of_remainders_are_taken_once) {
  expect_proc(simplify(parse(R"(
def f(N: size, x: f32[64]):
    for i in seq(0, N % 64 % 16):
        x[i] = 1.0
    for i in seq(0, (N % 64 + 3) % 16):
        x[i] = 2.0
    for i in seq(0, N % 64 % 10):
        x[i] = 3.0
)")),
              R"(
def f(N: size, x: f32[64]):
    for i in seq(0, N % 16):
        x[i] = 1.0
    for i in seq(0, (N + 3) % 16):
        x[i] = 2.0
    for i in seq(0, N % 64 % 10):
        x[i] = 3.0
)");
}

TEST(Simplify, folds_quotients_and_dead_branches) {
  expect_proc(simplify(parse(R"(
def f(N: size, x: f32[8 * N], y: f32[8 * N]):
    for io in seq(0, N):
        for ii in seq(0, 8):
            y[(8 * io + ii) / 8 * 8 + (8 * io + ii) % 8] = x[8 * io + ii + 0]
            if ii < 9:
                y[ii] = 1.0
            if ii > 8:
                y[ii] = 2.0
    for j in seq(3, 3):
        y[j] = 3.0
)")),
              R"(
def f(N: size, x: f32[8 * N], y: f32[8 * N]):
    for io in seq(0, N):
        for ii in seq(0, 8):
            y[ii + 8 * io] = x[ii + 8 * io]
            y[ii] = 1.0
)");
}

TEST(BindExpr, stands_before_the_statement_given) {
  const ProcPtr p = parse(
      "def f(N: size, x: f32[N]):\n    for i in seq(0, N):\n"
      "        x[i] = x[i] * 3.0\n");
  const std::vector<Cursor> literal{find(p, "x[_] = _").rhs().child_expr(1)};
  expect_proc(bind_expr(p, literal, "c", "i"),
              "def f(N: size, x: f32[N]):\n    c: f32\n    c = 3.0\n    for i in seq(0, N):\n"
              "        x[i] = x[i] * c\n");
  const std::vector<Cursor> element{find(p, "x[_] = _").rhs().child_expr(0)};
  EXPECT_NE(refusal([&] { (void)bind_expr(p, element, "c", "i"); }), "");
}

// Elements that only a loop without iterations reads are not read in front of it by one thread
// while another writes them.
TEST(BindExpr, what_parallel_iterations_write_is_not_read_sooner) {
  const auto bound = [](const std::string& written) {
    const ProcPtr p = parse(
        "def f(x: f32[3], y: f32[1]):\n    for i in par(0, 2):\n"
        "        for j in seq(3, 3):\n            y[0] += x[i]\n"
        "        " +
        written + " = 1.0\n");
    const std::vector<Cursor> element{find(p, "y[_] += _").rhs()};
    return refusal([&] { check(*bind_expr(p, element, "c", "for j in _: _")); });
  };
  EXPECT_EQ(bound("x[i]"), "");
  EXPECT_NE(bound("x[i + 1]").find("bind_expr"), std::string::npos);
}

TEST(BindExpr, what_changes_in_between_is_not_bound_before) {
  const ProcPtr p = parse(
      "def f(N: size, x: f32[N]):\n    for i in seq(0, N):\n"
      "        x[i] = x[0] * 3.0\n");
  const std::vector<Cursor> first{find(p, "x[_] = _").rhs().child_expr(0)};
  EXPECT_NE(refusal([&] { (void)bind_expr(p, first, "c", "i"); }), "");
}

}  // namespace
}  // namespace exotune
