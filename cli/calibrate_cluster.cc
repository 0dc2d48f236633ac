#include "cli/calibrate_cluster.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <sstream>

#include "cli/interrupt.h"
#include "search/families/member_shard.h"

namespace exotune::cli {
namespace {

CommandQuestion calibration_question(const CalibrateElsewhere& request, const std::string& name,
                                     std::vector<std::string> arguments,
                                     const std::vector<std::string>& options) {
  CommandQuestion question;
  question.name = name;
  question.arguments = std::move(arguments);
  question.arguments.insert(question.arguments.begin(), "calibrate");
  question.target = target_elsewhere(request.target_typed, *request.target);
  question.arguments.push_back("--target=" + question.target);
  question.arguments.insert(question.arguments.end(), options.begin(), options.end());
  question.target_hash = request.target->hash;
  if (request.fresh) question.asked = std::to_string(std::time(nullptr));
  return question;
}

std::vector<Shard> measuring_shards(const CalibrateElsewhere& request) {
  std::vector<Shard> shards;
  std::string figures;
  for (const std::string& part : request.parts)
    if (part != "weights") figures += (figures.empty() ? "" : ",") + part;
  if (!figures.empty())
    shards.push_back(command_shard(
        calibration_question(request, figures, {"--only=" + figures}, request.measure_options)));
  if (std::find(request.parts.begin(), request.parts.end(), "weights") != request.parts.end())
    for (const std::string& kernel : request.kernels)
      shards.push_back(command_shard(calibration_question(
          request, kernel, {"--only=weights", "--kernel=" + kernel, "--no-fit"},
          request.measure_options)));
  return shards;
}

// What is new takes the place of what was fitted before.
void replace_figures(Store& store, const std::string& records, const std::string& name) {
  const std::unique_ptr<Store> fresh = make_memory_store();
  std::istringstream lines(records);
  fresh->import_json_lines(lines, name);
  std::set<std::vector<std::string>> keys;
  for (const auto& row :
       fresh->query("SELECT DISTINCT target, text, microarchitecture, kind FROM figures").rows)
    keys.insert(row);
  for (const auto& key : keys) {
    const FigureKey figure{key[0], key[1], key[2], key[3]};
    store.put_figures(figure, fresh->figures(figure));
  }
}

ExecutorHooks hooks_of(const CalibrateElsewhere& request) {
  ExecutorHooks hooks;
  hooks.say = request.say;
  hooks.interrupted = interrupted;
  return hooks;
}

}  // namespace

std::optional<std::string> calibrate_elsewhere(const CalibrateElsewhere& request,
                                               Executor& executor, Store& store) {
  const std::vector<Shard> measuring = measuring_shards(request);
  ExecutorHooks hooks = hooks_of(request);
  hooks.finished = [&](size_t k, const ShardResult& result) {
    const CommandAnswer answer = read_command_answer(result.output, measuring[k].name);
    families::keep_records(store, answer.records, measuring[k].name);
    if (request.say) request.say(measuring[k].name + " is measured by " + result.host);
  };
  hooks.together = [&](const std::function<void()>& tell) { families::keep_together(store, tell); };
  const ExecutorReport measured = executor.run(measuring, hooks);
  if (!measured.given_up.empty()) refuse_given_up(measured, measuring, "parts");
  if (measured.interrupted) return std::nullopt;

  CommandQuestion question = calibration_question(request, "the fit", {}, request.fit_options);
  for (const Shard& shard : measuring) question.after.push_back(shard_hash(shard));
  const std::vector<Shard> last = {command_shard(question)};
  std::string printed;
  hooks.finished = [&](size_t, const ShardResult& result) {
    CommandAnswer answer = read_command_answer(result.output, last[0].name);
    families::keep_records(store, answer.records, last[0].name);
    replace_figures(store, answer.records, last[0].name);
    printed = std::move(answer.out);
  };
  const ExecutorReport fitted = executor.run(last, hooks);
  if (!fitted.given_up.empty()) refuse_given_up(fitted, last, "parts");
  if (fitted.interrupted) return std::nullopt;
  return printed;
}

}  // namespace exotune::cli
