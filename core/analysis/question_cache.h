#pragma once
// Answers remembered by question. A question's key has its variables numbered in order of
// appearance, so equal keys mean equal questions up to renaming; whole keys are compared, so a hash
// collision cannot change an answer.
#include <array>
#include <mutex>
#include <unordered_map>

#include "core/analysis/solver.h"

namespace exotune {

/// A question with its variables renamed in order of appearance, the question first: those
/// that differ in names only, as unrolled code asks them by the hundred, have one key.
struct QuestionKey {
  std::vector<int64_t> words;
  uint64_t hash = 0;
  std::vector<int> original;  // canonical number -> variable
};

QuestionKey question_key(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                         const Formula& question, int variables, std::span<const uint8_t> sizes);

/// Thread-safe: 16 shards, each emptied when it is full.
class QuestionCache {
 public:
  static QuestionCache& instance();
  /// False when not known. A model comes back in the key's own variables.
  bool find(const QuestionKey& key, Decision* out, int variables);
  void insert(QuestionKey key, const Decision& d);

 private:
  static constexpr size_t kMaxEntries = 8192;  // per shard
  struct Entry {
    std::vector<int64_t> words;
    Feasible feasible;
    std::vector<int64_t> model;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<uint64_t, Entry> entries;
  };
  std::array<Shard, 16> shards_;
};

}  // namespace exotune
