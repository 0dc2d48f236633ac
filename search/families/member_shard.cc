#include "search/families/member_shard.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>

#include "db/record_text.h"
#include "search/problem.h"
#include "search/trials.h"
#include "search/tuning_context.h"

namespace exotune::families {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

// Values of a JSON object that somebody else wrote; every mistake is an InputError.
class Reader {
 public:
  Reader(const std::string& text, std::string what) : what_(std::move(what)) {
    json_ = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json_.is_discarded() || !json_.is_object()) refuse("it is no JSON object");
  }
  Reader(Json json, std::string what) : what_(std::move(what)), json_(std::move(json)) {
    if (!json_.is_object()) refuse("an object was expected");
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError({}, what_ + " cannot be used: " + why,
                     "is it of another version of exo-tune?");
  }
  std::string text(const char* key) const {
    const Json& value = field(key);
    if (!value.is_string()) refuse(std::string("'") + key + "' is no text");
    return value.get<std::string>();
  }
  double number(const char* key) const {
    const Json& value = field(key);
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0)
      refuse(std::string("'") + key + "' is no number");
    return value.get<double>();
  }
  size_t count(const char* key) const { return static_cast<size_t>(std::min(number(key), 1e9)); }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    for (const Json& each : list(key)) {
      if (!each.is_string()) refuse(std::string("'") + key + "' holds something that is no text");
      out.push_back(each.get<std::string>());
    }
    return out;
  }
  std::vector<Reader> objects(const char* key) const {
    std::vector<Reader> out;
    for (const Json& each : list(key)) out.emplace_back(each, what_);
    return out;
  }

 private:
  const Json& field(const char* key) const {
    const auto at = json_.find(key);
    if (at == json_.end()) refuse(std::string("'") + key + "' is missing");
    return *at;
  }
  const Json& list(const char* key) const {
    const Json& value = field(key);
    if (!value.is_array()) refuse(std::string("'") + key + "' is no list");
    return value;
  }
  std::string what_;
  Json json_;
};

struct Question {
  Tunable tunable;
  std::string target, target_hash, engine;
};

Question read_question(const Shard& shard) {
  const Reader reader(shard.input, "the request " + shard.name);
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
  for (const Reader& bucket : reader.objects("buckets"))
    t.buckets.push_back({bucket.text("when"), bucket.text("at")});
  return question;
}

[[noreturn]] void not_here(const std::string& why, const std::string& hint) {
  throw Error(Diagnostic{{}, why, {}, hint}, ExitCode::kUnavailable);
}

void require_fit(const Question& question, const Target& target, const Machine& machine,
                 const std::string& wanted) {
  const Fingerprint here = fingerprint(machine, target);
  if (!wanted.empty() && wanted != here.hash)
    not_here("this machine (" + here.microarch + ", fingerprint " + here.hash +
                 ") is not the one that was asked for (" + wanted + ")",
             "--machine " + here.hash + " asks for this one, --machine any for all");
  const std::vector<std::string> missing = missing_features(machine, target);
  if (!missing.empty())
    not_here("this machine cannot run " + target.name + ": its CPU lacks " + missing.front(), "");
  if (question.engine != engine_version() || question.target_hash != target.hash)
    not_here("exo-tune here is of another version than where the request is from",
             "every node must see the same installation");
}

// What was measured, as the lines of a database of its own.
std::string records_of(const TunedMember& tuned, const Tunable& tunable, const Target& target,
                       const Machine& machine, const TargetToolchain& toolchain) {
  const std::unique_ptr<Store> store = make_memory_store();
  for (const BucketResult& bucket : tuned.buckets) {
    if (bucket.kernel == nullptr) continue;
    const TrialKey key = enter_context(bucket.kernel, tunable.name, sizes_text(bucket.sizes),
                                       target, machine, toolchain, *store);
    for (TrialRecord trial : bucket.trials) {
      trial.key = key;
      trial.engine_version = engine_version();
      trial.created = static_cast<int64_t>(std::time(nullptr));
      store->put_trial(trial);
    }
    if (!bucket.winner_id.empty()) store->set_winner(key, bucket.winner_id);
  }
  std::ostringstream out;
  store->export_json_lines(out);
  return out.str();
}

}  // namespace

Shard member_shard(const Tunable& tunable, const Target& target) {
  Json buckets = Json::array();
  for (const Bucket& bucket : tunable.buckets)
    buckets.push_back({{"when", bucket.when}, {"at", bucket.at}});
  const Json question = {
      {"engine", engine_version()}, {"target", target.name},      {"target_hash", target.hash},
      {"name", tunable.name},       {"c_name", tunable.c_name},   {"code", tunable.code},
      {"usual", tunable.usual},     {"scripts", tunable.scripts}, {"buckets", buckets}};
  return {tunable.name + " " + target.name, kMemberKind, dump(question)};
}

MemberWork::MemberWork(FindTarget find_target, Machine machine)
    : find_target_(std::move(find_target)), machine_(std::move(machine)) {}

ShardAnswer MemberWork::operator()(const Shard& shard, const std::string& wanted) {
  const Question question = read_question(shard);
  const TargetPtr target = find_target_(question.target);
  require_fit(question, *target, machine_, wanted);
  const TargetToolchain toolchain = toolchain_of(*target);
  std::shared_ptr<Arena>& arena = arenas_[target->name];
  if (arena == nullptr) arena = native_arena(toolchain);
  const TunedMember tuned = tune_member(question.tunable, target, *arena);
  Json buckets = Json::array();
  for (const BucketResult& bucket : tuned.buckets)
    buckets.push_back({{"at", bucket.at},
                       {"winner", bucket.winner},
                       {"tried", bucket.tried},
                       {"refused", bucket.refused},
                       {"failed", bucket.failed},
                       {"gain", bucket.gain}});
  const Json answer = {
      {"member", question.tunable.name},
      {"buckets", buckets},
      {"records", records_of(tuned, question.tunable, *target, machine_, toolchain)}};
  return {fingerprint(machine_, *target).hash, dump(answer)};
}

MemberAnswer read_member_answer(const std::string& output, const Tunable& tunable) {
  const Reader reader(output, "the answer for " + tunable.name);
  if (reader.text("member") != tunable.name) reader.refuse("it is another kernel's");
  std::vector<std::string> known = tunable.scripts;
  for (const Version& version : parse_versions(tunable.usual, tunable.name))
    known.push_back(version.script);
  MemberAnswer answer;
  for (const Reader& each : reader.objects("buckets")) {
    BucketResult bucket;
    bucket.at = each.text("at");
    bucket.winner = each.text("winner");
    bucket.tried = each.count("tried");
    bucket.refused = each.count("refused");
    bucket.failed = each.count("failed");
    bucket.gain = each.number("gain");
    if (!bucket.winner.empty() &&
        std::find(known.begin(), known.end(), bucket.winner) == known.end())
      reader.refuse("it names a schedule that was not asked about");
    answer.tuned.buckets.push_back(std::move(bucket));
  }
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

}  // namespace exotune::families
