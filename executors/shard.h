#pragma once
// Shards: the pieces that work is cut into for other machines, and what comes back, as text. Start
// at Shard.
//
// A shard is what it says: the content hash of its kind and input names its request and its result,
// so that the same question is asked once, whoever asks, and an answer is known again after a
// restart. The input is text that only the readers of that kind understand (search/families/
// member_shard.h is one); this folder carries it.
#include <string>

namespace exotune {

struct Shard {
  std::string name;   // for people: "saxpy_any avx512"; no part of its identity
  std::string kind;   // who answers it: "member"
  std::string input;  // the question
};

/// 32 hexadecimal digits of kind and input.
std::string shard_hash(const Shard& shard);

/// An answer.
struct ShardResult {
  std::string hash;     // of the shard
  std::string machine;  // fingerprint of the machine that worked on it
  std::string host;     // its name, for people
  std::string output;
  double seconds = 0;  // that the work took
};

/// Why there is none from one attempt.
struct ShardFailure {
  std::string host;
  std::string machine;   // "" where it was not known yet
  std::string message;   // the error as it would have been printed
  bool lasting = false;  // the same anywhere: the input is wrong
};

/// The text of a file that another process reads. `file` is what messages call it; InputError for
/// text that is nothing of the sort, cut short, or whose contents do not have the hash they name.
std::string request_text(const Shard& shard);
Shard read_request(const std::string& text, const std::string& file);
std::string result_text(const ShardResult& result);
ShardResult read_result(const std::string& text, const std::string& file);
std::string failure_text(const ShardFailure& failure);
ShardFailure read_failure(const std::string& text, const std::string& file);

/// True for 32 hexadecimal digits: what may name a file.
bool is_hash(const std::string& word);

}  // namespace exotune
