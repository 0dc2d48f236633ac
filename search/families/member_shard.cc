#include "search/families/member_shard.h"

#include <algorithm>
#include <ctime>
#include <sstream>
#include <thread>

#include "core/base/json.h"
#include "core/base/json_fields.h"
#include "db/record_text.h"
#include "runners/native_runner.h"
#include "search/problem.h"
#include "search/trials.h"
#include "search/tuning_context.h"

namespace exotune::families {
namespace {

size_t count_in(const JsonFields& fields, const char* key) {
  return static_cast<size_t>(std::max<int64_t>(0, fields.integer(key)));
}

// All that a node needs to answer: it has no other text of the family than this.
struct Question {
  Tunable tunable;
  std::string target, target_hash, engine;
};

Question read_question(const Shard& shard) {
  const JsonFields reader(shard.input, "the request " + shard.name);
  Question question;
  question.engine = reader.text("engine");
  question.target = reader.text("target");
  question.target_hash = reader.text("target_hash");
  Tunable& t = question.tunable;
  t.name = reader.text("name");
  t.c_name = reader.text("c_name");
  t.code = reader.text("code");
  t.usual = reader.text("usual");
  t.scripts = reader.texts("scripts");
  t.far_scripts = reader.texts("far_scripts");
  t.kept = reader.text("kept");
  for (const JsonFields& bucket : reader.objects("buckets"))
    t.buckets.push_back({bucket.text("when"), bucket.text("at"), bucket.integer("in_lines") != 0,
                         bucket.integer("far") != 0});
  t.in_lines = reader.text("in_lines");
  return question;
}

[[noreturn]] void not_here(const std::string& why, const std::string& hint) {
  throw Error(Diagnostic{{}, why, {}, hint}, ExitCode::kUnavailable);
}

// A node that answers for another machine would be believed.
void require_fit(const Question& question, const Target& target, const Machine& machine,
                 const std::string& wanted) {
  const Fingerprint here = fingerprint(machine, target);
  require_wanted(wanted, here.hash, here.microarch);
  const std::vector<std::string> missing = missing_features(machine, target);
  if (!missing.empty())
    not_here("this machine cannot run " + target.name + ": its CPU lacks " + missing.front(), "");
  if (question.engine != engine_version() || question.target_hash != target.hash)
    not_here("exo-tune here is of another version than where the request is from",
             "every node must see the same installation");
}

// Where the runs of a bucket are kept.
struct Context {
  const std::string& member;
  const Target& target;
  const Machine& machine;
  const TargetToolchain& toolchain;
  TrialKey key(const BucketResult& bucket, const SizeBinding& sizes, Store& store) const {
    // Elsewhere in memory it is another question.
    const std::string where = bucket.in_lines.empty() ? "" : " (" + bucket.in_lines + " in lines)";
    return enter_context(bucket.kernel, member, sizes_text(sizes) + where, target, machine,
                         toolchain, store);
  }
};

void keep_bucket(const BucketResult& bucket, const Context& context, Store& store) {
  for (const BucketPoint& point : bucket.points) {
    const TrialKey key = context.key(bucket, point.sizes, store);
    std::vector<TrialRecord> trials = point.trials;
    for (TrialRecord& trial : trials) {
      trial.key = key;
      trial.engine_version = engine_version();
      // The time of the answer, not of each run.
      trial.created = static_cast<int64_t>(std::time(nullptr));
    }
    store.put_trials(trials);
    if (!point.winner_id.empty()) store.set_winner(key, point.winner_id);
  }
}

// What was measured, as the lines of a database of its own.
std::string records_of(const TunedMember& tuned, const Context& context) {
  const std::unique_ptr<Store> store = make_memory_store();
  for (const BucketResult& bucket : tuned.buckets) keep_bucket(bucket, context, *store);
  std::ostringstream out;
  store->export_json_lines(out);
  return out.str();
}

BucketMemory memory_in(Store& store, const Context& context) {
  return {
      [&](const BucketResult& bucket, const SizeBinding& sizes, const std::string& candidate_id) {
        std::optional<TrialRecord> trial =
            store.find_trial(context.key(bucket, sizes, store), candidate_id);
        // What another version measured may have been checked differently.
        if (trial && trial->engine_version != engine_version()) trial.reset();
        return trial;
      },
      [&](const BucketResult& bucket) { keep_bucket(bucket, context, store); }};
}

}  // namespace

Shard member_shard(const Tunable& tunable, const Target& target) {
  Json buckets = Json::List();
  for (const Bucket& bucket : tunable.buckets)
    buckets.add({{"when", bucket.when},
                 {"at", bucket.at},
                 {"in_lines", bucket.in_lines ? 1 : 0},
                 {"far", bucket.far ? 1 : 0}});
  const Json question = {{"engine", engine_version()},
                         {"target", target.name},
                         {"target_hash", target.hash},
                         {"name", tunable.name},
                         {"c_name", tunable.c_name},
                         {"code", tunable.code},
                         {"usual", tunable.usual},
                         {"scripts", tunable.scripts},
                         {"far_scripts", tunable.far_scripts},
                         {"kept", tunable.kept},
                         {"buckets", buckets},
                         {"in_lines", tunable.in_lines}};
  return {tunable.name + " " + target.name, kMemberKind, question.str(1)};
}

namespace {

// One for each target: a schedule is compiled once for all sizes of its bucket, by as many
// compilers as there are processors for them.
std::shared_ptr<Arena> arena_of(const TargetToolchain& toolchain) {
  NativeOptions native{.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};
  native.compiler = shared_compiler(toolchain, native);
  return native_arena(toolchain, native);
}

}  // namespace

MemberWork::MemberWork(FindTarget find_target, Machine machine, Store* store)
    : find_target_(std::move(find_target)), machine_(std::move(machine)), store_(store) {}

ShardAnswer MemberWork::operator()(const Shard& shard, const std::string& wanted) {
  const Question question = read_question(shard);
  const TargetPtr target = find_target_(question.target);
  require_fit(question, *target, machine_, wanted);
  const TargetToolchain toolchain = toolchain_of(*target);
  std::shared_ptr<Arena>& arena = arenas_[target->name];
  if (arena == nullptr) arena = arena_of(toolchain);
  const Context context{question.tunable.name, *target, machine_, toolchain};
  const TunedMember tuned =
      tune_member(question.tunable, target, *arena,
                  store_ == nullptr ? BucketMemory{} : memory_in(*store_, context));
  Json buckets = Json::List();
  for (const BucketResult& bucket : tuned.buckets)
    buckets.add({{"at", bucket.at},
                 {"winner", bucket.winner},
                 {"joins", bucket.joins ? 1 : 0},
                 {"tried", bucket.tried},
                 {"refused", bucket.refused},
                 {"failed", bucket.failed},
                 {"gain", bucket.gain}});
  const Json answer = {{"member", question.tunable.name},
                       {"buckets", buckets},
                       {"records", records_of(tuned, context)}};
  return {fingerprint(machine_, *target).hash, answer.str(1)};
}

MemberAnswer read_member_answer(const std::string& output, const Tunable& tunable) {
  const JsonFields reader(output, "the answer for " + tunable.name);
  if (reader.text("member") != tunable.name) reader.refuse("it is another kernel's");
  // An answer may only choose among what was asked: a stranger's schedule would go unseen into the
  // library.
  std::vector<std::string> known = tunable.scripts;
  known.insert(known.end(), tunable.far_scripts.begin(), tunable.far_scripts.end());
  for (const std::string& text : {tunable.usual, tunable.kept})
    for (const Version& version : parse_versions(text, tunable.name))
      known.push_back(version.script);
  MemberAnswer answer;
  for (const JsonFields& each : reader.objects("buckets")) {
    BucketResult bucket;
    bucket.at = each.text("at");
    bucket.winner = each.text("winner");
    bucket.joins = each.integer("joins") != 0;
    bucket.tried = count_in(each, "tried");
    bucket.refused = count_in(each, "refused");
    bucket.failed = count_in(each, "failed");
    bucket.gain = each.number("gain");
    if (bucket.gain < 0) reader.refuse("'gain' is no ratio");
    if (!bucket.winner.empty() &&
        std::find(known.begin(), known.end(), bucket.winner) == known.end())
      reader.refuse("it names a schedule that was not asked about");
    answer.tuned.buckets.push_back(std::move(bucket));
  }
  // Sizes in the same order.
  bool same = answer.tuned.buckets.size() == tunable.buckets.size();
  for (size_t k = 0; same && k < tunable.buckets.size(); ++k)
    same = answer.tuned.buckets[k].at == tunable.buckets[k].at;
  if (!same) reader.refuse("it has other sizes than were asked about");
  answer.tuned.versions = versions_of(tunable, answer.tuned.buckets);
  if (answer.tuned.versions.empty() || !answer.tuned.versions.back().when.empty())
    reader.refuse("it has no schedule for all sizes");
  answer.records = reader.text("records");
  std::istringstream lines(answer.records);
  read_json_lines(lines, "the records for " + tunable.name);  // refuses what is none
  return answer;
}

namespace {

// A database that cannot be written is no fault of the answer.
void as_own_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const InputError& error) {
    throw Error(error.diagnostic(), error.exit_code());
  }
}

}  // namespace

void keep_records(Store& store, const std::string& records, const std::string& name) {
  as_own_error([&] {
    std::istringstream lines(records);
    store.import_json_lines(lines, name);
  });
}

void keep_together(Store& store, const std::function<void()>& tell) {
  as_own_error([&] { store.together(tell); });
}

}  // namespace exotune::families
