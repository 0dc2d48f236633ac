// Which nests are searched at fewer rounds, and at how many.
#include "search/few_rounds.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"

namespace exotune {
namespace {

const char* const kNests = R"(
@proc
def steps(T: size, N: size, x: f32[N, N], f: f32[T]):
    for t in seq(0, T):
        for i in seq(0, N):
            for j in seq(1, N):
                x[i, j] = x[i, j - 1] * x[i, j] + f[t]

@proc
def batch(B: size, N: size, x: f32[B, N, N]):
    for b in seq(0, B):
        for i in seq(0, N):
            for j in seq(1, N):
                x[b, i, j] = x[b, i, j - 1] * x[b, i, j]

@proc
def growing(T: size, N: size, x: f32[N, N]):
    for t in seq(0, T):
        for i in seq(0, N):
            for j in seq(1, N):
                if t + i < T:
                    x[i, j] = x[i, j - 1] * x[i, j]

@proc
def from_index(T: size, N: size, k: index, x: f32[N, N]):
    assert k >= 0
    assert k < N
    for t in seq(0, T):
        for i in seq(0, N):
            for j in seq(1, N):
                x[i, j] = x[i, j - 1] * x[k, j]

@proc
def by_tens(T: size, N: size, x: f32[N, N]):
    assert T % 10 == 0
    for t in seq(0, T):
        for i in seq(0, N):
            for j in seq(1, N):
                x[i, j] = x[i, j - 1] * x[i, j]
)";

TuneRequest request_for(const char* name, SizeBinding sizes) {
  TuneRequest out;
  out.proc = parse_module(kNests, "f.exo").find_proc(name);
  out.sizes = std::move(sizes);
  out.time_budget_seconds = 60;
  return out;
}

TEST(FewRounds, time_steps_become_fewer_and_end_alike) {
  const auto few = few_rounds(request_for("steps", {{"T", 5005}, {"N", 500}}));
  ASSERT_TRUE(few);
  EXPECT_EQ(*few, (SizeBinding{{"T", 48 + 5005 % 16}, {"N", 500}}));
}

TEST(FewRounds, of_long_rounds_there_are_sixteen) {
  const auto few = few_rounds(request_for("steps", {{"T", 500}, {"N", 5000}}));
  ASSERT_TRUE(few);
  EXPECT_EQ(few->at("T"), 16 + 500 % 16);
}

TEST(FewRounds, tells_how_many_times_fewer) {
  const TuneRequest request = request_for("steps", {{"T", 4800}, {"N", 500}});
  EXPECT_NEAR(times_fewer(request, *few_rounds(request)), 100, 1e-6);
}

TEST(FewRounds, short_calls_have_all_their_rounds) {
  EXPECT_FALSE(few_rounds(request_for("steps", {{"T", 500}, {"N", 100}})));
  TuneRequest patient = request_for("steps", {{"T", 5000}, {"N", 500}});
  EXPECT_TRUE(few_rounds(patient));
  patient.time_budget_seconds = 6000;
  EXPECT_FALSE(few_rounds(patient));
}

TEST(FewRounds, a_few_rounds_are_not_made_fewer) {
  EXPECT_FALSE(few_rounds(request_for("steps", {{"T", 60}, {"N", 5000}})));
}

// Other caches hold a tenth of a batch.
TEST(FewRounds, a_batch_is_no_repetition) {
  EXPECT_FALSE(few_rounds(request_for("batch", {{"B", 5000}, {"N", 500}})));
}

TEST(FewRounds, rounds_that_the_body_counts_stay) {
  EXPECT_FALSE(few_rounds(request_for("growing", {{"T", 5000}, {"N", 500}})));
}

TEST(FewRounds, what_the_kernel_asserts_holds) {
  EXPECT_FALSE(few_rounds(request_for("by_tens", {{"T", 5000}, {"N", 500}})));
  EXPECT_TRUE(few_rounds(request_for("by_tens", {{"T", 5010}, {"N", 500}})));
}

TEST(FewRounds, sizes_must_be_fixed_and_schedules_all_ours) {
  TuneRequest open = request_for("steps", {{"T", 5000}});
  EXPECT_FALSE(few_rounds(open));
  EXPECT_FALSE(few_rounds(request_for("from_index", {{"T", 5000}, {"N", 500}})));
  EXPECT_TRUE(few_rounds(request_for("from_index", {{"T", 5000}, {"N", 500}, {"k", 3}})));
  const TuneRequest whole = request_for("steps", {{"T", 5000}, {"N", 500}});
  TuneRequest with_loops = whole, with_rival = whole, with_start = whole, estimate = whole;
  with_loops.rivals = {{"your loops", whole.proc}};
  EXPECT_TRUE(few_rounds(with_loops));
  with_rival.rivals = {{"mine", parse_module(kNests, "f.exo").find_proc("steps")}};
  EXPECT_FALSE(few_rounds(with_rival));
  with_start.starts = {{whole.proc, "p = steps\n"}};
  EXPECT_FALSE(few_rounds(with_start));
  estimate.effort = Effort::kEstimate;
  EXPECT_FALSE(few_rounds(estimate));
}

}  // namespace
}  // namespace exotune
