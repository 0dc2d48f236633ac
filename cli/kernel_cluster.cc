#include "cli/kernel_cluster.h"

#include <algorithm>
#include <ctime>

#include "cli/interrupt.h"
#include "cli/record_fields.h"
#include "cli/replay.h"
#include "cli/shard_work.h"
#include "cli/text_file.h"
#include "core/base/json_fields.h"
#include "core/cursor/provenance.h"
#include "search/compilation.h"
#include "search/families/member_shard.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

// The schedule is of this very kernel, and for all inputs at the sizes that were asked about.
void require_same_meaning(const Replayed& replayed, const KernelInput& input, const KernelJob& job,
                          const JsonFields& record) {
  const std::vector<TraceStep> trace = trace_of(replayed.proc);
  const ProcPtr& root = trace.empty() ? replayed.proc : trace.front().before;
  if (root != input.proc) record.refuse("its schedule begins with another procedure");
  for (const TraceStep& step : trace)
    if ((step.how->flags.specializes && step.how->op != "partial_eval" &&
         step.how->op != "join_dims") ||
        !step.how->flags.modulo_config.empty())
      record.refuse("its schedule holds for some inputs only");
  if (replayed.fixed != job.request.sizes) record.refuse("its schedule is for other sizes");
}

std::string file_of(const CommandAnswer& answer, const std::string& suffix) {
  const auto at = answer.files.find(kAnswerStem + suffix);
  return at == answer.files.end() ? "" : at->second;
}

CommandQuestion kernel_question(const ElsewhereRequest& request, const KernelJob& job) {
  CommandQuestion question;
  question.name = job.name + " " + str(job.request.representative);
  question.arguments = {"kernel"};
  std::string kernel = job.name;
  if (kernel.find(".exo") != std::string::npos) {
    const FileAndProc named = split_file_and_proc(kernel);
    const std::string plain = fs::path(named.file).filename().string();
    question.files[plain] = read_text_file(named.file);
    kernel = plain + (named.proc.empty() ? "" : ":" + named.proc);
  }
  question.arguments.push_back(kernel);
  if (job.sized) question.arguments.push_back("--size=" + str(job.request.representative));
  question.target = target_elsewhere(request.target, *job.request.target);
  question.target_hash = job.request.target->hash;
  question.arguments.push_back("--target=" + question.target);
  question.arguments.insert(question.arguments.end(), request.options.begin(),
                            request.options.end());
  question.kernel_hash = kernel_hash(*job.request.proc);
  if (request.fresh) question.asked = std::to_string(std::time(nullptr));
  return question;
}

}  // namespace

KernelAnswer read_kernel_answer(const CommandAnswer& answer, const KernelJob& job,
                                const std::string& target, Workspace& workspace) {
  KernelAnswer out;
  const std::string text = file_of(answer, ".json");
  if (text.empty()) return out;  // no valid candidate
  const JsonFields record(text, "the answer for " + job.name);
  TuneResult& result = out.result;
  result.script = file_of(answer, ".sched");
  const KernelInput input = workspace.kernel(job.name);
  Replayed replayed;
  try {
    replayed = replay(workspace, input, result.script, job.name + ".sched", target);
  } catch (const Error& error) {
    record.refuse("its schedule is refused: " + error.diagnostic().message.str());
  }
  require_same_meaning(replayed, input, job, record);
  result.winner = replayed.proc;
  result.as_written = replayed.steps == 0;
  result.compilation = compilation_asked(result.script);
  result.proof = replayed.reassociates || result.compilation.any_order
                     ? ProofLevel::kProvedModuloReassociation
                     : ProofLevel::kProved;
  result.candidate_id = record.text("candidate");
  if (!is_hash(result.candidate_id)) record.refuse("'candidate' is none");
  result.key.kernel_hash = kernel_hash(*job.request.proc);
  result.key.target = job.request.target->name;
  result.key.compiler = record.text("compiler");
  result.seconds = record.number("seconds");
  result.gflops = record.number("gflops");
  result.gbytes = record.number("gbytes_per_second");
  result.peak_gflops = record.number("peak_gflops");
  const auto sizes_at = [&](const char* field) {
    SizeBinding sizes;
    for (const auto& [name, value] : job.request.sizes)
      sizes[name] = record.object(field).integer(name.c_str());
    return sizes;
  };
  if (record.has("searched_at")) {
    result.searched_at = sizes_at("searched_at");
    result.timed_there = sizes_at("measured_at") == result.searched_at;
  }
  result.peers = peer_rows(record, "peers");
  result.rivals = peer_rows(record, "rivals");
  result.statistics = statistics_of(record.object("search"));
  result.stop = stop_named(record.text("stopped"));
  result.cycles = cycles_in(record);
  out.roofline = roofline_in(record);
  out.microarch = record.text("microarchitecture");
  return out;
}

std::vector<std::optional<KernelAnswer>> tune_elsewhere(const ElsewhereRequest& request,
                                                        const ExecutorOption& executor,
                                                        const std::string& database, Store& store,
                                                        Workspace& workspace) {
  std::vector<Shard> shards;
  for (const KernelJob& job : request.jobs)
    shards.push_back(command_shard(kernel_question(request, job)));
  std::vector<std::optional<KernelAnswer>> answers(request.jobs.size());
  ExecutorHooks hooks;
  hooks.say = request.say;
  hooks.interrupted = interrupted;
  hooks.finished = [&](size_t k, const ShardResult& result) {
    const CommandAnswer answer = read_command_answer(result.output, shards[k].name);
    KernelAnswer read = read_kernel_answer(answer, request.jobs[k], request.target, workspace);
    families::keep_records(store, answer.records, shards[k].name);
    answers[k] = std::move(read);
    if (request.say) request.say(shards[k].name + " is answered by " + result.host);
  };
  hooks.together = [&](const std::function<void()>& tell) { families::keep_together(store, tell); };
  const Target& target = *request.jobs.front().request.target;
  const ExecutorReport report =
      executor
          .executor(fingerprint(workspace.machine(), target).hash, database, shard_work(workspace))
          ->run(shards, hooks);
  if (!report.given_up.empty()) refuse_given_up(report, shards, "kernels");
  return answers;
}

}  // namespace exotune::cli
