// Shards in this process: in their order, until an interrupt.
#include <gtest/gtest.h>

#include "core/base/deadline.h"
#include "executors/executor.h"

namespace exotune {
namespace {

const std::vector<Shard> kShards = {
    {"a", "kind", "one"}, {"b", "kind", "two"}, {"c", "kind", "three"}};

struct Local : ::testing::Test {
  ExecutorReport run(const ShardWork& work) {
    ExecutorHooks hooks;
    hooks.interrupted = [this] { return interrupted; };
    hooks.finished = [this](size_t k, const ShardResult& r) {
      EXPECT_EQ(k, told.size());
      told.push_back(r.output);
    };
    return LocalExecutor(work).run(kShards, hooks);
  }
  bool interrupted = false;
  std::vector<std::string> told;
};

TEST_F(Local, tells_of_each_shard) {
  const ExecutorReport report = run([](const Shard& s, const std::string&) {
    return ShardAnswer{"here", s.input + "!"};
  });
  EXPECT_EQ(report.done, 3u);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(told, (std::vector<std::string>{"one!", "two!", "three!"}));
}

TEST_F(Local, begins_nothing_once_interrupted) {
  const ExecutorReport report = run([this](const Shard& s, const std::string&) {
    interrupted = true;
    return ShardAnswer{"here", s.input};
  });
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(told, std::vector<std::string>{"one"});
}

TEST_F(Local, leaves_work_in_the_middle_when_interrupted) {
  bool ended = false;
  const ExecutorReport report = run([&](const Shard& s, const std::string&) {
    interrupted = s.input == "two";
    leave_if_over();
    ended = s.input == "two";
    return ShardAnswer{"here", s.input};
  });
  EXPECT_TRUE(report.interrupted);
  EXPECT_FALSE(ended);
  EXPECT_EQ(report.done, 1u);
  EXPECT_EQ(told, std::vector<std::string>{"one"});
}

}  // namespace
}  // namespace exotune
