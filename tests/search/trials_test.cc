// Trials run once: what the store holds, what a timeout means, and the nest as written.
#include "search/trials.h"

#include <gtest/gtest.h>

namespace exotune {
namespace {

const TrialKey kKey{"hash", "n=8", "avx2", "here", "cc 1"};

TrialResult ok(double seconds) {
  TrialResult r;
  r.status = TrialStatus::kOk;
  r.samples = {seconds};
  r.median = r.minimum = seconds;
  return r;
}

// Candidates named by the seconds a call takes; all calls of a trial must fit into the time
// allowed.
class SlowMachine : public Runner {
 public:
  std::string name() const override { return "slow"; }
  SampleUnit unit() const override { return SampleUnit::kSeconds; }
  std::vector<TrialResult> run(std::span<const Candidate> candidates, const TestCase&,
                               const RunOptions& options) override {
    std::vector<TrialResult> out;
    for (const Candidate& c : candidates) {
      const double seconds = std::stod(c.id);
      ran.push_back(c.id);
      TrialResult r = ok(seconds);
      // A long call is made for its check and once more, a short one twice and once more.
      if ((seconds > kLongestCall ? 2 : 3) * seconds > options.timeout_seconds) {
        r = {};
        r.status = TrialStatus::kTimeout;
        r.cause = "too slow";
      }
      if (!compiles) {
        r = {};
        r.status = TrialStatus::kCompileError;
        r.cause = "the compiler took longer than its time limit";
      }
      r.candidate_id = c.id;
      out.push_back(r);
    }
    return out;
  }
  std::vector<std::string> ran;
  bool compiles = true;
};

Trial trial(const std::string& seconds) {
  Trial t;
  t.candidate.id = seconds;
  return t;
}

struct TrialsOfOneRun : ::testing::Test {
  std::unique_ptr<Store> store = make_memory_store();
  SlowMachine machine;
  TuningProblem problem;
  TrialLimits limits;
  TrialRun run(std::vector<Trial> trials) {
    machine.ran.clear();
    return run_trials(std::move(trials), kKey, problem, machine, *store, limits);
  }
};

using Names = std::vector<std::string>;

TEST_F(TrialsOfOneRun, what_the_store_holds_does_not_run_again) {
  run({trial("0.1"), trial("0.2")});
  const TrialRun again = run({trial("0.1"), trial("0.2"), trial("0.3")});
  EXPECT_EQ(machine.ran, Names{"0.3"});
  EXPECT_EQ(again.reused, 2);
  EXPECT_EQ(again.measured, 1);
}

TEST_F(TrialsOfOneRun, a_raised_timeout_measures_again) {
  run({trial("0.1"), trial("3")});
  run({trial("0.1"), trial("3")});
  EXPECT_EQ(machine.ran, Names{});
  limits.timeout_seconds = 20;
  const TrialRun raised = run({trial("0.1"), trial("3")});
  EXPECT_EQ(machine.ran, Names{"3"});
  EXPECT_EQ(raised.trials[1].status, TrialStatus::kOk);
  limits.timeout_seconds = 2;
  EXPECT_EQ(run({trial("3")}).trials[0].status, TrialStatus::kOk);
  EXPECT_EQ(machine.ran, Names{});
}

TEST_F(TrialsOfOneRun, what_was_not_compiled_has_another_chance) {
  machine.compiles = false;
  EXPECT_EQ(run({trial("0.1")}).trials[0].status, TrialStatus::kCompileError);
  machine.compiles = true;
  EXPECT_EQ(run({trial("0.1")}).trials[0].status, TrialStatus::kOk);
  EXPECT_EQ(machine.ran, Names{"0.1"});
  EXPECT_EQ(run({trial("0.1")}).reused, 1);
}

TEST_F(TrialsOfOneRun, the_nest_as_written_never_loses_to_a_timeout) {
  Trial written = trial("5");
  written.as_written = true;
  const TrialRun r = run({trial("4"), written, trial("90")});
  EXPECT_EQ(r.trials[1].status, TrialStatus::kOk);
  EXPECT_EQ(r.trials[0].status, TrialStatus::kOk) << "as fast as the nest as written: it has time";
  EXPECT_EQ(r.trials[2].status, TrialStatus::kTimeout);
}

TEST_F(TrialsOfOneRun, nothing_is_rescued_while_something_is_ok) {
  Trial written = trial("5");
  written.as_written = true;
  EXPECT_EQ(run({trial("0.1"), written}).trials[1].status, TrialStatus::kTimeout);
}

TEST_F(TrialsOfOneRun, nothing_is_rescued_while_others_are_to_come) {
  Trial written = trial("5");
  written.as_written = true;
  limits.rescue = false;
  EXPECT_EQ(run({trial("4"), written}).trials[1].status, TrialStatus::kTimeout);
}

TEST_F(TrialsOfOneRun, a_slow_one_does_not_take_the_time_of_the_others) {
  ManualTime clock;
  limits.best_known = 5;
  limits.deadline = Deadline::after(100, clock);
  EXPECT_EQ(run({trial("6")}).trials[0].status, TrialStatus::kOk);
  limits.deadline = Deadline::after(40, clock);
  EXPECT_EQ(run({trial("7")}).trials[0].status, TrialStatus::kTimeout);
  // What is about as fast as the fastest may have half of the time that is left, no more.
  EXPECT_EQ(run({trial("6.1")}).trials[0].status, TrialStatus::kOk);
  limits.deadline = Deadline::after(20, clock);
  EXPECT_EQ(run({trial("6.2")}).trials[0].status, TrialStatus::kTimeout);
}

TEST_F(TrialsOfOneRun, what_is_as_fast_as_the_fastest_known_has_time) {
  limits.timeout_seconds = 2.5;
  limits.batch = 1;
  EXPECT_EQ(run({trial("1.2"), trial("1.45")}).trials[1].status, TrialStatus::kOk);
}

TEST_F(TrialsOfOneRun, causes_are_counted_and_the_first_of_each_kept) {
  const TrialRun r = run({trial("0.1"), trial("7"), trial("8")});
  EXPECT_EQ(r.causes.at("timeout"), 2);
  EXPECT_EQ(r.first_causes, Names{"timeout: too slow"});
}

TEST_F(TrialsOfOneRun, an_interrupt_leaves_the_rest_unmeasured) {
  limits.batch = 1;
  limits.deadline = Deadline().or_when([&] { return machine.ran.size() == 2; });
  const TrialRun r = run({trial("0.1"), trial("0.2"), trial("0.3")});
  EXPECT_TRUE(r.interrupted);
  EXPECT_EQ(r.trials[2].status, TrialStatus::kSkipped);
}

std::vector<Trial> numbered(int count) {
  std::vector<Trial> out;
  for (int k = 0; k < count; ++k) out.push_back(trial(std::to_string(k)));
  return out;
}

TEST(Trials, each_is_stored_before_the_next_one_runs) {
  const auto store = make_memory_store();
  size_t asked = 0;
  FakeRunner runner([&](const Candidate&) {
    EXPECT_EQ(store->list({}).size(), asked);
    ++asked;
    return ok(1);
  });
  EXPECT_EQ(run_trials(numbered(5), kKey, {}, runner, *store, {}).measured, 5);
  EXPECT_EQ(store->list({}).size(), 5u);
}

TEST(Trials, a_run_that_dies_midway_repeats_only_what_it_had_in_hand) {
  const auto store = make_memory_store();
  FakeRunner dies([&](const Candidate& c) -> TrialResult {
    if (c.id == "3") throw std::runtime_error("killed");
    return ok(1);
  });
  EXPECT_THROW(run_trials(numbered(5), kKey, {}, dies, *store, {}), std::runtime_error);
  FakeRunner lives([](const Candidate&) { return ok(1); });
  const TrialRun again = run_trials(numbered(5), kKey, {}, lives, *store, {});
  EXPECT_EQ(again.reused, 3);
  EXPECT_EQ(again.measured, 2);
}

TEST(Trials, what_another_process_measured_meanwhile_is_not_run_again) {
  const auto store = make_memory_store();
  int ran = 0;
  FakeRunner runner([&](const Candidate& c) {
    if (c.id == "0") {
      TrialRecord other;
      other.key = kKey;
      other.candidate_id = "2";
      other.status = "ok";
      other.samples = {0.5};
      store->put_trial(other);
    }
    ++ran;
    return ok(1);
  });
  TrialLimits limits;
  limits.batch = 2;
  const TrialRun run = run_trials(numbered(3), kKey, {}, runner, *store, limits);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(run.reused, 1);
  EXPECT_EQ(run.trials[2].median, 0.5);
}

}  // namespace
}  // namespace exotune
