#include "cli/result_files.h"

#include "cli/quantities.h"
#include "cli/record_fields.h"
#include "cli/target_code.h"
#include "cli/text_file.h"
#include "cli/workspace.h"
#include "core/base/json.h"
#include "core/library/ahead.h"
#include "runners/toolchain.h"
#include "search/problem.h"

namespace exotune::cli {
namespace {

std::string sizes_text(const TuneRequest& request) {
  return request.sizes.empty() ? "any size" : str(request.sizes);
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
  Json json;
  json["kernel"] = where.kernel;
  json["kernel_hash"] = kernel_hash(*request.proc);
  json["proc"] = request.proc->name;
  json["sizes"] = request.sizes.empty() ? Json::object() : Json(request.sizes);
  json["measured_at"] = sizes_of_speed(request, result);
  if (!result.searched_at.empty()) json["searched_at"] = result.searched_at;
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
  if (result.cycles) json["cycles"] = json_of(*result.cycles);
  json["gflops"] = result.gflops;
  json["gbytes_per_second"] = result.gbytes;
  json["peak_gflops"] = result.peak_gflops;
  json["seed"] = request.seed;
  json["operations"] = request.kernel.flops.text();
  json["bytes"] = request.kernel.bytes.text();
  if (where.roofline) json["roofline"] = json_of(*where.roofline);
  json["peers"] = json_of(result.peers);
  json["rivals"] = json_of(result.rivals);
  json["views"] = Json::List();
  for (const ViewOutcome& view : result.views)
    json["views"].add({{"view", view.text},
                       {"proof", view.proof},
                       {"gflops", view.gflops},
                       {"trouble", view.trouble},
                       {"chosen", view.chosen}});
  json["search"] = json_of(result.statistics);
  json["stopped"] = name_of(result.stop);
  return json.str(2) + "\n";
}

std::vector<std::filesystem::path> write_result(const TuneRequest& request,
                                                const TuneResult& result,
                                                const ResultFiles& where) {
  CodegenOptions code = code_for({request.target}, {result.winner}, true);
  code.stem = where.stem;
  code.comment = code_comment(request, result);
  code.build = build_command(code.build, result.compilation, toolchain_of(*request.target).further);
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
