#include "core/library/combinators.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/library/statements.h"
#include "core/library/traversal.h"

namespace exotune {
namespace {

ProcPtr parse(const std::string& text) { return parse_module(text, "test.exo").procs.back(); }
std::string body(const ProcPtr& p) { return str(*p, p->body); }

const char kNest[] = R"(
def f(x: f32[8, 4], a: f32, b: f32):
    for i in seq(0, 8):
        for j in seq(0, 4):
            x[i, j] = 1.0
        b = a
)";

std::string names(const std::vector<Cursor>& places) {
  std::string out;
  for (const Cursor& c : places)
    out += c.is<For>() ? c.as<For>().iter.name() : c.as<Assign>().name.name();
  return out;
}

TEST(Traversal, orders_nodes_and_children) {
  const ProcPtr p = parse(kNest);
  const Cursor i = find_loop(p, "i");
  EXPECT_EQ(names(nlr(i)), "ijxb");
  EXPECT_EQ(names(lrn(i)), "xjbi");
  EXPECT_EQ(names(rln(i)), "bxji");
  EXPECT_EQ(names(nrl(i)), "ibjx");
  EXPECT_EQ(names(lrn(i.body())), "xjb");
}

// Exo 2 figure 5 (c): a statement goes out of the loops that do not concern it.
TEST(Combinators, hoist_a_statement_by_repeating) {
  const Combinator fission_after =
      apply([](ProcPtr p, const Cursor& c) { return fission(p, c.after()); });
  const Combinator remove_parent =
      apply([](ProcPtr p, const Cursor& c) { return remove_loop(p, c.parent()); });
  const Combinator reorder_before =
      apply([](ProcPtr p, const Cursor& c) { return reorder_stmts(p, c.expand(1, 0)); });
  const Combinator hoist = repeat(try_else(seq({fission_after, remove_parent}), reorder_before));
  const ProcPtr p = parse(kNest);
  const Focus out = hoist({p, find(p, "b = _")});
  EXPECT_EQ(body(out.proc).substr(0, 6), "b = a\n");
  EXPECT_EQ(out.cursor.path(), (Path{{Child::kBody, 0}}));
}

TEST(Combinators, reframe_acts_elsewhere_and_comes_back) {
  const ProcPtr p = parse(kNest);
  const Combinator unroll = apply([](ProcPtr q, const Cursor& c) { return unroll_loop(q, c); });
  const Cursor b = find(p, "b = _");
  const Focus out = reframe([](const Cursor& c) { return c.prev(); }, unroll)({p, b});
  EXPECT_EQ(forward(out.proc, out.cursor).path().back().index, 4);
  EXPECT_THROW(nav([](const Cursor& c) { return c.parent().parent(); })({p, b}),
               InvalidCursorError);
}

TEST(Combinators, reduce_leaves_what_refuses) {
  const ProcPtr p = parse(kNest);
  const Combinator unroll = apply([](ProcPtr q, const Cursor& c) { return unroll_loop(q, c); });
  const Focus out = reduce(unroll, lrn)({p, find_loop(p, "i")});
  EXPECT_EQ(out.proc->body.size(), 40u);
  EXPECT_EQ(repeat(unroll)({p, find(p, "b = _")}).proc, p);
}

TEST(Statements, cse_binds_the_largest_first_and_not_across_a_write) {
  EXPECT_EQ(
      body(cse(parse("def f(x: f32[2], y: f32[2]):\n    y[0] = x[0] * x[1] + x[0]\n    y[1] = x[0] "
                     "* x[1]\n"),
               "y[0] = _; y[1] = _", "s")),
      "s : f32 @ DRAM\ns_1 : f32 @ DRAM\ns_1 = x[0]\ns = s_1 * x[1]\ny[0] = s + s_1\ny[1] = s\n");
  const ProcPtr p =
      parse("def f(x: f32[2], y: f32[2]):\n    x[0] = x[1]\n    x[1] = 2.0\n    y[0] = x[1]\n");
  EXPECT_EQ(cse(p, "x[0] = _; x[1] = _; y[0] = _", "s"), p);
}

TEST(Statements, jam_guards_what_may_not_run_again) {
  const char* text =
      "def f(x: f32[8], a: f32):\n    a %s 1.0\n    for i in seq(0, 8):\n        x[i] = a\n";
  auto with = [&](const std::string& op) {
    std::string t = text;
    return parse(t.replace(t.find("%s"), 2, op));
  };
  EXPECT_EQ(body(jam_stmt(with("="), "a = _")), "for i in seq(0, 8):\n    a = 1.0\n    x[i] = a\n");
  EXPECT_EQ(body(jam_stmt(with("+="), "a += _")),
            "for i in seq(0, 8):\n    if i == 0:\n        a += 1.0\n    x[i] = a\n");
}

TEST(Statements, bind_and_lift_gives_a_buffer_per_iteration) {
  const ProcPtr p =
      parse("def f(x: f32[8], y: f32[8]):\n    for i in seq(0, 8):\n        y[i] = x[i] + 1.0\n");
  const BoundAndLifted b = bind_and_lift(p, "x[_]", "t", 8);
  EXPECT_EQ(body(b.proc),
            "t : f32[8] @ DRAM\nfor i in seq(0, 8):\n    t[i] = x[i]\n    y[i] = t[i] + 1.0\n");
  EXPECT_TRUE(b.alloc.is<Alloc>());
  EXPECT_TRUE(b.load.is<Assign>());
}

TEST(Statements, fold_updates_takes_what_a_loop_writes_again) {
  const ProcPtr p = parse(R"(
def f(x: f32[8, 4], y: f32[8], z: f32[8], w: f32[8]):
    for i in seq(0, 8):
        for j in seq(0, 4):
            y[i] = y[i] - x[i, j]
            z[i] = fmax(x[i, j], z[i])
            w[i] = fmin(x[i, j], fmin(w[i], 2.0))
            w[i] = x[i, j] * 2.0 + w[i]
            w[i] = fmax(x[i, j], w[i] * 2.0)
        z[i] = z[i] + 1.0
)");
  EXPECT_EQ(body(fold_updates(p)), R"(for i in seq(0, 8):
    for j in seq(0, 4):
        y[i] += -x[i, j]
        z[i] max= x[i, j]
        w[i] min= fmin(x[i, j], 2.0)
        w[i] += x[i, j] * 2.0
        w[i] = fmax(x[i, j], w[i] * 2.0)
    z[i] = z[i] + 1.0
)");
  EXPECT_THROW((void)fold_updates(parse(kNest)), SchedulingError);
}

}  // namespace
}  // namespace exotune
