// Numbers of a few parts taken apart: which loops it is for, and that the same is computed.
#include "search/moves/components.h"

#include <gtest/gtest.h>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "hw/target.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

std::vector<Schedule> apart(const ProcPtr& p) {
  static const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  static const ValueList instructions = instruction_values(*target);
  static const VectorValues unit(*target, ScalarType::kF32, instructions);
  return in_components({p, {}, false}, {}, instructions, unit);
}

bool has(const Schedule& s, const std::string& text) {
  return str(*s.proc).find(text) != std::string::npos;
}

const char* const kColours = R"(
@proc
def colours(M: f32[3, 3], x: f32[20, 3], y: f32[20, 3]):
    for p in seq(0, 20):
        for c in seq(0, 3):
            y[p, c] = 0.0
            for k in seq(0, 3):
                y[p, c] += M[c, k] * x[p, k]
)";

TEST(Components, of_a_dimension_of_their_own) {
  const ProcPtr p = parsed(kColours);
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "mm256_deinterleave3_ps(x_parts[0:3, 0:8], x[8 * pb:8 * pb + 8, 0:3])"))
      << str(*found[0].proc);
  EXPECT_TRUE(
      has(found[0], "mm256_interleave_rows3_ps(y[8 * pb:8 * pb + 8, 0:3], y_parts[0:3, 0:8])"));
  EXPECT_FALSE(has(found[0], "deinterleave3_ps(y_parts")) << "y is written as a whole";
  EXPECT_FALSE(reassociates(found[0].proc));
  expect_same_result(p, found[0].proc, str(*found[0].proc));
}

const char* const kTurnedPairs = R"(
@proc
def turned_pairs(c: f32[3, 9], s: f32[3, 9], x: f32[3, 2, 18]):
    for t in seq(0, 3):
        for h in seq(0, 2):
            for d in seq(0, 9):
                u: f32
                u = x[t, h, 2 * d]
                x[t, h, 2 * d] = u * c[t, d] - x[t, h, 2 * d + 1] * s[t, d]
                x[t, h, 2 * d + 1] = u * s[t, d] + x[t, h, 2 * d + 1] * c[t, d]
)";

TEST(Components, one_after_the_other_are_read_and_written) {
  const ProcPtr p = parsed(kTurnedPairs);
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "mm256_deinterleave2_flat_ps(")) << str(*found[0].proc);
  EXPECT_TRUE(has(found[0], "mm256_interleave_rows2_flat_ps(")) << str(*found[0].proc);
  expect_same_result(p, found[0].proc, str(*found[0].proc));
}

// What a spectrum reads at its mirror frequencies lies back to front.
const char* const kMirrored = R"(
@proc
def mirrored(w: f32[20, 2], z: f32[3, 20, 2], y: f32[3, 20, 2]):
    for b in seq(0, 3):
        for k in seq(1, 20):
            er: f32 = z[b, k, 0] + z[b, 20 - k, 0]
            ei: f32 = z[b, k, 1] - z[b, 20 - k, 1]
            y[b, k, 0] = er + w[k, 0] * ei
            y[b, k, 1] = ei - w[k, 1] * er
)";

TEST(Components, of_what_is_read_back_to_front) {
  const ProcPtr p = parsed(kMirrored);
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  const std::string text = str(*found[0].proc);
  EXPECT_NE(text.find("mm256_deinterleave2_ps(z_back[0:2, 0:8], z[b, "), std::string::npos) << text;
  EXPECT_NE(text.find("z_parts[0, k] + z_back[0, -1 * k + 7]"), std::string::npos) << text;
  expect_same_result(p, found[0].proc, text);
}

const char* const kTurnedRound = R"(
@proc
def turned_round(x: f32[3, 36], y: f32[3, 18]):
    for r in seq(0, 3):
        for i in seq(0, 18):
            y[r, i] = x[r, 35 - 2 * i] + 2.0 * x[r, 34 - 2 * i]
)";

TEST(Components, one_after_the_other_back_to_front) {
  const ProcPtr p = parsed(kTurnedRound);
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  const std::string text = str(*found[0].proc);
  EXPECT_NE(text.find("x_back[1, -1 * i + 7]"), std::string::npos) << text;
  EXPECT_EQ(text.find("x[r, 35"), text.rfind("x[r, 35")) << text;  // of the rest alone
  expect_same_result(p, found[0].proc, text);
}

const char* const kParticles = R"(
@proc
def particles(dt: f64, f: f64[10, 3], m: f64[10], v: f64[10, 3], x: f64[10, 3]):
    for n in seq(0, 10):
        for d in seq(0, 3):
            v[n, d] += dt * f[n, d] / m[n]
            x[n, d] += dt * v[n, d]
)";

TEST(Components, of_several_arrays_of_another_type) {
  const ProcPtr p = parsed(kParticles);
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  for (const char* array : {"f", "v", "x"})
    EXPECT_TRUE(has(found[0], "mm256_deinterleave3_pd(" + std::string(array) + "_parts"))
        << str(*found[0].proc);
  EXPECT_FALSE(has(found[0], "interleave_rows3_pd(f[")) << "f is read alone";
  expect_same_result(p, found[0].proc, str(*found[0].proc));
}

const char* const kProduct = R"(
@proc
def product(x: f32[150, 2], y: f32[150, 2], z: f32[2]):
    for n in seq(0, 150):
        z[0] += x[n, 0] * y[n, 0] + x[n, 1] * y[n, 1]
        z[1] += x[n, 0] * y[n, 1] - x[n, 1] * y[n, 0]
)";

const char* const kBytes = R"(
@proc
def bytes(n: size, g: f32[3], x: ui8[n, 3], y: ui8[n, 3]):
    for p in seq(0, n):
        for c in seq(0, 3):
            y[p, c] = g[c] * f32(x[p, c])
)";

TEST(Components, of_bytes_come_in_vectors_of_what_they_are_reckoned_in) {
  const ProcPtr p = parsed(kBytes);
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "mm256_deinterleave3_epu8(x_parts")) << str(*found[0].proc);
  EXPECT_TRUE(has(found[0], "mm256_interleave_rows3_epu8(y[")) << str(*found[0].proc);
  for (const int64_t n : {1, 7, 8, 19})
    expect_same_result(p, found[0].proc, str(*found[0].proc), {{"n", n}});
}

TEST(Components, of_sums_are_added_up_in_several_chains) {
  const ProcPtr p = parsed(kProduct);
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 3u);  // of one vector, of two, and of four: it has two sums
  EXPECT_TRUE(has(found[1], "n_sums_1 : f32[16]")) << str(*found[1].proc);
  EXPECT_TRUE(has(found[2], "x_parts : f32[2, 32]")) << str(*found[2].proc);
  for (const Schedule& s : found) {
    EXPECT_TRUE(reassociates(s.proc));
    expect_same_result(p, s.proc, str(*s.proc));
  }
}

TEST(Components, are_for_small_elements_that_are_used_one_by_one) {
  const auto none = [](const char* text) { return apart(parsed(text)).empty(); };
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[20, 129], y: f32[20]):\n    for i in seq(0, 20):\n"
           "        y[i] = x[i, 0] + x[i, 4]\n"))
      << "too many to be copied";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[21, 2], y: f32[20]):\n    for i in seq(0, 20):\n"
           "        y[i] = x[i, 0] + x[i + 1, 1]\n"))
      << "more elements than iterations";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[21, 2]):\n    for i in seq(0, 20):\n"
           "        x[i + 1, 0] = x[i, 0] + x[i, 1]\n"))
      << "a recurrence";
  EXPECT_TRUE(
      none("@proc\ndef f(x: f32[20], y: f32[20]):\n    for i in seq(0, 20):\n"
           "        y[i] = x[i]\n"))
      << "one number each";
  EXPECT_TRUE(
      none("@proc\ndef f(x: i32[20, 2], y: i32[20]):\n    for i in seq(0, 20):\n"
           "        y[i] = x[i, 0] + x[i, 1]\n"))
      << "no instruction is of this type";
}

// Where enough sums go on side by side, one vector of each hides the others' latency, and more
// would not fit in registers.
TEST(Components, many_sums_need_no_more_than_a_vector_each) {
  const ProcPtr p = parsed(R"(
@proc
def moments(x: f32[40, 3], m: f32[9]):
    for i in seq(0, 40):
        m[0] += x[i, 0]
        m[1] += x[i, 1]
        m[2] += x[i, 2]
        m[3] += x[i, 0] * x[i, 0]
        m[4] += x[i, 0] * x[i, 1]
        m[5] += x[i, 0] * x[i, 2]
        m[6] += x[i, 1] * x[i, 1]
        m[7] += x[i, 1] * x[i, 2]
        m[8] += x[i, 2] * x[i, 2]
)");
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "for ib in seq(0, 5)")) << str(*found[0].proc);
  const std::vector<Schedule> one = apart(parsed(R"(
@proc
def first(x: f32[40, 3], m: f32[1]):
    for i in seq(0, 40):
        m[0] += x[i, 0] * x[i, 2]
)"));
  ASSERT_EQ(one.size(), 2u) << "two chains and four";
  EXPECT_FALSE(has(one[0], "for ib in seq(0, 5)"));
}

// Of records of more numbers, beside them: vectors of each number too, and the copies are nests
// like others.
TEST(Components, beside_records_of_many_numbers) {
  const ProcPtr p = parsed(R"(
@proc
def poses(q: f32[20, 4], m: f32[20, 3, 4], y: f32[20]):
    for j in seq(0, 20):
        for r in seq(0, 3):
            for c in seq(0, 4):
                m[j, r, c] = m[j, r, c] * q[j, r] + q[j, c]
        y[j] = m[j, 0, 0] + m[j, 2, 3]
)");
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "m_parts : f32[3, 4, 8]")) << str(*found[0].proc);
  EXPECT_TRUE(has(found[0], "mm256_deinterleave4_ps(q_parts")) << str(*found[0].proc);
  expect_same_result(p, found[0].proc, str(*found[0].proc));
  EXPECT_TRUE(apart(parsed(R"(
@proc
def rows(m: f32[20, 40], y: f32[20]):
    for j in seq(0, 20):
        for c in seq(0, 40):
            y[j] += m[j, c]
)"))
                  .empty())
      << "vectors go along the row";
}

// The nine directions of a lattice fill no vectors.
TEST(Components, of_records_with_a_loop_over_an_odd_number) {
  const ProcPtr p = parsed(R"(
@proc
def collide(w: f32[9], f: f32[20, 9], rho: f32[20]):
    for x in seq(0, 20):
        r: f32
        r = 0.0
        for k in seq(0, 9):
            r += f[x, k]
        rho[x] = r
        for k in seq(0, 9):
            f[x, k] += 0.6 * (w[k] * r - f[x, k])
)");
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "f_parts : f32[9, 8]")) << str(*found[0].proc);
  expect_same_result(p, found[0].proc, str(*found[0].proc));
}

// A sum over rows of records: along it nothing lies side by side, and a block's records of all rows
// lie close by once they are copied.
TEST(Components, of_records_in_rows_that_are_added_up) {
  const auto covariance = [](int rows) {
    return parsed(R"(
@proc
def covariance(x: f32[)" +
                  std::to_string(rows) + R"(, 20, 3, 2], y: f32[20, 3, 3]):
    for k in seq(0, 20):
        for a in seq(0, 3):
            for b in seq(0, a + 1):
                re: f32
                re = 0.0
                for s in seq(0, )" +
                  std::to_string(rows) + R"():
                    re += x[s, k, a, 0] * x[s, k, b, 0] + x[s, k, a, 1] * x[s, k, b, 1]
                y[k, a, b] = re
                y[k, b, a] = re
)");
  };
  const ProcPtr p = covariance(16);
  const std::vector<Schedule> found = apart(p);
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(has(found[0], "x_parts : f32[16, 3, 2, 8]")) << str(*found[0].proc);
  expect_same_result(p, found[0].proc, str(*found[0].proc));
  EXPECT_TRUE(apart(covariance(512)).empty());  // 96 KB for a block of eight
  // Along the sum itself vectors lie side by side.
  EXPECT_TRUE(apart(parsed(R"(
@proc
def gram(x: f32[20, 3, 16], y: f32[20, 3, 3]):
    for k in seq(0, 20):
        for a in seq(0, 3):
            for b in seq(0, 3):
                for s in seq(0, 16):
                    y[k, a, b] += x[k, a, s] * x[k, b, s]
)"))
                  .empty());
}

// Elements of two arrays in one: both are copied.
TEST(Components, of_several_rows_of_one_array) {
  const ProcPtr p = parsed(R"(
@proc
def blend(q: f32[2, 3, 20, 4], y: f32[3, 20]):
    for b in seq(0, 3):
        for j in seq(0, 20):
            y[b, j] = q[0, b, j, 0] * q[1, b, j, 0] + q[0, b, j, 3] * q[1, b, j, 3]
)");
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "q_parts : f32[2, 4, 8]")) << str(*found[0].proc);
  expect_same_result(p, found[0].proc, str(*found[0].proc));
}

// Rows that lie anywhere: a node's of a tree and its children's, each copied.
TEST(Components, of_rows_that_no_loop_walks_through) {
  const ProcPtr p = parsed(R"(
@proc
def tree(P: f32[10, 2, 2, 2], x: f32[10, 20, 2, 2]):
    for n in seq(0, 4):
        for s in seq(0, 20):
            big: f32 = 1.0
            for r in seq(0, 2):
                for i in seq(0, 2):
                    left: f32 = 0.0
                    right: f32 = 0.0
                    for j in seq(0, 2):
                        left += P[2 * (4 - n), r, i, j] * x[2 * (4 - n), s, r, j]
                        right += P[2 * (4 - n) + 1, r, i, j] * x[2 * (4 - n) + 1, s, r, j]
                    x[4 - n, s, r, i] = left * right
                    big max= left * right
            for r in seq(0, 2):
                for i in seq(0, 2):
                    x[4 - n, s, r, i] /= big
)");
  const std::vector<Schedule> found = apart(p);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "x_parts : f32[2, 2, 8]")) << str(*found[0].proc);
  EXPECT_TRUE(has(found[0], "mm256_reg_max_ps(big[0:8]")) << str(*found[0].proc);
  EXPECT_TRUE(has(found[0], "x_parts_2 : f32[2, 2, 8]")) << str(*found[0].proc);
  expect_same_result(p, found[0].proc, str(*found[0].proc));
}

}  // namespace
}  // namespace exotune
