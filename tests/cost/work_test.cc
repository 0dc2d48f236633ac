#include "cost/work.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "hw/kernel_table.h"
#include "hw/target.h"

namespace exotune {
namespace {

Work work(const std::string& text) {
  const Module module = parse_module("@proc\n" + text, "t.exo");
  return work_of(*module.user_procs().back());
}

TEST(Work, of_a_product_taken_away_is_two_operations_too) {
  const Work w = work(
      "def f(n: size, a: f32, x: f32[n], y: f32[n]):\n    for i in seq(0, n):\n"
      "        y[i] += -(a * x[i])\n");
  EXPECT_EQ(w.operations.text(), "2*n");
}

TEST(Work, of_a_product_is_two_operations_a_step) {
  const Work w = work(
      "def f(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):\n"
      "    for i in seq(0, M):\n        for j in seq(0, N):\n            for k in seq(0, K):\n"
      "                C[i, j] += A[i, k] * B[k, j]\n");
  EXPECT_EQ(w.operations.text(), "2*M*N*K");
  EXPECT_EQ(w.bytes.text(), "8*M*N + 4*M*K + 4*N*K");
}

TEST(Work, of_a_triangle_is_counted_exactly) {
  const Work w = work(
      "def f(N: size, A: f64[N, N], x: f64[N]):\n"
      "    for i in seq(0, N):\n        for j in seq(0, i + 1):\n            A[i, j] += x[j]\n");
  EXPECT_EQ(w.operations.text(), "(N*N + N)/2");
  EXPECT_EQ(w.bytes.text(), "8*N*N + 16*N");
}

TEST(Work, counts_max_choice_division_and_functions_and_no_moves) {
  const Work w = work(
      "def f(n: size, x: f32[n], y: f32[n]):\n    for i in seq(0, n):\n"
      "        t: f32\n        t = x[i]\n        t max= 0.5\n"
      "        y[i] = select(t, x[i], sqrt(t), -t) / 3.0\n");
  EXPECT_EQ(w.operations.text(), "4*n");
  EXPECT_EQ(w.bytes.text(), "8*n");
}

std::map<std::string, std::string> kinds_of(const std::string& text) {
  std::map<std::string, std::string> out;
  for (const auto& [kind, count] : work(text).kinds) out[kind] = count.text();
  return out;
}
using Kinds = std::map<std::string, std::string>;

TEST(Work, is_counted_by_kind_and_a_product_that_is_added_is_one) {
  const std::string text =
      "def f(n: size, x: f32[n], y: f32[n], z: f32[n]):\n    for i in seq(0, n):\n"
      "        t: f32\n        t = (x[i] - z[i]) * (x[i] - z[i]) - x[i] * z[i]\n"
      "        t max= x[i]\n        y[i] += -(t * z[i])\n        y[i] = exp(y[i]) / t\n";
  EXPECT_EQ(
      kinds_of(text),
      (Kinds{{"*", "n"}, {"+", "2*n"}, {"/", "n"}, {"exp", "n"}, {"fma", "2*n"}, {"fmax", "n"}}));
  EXPECT_EQ(work(text).operations.text(), "10*n");
}

TEST(Work, of_a_kind_counts_as_often_as_its_value_changes) {
  // The mean of each row is taken away, and what is left divided by one number of the row.
  EXPECT_EQ(kinds_of("def f(m: size, n: size, a: f32, x: f32[m, n], s: f32[m]):\n"
                     "    for i in seq(0, m):\n        for j in seq(0, n):\n"
                     "            s[i] += x[i, j]\n        for j in seq(0, n):\n"
                     "            x[i, j] = (x[i, j] - s[i] * a) / sqrt(s[i] + a)\n"),
            (Kinds{{"*", "m*n + m"}, {"+", "2*m*n + m"}, {"/", "m"}, {"sqrt", "m"}}));
  // Once for each element of the first factor, whatever the order of the loops.
  EXPECT_EQ(kinds_of("def f(n: size, a: f32, A: f32[n, n], B: f32[n, n], C: f32[n, n]):\n"
                     "    for i in seq(0, n):\n        for j in seq(0, n):\n"
                     "            for k in seq(0, n):\n"
                     "                C[i, j] += a * A[i, k] * B[k, j]\n"),
            (Kinds{{"*", "n*n"}, {"fma", "n*n*n"}}));
}

TEST(Work, bytes_are_those_that_come_in_those_that_go_out_and_those_that_do_both) {
  const Work w = work(
      "def f(n: size, x: f32[n], y: f64[n], z: f32[n]):\n    for i in seq(0, n):\n"
      "        y[i] += x[i]\n        z[i] = x[i]\n");
  EXPECT_EQ(w.read.text(), "4*n");
  EXPECT_EQ(w.updated.text(), "8*n");
  EXPECT_EQ(w.written.text(), "4*n");
  EXPECT_EQ(w.bytes.text(), "24*n");
}

TEST(Work, a_guard_cuts_off_a_part_of_its_loop) {
  const Work w = work(
      "def f(n: size, x: f32[n, n]):\n    for i in seq(0, n):\n        for j in seq(0, n):\n"
      "            if j <= i:\n                x[i, j] += 1.0\n");
  EXPECT_EQ(w.operations.text(), "(n*n + n)/2");
}

TEST(Work, a_guard_that_holds_everywhere_or_picks_one_point) {
  const Work w = work(
      "def f(n: size, x: f32[n]):\n    for i in seq(0, n):\n"
      "        if i < n:\n            x[i] += 1.0\n        if i == 0:\n            x[i] += 1.0\n");
  EXPECT_EQ(w.operations.text(), "n + 1");
}

TEST(Work, a_guard_of_another_form_is_not_counted) {
  const Work w = work(
      "def f(n: size, x: f32[n]):\n    for i in seq(0, n):\n"
      "        if i % 2 == 0:\n            x[i] += 1.0\n");
  EXPECT_EQ(w.operations.text(), "");
  EXPECT_EQ(w.bytes.text(), "");
}

TEST(Work, of_a_stencil_reads_its_border_once) {
  const Work w = work(
      "def f(n: size, x: f32[n + 2], y: f32[n]):\n    for i in seq(0, n):\n"
      "        y[i] = x[i] + x[i + 1] + x[i + 2]\n");
  EXPECT_EQ(w.bytes.text(), "8*n + 8");
}

TEST(Work, what_is_set_first_does_not_come_in) {
  const Work w = work(
      "def f(n: size, x: f32[n], y: f32[n]):\n    for i in seq(0, n):\n"
      "        y[i] = 0.0\n        y[i] += x[i]\n");
  EXPECT_EQ(w.bytes.text(), "8*n");
}

TEST(Work, of_what_is_called_counts_with_its_own_sizes) {
  const Module module = parse_module(
      "@proc\ndef g(m: size, x: [f32][m]):\n    for i in seq(0, m):\n        x[i] += 1.0\n"
      "@proc\ndef f(n: size, x: f32[2 * n]):\n    g(n, x[0:n])\n",
      "t.exo");
  const Work w = work_of(*module.user_procs().back());
  EXPECT_EQ(w.operations.text(), "n");
  EXPECT_EQ(w.bytes.text(), "");
}

// The table leaves out terms of lower order; at the size that a kernel is tuned at they vanish.
TEST(Work, of_the_built_in_kernels_is_what_their_table_says) {
  const KernelTable table = load_kernel_table(EXOTUNE_SOURCE_DIR "/kernels");
  TargetLibrary targets({std::filesystem::path(EXOTUNE_SOURCE_DIR "/hw")});
  for (const KernelEntry& kernel : table.kernels()) {
    const Work w = work_of(*kernel.load(targets.importer()));
    const SizeBinding& sizes = kernel.sizes.front();
    ASSERT_NE(w.operations.text(), "") << kernel.name;
    ASSERT_NE(w.bytes.text(), "") << kernel.name;
    const double flops = kernel.flops.evaluate(sizes), bytes = kernel.bytes.evaluate(sizes);
    EXPECT_NEAR(w.operations.evaluate(sizes), flops, 0.03 * flops + 10)
        << kernel.name << ": " << w.operations.text();
    EXPECT_NEAR(w.bytes.evaluate(sizes), bytes, 0.03 * bytes + 10)
        << kernel.name << ": " << w.bytes.text();
  }
}

}  // namespace
}  // namespace exotune
