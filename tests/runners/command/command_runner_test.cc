// Runners that are reached by commands, through stand-ins for them on top of the embedded
// simulator. What they do is in the file `mode` of the folder they run in.
#include "runners/command/command_runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

constexpr const char* kCompiler = "riscv64-unknown-elf-gcc";

TargetToolchain toolchain() {
  TargetToolchain t;
  t.cc = kCompiler;
  t.flags = {"-O2", "-march=rv32imc", "-mabi=ilp32", "-ffreestanding"};
  return t;
}

Candidate doubling(const std::string& factor = "2") {
  Candidate c;
  c.id = "k" + factor;
  c.stem = "kernel";
  c.function = "kernel";
  c.c_source =
      "void kernel(const int32_t* x, int32_t* y) { for (int i = 0; i < 8; ++i) y[i] = " + factor +
      " * x[i]; }\n";
  c.args = {ArgSpec::tensor("x", ElementType::kI32, {8}, true, false),
            ArgSpec::tensor("y", ElementType::kI32, {8}, false, true)};
  return c;
}

// A folder with a stand-in, and a runner for it.
struct Place {
  Place(const std::string& name, const std::string& script, const std::string& record)
      : folder(fs::path(testing::TempDir()) / (name + std::to_string(getpid()))) {
    fs::create_directories(folder);
    std::ofstream(folder / name) << "#!/bin/sh\nmode=$(cat mode)\n" << script;
    fs::permissions(folder / name, fs::perms::owner_all);
    std::string text = record;
    for (size_t at; (at = text.find("FOLDER")) != std::string::npos;)
      text.replace(at, 6, folder.string());
    runner = std::make_unique<CommandRunner>(toolchain(), parse_runner_record(text, name + ".toml"),
                                             CommandRunnerOptions{"", 60, {{"isa", "rv32imc"}}});
  }
  ~Place() { fs::remove_all(folder); }
  TrialResult run(const std::string& mode, const Candidate& c = doubling(), double seconds = 20) {
    std::ofstream(folder / "mode") << mode;
    TestCase test = make_inputs(c.args, 1);
    test.expected.resize(2);
    for (const double x : test.inputs[0]) test.expected[1].push_back(2 * x);
    RunOptions options;
    options.timeout_seconds = seconds;
    int told = 0;
    options.finished = [&](size_t, const TrialResult&) { ++told; };
    const TrialResult result = runner->run({&c, 1}, test, options)[0];
    EXPECT_EQ(told, 1) << "a result is told as soon as it is there";
    return result;
  }
  fs::path folder;
  std::unique_ptr<CommandRunner> runner;
};

const std::string kSimulate = std::string(EXOTUNE_BINARY_DIR) + "/bin/simulate_stand_in";

// A simulator that prints on its own output.
const std::string kPrinter =
    "case $mode in\n"
    "  ok) " +
    kSimulate +
    " $1 $2 ;;\n"
    "  noise) echo '[uart] booting'; " +
    kSimulate +
    " $1 $2 | sed 's/^/core 0: /; s/$/\\r/'; echo '*** PASSED ***'; exit 3 ;;\n"
    "  truncated) " +
    kSimulate +
    " $1 $2 | head -c 60 ;;\n"
    "  hang) exec sleep 60 ;;\n"
    "  silent) exit 0 ;;\n"
    "  broken) echo 'cannot open licence file' >&2; exit 1 ;;\n"
    "esac\n";

// FireSim's manager: reads the workload it finds, writes a tree of results, always succeeds.
const std::string kManager =
    "case $1 in infrasetup) exit 0 ;; esac\n"
    "json=$(ls -t deploy/workloads/*.json | head -1)\n"
    "id=$(sed -n 's/.*benchmark_name\": \"\\([^\"]*\\)\".*/\\1/p' $json)\n"
    "elf=deploy/workloads/$id/$(sed -n 's/.*bootbinary\": \"\\([^\"]*\\)\".*/\\1/p' $json)\n"
    "out=deploy/results-workload\n"
    "put() { mkdir -p $out/$1-$id/${id}0; cat > $out/$1-$id/${id}0/uartlog; }\n"
    "log() { echo 'TracerV: no'; " +
    kSimulate +
    " $elf rv32imc | sed 's/$/\\r/'; echo 'Simulation complete.'; }\n"
    "case $mode in\n"
    "  ok) log | put 2026-01-01--00-00-01 ;;\n"
    "  truncated) log | head -c 80 | put 2026-01-01--00-00-02 ;;\n"
    "  nothing) : ;;\n"
    "  two) echo 'EXO_TUNE v1 kernel=old run=0 cycles=1 instret=1 check=ok hash=0' | put "
    "2026-01-01--00-00-03; log | put 2026-01-01--00-00-04 ;;\n"
    "  hang) exec sleep 60 ;;\n"
    "esac\nexit 0\n";

constexpr const char* kPrinterRecord = R"(
name = "printer"
cycle_kind = "rtl"
directory = "FOLDER"
run = ["FOLDER/printer {elf} {isa}"]
)";
constexpr const char* kManagerRecord = R"(
name = "firesim"
cycle_kind = "fpga"
directory = "FOLDER"
run = ["FOLDER/firesim infrasetup", "FOLDER/firesim runworkload"]
output = ["deploy/results-workload/*-{id}/*/uartlog"]
[[file]]
path = "deploy/workloads/{id}/program.elf"
from = "{elf}"
[[file]]
path = "deploy/workloads/{id}.json"
text = '''{ "benchmark_name": "{id}", "common_rootfs": null,
"common_bootbinary": "program.elf" }'''
)";

class Commands : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program(kCompiler).empty()) GTEST_SKIP() << "no " << kCompiler << " on PATH";
  }
};

TEST_F(Commands, a_simulator_that_prints) {
  Place place("printer", kPrinter, kPrinterRecord);
  EXPECT_EQ(place.runner->unit(), SampleUnit::kRtlCycles);
  const TrialResult good = place.run("ok");
  ASSERT_TRUE(good.ok()) << good.cause;
  EXPECT_GT(good.median, 8);
  EXPECT_EQ(place.run("noise").median, good.median)
      << "CR LF, prefixes, other lines, a status of 3";
  EXPECT_EQ(place.run("ok", doubling("3")).status, TrialStatus::kMismatch);
  EXPECT_EQ(place.run("truncated").status, TrialStatus::kCrash);
  EXPECT_EQ(place.run("hang", doubling(), 0.3).status, TrialStatus::kTimeout);
  EXPECT_EQ(place.run("silent").cause, "the run printed no measurement");
  EXPECT_NE(place.run("broken").cause.find("cannot open licence file"), std::string::npos);
}

TEST_F(Commands, a_manager_that_leaves_files) {
  Place place("firesim", kManager, kManagerRecord);
  const TrialResult good = place.run("ok");
  ASSERT_TRUE(good.ok()) << good.cause;
  const TrialResult stale = place.run("nothing");
  EXPECT_EQ(stale.status, TrialStatus::kCrash) << "the result of an earlier run does not count";
  EXPECT_NE(stale.cause.find("left no"), std::string::npos) << stale.cause;
  const TrialResult wrong = place.run("ok", doubling("3"));
  EXPECT_EQ(wrong.status, TrialStatus::kMismatch) << wrong.cause;
  EXPECT_EQ(place.run("truncated").status, TrialStatus::kCrash);
  EXPECT_EQ(place.run("two").median, good.median) << "the last of two folders";
  EXPECT_EQ(place.run("hang", doubling(), 0.3).status, TrialStatus::kTimeout);
}

TEST(RunnerRecord, an_unknown_kind_of_cycle_is_refused) {
  EXPECT_THROW(
      parse_runner_record("name = \"x\"\ncycle_kind = \"ns\"\nrun = [\"x {elf}\"]\n", "x.toml"),
      InputError);
}

TEST(RunnerRecord, an_unknown_key_and_no_command_are_refused) {
  EXPECT_THROW(parse_runner_record("name = \"x\"\ncycle_kind = \"rtl\"\nrun = []\n", "x.toml"),
               InputError);
  EXPECT_THROW(
      parse_runner_record("name = \"x\"\ncycle_kind = \"rtl\"\nrun = [\"x\"]\ncommand = \"x\"\n",
                          "x.toml"),
      InputError);
  EXPECT_THROW(
      parse_runner_record("name = \"x\"\ncycle_kind = \"rtl\"\nrun = [\"x\"]\nprogram = \"bsd\"\n",
                          "x.toml"),
      InputError);
}

TEST(RunnerRecord, braces_that_are_no_word_are_text) {
  EXPECT_EQ(filled_in("{ \"a\": {\"b\": \"{id}\"} }", {{"id", "7"}}), "{ \"a\": {\"b\": \"7\"} }");
  EXPECT_THROW(filled_in("{elff}", {{"elf", "x"}}), InputError);
}

TEST(RunnerRecord, those_that_ship_are_records) {
  const fs::path folder = fs::path(EXOTUNE_SOURCE_DIR) / "hw" / "runners";
  EXPECT_EQ(read_runner_record(folder / "spike.toml").unit, SampleUnit::kInstret);
  EXPECT_EQ(read_runner_record(folder / "verilator.toml").unit, SampleUnit::kRtlCycles);
  EXPECT_EQ(read_runner_record(folder / "firesim.toml").unit, SampleUnit::kFpgaCycles);
  EXPECT_TRUE(read_runner_record(folder / "qemu.toml").linux);
}

TEST(CommandRunner, a_missing_simulator_is_unavailable_and_says_how_to_get_it) {
  if (find_program(kCompiler).empty()) GTEST_SKIP();
  const RunnerRecord record = parse_runner_record(
      "name = \"x\"\ncycle_kind = \"rtl\"\nrun = [\"no-such-simulator {elf}\"]\nhint = \"build "
      "it\"\n",
      "x.toml");
  try {
    CommandRunner(toolchain(), record);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("build it"), std::string::npos);
  }
}

TEST(CommandRunner, a_check_that_fails_is_unavailable_in_its_own_words) {
  if (find_program(kCompiler).empty()) GTEST_SKIP();
  const auto made = [](const std::string& check) {
    CommandRunner(toolchain(), parse_runner_record("name = \"x\"\ncycle_kind = \"rtl\"\nrun = "
                                                   "[\"true {elf}\"]\ncheck = [\"true\", \"" +
                                                       check + "\"]\nhint = \"build it\"\n",
                                                   "x.toml"));
  };
  EXPECT_NO_THROW(made("true"));
  EXPECT_THROW(made("true {elf}"), InputError);  // there is no program yet
  EXPECT_THROW(made(""), InputError);
  try {
    made("ls no-such-file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("no-such-file"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("build it"), std::string::npos);
  }
}

}  // namespace
}  // namespace exotune
