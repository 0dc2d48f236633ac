// What is written of a result is what is read of it.
#include "cli/record_fields.h"

#include <gtest/gtest.h>

namespace exotune::cli {
namespace {

JsonFields fields(const Json& json) { return {json.str(), "the test"}; }

TEST(RecordFields, peers_are_read_as_written) {
  PeerRow row;
  row.name = "OpenBLAS";
  row.gflops = 100.5;
  row.ratio.median = 1.25;
  row.ratio.low = 1.125;
  row.ratio.high = 1.5;
  row.ratio.rounds = 7;
  const std::vector<PeerRow> back =
      peer_rows(fields({{"peers", json_of(std::vector<PeerRow>{row})}}), "peers");
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(json_of(back), json_of(std::vector<PeerRow>{row}));
  EXPECT_EQ(back[0].name, "OpenBLAS");
}

TEST(RecordFields, statistics_are_read_as_written) {
  TuneStatistics s;
  s.states = 1, s.refused = 2, s.duplicates = 3, s.measured = 4, s.reused = 5, s.neighbours = 6;
  s.prepare_seconds = 0.25, s.search_seconds = 0.5, s.measure_seconds = 1.5,
  s.shootout_seconds = 2.5;
  EXPECT_EQ(json_of(statistics_of(fields(json_of(s)))), json_of(s));
}

TEST(RecordFields, a_roofline_is_read_as_written) {
  Roofline r;
  r.intensity = 2.5, r.memory_bound = true, r.level = "L2", r.level_gbytes = 80, r.percent = 75;
  r.shares = {{"loads", 80}, {"arithmetic", 62.5}};
  const auto back = roofline_in(fields({{"roofline", json_of(r)}}));
  ASSERT_TRUE(back);
  EXPECT_EQ(json_of(*back), json_of(r));
  EXPECT_FALSE(roofline_in(fields({{"seconds", 1}})));
}

TEST(RecordFields, cycles_of_each_unit_are_read_as_written) {
  for (const SampleUnit unit : {SampleUnit::kModelCycles, SampleUnit::kInstret,
                                SampleUnit::kRtlCycles, SampleUnit::kFpgaCycles}) {
    CycleCount c;
    c.unit = unit, c.count = 1000, c.as_written = 4000, c.share_of_peak = 0.5;
    c.written_at = "M=8,N=8";
    const auto back = cycles_in(fields({{"cycles", json_of(c)}}));
    ASSERT_TRUE(back);
    EXPECT_EQ(json_of(*back), json_of(c));
  }
}

TEST(RecordFields, every_reason_to_stop_is_read_as_written) {
  for (const StopReason reason : {StopReason::kComplete, StopReason::kTrials,
                                  StopReason::kTimeBudget, StopReason::kInterrupted})
    EXPECT_EQ(stop_named(name_of(reason)), reason);
}

}  // namespace
}  // namespace exotune::cli
