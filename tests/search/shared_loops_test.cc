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

}  // namespace
}  // namespace exotune
