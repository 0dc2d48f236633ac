// What a worker says of a kernel is proved again, and must be of that kernel at those sizes.
#include <gtest/gtest.h>

#include <fstream>

#include "cli/kernel_cluster.h"
#include "cli/session.h"
#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

constexpr const char* kKernels = R"(
@proc
def twice(n: size, x: f32[n]):
    for i in seq(0, n):
        x[i] = 2.0 * x[i]

@proc
def thrice(n: size, x: f32[n]):
    for i in seq(0, n):
        x[i] = 3.0 * x[i]
)";
constexpr const char* kRecord = R"({"candidate": "0123456789abcdef0123456789abcdef",
  "compiler": "cc", "microarchitecture": "m", "seconds": 1e-6, "gflops": 2, "stopped": "trials",
  "gbytes_per_second": 3, "peak_gflops": 4, "rivals": [], "peers": [{"name": "blas", "gflops": 1,
  "speedup": 2, "low": 1.5, "high": 2.5, "rounds": 15}], "search": {"schedules": 1,
  "refused_steps": 2, "duplicates": 3, "measured": 4, "reused": 5, "neighbours": 6,
  "prepare_seconds": 1, "search_seconds": 1, "measure_seconds": 1, "shootout_seconds": 1}})";

class KernelAnswers : public ::testing::Test {
 protected:
  KernelAnswers() : harness_("kernel-answers"), session_(make_session()), workspace_(session_) {
    harness_.write("my.exo", kKernels);
    job_.name = (harness_.folder() / "my.exo").string() + ":twice";
    job_.request.proc = workspace_.kernel(job_.name).proc;
    job_.request.target = workspace_.target("avx2");
    job_.request.sizes = job_.request.representative = {{"n", 64}};
  }
  KernelAnswer read(const std::string& script, const std::string& record = kRecord) {
    CommandAnswer answer;
    answer.files = {{"result.json", record}, {"result.sched", script}};
    return read_kernel_answer(answer, job_, "avx2", workspace_);
  }

  const CommandHarness harness_;
  const Session session_;
  Workspace workspace_;
  KernelJob job_;
};

TEST_F(KernelAnswers, are_read_and_proved_again) {
  const KernelAnswer answer =
      read("p = twice\np = partial_eval(p, n=64)\np = divide_loop(p, 'i', 8, ['io', 'ii'])\n");
  ASSERT_NE(answer.result.winner, nullptr);
  EXPECT_EQ(answer.result.proof, ProofLevel::kProved);
  EXPECT_EQ(answer.result.peers.at(0).ratio.median, 2);
  EXPECT_EQ(answer.result.statistics.measured, 4);
  EXPECT_EQ(answer.result.stop, StopReason::kTrials);
  EXPECT_EQ(answer.microarch, "m");
}

TEST_F(KernelAnswers, may_have_found_nothing) {
  EXPECT_EQ(read_kernel_answer({3, "", {}, ""}, job_, "avx2", workspace_).result.winner, nullptr);
}

TEST_F(KernelAnswers, are_refused_when_they_are_of_something_else) {
  for (const char* script :
       {"p = twice\np = partial_eval(p, n=65)\n",                       // other sizes
        "p = twice\n",                                                  // any size
        "p = thrice\np = partial_eval(p, n=64)\n",                      // another kernel
        "p = twice\np = partial_eval(p, n=64)\np = no_such_step(p)\n",  // no step
        "p = twice\np = partial_eval(p, n=64)\np = divide_loop(p, 'i', 7, ['io', 'ii'], "
        "tail='perfect')\n",  // not proved
        ""})
    EXPECT_THROW(read(script), InputError) << script;
}

TEST_F(KernelAnswers, are_refused_when_they_are_damaged) {
  const std::string script = "p = twice\np = partial_eval(p, n=64)\n";
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kRecord;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& record :
       {with("0123", "../."), with("1e-6", "\"fast\""), with("\"search\"", "\"hunt\""),
        with("\"rounds\": 15", "\"rounds\": 1.5"), std::string("{")})
    EXPECT_THROW(read(script, record), InputError) << record;
}

}  // namespace
}  // namespace exotune::cli
