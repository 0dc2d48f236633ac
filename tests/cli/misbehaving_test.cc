// Targets whose text lies: an instruction's C crashes, hangs, strays or computes something else
// than its meaning. Every candidate that uses it must be found out, recorded with its cause, and
// lose.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

namespace fs = std::filesystem;
const fs::path kTests = EXOTUNE_SOURCE_DIR "/tests";

struct Lie {
  const char* name;    // of the file in tests/cli/misbehaving
  const char* kernel;  // and the C program that checks its winner
  const char* status;  // that every candidate using the lie must get
  const char* cause;   // what the cause must say
  int liars, honest;   // candidates with the lie, candidates without it
  bool any_size = false;
};

// saxpy stores in every vectorized candidate; sdot adds registers up only when several accumulators
// are used, so one vectorized candidate stays honest. The last is found out at other sizes than the
// one that is measured.
const Lie kLies[] = {
    {"store_compile", "saxpy", "compile_error", "v4_no_such_function", 3, 1},
    {"store_crash", "saxpy", "crash", "SIG", 3, 1},
    {"store_hang", "saxpy", "timeout", "no result within", 3, 1},
    {"store_stray", "saxpy", "out_of_bounds", "y", 3, 1},
    {"store_wrong", "saxpy", "mismatch", "y", 3, 1},
    {"accumulate_crash", "sdot", "crash", "SIG", 2, 2},
    {"accumulate_hang", "sdot", "timeout", "no result within", 2, 2},
    {"accumulate_wrong", "sdot", "mismatch", "result", 2, 2},
    {"tail_wrong", "saxpy", "out_of_bounds", "at n=1: ", 4, 1, true},
};

class Misbehaving : public testing::TestWithParam<Lie> {};
INSTANTIATE_TEST_SUITE_P(Lies, Misbehaving, testing::ValuesIn(kLies),
                         [](const auto& info) { return std::string(info.param.name); });

// The made-up machine of tests/hw plus what sums need, and one instruction more that is tried
// first.
void write_target(const CommandHarness& harness, const std::string& lie) {
  const fs::path folder = harness.folder() / "liar";
  fs::copy(kTests / "hw/madeup/vec4", folder);
  fs::copy(kTests / "cli/misbehaving/honest.exo", folder);
  fs::copy(kTests / "cli/misbehaving" / (lie + ".exo"), folder / "lie.exo");
  std::string text = harness.read("liar/target.toml");
  const std::string files = R"("memory.exo", "instructions.exo")";
  ASSERT_NE(text.find(files), std::string::npos);
  text.replace(text.find(files), files.size(),
               R"("memory.exo", "lie.exo", "instructions.exo", "honest.exo")");
  harness.write("liar/target.toml", text);
}

// Calls the winner on numbers of our own; exits 0 when each result is right.
const char* const kSaxpyMain = R"(#include "out/saxpy.h"
int main(void) {
  float alpha = 3, x[17], y[17];
  for (int i = 0; i < 17; i++) { x[i] = i; y[i] = 100 - i; }
  struct exo_win_1f32c xs = {x, {1}};
  struct exo_win_1f32 ys = {y, {1}};
  saxpy(SIZE &alpha, xs, ys);
  for (int i = 0; i < 16; i++) if (y[i] != 100 + 2 * i) return 1;
  return y[16] == 84 ? 0 : 2;
})";
const char* const kSdotMain = R"(#include "out/sdot.h"
int main(void) {
  float x[16], y[16], result = 1e9f;
  for (int i = 0; i < 16; i++) { x[i] = i; y[i] = 2; }
  struct exo_win_1f32c xs = {x, {1}}, ys = {y, {1}};
  sdot(xs, ys, &result);
  return result == 240 ? 0 : 1;
})";

TEST_P(Misbehaving, instruction_loses_and_its_cause_is_recorded) {
  const Lie& lie = GetParam();
  const std::string kernel = lie.kernel;
  const CommandHarness harness(std::string("lie-") + lie.name);
  ASSERT_NO_FATAL_FAILURE(write_target(harness, lie.name));
  std::vector<std::string> words = {"kernel", kernel,   "--target",   "liar",
                                    "--size", "n=16",   "--no-peers", "--timeout",
                                    "1s",     "--reps", "3",          "-v"};
  if (lie.any_size) words.push_back("--any-size");
  const CommandResult tuned = harness.run(words);
  if (tuned.exit_status == 6) GTEST_SKIP() << tuned.err;
  ASSERT_EQ(tuned.exit_status, 0) << tuned.out << tuned.err;

  // The winner is honest, and right.
  const std::string source = harness.read("out/" + kernel + ".c");
  EXPECT_NE(source, "");
  EXPECT_EQ(source.find("/* lie */"), std::string::npos) << source;
  const std::string any_size = lie.any_size ? "#define SIZE 16,\n" : "#define SIZE\n";
  harness.write("main.c", any_size + (kernel == "saxpy" ? kSaxpyMain : kSdotMain));
  CommandOptions options;
  options.directory = harness.folder().string();
  const CommandResult compiled =
      run_command({"gcc", "-O1", "-o", "main", "main.c", "out/" + kernel + ".c"}, options);
  ASSERT_TRUE(compiled.ok()) << compiled.err;
  EXPECT_EQ(run_command({(harness.folder() / "main").string()}).exit_status, 0) << source;

  // Each trial is recorded, the liars with what they did.
  const CommandResult rows =
      harness.run({"db", "query", "SELECT candidate, status, cause, winner, script FROM results",
                   "--format", "json"});
  ASSERT_EQ(rows.exit_status, 0) << rows.err;
  int liars = 0, honest = 0, otherwise = 0, winners = 0;
  for (const auto& row : nlohmann::json::parse(rows.out)) {
    const std::string status = row["status"].get<std::string>();
    const std::string cause = row["cause"].get<std::string>();
    winners += row["winner"].get<int>();
    // The loops as written, and the fastest schedules, come once more from each compiler.
    const bool again = row["script"].get<std::string>().starts_with("# compiled ");
    if (again) ++otherwise;
    if (status == "ok") {
      if (!again) ++honest;
      EXPECT_EQ(cause, "");
      continue;
    }
    if (!again) ++liars;
    EXPECT_EQ(status, lie.status) << row;
    EXPECT_NE(cause.find(lie.cause), std::string::npos) << row;
    EXPECT_EQ(row["winner"], 0) << row;
  }
  EXPECT_EQ(liars + honest, lie.liars + lie.honest) << rows.out;
  EXPECT_GT(otherwise, 0) << rows.out;
  // At other sizes only who may win is tried: how many liars those are, the clock decides.
  if (lie.any_size)
    EXPECT_GE(liars, 1) << rows.out;
  else
    EXPECT_EQ(liars, lie.liars) << rows.out;
  EXPECT_EQ(winners, 1) << rows.out;
}

}  // namespace
}  // namespace exotune::cli
