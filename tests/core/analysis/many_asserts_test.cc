// Thousands of asserts: each question takes the few that it needs, in the affine tier.
#include <gtest/gtest.h>

#include <functional>

#include "core/analysis/queries.h"
#include "core/base/diagnostic.h"
#include "text.h"

namespace exotune {
namespace {
using testing::parse;

struct Family {
  const char* name;
  std::function<std::string(int)> text;
  std::function<bool(int64_t k, int64_t n, int64_t m)> holds;
};

std::string num(int k) { return std::to_string(k); }

// Distinct facts.
const Family kFamilies[] = {
    {"positive", [](int k) { return "n + " + num(k + 1) + " * m >= " + num(k % 7 + 1); },
     [](int64_t k, int64_t n, int64_t m) { return n + (k + 1) * m >= k % 7 + 1; }},
    {"shifted", [](int k) { return "n <= m + " + num(k); },
     [](int64_t k, int64_t n, int64_t m) { return n <= m + k; }},
    {"tangents", [](int k) { return "m + " + num(k * k) + " >= " + num(2 * k) + " * n"; },
     [](int64_t k, int64_t n, int64_t m) { return m + k * k >= 2 * k * n; }},
    {"unequal", [](int k) { return "n != " + num(k + 5000); },
     [](int64_t k, int64_t n, int64_t) { return n != k + 5000; }},
    {"remainders", [](int k) { return "n % " + num(k + 3) + " != 2"; },
     [](int64_t k, int64_t n, int64_t) { return n % (k + 3) != 2; }},
};

/// `asserts` facts, a tenth as many guarded accesses, and a loop over `hi` that touches x[i].
std::string program(const Family& family, int asserts, const std::string& hi) {
  std::string text = "@proc\ndef f(n: size, m: size, x: f32[n + m]):\n";
  for (int k = 0; k < asserts; ++k) text += "    assert " + family.text(k) + "\n";
  for (int k = 0; k < asserts / 10; ++k)
    text += "    if n > " + num(k + 1) + ":\n        x[" + num(k) + "] = 0.0\n";
  return text + "    for i in seq(0, " + hi + "):\n        x[i] = 0.0\n";
}

class ManyAsserts : public ::testing::TestWithParam<Family> {};

TEST_P(ManyAsserts, every_access_is_one_affine_question) {
  const int asserts = 1500;
  const ProcPtr p = parse(program(GetParam(), asserts, "n"));
  const SolverStats before = solver_stats();
  EXPECT_NO_THROW(check(*p));
  const SolverStats after = solver_stats();
  EXPECT_EQ(after.z3, before.z3);
  EXPECT_EQ(after.unknown, before.unknown);
  const int64_t questions = after.affine + after.cached - before.affine - before.cached;
  EXPECT_GE(questions, asserts / 10);
  EXPECT_LE(questions, asserts / 10 + 2);
}

TEST_P(ManyAsserts, a_counter_example_meets_them_all) {
  constexpr int kAsserts = 50;  // of remainders 300 take a minute
  const ProcPtr p = parse(program(GetParam(), kAsserts, "n + m + 1"));
  try {
    check(*p);
    FAIL() << "accepted";
  } catch (const InputError& e) {
    const std::string message = e.diagnostic().message.str();
    const auto value = [&](const std::string& name) -> int64_t {
      const size_t at = message.find(" " + name + " = ", message.find("fails for"));
      return at == std::string::npos ? -1 : std::stoll(message.substr(at + name.size() + 4));
    };
    const int64_t n = value("n"), m = value("m");
    ASSERT_GE(n, 1) << message;
    ASSERT_GE(m, 1) << message;
    for (int k = 0; k < kAsserts; ++k)
      EXPECT_TRUE(GetParam().holds(k, n, m)) << k << " " << message;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ManyAsserts, ::testing::ValuesIn(kFamilies),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace exotune
