// Several processes, one file.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>

#include "core/base/diagnostic.h"
#include "db/store.h"
#include "tests/db/sample_records.h"

namespace exotune {
namespace {

using samples::TemporaryFolder;
using samples::trial;

/// Children that run `body(child)` at the same time; how many of them failed.
template <class F>
int failures_of(int children, F&& body) {
  std::vector<pid_t> pids;
  for (int child = 0; child < children; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      try {
        body(child);
        _exit(0);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "child %d: %s\n", child, e.what());
        _exit(1);
      }
    }
    pids.push_back(pid);
  }
  int failed = 0;
  for (const pid_t pid : pids) {
    int status = 0;
    waitpid(pid, &status, 0);
    failed += status != 0;
  }
  return failed;
}

TEST(Processes, that_create_one_database_all_find_it_whole) {
  for (int round = 0; round < 8; ++round) {
    TemporaryFolder folder;
    const std::string path = folder.file("tune.db");
    EXPECT_EQ(failures_of(4,
                          [&](int child) {
                            const auto store = open_store(path);
                            store->put_trial(trial("c" + std::to_string(child), 1));
                            if (!store->check().empty()) throw std::runtime_error("unsound");
                          }),
              0);
    EXPECT_EQ(open_store(path, OpenMode::kReadOnly)->list({}).size(), 4u);
  }
}

TEST(Processes, that_write_at_once_lose_and_double_nothing) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  constexpr int kChildren = 4, kTrials = 40;
  EXPECT_EQ(failures_of(kChildren,
                        [&](int child) {
                          const auto store = open_store(path);
                          for (int k = 0; k < kTrials; ++k) {
                            store->put_trial(trial("shared" + std::to_string(k), 1 + k));
                            store->put_trial(
                                trial(std::to_string(child) + "." + std::to_string(k), 2 + k));
                          }
                        }),
            0);
  const auto store = open_store(path, OpenMode::kReadOnly);
  EXPECT_EQ(store->list({}).size(), size_t{kTrials + kChildren * kTrials});
  EXPECT_TRUE(store->check().empty());
  EXPECT_EQ(store->best(samples::key())->candidate_id, "shared0");
}

TEST(Processes, that_end_while_others_open_are_not_in_their_way) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  EXPECT_EQ(failures_of(4,
                        [&](int child) {
                          for (int k = 0; k < 25; ++k)  // the last one to close removes the log
                            open_store(path)->put_trial(
                                trial(std::to_string(child) + "." + std::to_string(k), 1));
                        }),
            0);
  EXPECT_EQ(open_store(path, OpenMode::kReadOnly)->list({}).size(), 100u);
}

TEST(Processes, an_empty_file_is_no_older_schema) {
  TemporaryFolder folder;
  const std::string path = folder.file("tune.db");
  std::ofstream(path).flush();
  try {
    open_store(path, OpenMode::kReadOnly);
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_NE(e.diagnostic().message.str().find("is empty"), std::string::npos);
  }
  open_store(path)->put_trial(trial("c", 1));
}

}  // namespace
}  // namespace exotune
