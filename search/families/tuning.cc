#include "search/families/tuning.h"

#include <algorithm>
#include <cmath>

#include "core/base/deadline.h"
#include "core/base/parallel.h"
#include "core/cursor/provenance.h"
#include "core/interp/interp.h"
#include "search/families/comparison.h"
#include "search/problem.h"

namespace exotune::families {
namespace {

// Times faster that a schedule must be for the library to carry one more version of the kernel.
constexpr double kWorthAVersion = 1.03;

constexpr size_t kUsual = 0;  // the place of the usual schedule among a bucket's scripts

// The version of the usual schedule for these sizes: the one whose condition the bucket has, else
// the last.
std::string usual_for(const Tunable& tunable, const Bucket& bucket) {
  const std::vector<Version> versions = parse_versions(tunable.usual, tunable.name);
  for (const Version& version : versions)
    if (version.when == bucket.when) return version.script;
  return versions.back().script;
}

// One run as the database has it, but for its key.
TrialRecord record_of(const Contender& contender, const ContenderResult& result,
                      const std::string& script, ProofLevel proof) {
  TrialRecord record;
  record.candidate_id = contender.candidate->id;
  record.status = status_name(result.status);
  record.cause = result.cause;
  record.script = script;
  for (const double sample : result.samples)
    if (std::isfinite(sample)) record.samples.push_back(sample);
  record.median = result.median;
  record.proof = proof;
  return record;
}

// What takes part: each schedule that can be replayed and emitted, with the number of its script.
struct Field {
  std::vector<size_t> scripts;
  std::vector<ProofLevel> proofs;
  std::vector<std::vector<Contender>> contenders;  // at each of the bucket's sizes
};

// One of a bucket's scripts, replayed: empty when it was refused.
struct Replayed {
  ProofLevel proof = ProofLevel::kProved;
  std::vector<Contender> everywhere;  // at each of the bucket's sizes
};

// Proofs take a good part of tuning, and scripts know nothing of one another: side by side.
Field field_of(const Tunable& tunable, const std::vector<std::string>& scripts,
               const Prover& prover, const std::vector<TuningProblem>& problems,
               const Target& target, BucketResult& result) {
  std::vector<Replayed> replayed(scripts.size());
  in_parallel(scripts.size(), [&](size_t k) {
    try {
      const ProcPtr scheduled = prover.replay(result.kernel, scripts[k], tunable.name);
      Replayed made;
      made.proof =
          reassociates(scheduled) ? ProofLevel::kProvedModuloReassociation : ProofLevel::kProved;
      for (const TuningProblem& problem : problems)
        made.everywhere.push_back(
            contender_of("#" + std::to_string(k), make_candidate(scheduled, target, problem)));
      replayed[k] = std::move(made);
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::kInternal) throw;
    }
  });
  Field field;
  field.contenders.resize(problems.size());
  result.tried += scripts.size();
  for (size_t k = 0; k < scripts.size(); ++k) {
    if (replayed[k].everywhere.empty()) {
      ++result.refused;
      continue;
    }
    for (size_t at = 0; at < problems.size(); ++at)
      field.contenders[at].push_back(std::move(replayed[k].everywhere[at]));
    field.scripts.push_back(k);
    field.proofs.push_back(replayed[k].proof);
  }
  return field;
}

// The rounds of an earlier run, when it had all that take part now.
std::optional<ShootoutResult> remembered(const std::vector<Contender>& contenders,
                                         const BucketResult& bucket, const SizeBinding& sizes,
                                         const BucketMemory& memory) {
  ShootoutResult shot;
  if (!memory.known) return std::nullopt;
  for (const Contender& contender : contenders) {
    const std::optional<TrialRecord> trial = memory.known(bucket, sizes, contender.candidate->id);
    if (!trial) return std::nullopt;
    ContenderResult result;
    result.name = contender.name;
    const bool ran = trial->status == status_name(TrialStatus::kOk);
    result.status = ran ? TrialStatus::kOk : TrialStatus::kMismatch;
    result.cause = trial->cause;
    result.samples = {trial->median};  // records need not have the rounds of one another
    result.median = trial->median;
    shot.contenders.push_back(std::move(result));
  }
  return shot;
}

// Of many the fastest is faster by chance, too, and a version more is code more: what ships for all
// of these sizes, what the sizes below have already (`before`), or the usual schedule is taken, in
// this order, when it is as good as the fastest.
size_t worth_keeping(const Field& field, const std::vector<std::string>& scripts,
                     const std::string& kept, const std::string& before, const Comparison& times,
                     size_t fastest) {
  for (const std::string& preferred : {kept, before, scripts[kUsual]})
    for (size_t k = 0; k < field.scripts.size(); ++k)
      if (scripts[field.scripts[k]] == preferred && times.ran(k) &&
          times.ratio(fastest, k) < kWorthAVersion)
        return k;
  return fastest;
}

// What ships for each of the bucket's sizes.
std::vector<std::string> shipped_for(const Tunable& tunable, const Bucket& bucket) {
  std::vector<std::string> scripts;
  if (tunable.kept.empty()) return scripts;
  const std::vector<Version> versions = parse_versions(tunable.kept, tunable.name);
  for (const SizeBinding& sizes : all_sizes_at(bucket.at))
    if (const Version* version = version_for(versions, sizes)) scripts.push_back(version->script);
  return scripts;
}

// The one that serves all of them; "" where several do.
std::string kept_for(const Tunable& tunable, const Bucket& bucket) {
  const std::vector<std::string> scripts = shipped_for(tunable, bucket);
  const bool one = !scripts.empty() && std::all_of(scripts.begin(), scripts.end(),
                                                   [&](auto& s) { return s == scripts.front(); });
  return one ? scripts.front() : "";
}

// A few hundred microseconds a batch: the sizes of a bucket are small, and there are many buckets.
// One set of arguments: programs call a library again on what it has just written. In six places,
// which move a call on short vectors by up to 1.4; compiling takes longer than all of them.
ShootoutOptions bucket_rounds() {
  ShootoutOptions options;
  options.rounds = 18;
  options.blocks = 6;
  options.batch_seconds = 3e-4;
  options.one_set = true;
  return options;
}

// Runs the field at one of the bucket's sizes, or takes what is remembered of that.
ShootoutResult measure_at(size_t at, const TuningProblem& problem, const Field& field,
                          const std::vector<std::string>& scripts, Arena& arena,
                          const BucketMemory& memory, BucketResult& result) {
  const std::vector<Contender>& contenders = field.contenders[at];
  const std::optional<ShootoutResult> earlier =
      remembered(contenders, result, problem.sizes, memory);
  ShootoutResult shot =
      earlier ? *earlier : arena.compete(contenders, problem.args, problem.test, bucket_rounds());
  BucketPoint point;
  point.sizes = problem.sizes;
  for (size_t k = 0; k < contenders.size(); ++k)
    point.trials.push_back(
        record_of(contenders[k], shot.contenders[k], scripts[field.scripts[k]], field.proofs[k]));
  result.points.push_back(std::move(point));
  return shot;
}

TuningProblem problem_at(const Tunable& tunable, const Bucket& bucket, const ProcPtr& kernel,
                         const SizeBinding& sizes) {
  TuningProblem problem = make_problem(kernel, sizes);
  for (size_t a = 0; a < problem.args.size(); ++a)
    problem.args[a].in_lines = bucket.in_lines && problem.names[a] == tunable.in_lines;
  return problem;
}

// The usual schedule, what is tried beside it and what ships, each once.
std::vector<std::string> scripts_of(const Tunable& tunable, const Bucket& bucket) {
  std::vector<std::string> scripts = {usual_for(tunable, bucket)};
  const auto add = [&](const std::vector<std::string>& tried) {
    for (const std::string& script : tried)
      if (std::find(scripts.begin(), scripts.end(), script) == scripts.end())
        scripts.push_back(script);
  };
  add(tunable.scripts);
  if (bucket.far) add(tunable.far_scripts);
  add(shipped_for(tunable, bucket));
  return scripts;
}

// `before`: the script of the sizes below.
BucketResult tune_bucket(const Tunable& tunable, const Bucket& bucket, const std::string& before,
                         const TargetPtr& target, Arena& arena, const BucketMemory& memory) {
  BucketResult result;
  result.at = bucket.at;
  if (bucket.in_lines) result.in_lines = tunable.in_lines;
  const std::vector<std::string> scripts = scripts_of(tunable, bucket);
  const Prover prover(target);
  result.kernel = prover.read(tunable.code, tunable.c_name, bucket.when);
  std::vector<TuningProblem> problems;
  for (const SizeBinding& sizes : all_sizes_at(bucket.at))
    problems.push_back(problem_at(tunable, bucket, result.kernel, sizes));
  const Field field = field_of(tunable, scripts, prover, problems, *target, result);
  Comparison times(field.scripts.size());
  for (size_t at = 0; at < problems.size(); ++at) {
    times.add(measure_at(at, problems[at], field, scripts, arena, memory, result));
    leave_if_over();  // what was cut short is no result
  }
  for (size_t k = 0; k < field.scripts.size(); ++k) result.failed += times.ran(k) ? 0 : 1;
  const std::optional<size_t> fastest = times.fastest();
  if (!fastest)
    throw Error(Diagnostic{{}, "no schedule of " + tunable.name + " runs at " + bucket.at, {}, {}},
                ExitCode::kNoCandidate);
  const size_t winner =
      worth_keeping(field, scripts, kept_for(tunable, bucket), before, times, *fastest);
  result.winner = scripts[field.scripts[winner]];
  for (BucketPoint& point : result.points) point.winner_id = point.trials[winner].candidate_id;
  // The usual one may want larger sizes, and be refused.
  if (field.scripts.front() == kUsual && times.ran(0)) result.gain = times.ratio(winner, 0);
  return result;
}

// Does the kernel's condition hold at these sizes? Conditions of buckets need not be nested.
bool takes(const ProcPtr& kernel, const SizeBinding& sizes) {
  try {
    make_problem(kernel, sizes);
    return true;
  } catch (const InterpError&) {
    return false;
  }
}

// Is the last version as fast under the wider condition `when`, at the sizes that it was chosen
// for? With fewer sizes known to be possible the same steps leave more code.
bool serves_both(const Tunable& tunable, const TunedMember& tuned, const std::string& when,
                 const TargetPtr& target, Arena& arena) {
  const Version& last = tuned.versions.back();
  const Prover prover(target);
  const ProcPtr own = prover.read(tunable.code, tunable.c_name, last.when);
  const ProcPtr wider = prover.read(tunable.code, tunable.c_name, when);
  const ProcPtr scheduled[] = {prover.replay(own, last.script, tunable.name),
                               prover.replay(wider, last.script, tunable.name)};
  Comparison times(2);
  for (size_t k = tuned.buckets.size(); k-- > 0;) {
    for (const SizeBinding& at : all_sizes_at(tuned.buckets[k].at)) {
      if (!takes(wider, at)) return false;
      const TuningProblem problem = problem_at(tunable, tunable.buckets[k], own, at);
      std::vector<Contender> both;
      for (const ProcPtr& proc : scheduled)
        both.push_back(contender_of("#" + std::to_string(both.size()),
                                    make_candidate(proc, *target, problem)));
      times.add(arena.compete(both, problem.args, problem.test, bucket_rounds()));
      leave_if_over();
    }
    if (!tuned.buckets[k].joins) break;  // where the version begins
  }
  return times.ran(1) && times.ratio(0, 1) < kWorthAVersion;
}

}  // namespace

std::vector<Version> versions_of(const Tunable& tunable, const std::vector<BucketResult>& buckets) {
  std::vector<Version> versions;
  for (size_t k = 0; k < buckets.size(); ++k) {
    const std::string& script = buckets[k].winner;
    const std::string& when = tunable.buckets[k].when;
    if (script.empty()) continue;
    if (!versions.empty() && buckets[k].joins && versions.back().script == script)
      versions.back().when = when;
    else
      versions.push_back({when, script});
  }
  return versions;
}

TunedMember tune_member(const Tunable& tunable, const TargetPtr& target, Arena& arena,
                        const BucketMemory& memory) {
  TunedMember tuned;
  for (const Bucket& bucket : tunable.buckets) {
    const std::string before = tuned.versions.empty() ? "" : tuned.versions.back().script;
    BucketResult result = tune_bucket(tunable, bucket, before, target, arena, memory);
    if (!before.empty() && result.winner == before)
      result.joins = serves_both(tunable, tuned, bucket.when, target, arena);
    tuned.buckets.push_back(std::move(result));
    if (memory.measured) memory.measured(tuned.buckets.back());
    tuned.versions = versions_of(tunable, tuned.buckets);
  }
  return tuned;
}

}  // namespace exotune::families
