#include "core/library/staging.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/cleanup.h"
#include "core/library/script.h"
#include "tests/core/frontend/samples.h"

namespace exotune {
namespace {

ProcPtr read(const std::string& text) { return parse_module(text, "test.exo").procs.back(); }
std::string body(const ProcPtr& p) { return str(*p, p->body); }

TEST(Staging, infers_the_window_and_returns_cursors) {
  ProcPtr p = partial_eval(read(samples::kSgemm), {{"M", 4}, {"N", 8}});
  Staged s = auto_stage_mem(p, "for k in _: _", "C", "C_reg");
  EXPECT_EQ(s.alloc.describe(), "C_reg : f32[4, 8] @ DRAM");
  ASSERT_TRUE(s.load.valid());
  ASSERT_TRUE(s.store.valid());
  EXPECT_EQ(s.load.path().back().index, 1);
  EXPECT_EQ(s.block.path().back().index, 2);
  EXPECT_EQ(s.store.path().back().index, 3);
  EXPECT_TRUE(s.load.find("C_reg[_] = _").valid());
  EXPECT_TRUE(s.store.find("C[_] = _").valid());
  EXPECT_TRUE(s.block.find("C_reg[_] += _").valid());
}

TEST(Staging, what_is_only_read_is_not_stored) {
  ProcPtr p = partial_eval(read(samples::kSgemm), {{"M", 4}, {"K", 8}});
  Staged s = auto_stage_mem(p, "for i in _: _", "A", "A_reg");
  EXPECT_TRUE(s.load.valid());
  EXPECT_FALSE(s.store.valid());
  EXPECT_THROW(auto_stage_mem(p, "for i in _: _", "X", "A_reg"), SchedulingError);
}

TEST(Staging, cursors_of_a_script_are_attributes) {
  Module m = parse_module(samples::kSgemm, "sgemm.exo");
  ScriptResult r = run_script(
      "p = p.partial_eval(M=4, N=8)\n"
      "p, cs = auto_stage_mem(p, 'for k in _: _', 'C', 'C_reg', rc=True)\n"
      "n = cs.load.find('C_reg[_] = _').name()\n"
      "p, (alloc, _, block, store) = auto_stage_mem(p, 'for k in _: _', 'C_reg', 'C_reg2', "
      "rc=True)\n"
      "m = alloc.name()\n",
      "s", script_environment(m));
  EXPECT_EQ(*r.bindings.at("n").as<std::string>(), "C_reg");
  EXPECT_EQ(*r.bindings.at("m").as<std::string>(), "C_reg2");
  EXPECT_TRUE(r.bindings.at("store").as<Cursor>()->is<For>());
}

TEST(Staging, lifts_with_dimensions_up_to_a_size) {
  ProcPtr p = read(
      "def f(n: size, x: f32[n, 8, 4]):\n    for i in seq(0, n):\n        for j in seq(0, 8):\n"
      "            for k in seq(0, 4):\n                t : f32\n                t = x[i, j, k]\n"
      "                x[i, j, k] = t + 1.0\n");
  EXPECT_EQ(body(autolift_alloc(p, "t", {}, 8)).substr(0, 21), "t : f32[4] @ DRAM\nfor");
  EXPECT_EQ(body(autolift_alloc(p, "t", {}, 32)).substr(0, 21), "t : f32[8, 4] @ DRAM\n");
  EXPECT_EQ(body(autolift_alloc(p, "t", {"j"}, 32)).substr(0, 18), "t : f32[8] @ DRAM\n");
  EXPECT_EQ(body(autolift_alloc(p, "t", {}, 0)).substr(0, 15), "t : f32 @ DRAM\n");
}

TEST(Staging, distributes_a_loop_with_a_buffer_for_each_iteration) {
  ProcPtr p = read(
      "def f(x: f32[8], y: f32[8]):\n    for i in seq(2, 6):\n        t : f32\n        t = x[i]\n"
      "        x[i] = y[i]\n        y[i] = t\n");
  const ProcPtr q = distribute_loop(p, "i");
  EXPECT_EQ(body(q),
            "t : f32[4] @ DRAM\n"
            "for i in seq(2, 6):\n    t[i - 2] = x[i]\n"
            "for i in seq(2, 6):\n    x[i] = y[i]\n"
            "for i in seq(2, 6):\n    y[i] = t[i - 2]\n");
  const Arguments expected = make_arguments(*p, {}, 5), got = copy_of(expected);
  run(*p, expected.values);
  run(*q, got.values);
  EXPECT_EQ(first_difference(expected, got), "");
}

TEST(Staging, distribution_leaves_together_what_must_stay_so) {
  // The second statement reads what the iteration before wrote.
  ProcPtr p = read(
      "def f(x: f32[9], y: f32[9]):\n    for i in seq(0, 8):\n        y[i] = x[i]\n"
      "        x[i + 1] = y[i] + 1.0\n");
  EXPECT_EQ(body(distribute_loop(p, "i")), body(p));
  ProcPtr any = read(
      "def f(n: size, x: f32[n]):\n    for i in seq(0, n):\n        t : f32\n        t = x[i]\n"
      "        x[i] = t + 1.0\n");
  EXPECT_THROW((void)distribute_loop(any, "i"), SchedulingError);
}

TEST(Staging, hoists_and_splits_off_what_does_not_depend_on_the_loop) {
  ProcPtr p = read(
      "def f(x: f32[8], a: f32, b: f32):\n    for i in seq(0, 8):\n        x[i] = 1.0\n"
      "        b = a\n        x[i] += a\n");
  const char* hoisted = "b = a\nfor i in seq(0, 8):\n    x[i] = 1.0\n    x[i] += a\n";
  EXPECT_EQ(body(hoist_stmt(p, "b = _")), hoisted);
  const char* split =
      "for i in seq(0, 8):\n    x[i] = 1.0\nb = a\nfor i in seq(0, 8):\n    x[i] += a\n";
  EXPECT_EQ(body(remove_redundant_loops(p, "b = _", 1)), split);
}

TEST(Staging, fission_that_empties_a_loop_removes_it) {
  ProcPtr p = read(
      "def f(x: f32[8], a: f32, b: f32):\n    for i in seq(0, 8):\n        b = a\n        x[i] = "
      "a\n");
  EXPECT_EQ(body(autofission(p, find(p, "b = _").after())),
            "b = a\nfor i in seq(0, 8):\n    x[i] = a\n");
}

TEST(Cleanup, removes_what_never_happens) {
  ProcPtr p = read(
      "def f(n: size, x: f32[n]):\n    t : f32\n    for i in seq(0, n):\n        if i < n:\n"
      "            x[i] = 1.0\n        else:\n            x[0] = 2.0\n    for i in seq(3, 3):\n"
      "        x[0] = 3.0\n    for i in seq(2, 3):\n        if n < i:\n            x[0] = 4.0\n    "
      "pass\n");
  EXPECT_EQ(body(dce(p)),
            "for i in seq(0, n):\n    x[i] = 1.0\nfor i in seq(2, 3):\n    if n < i:\n"
            "        x[0] = 4.0\n");
  EXPECT_EQ(body(cleanup(p)), "for i in seq(0, n):\n    x[i] = 1.0\nif n < 2:\n    x[0] = 4.0\n");
}

// Calls in the body of a callee, too.
TEST(Cleanup, calls_of_procedures_are_their_bodies) {
  const ProcPtr p = read(
      "def twice(x: [f32][4]):\n    for i in seq(0, 4):\n        x[i] += x[i]\n"
      "def rows(n: size, x: f32[n, 4]):\n    for r in seq(0, n):\n        twice(x[r, :])\n"
      "def f(x: f32[6, 4]):\n    rows(6, x)\n    twice(x[0, :])\n");
  const ProcPtr q = inline_calls(p);
  EXPECT_EQ(body(q),
            "for r in seq(0, 6):\n    for i in seq(0, 4):\n        x[r, i] += x[r, i]\n"
            "for i in seq(0, 4):\n    x[0, i] += x[0, i]\n");
  EXPECT_THROW((void)inline_calls(q), SchedulingError);
}

// The callee's scalar is no loop of the caller's; windows by name are what they stand for.
TEST(Cleanup, names_of_a_callee_stay_apart) {
  const ProcPtr p = read(
      "def unit(v: [f32][4]):\n    s : f32\n    s = 0.0\n    for k in seq(0, 4):\n"
      "        s += v[k]\n    for row in seq(0, 4):\n        v[row] = s\n    row_1 : f32\n"
      "    row_1 = 0.0\n"
      "def f(x: f32[6, 4]):\n    for s in seq(0, 6):\n        row = x[s, :]\n"
      "        unit(row[0:4])\n        row[0] = 1.0\n");
  EXPECT_EQ(body(inline_calls(p)),
            "for s in seq(0, 6):\n    s_1 : f32 @ DRAM\n    s_1 = 0.0\n"
            "    for k in seq(0, 4):\n        s_1 += x[s, k]\n"
            "    for row_2 in seq(0, 4):\n        x[s, row_2] = s_1\n    row_1 : f32 @ DRAM\n"
            "    row_1 = 0.0\n    x[s, 0] = 1.0\n");
  const ProcPtr q = inline_calls(p);
  for (const Path& path : all_stmt_paths(*q)) {
    const Alloc* a = stmt_at(*q, path)->as<Alloc>();
    EXPECT_TRUE(!a || a->name.name() == "s_1" || a->name.name() == "row_1");
  }
  // The steps that it is made of say so, too: whoever replays them has the same names.
  EXPECT_NE(trace_script(q).find("p = inline(p, p.find('unit(_)'), True)"), std::string::npos)
      << trace_script(q);
}

// The least number that is free: names of a scope that was left are free again, others' literal
// names are not.
TEST(PrintedNames, are_numbered_by_what_can_be_seen) {
  std::string text = "def f(t_1: f32[8], x: f32[8]):\n    t : f32\n    t = 0.0\n";
  for (int k = 0; k < 3; ++k)
    text +=
        "    for i in seq(0, 8):\n        t : f32\n        t = x[i]\n        t : f32\n"
        "        t = x[i]\n        x[i] = t\n";
  const ProcPtr p = read(text + "    x[0] = t\n    t : f32\n    t = t_1[0]\n    x[1] = t\n");
  const std::string out = body(p);
  size_t twos = 0, threes = 0;
  for (size_t at = 0; (at = out.find("t_2 : f32", at)) != std::string::npos; ++at) ++twos;
  for (size_t at = 0; (at = out.find("t_3 : f32", at)) != std::string::npos; ++at) ++threes;
  EXPECT_EQ(twos, 4u) << out;    // once in each loop, once behind them
  EXPECT_EQ(threes, 3u) << out;  // once in each loop
  EXPECT_EQ(out.find("t_4"), std::string::npos) << out;
  // A variable alone is named as it is among all.
  for (const Path& path : all_stmt_paths(*p)) {
    const std::vector<ScopeEntry> scope = scope_at(*p, path);
    for (const ScopeEntry& e : scope)
      if (!e.type.is_tensor()) {
        const ExprPtr alone = read_var(e.name, e.type.scalar);
        const std::string both = str(bin_op(BinOpKind::kAdd, alone, alone), scope);
        EXPECT_EQ(str(alone, scope) + " + " + str(alone, scope), both);
      }
  }
}

}  // namespace
}  // namespace exotune
