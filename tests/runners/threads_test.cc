// Candidates of several threads: how many they get, and when their calls are over.
#include "runners/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/base/diagnostic.h"
#include "runners/batch_timer.h"
#include "runners/native_runner.h"
#include "tests/runners/sample_candidates.h"

namespace exotune {
namespace {

using samples::double_case;
using samples::good;
using samples::toolchain;
using samples::with_body;

// Code of several threads, where the compiler has OpenMP.
std::optional<TargetToolchain> threaded(int threads) {
  try {
    return with_threads(toolchain(), threads);
  } catch (const Error&) {
    return std::nullopt;
  }
}

TEST(Threads, a_candidate_gets_as_many_as_the_toolchain_says) {
  for (const int threads : {2, 3}) {
    const std::optional<TargetToolchain> t = threaded(threads);
    if (!t) GTEST_SKIP() << "no OpenMP here";
    // Right only when so many take part, each writing what it is to write.
    const Candidate c = with_body(
        "int64_t parts = 0;\n#pragma omp parallel for schedule(static, 1) reduction(+ : parts)\n"
        "for (int64_t part = 0; part < " +
        std::to_string(threads) +
        "; ++part) {\n  extern int omp_get_thread_num(void);\n"
        "  parts += omp_get_thread_num() == part;\n}\n"
        "for (int64_t i = 0; i < n; ++i) y[i] = parts == " +
        std::to_string(threads) + " ? helper(x[i]) : 0;");
    NativeRunner runner(*t);
    RunOptions options;
    options.timeout_seconds = 30;
    options.batches = 2;
    options.batch_seconds = 1e-4;
    const TrialResult r = runner.run({&c, 1}, double_case(), options).at(0);
    EXPECT_EQ(r.status, TrialStatus::kOk) << r.cause;
    EXPECT_EQ(r.samples.size(), 2u);
  }
}

TEST(Threads, their_number_is_part_of_what_names_a_toolchain) {
  const std::optional<TargetToolchain> two = threaded(2), three = threaded(3);
  if (!two) GTEST_SKIP() << "no OpenMP here";
  EXPECT_NE(two->describe(), three->describe());
  EXPECT_NE(two->describe(), toolchain().describe());
  EXPECT_EQ(threaded(1)->describe(), toolchain().describe());
}

TEST(Threads, a_compiler_without_openmp_is_refused) {
  TargetToolchain t = toolchain();
  t.cc = "false";
  EXPECT_THROW(with_threads(t, 2), Error);
  EXPECT_NO_THROW(with_threads(t, 1));
}

// Between two samples nothing of the one before runs any more.
TEST(Threads, waiting_ends_when_the_others_sleep) {
  std::atomic<bool> stop = false;
  std::thread other([&] {
    const double end = wall_seconds() + 0.005;
    while (wall_seconds() < end) {
    }
    stop.wait(false);
  });
  await_idle_threads();
  stop = true;
  stop.notify_all();
  other.join();
}

}  // namespace
}  // namespace exotune
