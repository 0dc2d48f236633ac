// Trials timed side by side: who is really faster comes first, whatever was measured before.
#include "search/semifinal.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "hw/target.h"
#include "search/problem.h"

namespace exotune {
namespace {

// The same sum once, and ten thousand times over.
constexpr const char* kSums = R"(
@proc
def once(x: f32[64], y: f32[64]):
    for i in seq(0, 64):
        y[i] = x[i]

@proc
def often(x: f32[64], y: f32[64]):
    for r in seq(0, 10000):
        for i in seq(0, 64):
            y[i] = 0.0
        for i in seq(0, 64):
            y[i] += x[63 - i]
    for i in seq(0, 64):
        y[i] = x[i]
)";

TEST(Semifinal, times_of_one_run_replace_those_of_many) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const std::vector<ProcPtr> procs = parse_module(kSums, "sums.exo").procs;
  const TuningProblem problem = make_problem(procs[0], {});
  std::vector<Trial> trials(4);
  trials[0].candidate = make_candidate(procs[1], *target, problem, "often");
  trials[0].median = 1;
  trials[1].candidate = make_candidate(procs[0], *target, problem, "once");
  trials[1].median = 1.8;
  trials[2] = trials[1];
  trials[2].median = 1.9;  // not among the two fastest
  for (Trial& t : trials) t.status = TrialStatus::kOk;
  trials[3].status = TrialStatus::kMismatch;
  trials[3].median = 0.5;
  time_side_by_side(trials, 2, 3, *native_arena(plain_toolchain()), problem);
  EXPECT_GT(trials[0].median, trials[1].median);
  EXPECT_NEAR(trials[0].median + trials[1].median, 2.8, 1e-9);
  EXPECT_EQ(trials[2].median, 1.9);
  EXPECT_EQ(trials[3].median, 0.5);
}

// No other program on the machine makes that up: its arguments would only take the others' caches.
TEST(Semifinal, what_takes_twice_as_long_is_not_in_it) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const std::vector<ProcPtr> procs = parse_module(kSums, "sums.exo").procs;
  const TuningProblem problem = make_problem(procs[0], {});
  std::vector<Trial> trials(3);
  for (Trial& t : trials) {
    t.candidate = make_candidate(procs[0], *target, problem, "once");
    t.status = TrialStatus::kOk;
  }
  trials[0].median = 1;
  trials[1].median = 1.5;
  trials[2].median = 2.5;
  time_side_by_side(trials, 3, 3, *native_arena(plain_toolchain()), problem);
  EXPECT_NEAR(trials[0].median + trials[1].median, 2.5, 1e-9);
  EXPECT_EQ(trials[2].median, 2.5);
}

}  // namespace
}  // namespace exotune
