#include "cli/result_files.h"

#include <nlohmann/json.hpp>

#include "cli/quantities.h"
#include "cli/target_code.h"
#include "cli/text_file.h"
#include "cli/workspace.h"
#include "core/library/ahead.h"
#include "search/problem.h"

namespace exotune::cli {
namespace {

std::string sizes_text(const TuneRequest& request) {
  return request.sizes.empty() ? "any size" : str(request.sizes);
}

nlohmann::ordered_json statistics_json(const TuneStatistics& statistics) {
  nlohmann::ordered_json json;
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
  json["search_seconds"] = statistics.search_seconds;
  json["measure_seconds"] = statistics.measure_seconds;
  json["shootout_seconds"] = statistics.shootout_seconds;
  return json;
}

}  // namespace

std::string code_comment(const TuneRequest& request, const TuneResult& result) {
  return request.kernel.name + " (" + sizes_text(request) + ") for " + request.target->name +
         (request.threads > 1 ? " and " + std::to_string(request.threads) + " threads of OpenMP"
                              : "") +
         ", schedule " + result.candidate_id.substr(0, 12) + ", " + proof_level_name(result.proof) +
         ". Made by exo-tune; change the schedule, not this file.";
}

std::string result_json(const TuneRequest& request, const TuneResult& result,
                        const ResultFiles& where) {
  nlohmann::ordered_json json;
  json["kernel"] = where.kernel;
  json["kernel_hash"] = kernel_hash(*request.proc);
  json["proc"] = request.proc->name;
  json["sizes"] = request.sizes.empty() ? nlohmann::json::object() : nlohmann::json(request.sizes);
  json["measured_at"] = request.sizes.empty() ? request.representative : request.sizes;
  json["target"] = request.target->name;
  // A target of the user's own is a folder; its name alone does not find it again.
  if (where.target.find('/') != std::string::npos)
    json["target_folder"] = std::filesystem::absolute(where.target).lexically_normal().string();
  json["threads"] = request.threads;
  json["microarchitecture"] = request.machine.microarch;
  json["compiler"] = result.key.compiler;
  json["script"] = where.stem + ".sched";
  json["candidate"] = result.candidate_id;
  json["proof"] = proof_level_name(result.proof);
  json["seconds"] = result.seconds;
  if (result.cycles) {
    json["cycles"] = {{"unit", unit_name(result.cycles->unit)},
                      {"count", result.cycles->count},
                      {"as_written", result.cycles->as_written},
                      {"share_of_peak", result.cycles->share_of_peak}};
    for (const auto& [what, count] : result.cycles->spent) json["cycles"]["spent"][what] = count;
  }
  json["gflops"] = result.gflops;
  json["gbytes_per_second"] = result.gbytes;
  json["peak_gflops"] = result.peak_gflops;
  json["seed"] = request.seed;
  json["operations"] = request.kernel.flops.text();
  json["bytes"] = request.kernel.bytes.text();
  if (where.roofline)
    json["roofline"] = {{"operations_per_byte", where.roofline->intensity},
                        {"bound", where.roofline->memory_bound ? "memory" : "arithmetic"},
                        {"level", where.roofline->level},
                        {"level_gbytes_per_second", where.roofline->level_gbytes},
                        {"percent", where.roofline->percent}};
  json["peers"] = nlohmann::ordered_json::array();
  for (const PeerRow& peer : result.peers)
    json["peers"].push_back({{"name", peer.name},
                             {"gflops", peer.gflops},
                             {"speedup", peer.ratio.median},
                             {"low", peer.ratio.low},
                             {"high", peer.ratio.high},
                             {"rounds", peer.ratio.rounds}});
  json["rivals"] = nlohmann::ordered_json::array();
  for (const PeerRow& rival : result.rivals)
    json["rivals"].push_back({{"name", rival.name},
                              {"gflops", rival.gflops},
                              {"speedup", rival.ratio.median},
                              {"low", rival.ratio.low},
                              {"high", rival.ratio.high},
                              {"rounds", rival.ratio.rounds}});
  json["views"] = nlohmann::ordered_json::array();
  for (const ViewOutcome& view : result.views)
    json["views"].push_back({{"view", view.text},
                             {"proof", view.proof},
                             {"gflops", view.gflops},
                             {"trouble", view.trouble},
                             {"chosen", view.chosen}});
  json["search"] = statistics_json(result.statistics);
  json["stopped"] = name_of(result.stop);
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<std::filesystem::path> write_result(const TuneRequest& request,
                                                const TuneResult& result,
                                                const ResultFiles& where) {
  CodegenOptions code = code_for({request.target}, {result.winner}, true);
  code.stem = where.stem;
  code.comment = code_comment(request, result);
  code.build = build_command(code.build, result.compilation);
  CFile file = generate_kernel(result.winner, code);
  if (result.compilation.any_order) file.c = with_sums_in_any_order(std::move(file.c));
  const std::vector<std::pair<std::string, std::string>> contents = {
      {".c", file.c},
      {".h", file.h},
      {".sched", result.script},
      {".json", result_json(request, result, where)}};
  std::vector<std::filesystem::path> paths;
  for (const auto& [suffix, text] : contents) {
    paths.push_back(where.folder / (where.stem + suffix));
    write_text_file(paths.back(), text);
  }
  return paths;
}

}  // namespace exotune::cli
