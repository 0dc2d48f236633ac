// reindex_loops: the terms of a sum counted in another way.
#include "core/primitives/reindex.h"

#include "core/cursor/provenance.h"
#include "tests/core/primitives/differential.h"
#include "tests/core/primitives/support.h"

namespace exotune {
namespace {

using test::expect_proc;
using test::parse;
using test::refusal;

const char* const kRows = R"(
def f(M: size, K: size, A: f32[M, K], x: f32[M]):
    for i in seq(0, M):
        for k in seq(0, K):
            x[i] += A[i, k]
)";

ProcPtr blocks(const std::string& extent, const std::string& k, const std::string& where) {
  return reindex_loops(parse(kRows), "for i in _: _",
                       {{"ko", extent, "k / 4"}, {"i", "M", "i"}, {"ki", "4", "k % 4"}},
                       {{"i", "i"}, {"k", k}}, where);
}

TEST(ReindexLoops, blocks_that_end_in_a_guard) {
  ProcPtr q = blocks("(K + 3) / 4", "4 * ko + ki", "4 * ko + ki < K");
  expect_proc(q, R"(
def f(M: size, K: size, A: f32[M, K], x: f32[M]):
    for ko in seq(0, (K + 3) / 4):
        for i in seq(0, M):
            for ki in seq(0, 4):
                if 4 * ko + ki < K:
                    x[i] += A[i, 4 * ko + ki]
)");
  EXPECT_TRUE(reassociates(q));
  test::expect_same_meaning(parse(kRows), q,
                            {{{"M", 2}, {"K", 1}}, {{"M", 3}, {"K", 8}}, {{"M", 1}, {"K", 11}}});
}

TEST(ReindexLoops, two_loops_as_one) {
  expect_proc(reindex_loops(parse(R"(
def f(N: size, A: f32[N, 3, 5], x: f32):
    for n in seq(0, N):
        for r in seq(0, 3):
            for s in seq(0, 5):
                x max= A[n, r, s]
)"),
                            "for n in _: _", {{"all", "15 * N", "15 * n + 5 * r + s"}},
                            {{"n", "all / 15"}, {"r", "all / 5 % 3"}, {"s", "all % 5"}}),
              R"(
def f(N: size, A: f32[N, 3, 5], x: f32):
    for all in seq(0, 15 * N):
        x max= A[all / 15, (all / 5) % 3, all % 5]
)");
}

TEST(ReindexLoops, refuses_what_loses_a_term) {
  EXPECT_NE(refusal([] { (void)blocks("K / 4", "4 * ko + ki", "4 * ko + ki < K"); }), "");
  EXPECT_NE(refusal([] { (void)blocks("(K + 3) / 4", "4 * ko + ki", "4 * ko + ki < K - 1"); }), "");
}

TEST(ReindexLoops, refuses_what_adds_a_term) {
  EXPECT_NE(refusal([] { (void)blocks("(K + 3) / 4", "4 * ko + ki", ""); }), "");
  // Each term of the first block twice, those of the last one never.
  EXPECT_NE(refusal([] { (void)blocks("(K + 3) / 4", "ki", "ki < K"); }), "");
}

TEST(ReindexLoops, refuses_blocks_that_overlap) {
  EXPECT_NE(refusal([] { (void)blocks("(K + 3) / 4", "3 * ko + ki", "3 * ko + ki < K"); }), "");
}

TEST(ReindexLoops, refuses_what_is_no_sum_or_sees_its_own) {
  const auto refused = [](const std::string& text) {
    return refusal([&] {
      (void)reindex_loops(parse(text), "for i in _: _", {{"j", "8", "7 - i"}}, {{"i", "7 - j"}});
    });
  };
  EXPECT_EQ(refused("def f(x: f32[8], y: f32):\n    for i in seq(0, 8):\n        y += x[i]\n"), "");
  EXPECT_NE(refused("def f(x: f32[8], y: f32):\n    for i in seq(0, 8):\n        y = x[i]\n"), "");
  EXPECT_NE(refused("def f(x: f32[8]):\n    for i in seq(1, 8):\n        x[i] += x[i - 1]\n"), "");
  EXPECT_NE(refused("def f(x: f32[9]):\n    for i in seq(0, 8):\n        x[i + 1] += x[i]\n"), "");
  EXPECT_NE(refused("def f(x: f32[8], y: f32):\n    for i in par(0, 8):\n        y += x[i]\n"), "");
  EXPECT_NE(
      refused("def f(x: f32[8], y: f32):\n    for i in seq(0, 8):\n        for k in seq(0, i):\n"
              "            y += x[i]\n"),
      "");
}

TEST(ReindexLoops, names_every_loop_once) {
  const auto with = [](const std::vector<CountedLoop>& loops, const FormerLoops& former) {
    return refusal([&] { (void)reindex_loops(parse(kRows), "for i in _: _", loops, former); });
  };
  EXPECT_NE(with({{"i", "M", "i"}, {"i", "K", "k"}}, {{"i", "i"}, {"k", "i"}}), "");
  EXPECT_NE(with({{"a", "M", "i"}, {"b", "K", "k"}}, {{"i", "a"}}), "");
  EXPECT_NE(with({{"a", "M", "i"}, {"b", "K", "k"}}, {{"i", "a"}, {"k", "b"}, {"z", "b"}}), "");
  EXPECT_EQ(with({{"b", "K", "k"}, {"a", "M", "i"}}, {{"i", "a"}, {"k", "b"}}), "");
}

}  // namespace
}  // namespace exotune
