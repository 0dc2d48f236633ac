// Lines as Exo 2's papers and its RVM tutorial write them, pasted into scripts.
#include <gtest/gtest.h>

#include "core/library/script.h"
#include "tests/core/library/four_lanes.h"
#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

ScriptResult run_lines(const Module& m, const std::string& lines) {
  static const FourLanes four("");
  return run_script(lines, "paper.sched", script_environment(m, {&four.module}));
}

// The script on the last proc of `text`: what it makes computes the same.
ProcPtr scheduled(const std::string& text, const std::string& lines,
                  const std::vector<Sizes>& sizes) {
  const Module m = parse_module(text, "paper.exo");
  const ProcPtr before = m.procs.back();
  const ProcPtr after = run_lines(m, "p = " + before->name + "\n" + lines).proc;
  expect_same_meaning(before, after, sizes);
  return after;
}
int times(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++n;
  return n;
}
bool has(const ProcPtr& p, const std::string& text) {
  return str(*p).find(text) != std::string::npos;
}

const char* const kGemv = R"(
@proc
def g(M: size, N: size, A: f32[M, N], x: f32[N], y: f32[M]):
    assert M % 8 == 0
    assert N % 8 == 0
    for i in seq(0, M):
        for j in seq(0, N):
            y[i] += A[i, j] * x[j]
)";
const char* const kMatmul = R"(
@proc
def SGEMM(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):
    for k in seq(0, K):
        for i in seq(0, M):
            for j in seq(0, N):
                C[i, j] += A[i, k] * B[k, j]
)";
const char* const kVector = R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        y[i] += x[i] * x[i]
)";
const std::vector<Sizes> kEights{{{"M", 8}, {"N", 16}}};
const std::vector<Sizes> kOdd{{{"M", 5}, {"N", 7}, {"K", 3}}, {{"M", 4}, {"N", 4}, {"K", 4}}};

TEST(Exo2Forms, section_3_1) {
  const Module m = parse_module(kGemv, "paper.exo");
  const std::string lines =
      "g = divide_loop(g,'i',8,['io','ii'],perfect=True)\n"
      "g = divide_loop(g,'j',8,['jo','ji'],perfect=True)\n"
      "g = lift_scope(g,'jo')\n";
  const ScriptResult alone = run_lines(m, lines);
  ASSERT_EQ(alone.warnings.size(), 1u);
  EXPECT_NE(alone.warnings[0].find("paper.sched:1:1: warning: this script never changes `p`"),
            std::string::npos)
      << alone.warnings[0];
  const ScriptResult ended = run_lines(m, lines + "p = g\n");
  EXPECT_TRUE(ended.warnings.empty());
  expect_same_meaning(m.procs.back(), ended.proc, kEights);
  EXPECT_TRUE(has(ended.proc, "for io in seq(0, M / 8):\n        for jo in seq(0, N / 8):"));
}

TEST(Exo2Forms, tiles_by_cursor_and_cursors_of_the_tiles) {
  const ProcPtr p = scheduled(kGemv,
                              "i = p.find_loop('i')\nj = p.find_loop('j')\n"
                              "p, [_, j_outer] = tile_loops(p, [(i, 4), (j, 4)], perfect=True)\n"
                              "p, _ = tile_loops(p, [(i, 2)], perfect=True)\n"
                              "p = unroll_loop(p, j_outer)\n",
                              kEights);
  EXPECT_TRUE(has(p, "for ioo in ")) << str(*p);
  EXPECT_FALSE(has(p, "for ji in ")) << str(*p);
}

TEST(Exo2Forms, tiles_with_tails) {
  const ProcPtr p = scheduled(kMatmul, "p, _ = tile_loops(p, [('i', 4), ('j', 4)])\n", kOdd);
  EXPECT_TRUE(has(p, "for io in seq(0, M / 4):\n            for jo in seq(0, N / 4):")) << str(*p);
}

TEST(Exo2Forms, bottom_up_each_combination_of_tiles_is_a_nest) {
  const ProcPtr p =
      scheduled(kMatmul, "p = tile_loops_bottom_up(p, p.body()[0], (2, 4, 4))\n", kOdd);
  EXPECT_EQ(times(str(*p), "for ki in "), 8) << str(*p);
  EXPECT_EQ(times(str(*p), "for ko in "), 1) << str(*p);
}

TEST(Exo2Forms, two_statements_given_apart) {
  const char* const text = R"(
@proc
def f(x: f32[2], y: f32[2]):
    x[0] = 1.0
    x[0] += y[1]
    y[0] = 2.0
)";
  const ProcPtr p = scheduled(text,
                              "p = reorder_stmts(p, p.find('x[_] += _'), p.find('y[_] = _'))\n"
                              "p = reorder_stmts(p, 'x[_] = _', 'y[_] = _')\n"
                              "p = merge_writes(p, 'x[_] = _', 'x[_] += _')\n",
                              {{}});
  EXPECT_TRUE(has(p, "y[0] = 2.0\n    x[0] = 1.0 + y[1]")) << str(*p);
}

TEST(Exo2Forms, values_of_sizes_in_their_order) {
  const Module m = parse_module(kMatmul, "paper.exo");
  const ProcPtr p = run_lines(m, "p = SGEMM.partial_eval(6, 64)\n").proc;
  EXPECT_EQ(p->args.front().name.name(), "K") << str(*p);
}

TEST(Exo2Forms, values_of_bools_are_written_as_such) {
  const Module m = parse_module(R"(
@proc
def fill(N: size, x: f32[N], act: bool):
    for i in seq(0, N):
        if act == True:
            x[i] = 1.0
)",
                                "paper.exo");
  const ProcPtr named = run_lines(m, "p = fill.partial_eval(act=True)\np = simplify(p)\n").proc;
  EXPECT_TRUE(has(named, "for i in seq(0, N):\n        x[i] = 1.0")) << str(*named);
  EXPECT_EQ(str(*run_lines(m, "p = fill.partial_eval(act=1)\np = simplify(p)\n").proc),
            str(*named));
  EXPECT_THROW(run_lines(m, "p = fill.partial_eval(act='yes')\n"), Error);
}

TEST(Exo2Forms, calls_of_one_procedure_go_to_an_equal_one) {
  const Module m = parse_module(std::string(kVector) + R"(
@proc
def h(N: size, x: f32[N], y: f32[N]):
    f(N, x, y)
)",
                                "paper.exo");
  const ProcPtr p = run_lines(m, "g = rename(f, 'g')\np = h\np = call_eqv(p, f, g)\n").proc;
  EXPECT_TRUE(has(p, "g(N, x, y)")) << str(*p);
}

TEST(Exo2Forms, loops_rounded_up) {
  const ProcPtr p = scheduled(kVector, "p = round_loop(p, p.find_loop('i'), 4)\n",
                              {{{"N", 1}}, {{"N", 4}}, {{"N", 9}}});
  EXPECT_TRUE(has(p, "for i in seq(0, 4 * ((N + 3) / 4)):\n        if i < N:")) << str(*p);
}

TEST(Exo2Forms, vectors_by_precision_and_memory) {
  for (const std::string line :
       {"p = vectorize(p, p.find_loop('i'), 4, 'f32', V4, rules=[], tail='cut_and_guard')\n",
        "p = vectorize(p, 'i', 4)\n", "p = optimize_level_1(p, p.find_loop('i'), 'f32', V4, 2)\n",
        "p = vectorize(p, 'i', 4, V4, instrs, tail='cut')\n"}) {
    const ProcPtr p = scheduled(kVector, line, {{{"N", 1}}, {{"N", 4}}, {{"N", 21}}});
    EXPECT_TRUE(has(p, "fma(")) << line << str(*p);
  }
}

TEST(Exo2Forms, interleaved_with_any_tail) {
  for (const char* tail : {"cut", "recursive", "specialize"}) {
    const ProcPtr p =
        scheduled(kVector, std::string("p = interleave_loop(p, 'i', 4, tail='") + tail + "')\n",
                  {{{"N", 1}}, {{"N", 4}}, {{"N", 6}}, {{"N", 7}}});
    EXPECT_TRUE(has(p, "y[4 * io + 3] +=")) << str(*p);
  }
}

TEST(Exo2Forms, arguments_that_would_do_nothing_are_refused) {
  const auto refusal = [](const char* line) -> std::string {
    try {
      scheduled(kVector, line, {{{"N", 4}}});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const std::string rules = refusal("p = vectorize(p, 'i', 4, 'f32', V4, rules=['fma'])\n");
  EXPECT_NE(rules.find("`rules` must be empty"), std::string::npos) << rules;
  const std::string width = refusal("p = vectorize(p, 'i', 8, 'f32', V4, rules=[])\n");
  EXPECT_NE(width.find("`vw` must be 4: a register of V4 holds that many of f32"),
            std::string::npos)
      << width;
  const std::string up =
      refusal("p = optimize_level_2_general(p, 'i', 'f32', V4, 4, 2, round_up=True)\n");
  EXPECT_NE(up.find("`round_up` must be False"), std::string::npos) << up;
}

TEST(Exo2Forms, copies_go_to_the_memory_that_is_given) {
  const ProcPtr p =
      scheduled(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        t: f32
        t = x[i] * 2.0
        y[i] += t
)",
                "p = interleave_loop(p, 'i', 2, DRAM_STACK)\n", {{{"N", 1}}, {{"N", 5}}});
  EXPECT_TRUE(has(p, "t : f32 @ DRAM_STACK")) << str(*p);
}

TEST(Exo2Forms, fission_around_a_statement) {
  const ProcPtr p = scheduled(R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        x[i] = 1.0
        y[i] = 2.0
        x[i] += 3.0
)",
                              "p = fission_as_much_as_possible(p, p.find('y[_] = _'))\n",
                              {{{"N", 1}}, {{"N", 5}}});
  EXPECT_EQ(times(str(*p), "for i in"), 3) << str(*p);
}

TEST(Exo2Forms, moving_statements_and_loops_about) {
  const char* const text = R"(
@proc
def f(N: size, x: f32[N, 4], y: f32[4, N], z: f32[4]):
    for i in seq(0, N):
        for j in seq(0, 4):
            z[j] = 1.0
            x[i, j] = z[j]
        for j in seq(0, 4):
            y[j, i] = x[i, j]
)";
  const std::vector<Sizes> sizes{{{"N", 1}}, {{"N", 3}}};
  const ProcPtr sorted = scheduled(
      text, "p = isolate(p, 'y[_] = _')\np = reorder_loops_from_idx(p, 'y[_] = _')\n", sizes);
  EXPECT_TRUE(has(sorted, "for j in seq(0, 4):\n        for i in seq(0, N):\n            y[j, i]"))
      << str(*sorted);
  const ProcPtr fused = scheduled(text, "p = fuse_all_loops(p, p.body()[0])\n", sizes);
  EXPECT_EQ(times(str(*fused), "for j in"), 1) << str(*fused);
  const ProcPtr unrolled = scheduled(text, "p = unroll_loops(p)\n", sizes);
  EXPECT_EQ(times(str(*unrolled), "for j in"), 0) << str(*unrolled);
  const ProcPtr once = scheduled(text, "p = add_guard(p, 'z[_] = _')\n", sizes);
  EXPECT_TRUE(has(once, "if i == 0:")) << str(*once);
  // It stays where it is: in the loops that concern it, behind what stood in front of it.
  const ProcPtr kept = scheduled(R"(
@proc
def f(A: f32[4, 3], B: f32[2, 3], C: f32[2, 4]):
    t: f32[4, 3]
    for i in seq(0, 2):
        for j in seq(0, 4):
            C[i, j] = 0.0
            for k in seq(0, 3):
                t[j, k] = A[j, k]
                C[i, j] += t[j, k] * B[i, k]
)",
                                 "p = add_guard(p, 't[_] = _')\n", {{}});
  EXPECT_TRUE(has(kept,
                  "C[i, j] = 0.0\n            for k in seq(0, 3):\n"
                  "                if i == 0:\n                    t[j, k] = A[j, k]\n"
                  "                C[i, j] +="))
      << str(*kept);
  // Twice: of two loops that do not concern it, one after the other.
  const ProcPtr both =
      scheduled(R"(
@proc
def f(A: f32[3], C: f32[2, 4]):
    t: f32[3]
    for i in seq(0, 2):
        for j in seq(0, 4):
            for k in seq(0, 3):
                t[k] = A[k]
                C[i, j] += t[k]
)",
                "p = add_guard(p, 't[_] = _')\np = add_guard(p, 't[_] = _')\n", {{}});
  EXPECT_TRUE(
      has(both, "for k in seq(0, 3):\n                if i == 0:\n                    if j == 0:"))
      << str(*both);
  const ProcPtr windows = scheduled(
      "@proc\ndef f(N: size, x: f32[N], y: f32[1]):\n    for i in seq(0, N):\n"
      "        for j in seq(0, i):\n            y[0] += x[j]\n",
      "p = stage_mem(p, 'j', 'x[0:i]', 't')\n", {{{"N", 1}}, {{"N", 4}}});
  EXPECT_TRUE(has(windows, "if 0 < i:")) << str(*windows);
}

TEST(Exo2Forms, triangles_split_into_rectangles_and_corners) {
  const ProcPtr p = scheduled(R"(
@proc
def syrk(N: size, K: size, A: f32[N, K], C: f32[N, N]):
    for i in seq(0, N):
        for j in seq(0, i + 1):
            for k in seq(0, K):
                C[i, j] += A[i, k] * A[j, k]
)",
                              "p = split_triangle(p, 'i', 'j', 4)\n"
                              "p = reorder_loops(p, 'ii j')\n",
                              {{{"N", 1}, {"K", 2}}, {{"N", 4}, {"K", 2}}, {{"N", 11}, {"K", 3}}});
  EXPECT_TRUE(has(p, "for j in seq(0, 4 * io + 1):\n            for ii in seq(0, 4):")) << str(*p);
}

TEST(Exo2Forms, the_first_form_is_the_one_that_refusals_name) {
  const Module m = parse_module(kVector, "paper.exo");
  try {
    run_lines(m, "p = f\np = reorder_stmts(p)\n");
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::kInput);
    EXPECT_NE(std::string(e.what()).find("reorder_stmts"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace exotune::test
