// What keeps vectors from a loop, said in the words of the program's own text.
#include "search/outline/blockers.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"

namespace exotune {
namespace {

std::vector<Blocker> found(const std::string& text) {
  const ProcPtr p = parse_module(text, "k.exo").procs.front();
  return blockers_of(*p, {{"N", 64}});
}

TEST(Blockers, a_chain_is_named_with_its_line) {
  const std::vector<Blocker> b = found(R"(@proc
def seidel(N: size, A: f64[N + 2, N + 2]):
    for i in seq(1, N):
        for j in seq(1, N):
            A[i, j] = A[i, j - 1] + A[i - 1, j]
)");
  ASSERT_EQ(b.size(), 1u);
  EXPECT_EQ(b[0].loop, "for j");
  EXPECT_TRUE(b[0].chain);
  EXPECT_EQ(b[0].where.str(), "k.exo:4:9");
  EXPECT_NE(b[0].why.find("reads A["), std::string::npos) << b[0].why;
  EXPECT_NE(b[0].why.find("writes as A[i, j]"), std::string::npos) << b[0].why;
  EXPECT_NE(b[0].instead.find("nothing inside of one such chain"), std::string::npos)
      << b[0].instead;
}

TEST(Blockers, of_a_chain_know_an_independent_loop_around_it) {
  const std::vector<Blocker> b = found(R"(@proc
def columns(N: size, A: f64[N + 2, 16, 4]):
    for c in seq(0, 16):
        for i in seq(1, N):
            for d in seq(1, 4):
                A[i, c, d] = A[i, c, d - 1] + A[i - 1, c, d]
)");
  ASSERT_EQ(b.size(), 1u);
  EXPECT_NE(b[0].instead.find("iterations of `c` are independent"), std::string::npos)
      << b[0].instead;
}

TEST(Blockers, of_what_is_one_element_ask_for_a_sum) {
  const std::vector<Blocker> b = found(R"(@proc
def most(N: size, x: f32[N], s: f32[1]):
    for i in seq(0, N):
        s[0] = fmax(s[0], x[i])
)");
  ASSERT_EQ(b.size(), 1u);
  EXPECT_NE(b[0].instead.find("max="), std::string::npos) << b[0].instead;
}

TEST(Blockers, an_access_across_rows_is_named_with_its_step) {
  const std::vector<Blocker> b = found(R"(@proc
def columns(N: size, A: f64[N, 48], s: f64[48]):
    for j in seq(0, 48):
        for i in seq(0, N):
            s[j] += A[i, j]
)");
  ASSERT_EQ(b.size(), 1u);
  EXPECT_NE(b[0].why.find("A[i, j] steps over 48 elements"), std::string::npos) << b[0].why;
  EXPECT_FALSE(b[0].instead.empty());
  EXPECT_FALSE(b[0].chain);
}

TEST(Blockers, a_condition_of_the_loop_is_one) {
  const std::vector<Blocker> b = found(R"(@proc
def edge(N: size, x: f32[N]):
    for i in seq(0, N):
        if i > 3:
            x[i] = 0.0
)");
  ASSERT_EQ(b.size(), 1u);
  EXPECT_NE(b[0].why.find("`if`"), std::string::npos);
}

TEST(Blockers, loops_that_vectors_run_along_have_none) {
  EXPECT_TRUE(found(R"(@proc
def sum(N: size, x: f32[N], y: f32[N], s: f32[1]):
    for i in seq(0, N):
        s[0] += x[i] * y[i]
)")
                  .empty());
}

TEST(Blockers, what_runs_most_comes_first) {
  const std::vector<Blocker> b = found(R"(@proc
def two(N: size, x: f64[N + 1], A: f64[N + 1, N + 1]):
    for i in seq(0, N):
        x[i + 1] = x[i] * 0.5
    for i in seq(0, N):
        for j in seq(0, N):
            A[i, j + 1] = A[i, j] * 0.5
)");
  ASSERT_EQ(b.size(), 2u);
  EXPECT_EQ(b[0].loop, "for j");
  EXPECT_GT(b[0].share, 0.9);
}

}  // namespace
}  // namespace exotune
