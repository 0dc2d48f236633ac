// The main job end to end, on a small kernel: search, proofs, measuring, files, resuming, refusals.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

// Few trials and no peers: what is tested here is the command, not the search.
std::vector<std::string> small(std::vector<std::string> words) {
  words.insert(words.end(),
               {"--trials", "2", "--beam", "2", "--no-peers", "--reps", "3", "--top-k", "2"});
  return words;
}

// The same where it does not matter whether everything was measured.
std::vector<std::string> brief(std::vector<std::string> words) {
  words.insert(words.end(), {"--time-budget", "5s"});
  return small(std::move(words));
}

TEST(KernelVerb, writes_code_schedule_and_record_that_verify) {
  const CommandHarness harness("kernel");
  REQUIRE_TARGET();
  const CommandResult result = harness.run(brief({"saxpy", "--size", "n=1000"}));
  ASSERT_EQ(result.exit_status, 0) << result.err;
  for (const char* word : {"kernel   saxpy, n=1000", "speed ", "proof    proved", "files "})
    EXPECT_TRUE(says(result.out, word)) << word << "\n" << result.out;
  EXPECT_TRUE(says(harness.read("out/saxpy.c"), "saxpy.h"));
  EXPECT_TRUE(says(harness.read("out/saxpy.h"), "extern \"C\""));
  const auto record = nlohmann::json::parse(harness.read("out/saxpy.json"));
  EXPECT_EQ(record["kernel"], "saxpy");
  EXPECT_EQ(record["sizes"]["n"], 1000);
  const CommandResult verified =
      harness.run({"verify", "saxpy", "out/saxpy.sched", "--size", "n=1000"});
  EXPECT_EQ(verified.exit_status, 0) << verified.err;
  const CommandResult explained = harness.run({"explain", "saxpy"});
  EXPECT_EQ(explained.exit_status, 0) << explained.err;
  EXPECT_TRUE(says(explained.out, "tried ")) << explained.out;
}

TEST(KernelVerb, repeats_no_trial_that_the_database_holds) {
  const CommandHarness harness("resume");
  REQUIRE_TARGET();
  const CommandResult first = harness.run(small({"kernel", "sscal", "--size", "n=512"}));
  ASSERT_EQ(first.exit_status, 0) << first.err;
  EXPECT_TRUE(says(first.out, " 0 known before")) << first.out;
  const CommandResult second = harness.run(small({"kernel", "sscal", "--size", "n=512"}));
  ASSERT_EQ(second.exit_status, 0) << second.err;
  EXPECT_TRUE(says(second.out, " 0 candidates measured")) << second.out;
}

TEST(KernelVerb, takes_a_users_file_and_keeps_the_size_open_when_asked) {
  const CommandHarness harness("user");
  REQUIRE_TARGET();
  harness.write("twice.exo",
                "@proc\ndef twice(n: size, x: [f32][n], y: [f32][n]):\n"
                "    assert stride(x, 0) == 1\n    assert stride(y, 0) == 1\n"
                "    for i in seq(0, n):\n        y[i] = x[i] + x[i]\n");
  const CommandResult result = harness.run(
      brief({"twice.exo", "--size", "n=300", "--any-size", "-o", "made", "--stem", "t"}));
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(says(harness.read("made/t.h"), "int64_t n"));
  for (const char* file : {"made/t.c", "made/t.sched", "made/t.json"})
    EXPECT_TRUE(harness.exists(file)) << file;
}

TEST(KernelVerb, plans_for_a_core_that_is_only_described) {
  const CommandHarness harness("core");
  const auto plan = [&](const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "sgemm",      "--target", "avx512", "--size", "M=64,N=64,K=64", "--effort", "estimate",
        "--strategy", "dp",       "-o",     folder};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = harness.run(words);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    return harness.read(folder + "/sgemm.sched");
  };
  const std::string small = EXOTUNE_SOURCE_DIR "/docs/examples/small_core.toml";
  EXPECT_NE(plan("here", {}), plan("small", {"--core", small}));
}

TEST(KernelVerb, estimate_runs_nothing_and_says_the_same_twice) {
  const CommandHarness harness("estimate");
  REQUIRE_TARGET();
  ASSERT_EQ(harness.run({"saxpy", "--size", "n=64", "--effort", "estimate", "-o", "a"}).exit_status,
            0);
  ASSERT_EQ(harness.run({"saxpy", "--size", "n=64", "--effort", "estimate", "-o", "b"}).exit_status,
            0);
  for (const char* file : {"saxpy.c", "saxpy.h", "saxpy.sched"})
    EXPECT_EQ(harness.read(std::string("a/") + file), harness.read(std::string("b/") + file))
        << file;
  EXPECT_EQ(nlohmann::json::parse(harness.read("a/saxpy.json"))["seconds"], 0);
}

TEST(KernelVerb, says_which_windows_no_vector_load_reads) {
  const CommandHarness harness("kernel_windows");
  REQUIRE_TARGET();
  const std::string nest = "    for i in seq(0, n):\n        y[i] += x[i]\n";
  const std::string head = "@proc\ndef add(n: size, x: [f32][n], y: [f32][n]):\n";
  const auto output = [&](const std::string& text) {
    harness.write("add.exo", text);
    return harness.run({"kernel", "add.exo", "--size", "n=64", "--effort", "estimate"}).out;
  };
  EXPECT_NE(output(head + "    assert stride(x, 0) == 1\n" + nest).find("note     `y`: elements"),
            std::string::npos);
  EXPECT_EQ(output(head + "    assert stride(x, 0) == 1\n    assert stride(y, 0) == 1\n" + nest)
                .find("note     "),
            std::string::npos);
}

TEST(KernelVerb, views_found_by_rewriting_are_searched_and_measured) {
  const CommandHarness harness("views");
  REQUIRE_TARGET();
  harness.write("conv.exo",
                "@proc\n"
                "def conv(image: f32[8, 9, 9], weights: f32[16, 8, 3, 3], out: f32[16, 7, 7]):\n"
                "    for o in seq(0, 16):\n"
                "        for y in seq(0, 7):\n"
                "            for x in seq(0, 7):\n"
                "                for c in seq(0, 8):\n"
                "                    for r in seq(0, 3):\n"
                "                        for s in seq(0, 3):\n"
                "                            out[o, y, x] += weights[o, c, r, s] * "
                "image[c, y + r, x + s]\n");
  const CommandResult result = harness.run_in_time(
      small({"conv.exo", "--strategy", "eqsat", "--k", "1"}),
      [](const CommandResult& r) { return says(r.out, "one loop: y x, proved by replay"); });
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(says(result.out, "one loop: y x, proved by replay")) << result.out;
  const auto record = nlohmann::json::parse(harness.read("out/conv.json"));
  ASSERT_FALSE(record["views"].empty());
  EXPECT_EQ(record["views"][0]["proof"], "by replay");
  EXPECT_EQ(harness.run({"verify", "out/conv.json"}).exit_status, 0);
}

TEST(KernelVerb, a_plan_writes_nothing) {
  const CommandHarness harness("plan");
  REQUIRE_TARGET();
  const CommandResult result = harness.run({"kernel", "-n"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(says(result.out, "sgemm (any size")) << result.out;
  EXPECT_FALSE(harness.exists("out"));
  EXPECT_FALSE(harness.exists("data"));
}

TEST(KernelVerb, a_requirement_that_is_not_met_is_exit_4) {
  const CommandHarness harness("require");
  REQUIRE_TARGET();
  const CommandResult result =
      harness.run(brief({"saxpy", "--size", "n=64", "--require-peak", "100%"}));
  EXPECT_EQ(result.exit_status, 4) << result.err;
  EXPECT_TRUE(says(result.err, "100 % were required")) << result.err;
  EXPECT_TRUE(harness.exists("out/saxpy.c"));
}

TEST(KernelVerb, without_a_compiler_is_exit_6) {
  const CommandHarness harness("no_compiler");
  REQUIRE_TARGET();
  const CommandResult result =
      harness.run(small({"saxpy", "--size", "n=64"}), {{"PATH", "/nowhere"}});
  EXPECT_EQ(result.exit_status, 6) << result.err;
  EXPECT_TRUE(says(result.err, "error:") && says(result.err, "gcc")) << result.err;
}

TEST(KernelVerb, places_that_cannot_be_written_are_found_before_anything_runs) {
  const CommandHarness harness("unwritable");
  REQUIRE_TARGET();
  const CommandResult folder = harness.run(small({"saxpy", "--size", "n=64", "-o", "/proc/out"}));
  EXPECT_EQ(folder.exit_status, 2) << folder.err;
  EXPECT_TRUE(says(folder.err, "/proc/out") && says(folder.err, "-o DIR")) << folder.err;
  EXPECT_FALSE(harness.exists("data"));
  const CommandResult database =
      harness.run(small({"saxpy", "--size", "n=64", "--db", "/proc/t.db"}));
  EXPECT_EQ(database.exit_status, 2) << database.err;
  EXPECT_TRUE(says(database.err, "/proc/t.db")) << database.err;
}

TEST(KernelVerb, interrupted_is_exit_130_and_the_next_run_goes_on) {
  const CommandHarness harness("interrupt");
  REQUIRE_TARGET();
  const CommandResult result =
      run_command({"env", "XDG_DATA_HOME=" + (harness.folder() / "data").string(), "timeout",
                   "--preserve-status", "-s", "INT", "4", EXOTUNE_BINARY_DIR "/bin/exo-tune",
                   "sgemm", "--size", "M=256,N=256,K=256", "--trials", "500", "--no-peers", "-o",
                   (harness.folder() / "out").string()},
                  {.timeout_seconds = 120});
  EXPECT_EQ(result.exit_status, 130) << result.err;
  EXPECT_TRUE(says(result.err, "the same command goes on from here")) << result.err;
  const CommandResult check = harness.run({"db", "check"});
  EXPECT_EQ(check.exit_status, 0) << check.err;
}

TEST(KernelVerb, threads_are_part_of_what_is_measured_and_kept) {
  const CommandHarness harness("threads");
  REQUIRE_TARGET();
  const CommandResult result =
      harness.run(small({"saxpy", "--size", "n=100000", "--threads", "2", "--strategy", "beam"}));
  if (says(result.err, "OpenMP") || says(result.err, "this machine runs")) GTEST_SKIP();
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(says(result.out, "2 threads")) << result.out;
  const auto record = nlohmann::json::parse(harness.read("out/saxpy.json"));
  EXPECT_EQ(record["threads"], 2);
  const CommandResult kept = harness.run({"db", "ls"});
  EXPECT_TRUE(says(kept.out, "n=100000 (2 threads)")) << kept.out;
}

TEST(KernelVerb, a_parallel_schedule_is_checked_and_timed_with_its_threads) {
  const CommandHarness harness("parallel");
  REQUIRE_TARGET();
  harness.write("half.sched",
                "p = saxpy\np = partial_eval(p, n=1000)\n"
                "p = block_loop(p, 'i', 500, ['it', 'i'])\np = H_parallel(p, 'it')\n");
  // At the size that the script fixes.
  const CommandResult result = harness.run(
      {"bench", "saxpy", "half.sched", "--threads", "2", "--peers", "c", "--rounds", "3"});
  if (says(result.err, "OpenMP")) GTEST_SKIP();
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(says(result.out, "n=1000")) << result.out;
}

TEST(KernelVerb, threads_that_cannot_be_measured_are_refused) {
  const CommandHarness harness("no_threads");
  REQUIRE_TARGET();
  const CommandResult many = harness.run(small({"saxpy", "--size", "n=64", "--threads", "4096"}));
  EXPECT_EQ(many.exit_status, 2) << many.err;
  EXPECT_TRUE(says(many.err, "--threads: this machine runs")) << many.err;
  const CommandResult open = harness.run(small({"saxpy", "--threads", "1", "-n"}));
  EXPECT_EQ(open.exit_status, 0) << open.err;
}

}  // namespace
}  // namespace exotune::cli
