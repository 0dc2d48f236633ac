// Control expressions with floor division and modulo, decided at a place of a program, against
// enumeration of every point that reaches it.
#include <gtest/gtest.h>

#include <random>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "text.h"

namespace exotune {
namespace {
using namespace testing;

class Expressions : public ::testing::Test {
 protected:
  Expressions() {
    scope_ = scope_at(*p_, at_);
    for (const ScopeEntry& e : scope_) syms_[e.name.name()] = e.name;
    for (int64_t n = 1; n <= 5; ++n)
      for (int64_t z = -3; z <= 3; ++z)
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = i; j < n + 1; ++j)
            if ((i + j) % 3 != 1)
              points_.push_back(
                  {{syms_["N"], n}, {syms_["z"], z}, {syms_["i"], i}, {syms_["j"], j}});
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string integer(int depth) {
    static const char* const atoms[] = {"N", "z", "i", "j", "i", "j", "3", "0", "1", "7"};
    if (depth == 0 || below(4) == 0) return atoms[below(10)];
    const std::string a = integer(depth - 1);
    const std::string c = std::to_string(2 + below(4));
    switch (below(6)) {
      case 0:
        return "(" + a + " - " + integer(depth - 1) + ")";
      case 1:
        return "(" + a + " / " + c + ")";
      case 2:
        return "(" + a + " % " + c + ")";
      case 3:
        return "(" + c + " * " + a + ")";
      default:
        return "(" + a + " + " + integer(depth - 1) + ")";
    }
  }
  std::string condition(int depth) {
    static const char* const ops[] = {" < ", " <= ", " == ", " != ", " >= ", " > "};
    if (depth > 0 && below(3) == 0)
      return "(" + condition(depth - 1) + (below(2) ? " and " : " or ") + condition(depth - 1) +
             ")";
    if (depth > 0 && below(6) == 0) return "not (" + condition(depth - 1) + ")";
    return integer(2) + ops[below(6)] + integer(2);
  }

  std::mt19937 random_{5};
  ProcPtr p_ = parse(
      "@proc\ndef f(N: size, z: index):\n    assert N <= 5\n    assert z >= -3 and z <= 3\n"
      "    for i in seq(0, N):\n        for j in seq(i, N + 1):\n"
      "            if not ((i + j) % 3 == 1):\n                pass\n");
  Path at_{{Child::kBody, 0}, {Child::kBody, 0}, {Child::kBody, 0}, {Child::kBody, 0}};
  std::vector<ScopeEntry> scope_;
  std::map<std::string, Sym> syms_;
  std::vector<std::map<Sym, int64_t>> points_;
};

TEST_F(Expressions, conditions_are_decided_as_enumeration_does) {
  int proved = 0;
  for (int round = 0; round < 2500; ++round) {
    const std::string text = condition(1);
    const ExprPtr e = parse_control_expr(text, scope_);
    const std::map<Sym, int64_t>* failure = nullptr;
    for (const auto& point : points_)
      if (!eval_control(e, point)) {
        failure = &point;
        break;
      }
    const Answer a = prove(*p_, at_, e);
    ASSERT_EQ(a.verdict, failure ? Verdict::kRefuted : Verdict::kProved) << text;
    if (!failure) {
      ++proved;
      continue;
    }
    // The example is one of the points, and the condition fails there.
    bool genuine = false;
    for (const auto& point : points_) {
      bool same = true;
      for (const auto& [sym, value] : point) {
        auto it = a.counter_example.find(sym.name());
        same &= it == a.counter_example.end() || it->second == value;
      }
      genuine |= same && !eval_control(e, point);
    }
    ASSERT_TRUE(genuine) << text;
  }
  EXPECT_GT(proved, 150);
}

TEST_F(Expressions, simplification_keeps_values) {
  for (int round = 0; round < 2500; ++round) {
    const std::string text = below(3) ? integer(3) : condition(1);
    const ExprPtr e = parse_control_expr(text, scope_);
    const ExprPtr s = simplify_expr(*p_, at_, e);
    for (const auto& point : points_)
      ASSERT_EQ(eval_control(e, point), eval_control(s, point)) << text << "  became  " << str(s);
  }
}

TEST_F(Expressions, bounds_contain_every_value) {
  int both = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::string text = integer(3);
    const ExprPtr e = parse_control_expr(text, scope_);
    const Bounds b = bounds_of(*p_, at_, e);
    both += b.lo && b.hi;
    for (const auto& point : points_) {
      const int64_t v = eval_control(e, point);
      ASSERT_TRUE((!b.lo || *b.lo <= v) && (!b.hi || v <= *b.hi)) << text;
    }
  }
  EXPECT_GT(both, 900);
}

TEST_F(Expressions, equal_is_equal_everywhere) {
  int equal_ones = 0;
  for (int round = 0; round < 1500; ++round) {
    const std::string x = integer(2), y = below(2) ? "(" + x + " + 0 * N)" : integer(2);
    const ExprPtr a = parse_control_expr(x, scope_), b = parse_control_expr(y, scope_);
    bool same = true;
    for (const auto& point : points_) same &= eval_control(a, point) == eval_control(b, point);
    ASSERT_EQ(static_cast<bool>(prove_equal(*p_, at_, a, b)), same) << x << " and " << y;
    equal_ones += same;
  }
  EXPECT_GT(equal_ones, 500);
}

}  // namespace
}  // namespace exotune
