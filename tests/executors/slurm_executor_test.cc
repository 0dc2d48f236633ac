// What may go wrong between a coordinator, Slurm, its nodes and the shared folder, one test each.
#include "executors/slurm_executor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "core/base/diagnostic.h"
#include "tests/executors/fake_slurm.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;
using exotune::testing::FakeSlurm;
using exotune::testing::FakeTask;

// Thrown out of the pause: the coordinator is gone, and its destructors tell nobody.
struct Killed {};

class Slurm : public ::testing::Test {
 protected:
  static std::vector<Shard> shards(size_t count) {
    std::vector<Shard> all;
    for (size_t k = 0; k < count; ++k)
      all.push_back({"shard " + std::to_string(k), "kind", "input " + std::to_string(k)});
    return all;
  }
  ExecutorHooks hooks() {
    ExecutorHooks hooks;
    hooks.finished = [this](size_t shard, const ShardResult& result) {
      ++told_[shard];
      outputs_[shard] = result.output;
    };
    hooks.say = [this](const std::string& line) { said_ += line + "\n"; };
    return hooks;
  }
  ExecutorReport run(size_t count) { return run(count, slurm_.options()); }
  ExecutorReport run(size_t count, const SlurmOptions& options) {
    return SlurmExecutor(options).run(shards(count), hooks());
  }
  // The message of the error that a run ends with, and its exit code.
  std::pair<std::string, ExitCode> error_of(size_t count, const SlurmOptions& options) {
    try {
      run(count, options);
    } catch (const Error& error) {
      return {error.what(), error.exit_code()};
    }
    return {"", ExitCode::kOk};
  }
  void expect_each_once(size_t count) const {
    EXPECT_EQ(told_.size(), count);
    for (const auto& [shard, times] : told_) {
      EXPECT_EQ(times, 1) << shard;
      EXPECT_EQ(outputs_.at(shard), "INPUT " + std::to_string(shard));
    }
  }
  static size_t lines(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  FakeSlurm slurm_;
  std::map<size_t, int> told_;
  std::map<size_t, std::string> outputs_;
  std::string said_;
};

TEST_F(Slurm, answers_each_shard_once) {
  const ExecutorReport report = run(3);
  EXPECT_EQ(report.done, 3u);
  EXPECT_EQ(report.retried, 0u);
  expect_each_once(3);
  EXPECT_EQ(lines(slurm_.calls("sbatch")), 1u);
}

TEST_F(Slurm, submits_what_was_asked_for) {
  SlurmOptions options = slurm_.options();
  options.partition = "tune";
  options.sbatch = {"--account=it's", "--gres=board:1"};
  run(2, options);
  const std::string call = slurm_.calls("sbatch");
  for (const char* word :
       {"[--partition=tune]", "[--account=it's]", "[--gres=board:1]", "[--array=0-1]",
        "[--exclusive]", "[--no-requeue]", "[--wrap=exec 'exo-tune' 'worker' '",
        "shared folder'\\''s' ", "\"$SLURM_ARRAY_TASK_ID\"]"})
    EXPECT_NE(call.find(word), std::string::npos) << word << "\n" << call;
}

TEST_F(Slurm, splits_what_is_more_than_an_array_may_have) {
  run(9);  // the fake's MaxArraySize is 4
  expect_each_once(9);
  EXPECT_EQ(lines(slurm_.calls("sbatch")), 3u);
}

TEST_F(Slurm, bundles_shards) {
  SlurmOptions options = slurm_.options();
  options.bundle = 2;
  run(5, options);
  expect_each_once(5);
  EXPECT_NE(slurm_.calls("sbatch").find("[--array=0-2]"), std::string::npos);
}

TEST_F(Slurm, asks_the_same_question_once) {
  std::vector<Shard> twice = shards(2);
  twice.push_back(twice[0]);
  const ExecutorReport report = SlurmExecutor(slurm_.options()).run(twice, hooks());
  EXPECT_EQ(report.done, 3u);
  EXPECT_EQ(outputs_[2], "INPUT 0");
  EXPECT_NE(slurm_.calls("sbatch").find("[--array=0-1]"), std::string::npos);
}

// Whoever keeps the answers gets all that one look at the folder finds at once, but not more than
// others can wait for.
TEST_F(Slurm, tells_together_what_is_found_together) {
  std::vector<size_t> times;
  ExecutorHooks all = hooks();
  all.together = [&](const std::function<void()>& tell) {
    const size_t before = told_.size();
    tell();
    times.push_back(told_.size() - before);
  };
  SlurmOptions options = slurm_.options();
  options.bundle = 50;
  run(300, options);
  told_.clear();
  EXPECT_EQ(SlurmExecutor(options).run(shards(300), all).adopted, 300u);
  EXPECT_EQ(times, (std::vector<size_t>{256, 44}));
  expect_each_once(300);
}

// What was told of in vain, as the database could not keep it, is told of again.
TEST_F(Slurm, tells_again_what_was_not_kept) {
  run(3);
  ExecutorHooks failing = hooks();
  failing.together = [](const std::function<void()>& tell) {
    tell();
    throw Error(Diagnostic{{}, "disk full", {}, ""}, ExitCode::kInternal);
  };
  EXPECT_THROW(SlurmExecutor(slurm_.options()).run(shards(3), failing), Error);
  told_.clear();
  EXPECT_EQ(run(3).adopted, 3u);
  expect_each_once(3);
}

TEST_F(Slurm, takes_the_answers_of_an_earlier_run) {
  run(3);
  told_.clear();
  const ExecutorReport report = run(4);
  EXPECT_EQ(report.adopted, 3u);
  expect_each_once(4);
  EXPECT_EQ(lines(slurm_.calls("sbatch")), 2u);
}

TEST_F(Slurm, tries_a_dead_nodes_shard_elsewhere) {
  slurm_.node = "n7";
  slurm_.fate = [&](const FakeTask& task) {
    return task.excluded.count("n7") == 0 && task.index == 1 ? "NODE_FAIL" : slurm_.answer(task);
  };
  const ExecutorReport report = run(3);
  EXPECT_EQ(report.retried, 1u);
  expect_each_once(3);
  EXPECT_NE(slurm_.calls("sbatch").find("[--exclude=n7]"), std::string::npos);
  EXPECT_NE(said_.find("NODE_FAIL on n7"), std::string::npos) << said_;
}

TEST_F(Slurm, tries_any_node_when_all_are_excluded) {
  slurm_.fate = [&, first = true](const FakeTask& task) mutable -> std::string {
    if (!first) return slurm_.answer(task);
    first = false;
    slurm_.fail("sbatch", "sbatch: error: Requested node configuration is not available", 1);
    return "NODE_FAIL";
  };
  EXPECT_EQ(run(1).done, 1u);
  expect_each_once(1);
}

TEST_F(Slurm, finds_tasks_gone_without_accounting) {
  slurm_.fate = [&](const FakeTask& task) {
    return task.attempt == 0 ? std::string() : slurm_.answer(task);
  };
  const ExecutorReport report = run(1);
  EXPECT_EQ(report.retried, 1u);
  EXPECT_NE(said_.find("it is no longer in the queue"), std::string::npos) << said_;
}

TEST_F(Slurm, gives_up_after_some_attempts_and_says_why) {
  slurm_.fate = [&](const FakeTask& task) {
    return task.index == 0 ? "TIMEOUT" : slurm_.answer(task);
  };
  const ExecutorReport report = run(2);
  EXPECT_EQ(report.done, 1u);
  ASSERT_EQ(report.given_up.size(), 1u);
  EXPECT_EQ(report.given_up[0].first, 0u);
  EXPECT_NE(report.given_up[0].second.find("TIMEOUT"), std::string::npos);
  EXPECT_NE(report.given_up[0].second.find("3 attempts"), std::string::npos);
  EXPECT_NE(report.given_up[0].second.find(".log"), std::string::npos);
  EXPECT_EQ(lines(slurm_.calls("sbatch")), 3u);
  // The cause may be mended: a later run begins anew.
  slurm_.fate = [&](const FakeTask& task) { return slurm_.answer(task); };
  EXPECT_EQ(run(2).done, 2u);
}

TEST_F(Slurm, gives_up_at_once_what_is_wrong_everywhere) {
  slurm_.work = [](const Shard&, const std::string&) -> ShardAnswer {
    throw InputError({}, "no such kernel", "exo-tune list kernels");
  };
  const ExecutorReport report = run(1);
  ASSERT_EQ(report.given_up.size(), 1u);
  EXPECT_EQ(report.given_up[0].second, "no such kernel");
  EXPECT_EQ(lines(slurm_.calls("sbatch")), 1u);
}

TEST_F(Slurm, avoids_a_node_that_cannot_do_it) {
  slurm_.node = "old";
  slurm_.work = [&](const Shard& shard, const std::string&) -> ShardAnswer {
    if (slurm_.node == "old") {
      slurm_.node = "new";
      throw Error(Diagnostic{{}, "this machine is another one", {}, {}}, ExitCode::kUnavailable);
    }
    std::string text = shard.input;
    for (char& c : text) c = static_cast<char>(toupper(c));
    return {std::string(32, 'a'), text};
  };
  run(1);
  expect_each_once(1);
  EXPECT_NE(slurm_.calls("sbatch").find("[--exclude=old]"), std::string::npos);
}

TEST_F(Slurm, does_an_unreadable_answer_again) {
  slurm_.fate = [&](const FakeTask& task) {
    slurm_.answer(task);
    if (task.attempt > 0) return "";
    for (const auto& entry : fs::recursive_directory_iterator(slurm_.folder() / "results"))
      if (entry.is_regular_file()) fs::resize_file(entry.path(), 40);
    return "";
  };
  const ExecutorReport report = run(1);
  EXPECT_EQ(report.retried, 1u);
  expect_each_once(1);
}

TEST_F(Slurm, does_an_answer_again_that_is_worth_nothing) {
  ExecutorHooks wary = hooks();
  wary.finished = [&, calls = 0](size_t, const ShardResult&) mutable {
    if (++calls < 3) throw InputError({}, "a script that was not asked about");
  };
  const ExecutorReport report = SlurmExecutor(slurm_.options()).run(shards(1), wary);
  EXPECT_EQ(report.done, 1u);
  EXPECT_EQ(report.retried, 2u);
}

TEST_F(Slurm, goes_on_where_a_killed_coordinator_was) {
  int kills = 0;
  slurm_.fate = [&](const FakeTask& task) -> std::string {
    return task.attempt % 3 == 2 ? slurm_.answer(task) : "RUNNING";
  };
  SlurmOptions options = slurm_.options();
  options.pause = [&](double) {
    slurm_.play();
    if (++kills <= 20) throw Killed();
  };
  for (int k = 0; k < 20 && told_.size() < 7; ++k) try {
      run(7, options);
    } catch (const Killed&) {
    }
  EXPECT_EQ(told_.size(), 7u);
  for (const auto& [shard, output] : outputs_) EXPECT_EQ(output, "INPUT " + std::to_string(shard));
  EXPECT_EQ(lines(slurm_.calls("sbatch")), 2u) << "nothing was submitted twice";
}

TEST_F(Slurm, finds_a_job_by_its_name_when_sbatch_was_cut_off) {
  slurm_.lose_replies(1);
  slurm_.fate = [&](const FakeTask& task) {
    return task.attempt < 4 ? "RUNNING" : slurm_.answer(task);
  };
  run(2);
  expect_each_once(2);
  EXPECT_EQ(lines(slurm_.calls("sbatch")), 1u);
}

TEST_F(Slurm, submits_again_what_was_noted_and_never_submitted) {
  const SharedFolder folder(slurm_.folder());
  folder.put_job({"earlier", "", slurm_.options().machine, {{shard_hash(shards(1)[0])}}});
  const ExecutorReport report = run(1);
  EXPECT_EQ(report.retried, 0u) << "it was no attempt";
  expect_each_once(1);
}

TEST_F(Slurm, cancels_what_it_submitted_when_interrupted) {
  slurm_.fate = [](const FakeTask&) { return "RUNNING"; };
  ExecutorHooks stopped = hooks();
  stopped.interrupted = [&] { return slurm_.played >= 2; };
  const ExecutorReport report = SlurmExecutor(slurm_.options()).run(shards(2), stopped);
  EXPECT_TRUE(report.interrupted);
  EXPECT_NE(slurm_.calls("scancel").find("[--name=exo-tune-"), std::string::npos);
  EXPECT_TRUE(SharedFolder(slurm_.folder()).jobs().empty());
}

TEST_F(Slurm, waits_while_the_queue_is_full_and_its_own_tasks_run) {
  slurm_.fate = [&](const FakeTask& task) {
    if (task.attempt == 0)
      slurm_.fail("sbatch",
                  "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission "
                  "failed: Job violates accounting/QOS policy (job submit limit)",
                  2);
    return task.attempt < 20 ? "RUNNING" : slurm_.answer(task);
  };
  SlurmOptions options = slurm_.options();
  options.patience_seconds = 1;
  bool lost = false;
  slurm_.fate = [&, f = slurm_.fate](const FakeTask& task) {
    if (task.attempt == 1 && !lost) {
      lost = true;
      return std::string("FAILED");
    }
    return std::string(f(task));
  };
  run(2, options);
  expect_each_once(2);
}

TEST_F(Slurm, says_that_the_queue_stays_full) {
  slurm_.fail("sbatch", "sbatch: error: AssocMaxSubmitJobLimit");
  const auto [text, code] = error_of(1, slurm_.options());
  EXPECT_EQ(code, ExitCode::kUnavailable);
  EXPECT_NE(text.find("takes no more jobs: AssocMaxSubmitJobLimit"), std::string::npos) << text;
  EXPECT_NE(text.find("hint:"), std::string::npos);
}

TEST_F(Slurm, bears_a_controller_that_is_silent_for_a_while) {
  slurm_.fail("squeue", "slurm_load_jobs error: Unable to contact slurm controller", 2);
  EXPECT_EQ(run(2).done, 2u);
}

TEST_F(Slurm, says_that_the_controller_stays_silent) {
  slurm_.fail("squeue", "slurm_load_jobs error: Unable to contact slurm controller");
  slurm_.fate = [](const FakeTask&) { return "RUNNING"; };
  const auto [text, code] = error_of(1, slurm_.options());
  EXPECT_EQ(code, ExitCode::kUnavailable);
  EXPECT_NE(text.find("Unable to contact slurm controller"), std::string::npos) << text;
}

TEST_F(Slurm, names_the_partition_that_was_meant) {
  slurm_.fail("sbatch", "sbatch: error: invalid partition specified: tun");
  SlurmOptions options = slurm_.options();
  options.partition = "tun";
  const auto [text, code] = error_of(1, options);
  EXPECT_EQ(code, ExitCode::kInput);
  EXPECT_NE(text.find("did you mean 'tune'?"), std::string::npos) << text;
}

TEST_F(Slurm, says_what_sbatch_refused) {
  slurm_.fail("sbatch", "sbatch: error: Batch job submission failed: Invalid account");
  const auto [text, code] = error_of(1, slurm_.options());
  EXPECT_EQ(code, ExitCode::kUnavailable);
  EXPECT_NE(text.find("Invalid account"), std::string::npos) << text;
  EXPECT_TRUE(SharedFolder(slurm_.folder()).jobs().empty());
}

TEST_F(Slurm, says_that_its_commands_are_missing) {
  slurm_.remove("sbatch");
  const auto [text, code] = error_of(1, slurm_.options());
  EXPECT_EQ(code, ExitCode::kUnavailable);
  EXPECT_NE(text.find("no `sbatch` here"), std::string::npos) << text;
}

TEST_F(Slurm, says_that_the_shared_folder_is_gone) {
  SlurmOptions options = slurm_.options();
  options.pause = [&](double) { fs::remove_all(slurm_.folder()); };
  const auto [text, code] = error_of(1, options);
  EXPECT_EQ(code, ExitCode::kUnavailable);
  EXPECT_NE(text.find("the shared folder"), std::string::npos) << text;
}

}  // namespace
}  // namespace exotune
