// The folder of a library: what is written when tuning is interrupted.
#include "search/families/library.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/runners/shipped_targets.h"

namespace exotune::families {
namespace {
namespace fs = std::filesystem;

// Answers nothing: an interrupt came before the first shard.
class StoppedExecutor : public Executor {
 public:
  std::string name() const override { return "stopped"; }
  ExecutorReport run(const std::vector<Shard>& shards, const ExecutorHooks&) override {
    asked += shards.size();
    ExecutorReport report;
    report.interrupted = true;
    return report;
  }
  size_t asked = 0;
};

TEST(Library, an_interrupt_while_tuning_leaves_the_proofs_and_the_other_targets) {
  const fs::path folder = fs::temp_directory_path() / ("library-" + std::to_string(getpid()));
  StoppedExecutor executor;
  bool stop = true;
  LibraryRequest request;
  request.texts = fs::path(EXOTUNE_SOURCE_DIR) / "kernels" / "families";
  request.families = {"blas1"};
  request.targets = {samples::shipped_target("avx2"), samples::shipped_target("avx512")};
  request.folder = folder;
  request.version = "1.2.3";
  request.machine.name = "any";
  request.tune = true;
  request.tuned_by = "any";
  request.executor = &executor;
  request.interrupted = [&] { return stop; };
  const LibraryReport report = write_library(request);
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(report.kernels, 0u);
  EXPECT_FALSE(fs::exists(folder / "src"));
  const size_t one_target = executor.asked;
  EXPECT_GT(one_target, 0u);

  stop = false;
  const LibraryReport whole = write_library(request);
  EXPECT_FALSE(whole.stopped);
  EXPECT_EQ(executor.asked, 3 * one_target);
  EXPECT_GT(whole.kernels, 0u);
  EXPECT_TRUE(fs::exists(folder / "src" / "dispatch.c"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace exotune::families
