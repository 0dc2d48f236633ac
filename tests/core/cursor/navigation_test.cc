// Every kind of cursor, where it leads, and how each kind follows a rewrite.
#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/primitives/primitives.h"

namespace exotune {
namespace {

ProcPtr sample() {
  static const ProcPtr p = parse_module(R"(
@proc
def callee(n: size, x: [f32][n]):
    for k in seq(0, n):
        x[k] = 0.0

@proc
def f(N: size, x: f32[N, 8], y: f32[N]):
    t : f32[8]
    for i in seq(1, N):
        t[0] = x[i, 2]
        y[i] += t[0] * 2.0
        if i < 3:
            callee(8, x[i, 0:8])
        else:
            y[i] = 1.0
)",
                                        "sample.exo")
                               .procs.back();
  return p;
}

TEST(Navigation, of_statements) {
  const ProcPtr p = sample();
  const Cursor i = find_loop(p, "i"), t = find(p, "t[_] = _"), branch = find(p, "if _: _");
  EXPECT_EQ(t.parent().path(), i.path());
  EXPECT_FALSE(i.parent().valid());
  EXPECT_EQ(t.next(2).path(), branch.path());
  EXPECT_EQ(branch.prev().path(), find(p, "y[_] += _").path());
  EXPECT_THROW(branch.next(), InvalidCursorError);
  EXPECT_THROW(t.prev(), InvalidCursorError);
  EXPECT_EQ(str(i.lo().expr()), "1");
  EXPECT_EQ(str(i.hi().expr()), "N");
  EXPECT_EQ(str(branch.cond().expr()), "i < 3");
  EXPECT_EQ(str(t.rhs().expr()), "x[i, 2]");
  EXPECT_EQ(str(t.rhs().idx()[1].expr()), "2");
  EXPECT_EQ(t.idx().size(), 1u);
  EXPECT_EQ(branch.body().length(), 1);
  EXPECT_TRUE(branch.orelse()[0].is<Assign>());
  EXPECT_EQ(branch.body()[0].args().size(), 2u);
  EXPECT_THROW(t.body(), InvalidCursorError);
  EXPECT_THROW(i.cond(), InvalidCursorError);
  EXPECT_THROW(i.rhs(), InvalidCursorError);
}

TEST(Navigation, of_blocks_and_gaps) {
  const ProcPtr p = sample();
  const Cursor t = find(p, "t[_] = _"), body = find_loop(p, "i").body();
  EXPECT_EQ(body.length(), 3);
  EXPECT_EQ(body[-1].path(), find(p, "if _: _").path());
  EXPECT_THROW(body[3], InvalidCursorError);
  EXPECT_EQ(t.expand(0, 1).length(), 2);
  EXPECT_EQ(t.expand(-1, -1).length(), 3);
  EXPECT_EQ(t.next().expand(1, 0).path(), t.path());
  EXPECT_EQ(t.before().kind(), CursorKind::kGap);
  EXPECT_EQ(t.before().anchor().path(), t.path());
  EXPECT_EQ(t.after().path(), t.next().before().path());
  EXPECT_EQ(body.after().anchor().path(), body[-1].path());
  EXPECT_THROW(t.before().stmt(), InvalidCursorError);
  EXPECT_THROW(t.expr(), InvalidCursorError);
}

TEST(Navigation, of_expressions) {
  const ProcPtr p = sample();
  const Cursor product = find(p, "_ * _");
  EXPECT_EQ(product.kind(), CursorKind::kExpr);
  EXPECT_EQ(product.parent().path(), find(p, "y[_] += _").path());
  EXPECT_EQ(str(product.child_expr(1).expr()), "2.0");
  EXPECT_EQ(product.child_expr(0).parent().path(), product.path());
  EXPECT_THROW(product.child_expr(2), InvalidCursorError);
}

TEST(Navigation, finds_below_a_cursor_and_the_nth) {
  const ProcPtr p = sample();
  const Cursor branch = find(p, "if _: _");
  EXPECT_EQ(branch.find("y[_] = _").path(), branch.orelse()[0].path());
  EXPECT_THROW(branch.find("y[_] += _"), InvalidCursorError);
  EXPECT_EQ(find_all(p, "y[_]").size(), 0u);  // never read
  EXPECT_EQ(find_all(p, "t[_]").size(), 1u);
  EXPECT_EQ(find_all(p, "x[_]").size(), 2u);  // an element, and the window that is passed
  EXPECT_EQ(find(p, "_ = _ #1").path(), branch.orelse()[0].path());
  EXPECT_THROW(find(p, "_ = _ #2"), InvalidCursorError);
}

// One step moves some, ends some and leaves the others where they were.
TEST(Forwarding, follows_each_kind) {
  const ProcPtr p = sample();
  const Cursor i = find_loop(p, "i"), t = find(p, "t[_] = _"), sum = find(p, "y[_] += _");
  const Cursor product = find(p, "_ * _"), alloc = find(p, "t : _"),
               arg = find_alloc_or_arg(p, "y");
  const ProcPtr q = divide_loop(p, i, 4, {"io", "ii"}, Tail::kCut);
  EXPECT_EQ(str(forward(q, i).lo().expr()), "0");
  EXPECT_EQ(forward(q, t).parent().path(), find_loop(q, "ii").path());
  EXPECT_EQ(forward(q, i.body()).length(), 3);
  EXPECT_EQ(forward(q, sum.before()).anchor().path(), forward(q, sum).path());
  EXPECT_EQ(str(forward(q, product).expr()), "t[0] * 2.0");
  EXPECT_EQ(forward(q, alloc).path(), alloc.path());
  EXPECT_EQ(forward(q, arg).arg_index(), arg.arg_index());
  const ProcPtr gone = eliminate_dead_code(specialize(p, i, {bool_const(true)}), "if _: _");
  EXPECT_TRUE(forward(gone, sum).valid());
  EXPECT_THROW(forward(p, forward(q, t)), InvalidCursorError);  // never backwards
}

TEST(Forwarding, ends_with_what_is_deleted) {
  const ProcPtr p = sample();
  const Cursor product = find(p, "_ * _"), sum = find(p, "y[_] += _");
  const ProcPtr q = bind_expr(p, product, "b");
  EXPECT_FALSE(forward(q, product.child_expr(0)).valid());
  EXPECT_TRUE(forward(q, sum).is<Reduce>());
  EXPECT_THROW((void)bind_expr(q, product.child_expr(0), "c"), InvalidCursorError);
}

// A single step may be made of as many primitives.
TEST(Provenance, of_a_hundred_thousand_steps_is_let_go_of) {
  ProcPtr p = parse_module("@proc\ndef f(x: f32[8]):\n    x[0] = 1.0\n    x[1] = 2.0\n", "f.exo")
                  .procs.back();
  const ProcPtr first = p;
  for (int k = 0; k < 100000; ++k) p = reorder_stmts(p, Cursor::block(p, {{Child::kBody, 0}}, 2));
  EXPECT_EQ(str(*p), str(*first));
  p = nullptr;
  EXPECT_EQ(provenance_of(*first), nullptr);
}

}  // namespace
}  // namespace exotune
