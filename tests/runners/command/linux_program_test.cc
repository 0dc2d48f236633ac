// Programs for Linux on another processor, run under qemu by the record that ships: what they
// count, and what becomes of programs that do something wrong. Skipped without the compiler or
// qemu.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"
#include "runners/command/command_runner.h"

namespace exotune {
namespace {

constexpr const char* kCompiler = "aarch64-linux-gnu-gcc";
constexpr const char* kEmulator = "qemu-aarch64";

RunnerRecord shipped() {
  return read_runner_record(std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw/runners/qemu.toml");
}

TargetToolchain toolchain(const std::string& compiler = kCompiler) {
  TargetToolchain t;
  t.cc = compiler;
  t.flags = {"-O1"};
  return t;
}

CommandRunnerOptions options() {
  return {"", 60, {{"emulator", kEmulator}, {"cpu", "max"}, {"isa", "a"}, {"extension", ""}}};
}

// void kernel(const int32_t* x, int32_t* y): y[i] must become 2 * x[i], eight times.
Candidate with_body(const std::string& body) {
  Candidate c;
  c.id = "k" + std::to_string(std::hash<std::string>()(body));
  c.stem = "kernel";
  c.function = "kernel";
  c.c_source = "void kernel(const int32_t* x, int32_t* y) {\n" + body + "\n}\n";
  c.args = {ArgSpec::tensor("x", ElementType::kI32, {8}, true, false),
            ArgSpec::tensor("y", ElementType::kI32, {8}, false, true)};
  return c;
}

class LinuxPrograms : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {kCompiler, kEmulator})
      if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
    runner_ = std::make_unique<CommandRunner>(toolchain(), shipped(), options());
  }
  TrialResult run(const std::string& body) {
    const Candidate c = with_body(body);
    TestCase test = make_inputs(c.args, 1);
    test.expected.resize(2);
    for (const double x : test.inputs[0]) test.expected[1].push_back(2 * x);
    RunOptions how;
    how.timeout_seconds = 20;
    return runner_->run({&c, 1}, test, how)[0];
  }
  std::unique_ptr<CommandRunner> runner_;
};

constexpr const char* kRight = "for (int i = 0; i < 8; ++i) y[i] = 2 * x[i];";

TEST_F(LinuxPrograms, instructions_of_the_kernel_are_counted) {
  EXPECT_EQ(runner_->unit(), SampleUnit::kInstret);
  const TrialResult once = run(kRight);
  ASSERT_TRUE(once.ok()) << once.cause;
  EXPECT_GT(once.median, 8);
  EXPECT_LT(once.median, 200);
  const TrialResult more =
      run(std::string(kRight) + "\nfor (int i = 0; i < 1000; ++i) __asm__ volatile(\"nop\");");
  ASSERT_TRUE(more.ok()) << more.cause;
  EXPECT_GE(more.median, once.median + 2000);
  EXPECT_LE(more.median, once.median + 4010);
}

TEST_F(LinuxPrograms, a_program_that_does_wrong_has_its_cause) {
  const TrialResult illegal = run("__asm__ volatile(\".inst 0\");");
  EXPECT_EQ(illegal.status, TrialStatus::kCrash);
  EXPECT_NE(illegal.cause.find("illegal instruction"), std::string::npos) << illegal.cause;
  const TrialResult outside = run("*(volatile int*)8 = 1;");
  EXPECT_EQ(outside.status, TrialStatus::kCrash);
  EXPECT_EQ(outside.cause, "access outside memory 0x8");
  const TrialResult overflow =
      run("volatile char room[16 << 20];\nfor (int i = 16 << 20; i > 0; i -= 64) room[i - 1] = 1;");
  EXPECT_EQ(overflow.status, TrialStatus::kCrash);
  EXPECT_NE(overflow.cause.find("stack overflow"), std::string::npos) << overflow.cause;
  const TrialResult beside = run(std::string(kRight) + "\ny[8] = 1;");
  EXPECT_EQ(beside.status, TrialStatus::kOutOfBounds) << beside.cause;
  const TrialResult wrong = run("for (int i = 0; i < 8; ++i) y[i] = 3 * x[i];");
  EXPECT_EQ(wrong.status, TrialStatus::kMismatch) << wrong.cause;
  const TrialResult nothing = run("");
  EXPECT_EQ(nothing.status, TrialStatus::kPoisoned) << nothing.cause;
}

TEST_F(LinuxPrograms, a_runaway_loop_meets_its_limit) {
  RunnerRecord impatient = shipped();
  impatient.timeout_seconds = 1;
  runner_ = std::make_unique<CommandRunner>(toolchain(), impatient, options());
  EXPECT_EQ(run("for (;;) __asm__ volatile(\"\");").status, TrialStatus::kTimeout);
}

TEST(LinuxProgram, a_missing_cross_compiler_names_its_package) {
  if (find_program(kEmulator).empty()) GTEST_SKIP() << kEmulator << " is not installed";
  try {
    CommandRunner(toolchain("sparc64-linux-gnu-gcc"), shipped(), options());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("gcc-sparc64-linux-gnu"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace exotune
