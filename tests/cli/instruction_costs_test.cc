// exo-tune calibrate --only instructions on a small target of its own: what it prints and keeps.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

// Runs on any machine: vectors are those of the compiler.
constexpr const char* kTarget = R"(
title = "four floats"
files = ["four.exo"]
[compiler]
programs = ["clang", "gcc"]
flags = ["-O2"]
headers = ["<stdlib.h>"]
[vector]
width_bits = 128
lanes = { f32 = 4 }
memory = "FOUR"
[[level]]
name = "registers"
memory = "FOUR"
[[level]]
name = "L1"
bytes = 32768
line = 64
cost_per_line = 0.5
[[level]]
name = "DRAM"
memory = "DRAM"
line = 64
cost_per_line = 6
[runner]
kind = "native"
)";

constexpr const char* kInstructions = R"(
@memory
class FOUR:
    kind = "vector"
    bytes = 16
    count = 16
    c_types = {"f32": "four_floats"}
    c_global = "typedef float four_floats __attribute__((vector_size(16)));"

@instr("{d_data} = {a_data} + {b_data};", cost = 77)
def four_add(d: [f32][4] @ FOUR, a: [f32][4] @ FOUR, b: [f32][4] @ FOUR):
    assert stride(d, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        d[i] = a[i] + b[i]

@instr("abort();", cost = 3)
def four_crash(d: [f32][4] @ FOUR):
    assert stride(d, 0) == 1
    for i in seq(0, 4):
        d[i] = 0.0

@instr("{d_data} = no_such_function({d_data});", cost = 4)
def four_wrong(d: [f32][4] @ FOUR):
    assert stride(d, 0) == 1
    for i in seq(0, 4):
        d[i] = 1.0
)";

std::map<std::string, nlohmann::json> rows_of(const std::string& out) {
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : nlohmann::json::parse(out)) rows[row["instruction"]] = row;
  return rows;
}

TEST(CalibrateInstructions, measures_what_runs_and_says_what_does_not) {
  const CommandHarness harness("calibrate_instructions");
  harness.write("four/target.toml", kTarget);
  harness.write("four/four.exo", kInstructions);
  const std::vector<std::string> words = {"calibrate",    "--target", "./four", "--only",
                                          "instructions", "--format", "json"};
  const CommandResult first = harness.run(words);
  ASSERT_EQ(first.exit_status, 0) << first.err;
  auto rows = rows_of(first.out);
  ASSERT_EQ(rows.size(), 3u) << first.out;
  EXPECT_EQ(rows["four_add"]["source"], "measured");
  EXPECT_EQ(rows["four_add"]["port"], "arithmetic");
  EXPECT_GT(rows["four_add"]["latency"].get<double>(), 0);
  EXPECT_EQ(rows["four_add"]["text"].get<double>(), 77);
  EXPECT_NE(rows["four_crash"]["source"], "measured");
  EXPECT_NE(rows["four_crash"]["note"].get<std::string>().find("SIGABRT"), std::string::npos);
  EXPECT_EQ(rows["four_wrong"]["source"], "target text");
  EXPECT_EQ(rows["four_wrong"]["throughput"].get<double>(), 4);
  EXPECT_EQ(rows["four_wrong"]["note"], "does not compile");
  EXPECT_NE(first.err.find("1 of 3 instructions measured"), std::string::npos) << first.err;

  // Kept: the same figures to the last digit, and nothing is run.
  const CommandResult again = harness.run(words);
  ASSERT_EQ(again.exit_status, 0) << again.err;
  EXPECT_EQ(rows_of(again.out)["four_add"]["throughput"], rows["four_add"]["throughput"]);

  const CommandResult kept =
      harness.run({"db", "query", "SELECT name FROM figures WHERE kind = 'measured throughput'"});
  EXPECT_NE(kept.out.find("four_add"), std::string::npos) << kept.out;

  // Another text: what was measured is not its own.
  harness.write("four/four.exo", std::string(kInstructions) + "\n# edited\n");
  std::vector<std::string> estimate = words;
  estimate.push_back("--estimate");
  const CommandResult edited = harness.run(estimate);
  ASSERT_EQ(edited.exit_status, 0) << edited.err;
  EXPECT_NE(rows_of(edited.out)["four_add"]["source"], "measured");
}

TEST(CalibrateInstructions, lines_have_a_cost_in_every_level) {
  const CommandHarness harness("calibrate_lines");
  harness.write("four/target.toml", kTarget);
  harness.write("four/four.exo", kInstructions);
  const CommandResult lines =
      harness.run({"calibrate", "--target", "./four", "--only", "lines", "--format", "json"});
  ASSERT_EQ(lines.exit_status, 0) << lines.err;
  const auto rows = nlohmann::json::parse(lines.out);
  ASSERT_EQ(rows.size(), 2u) << lines.out;
  EXPECT_EQ(rows[0]["level"], "L1");
  EXPECT_EQ(rows[1]["level"], "DRAM");
  for (const auto& row : rows) EXPECT_GT(row["cycles per line"].get<double>(), 0);
}

TEST(CalibrateInstructions, refuses_parts_that_do_not_exist) {
  const CommandHarness harness("calibrate_parts");
  const CommandResult part = harness.run({"calibrate", "--only", "instruction"});
  EXPECT_EQ(part.exit_status, 2);
  EXPECT_NE(part.err.find("did you mean 'instructions'?"), std::string::npos) << part.err;
}

}  // namespace
}  // namespace exotune::cli
