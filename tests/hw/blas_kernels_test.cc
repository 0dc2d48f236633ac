// The built-in BLAS kernels mean what BLAS means: each is run by the interpreter and compared with
// the library call that its table entry names.
#include <cblas.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/hw/kernel_call.h"

namespace exotune {
namespace {

/// What the peer of `kernel` makes of the arguments it writes, by argument name.
std::map<std::string, std::vector<double>> peer_results(const KernelEntry& kernel,
                                                        const KernelCall& call) {
  const PeerOperation& peer = kernel.peer;
  const auto arg = [&](const char* role) { return call.values(peer.arguments.at(role)); };
  const auto dim = [&](const char* role) {
    return static_cast<int>(call.size(peer.sizes.at(role)));
  };
  const auto factor = [&](const char* role, double absent) {
    const auto it = peer.factors.find(role);
    if (it == peer.factors.end()) return absent;
    return std::isdigit(static_cast<unsigned char>(it->second[0])) ? std::stod(it->second)
                                                                   : call.values(it->second).at(0);
  };
  std::map<std::string, std::vector<double>> out;
  const auto result = [&](const char* role, std::vector<double> v) {
    out[peer.arguments.at(role)] = std::move(v);
  };
  const double alpha = factor("alpha", 1), beta = factor("beta", 0);
  if (peer.op == "gemm") {
    const int m = dim("m"), n = dim("n"), k = dim("k");
    std::vector<double> c = arg("c");
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, arg("a").data(), k,
                arg("b").data(), n, beta, c.data(), n);
    result("c", c);
  } else if (peer.op == "gemv") {
    std::vector<double> y = arg("y");
    cblas_dgemv(CblasRowMajor, peer.trans_a ? CblasTrans : CblasNoTrans, dim("m"), dim("n"), alpha,
                arg("a").data(), dim("n"), arg("x").data(), 1, beta, y.data(), 1);
    result("y", y);
  } else if (peer.op == "ger") {
    std::vector<double> a = arg("a");
    cblas_dger(CblasRowMajor, dim("m"), dim("n"), alpha, arg("x").data(), 1, arg("y").data(), 1,
               a.data(), dim("n"));
    result("a", a);
  } else if (peer.op == "axpy") {
    std::vector<double> y = arg("y");
    cblas_daxpy(dim("n"), alpha, arg("x").data(), 1, y.data(), 1);
    result("y", y);
  } else if (peer.op == "dot") {
    result("result", {cblas_ddot(dim("n"), arg("x").data(), 1, arg("y").data(), 1)});
  } else if (peer.op == "scal") {
    std::vector<double> x = arg("x");
    cblas_dscal(dim("n"), alpha, x.data(), 1);
    result("x", x);
  } else if (peer.op == "copy") {
    result("y", arg("x"));
  } else if (peer.op == "swap") {
    result("x", arg("y"));
    result("y", arg("x"));
  } else if (peer.op == "asum") {
    result("result", {cblas_dasum(dim("n"), arg("x").data(), 1)});
  } else if (peer.op == "rot") {
    std::vector<double> x = arg("x"), y = arg("y");
    cblas_drot(dim("n"), x.data(), 1, y.data(), 1, alpha, beta);
    result("x", x);
    result("y", y);
  } else if (peer.op == "rotm") {
    std::vector<double> x = arg("x"), y = arg("y");
    const double h[5] = {-1, factor("h11", 0), factor("h21", 0), factor("h12", 0),
                         factor("h22", 0)};
    cblas_drotm(dim("n"), x.data(), 1, y.data(), 1, h);
    result("x", x);
    result("y", y);
  } else if (peer.op == "dsdot") {
    result("result", {cblas_ddot(dim("n"), arg("x").data(), 1, arg("y").data(), 1)});
  } else if (peer.op == "symv") {
    std::vector<double> y = arg("y");
    cblas_dsymv(CblasRowMajor, CblasLower, dim("n"), alpha, arg("a").data(), dim("n"),
                arg("x").data(), 1, beta, y.data(), 1);
    result("y", y);
  } else if (peer.op == "syr") {
    std::vector<double> a = arg("a");
    cblas_dsyr(CblasRowMajor, CblasLower, dim("n"), alpha, arg("x").data(), 1, a.data(), dim("n"));
    result("a", a);
  } else if (peer.op == "syr2") {
    std::vector<double> a = arg("a");
    cblas_dsyr2(CblasRowMajor, CblasLower, dim("n"), alpha, arg("x").data(), 1, arg("y").data(), 1,
                a.data(), dim("n"));
    result("a", a);
  } else if (peer.op == "trmv") {
    std::vector<double> x = arg("x");
    cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, dim("n"), arg("a").data(),
                dim("n"), x.data(), 1);
    result("x", x);
  } else if (peer.op == "trsv") {
    std::vector<double> x = arg("x");
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, dim("n"), arg("a").data(),
                dim("n"), x.data(), 1);
    result("x", x);
  } else {
    ADD_FAILURE() << kernel.name << ": no such operation '" << peer.op << "'";
  }
  return out;
}

TEST(BlasKernels, compute_what_blas_computes) {
  for (const KernelEntry& kernel : built_in_kernels().kernels()) {
    // What is no operation of BLAS is compared with its formula, in formula_kernels_test.
    if (kernel.peer.op.empty() || kernel.peer.op == "read" || kernel.peer.op == "gemm2" ||
        kernel.family == "convolution") {
      EXPECT_FALSE(kernel.family.starts_with("blas")) << kernel.name;
      continue;
    }
    SizeBinding sizes;
    int64_t value = 5;
    for (const auto& [name, unused] : kernel.sizes[0]) sizes[name] = value++;
    KernelCall call(kernel, sizes, 7);
    const auto expected = peer_results(kernel, call);
    call.run();
    EXPECT_FALSE(expected.empty()) << kernel.name;
    for (const auto& [argument, want] : expected) {
      const std::vector<double> got = call.values(argument);
      ASSERT_EQ(got.size(), want.size()) << kernel.name;
      for (size_t k = 0; k < got.size(); ++k) {
        ASSERT_NEAR(got[k], want[k], 1e-4 * std::max(1.0, std::fabs(want[k])))
            << kernel.name << " " << argument << "[" << k << "]";
      }
    }
  }
}

}  // namespace
}  // namespace exotune
