#include "cli/quantities.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/diagnostic.h"

namespace exotune::cli {
namespace {

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Quantities, durations_take_ms_s_m_h_and_plain_seconds) {
  EXPECT_DOUBLE_EQ(parse_duration("--timeout", "500ms"), 0.5);
  EXPECT_DOUBLE_EQ(parse_duration("--timeout", "90"), 90);
  EXPECT_DOUBLE_EQ(parse_duration("--timeout", "90s"), 90);
  EXPECT_DOUBLE_EQ(parse_duration("--timeout", "10m"), 600);
  EXPECT_DOUBLE_EQ(parse_duration("--timeout", "1.5h"), 5400);
}

TEST(Quantities, a_bad_duration_names_the_option_and_shows_good_ones) {
  const std::string text = refusal([] { parse_duration("--time-budget", "soon"); });
  EXPECT_NE(text.find("--time-budget: not a duration: 'soon'"), std::string::npos) << text;
  EXPECT_NE(text.find("10m"), std::string::npos) << text;
  EXPECT_NE(refusal([] { parse_duration("--timeout", "0"); }), "accepted");
  EXPECT_NE(refusal([] { parse_duration("--timeout", "-1s"); }), "accepted");
  EXPECT_NE(refusal([] { parse_duration("--timeout", "1y"); }), "accepted");
  EXPECT_NE(refusal([] { parse_duration("--timeout", "inf"); }), "accepted");
}

TEST(Quantities, ages_take_days_too) {
  EXPECT_DOUBLE_EQ(parse_age("--older", "30d"), 30 * 86400.0);
  EXPECT_DOUBLE_EQ(parse_age("--older", "12h"), 12 * 3600.0);
  EXPECT_DOUBLE_EQ(parse_age("--older", "0h"), 0);
  EXPECT_NE(refusal([] { parse_age("--older", "xd"); }), "accepted");
}

TEST(Quantities, fractions_are_percent_or_plain_and_within_one) {
  EXPECT_DOUBLE_EQ(parse_fraction("--require-peak", "80%"), 0.8);
  EXPECT_DOUBLE_EQ(parse_fraction("--require-peak", "0.8"), 0.8);
  EXPECT_NE(refusal([] { parse_fraction("--require-peak", "80"); }), "accepted");
  EXPECT_NE(refusal([] { parse_fraction("--require-peak", "0%"); }), "accepted");
}

TEST(Quantities, sizes_are_sorted_by_name) {
  EXPECT_EQ(str(parse_sizes("--size", "M=512, N=256,K=128")), "K=128,M=512,N=256");
}

TEST(Quantities, bad_sizes_are_refused) {
  for (const char* text :
       {"", "M", "M=", "=3", "M=0", "M=-4", "M=4x", "M=4,M=5", "M=4,", "M=99999999999999999999"})
    EXPECT_NE(refusal([&] { parse_sizes("--size", text); }), "accepted") << text;
}

TEST(Quantities, a_sweep_gives_every_name_the_same_value) {
  const auto sweep = parse_size_sweep("16:48:16", {"M", "N"});
  ASSERT_EQ(sweep.size(), 3u);
  EXPECT_EQ(str(sweep[2]), "M=48,N=48");
  EXPECT_NE(refusal([] { parse_size_sweep("16:48", {"M"}); }), "accepted");
  EXPECT_NE(refusal([] { parse_size_sweep("48:16:1", {"M"}); }), "accepted");
  EXPECT_NE(refusal([] { parse_size_sweep("1:4:0", {"M"}); }), "accepted");
}

TEST(Quantities, a_sweep_file_is_read_and_its_mistakes_have_lines) {
  const std::string path = testing::TempDir() + "sweep.txt";
  std::ofstream(path) << "# three\nM=1,N=2\n\nM=3,N=4  # last\n";
  const auto sweep = parse_size_sweep(path, {"M", "N"});
  ASSERT_EQ(sweep.size(), 2u);
  EXPECT_EQ(str(sweep[1]), "M=3,N=4");
  std::ofstream(path) << "M=1,N=2\nM=zero\n";
  const std::string text = refusal([&] { parse_size_sweep(path, {"M", "N"}); });
  EXPECT_NE(text.find("sweep.txt:2:1: error:"), std::string::npos) << text;
}

}  // namespace
}  // namespace exotune::cli
