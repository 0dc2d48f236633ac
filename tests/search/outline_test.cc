// The outline: loops and what they are to each other, how accesses step, who makes what for whom.
#include "search/outline/outline.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "k.exo").procs.front(); }

const OutlineLoop& loop(const Outline& o, const std::string& name) {
  for (const OutlineLoop& l : o.loops)
    if (l.iter.name() == name) return l;
  throw std::runtime_error("no loop " + name);
}
int index_of(const Outline& o, const std::string& name) {
  return static_cast<int>(&loop(o, name) - o.loops.data());
}

const char* const kProduct = R"(
@proc
def product(N: size, A: f32[8, 16], B: f32[16, 64], C: f32[8, 64]):
    for i in seq(0, 8):
        for j in seq(0, 64):
            for k in seq(0, 16):
                C[i, j] += A[i, k] * B[k, j]
)";

TEST(Outline, tells_sums_from_elements) {
  const ProcPtr p = parsed(kProduct);
  const Outline o = outline_of(*p);
  EXPECT_EQ(role_of(o, index_of(o, "j")), LoopRole::kParallel);
  EXPECT_EQ(role_of(o, index_of(o, "k")), LoopRole::kReduction);
}

TEST(Outline, finds_recurrences) {
  const ProcPtr p = parsed(R"(
@proc
def prefix(N: size, x: f32[N + 1]):
    for i in seq(0, N):
        x[i + 1] += x[i]
)");
  EXPECT_EQ(role_of(outline_of(*p), 0), LoopRole::kRecurrence);
}

TEST(Outline, strides_are_in_elements_of_the_buffer) {
  const ProcPtr p = parsed(kProduct);
  const Outline o = outline_of(*p);
  for (const OutlineAccess& a : o.accesses)
    if (a.what.buffer.name() == "B") {
      EXPECT_EQ(o.stride(a, index_of(o, "k")), 64);
      EXPECT_EQ(o.stride(a, index_of(o, "j")), 1);
      EXPECT_EQ(o.stride(a, index_of(o, "i")), 0);
    }
}

TEST(Outline, a_triangle_counts_its_mean) {
  const ProcPtr p = parsed(R"(
@proc
def triangle(N: size, x: f32[N, N]):
    for i in seq(0, N):
        for j in seq(0, i + 1):
            x[i, j] = 0.0
)");
  const Outline o = outline_of(*p, {{"N", 101}});
  EXPECT_EQ(loop(o, "i").extent, 101);
  EXPECT_FALSE(loop(o, "j").extent);
  EXPECT_DOUBLE_EQ(loop(o, "j").trips, 51);
  EXPECT_EQ(loop(o, "j").bounded_by, std::vector<int>{0});
}

TEST(Outline, an_edge_tells_the_halo) {
  const ProcPtr p = parsed(R"(
@proc
def blur(N: size, x: f32[N + 4], y: f32[N]):
    t : f32[N + 2]
    for i in seq(0, N + 2):
        t[i] = x[i] + x[i + 1]
    for i in seq(0, N):
        y[i] = t[i] + t[i + 2]
)");
  const Outline o = outline_of(*p);
  const std::vector<OutlineEdge> edges = edges_of(o);
  ASSERT_EQ(edges.size(), 1u);
  EXPECT_EQ(edges[0].producer, 1);
  EXPECT_EQ(edges[0].consumer, 2);
  EXPECT_EQ(edges[0].halo, std::vector<int64_t>{2});
}

}  // namespace
}  // namespace exotune
