// Loops over rows and columns as one loop.
#include "search/joined_rows.h"

#include <gtest/gtest.h>

#include "core/analysis/queries.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "tests/search/machines.h"
#include "tests/search/move_nests.h"

namespace exotune {
namespace {

// The same numbers of the same memory.
void expect_same_numbers(const ProcPtr& p, const ProcPtr& q) {
  Arguments before = make_arguments(*p, {{"N", 7}}, 1), after = make_arguments(*q, {{"N", 7}}, 1);
  for (size_t k = 0; k < before.buffers.size(); ++k)
    after.buffers[k]->data = before.buffers[k]->data;
  Program(*p, Arithmetic::kExact).run(before.values, {});
  Program(*q, Arithmetic::kExact).run(after.values, {});
  for (size_t k = 0; k < before.buffers.size(); ++k)
    EXPECT_EQ(before.buffers[k]->data, after.buffers[k]->data) << str(*q);
}

std::string joined(const char* text) {
  const ProcPtr p = parsed(text);
  const ProcPtr q = rows_joined({p, {}, false}, {}, *avx512()).proc;
  check(*q);
  expect_same_numbers(p, q);
  return str(*q);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Pixels of small images: all of an image's are one row.
TEST(JoinedRows, images_that_are_no_whole_vectors_wide) {
  const std::string text = joined(R"(
@proc
def conv_1x1(x: f32[3, 5, 7], w: f32[4, 3], b: f32[4], y: f32[4, 5, 7]):
    t: f32[4, 5, 7]
    for k in seq(0, 4):
        for i in seq(0, 5):
            for j in seq(0, 7):
                t[k, i, j] = b[k]
                for c in seq(0, 3):
                    t[k, i, j] += x[c, i, j] * w[k, c]
    for k in seq(0, 4):
        for i in seq(0, 5):
            for j in seq(0, 7):
                y[k, i, j] = fmax(t[k, i, j], 0.0)
)");
  EXPECT_TRUE(contains(text, "x: f32[3, 35]")) << text;
  EXPECT_TRUE(contains(text, "t : f32[4, 35]") || contains(text, "t : f32[140]")) << text;
  EXPECT_TRUE(contains(text, "t[k, ij] += x[c, ij] * w[k, c]")) << text;
  EXPECT_FALSE(contains(text, " / ")) << text;
}

// Everything that all elements have alike is one loop, whatever the dimensions were.
TEST(JoinedRows, colours_of_pixels_are_numbers_one_after_the_other) {
  const std::string text = joined(R"(
@proc
def blend(a: f32[1], x: f32[2, 5, 7, 3], y: f32[2, 5, 7, 3]):
    for n in seq(0, 2):
        for i in seq(0, 5):
            for j in seq(0, 7):
                for c in seq(0, 3):
                    y[n, i, j, c] += a[0] * x[n, i, j, c]
)");
  EXPECT_TRUE(contains(text, "x: f32[210]")) << text;
  EXPECT_TRUE(contains(text, "for nijc in seq(0, 210):")) << text;
  // An array of each iteration's own.
  const std::string inside = joined(R"(
@proc
def twice(x: f32[4, 5, 7], y: f32[4, 5, 7]):
    for n in seq(0, 4):
        t: f32[5, 7]
        for i in seq(0, 5):
            for j in seq(0, 7):
                t[i, j] = 2.0 * x[n, i, j]
        for i in seq(0, 5):
            for j in seq(0, 7):
                y[n, i, j] = t[i, j] + 1.0
)");
  EXPECT_TRUE(contains(inside, "t : f32[35]")) << inside;
  const std::string any = joined(R"(
@proc
def scale(N: size, x: f32[N, 3], y: f32[N, 3]):
    for i in seq(0, N):
        for c in seq(0, 3):
            y[i, c] = 2.0 * x[i, c]
)");
  EXPECT_TRUE(contains(any, "x: f32[3 * N]")) << any;
  EXPECT_TRUE(contains(any, "for ic in seq(0, 3 * N):")) << any;
}

// A column's own number, a neighbour, a row's own sum, half of the columns, other rows elsewhere,
// whole vectors: nothing is joined.
TEST(JoinedRows, what_rows_and_columns_are_still_asked_for_stays) {
  for (const char* body : {
           "y[i, j] = x[i, j] + b[j]",
           "y[i, j] = x[i, j] * x[j, i]",
           "y[i, j] = x[i, j]\n            s[i] += x[i, j]",
           "y[i, j] = x[i, 6 - j]",
           "y[i, j] = x[i, j] * f32(j)",
           "if j < 3:\n                y[i, j] = x[i, j]",
       }) {
    const std::string text = joined((std::string(R"(
@proc
def f(x: f32[7, 7], b: f32[7], s: f32[7], y: f32[7, 7]):
    for i in seq(0, 7):
        for j in seq(0, 7):
            )") + body + "\n")
                                        .c_str());
    EXPECT_TRUE(contains(text, "y: f32[7, 7]")) << text;
  }
  const std::string elsewhere = joined(R"(
@proc
def f(x: f32[5, 7], y: f32[5, 7], t: f32[7]):
    for i in seq(0, 5):
        for j in seq(0, 7):
            y[i, j] = x[i, j]
    for j in seq(0, 7):
        t[j] = y[4, j]
)");
  EXPECT_TRUE(contains(elsewhere, "y: f32[5, 7]")) << elsewhere;
  const std::string whole = joined(R"(
@proc
def f(x: f32[5, 32], y: f32[5, 32]):
    for i in seq(0, 5):
        for j in seq(0, 32):
            y[i, j] = x[i, j]
)");
  EXPECT_TRUE(contains(whole, "y: f32[5, 32]")) << whole;
}

// Records of several dimensions are one of numbers, where only short loops walk through them.
TEST(JoinedRecords, have_one_dimension_of_numbers) {
  const auto in_one = [](const char* text) {
    const ProcPtr p = parsed(text);
    const ProcPtr q = records_joined({p, {}, false}, {}, *avx512()).proc;
    check(*q);
    expect_same_numbers(p, q);
    return str(*q);
  };
  const std::string sites = in_one(R"(
@proc
def products(u: f32[40, 2, 3, 2], y: f32[40]):
    for v in seq(0, 40):
        for i in seq(0, 3):
            y[v] += u[v, 0, i, 0] * u[v, 1, i, 1] - u[v, 0, i, 1] * u[v, 1, i, 0]
)");
  EXPECT_TRUE(contains(sites, "u: f32[40, 12]")) << sites;
  EXPECT_TRUE(contains(sites, "u[v, 2 * i] * u[v, 2 * i + 7]")) << sites;
  // The weights of a convolution are the same for all pixels; a loop of eight is one for vectors.
  const std::string weights = in_one(R"(
@proc
def conv(x: f32[12, 12], w: f32[4, 3, 3], z: f32[20, 2, 8], y: f32[4, 10, 10]):
    for k in seq(0, 4):
        for i in seq(0, 10):
            for j in seq(0, 10):
                for r in seq(0, 3):
                    for s in seq(0, 3):
                        y[k, i, j] += w[k, r, s] * x[i + r, j + s]
    for n in seq(0, 20):
        for m in seq(0, 2):
            for l in seq(0, 8):
                z[n, m, l] = 0.0
)");
  EXPECT_TRUE(contains(weights, "w: f32[4, 3, 3]")) << weights;
  EXPECT_TRUE(contains(weights, "z: f32[20, 2, 8]")) << weights;
}

}  // namespace
}  // namespace exotune
