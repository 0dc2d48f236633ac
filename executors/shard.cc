#include "executors/shard.h"

#include "core/base/hashing.h"
#include "core/base/json_fields.h"

namespace exotune {
namespace {

constexpr const char* kRequest = "exo-tune request 1";
constexpr const char* kResult = "exo-tune result 1";
constexpr const char* kFailure = "exo-tune failure 1";

}  // namespace

std::string shard_hash(const Shard& shard) { return content_hash(shard.kind + '\n' + shard.input); }

std::string request_text(const Shard& shard) {
  return json_text({{"format", kRequest},
                    {"hash", shard_hash(shard)},
                    {"name", shard.name},
                    {"kind", shard.kind},
                    {"input", shard.input}});
}

Shard read_request(const std::string& text, const std::string& file) {
  const JsonFields fields(text, file, kRequest);
  const Shard shard = {fields.text("name"), fields.text("kind"), fields.text("input")};
  if (shard_hash(shard) != fields.text("hash"))
    fields.refuse("its contents do not have the hash that it names");
  return shard;
}

// The sum guards what a torn write or a full disk leaves: JSON that ends early does not parse, but
// blocks that were never written may read as zeros inside a string.
std::string result_text(const ShardResult& result) {
  return json_text({{"format", kResult},
                    {"hash", result.hash},
                    {"machine", result.machine},
                    {"host", result.host},
                    {"seconds", result.seconds},
                    {"sum", content_hash(result.output)},
                    {"output", result.output}});
}

ShardResult read_result(const std::string& text, const std::string& file) {
  const JsonFields fields(text, file, kResult);
  ShardResult result;
  result.hash = fields.text("hash");
  result.machine = fields.text("machine");
  result.host = fields.text("host");
  result.seconds = fields.number("seconds");
  result.output = fields.text("output");
  if (!is_hash(result.hash)) fields.refuse("'hash' is none");
  if (content_hash(result.output) != fields.text("sum"))
    fields.refuse("its contents do not have the sum that it names");
  return result;
}

std::string failure_text(const ShardFailure& failure) {
  return json_text({{"format", kFailure},
                    {"host", failure.host},
                    {"machine", failure.machine},
                    {"message", failure.message},
                    {"lasting", failure.lasting}});
}

ShardFailure read_failure(const std::string& text, const std::string& file) {
  const JsonFields fields(text, file, kFailure);
  return {fields.text("host"), fields.text("machine"), fields.text("message"),
          fields.flag("lasting")};
}

bool is_hash(const std::string& word) {
  return word.size() == 32 && word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace exotune
