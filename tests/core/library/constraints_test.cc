// Constraints of a script: what they let a search do, and that they hold on the result.
#include "core/library/constraints.h"

#include <gtest/gtest.h>

#include "core/library/script.h"
#include "tests/said.h"

namespace exotune {
namespace {

const Module& module() {
  static const Module m = parse_module(R"exo(
@memory
class VEC:
    kind = "vector"
    bytes = 32
    count = 16
    c_types = {"f32": "__m256"}

@instr("copy")
def copy8(dst: [f32][8] @ DRAM, src: [f32][8] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 8):
        dst[i] = src[i]

@instr("copy again")
def move8(dst: [f32][8] @ DRAM, src: [f32][8] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 8):
        dst[i] = src[i]

@proc
def f(x: f32[16, 8], y: f32[16, 8]):
    for i in seq(0, 16):
        for j in seq(0, 8):
            y[i, j] = x[i, j]
)exo",
                                       "f.exo");
  return m;
}

ScriptResult run(const std::string& text) {
  return run_script(text, "test.sched", script_environment(module()));
}

std::string said(const std::string& text) {
  return said_by([&] { run(text); });
}

TEST(Constraints, avoid_takes_an_instruction_away) {
  const ScriptResult all = run("p = replace_all(p, instrs)\n");
  EXPECT_EQ(all.proc->body[0]->as<For>()->body[0]->as<Call>()->callee->name, "copy8");
  const ScriptResult some = run("avoid(copy8)\np = replace_all(p, instrs)\n");
  EXPECT_EQ(some.proc->body[0]->as<For>()->body[0]->as<Call>()->callee->name, "move8");
  EXPECT_EQ(some.constraints.size(), 1u);
  EXPECT_SAID("p = avoid(p, copy8)\np = replace(p, 'for j in _: _', copy8)\n",
              "test.sched:1:5: error: `avoid` is not kept: the result calls `copy8`");
}

TEST(Constraints, use_puts_an_instruction_first_and_asks_for_it) {
  const ScriptResult r = run("use(move8)\np = replace_all(p, instrs)\n");
  EXPECT_EQ(r.proc->body[0]->as<For>()->body[0]->as<Call>()->callee->name, "move8");
  EXPECT_SAID("use(move8)\np = replace_all(p, copy8)\n", "the result does not call `move8`");
}

TEST(Constraints, contradictions_are_refused) {
  EXPECT_SAID("use(copy8)\navoid([move8, copy8])\n",
              "test.sched:2:1: error: `copy8` is to be used and avoided at once");
  EXPECT_SAID("avoid(f)\n", "`f` is no instruction");
  EXPECT_SAID("avoid(copy9)\n", "did you mean `copy8`?");
  EXPECT_SAID("avoid()\n", "needs `instrs`");
  EXPECT_SAID("max_unroll(0)\n", "unrolled once at least");
  EXPECT_SAID("max_unroll('x')\n", "must be an integer");
  EXPECT_SAID("tiles('i', [0])\n", "one iteration at least");
  EXPECT_SAID("tiles(3, [0])\n", "must be a string");
  EXPECT_SAID("pin('for z in _: _')\n", "z");
  EXPECT_SAID("keep_order(p, 3)\n", "True or False");
  EXPECT_SAID("max_unrol(3)\n", "did you mean `max_unroll`?");
}

TEST(Constraints, keep_order_looks_at_outer_parts) {
  EXPECT_SAID("keep_order()\np = reorder_loops(p, 'i j')\n",
              "the loop over `j` is now outside the one over `i`");
  EXPECT_EQ(said("keep_order()\np = divide_loop(p, 'i', 4, ['io', 'ii'], perfect=True)\n"
                 "p = reorder_loops(p, 'ii j')\n"),
            "accepted");
  EXPECT_SAID(
      "keep_order()\np = divide_loop(p, 'j', 4, ['jo', 'ji'], perfect=True)\n"
      "p = reorder_loops(p, 'i jo')\n",
      "`keep_order` is not kept");
  EXPECT_EQ(said("keep_order(p, False)\np = reorder_loops(p, 'i j')\n"), "accepted");
}

TEST(Constraints, max_unroll_counts_iterations) {
  EXPECT_EQ(said("max_unroll(8)\np = unroll_loop(p, 'j')\n"), "accepted");
  EXPECT_SAID("max_unroll(7)\np = unroll_loop(p, 'j')\n", "the loop over `j` is unrolled 8 times");
  EXPECT_EQ(said("p = unroll_loop(p, 'j')\nmax_unroll(7)\n"), "accepted");
}

TEST(Constraints, tile_sets_refuse_the_step_itself) {
  EXPECT_EQ(said("tiles('i', [4, 8])\np = divide_loop(p, 'i', 8, ['io', 'i'])\n"), "accepted");
  EXPECT_SAID("tiles('i', [4, 8])\np = divide_loop(p, 'i', 2, ['io', 'i'])\n",
              "the loop over `i` may be blocked by 4, 8, not by 2");
  EXPECT_SAID("tiles('i', [4, 8])\ntiles('i', [8])\np = block_loop(p, 'i', 4, ['io', 'i'])\n",
              "may be blocked by 8, not by 4");
}

TEST(Constraints, pin_keeps_a_subtree) {
  EXPECT_EQ(said("pin('for j in _: _')\np = divide_loop(p, 'i', 4, ['io', 'ii'], perfect=True)\n"),
            "accepted");
  EXPECT_SAID("c = p.find('for j in _: _')\npin(c)\np = divide_loop(p, 'j', 4, ['jo', 'ji'])\n",
              "test.sched:2:1: error: `pin` is not kept: the pinned subtree was ");
}

TEST(Constraints, of_a_search_reach_its_hole) {
  ScriptEnvironment env = script_environment(module());
  std::vector<std::string> kinds;
  env.search = [&](const ScriptHole& hole) {
    for (const ScriptConstraint& c : hole.constraints) kinds.push_back(c.kind);
    EXPECT_EQ(hole.own_constraints, 3u);
    EXPECT_EQ(hole.options.size(), 1u);
    return hole.proc;
  };
  run_script(
      "avoid(copy8)\np = search(p, max_unroll=4, tiles=[['i', [4]], ['j', [8]]], trials=3)\n", "s",
      env);
  EXPECT_EQ(kinds, (std::vector<std::string>{"avoid", "max_unroll", "tiles", "tiles"}));
  EXPECT_THROW(run_script("p = search(p, tiles=3)\n", "s", env), InputError);
  EXPECT_THROW(run_script("avoid(copy8)\np = search(p, use=copy8)\n", "s", env), InputError);
}

TEST(Constraints, are_lines_again) {
  const ScriptResult r = run("avoid([copy8, move8])\ntiles('i', [4, 8])\nmax_unroll(9)\n");
  std::vector<std::string> lines;
  for (const ScriptConstraint& c : r.constraints) lines.push_back(line_of(c).value_or(""));
  EXPECT_EQ(lines, (std::vector<std::string>{"p = avoid(p, [copy8, move8])",
                                             "p = tiles(p, 'i', [4, 8])", "p = max_unroll(p, 9)"}));
}

}  // namespace
}  // namespace exotune
