// From programs to candidates: what is lifted, what is found, and that each candidate computes the
// same.
#include "search/eqsat/lowering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "tests/search/eqsat/programs.h"

namespace exotune::eqsat {
namespace {

CandidateReport candidates(const std::string& text, int64_t columns = 16) {
  const ProcPtr p = proc(text);
  CandidateReport r =
      find_candidates(p, {.rules = {shipped("canonical"), shipped("layout"), shipped("systolic")},
                          .constants = {{"R", columns}, {"C", columns}}});
  EXPECT_EQ(r.candidates.front().proc, p);
  return r;
}

// "B_view[k,j]" for each copy.
std::set<std::string> copies(const CandidateReport& r) {
  std::set<std::string> all;
  for (const Candidate& c : r.candidates)
    for (const StagedView& v : c.plan.views) {
      std::string text = v.name + "[";
      for (const auto& [name, extent] : v.axes) text += (text.back() == '[' ? "" : ",") + name;
      all.insert(text + "]");
    }
  return all;
}

TEST(Lowering, a_transposed_operand_is_copied_into_the_order_of_columns) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def nt(A: f32[32, 16], B: f32[16, 16], C: f32[32, 16]):\n"
      "    for i in seq(0, 32):\n"
      "        for j in seq(0, 16):\n"
      "            for k in seq(0, 16):\n"
      "                C[i, j] += A[i, k] * B[j, k]\n");
  EXPECT_TRUE(copies(r).contains("B_view[k,j]"));
}

TEST(Lowering, im2col_of_a_convolution_is_found_and_proved) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def conv(image: f32[4, 10, 10], weights: f32[16, 4, 3, 3], out: f32[16, 8, 8]):\n"
      "    for o in seq(0, 16):\n"
      "        for y in seq(0, 8):\n"
      "            for x in seq(0, 8):\n"
      "                for c in seq(0, 4):\n"
      "                    for r in seq(0, 3):\n"
      "                        for s in seq(0, 3):\n"
      "                            out[o, y, x] += weights[o, c, r, s] * image[c, y + r, x + s]\n");
  ASSERT_GE(r.candidates.size(), 2u);
  EXPECT_TRUE(copies(r).contains("image_view[y,x,c,r,s]"));
  for (size_t i = 1; i < r.candidates.size(); ++i) {
    EXPECT_NE(provenance_of(*r.candidates[i].proc), nullptr);
    EXPECT_TRUE(is_equivalent(r.candidates[0].proc, r.candidates[i].proc));
  }
}

// Axes of one point say of no loop where it went.
TEST(Lowering, im2col_of_an_image_with_one_channel) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def conv(image: f32[1, 12, 12], weights: f32[16, 1, 5, 5], out: f32[16, 8, 8]):\n"
      "    for o in seq(0, 16):\n"
      "        for y in seq(0, 8):\n"
      "            for x in seq(0, 8):\n"
      "                for c in seq(0, 1):\n"
      "                    for r in seq(0, 5):\n"
      "                        for s in seq(0, 5):\n"
      "                            out[o, y, x] += weights[o, c, r, s] * image[c, y + r, x + s]\n");
  EXPECT_TRUE(copies(r).contains("image_view[c,y,x,r,s]"));
  for (size_t i = 1; i < r.candidates.size(); ++i)
    EXPECT_TRUE(is_equivalent(r.candidates[0].proc, r.candidates[i].proc));
}

TEST(Lowering, a_product_of_single_rows) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def row(A: f32[1, 16], B: f32[16, 16], C: f32[1, 16]):\n"
      "    for i in seq(0, 1):\n"
      "        for j in seq(0, 16):\n"
      "            for k in seq(0, 16):\n"
      "                C[i, j] += A[i, k] * B[k, j]\n");
  EXPECT_TRUE(copies(r).contains("B_view[j,k]"));
  EXPECT_EQ(r.refused.count("an operand's axes are cut"), 0u);
}

// Vectors run along the columns of B: what of A is wanted is one element at a time, wherever it
// lies.
TEST(Lowering, one_of_two_transposed_factors_may_be_read_in_place) {
  const ProcPtr p = proc(
      "@proc\n"
      "def tt(A: f32[24, 16], B: f32[32, 24], C: f32[16, 32]):\n"
      "    for i in seq(0, 16):\n"
      "        for j in seq(0, 32):\n"
      "            for k in seq(0, 24):\n"
      "                C[i, j] += A[k, i] * B[j, k]\n");
  const CandidateReport r =
      find_candidates(p, {.rules = {shipped("canonical"), shipped("layout"), shipped("columns")}});
  const auto both = std::find_if(r.candidates.begin(), r.candidates.end(),
                                 [](const Candidate& c) { return c.plan.views.size() == 2; });
  ASSERT_NE(both, r.candidates.end());
  const auto one = std::find_if(r.candidates.begin(), r.candidates.end(), [](const Candidate& c) {
    return c.plan.views.size() == 1 && c.plan.views[0].operand == "B" && c.copied == "768";
  });
  ASSERT_NE(one, r.candidates.end());
  EXPECT_EQ(both->copied, "1152");
  for (size_t i = 1; i < r.candidates.size(); ++i)
    EXPECT_TRUE(is_equivalent(r.candidates[0].proc, r.candidates[i].proc));
}

TEST(Lowering, a_stride_is_kept) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def conv(image: f32[3, 17], weights: f32[8, 3, 3], out: f32[8, 8]):\n"
      "    for o in seq(0, 8):\n"
      "        for y in seq(0, 8):\n"
      "            for c in seq(0, 3):\n"
      "                for r in seq(0, 3):\n"
      "                    out[o, y] += weights[o, c, r] * image[c, 2 * y + r]\n");
  EXPECT_TRUE(copies(r).contains("image_view[y,c,r]"));
}

TEST(Lowering, steps_over_an_image_of_single_points) {
  const ProcPtr p = proc(
      "@proc\n"
      "def conv(image: f32[8, 14, 14], weights: f32[16, 8], out: f32[16, 7, 7]):\n"
      "    for o in seq(0, 16):\n"
      "        for y in seq(0, 7):\n"
      "            for x in seq(0, 7):\n"
      "                for c in seq(0, 8):\n"
      "                    out[o, y, x] += image[c, 2 * y, 2 * x] * weights[o, c]\n");
  const CandidateReport r =
      find_candidates(p, {.rules = {shipped("canonical"), shipped("layout"), shipped("columns")}});
  EXPECT_TRUE(r.not_lifted.empty());
  EXPECT_TRUE(r.refused.empty());
  EXPECT_TRUE(copies(r).contains("image_view[c,y,x]"));
}

// Channels of all groups in one dimension: `8 * g + c` counts it.
TEST(Lowering, groups_of_channels_in_one_dimension) {
  const char* const grouped =
      "@proc\n"
      "def conv(image: f32[32, 9, 9], weights: f32[64, 8, 3, 3], out: f32[64, 7, 7]):\n"
      "    for g in seq(0, 4):\n"
      "        for o in seq(0, 16):\n"
      "            for y in seq(0, 7):\n"
      "                for x in seq(0, 7):\n"
      "                    for c in seq(0, 8):\n"
      "                        for r in seq(0, 3):\n"
      "                            for s in seq(0, 3):\n"
      "                                out[16 * g + o, y, x] += image[8 * g + c, y + r, x + s] * "
      "weights[16 * g + o, c, r, s]\n";
  const ProcPtr p = proc(grouped);
  const CandidateReport r =
      find_candidates(p, {.rules = {shipped("canonical"), shipped("layout"), shipped("columns")}});
  EXPECT_TRUE(copies(r).contains("image_view[g,c,r,s,y,x]"));
  EXPECT_TRUE(r.refused.empty());
  // Groups that overlap, or leave channels out, are not counted so.
  std::string other = grouped;
  other.replace(other.find("out[16"), 6, "out[15");
  const CandidateReport none =
      find_candidates(proc(other), {.rules = {shipped("canonical"), shipped("layout")}});
  ASSERT_EQ(none.not_lifted.size(), 1u);
  EXPECT_EQ(none.not_lifted[0].reason,
            "the output is not subscripted by loops that count each element once");
}

// A part of the output, a row or a place of it: the operands are what views are of.
TEST(Lowering, an_output_that_begins_elsewhere_is_read) {
  const auto of = [](const std::string& element) {
    return candidates(
        "@proc\n"
        "def part(N: size, A: f32[32, 16], B: f32[16, 16], C: f32[2, N + 64, 17]):\n"
        "    for i in seq(0, 32):\n"
        "        for j in seq(0, 16):\n"
        "            for k in seq(0, 16):\n"
        "                C[" +
        element + "] += A[i, k] * B[j, k]\n");
  };
  for (const char* element :
       {"1, i, j", "0, i + 3, j", "0, i, j + 1", "1, i + N, j", "0, 31 - N + N + i, 1 + j"}) {
    const CandidateReport r = of(element);
    EXPECT_TRUE(r.not_lifted.empty()) << element;
    EXPECT_TRUE(copies(r).contains("B_view[k,j]")) << element;
    for (const Candidate& c : r.candidates) {
      EXPECT_NO_THROW(check(*c.proc)) << element;
      EXPECT_TRUE(is_equivalent(c.proc, r.candidates[0].proc)) << element;
    }
  }
  // Backwards, or one element for several points beside the sum's.
  for (const char* element : {"0, 31 - i, j", "0, i + j, 1", "0, 2 * i + 1, j"})
    EXPECT_EQ(of(element).not_lifted.size(), 1u) << element;
}

TEST(Lowering, a_buffer_of_the_program_is_an_operand) {
  const ProcPtr p = proc(
      "@proc\n"
      "def attention(Q: f32[32, 16], K: f32[48, 16], V: f32[16, 48], out: f32[32, 16]):\n"
      "    P: f32[32, 48]\n"
      "    for i in seq(0, 32):\n"
      "        for j in seq(0, 48):\n"
      "            P[i, j] = 0.0\n"
      "            for d in seq(0, 16):\n"
      "                P[i, j] += Q[i, d] * K[j, d]\n"
      "    for i in seq(0, 32):\n"
      "        for d in seq(0, 16):\n"
      "            for j in seq(0, 48):\n"
      "                out[i, d] += P[i, j] * V[d, j]\n");
  const CandidateReport r =
      find_candidates(p, {.rules = {shipped("canonical"), shipped("layout"), shipped("columns")}});
  EXPECT_TRUE(r.not_lifted.empty());
  const std::set<std::string> found = copies(r);
  EXPECT_TRUE(found.contains("K_view[d,j]"));
  EXPECT_TRUE(found.contains("V_view[j,d]"));
}

// Matrices blended for each point, of weights with bones: nothing around the points sees them.
TEST(Lowering, an_array_made_inside_the_loops_is_no_output) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def skin(bone: f32[6, 3, 4], weight: f32[40, 6], y: f32[40, 3]):\n"
      "    for v in seq(0, 40):\n"
      "        m: f32[3, 4]\n"
      "        for r in seq(0, 3):\n"
      "            for c in seq(0, 4):\n"
      "                m[r, c] = 0.0\n"
      "                for b in seq(0, 6):\n"
      "                    m[r, c] += weight[v, b] * bone[b, r, c]\n"
      "        for r in seq(0, 3):\n"
      "            y[v, r] = m[r, 3]\n");
  for (const Candidate& c : r.candidates) EXPECT_NE(c.proc, nullptr) << c.text;
}

TEST(Lowering, an_output_of_each_iteration) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def conv(image: f32[10, 4], weights: f32[3, 4, 16], out: f32[8, 16]):\n"
      "    for x in seq(0, 8):\n"
      "        for k in seq(0, 16):\n"
      "            sum: f32\n"
      "            sum = 0.0\n"
      "            for dx in seq(0, 3):\n"
      "                for c in seq(0, 4):\n"
      "                    sum += image[x + dx, c] * weights[dx, c, k]\n"
      "            out[x, k] = relu(sum)\n",
      12);
  EXPECT_TRUE(copies(r).contains("image_view[x,dx,c]"));
}

TEST(Lowering, both_orders_of_an_operand) {
  const CandidateReport r = find_candidates(
      proc("@proc\n"
           "def nn(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):\n"
           "    for i in seq(0, M):\n"
           "        for j in seq(0, N):\n"
           "            for k in seq(0, K):\n"
           "                C[i, j] += A[i, k] * B[k, j]\n"),
      {.rules = {shipped("canonical"), shipped("layout"), shipped("columns")}});
  EXPECT_EQ(copies(r), (std::set<std::string>{"B_view[j,k]"}));
}

TEST(Lowering, short_rows_of_a_convolution_become_one_loop) {
  CandidateRequest request;
  for (const char* set : {"canonical", "layout", "columns"}) request.rules.push_back(shipped(set));
  const CandidateReport r = find_candidates(
      proc("@proc\n"
           "def conv(image: f32[4, 9, 9], weights: f32[8, 4, 3, 3], out: f32[8, 7, 7]):\n"
           "    for o in seq(0, 8):\n"
           "        for y in seq(0, 7):\n"
           "            for x in seq(0, 7):\n"
           "                for c in seq(0, 4):\n"
           "                    for r in seq(0, 3):\n"
           "                        for s in seq(0, 3):\n"
           "                            out[o, y, x] += weights[o, c, r, s] * image[c, y + r, x + "
           "s]\n"),
      request);
  const auto one = std::find_if(r.candidates.begin(), r.candidates.end(), [](const Candidate& c) {
    return c.text == "image_view[c, r, s, y, x] = image[c, y + r, x + s], one loop: y x";
  });
  ASSERT_NE(one, r.candidates.end());
  EXPECT_EQ(one->along, "49");
  EXPECT_EQ(one->copied, "2548");  // 4 * 9 * 49 of the image, twice 8 * 49 of the output
  EXPECT_NE(
      str(*one->proc).find("out_view[o, yx] += weights[o, c, r, s] * image_view[c, r, s, yx]"),
      std::string::npos)
      << str(*one->proc);
}

TEST(Lowering, loops_of_the_sum_become_one_for_machines_that_multiply_tiles) {
  CandidateRequest request;
  for (const char* set : {"canonical", "layout", "columns"}) request.rules.push_back(shipped(set));
  request.plan.fuse_sums = true;
  const CandidateReport r = find_candidates(
      proc("@proc\n"
           "def conv(image: i8[4, 6, 6], weights: i8[8, 4, 3, 3], out: i32[8, 4, 4]):\n"
           "    for o in seq(0, 8):\n"
           "        for y in seq(0, 4):\n"
           "            for x in seq(0, 4):\n"
           "                for c in seq(0, 4):\n"
           "                    for r in seq(0, 3):\n"
           "                        for s in seq(0, 3):\n"
           "                            a: i32\n"
           "                            b: i32\n"
           "                            a = weights[o, c, r, s]\n"
           "                            b = image[c, y + r, x + s]\n"
           "                            out[o, y, x] += a * b\n"),
      request);
  EXPECT_TRUE(std::any_of(r.candidates.begin(), r.candidates.end(), [](const Candidate& c) {
    const std::string text = str(*c.proc);
    return text.find("a = weights_view[o, crs]") != std::string::npos &&
           text.find("b = image_view[yx, crs]") != std::string::npos;
  }));
}

TEST(Lowering, named_sizes) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def tn(M: size, N: size, K: size, A: f32[K, M], B: f32[N, K], C: f32[M, N]):\n"
      "    for i in seq(0, M):\n"
      "        for j in seq(0, N):\n"
      "            for k in seq(0, K):\n"
      "                C[i, j] += A[k, i] * B[j, k]\n");
  EXPECT_TRUE(copies(r).contains("A_view[i,k]"));
}

struct ReadNest {
  const char* arguments;
  const char* loops;  // "i:8 j:8"
  const char* sum;
  const char* copy;  // that some candidate makes
};

std::string text_of(const ReadNest& n) {
  std::string text = std::string("@proc\ndef f(") + n.arguments + "):\n", indent = "    ";
  std::istringstream loops(n.loops);
  for (std::string loop; loops >> loop; indent += "    ") {
    const size_t colon = loop.find(':');
    text +=
        indent + "for " + loop.substr(0, colon) + " in seq(0, " + loop.substr(colon + 1) + "):\n";
  }
  return text + indent + n.sum + "\n";
}

// Backwards, from an element on, a part of it, a diagonal, steps counted by two loops, one tensor
// twice, windows whose taps the output has: each is a view, and so are blocks of it.
TEST(Lowering, operands_are_read_in_any_direction_from_anywhere) {
  const ReadNest nests[] = {
      {"x: f32[4, 12], w: f32[8, 4, 5], z: f32[8, 8]", "o:8 y:8 c:4 r:5",
       "z[o, y] += w[o, c, r] * x[c, y - r + 4]", "x_view[y,c,r]"},
      {"x: f32[4, 12], w: f32[8, 4, 5], z: f32[8, 8]", "o:8 y:8 c:4 r:5",
       "z[o, y] += w[o, c, 4 - r] * x[c, y + r]", "w_view[o,c,r]"},
      {"N: size, x: f32[4, N + 4], w: f32[8, 4, 5], z: f32[8, N]", "o:8 y:N c:4 r:5",
       "z[o, y] += w[o, c, r] * x[c, y - r + 4]", "x_view[c,r,y]"},
      {"N: size, A: f32[8, N], B: f32[N, 8], C: f32[8, 8]", "i:8 j:8 k:N",
       "C[i, j] += A[i, N - 1 - k] * B[k, j]", "A_view[i,k]"},
      {"A: f32[20, 20], B: f32[20, 20], C: f32[8, 8]", "i:8 j:8 k:12",
       "C[i, j] += A[i + 3, k] * B[j, k + 8]", "B_view[k,j]"},
      {"A: f32[3, 8, 12], B: f32[12, 8], C: f32[8, 8]", "i:8 j:8 k:12",
       "C[i, j] += A[1, i, k] * B[k, j]", "B_view[j,k]"},
      {"A: f32[8, 8, 12], B: f32[12, 8], C: f32[8, 8]", "i:8 j:8 k:12",
       "C[i, j] += A[i, i, k] * B[k, j]", "A_view[i,k]"},
      {"x: f32[4, 19, 20], w: f32[8, 4, 3, 3], z: f32[8, 16, 16]", "o:8 p:4 q:4 x0:16 c:4 r:3 s:3",
       "z[o, 4 * p + q, x0] += w[o, c, r, s] * x[c, 4 * p + q + r, x0 + s + 1]",
       "x_view[p,q,x0,c,r,s]"},
      {"A: f32[8, 12], C: f32[8, 8]", "i:8 j:8 k:12", "C[i, j] += A[i, k] * A[j, k]",
       "A_view_right[k,j]"},
      {"x: f32[4, 10], g: f32[8, 8], z: f32[8, 4, 3]", "o:8 c:4 r:3 y:8",
       "z[o, c, r] += g[o, y] * x[c, y + r]", "x_view[y,c,r]"},
      {"A: f32[8, 8], B: f32[12, 8], C: f32[8, 12]", "i:8 j:12 k:8",
       "C[7 - i + i - 7 + i, j] += A[7 - i, k] * B[11 - j, 7 - k]", "B_view[k,j]"},
  };
  for (const ReadNest& nest : nests) {
    const ProcPtr p = proc(text_of(nest));
    const CandidateReport r = find_candidates(
        p, {.rules = {shipped("canonical"), shipped("layout"), shipped("columns")}});
    EXPECT_TRUE(r.not_lifted.empty()) << nest.sum << ": " << r.not_lifted[0].reason;
    EXPECT_TRUE(r.refused.empty()) << nest.sum << ": " << r.refused.begin()->first;
    EXPECT_TRUE(copies(r).contains(nest.copy)) << nest.sum << testing::PrintToString(copies(r));
    for (const Candidate& c : r.candidates) {
      EXPECT_NO_THROW(check(*c.proc)) << c.text;
      EXPECT_TRUE(is_equivalent(p, c.proc)) << c.text;
    }
  }
}

TEST(Lowering, blocks_of_what_is_read_backwards_or_from_an_element_on) {
  for (const ReadNest& nest :
       {ReadNest{"A: f32[64, 64], B: f32[64, 64], C: f32[32, 32]", "i:32 j:32 k:48",
                 "C[i, j] += A[i + 3, 50 - k] * B[k, j]", ""},
        ReadNest{"A: f32[32, 32, 48], B: f32[48, 32], C: f32[32, 32]", "i:32 j:32 k:48",
                 "C[i, j] += A[i, i, k] * B[k, j]", ""}}) {
    const CandidateReport r =
        find_candidates(proc(text_of(nest)),
                        {.rules = {shipped("canonical"), shipped("padding"), shipped("blocking")},
                         .constants = {{"K", 16}, {"L", 0}},
                         .loops = 16,
                         .limits = {.iterations = 12, .nodes = 20'000}});
    const bool found =
        std::any_of(r.candidates.begin(), r.candidates.end(), [](const Candidate& c) {
          return c.proof == CandidateProof::kBijection &&
                 c.text == "i = 16 * i0 + i1, j = 16 * j0 + j1, k = 16 * k0 + k1";
        });
    EXPECT_TRUE(found) << nest.sum;
  }
}

// Nothing is summed: items of one point.
TEST(Lowering, a_product_of_all_with_all_is_a_term) {
  const CandidateReport r =
      find_candidates(proc(text_of({"A: f32[4, 6], B: f32[8, 16], C: f32[4, 8, 6, 16]",
                                    "i:4 k:8 j:6 l:16", "C[i, k, j, l] += A[i, j] * B[k, l]", ""})),
                      {.rules = {shipped("canonical"), shipped("layout"), shipped("columns")}});
  EXPECT_TRUE(r.not_lifted.empty());
  EXPECT_GT(r.nodes, 0u);
}

TEST(Lowering, what_one_factor_sums_alone_is_summed_ahead) {
  const ProcPtr p = proc(text_of({"A: f32[8, 6, 12], B: f32[12, 9], C: f32[8, 9]",
                                  "i:8 j:9 b:6 k:12", "C[i, j] += A[i, b, k] * B[k, j]", ""}));
  const CandidateReport r = find_candidates(p, {});
  ASSERT_EQ(r.candidates.size(), 2u);
  EXPECT_EQ(r.candidates[1].text, "A_sum = sum of A");
  EXPECT_EQ(r.candidates[1].figures->products, 8 * 6 * 12 + 8 * 9 * 12);
  EXPECT_TRUE(r.not_lifted.empty());
  EXPECT_NO_THROW(check(*r.candidates[1].proc));
}

// Factors of one array are told apart by what they read; the same element twice is no product here.
TEST(Lowering, a_quadratic_form_is_a_product_and_a_sum) {
  const auto of = [](const std::string& sum) {
    return find_candidates(proc(text_of({"x: f32[40, 12], A: f32[12, 12], q: f32[40]",
                                         "b:40 i:12 j:12", ("q[b] += " + sum).c_str(), ""})),
                           {});
  };
  const CandidateReport r = of("x[b, i] * A[i, j] * x[b, j]");
  ASSERT_EQ(r.candidates.size(), 3u);
  std::set<std::string> texts = {r.candidates[1].text, r.candidates[2].text};
  EXPECT_TRUE(texts.count("A_x = sum of A * x[b, j]"));
  EXPECT_TRUE(texts.count("x_A = sum of x[b, i] * A"));
  EXPECT_NO_THROW(check(*r.candidates[1].proc));
  EXPECT_EQ(of("x[b, i] * A[i, j] * x[b, i]").candidates.size(), 1u);
}

TEST(Lowering, what_is_no_product_of_views_is_named) {
  const CandidateReport r = candidates(
      "@proc\n"
      "def f(A: f32[8, 8], B: f32[8, 8], C: f32[8, 8]):\n"
      "    for i in seq(0, 8):\n"
      "        for j in seq(1, 8):\n"
      "            for k in seq(0, 8):\n"
      "                C[i, j] += A[i, k] * B[k, j]\n");
  EXPECT_EQ(r.candidates.size(), 1u);
  ASSERT_EQ(r.not_lifted.size(), 1u);
  EXPECT_EQ(r.not_lifted[0].reason, "the bounds of `j` are not 0 and a size");
  EXPECT_TRUE(r.not_lifted[0].where.known());
}

}  // namespace
}  // namespace exotune::eqsat
