// Whose records a command finds, what it says of them, and what it lets them run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/hashing.h"
#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Another kernel than the built-in one of that name.
const std::string kSaxpy =
    "@proc\ndef saxpy(n: size, x: f32[n], s: f32[1]):\n"
    "    for i in seq(0, n):\n        s[0] += x[i]\n";

std::string hash_of(const std::string& text) {
  return content_hash(canonical_text(*parse_module(text, "k.exo").user_procs().front()));
}

std::string trial_line(const std::string& hash, const std::string& candidate, double seconds,
                       const std::string& target = "avx2", const std::string& sizes = "n=8") {
  return Json{{"type", "trial"},
              {"kernel", hash},
              {"sizes", sizes},
              {"target", target},
              {"fingerprint", "f1"},
              {"compiler", "cc"},
              {"candidate", candidate},
              {"status", "ok"},
              {"cause", ""},
              {"script", "p = saxpy\n"},
              {"samples", {seconds, seconds, seconds}},
              {"unit", "seconds"},
              {"proof", "proved"},
              {"engine", "test"},
              {"created", 1000},
              {"winner", true},
              {"settled", false}}
             .dump() +
         "\n";
}

const std::string kHeader = "{\"type\":\"exo-tune\",\"format\":1}\n";

// A database with one trial of the kernel above.
void tune_mine(const CommandHarness& harness) {
  harness.write("mine.exo", kSaxpy);
  const std::string hash = hash_of(kSaxpy);
  harness.write("mine.jsonl",
                kHeader + Json{{"type", "kernel"}, {"hash", hash}, {"name", "saxpy"}}.dump() +
                    "\n" + trial_line(hash, "519663362695", 2e-6));
  ASSERT_EQ(harness.run({"db", "import", "mine.jsonl"}).exit_status, 0);
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Records, of_a_namesake_are_not_the_built_in_kernels) {
  const CommandHarness harness("namesake");
  tune_mine(harness);
  for (const char* verb : {"explain", "bench"}) {
    const CommandResult built_in = harness.run({verb, "saxpy"});
    EXPECT_EQ(built_in.exit_status, 2) << built_in.out;
    EXPECT_TRUE(says(built_in.err, "only of another kernel of that name")) << built_in.err;
  }
  const CommandResult mine = harness.run({"explain", "mine.exo"});
  EXPECT_EQ(mine.exit_status, 0) << mine.err;
  EXPECT_TRUE(says(mine.out, "candidate 519663362695")) << mine.out;
  EXPECT_TRUE(says(mine.out, "* 519663362695  2 us")) << mine.out;
}

TEST(Records, a_candidate_of_ones_own_kernel_wants_its_file) {
  const CommandHarness harness("own");
  tune_mine(harness);
  const CommandResult nameless = harness.run({"explain", "5196"});
  EXPECT_EQ(nameless.exit_status, 2);
  EXPECT_TRUE(says(nameless.err, "a kernel of your own called 'saxpy'")) << nameless.err;
  EXPECT_EQ(harness.run({"explain", "5196", "--kernel", "mine.exo"}).exit_status, 0);
  const CommandResult wrong = harness.run({"explain", "5196", "--kernel", "sgemm"});
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_TRUE(says(wrong.err, "is not of sgemm")) << wrong.err;
}

TEST(Records, json_keeps_an_id_of_digits_a_string) {
  const CommandHarness harness("json");
  tune_mine(harness);
  const Json best = Json::parse(harness.run({"db", "best", "--format", "json"}).out);
  EXPECT_EQ(best[0]["candidate"], "519663362695");
  EXPECT_EQ(best[0]["median"], 2);
  const Json rows = Json::parse(
      harness
          .run({"db", "query", "SELECT candidate, count(*) AS n FROM trials", "--format", "json"})
          .out);
  EXPECT_EQ(rows[0]["candidate"], "519663362695");
  EXPECT_EQ(rows[0]["n"], 1);
}

TEST(Records, filters_that_cannot_match_are_refused) {
  const CommandHarness harness("filters");
  tune_mine(harness);
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"saxpi"}, "did you mean 'saxpy'?"},
      {{"--status", "okk"}, "did you mean 'ok'?"},
      {{"--target", "avx3"}, "did you mean 'avx2'?"},
      {{"--size", "garbage"}, "NAME=NUMBER"},
      {{"--limit", "-1"}, "--limit"}};
  for (const auto& [words, hint] : wrong) {
    std::vector<std::string> all = {"db", "ls"};
    all.insert(all.end(), words.begin(), words.end());
    const CommandResult refused = harness.run(all);
    EXPECT_EQ(refused.exit_status, 2) << words.front();
    EXPECT_TRUE(says(refused.err, hint)) << refused.err;
  }
  EXPECT_TRUE(says(harness.run({"db", "ls", "saxpy", "--size", "n=8"}).out, "519663362695"));
}

TEST(Records, sizes_filter_in_any_order_and_with_what_a_key_adds) {
  const CommandHarness harness("sizes");
  harness.write("a.jsonl", kHeader + trial_line("h1", "aaaa", 1, "avx2", "K=2,M=1 (symbolic)") +
                               trial_line("h1", "aabb", 1, "avx2", "K=2,M=10"));
  ASSERT_EQ(harness.run({"db", "import", "a.jsonl"}).exit_status, 0);
  const CommandResult found = harness.run({"db", "ls", "--size", "M=1,K=2"});
  EXPECT_TRUE(says(found.out, "aaaa")) << found.err;
  EXPECT_FALSE(says(found.out, "aabb"));
  const CommandResult several = harness.run({"db", "show", "aa"});
  EXPECT_EQ(several.exit_status, 2);
  EXPECT_TRUE(says(several.err, "2 candidates begin with 'aa'")) << several.err;
}

TEST(Records, a_full_standard_output_is_an_error) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  const CommandHarness harness("full");
  tune_mine(harness);
  for (const char* words : {"list kernels", "db export --db data/exo-tune/tune.db", "--help"}) {
    CommandOptions options;
    options.directory = harness.folder().string();
    const CommandResult full = run_command(
        {"sh", "-c", std::string(EXOTUNE_BINARY_DIR "/bin/exo-tune ") + words + " > /dev/full"},
        options);
    EXPECT_EQ(full.exit_status, 2) << words;
    EXPECT_TRUE(says(full.err, "standard output")) << full.err;
  }
}

TEST(Records, what_can_be_read_of_a_damaged_database_is_exported) {
  const CommandHarness harness("damaged");
  std::string lines = kHeader;
  for (int k = 0; k < 400; ++k)
    lines += trial_line("h" + std::to_string(k % 7), std::to_string(100000 + k), 1e-6);
  harness.write("a.jsonl", lines);
  ASSERT_EQ(harness.run({"db", "import", "a.jsonl"}).exit_status, 0);
  const fs::path file = harness.folder() / "data/exo-tune/tune.db";
  std::string bytes = harness.read("data/exo-tune/tune.db");
  ASSERT_GT(bytes.size(), 100000u);
  for (size_t k = 0; k < 32768; ++k) bytes[65536 + k] = static_cast<char>(k * 37);
  harness.write("data/exo-tune/tune.db", bytes);
  const CommandResult half = harness.run({"db", "export", "saved.jsonl"});
  EXPECT_EQ(half.exit_status, 2);
  EXPECT_TRUE(says(half.err, "what can be read of it is exported")) << half.err;
  ASSERT_EQ(harness.run({"db", "import", "saved.jsonl", "--db", "fresh.db"}).exit_status, 0);
  const Json count = Json::parse(harness
                                     .run({"db", "query", "SELECT count(*) AS n FROM trials",
                                           "--db", "fresh.db", "--format", "json"})
                                     .out);
  EXPECT_GT(count[0]["n"].get<int>(), 100);
  EXPECT_EQ(harness.run({"db", "check", "--db", "fresh.db"}).exit_status, 0);
}

TEST(Records, the_doctor_fails_where_the_database_is_damaged) {
  const CommandHarness harness("doctor_damaged");
  if (harness.run({"doctor", "--no-peers"}).exit_status != 0) GTEST_SKIP() << "no target runs here";
  harness.write("bad.db", std::string(9000, 'x'));
  const CommandResult r = harness.run({"doctor", "--no-peers", "--db", "bad.db"});
  EXPECT_EQ(r.exit_status, 2);
  EXPECT_TRUE(says(r.out, "damaged")) << r.out;
}

// --- what came from elsewhere ---------------------------------------------------------------

const std::string kAxpy =
    "@proc\ndef axpy(n: size, a: f32, x: f32[n], y: f32[n]):\n"
    "    for i in seq(0, n):\n        y[i] += a * x[i]\n";

// The documented target, with a line of C that leaves a mark when the code is loaded.
void write_target(const CommandHarness& harness, const std::string& mark) {
  const fs::path from = EXOTUNE_SOURCE_DIR "/docs/examples/sse", to = harness.folder() / "theirs";
  fs::copy(from, to);
  std::string text = harness.read("theirs/sse.exo");
  const std::string before = "@instr(\"{dst_data} = _mm_loadu_ps(&{src_data});\", ";
  const size_t at = text.find(before);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, before.size(),
               "@instr(\"{dst_data} = _mm_loadu_ps(&{src_data});\", \"#include <stdlib.h>\\n"
               "__attribute__((constructor)) static void mark(void) { if (system(\\\"touch " +
                   mark + "\\\")) {} }\", ");
  harness.write("theirs/sse.exo", text);
}

void write_record(const CommandHarness& harness) {
  harness.write("axpy.exo", kAxpy);
  harness.write("axpy.sched",
                "p = divide_loop(axpy, 'i', 4, ['io', 'ii'], tail='cut')\n"
                "p = vectorize_lanes(p, 'ii', 4, SSE, [sse_loadu_ps, sse_storeu_ps, "
                "sse_set1_ps_scalar, sse_muladd_ps])\n");
  harness.write("axpy.json", Json{{"kernel", "axpy.exo"},
                                  {"kernel_hash", hash_of(kAxpy)},
                                  {"script", "axpy.sched"},
                                  {"target", "theirs"},
                                  {"target_folder", (harness.folder() / "theirs").string()},
                                  {"sizes", Json::object()},
                                  {"measured_at", {{"n", 64}}}}
                                 .dump());
}

TEST(Trust, a_record_runs_no_instructions_that_the_user_did_not_name) {
  const CommandHarness harness("trust");
  const std::string mark = (harness.folder() / "mark").string();
  write_target(harness, mark);
  write_record(harness);
  const CommandResult refused = harness.run({"bench", "axpy.json"});
  EXPECT_EQ(refused.exit_status, 2) << refused.out;
  EXPECT_TRUE(says(refused.err, "whose instructions are C that has never run here")) << refused.err;
  EXPECT_TRUE(says(refused.err, "--target")) << refused.err;
  EXPECT_FALSE(harness.exists("mark"));
  // Proving and printing run nothing.
  const CommandResult explained = harness.run({"explain", "axpy.json"});
  EXPECT_EQ(explained.exit_status, 0) << explained.err;
  EXPECT_FALSE(harness.exists("mark"));

  const CommandResult named = harness.run({"bench", "axpy.json", "--target", "./theirs"});
  if (named.exit_status == 6) GTEST_SKIP() << named.err;  // no such CPU or compiler
  EXPECT_EQ(named.exit_status, 0) << named.err;
  EXPECT_TRUE(harness.exists("mark"));
}

TEST(Trust, a_record_of_a_target_that_was_run_here_runs_until_its_text_changes) {
  const CommandHarness harness("trusted");
  write_target(harness, (harness.folder() / "mark").string());
  write_record(harness);
  const CommandResult tuned =
      harness.run({"kernel", "axpy.exo", "--size", "n=64", "--target", "./theirs", "--trials", "2",
                   "--time-budget", "20s", "--no-peers"});
  if (tuned.exit_status == 6) GTEST_SKIP() << tuned.err;
  ASSERT_EQ(tuned.exit_status, 0) << tuned.err;
  const CommandResult known = harness.run({"bench", "axpy.json"});
  EXPECT_EQ(known.exit_status, 0) << known.err;
  harness.write("theirs/sse.exo", harness.read("theirs/sse.exo") + "\n# edited\n");
  EXPECT_EQ(harness.run({"bench", "axpy.json"}).exit_status, 2);
  // What is trusted here is no record: it does not travel.
  const CommandResult exported = harness.run({"db", "export"});
  EXPECT_FALSE(says(exported.out, "trusted"));
}

TEST(Trust, a_records_kernel_brings_no_instructions_either) {
  const CommandHarness harness("trust_kernel");
  harness.write(
      "k.exo",
      "@instr(\"{dst_data} = 0;\")\ndef zero(dst: [f32][1]):\n    dst[0] = 0.0\n\n" + kAxpy);
  harness.write("k.sched", "p = axpy\n");
  harness.write("k.json", Json{{"kernel", "k.exo:axpy"},
                               {"script", "k.sched"},
                               {"target", "avx2"},
                               {"sizes", Json::object()},
                               {"measured_at", {{"n", 64}}}}
                              .dump());
  const CommandResult refused = harness.run({"bench", "k.json"});
  if (refused.exit_status == 6) GTEST_SKIP() << refused.err;
  EXPECT_EQ(refused.exit_status, 2) << refused.out;
  EXPECT_TRUE(says(refused.err, "defines instructions")) << refused.err;
}

TEST(Trust, a_folder_here_does_not_stand_in_for_a_target_that_ships) {
  const CommandHarness harness("shadow");
  harness.write("avx2/target.toml", "this is no target\n");
  EXPECT_EQ(harness.run({"schedule", "saxpy", "--target", "avx2"}).exit_status, 0);
}

TEST(Records, what_is_not_there_is_not_made_to_be_cleared) {
  const CommandHarness harness("gc_of_none");
  const CommandResult gone = harness.run({"db", "gc", "--older", "0d", "--db", "none.db"});
  EXPECT_EQ(gone.exit_status, 2) << gone.out;
  EXPECT_TRUE(says(gone.err, "there is no database at 'none.db'")) << gone.err;
  EXPECT_FALSE(harness.exists("none.db"));
}

TEST(Trust, imported_lines_cannot_name_what_is_trusted) {
  const CommandHarness harness("import_trust");
  harness.write("a.jsonl", kHeader +
                               Json{{"type", "figure"},
                                    {"target", "theirs"},
                                    {"text", "abc"},
                                    {"microarchitecture", ""},
                                    {"kind", "trusted"},
                                    {"name", "named by the user"},
                                    {"value", 1}}
                                   .dump() +
                               "\n");
  ASSERT_EQ(harness.run({"db", "import", "a.jsonl"}).exit_status, 0);
  const CommandResult kept = harness.run({"db", "query", "SELECT count(*) AS n FROM figures"});
  EXPECT_TRUE(says(kept.out, "0")) << kept.out;
}

}  // namespace
}  // namespace exotune::cli
