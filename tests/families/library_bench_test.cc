// The figures of a library's benchmark and the page that shows them, from points made by hand; and
// one run of the real thing at small sizes, which measures and judges nothing.
#include "search/families/library_bench.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "core/base/diagnostic.h"
#include "runners/shared_object.h"
#include "search/families/bench_reasons.h"

namespace exotune::families {
namespace {

BenchPoint point(const std::string& title, int n, std::vector<double> ratios) {
  BenchPoint p;
  p.title = title;
  p.level = 2;
  p.n = n;
  p.ratios = std::move(ratios);
  return p;
}

TEST(LibraryBench, compares_with_the_fastest_rival_that_has_the_routine) {
  EXPECT_EQ(point("x", 1, {2, 0.5, 3}).against_best(), 0.5);
  EXPECT_EQ(point("x", 1, {NAN, 3}).against_best(), 3);
  EXPECT_TRUE(std::isnan(point("x", 1, {}).against_best()));
}

TEST(LibraryBench, means_are_geometric_and_the_worst_come_first) {
  const std::vector<BenchPoint> points = {point("a", 1, {4}), point("a", 2, {1}),
                                          point("b", 1, {0.5}), point("b", 2, {NAN})};
  EXPECT_DOUBLE_EQ(mean_of(points, "a").value, 2);
  EXPECT_EQ(mean_of(points, "b").points, 1u);
  EXPECT_DOUBLE_EQ(mean_of(points, "").least, 0.5);
  const std::vector<BenchPoint> worst = worst_of(points, 2);
  ASSERT_EQ(worst.size(), 2u);
  EXPECT_EQ(worst[0].title, "b");
  EXPECT_EQ(worst[1].n, 2);
}

BenchPoint timed(const std::string& title, int n, double nanoseconds, double bytes, double gflops) {
  BenchPoint p = point(title, n, {0.5});
  p.seconds = nanoseconds * 1e-9;
  p.bytes = bytes;
  p.gflops = gflops;
  return p;
}

TEST(LibraryBench, says_what_bounds_a_point) {
  const std::vector<BenchPoint> points = {
      timed("sgemv", 1, 20, 4, 0.1), timed("sgemv", 2, 30, 16, 0.3),
      timed("sgemv", 33, 200, 4356, 10), timed("sgemv", 64, 200, 16384, 40),
      timed("dger", 64, 300, 16384, 20)};
  EXPECT_EQ(bound_of(points[1], points, 64), "the call: 20 of 30 ns");
  EXPECT_EQ(bound_of(points[2], points, 64), "partial vectors");
  EXPECT_EQ(bound_of(points[3], points, 64), "bandwidth: 81.9 of 81.9 GB/s");
  EXPECT_EQ(bound_of(timed("sgemv", 64, 400, 16384, 10), points, 64),
            "25 % of the best rate of its level, 40 GFLOP/s");
}

TEST(LibraryBench, cold_ratios_have_means_of_their_own) {
  BenchPoint p = point("a", 1, {1});
  EXPECT_TRUE(std::isnan(p.cold_against_best()));
  p.cold = {4, 2};
  EXPECT_EQ(p.cold_against_best(), 2);
  EXPECT_DOUBLE_EQ(cold_mean_of({p, point("a", 2, {1})}, "a").value, 2);
}

TEST(LibraryBench, draws_a_cell_for_each_point) {
  const std::string page = heat_map_page(
      {point("a", 1, {4}), point("a", 20000, {0.5}), point("b", 1, {1})}, {"rival"}, "x");
  size_t cells = 0;
  for (size_t at = page.find("<rect"); at != std::string::npos; at = page.find("<rect", at + 1))
    ++cells;
  EXPECT_EQ(cells, 3u);
  EXPECT_NE(page.find(">20k<"), std::string::npos);
  EXPECT_NE(page.find("a, n = 20000: 0 GFLOP/s; rival 0.50"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "nothing is loaded from elsewhere";
}

// A library of its own, compiled here.
RivalLibrary library_of(const std::string& name, const std::string& source,
                        const std::vector<std::string>& flags = {}) {
  SharedObjectRequest request;
  request.name = name;
  request.compiler = "cc";
  request.flags = {"-O1"};
  request.flags.insert(request.flags.end(), flags.begin(), flags.end());
  request.source = source;
  std::string error;
  RivalLibrary library;
  library.name = name;
  library.paths = {
      compile_shared_object(request, ::testing::TempDir() + "exotune_library_" + name, &error)};
  EXPECT_EQ(error, "");
  return library;
}

// A library of one routine that waits some microseconds, if it was loaded for three threads.
RivalLibrary library_that_waits(const std::string& name, int microseconds) {
  const char* const source = R"(
#include <stdlib.h>
#include <string.h>
#include <time.h>
static int threads;
__attribute__((constructor)) static void loaded(void) {
  const char* n = getenv("OMP_NUM_THREADS");
  threads = n ? atoi(n) : 0;
}
void cblas_saxpy(int n, float alpha, const float* x, int incx, float* y, int incy) {
  struct timespec begin, now;
  if (threads != 3 || WAIT < 0) abort();
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < WAIT * 1000L);
}
)";
  return library_of(name, source, {"-DWAIT=" + std::to_string(microseconds)});
}

TEST(LibraryBench, libraries_with_threads_are_timed_in_processes_of_their_own) {
  LibraryBenchOptions options;
  options.routines = {"axpy"};
  options.most = 2;
  options.rounds = 1;
  const std::vector<BenchPoint> points = bench_library_threads(
      library_that_waits("quick", 20),
      {library_that_waits("slow", 200), library_that_waits("broken", -1)}, 3, options);
  ASSERT_EQ(points.size(), 2u) << "daxpy is not there";
  for (const BenchPoint& p : points) {
    EXPECT_EQ(p.title, "saxpy");
    EXPECT_GE(p.seconds, 20e-6);
    EXPECT_GT(p.ratios[0], 1) << "the best of several calls: 200 us over 20 and what is between";
    EXPECT_TRUE(std::isnan(p.ratios[1])) << "it ended with abort";
    EXPECT_EQ(p.against_best(), p.ratios[0]);
  }
}

// A product that counts its calls by what beta is, in `calls`.
RivalLibrary product_that_counts() {
  return library_of("counts", R"(
long calls[2];
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc) {
  ++calls[beta != 0];
}
)");
}

TEST(LibraryBench, products_that_overwrite_are_rows_of_their_own) {
  LibraryBenchOptions options;
  options.routines = {"gemm"};
  options.most = 1;
  options.rounds = 1;
  options.batch_seconds = 1e-6;
  options.cold_rounds = 0;
  const Rival library = load_rival(product_that_counts());
  const auto* const calls = static_cast<const long*>(library.find("calls"));
  ASSERT_NE(calls, nullptr);
  std::vector<std::string> titles;
  options.measured = [&](const BenchPoint& p) {
    titles.push_back(p.title + (calls[0] > 0 ? ", overwrites" : ""));
  };
  bench_library(library, {}, options);
  const std::vector<std::string> wanted = {"sgemm",
                                           "sgemm A B'",
                                           "sgemm A' B",
                                           "sgemm beta 0, overwrites",
                                           "sgemm A B' beta 0, overwrites",
                                           "sgemm A' B beta 0, overwrites"};
  EXPECT_EQ(titles, wanted);
  EXPECT_GT(calls[1], 0);
}

// BLIS reads its words when it is first called, long after the next library took them away.
TEST(LibraryBench, blis_keeps_the_core_that_it_is_held_to) {
  const char* file = "libblis.so.4";
  void* const here = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (here == nullptr) GTEST_SKIP() << "no BLIS here";
  dlclose(here);
  RivalLibrary blis;
  blis.name = "blis";
  blis.paths = {file};
  blis.core_variable = "BLIS_ARCH_TYPE";
  RivalLibrary next;
  next.name = "next";
  next.paths = {""};
  // Penryn and zen3: it would choose one of them by itself at most, and runs nothing of them here.
  for (const int core : {5, 6}) {
    const pid_t child = fork();
    if (child == 0) {
      blis.core = std::to_string(core);
      const Rival loaded = load_rival(blis);
      load_rival(next);
      auto* const chosen = reinterpret_cast<int (*)()>(loaded.find("bli_arch_query_id"));
      _exit(chosen != nullptr && chosen() == core ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "core " << core;
  }
}

TEST(LibraryBench, refuses_a_routine_that_there_is_not) {
  LibraryBenchOptions options;
  options.routines = {"gemvv"};
  try {
    bench_library(Rival("self", {""}), {}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.diagnostic().str().find("did you mean gemv?"), std::string::npos);
  }
  EXPECT_THROW(Rival("none", {"/nowhere/libnone.so"}), Error);
}

}  // namespace
}  // namespace exotune::families
