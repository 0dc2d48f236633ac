// The tuner without measuring: what it proposes for fixed and for open sizes.
#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/library/step.h"
#include "search/tuner.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kProduct = R"(
@proc
def product(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[k, j]
)";
// The dynamic program does not read it: the beam alone has it.
const char* const kSetFirst = R"(
@proc
def products(S: size, N: size, A: f32[S, N, N], B: f32[S, N, N], C: f32[S, N, N]):
    for s in seq(0, S):
        for i in seq(0, N):
            for j in seq(0, N):
                C[s, i, j] = 0.0
                for k in seq(0, N):
                    C[s, i, j] += A[s, i, k] * B[s, k, j]
)";

TuneResult estimate(const char* text, const SizeBinding& sizes, bool open,
                    Strategy strategy = Strategy::kAll) {
  const Module m = parse_module(text, "nest.exo");
  TuneRequest ask;
  ask.proc = m.procs.back();
  ask.kernel.name = ask.proc->name;
  if (!open) ask.sizes = sizes;
  ask.representative = sizes;
  ask.target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  ask.machine = probe_machine();
  ask.effort = Effort::kEstimate;
  ask.strategy = strategy;
  ask.with_peers = false;
  TuneResult found = tune(ask, *make_memory_store());
  EXPECT_EQ(found.statistics.refusals.count(kInternalError), 0u);
  return found;
}

bool has(const TuneResult& r, const std::string& text) {
  return r.script.find(text) != std::string::npos;
}

TEST(Estimate, a_nest_for_the_beam_alone_is_searched_at_fixed_sizes) {
  const TuneResult r = estimate(kSetFirst, {{"S", 64}, {"N", 32}}, false, Strategy::kBeam);
  EXPECT_GT(r.statistics.states, 20);
  EXPECT_EQ(r.statistics.refusals.count("partial_eval"), 0u);
  EXPECT_FALSE(r.as_written) << r.script;
  EXPECT_TRUE(has(r, "partial_eval(p, N=32, S=64)")) << r.script;
}

// Two loops, the inner one no sum: of a kind that the beam knows, and every move of it is refused.
TEST(Estimate, what_no_known_kind_fits_is_searched_as_a_program) {
  const TuneResult r = estimate(R"(
@proc
def polynomial(n: size, c: f32[6], x: f32[n], y: f32[n]):
    for i in seq(0, n):
        t: f32
        t = c[0]
        for d in seq(1, 6):
            t = t * x[i] + c[d]
        y[i] = t
)",
                                {{"n", 1000}}, false);
  EXPECT_TRUE(has(r, "optimize_level_1(")) << r.script;
}

// One sweep over an image, of a kind that the beam knows: rows that several rows of results read
// are moves of programs. A copy has none, and ten schedules or so of its own.
// What the beam knows of rows is some ten schedules; the rest are loops in other orders and, of
// neighbours, shifted registers.
// In tiles, and of no kind that the beam knows: nobody else would search it.
TEST(Estimate, what_its_writer_has_tiled_is_searched_as_a_program_too) {
  const TuneResult r = estimate(R"(
@proc
def tiled(T: size, N: size, A: f32[N, 20 * T], B: f32[20 * T, N], C: f32[N, N], D: f32[N, N]):
    for ko in seq(0, T):
        for i in seq(0, N):
            for j in seq(0, N):
                for k in seq(0, 20):
                    C[i, j] += A[i, 20 * ko + k] * B[20 * ko + k, j]
                    D[i, j] += A[i, 20 * ko + k] + B[20 * ko + k, j]
)",
                                {{"N", 64}, {"T", 3}}, false);
  EXPECT_GT(r.statistics.states, 20);
  EXPECT_FALSE(r.as_written) << r.script;
}

TEST(Estimate, rows_that_nobody_planned_are_searched_as_a_program_too) {
  constexpr int kOfTheBeam = 12;
  const auto states = [](const std::string& value) {
    return estimate((R"(
@proc
def sweep(m: size, n: size, x: f32[m + 2, n], y: f32[m, n]):
    for i in seq(0, m):
        for j in seq(0, n):
            y[i, j] = )" +
                     value + "\n")
                        .c_str(),
                    {{"m", 200}, {"n", 320}}, false)
        .statistics.states;
  };
  EXPECT_GT(states("x[i, j] + 2.0 * x[i + 1, j] + x[i + 2, j]"), kOfTheBeam);
  EXPECT_GT(states("2.0 * x[i, j]"), kOfTheBeam);
}

// The dynamic program would take most of a short search for levels that a move knows.
TEST(Estimate, what_only_moves_data_is_left_to_programs) {
  const char* const nest = R"(
@proc
def planes(C: size, H: size, W: size, x: f32[C, H, W], y: f32[H, W, C]):
    for c in seq(0, C):
        for i in seq(0, H):
            for j in seq(0, W):
                y[i, j, c] = x[c, i, j]
)";
  const SizeBinding sizes = {{"C", 64}, {"H", 24}, {"W", 24}};
  const TuneResult r = estimate(nest, sizes, false);
  EXPECT_FALSE(r.statistics.dp);
  EXPECT_FALSE(r.as_written) << r.script;
  expect_same_result(parse_module(nest, "nest.exo").procs.back(), r.winner, r.script, sizes);
  EXPECT_TRUE(estimate(nest, {{"C", 4}, {"H", 2}, {"W", 4}}, false, Strategy::kDp).statistics.dp);
}

TEST(Estimate, plans_for_fixed_sizes_serve_open_ones) {
  const TuneResult r = estimate(kProduct, {{"M", 96}, {"N", 96}, {"K", 96}}, true, Strategy::kDp);
  ASSERT_TRUE(r.statistics.dp);
  EXPECT_FALSE(r.statistics.dp->plans.empty());
  ASSERT_FALSE(r.as_written) << r.script;
  EXPECT_FALSE(has(r, "partial_eval")) << r.script;
  EXPECT_TRUE(has(r, "register_block(")) << r.script;
  EXPECT_EQ(r.winner->args.size(), 6u);
  expect_same_result(parse_module(kProduct, "nest.exo").procs.back(), r.winner, r.script,
                     {{"M", 7}, {"N", 19}, {"K", 5}});
}

TEST(Estimate, the_beam_rehearses_open_sizes_at_fixed_ones) {
  const TuneResult r = estimate(kProduct, {{"M", 64}, {"N", 64}, {"K", 64}}, true, Strategy::kBeam);
  ASSERT_FALSE(r.as_written) << r.script;
  EXPECT_FALSE(has(r, "partial_eval")) << r.script;
  expect_same_result(parse_module(kProduct, "nest.exo").procs.back(), r.winner, r.script,
                     {{"M", 13}, {"N", 9}, {"K", 4}});
}

}  // namespace
}  // namespace exotune
