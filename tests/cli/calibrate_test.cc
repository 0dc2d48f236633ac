// exo-tune calibrate end to end with a small budget: what it prints, keeps and repeats. How fast
// this machine is plays no part.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

bool says(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

TEST(CalibrateVerb, fits_keeps_and_measures_nothing_twice) {
  const CommandHarness harness("calibrate");
  if (harness.run({"doctor", "--no-peers"}).exit_status != 0) GTEST_SKIP() << "no target runs here";
  const std::vector<std::string> words = {
      "calibrate", "--only", "weights", "--kernel", "saxpy,sdot", "--draws", "30", "--passes", "1"};
  const CommandResult first = harness.run(words);
  ASSERT_EQ(first.exit_status, 0) << first.err;
  for (const char* word : {"spearman", "held back", "saxpy", "sdot", "lines into cache 1"})
    EXPECT_TRUE(says(first.out, word)) << word << "\n" << first.out;
  EXPECT_TRUE(says(first.err, " 0 from the database")) << first.err;

  std::vector<std::string> again = words;
  again.insert(again.end(), {"--format", "json"});
  const CommandResult second = harness.run(again);
  ASSERT_EQ(second.exit_status, 0) << second.err;
  EXPECT_TRUE(says(second.err, " 0 measured")) << second.err;
  const auto kernels = nlohmann::json::parse(second.out);
  ASSERT_EQ(kernels.size(), 2u);
  for (const auto& row : kernels) {
    EXPECT_GT(row["held back"].get<int>(), 0);
    EXPECT_GT(row["runs"].get<int>(), row["held back"].get<int>());
    EXPECT_LE(row["least after"].get<double>(), row["after"].get<double>());
    EXPECT_EQ(row["fit"] == "used" || row["fit"] == "not used", true) << row;
  }

  again.insert(again.end(), {"--show", "weights", "--without", "loop,pages"});
  const CommandResult switched = harness.run(again);
  ASSERT_EQ(switched.exit_status, 0) << switched.err;
  int seen = 0;
  for (const auto& row : nlohmann::json::parse(switched.out)) {
    EXPECT_GE(row["after"].get<double>(), 0) << row;
    if (row["term"] == "loop" || row["term"] == "pages") {
      ++seen;
      EXPECT_EQ(row["after"].get<double>(), 0) << row;
    }
  }
  EXPECT_EQ(seen, 2);

  const CommandResult kept =
      harness.run({"db", "query", "SELECT kind, count(*) AS n FROM figures GROUP BY kind"});
  EXPECT_TRUE(says(kept.out, "weights")) << kept.out << kept.err;
}

TEST(CalibrateVerb, refuses_what_it_does_not_know) {
  const CommandHarness harness("calibrate_refusals");
  const CommandResult term = harness.run({"calibrate", "--without", "latencie"});
  EXPECT_EQ(term.exit_status, 2);
  EXPECT_TRUE(says(term.err, "did you mean 'latency'?")) << term.err;
  const CommandResult show = harness.run({"calibrate", "--show", "weight"});
  EXPECT_EQ(show.exit_status, 2);
  EXPECT_TRUE(says(show.err, "did you mean 'weights'?")) << show.err;
  const CommandResult share = harness.run({"calibrate", "--held-back", "100%"});
  EXPECT_EQ(share.exit_status, 2);
  EXPECT_TRUE(says(share.err, "--held-back")) << share.err;
  const CommandResult target = harness.run({"calibrate", "--target", "gemmini"});
  EXPECT_EQ(target.exit_status, 6) << target.err;
}

}  // namespace
}  // namespace exotune::cli
