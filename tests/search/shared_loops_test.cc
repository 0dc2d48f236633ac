// Loops that threads share, as the beam takes them.
#include "search/shared_loops.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/library/script.h"
#include "tests/search/machines.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

Module module_of(const std::string& body) { return parse_module(body, "test.exo"); }

const char* const kProduct = R"(
@proc
def product(A: f32[50, 9], B: f32[9, 70], C: f32[50, 70]):
    for i in seq(0, 50):
        for j in seq(0, 70):
            for k in seq(0, 9):
                C[i, j] += A[i, k] * B[k, j]
)";

const char* const kSum = R"(
@proc
def sum(x: f32[64], s: f32[1]):
    for i in seq(0, 64):
        s[0] += x[i]
)";

TEST(SharedLoops, are_those_of_the_result_in_equal_parts) {
  const Nest nest = inspect_nest(*module_of(kProduct).procs.front());
  const std::vector<SharedLoop> shared = shared_loops(nest, *avx512(), 2);
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[0].part.find("j")->extent, 32);  // whole vectors
  EXPECT_EQ(shared[1].part.find("i")->extent, 25);
  EXPECT_EQ(shared[1].part.find("j")->extent, 70);
}

TEST(SharedLoops, a_sum_has_none) {
  EXPECT_TRUE(shared_loops(inspect_nest(*module_of(kSum).procs.front()), *avx512(), 2).empty());
}

TEST(SharedLoops, more_threads_than_iterations_share_nothing) {
  const Nest nest = inspect_nest(*module_of(kProduct).procs.front());
  EXPECT_TRUE(shared_loops(nest, *avx512(), 64).empty());
}

TEST(SharedLoops, their_steps_are_proved_and_mean_the_same) {
  const Module module = module_of(kProduct);
  const ProcPtr before = module.procs.front();
  for (const SharedLoop& shared : shared_loops(inspect_nest(*before), *avx512(), 2)) {
    const Steps steps = {shared.share_out, shared.parallelize};
    const std::string script = key_of(steps);
    const Stepped made = run_steps(before, steps);
    ASSERT_FALSE(made.refusal) << made.refusal->text();
    const ProcPtr after = made.proc;
    int parallel = 0;
    for_each_stmt(after->body, [&](const StmtPtr& s) {
      parallel += s->as<For>() && s->as<For>()->mode == LoopMode::kPar;
    });
    EXPECT_EQ(parallel, 1) << script;
    expect_same_result(before, after, script);
  }
}

// The loops of the procedure that are parallel, from the outside in.
std::vector<std::string> parallel_loops(const Proc& p) {
  std::vector<std::string> out;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const For* f = s->as<For>(); f && f->mode == LoopMode::kPar) out.push_back(f->iter.name());
  });
  return out;
}

std::vector<std::string> shared_in(const std::string& body, int threads,
                                   const SizeBinding& sizes = {}) {
  const ProcPtr before = module_of(body).procs.front();
  BeamContext context;
  context.sizes = sizes;
  const std::optional<BeamState> after = shared_out(first_state(before, context), threads, context);
  if (!after) return {};
  expect_same_result(before, after->proc, key_of(after->steps), sizes);
  // The steps are what made it.
  const Stepped again = run_steps(before, after->steps);
  EXPECT_FALSE(again.refusal);
  EXPECT_EQ(parallel_loops(*again.proc), parallel_loops(*after->proc));
  return parallel_loops(*after->proc);
}

const char* const kSweeps = R"(
@proc
def sweeps(T: size, A: f64[12, 12], B: f64[12, 12]):
    for t in seq(0, T):
        for i in seq(1, 11):
            for j in seq(1, 11):
                B[i, j] = A[i - 1, j] + A[i + 1, j]
        for u in seq(1, 11):
            for v in seq(1, 11):
                A[u, v] = B[u, v - 1] + B[u, v + 1]
)";

TEST(SharedOut, what_repeats_sweeps_stays_in_order_and_each_sweep_is_shared) {
  EXPECT_EQ(shared_in(kSweeps, 2, {{"T", 3}}), (std::vector<std::string>{"i", "u"}));
}

TEST(SharedOut, sums_into_one_element_stay) { EXPECT_TRUE(shared_in(kSum, 2).empty()); }

// Two images for four threads: their rows are shared, unless there are no rows.
TEST(SharedOut, few_iterations_give_way_to_loops_inside) {
  const auto images = [](const std::string& rows) {
    return "@proc\ndef images(x: f32[2, " + rows + ", 9]):\n" +
           "    for b in seq(0, 2):\n        for i in seq(0, " + rows +
           "):\n            for j in seq(0, 9):\n                x[b, i, j] = 2.0 * x[b, i, j]\n";
  };
  EXPECT_EQ(shared_in(images("40"), 2), std::vector<std::string>{"b"});
  EXPECT_EQ(shared_in(images("40"), 4), std::vector<std::string>{"i"});
  EXPECT_EQ(shared_in(images("1"), 16), std::vector<std::string>{"j"});
}

TEST(SharedOut, loops_that_are_worth_little_stay) {
  EXPECT_EQ(shared_in(R"(
@proc
def uneven(x: f32[4], y: f32[40, 40]):
    for k in seq(0, 4):
        x[k] = 1.0
    for i in seq(0, 40):
        for j in seq(0, 40):
            y[i, j] = 2.0 * y[i, j]
)",
                      2),
            std::vector<std::string>{"i"});
}

}  // namespace
}  // namespace exotune
