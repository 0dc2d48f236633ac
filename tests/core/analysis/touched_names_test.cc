// What names alone say of two runs of statements, and what they do not.
#include "core/analysis/touched_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "text.h"

namespace exotune {
namespace {
using testing::parse;

// Of the body of the last procedure, statement by statement.
bool apart(const std::string& text, size_t first, size_t na, size_t nb) {
  const ProcPtr p = parse(text);
  const Scope scope(*p, {{Child::kBody, static_cast<int>(first)}});
  const bool found = touch_apart(scope, p->body, first, na, nb);
  if (found) {
    EXPECT_TRUE(blocks_commute(*p, {{Child::kBody, static_cast<int>(first)}}, static_cast<int>(na),
                               static_cast<int>(nb)));
  }
  return found;
}

TEST(TouchedNames, different_buffers_are_apart_and_one_is_not) {
  const char* const text = R"(
@proc
def f(a: f32[8], b: f32[8], c: f32[8]):
    for i in seq(0, 8):
        a[i] = b[i]
    c[0] += b[1]
    b[2] = 0.0
)";
  EXPECT_TRUE(apart(text, 0, 1, 1)) << "both read b, and nobody writes it";
  EXPECT_FALSE(apart(text, 1, 1, 1)) << "one reads what the other writes";
  EXPECT_FALSE(apart(text, 0, 2, 1));
}

TEST(TouchedNames, windows_are_what_they_show) {
  const char* const text = R"(
@proc
def f(a: f32[8], b: f32[8]):
    w = a[2:6]
    w[0] = 1.0
    a[7] = 2.0
    b[0] = 3.0
    v = b[0:4]
)";
  EXPECT_FALSE(apart(text, 1, 1, 1)) << "different elements: a question for a proof";
  EXPECT_TRUE(apart(text, 1, 1, 0));
  EXPECT_TRUE(apart(text, 2, 1, 1));
  EXPECT_FALSE(apart(text, 2, 1, 2)) << "a window is made";
}

TEST(TouchedNames, calls_write_what_their_bodies_write) {
  const char* const text = R"(
@proc
def copy(dst: [f32][4], src: [f32][4]):
    for i in seq(0, 4):
        dst[i] = src[i]

@proc
def f(a: f32[8], b: f32[8], c: f32[8]):
    copy(a[0:4], b[0:4])
    copy(c[0:4], b[4:8])
    copy(b[0:4], c[0:4])
    if 2 < 3:
        copy(a[4:8], a[0:4])
)";
  EXPECT_TRUE(apart(text, 0, 1, 1));
  EXPECT_FALSE(apart(text, 0, 2, 1));
  EXPECT_FALSE(apart(text, 1, 1, 1));
  EXPECT_TRUE(apart(text, 2, 1, 1));
}

TEST(TouchedNames, configuration_is_not_for_names) {
  const char* const text = R"(
@config
class Unit:
    scale: f32

@proc
def set(s: f32):
    Unit.scale = s

@proc
def f(a: f32[8], b: f32[8], s: f32):
    Unit.scale = s
    a[0] = 1.0
    b[0] = Unit.scale
    set(s)
    a[1] = 2.0
)";
  EXPECT_FALSE(apart(text, 0, 1, 1));
  EXPECT_FALSE(apart(text, 1, 1, 1));
  EXPECT_FALSE(apart(text, 3, 1, 1));
}

// Of a loop over l whose body is `first` and then `second`.
bool iterations_apart(const std::string& first, const std::string& second) {
  const ProcPtr p = parse(R"(
@proc
def g(dst: [f32][4]):
    for i in seq(0, 4):
        dst[i] = 1.0

@proc
def f(n: size, x: f32[64, 64], y: f32[64, 64], s: f32):
    assert n <= 8
    w = x[0:8, 0:8]
    for l in seq(0, 8):
        )" + first + "\n        " +
                          second + "\n");
  const For& loop = *p->body[1]->as<For>();
  EXPECT_EQ(loop.body.size(), 2u);
  return iterations_touch_apart(Scope(*p, {{Child::kBody, 1}, {Child::kBody, 0}}), loop, 1);
}

TEST(TouchedNames, iterations_with_rows_of_their_own_are_apart) {
  EXPECT_TRUE(iterations_apart("x[l, 0] = 1.0", "y[0, 0] += x[l, 1]"));
  EXPECT_TRUE(iterations_apart("x[2 * l + n, 0] = 1.0", "y[0, l] = x[2 * l + n, 7]"));
  EXPECT_TRUE(iterations_apart("x[l, 0] = x[l, 3]", "x[l, 1] += y[0, 0]"));
  EXPECT_TRUE(iterations_apart("for k in seq(0, 8):\n            x[k, l] = 0.0",
                               "for k in seq(0, 4):\n            y[0, k] += x[2 * k, l]"));
  EXPECT_TRUE(iterations_apart("g(x[l, 0:4])", "y[l, 0] = s")) << "they share nothing";
}

TEST(TouchedNames, iterations_that_may_meet_are_a_question_for_a_proof) {
  EXPECT_FALSE(iterations_apart("x[l, 0] = 1.0", "y[0, 0] += x[l + 1, 0]"));
  EXPECT_FALSE(iterations_apart("x[l / 2, 0] = 1.0", "y[0, l] += x[l / 2, 0]"));
  EXPECT_FALSE(iterations_apart("x[l - l, 0] = 1.0", "y[0, l] += x[l - l, 0]"));
  EXPECT_FALSE(iterations_apart("x[n, 0] = 1.0", "y[0, l] += x[n, 0]"));
  EXPECT_FALSE(iterations_apart("x[l % 4 + l, 0] = 1.0", "y[0, l] += x[l % 4 + l, 0]"));
  EXPECT_FALSE(
      iterations_apart("for k in seq(0, 8):\n            x[l + k, 0] = 0.0", "y[0, 0] += x[l, 0]"));
  EXPECT_FALSE(iterations_apart("for k in seq(0, 8):\n            x[l + k, 0] = 0.0",
                                "for k in seq(0, 8):\n            y[0, 0] += x[l + k, 0]"));
  EXPECT_FALSE(iterations_apart("s = x[l, 0]", "y[0, l] = s")) << "a scalar is everybody's";
  EXPECT_FALSE(iterations_apart("w[l, 0] = 1.0", "y[0, l] = x[l, 0]")) << "a window of x";
  EXPECT_FALSE(iterations_apart("g(x[l, 0:4])", "y[0, l] = x[l, 0]")) << "what is passed";
  EXPECT_FALSE(iterations_apart("x[l, 0] = y[l, 0]", "y[l + 1, 0] = x[l, 0]")) << "one of two";
}

// What stands between an allocation and its first user has no say in what an iteration leaves.
TEST(TouchedNames, an_allocation_is_judged_by_those_who_know_it) {
  const ProcPtr p = parse(R"(
@proc
def f(a: f32[8], b: f32[8]):
    for i in seq(0, 8):
        t: f32[2]
        u: f32
        b[i] = a[i]
        w = t[0:1]
        w[0] = a[i]
        v = w[0:1]
        b[i] += v[0]
        b[i] += t[1]
        u = a[i]
        b[i] += u
        unused: f32
)");
  const Path loop = {{Child::kBody, 0}};
  const auto carries_nothing = [&](int k) {
    Path alloc = loop;
    alloc.push_back({Child::kBody, k});
    return static_cast<bool>(alloc_carries_nothing(*p, alloc, loop));
  };
  EXPECT_FALSE(carries_nothing(0)) << "t[1] is of an earlier iteration";
  EXPECT_TRUE(carries_nothing(1));
  EXPECT_TRUE(carries_nothing(10));
}

// Which of these statements of the first loop's body may be the same in every iteration.
std::vector<int> same(const std::string& text, const std::vector<int>& places) {
  return not_rewritten(*parse(text), {{Child::kBody, 2}}, places);
}

TEST(TouchedNames, what_others_write_whole_is_not_the_same_in_every_iteration) {
  const char* const text = R"(
@proc
def fill(dst: [f32][4], v: f32):
    for i in seq(0, 4):
        dst[i] = v

@proc
def copy(dst: [f32][4], src: [f32][4]):
    for i in seq(0, 4):
        dst[i] = src[i]

@proc
def f(x: f32[4], y: f32[8], s: f32):
    r: f32[4]
    t: f32[4]
    for k in seq(0, 8):
        fill(r[0:4], s)
        copy(t[0:4], x[0:4])
        copy(x[0:4], t[0:4])
        fill(y[0:4], s)
        y[4] += r[0]
        s = y[0]
)";
  // 1 and 2 keep each other: neither stays by itself. 0 and 3 read what 5 writes; 3 and 4 write
  // different elements, which only a proof can tell.
  EXPECT_EQ(same(text, {0, 1, 2, 3}), (std::vector<int>{1, 2}));
  EXPECT_EQ(same(text, {0, 1, 3}), std::vector<int>{}) << "2 stays, and writes what 1 reads whole";
  EXPECT_EQ(same(text, {3, 5}), (std::vector<int>{3, 5})) << "5 reads elements of y: not names";
}

// Against a list that is looked through from its end.
TEST(Scopes, find_the_newest_of_what_was_not_left) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return random() % n; };
  std::vector<Sym> names;
  for (int k = 0; k < 150; ++k) names.push_back(Sym::fresh("x"));
  Scope scope;
  std::vector<std::pair<Sym, const Type*>> all;
  const std::vector<Type> types(4);
  for (int round = 0; round < 20000; ++round) {
    const Sym name = names[below(names.size())];
    if (below(40) == 0) {
      const size_t n = below(all.size() + 1);
      scope.truncate(n);
      all.resize(n);
    } else if (below(2) == 0) {
      const Type* type = &types[below(types.size())];
      scope.push(Binding{name, type});
      all.push_back({name, type});
    }
    const auto at = std::find_if(all.rbegin(), all.rend(),
                                 [&](const auto& bound) { return bound.first == name; });
    const Binding* found = scope.find(name);
    ASSERT_EQ(found != nullptr, at != all.rend());
    ASSERT_TRUE(!found || found->type == at->second);
    ASSERT_EQ(scope.size(), all.size());
  }
}

}  // namespace
}  // namespace exotune
