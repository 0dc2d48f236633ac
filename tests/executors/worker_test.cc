// A worker answers what it can, says what it cannot, and does nothing twice.
#include "executors/worker.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

class Workers : public ::testing::Test {
 protected:
  Workers() {
    std::string name = (fs::temp_directory_path() / "exo-tune-worker-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Workers() override { fs::remove_all(root_); }

  // A job of one task with a shard for each input.
  std::vector<std::string> submit(const SharedFolder& folder,
                                  const std::vector<std::string>& inputs) const {
    SubmittedJob job{"j", "", "", {{}}};
    for (const std::string& input : inputs) {
      const Shard shard{"name", "kind", input};
      folder.put_request(shard);
      job.tasks[0].push_back(shard_hash(shard));
    }
    folder.put_job(job);
    return job.tasks[0];
  }

  fs::path root_;
};

ShardAnswer answer(const Shard& shard, const std::string&) {
  if (shard.input == "wrong") throw InputError({}, "this is no question", "ask another");
  if (shard.input == "no compiler")
    throw Error(Diagnostic{{}, "no gcc here", {}, {}}, ExitCode::kUnavailable);
  return {std::string(32, 'a'), shard.input + "!"};
}

TEST_F(Workers, go_on_behind_a_shard_that_fails) {
  const SharedFolder folder(root_);
  const auto hashes = submit(folder, {"wrong", "no compiler", "right"});
  const WorkerReport report = run_task(folder, "j", 0, answer);
  EXPECT_EQ(report.failed, 2u);
  EXPECT_EQ(report.done, 1u);
  EXPECT_TRUE(folder.failure(hashes[0], "j")->lasting);
  EXPECT_FALSE(folder.failure(hashes[1], "j")->lasting);
  EXPECT_NE(folder.failure(hashes[1], "j")->message.find("no gcc here"), std::string::npos);
  EXPECT_EQ(folder.result("", hashes[2])->output, "right!");
}

TEST_F(Workers, leave_alone_what_is_answered) {
  const SharedFolder folder(root_);
  submit(folder, {"one", "two"});
  run_task(folder, "j", 0, answer);
  const WorkerReport report = run_task(
      folder, "j", 0,
      [](const Shard&, const std::string&) -> ShardAnswer { throw InternalError("asked again"); });
  EXPECT_EQ(report.known, 2u);
  EXPECT_EQ(report.failed, 0u);
}

TEST_F(Workers, refuse_tasks_that_are_not_there) {
  const SharedFolder folder(root_);
  submit(folder, {"one"});
  EXPECT_THROW(run_task(folder, "j", 1, answer), InputError);
  EXPECT_THROW(run_task(folder, "k", 0, answer), InputError);
}

}  // namespace
}  // namespace exotune
