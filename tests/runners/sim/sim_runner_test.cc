// Kernels in C through the cross compiler, the contract and the simulator. Skipped where there is
// no cross compiler.
#include "runners/sim/sim_runner.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"

namespace exotune {
namespace {

constexpr const char* kCompiler = "riscv64-unknown-elf-gcc";

TargetToolchain toolchain(const std::string& isa) {
  TargetToolchain t;
  t.cc = kCompiler;
  t.flags = {"-O2", "-march=" + isa, isa.rfind("rv32", 0) == 0 ? "-mabi=ilp32" : "-mabi=lp64d",
             "-mcmodel=medany", "-ffreestanding"};
  t.isa = "plain";
  return t;
}

Candidate candidate(const std::string& body, const std::string& id = "k1") {
  Candidate c;
  c.id = id;
  c.stem = "kernel";
  c.function = "kernel";
  c.c_source = "void kernel(int64_t n, const int32_t* x, int32_t* y) {\n" + body + "\n}\n";
  c.args = {ArgSpec::control("n", 8), ArgSpec::tensor("x", ElementType::kI32, {8}, true, false),
            ArgSpec::tensor("y", ElementType::kI32, {8}, false, true)};
  return c;
}

constexpr const char* kDouble = "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];";

class SimulatedKernels : public testing::Test {
 protected:
  // One for all: what candidates share is compiled once.
  static void SetUpTestSuite() {
    if (!find_program(kCompiler).empty())
      runner_ = std::make_unique<SimRunner>(toolchain("rv32imc"),
                                            SimulatedMachine{"rv32imc", "", {{"load", 4}}, {}});
  }
  static void TearDownTestSuite() { runner_.reset(); }
  void SetUp() override {
    if (runner_ == nullptr) GTEST_SKIP() << "no " << kCompiler << " on PATH";
  }
  static TestCase doubling(const Candidate& c) {
    TestCase test = make_inputs(c.args, 1);
    test.expected.resize(3);
    for (const double x : test.inputs[1]) test.expected[2].push_back(2 * x);
    return test;
  }
  static TrialResult run(const Candidate& c, double timeout = 0.05) {
    RunOptions options;
    options.timeout_seconds = timeout;
    return runner_->run({&c, 1}, doubling(c), options)[0];
  }
  static std::unique_ptr<SimRunner> runner_;
};
std::unique_ptr<SimRunner> SimulatedKernels::runner_;

TEST_F(SimulatedKernels, a_right_kernel_has_cycles_that_repeat) {
  const TrialResult first = run(candidate(kDouble)), second = run(candidate(kDouble));
  ASSERT_TRUE(first.ok()) << first.cause;
  EXPECT_GT(first.median, 8);
  EXPECT_EQ(first.median, second.median);
}

// Each as soon as it is there, so that a search that is killed has lost no others.
TEST_F(SimulatedKernels, results_are_told_one_by_one) {
  const std::vector<Candidate> all = {candidate(kDouble), candidate("y[0] = 1;", "k2")};
  std::map<size_t, TrialStatus> told;
  RunOptions options;
  options.finished = [&](size_t k, const TrialResult& r) { told[k] = r.status; };
  const std::vector<TrialResult> results = runner_->run(all, doubling(all[0]), options);
  const std::map<size_t, TrialStatus> expected = {{0, results[0].status}, {1, results[1].status}};
  EXPECT_EQ(told, expected);
  EXPECT_EQ(results[0].status, TrialStatus::kOk);
}

TEST_F(SimulatedKernels, a_wrong_result_says_where) {
  const TrialResult r =
      run(candidate("for (int64_t i = 0; i < n; ++i) y[i] = i == 5 ? 99 : 2 * x[i];"));
  EXPECT_EQ(r.status, TrialStatus::kMismatch);
  EXPECT_NE(r.cause.find("y, byte 20"), std::string::npos) << r.cause;
}

TEST_F(SimulatedKernels, an_element_not_written_is_poison) {
  EXPECT_EQ(run(candidate("for (int64_t i = 1; i < n; ++i) y[i] = 2 * x[i];")).status,
            TrialStatus::kPoisoned);
}

TEST_F(SimulatedKernels, an_input_may_not_change) {
  const TrialResult r = run(candidate(std::string(kDouble) + " ((int32_t*)x)[0] = 77;"));
  EXPECT_EQ(r.status, TrialStatus::kMismatch);
  EXPECT_NE(r.cause.find("only read"), std::string::npos) << r.cause;
}

TEST_F(SimulatedKernels, a_store_beside_an_output_is_out_of_bounds) {
  EXPECT_EQ(run(candidate(std::string(kDouble) + " y[n] = 1;")).status, TrialStatus::kOutOfBounds);
}

TEST_F(SimulatedKernels, memory_that_a_kernel_asks_for_lies_behind_the_program) {
  Candidate c = candidate(
      "if (!kept) kept = aligned_alloc(64, 64);\n"
      "for (int64_t i = 0; i < n; ++i) kept[i] = x[i];\n"
      "for (int64_t i = 0; i < n; ++i) y[i] = two * kept[i];");
  c.c_source =
      "void* aligned_alloc(size_t, size_t);\nstatic _Thread_local int32_t two = 2;\n"
      "static _Thread_local int32_t* kept;\n" +
      c.c_source;
  const TrialResult r = run(c);
  EXPECT_TRUE(r.ok()) << r.cause;
}

TEST_F(SimulatedKernels, an_illegal_instruction_is_its_cause) {
  const TrialResult r = run(candidate("__asm__ volatile(\".word 0x0000006b\");"));
  EXPECT_EQ(r.status, TrialStatus::kCrash);
  EXPECT_NE(r.cause.find("illegal instruction 0x0000006b"), std::string::npos) << r.cause;
  EXPECT_NE(r.cause.find("in kernel"), std::string::npos) << r.cause;
}

TEST_F(SimulatedKernels, a_misaligned_access_is_its_cause) {
  const TrialResult r = run(candidate("*(volatile int32_t*)((char*)y + 1) = 1;"));
  EXPECT_EQ(r.status, TrialStatus::kCrash);
  EXPECT_NE(r.cause.find("misaligned"), std::string::npos) << r.cause;
}

TEST_F(SimulatedKernels, a_stack_overflow_is_its_cause) {
  Candidate c = candidate("y[0] = deep((int)n, x);");
  c.c_source =
      "static __attribute__((noinline)) int deep(int n, const int32_t* x) {\n  volatile int "
      "a[1000];\n"
      "  a[n & 7] = n;\n  return n < 0 ? x[0] : deep(n + 1, x) + a[0];\n}\n" +
      c.c_source;
  const TrialResult r = run(c);
  EXPECT_EQ(r.status, TrialStatus::kCrash);
  EXPECT_NE(r.cause.find("stack overflow"), std::string::npos) << r.cause;
}

TEST_F(SimulatedKernels, a_hang_is_a_timeout) {
  const TrialResult r = run(candidate("for (;;) __asm__ volatile(\"\");"), 0.002);
  EXPECT_EQ(r.status, TrialStatus::kTimeout);
  EXPECT_NE(r.cause.find("2000000 instructions"), std::string::npos) << r.cause;
}

TEST_F(SimulatedKernels, what_does_not_compile_is_its_own_error) {
  const TrialResult r = run(candidate("return nonsense;"));
  EXPECT_EQ(r.status, TrialStatus::kCompileError);
  EXPECT_NE(r.cause.find("nonsense"), std::string::npos) << r.cause;
}

TEST_F(SimulatedKernels, windows_come_by_value_with_their_strides) {
  Candidate c;
  c.id = "w", c.stem = "kernel", c.function = "kernel";
  c.c_source =
      "struct exo_win_1i32 { int32_t* const data; const int64_t strides[1]; };\n"
      "void kernel(struct exo_win_1i32 y) { for (int i = 0; i < 4; ++i) y.data[i * y.strides[0]] "
      "+= 1; }\n";
  c.args = {ArgSpec::window("y", ElementType::kI32, {4}, {3}, true, true)};
  TestCase test = make_inputs(c.args, 1);
  test.expected.resize(1);
  for (const double x : test.inputs[0]) test.expected[0].push_back(x + 1);
  const TrialResult narrow = runner_->run({&c, 1}, test, {})[0];
  EXPECT_TRUE(narrow.ok()) << narrow.cause;
  SimRunner wide(toolchain("rv64imafdc"), {"rv64imafdc", "", {}, {}});
  const TrialResult r = wide.run({&c, 1}, test, {})[0];
  EXPECT_TRUE(r.ok()) << r.cause;
}

TEST_F(SimulatedKernels, cycles_are_accounted_for) {
  ASSERT_TRUE(run(candidate(kDouble, "accounted")).ok());
  const sim::Account* account = runner_->account("accounted");
  ASSERT_NE(account, nullptr);
  EXPECT_GT(account->waited_for_loads, 0u);
  EXPECT_GT(account->instructions, 24u);
  EXPECT_GE(account->cycles, account->instructions + account->waited);
}

TEST(SimRunner, a_figure_that_nothing_reads_is_refused) {
  EXPECT_THROW(SimRunner(toolchain("rv32imc"), {"rv32imc", "", {{"laod", 2}}, {}}), InputError);
}

TEST(SimRunner, an_unknown_extension_is_refused_with_those_there_are) {
  try {
    SimRunner(toolchain("rv32imc"), {"rv32imc", "rvn", {}, {}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("rvm"), std::string::npos);
  }
}

TEST(SimRunner, a_missing_cross_compiler_names_its_package) {
  TargetToolchain absent = toolchain("rv32imc");
  absent.cc = "no-such-gcc";
  try {
    SimRunner(absent, {"rv32imc", "", {}, {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("gcc-riscv64-unknown-elf"), std::string::npos);
  }
}

}  // namespace
}  // namespace exotune
