#include "core/analysis/question_cache.h"

#include "core/base/hashing.h"

namespace exotune {
namespace {

class KeyMaker {
 public:
  KeyMaker(int variables, std::span<const uint8_t> sizes)
      : canonical_(variables, -1), sizes_(sizes) {}
  void add(const Constraint& c) {
    key_.words.push_back(c.equality ? -1 : -2);
    key_.words.push_back(c.lin.constant);
    key_.words.push_back(static_cast<int64_t>(c.lin.terms.size()));
    for (const Lin::Term& t : c.lin.terms) {
      int& n = canonical_[t.var];
      if (n < 0) {
        n = static_cast<int>(key_.original.size());
        key_.original.push_back(t.var);
      }
      const bool size = static_cast<size_t>(t.var) < sizes_.size() && sizes_[t.var];
      key_.words.push_back(n * 2 + (size ? 1 : 0));
      key_.words.push_back(t.coeff);
    }
  }
  void add(const Formula& f) {
    key_.words.push_back(-10 - static_cast<int64_t>(f.kind));
    if (f.kind == Formula::Kind::kAtom) add(f.atom);
    key_.words.push_back(static_cast<int64_t>(f.kids.size()));
    for (const Formula& kid : f.kids) add(kid);
  }
  QuestionKey finish() {
    uint64_t h = key_.words.size();
    for (int64_t w : key_.words) h = hash_combine(h, static_cast<uint64_t>(w));
    key_.hash = h;
    return std::move(key_);
  }

 private:
  QuestionKey key_;
  std::vector<int> canonical_;
  std::span<const uint8_t> sizes_;
};

}  // namespace

QuestionKey question_key(std::span<const Constraint> facts, std::span<const Formula> disjunctions,
                         const Formula& question, int variables, std::span<const uint8_t> sizes) {
  KeyMaker maker(variables, sizes);
  maker.add(question);
  for (const Constraint& c : facts) maker.add(c);
  for (const Formula& f : disjunctions) maker.add(f);
  return maker.finish();
}

QuestionCache& QuestionCache::instance() {
  static QuestionCache c;
  return c;
}

bool QuestionCache::find(const QuestionKey& key, Decision* out, int variables) {
  Shard& shard = shards_[key.hash >> 60];
  std::lock_guard lock(shard.mutex);
  auto [begin, end] = shard.entries.equal_range(key.hash);
  for (auto it = begin; it != end; ++it) {
    if (it->second.words != key.words) continue;
    out->feasible = it->second.feasible;
    out->model.assign(out->feasible == Feasible::kYes ? variables : 0, 0);
    for (size_t k = 0; k < it->second.model.size(); ++k)
      out->model[key.original[k]] = it->second.model[k];
    return true;
  }
  return false;
}

void QuestionCache::insert(QuestionKey key, const Decision& d) {
  Entry e{std::move(key.words), d.feasible, {}};
  if (d.feasible == Feasible::kYes)
    for (int v : key.original) e.model.push_back(d.model[v]);
  Shard& shard = shards_[key.hash >> 60];
  std::lock_guard lock(shard.mutex);
  if (shard.entries.size() >= kMaxEntries) shard.entries.clear();
  shard.entries.emplace(key.hash, std::move(e));
}

}  // namespace exotune
