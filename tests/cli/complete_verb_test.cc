// Partial schedules from the command line: files, records, refusals, and runs that are stopped.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

const std::string kPartial =
    "p = sgemm\np = partial_eval(p, M=32, N=32, K=32)\n# the rows of a tile\n"
    "p = block_loop(p, 'i', 8, ['io', 'i'])\np = search(p)\n";

std::vector<std::string> small(std::vector<std::string> words) {
  words.insert(words.end(),
               {"--trials", "2", "--beam", "2", "--no-peers", "--reps", "3", "--top-k", "2"});
  return words;
}

int number_before(const std::string& text, const std::string& words) {
  std::smatch m;
  const std::regex form("(\\d+) " + words);
  return std::regex_search(text, m, form) ? std::stoi(m[1]) : -1;
}

TEST(CompleteVerb, writes_the_users_lines_and_the_found_ones) {
  const CommandHarness harness("complete");
  REQUIRE_TARGET();
  harness.write("tile.sched", kPartial);
  const CommandResult result =
      harness.run_in_time(small({"complete", "tile.sched"}),
                          [](const CommandResult& r) { return says(r.out, "beside   "); });
  ASSERT_EQ(result.exit_status, 0) << result.err;
  for (const char* word : {"kernel   sgemm", "beside   ", "the winner without your lines",
                           "proof    proved", "plans    ", "files "})
    EXPECT_TRUE(says(result.out, word)) << word << "\n" << result.out;
  const std::string script = harness.read("out/tile.sched");
  EXPECT_EQ(script.rfind(kPartial.substr(0, kPartial.find("p = search")), 0), 0u) << script;
  EXPECT_TRUE(says(script, "# filled: p = search(p)\n")) << script;
  EXPECT_TRUE(says(script, "  # found\n")) << script;
  const auto record = nlohmann::json::parse(harness.read("out/tile.json"));
  EXPECT_EQ(record["kernel"], "sgemm");
  EXPECT_EQ(record["rivals"].size(), 1u);
  const CommandResult verified =
      harness.run({"verify", "sgemm", "out/tile.sched", "--size", "M=32,N=32,K=32"});
  EXPECT_EQ(verified.exit_status, 0) << verified.err;
  const CommandResult explained = harness.run({"explain", "out"});
  EXPECT_EQ(explained.exit_status, 0) << explained.err;
}

TEST(CompleteVerb, takes_a_kernel_of_the_users) {
  const CommandHarness harness("complete_user");
  REQUIRE_TARGET();
  harness.write("two.exo",
                "@proc\ndef two(x: f32[64, 64], y: f32[64, 64], z: f32[64, 64]):\n"
                "    for i in seq(0, 64):\n        for j in seq(0, 64):\n"
                "            y[i, j] = x[i, j]\n"
                "    for i in seq(0, 64):\n        for j in seq(0, 64):\n"
                "            for k in seq(0, 64):\n"
                "                z[i, j] += x[i, k] * y[k, j]\n");
  harness.write("two.sched", "p = two\np = search(p, 'for i in _: _ #1')\n");
  const CommandResult result =
      harness.run(small({"complete", "two.exo", "two.sched", "--time-budget", "20s"}));
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(says(harness.read("out/two.sched"), "extract_subproc("))
      << harness.read("out/two.sched");
  // The cost model alone fills it too, without a run.
  const CommandResult applied = harness.run({"schedule", "two.exo", "two.sched"});
  EXPECT_EQ(applied.exit_status, 0) << applied.err;
  const CommandResult script =
      harness.run({"schedule", "two.exo", "two.sched", "--emit", "script"});
  EXPECT_TRUE(says(script.out, "# found")) << script.out;
}

TEST(CompleteVerb, says_which_constraint_leaves_nothing) {
  const CommandHarness harness("complete_none");
  REQUIRE_TARGET();
  harness.write(
      "none.exo",
      "@instr(\"nothing\")\ndef lonely(x: [f64][3] @ DRAM):\n    for i in seq(0, 3):\n"
      "        x[i] = 0.0\n\n"
      "@proc\ndef twice(x: f32[64]):\n    for i in seq(0, 64):\n        x[i] = 2.0 * x[i]\n");
  harness.write("none.sched", "p = twice\nuse(lonely)\np = search(p)\n");
  const CommandResult result =
      harness.run(small({"complete", "none.sched", "none.exo:twice", "--no-baseline"}));
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_TRUE(says(result.err, "no valid candidate")) << result.err;
  EXPECT_TRUE(says(result.err, "the result does not call `lonely`")) << result.err;
  EXPECT_FALSE(harness.exists("out/none.sched"));
}

// The command in the harness's folder, stopped by SIGINT after a while; its exit code.
int stopped_after(const CommandHarness& harness, const std::vector<std::string>& arguments,
                  const std::string& seconds) {
  std::vector<std::string> argv = {"timeout",
                                   "--preserve-status",
                                   "-s",
                                   "INT",
                                   seconds,
                                   "env",
                                   "-u",
                                   "EXOTUNE_DATA",
                                   "HOME=" + harness.folder().string(),
                                   "XDG_DATA_HOME=" + (harness.folder() / "data").string(),
                                   EXOTUNE_BINARY_DIR "/bin/exo-tune"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  CommandOptions options;
  options.directory = harness.folder().string();
  options.timeout_seconds = 120;
  return run_command(argv, options).exit_status;
}

// Stopped at several moments, then to the end, then once more: the last run solves and measures
// nothing, and all runs together measured what one would have.
TEST(CompleteVerb, goes_on_where_it_was_stopped) {
  const CommandHarness harness("complete_stopped");
  REQUIRE_TARGET();
  harness.write("tile.sched",
                "p = sgemm\np = partial_eval(p, M=32, N=32, K=32)\nmax_unroll(8)\np = search(p)\n");
  for (const std::vector<std::string>& command :
       {small({"complete", "tile.sched", "--no-baseline"}),
        small({"kernel", "sgemm", "--size", "M=64,N=64,K=64", "--strategy", "dp"})}) {
    for (const char* seconds : {"0.05", "0.3", "0.8"}) {
      const int code = stopped_after(harness, command, seconds);
      // Before the handler stands: the signal itself.
      EXPECT_TRUE(code == 130 || code == 0 || (code < 0 || code > 128)) << code;
    }
    const CommandResult whole = harness.run(command);
    ASSERT_EQ(whole.exit_status, 0) << whole.err;
    const CommandResult again = harness.run(command);
    ASSERT_EQ(again.exit_status, 0) << again.err;
    EXPECT_EQ(number_before(again.out, "Specs solved"), 0) << again.out;
    EXPECT_GT(number_before(again.out, "known before, "), 0) << again.out;
    // Which schedules are refined depends on what was measured: those may be new.
    EXPECT_GT(number_before(again.out, "known before\n"), 0) << again.out;
    EXPECT_LE(number_before(again.out, "candidates measured"),
              number_before(again.out, "known before\n"))
        << again.out;
  }
}

}  // namespace
}  // namespace exotune::cli
