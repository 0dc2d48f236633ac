#include "cli/record_fields.h"

#include <algorithm>

namespace exotune::cli {
// Parts of a record written and read side by side, so that a field cannot be written in one place
// and forgotten in the other; a test makes every field go there and back.

Json json_of(const std::vector<PeerRow>& rows) {
  Json json = Json::List();
  for (const PeerRow& row : rows)
    json.add({{"name", row.name},
              {"gflops", row.gflops},
              {"speedup", row.ratio.median},
              {"low", row.ratio.low},
              {"high", row.ratio.high},
              {"rounds", row.ratio.rounds}});
  return json;
}

std::vector<PeerRow> peer_rows(const JsonFields& record, const char* key) {
  std::vector<PeerRow> rows;
  for (const JsonFields& each : record.objects(key)) {
    PeerRow row;
    row.name = each.text("name");
    row.gflops = each.number("gflops");
    row.ratio.median = each.number("speedup");
    row.ratio.low = each.number("low");
    row.ratio.high = each.number("high");
    row.ratio.next_low = row.ratio.low;
    row.ratio.next_high = row.ratio.high;
    row.ratio.rounds = static_cast<int>(std::clamp<int64_t>(each.integer("rounds"), 0, 1000000));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json json_of(const TuneStatistics& statistics) {
  Json json;
  json["schedules"] = statistics.states;
  json["refused_steps"] = statistics.refused;
  json["duplicates"] = statistics.duplicates;
  json["measured"] = statistics.measured;
  json["reused"] = statistics.reused;
  json["refusals"] = statistics.refusals;
  json["causes"] = statistics.causes;
  if (statistics.dp) {
    const DpPlans& dp = *statistics.dp;
    json["plans"] = {{"outcome", name_of(dp.outcome)},
                     {"found", dp.plans.size()},
                     {"refused", statistics.plans_refused},
                     {"specs_solved", dp.solved},
                     {"specs_known", dp.known},
                     {"seconds", dp.seconds}};
  }
  json["neighbours"] = statistics.neighbours;
  json["prepare_seconds"] = statistics.prepare_seconds;
  json["search_seconds"] = statistics.search_seconds;
  json["measure_seconds"] = statistics.measure_seconds;
  json["shootout_seconds"] = statistics.shootout_seconds;
  return json;
}

TuneStatistics statistics_of(const JsonFields& search) {
  const auto count = [&](const char* key) {
    return static_cast<int>(std::clamp<int64_t>(search.integer(key), 0, INT32_MAX));
  };
  TuneStatistics statistics;
  statistics.states = count("schedules");
  statistics.refused = count("refused_steps");
  statistics.duplicates = count("duplicates");
  statistics.measured = count("measured");
  statistics.reused = count("reused");
  statistics.neighbours = count("neighbours");
  statistics.prepare_seconds = search.number("prepare_seconds");
  statistics.search_seconds = search.number("search_seconds");
  statistics.measure_seconds = search.number("measure_seconds");
  statistics.shootout_seconds = search.number("shootout_seconds");
  return statistics;
}

namespace {

Json json_of(const std::vector<ResourceShare>& shares) {
  Json json = Json::List();
  for (const ResourceShare& s : shares) json.add({{"name", s.name}, {"percent", s.percent}});
  return json;
}

}  // namespace

Json json_of(const Roofline& roofline) {
  return {{"operations_per_byte", roofline.intensity},
          {"bound", roofline.memory_bound ? "memory" : "arithmetic"},
          {"level", roofline.level},
          {"level_gbytes_per_second", roofline.level_gbytes},
          {"percent", roofline.percent},
          {"parts", json_of(roofline.shares)}};
}

std::optional<Roofline> roofline_in(const JsonFields& record) {
  if (!record.has("roofline")) return std::nullopt;
  const JsonFields fields = record.object("roofline");
  Roofline roofline;
  roofline.intensity = fields.number("operations_per_byte");
  roofline.memory_bound = fields.text("bound") == "memory";
  roofline.level = fields.text("level");
  roofline.level_gbytes = fields.number("level_gbytes_per_second");
  roofline.percent = fields.number("percent");
  for (const JsonFields& part : fields.objects("parts"))
    roofline.shares.push_back({part.text("name"), part.number("percent")});
  return roofline;
}

Json json_of(const CycleCount& cycles) {
  Json json = {{"unit", unit_name(cycles.unit)},
               {"count", cycles.count},
               {"as_written", cycles.as_written},
               {"share_of_peak", cycles.share_of_peak}};
  if (!cycles.written_at.empty()) json["as_written_reckoned_from"] = cycles.written_at;
  for (const auto& [what, count] : cycles.spent) json["spent"][what] = count;
  return json;
}

std::optional<CycleCount> cycles_in(const JsonFields& record) {
  if (!record.has("cycles")) return std::nullopt;
  const JsonFields fields = record.object("cycles");
  CycleCount cycles;
  for (const SampleUnit unit : {SampleUnit::kModelCycles, SampleUnit::kInstret,
                                SampleUnit::kRtlCycles, SampleUnit::kFpgaCycles})
    if (fields.text("unit") == unit_name(unit)) cycles.unit = unit;
  cycles.count = fields.number("count");
  cycles.as_written = fields.number("as_written");
  cycles.share_of_peak = fields.number("share_of_peak");
  if (fields.has("as_written_reckoned_from"))
    cycles.written_at = fields.text("as_written_reckoned_from");
  return cycles;
}

StopReason stop_named(const std::string& name) {
  for (const StopReason reason :
       {StopReason::kTrials, StopReason::kTimeBudget, StopReason::kInterrupted})
    if (name == name_of(reason)) return reason;
  return StopReason::kComplete;
}

}  // namespace exotune::cli
