#include "search/families/tuning.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "core/base/hashing.h"
#include "core/cursor/provenance.h"
#include "search/problem.h"

namespace exotune::families {
namespace {

// Times faster that a schedule must be for the library to carry one more version of the kernel.
constexpr double kWorthAVersion = 1.03;

// Every combination of the values whose places the text mentions.
std::vector<std::string> spelled_out(const std::string& text, const KernelTemplate& kernel,
                                     const Substitution& places) {
  std::vector<Substitution> all = {places};
  for (const auto& [name, values] : kernel.values) {
    if (text.find("${" + name + "}") == std::string::npos) continue;
    std::vector<Substitution> next;
    for (const Substitution& so_far : all)
      for (const std::string& value : values) next.push_back(with(so_far, {{name, value}}));
    all = std::move(next);
  }
  std::vector<std::string> scripts;
  for (const Substitution& each : all) scripts.push_back(expand(text, each, kernel.where));
  return scripts;
}

SizeBinding sizes_at(const std::string& text) {
  SizeBinding sizes;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    int64_t value = 0;
    const char* const end = word.data() + word.size();
    const char* const begin = equals < word.size() ? word.data() + equals + 1 : end;
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || rest != end || value < 1)
      throw InputError({}, "'" + word + "' is no size of a bucket", "at = \"M=64 N=64\"");
    sizes[word.substr(0, equals)] = value;
  }
  return sizes;
}

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

// What takes part: each schedule that can be replayed, with the number of its script.
struct Field {
  std::vector<Contender> contenders;
  std::vector<size_t> scripts;
  std::vector<ProofLevel> proofs;
};

Field field_of(const Tunable& tunable, const std::vector<std::string>& scripts,
               const Prover& prover, const TuningProblem& problem, const Target& target,
               BucketResult& result) {
  Field field;
  for (size_t k = 0; k < scripts.size(); ++k) {
    ++result.tried;
    try {
      const ProcPtr scheduled = prover.replay(problem.kernel, scripts[k], tunable.name);
      field.contenders.push_back(
          contender_of("#" + std::to_string(k), make_candidate(scheduled, target, problem)));
      field.scripts.push_back(k);
      field.proofs.push_back(reassociates(scheduled) ? ProofLevel::kProvedModuloReassociation
                                                     : ProofLevel::kProved);
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::kInternal) throw;
      ++result.refused;
    }
  }
  return field;
}

// The rounds of an earlier run, when it had all that take part now.
std::optional<ShootoutResult> remembered(const Field& field, const BucketResult& bucket,
                                         const BucketMemory& memory) {
  ShootoutResult shot;
  if (!memory.known) return std::nullopt;
  for (const Contender& contender : field.contenders) {
    const std::optional<TrialRecord> trial = memory.known(bucket, contender.candidate->id);
    if (!trial) return std::nullopt;
    ContenderResult result;
    result.name = contender.name;
    const bool ran = trial->status == status_name(TrialStatus::kOk);
    result.status = ran ? TrialStatus::kOk : TrialStatus::kMismatch;
    result.cause = trial->cause;
    result.samples = {trial->median};  // records need not have the rounds of one another
    result.median = trial->median;
    const auto place = static_cast<int>(shot.contenders.size());
    if (result.status == TrialStatus::kOk &&
        (shot.winner < 0 ||
         result.median < shot.contenders[static_cast<size_t>(shot.winner)].median))
      shot.winner = place;
    shot.contenders.push_back(std::move(result));
  }
  return shot;
}

// A version more is code more: what other sizes have already (`before`), or the usual, is taken
// when it is as good as the fastest.
size_t worth_keeping(const Field& field, const std::vector<std::string>& scripts,
                     const std::string& before, const ShootoutResult& shot) {
  const auto fastest = static_cast<size_t>(shot.winner);
  size_t winner = fastest;
  for (size_t k = 0; k < field.scripts.size(); ++k)
    if ((k == 0 || scripts[field.scripts[k]] == before) &&
        shot.contenders[k].status == TrialStatus::kOk &&
        shot.ratio(fastest, k).median < kWorthAVersion) {
      winner = k;
      if (scripts[field.scripts[k]] == before) break;
    }
  return winner;
}

// A few hundred microseconds a batch: the sizes of a bucket are small, and there are many buckets.
// One set of arguments: programs call a library again on what it has just written.
ShootoutOptions bucket_rounds() {
  ShootoutOptions options;
  options.rounds = 9;
  options.blocks = 3;
  options.batch_seconds = 3e-4;
  options.one_set = true;
  return options;
}

// `before`: the script of the sizes below.
BucketResult tune_bucket(const Tunable& tunable, const Bucket& bucket, const std::string& before,
                         const TargetPtr& target, Arena& arena, const BucketMemory& memory) {
  BucketResult result;
  result.at = bucket.at;
  std::vector<std::string> scripts = {usual_for(tunable, bucket)};
  for (const std::string& script : tunable.scripts)
    if (std::find(scripts.begin(), scripts.end(), script) == scripts.end())
      scripts.push_back(script);
  const Prover prover(target);
  const ProcPtr kernel = prover.read(tunable.code, tunable.c_name, bucket.when);
  result.kernel = kernel;
  result.sizes = sizes_at(bucket.at);
  const TuningProblem problem = make_problem(kernel, result.sizes);
  const Field field = field_of(tunable, scripts, prover, problem, *target, result);
  const std::optional<ShootoutResult> earlier = remembered(field, result, memory);
  const ShootoutResult shot =
      earlier ? *earlier
              : arena.compete(field.contenders, problem.args, problem.test, bucket_rounds());
  for (size_t k = 0; k < field.scripts.size(); ++k) {
    if (shot.contenders[k].status != TrialStatus::kOk) ++result.failed;
    result.trials.push_back(record_of(field.contenders[k], shot.contenders[k],
                                      scripts[field.scripts[k]], field.proofs[k]));
  }
  if (shot.winner < 0)
    throw Error(Diagnostic{{}, "no schedule of " + tunable.name + " runs at " + bucket.at, {}, {}},
                ExitCode::kNoCandidate);
  if (field.scripts.front() != 0) return result;  // the usual schedule wants larger sizes
  const size_t winner = worth_keeping(field, scripts, before, shot);
  result.winner = scripts[field.scripts[winner]];
  result.winner_id = result.trials[winner].candidate_id;
  if (shot.contenders.front().status == TrialStatus::kOk)
    result.gain = shot.ratio(winner, 0).median;
  return result;
}

}  // namespace

std::string Tunable::key() const {
  std::string text = code + usual;
  for (const std::string& script : scripts) text += "\n--\n" + script;
  for (const Bucket& bucket : buckets) text += "\n" + bucket.when + " at " + bucket.at;
  return content_hash(text);
}

std::vector<Tunable> tunables_of(const Family& family, const Target& target) {
  std::vector<Tunable> out;
  const Substitution of_target = places_of(family, target);
  for (const KernelTemplate& kernel : family.kernels) {
    if (kernel.tries.empty() || kernel.buckets.empty()) continue;
    for (const Substitution& fixed : combinations(family, kernel.axes)) {
      const Substitution places = with(of_target, fixed);
      Tunable tunable;
      tunable.name = expand(kernel.name, places, kernel.where);
      tunable.c_name = c_name_of(tunable.name, target);
      tunable.code = expand(kernel.code, with(places, {{"name", tunable.c_name}}), kernel.where);
      tunable.usual = expand(kernel.schedule, places, kernel.where);
      for (const std::string& text : kernel.tries)
        for (std::string& script : spelled_out(text, kernel, places))
          tunable.scripts.push_back(std::move(script));
      for (const Bucket& bucket : kernel.buckets)
        tunable.buckets.push_back(
            {expand(bucket.when, places, kernel.where), expand(bucket.at, places, kernel.where)});
      out.push_back(std::move(tunable));
    }
  }
  return out;
}

std::vector<Version> versions_of(const Tunable& tunable, const std::vector<BucketResult>& buckets) {
  std::vector<Version> versions;
  for (size_t k = 0; k < buckets.size(); ++k) {
    const std::string& script = buckets[k].winner;
    const std::string& when = tunable.buckets[k].when;
    if (script.empty()) continue;
    if (!versions.empty() && versions.back().script == script)
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
    tuned.buckets.push_back(tune_bucket(tunable, bucket, before, target, arena, memory));
    if (memory.measured) memory.measured(tuned.buckets.back());
    tuned.versions = versions_of(tunable, tuned.buckets);
  }
  return tuned;
}

}  // namespace exotune::families
