// The library in the place of another BLAS: what programs that know nothing of it get. The
// reference testers are those of Debian's package libblas-test.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "core/base/subprocess.h"
#include "tests/cli/command_harness.h"
#include "tests/families/blas_library.h"

namespace exotune::families {
namespace {
namespace fs = std::filesystem;

// The folder of the testers; empty when they are not installed.
fs::path testers() {
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu/blas", "/usr/lib/blas"})
    if (fs::exists(fs::path(folder) / "xblat1d")) return folder;
  return {};
}

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// Runs a tester with the library loaded first; what it printed, and what it wrote into a file.
std::string run_tester(const BlasLibrary& library, const std::string& tester,
                       const std::string& input) {
  const cli::CommandHarness harness("tester");
  CommandOptions options;
  options.directory = harness.folder().string();
  const std::string words = "LD_PRELOAD=" + (library.folder() / "lib/libexo-blas.so.0").string() +
                            " exec " + (testers() / tester).string() +
                            (input.empty() ? "" : " < " + (testers() / input).string());
  const CommandResult result = run_command({"sh", "-c", words}, options);
  EXPECT_TRUE(result.ok()) << tester << "\n" << result.out << result.err;
  std::string text = result.out + result.err;
  for (const auto& entry : fs::directory_iterator(harness.folder()))
    if (entry.path().extension() == ".out") text += harness.read(entry.path().filename().string());
  return text;
}

TEST(ReferenceTesters, pass) {
  if (testers().empty()) GTEST_SKIP() << "libblas-test is not installed";
  for (const BlasLibrary& library : blas_libraries())
    for (const std::string p : {"s", "d"})
      for (const std::string level : {"1", "2", "3"}) {
        const bool reads = level != "1";
        const std::string fortran =
            run_tester(library, "xblat" + level + p, reads ? p + "blat" + level + ".in" : "");
        const std::string c =
            run_tester(library, "x" + p + "cblat" + level, reads ? p + "in" + level : "");
        for (const std::string& text : {fortran, c}) {
          EXPECT_GE(count(text, "PASS"), 10) << text;
          EXPECT_EQ(count(text, "FAIL") + count(text, "***") + count(text, "SUSPECT"), 0) << text;
        }
      }
}

// The first Python that has NumPy; empty when none has.
std::string python() {
  for (const char* each : {"python3", "/usr/bin/python3"})
    if (run_command({each, "-c", "import numpy"}).ok()) return each;
  return "";
}

TEST(NumPy, computes_with_it) {
  if (python().empty()) GTEST_SKIP() << "there is no NumPy";
  const std::string program =
      "import numpy as np\n"
      "r = np.random.default_rng(1)\n"
      "a, b = r.standard_normal((300, 300)), r.standard_normal((300, 300))\n"
      "exact = np.einsum('ik,kj->ij', a, b)\n"
      "assert np.abs(a @ b - exact).max() < 1e-11\n"
      "assert abs(a[0] @ b[0] - sum(a[0] * b[0])) < 1e-12\n"
      "x = np.linalg.solve(a, b)\n"
      "assert np.abs(a @ x - b).max() < 1e-8\n"
      "print('fine')\n";
  for (const BlasLibrary& library : blas_libraries()) {
    const CommandResult result =
        run_command({"env", "LD_PRELOAD=" + (library.folder() / "lib/libexo-blas.so.0").string(),
                     "LD_DEBUG=bindings", python(), "-c", program});
    EXPECT_TRUE(result.ok()) << result.err.substr(result.err.size() > 999 ? result.err.size() - 999
                                                                          : 0);
    EXPECT_NE(result.out.find("fine"), std::string::npos);
    const std::string bindings = result.out + result.err;
    const size_t bound = bindings.find("libexo-blas.so.0 [0]: normal symbol `cblas_dgemm'");
    EXPECT_NE(bound, std::string::npos);
  }
}

TEST(Threads, may_call_at_once) {
  for (const BlasLibrary& library : blas_libraries()) {
    const auto gemm = library.at<void(int, int, int, int, int, int, double, const double*, int,
                                      const double*, int, double, double*, int)>("cblas_dgemm");
    const int n = 90;
    std::vector<double> a(n * n), b(n * n);
    for (int k = 0; k < n * n; ++k) a[k] = k % 7 - 3, b[k] = k % 5 - 2;
    const auto product = [&] {
      std::vector<double> c(n * n, 1);
      gemm(101, 112, 111, n, n, n, 2, a.data(), n, b.data(), n, 0, c.data(), n);
      return c;
    };
    const std::vector<double> alone = product();
    std::vector<std::vector<double>> together(4);
    {
      std::vector<std::jthread> threads;
      for (std::vector<double>& result : together)
        threads.emplace_back([&] {
          for (int k = 0; k < 20; ++k) result = product();
        });
    }
    for (const std::vector<double>& result : together) EXPECT_EQ(result, alone);
  }
}

TEST(WrongArguments, end_the_program_with_the_position) {
  for (const BlasLibrary& library : blas_libraries()) {
    const double x[4] = {1, 2, 3, 4};
    double y[2] = {0, 0};
    using Gemv = void(int, int, int, int, double, const double*, int, const double*, int, double,
                      double*, int);
    const auto gemv = library.at<Gemv>("cblas_dgemv");
    EXPECT_EXIT(gemv(102, 111, 2, 2, 1, x, 1, x, 1, 0, y, 1), testing::ExitedWithCode(255),
                "cblas_dgemv: wrong argument 7");
    EXPECT_EXIT(gemv(101, 111, 2, -1, 1, x, 2, x, 1, 0, y, 1), testing::ExitedWithCode(255),
                "cblas_dgemv: wrong argument 3 .counted as in the transposed call");
    const int two = 2, one = 1;
    const double factor = 1;
    using FortranGemv =
        void(const char*, const int*, const int*, const double*, const double*, const int*,
             const double*, const int*, const double*, double*, const int*);
    EXPECT_EXIT(library.at<FortranGemv>("dgemv_")("Q", &two, &two, &factor, x, &two, x, &one,
                                                  &factor, y, &one),
                testing::ExitedWithCode(1), "DGEMV  parameter number  1 had an illegal value");
  }
}

}  // namespace
}  // namespace exotune::families
