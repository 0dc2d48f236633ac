#include "runners/native_runner.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/deadline.h"
#include "core/base/diagnostic.h"
#include "runners/batch_timer.h"
#include "runners/compile_cache.h"
#include "runners/statistics.h"
#include "runners/threads.h"
#include "tests/runners/sample_candidates.h"
#include "tests/sanitizers.h"

namespace exotune {
namespace {

using samples::check_only;
using samples::double_args;
using samples::double_case;
using samples::good;
using samples::toolchain;
using samples::with_body;

TrialResult run_one(const Candidate& c, const TestCase& test = double_case(),
                    RunOptions options = check_only()) {
  NativeRunner runner(toolchain());
  return runner.run({&c, 1}, test, options).at(0);
}

TrialResult run_body(const std::string& body) { return run_one(with_body(body)); }

TEST(NativeRunner, a_right_candidate_is_ok_and_timed) {
  RunOptions options;
  options.timeout_seconds = 30;
  options.batches = 4;
  options.batch_seconds = 1e-4;
  const TrialResult r = run_one(good(), double_case(), options);
  EXPECT_EQ(r.status, TrialStatus::kOk) << r.cause;
  EXPECT_EQ(r.samples.size(), 4u);
  EXPECT_GT(r.median, 0);
  EXPECT_LE(r.minimum, r.median);
  EXPECT_GT(r.calls_per_sample, 1);
  EXPECT_EQ(r.candidate_id, good().id);
}

// What was prepared for one test case judges nobody by another: its values change in place here.
TEST(NativeRunner, judges_by_the_test_case_it_is_given) {
  NativeRunner runner(toolchain());
  const Candidate c = good();
  TestCase test = double_case();
  const auto status = [&] { return runner.run({&c, 1}, test, check_only()).at(0).status; };
  EXPECT_EQ(status(), TrialStatus::kOk);
  EXPECT_EQ(status(), TrialStatus::kOk);
  for (std::vector<double>& expected : test.expected)
    if (!expected.empty()) expected.back() += 1;
  EXPECT_EQ(status(), TrialStatus::kMismatch);
  test.slack.resize(test.expected.size());
  for (size_t a = 0; a < test.expected.size(); ++a)
    test.slack[a].assign(test.expected[a].size(), 2);
  EXPECT_EQ(status(), TrialStatus::kOk);
  test.slack.clear();
  test.tolerance = 2;
  EXPECT_EQ(status(), TrialStatus::kOk);
  for (std::vector<double>& inputs : test.inputs)
    if (!inputs.empty()) inputs.front() += 100;
  EXPECT_EQ(status(), TrialStatus::kMismatch);
}

TEST(NativeRunner, cold_samples_are_taken) {
  RunOptions options;
  options.timeout_seconds = 30;
  options.batches = 3;
  options.batch_seconds = 1e-5;
  options.cold = true;
  const TrialResult r = run_one(good(), double_case(), options);
  EXPECT_EQ(r.status, TrialStatus::kOk) << r.cause;
  EXPECT_EQ(r.samples.size(), 3u);
}

TEST(NativeRunner, a_candidate_far_behind_the_best_gets_one_sample) {
  RunOptions options;
  options.timeout_seconds = 30;
  options.batches = 5;
  options.best_known = 1e-15;
  EXPECT_EQ(run_one(good(), double_case(), options).samples.size(), 1u);
}

// It survives the two calls of its check.
TEST(NativeRunner, a_long_call_far_behind_the_best_is_the_only_sample) {
  RunOptions options;
  options.timeout_seconds = 30;
  options.best_known = 1e-3;
  const TrialResult r =
      run_one(with_body("extern long clock(void);\n"
                        "static int calls; if (++calls > 2) abort();\n"
                        "for (const long end = clock() + 30000; clock() < end;) {}\n"
                        "for (int64_t i = 0; i < n; ++i) y[i] = helper(x[i]);"),
              double_case(), options);
  EXPECT_EQ(r.status, TrialStatus::kOk) << r.cause;
  ASSERT_EQ(r.samples.size(), 1u);
  EXPECT_GE(r.samples[0], 0.02);
}

// The time limit is that of a candidate about which nothing is known.
TEST(NativeRunner, a_candidate_that_hangs_beside_a_fast_one_is_stopped_early) {
  NativeRunner runner(toolchain());
  const std::vector<Candidate> batch = {good(), with_body("for (volatile int k = 0;;) ++k;")};
  RunOptions options;
  options.timeout_seconds = 600;
  const std::vector<TrialResult> r = runner.run(batch, double_case(), options);
  EXPECT_EQ(r[0].status, TrialStatus::kOk) << r[0].cause;
  EXPECT_EQ(r[1].status, TrialStatus::kTimeout);
  EXPECT_EQ(r[1].cause.find("600 s"), std::string::npos) << r[1].cause;
}

TEST(NativeRunner, wrong_values_are_a_mismatch_naming_the_element) {
  const TrialResult r = run_body("for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i] + (i == 5);");
  EXPECT_EQ(r.status, TrialStatus::kMismatch);
  EXPECT_NE(r.cause.find("'y'[5]"), std::string::npos) << r.cause;
  EXPECT_NE(r.cause.find("1 of 37"), std::string::npos) << r.cause;
}

TEST(NativeRunner, an_element_never_written_is_poisoned) {
  const TrialResult r = run_body("for (int64_t i = 0; i < n - 1; ++i) y[i] = 2 * x[i];");
  EXPECT_EQ(r.status, TrialStatus::kPoisoned);
  EXPECT_NE(r.cause.find("'y'[36]"), std::string::npos) << r.cause;
}

TEST(NativeRunner, adding_to_an_output_that_is_only_written_is_poisoned) {
  EXPECT_EQ(run_body("for (int64_t i = 0; i < n; ++i) y[i] += 2 * x[i];").status,
            TrialStatus::kPoisoned);
}

TEST(NativeRunner, reading_an_uninitialised_local_is_poisoned) {
  const TrialResult r =
      run_body("volatile float t[64];\n for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i] + t[i];");
  EXPECT_EQ(r.status, TrialStatus::kPoisoned) << r.cause;
}

TEST(NativeRunner, reading_uninitialised_heap_memory_is_poisoned) {
  const TrialResult r = run_body(
      "volatile float* t = malloc(4 * n);\n"
      "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i] + t[i];\n free((void*)t);");
  if (kAddressSanitizer) GTEST_SKIP() << "the sanitizer's malloc cannot be made to fill memory";
  EXPECT_EQ(r.status, TrialStatus::kPoisoned) << r.cause;
}

TEST(NativeRunner, integers_never_written_are_poisoned) {
  const std::vector<ArgSpec> args = {ArgSpec::tensor("y", ElementType::kI32, {9}, false, true)};
  TestCase test = make_inputs(args, 1);
  test.expected[0].assign(9, 4);
  const Candidate c = with_body("for (int i = 0; i < 8; ++i) y[i] = 4;", args, "int32_t* y");
  EXPECT_EQ(run_one(c, test).status, TrialStatus::kPoisoned);
}

// Borders that the nest leaves alone: the reference has no number for them either.
TEST(NativeRunner, integers_that_nobody_writes_keep_what_they_were) {
  const std::vector<ArgSpec> args = {ArgSpec::control("n", 5),
                                     ArgSpec::tensor("y", ElementType::kI32, {5}, false, true),
                                     ArgSpec::tensor("x", ElementType::kI32, {5}, true, false)};
  TestCase test = make_inputs(args, 7);
  test.inputs[2].front() = 3;
  for (double v : test.inputs[2]) test.expected[1].push_back(2 * v);
  test.expected[1].front() = NAN;
  const std::string parameters = "int64_t n, int32_t* restrict y, const int32_t* restrict x";
  const auto status = [&](const std::string& body) {
    return run_one(with_body(body, args, parameters), test).status;
  };
  EXPECT_EQ(status("for (int64_t i = 1; i < n; ++i) y[i] = 2 * x[i];"), TrialStatus::kOk);
  EXPECT_EQ(status("for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];"), TrialStatus::kMismatch);
  EXPECT_EQ(status("for (int64_t i = 2; i < n; ++i) y[i] = 2 * x[i];"), TrialStatus::kPoisoned);
}

TEST(NativeRunner, a_write_past_the_end_is_out_of_bounds) {
  const TrialResult r = run_body("for (int64_t i = 0; i <= n; ++i) y[i] = i < n ? 2 * x[i] : 0;");
  EXPECT_EQ(r.status, TrialStatus::kOutOfBounds);
  EXPECT_NE(r.cause.find("past the end of 'y'"), std::string::npos) << r.cause;
}

TEST(NativeRunner, a_write_before_the_start_is_out_of_bounds) {
  const TrialResult r = run_body("for (int64_t i = -1; i < n; ++i) y[i] = i < 0 ? 0 : 2 * x[i];");
  EXPECT_EQ(r.status, TrialStatus::kOutOfBounds);
  EXPECT_NE(r.cause.find("before the start of 'y'"), std::string::npos) << r.cause;
}

TEST(NativeRunner, a_read_past_the_end_is_out_of_bounds) {
  const TrialResult r =
      run_body("volatile float last = x[n];\n for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];");
  EXPECT_EQ(r.status, TrialStatus::kOutOfBounds);
  EXPECT_NE(r.cause.find("past the end of 'x'"), std::string::npos) << r.cause;
}

TEST(NativeRunner, a_changed_input_is_a_mismatch) {
  const TrialResult r =
      run_body("for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n ((float*)x)[3] = 9;");
  EXPECT_EQ(r.status, TrialStatus::kMismatch);
  EXPECT_NE(r.cause.find("modified the input 'x'[3]"), std::string::npos) << r.cause;
}

TEST(NativeRunner, crashes_are_recorded_with_their_signal) {
  const TrialResult null = run_body("*(volatile int*)8 = 1;");
  EXPECT_EQ(null.status, TrialStatus::kCrash);
  EXPECT_EQ(null.signal, SIGSEGV);
  EXPECT_NE(null.cause.find("SIGSEGV"), std::string::npos) << null.cause;

  const TrialResult illegal = run_body("__asm__ volatile(\"ud2\");");
  EXPECT_EQ(illegal.status, TrialStatus::kCrash);
  EXPECT_EQ(illegal.signal, SIGILL);
  EXPECT_NE(illegal.cause.find("illegal instruction"), std::string::npos) << illegal.cause;

  const TrialResult aborted = run_body("abort();");
  EXPECT_EQ(aborted.status, TrialStatus::kCrash);
  EXPECT_EQ(aborted.signal, SIGABRT);

  const TrialResult exited = run_body("_Exit(0);");
  EXPECT_EQ(exited.status, TrialStatus::kCrash);
  EXPECT_NE(exited.cause.find("exited while being checked"), std::string::npos) << exited.cause;
}

TEST(NativeRunner, a_hang_is_a_timeout) {
  RunOptions options = check_only();
  options.timeout_seconds = 0.3;
  const TrialResult r =
      run_one(with_body("for (volatile int k = 0;;) ++k;"), double_case(), options);
  EXPECT_EQ(r.status, TrialStatus::kTimeout);
  EXPECT_NE(r.cause.find("0.3 s"), std::string::npos) << r.cause;
}

TEST(NativeRunner, a_slow_call_has_the_sample_that_its_check_took) {
  // The check calls twice; whatever comes after that never ends.
  const Candidate slow = with_body(
      "static int calls; if (++calls > 2) for (;;) __asm__ volatile(\"\");\n"
      "for (int64_t i = 0; i < n; ++i) y[i] = helper(x[i]);");
  RunOptions options;
  options.timeout_seconds = 0.5;
  const TrialResult r = run_one(slow, double_case(), options);
  EXPECT_EQ(r.status, TrialStatus::kOk) << r.cause;
  ASSERT_EQ(r.samples.size(), 1u);
  EXPECT_GT(r.samples[0], 0);
}

TEST(NativeRunner, what_one_call_leaves_behind_is_told) {
  NativeRunner runner(toolchain());
  const TestCase test = double_case();
  const Evaluation e = runner.evaluate(good(), test.inputs, 20);
  EXPECT_EQ(e.cause, "");
  EXPECT_EQ(e.outputs.at(1), test.expected[1]);
  EXPECT_TRUE(e.outputs.at(2).empty());
  EXPECT_NE(runner.evaluate(with_body("abort();"), test.inputs, 20).cause, "");
}

// An integer has no poison of its own: one that looks like it was computed, or left alone.
TEST(NativeRunner, integers_that_a_call_leaves_alone_are_told) {
  NativeRunner runner(toolchain());
  const std::vector<ArgSpec> args = {ArgSpec::tensor("y", ElementType::kI32, {4}, false, true)};
  const Candidate some = with_body("y[0] = 7;\ny[2] = 0x55555555;", args, "int32_t* restrict y");
  const Evaluation e = runner.evaluate(some, {{}}, 20);
  ASSERT_EQ(e.cause, "");
  ASSERT_EQ(e.outputs.at(0).size(), 4u);
  EXPECT_EQ(e.outputs[0][0], 7);
  EXPECT_TRUE(std::isnan(e.outputs[0][1]));
  EXPECT_EQ(e.outputs[0][2], 0x55555555);
  EXPECT_TRUE(std::isnan(e.outputs[0][3]));
}

// Code that can be called once: a trial of it is ok because its evaluation's call serves.
TEST(NativeRunner, a_long_evaluation_is_the_trial_of_the_same_code_on_the_same_data) {
  const std::string file =
      std::filesystem::temp_directory_path() / ("exo_called_once_" + std::to_string(getpid()));
  const Candidate once = with_body(
      "extern int access(const char*, int), creat(const char*, unsigned);\n"
      "extern long clock(void);\n"
      "if (access(\"" +
      file +
      "\", 0) == 0) abort();\n"
      "creat(\"" +
      file +
      "\", 0600);\n"
      "for (const long end = clock() + 300000; clock() < end;) {}\n"
      "for (int64_t i = 0; i < n; ++i) y[i] = helper(x[i]);");
  NativeRunner runner(toolchain());
  TestCase test = double_case();
  const Evaluation e = runner.evaluate(once, test.inputs, 20);
  ASSERT_EQ(e.cause, "");
  RunOptions options;
  options.timeout_seconds = 20;
  const TrialResult r = runner.run({&once, 1}, test, options).at(0);
  EXPECT_EQ(r.status, TrialStatus::kOk) << r.cause;
  ASSERT_EQ(r.samples.size(), 1u);
  EXPECT_GE(r.samples[0], 0.25);
  // A check alone, other results or other data: it is called, which this code does not survive.
  const auto status = [&](const TestCase& t, const RunOptions& o) {
    return runner.run({&once, 1}, t, o).at(0).status;
  };
  EXPECT_EQ(status(test, check_only()), TrialStatus::kCrash);
  TestCase other = test;
  other.expected[1][0] += 1;
  EXPECT_EQ(status(other, options), TrialStatus::kCrash);
  other = test;
  other.inputs[2][0] += 1;
  EXPECT_EQ(status(other, options), TrialStatus::kCrash);
  std::filesystem::remove(file);
}

TEST(NativeRunner, an_element_may_be_off_by_its_slack) {
  TestCase test = double_case();
  test.expected[1][3] += 0.5;
  const auto status = [&](double slack) {
    test.slack = {{}, std::vector<double>(test.expected[1].size(), 0), {}};
    test.slack[1][3] = slack;
    const Candidate c = good();
    return NativeRunner(toolchain()).run(std::span(&c, 1), test, check_only()).front().status;
  };
  EXPECT_EQ(status(0.25), TrialStatus::kMismatch);
  EXPECT_EQ(status(0.5), TrialStatus::kOk);
  test.expected[1][3] = 1e9;
  EXPECT_EQ(status(INFINITY), TrialStatus::kOk);
}

TEST(NativeRunner, an_interrupt_skips_the_rest) {
  std::vector<Candidate> batch(3, good());
  int asked = 0;
  RunOptions options = check_only();
  options.interrupted = [&] { return ++asked > 2; };  // before the batch, before the first
  NativeRunner runner(toolchain());
  const std::vector<TrialResult> r = runner.run(batch, double_case(), options);
  EXPECT_EQ(r[0].status, TrialStatus::kOk) << r[0].cause;
  EXPECT_EQ(r[1].status, TrialStatus::kSkipped);
  EXPECT_EQ(r[2].status, TrialStatus::kSkipped);
}

TEST(NativeRunner, runs_while_other_threads_allocate_and_throw) {
  std::atomic<bool> stop = false;
  std::vector<std::jthread> others;
  for (int k = 0; k < 2; ++k)
    others.emplace_back([&stop] {
      while (!stop) {
        try {
          throw std::vector<int>(1000, 7);
        } catch (const std::vector<int>&) {
        }
      }
    });
  NativeRunner runner(toolchain());
  const std::vector<Candidate> many(30, good());
  for (const TrialResult& r : runner.run(many, double_case(), check_only()))
    EXPECT_TRUE(r.ok()) << r.cause;
  stop = true;
}

TEST(NativeRunner, the_work_folder_is_removed) {
  const std::string parent = testing::TempDir() + "native_runner_work";
  {
    NativeOptions native;
    native.work_directory = parent;
    NativeRunner runner(toolchain(), native);
    EXPECT_FALSE(std::filesystem::is_empty(parent));
  }
  EXPECT_TRUE(std::filesystem::is_empty(parent));
}

TEST(NativeRunner, a_missing_compiler_is_unavailable) {
  TargetToolchain t = toolchain();
  t.cc = "no-such-compiler";
  try {
    NativeRunner runner(t);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::kUnavailable);
  }
}

// Windows, scalars, booleans and every element type through one call.
class WindowCall : public testing::Test {
 protected:
  std::vector<ArgSpec> args = {ArgSpec::boolean("negate", true),
                               ArgSpec::scalar("alpha", ElementType::kF64, true, false),
                               ArgSpec::window("A", ElementType::kF64, {3, 4}, {9, 2}, true, false),
                               ArgSpec::window("B", ElementType::kF64, {3, 4}, {11, 1}, true, true),
                               ArgSpec::scalar("sum", ElementType::kF64, false, true)};
  const std::string parameters =
      "bool negate, const double* alpha, struct exo_win_2f64c A, struct exo_win_2f64 B, double* "
      "sum";
  const std::string structs =
      "#include <stdbool.h>\n#include <stdint.h>\n"
      "#ifndef EXO_WIN_2F64\n#define EXO_WIN_2F64\n"
      "struct exo_win_2f64 { double* data; int64_t strides[2]; };\n"
      "struct exo_win_2f64c { const double* data; int64_t strides[2]; };\n#endif\n";

  TestCase make_case() {
    TestCase t = make_inputs(args, 3);
    double sum = 0;
    for (size_t i = 0; i < 12; ++i) {
      t.expected[3].push_back(t.inputs[3][i] - t.inputs[1][0] * t.inputs[2][i]);
      sum += t.expected[3].back();
    }
    t.expected[4] = {sum};
    return t;
  }
  Candidate make(const std::string& after) {
    Candidate c = with_body("", args, parameters);
    c.h_source.clear();
    c.c_source = structs + "void twice(" + parameters +
                 ") {\n*sum = 0;\nfor (int i = 0; i < 3; ++i) for (int j = 0; j < 4; ++j) {\n"
                 "double* b = &B.data[i * B.strides[0] + j * B.strides[1]];\n"
                 "*b += (negate ? -1 : 1) * *alpha * A.data[i * A.strides[0] + j * A.strides[1]];\n"
                 "*sum += *b; }\n" +
                 after + "}\n";
    return c;
  }
};

TEST_F(WindowCall, strided_windows_are_passed_by_value) {
  const TrialResult r = run_one(make(""), make_case());
  EXPECT_EQ(r.status, TrialStatus::kOk) << r.cause;
}

TEST_F(WindowCall, two_of_them_share_a_batch) {
  const std::vector<Candidate> two = {make(""), make("B.data[1] += 1;")};
  NativeRunner runner(toolchain());
  const std::vector<TrialResult> r = runner.run(two, make_case(), check_only());
  EXPECT_EQ(r[0].status, TrialStatus::kOk) << r[0].cause;
  EXPECT_EQ(r[1].status, TrialStatus::kMismatch) << r[1].cause;
}

TEST_F(WindowCall, memory_between_the_strides_must_not_change) {
  const TrialResult r = run_one(make("B.data[B.strides[0] - 1] = 0;"), make_case());
  EXPECT_EQ(r.status, TrialStatus::kOutOfBounds);
  EXPECT_NE(r.cause.find("between the elements of the window 'B'"), std::string::npos) << r.cause;
}

TEST(NativeRunner, a_tolerance_accepts_rounding_and_nothing_more) {
  TestCase test = double_case();
  for (double& v : test.expected[1]) v *= 1 + 1e-6;
  EXPECT_EQ(run_one(good(), test).status, TrialStatus::kMismatch);
  test.tolerance = 1e-5;
  EXPECT_EQ(run_one(good(), test).status, TrialStatus::kOk);
}

TEST(NativeRunner, a_test_case_that_does_not_fit_is_an_input_error) {
  TestCase test = double_case();
  test.inputs[2].pop_back();
  EXPECT_THROW(run_one(good(), test), InputError);
}

TEST(FakeRunner, answers_from_its_function) {
  FakeRunner runner([](const Candidate& c) {
    TrialResult r;
    r.status = TrialStatus::kOk;
    r.median = static_cast<double>(c.complexity);
    return r;
  });
  Candidate c = good();
  c.complexity = 4;
  const std::vector<TrialResult> r = runner.run({&c, 1}, {}, {});
  EXPECT_EQ(r[0].candidate_id, c.id);
  EXPECT_EQ(r[0].median, 4);
}

}  // namespace
}  // namespace exotune
