// Seeded mutations of good texts: whatever comes in, only Errors come out.
#include <gtest/gtest.h>

#include <random>

#include "tests/core/frontend/samples.h"
#include "tests/db/sample_records.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/database_entry_points.h"
#include "tests/fuzz/entry_points.h"
#include "tests/fuzz/rules_entry_points.h"

namespace exotune::fuzz {
namespace {

class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, uint64_t seed) : corpus_(corpus), random_(seed) {}

  std::string next() {
    std::string s = pick(corpus_);
    for (size_t n = 1 + below(3); n > 0; --n) mutate(s);
    return s;
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

  // A run of letters and digits, or one other character, at or after a random place.
  std::pair<size_t, size_t> word(const std::string& s) {
    size_t at = below(s.size());
    auto in_word = [&](size_t k) {
      return k < s.size() && (std::isalnum(static_cast<unsigned char>(s[k])) || s[k] == '_');
    };
    if (!in_word(at)) return {at, s.empty() ? 0 : 1};
    while (at > 0 && in_word(at - 1)) --at;
    size_t n = 0;
    while (in_word(at + n)) ++n;
    return {at, n};
  }

  void mutate(std::string& s) {
    auto [at, n] = word(s);
    switch (below(8)) {
      case 0:
        s.erase(at, n);
        break;
      case 1:
        s.insert(at, pick(kWords));
        break;
      case 2:
        s.replace(at, n, pick(kWords));
        break;
      case 3:
        s.insert(at, s.substr(at, n) + " ");
        break;
      case 4: {
        auto [other, m] = word(s);
        std::string moved = s.substr(other, m);
        s.replace(at, n, moved);
        break;
      }
      case 5:
        if (!s.empty()) s[at] = static_cast<char>(below(256));
        break;
      case 6: {  // two texts, joined
        const std::string& other = pick(corpus_);
        s = s.substr(0, at) + other.substr(below(other.size()));
        break;
      }
      case 7:
        s.insert(at, s.substr(below(s.size()), below(30)));
        break;
    }
    if (s.size() > 20000) s.resize(20000);
  }

  const std::vector<std::string>& corpus_;
  std::mt19937_64 random_;
};

template <class F>
void mutate(const std::vector<std::string>& corpus, int rounds, F f) {
  Mutator m(corpus, /*seed=*/20241121);
  int accepted = 0;
  for (const std::string& s : corpus) EXPECT_TRUE(f(s)) << s;
  for (int k = 0; k < rounds; ++k) {
    std::string text = m.next();
    try {
      accepted += f(text);
    } catch (const std::exception& e) {
      FAIL() << "round " << k << ": " << e.what() << "\n--- of the text\n" << text;
    }
  }
  // Mutations that are all refused at the first character would test little.
  EXPECT_GT(accepted, rounds / 50);
  EXPECT_LT(accepted, rounds);
}

TEST(Mutation, of_modules) { mutate(samples::kFiles, 6000, read_module); }
TEST(Mutation, of_patterns) { mutate(kPatterns, 6000, find_pattern); }
TEST(Mutation, of_expressions) { mutate(kExpressions, 6000, read_expression); }
TEST(Mutation, of_records) { mutate({samples::sample_export()}, 1000, read_records); }
TEST(Mutation, of_rules) { mutate(kRules, 1500, use_rules); }
TEST(Mutation, of_terms) { mutate(kTerms, 3000, read_term); }
TEST(Mutation, of_schedules) {
  mutate(kSchedules, 3000, [](const std::string& s) { return run_schedule(s); });
}

}  // namespace
}  // namespace exotune::fuzz
