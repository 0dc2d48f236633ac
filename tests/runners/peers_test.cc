#include "runners/peers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/diagnostic.h"
#include "tests/runners/shared_peers.h"

namespace exotune {
namespace {

using samples::shared_peers;

/// Row-major element access of what a problem's operands hold.
struct Reference {
  std::vector<ArgSpec> args;
  TestCase test;
  PeerProblem problem;
};

double at(const Reference& r, int arg, int64_t i) {
  return r.test.inputs[static_cast<size_t>(arg)][static_cast<size_t>(i)];
}

Reference gemm(ElementType t, int64_t m, int64_t n, int64_t k, bool ta, bool tb, double beta) {
  Reference r;
  r.args = {ArgSpec::window("a", t, ta ? std::vector{k, m} : std::vector{m, k},
                            {(ta ? m : k) + 3, 1}, true, false),
            ArgSpec::tensor("b", t, tb ? std::vector{n, k} : std::vector{k, n}, true, false),
            ArgSpec::tensor("c", t, {m, n}, true, true), ArgSpec::scalar("alpha", t, true, false)};
  r.problem.op = BlasOp::kGemm;
  r.problem.type = t;
  r.problem.m = m, r.problem.n = n, r.problem.k = k;
  r.problem.trans_a = ta, r.problem.trans_b = tb;
  r.problem.a = 0, r.problem.b = 1, r.problem.c = 2;
  r.problem.alpha.arg = 3;
  r.problem.beta.value = beta;
  r.test = make_inputs(r.args, 5);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += at(r, 0, ta ? p * m + i : i * k + p) * at(r, 1, tb ? j * k + p : p * n + j);
      r.test.expected[2].push_back(at(r, 3, 0) * sum + beta * at(r, 2, i * n + j));
    }
  return r;
}

Reference gemv(ElementType t, int64_t m, int64_t n, bool trans) {
  Reference r;
  r.args = {ArgSpec::tensor("a", t, {m, n}, true, false),
            ArgSpec::tensor("x", t, {trans ? m : n}, true, false),
            ArgSpec::tensor("y", t, {trans ? n : m}, true, true)};
  r.problem.op = BlasOp::kGemv;
  r.problem.type = t;
  r.problem.m = m, r.problem.n = n, r.problem.trans_a = trans;
  r.problem.a = 0, r.problem.x = 1, r.problem.y = 2;
  r.problem.alpha.value = 2, r.problem.beta.value = 3;
  r.test = make_inputs(r.args, 6);
  for (int64_t i = 0; i < (trans ? n : m); ++i) {
    double sum = 0;
    for (int64_t j = 0; j < (trans ? m : n); ++j)
      sum += at(r, 0, trans ? j * n + i : i * n + j) * at(r, 1, j);
    r.test.expected[2].push_back(2 * sum + 3 * at(r, 2, i));
  }
  return r;
}

Reference ger(ElementType t, int64_t m, int64_t n) {
  Reference r;
  r.args = {ArgSpec::tensor("a", t, {m, n}, true, true), ArgSpec::tensor("x", t, {m}, true, false),
            ArgSpec::tensor("y", t, {n}, true, false)};
  r.problem.op = BlasOp::kGer;
  r.problem.type = t;
  r.problem.m = m, r.problem.n = n;
  r.problem.a = 0, r.problem.x = 1, r.problem.y = 2;
  r.problem.alpha.value = -1;
  r.test = make_inputs(r.args, 7);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      r.test.expected[0].push_back(at(r, 0, i * n + j) - at(r, 1, i) * at(r, 2, j));
  return r;
}

Reference level_one(BlasOp op, ElementType t, int64_t n, int64_t inc) {
  Reference r;
  const bool two = op != BlasOp::kScal && op != BlasOp::kAsum;
  const bool sum = op == BlasOp::kDot || op == BlasOp::kAsum;
  const bool x_out =
      op == BlasOp::kScal || op == BlasOp::kSwap || op == BlasOp::kRot || op == BlasOp::kRotm;
  const auto vector = [&](const char* name, bool read, bool written) {
    return inc == 1 ? ArgSpec::tensor(name, t, {n}, read, written)
                    : ArgSpec::window(name, t, {n}, {inc}, read, written);
  };
  r.args = {vector("x", true, x_out)};
  r.problem.x = 0;
  if (two) {
    r.args.push_back(vector("y", op != BlasOp::kCopy, !sum));
    r.problem.y = 1;
  }
  if (sum) {
    r.problem.result = static_cast<int>(r.args.size());
    r.args.push_back(ArgSpec::scalar("result", t, false, true));
  }
  r.problem.op = op;
  r.problem.type = t;
  r.problem.n = n;
  r.problem.alpha.value = 2;
  r.problem.beta.value = op == BlasOp::kRot ? 3 : 0;
  r.problem.h[0].value = 2, r.problem.h[1].value = 3, r.problem.h[2].value = -1,
  r.problem.h[3].value = 5;
  r.test = make_inputs(r.args, 8);
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = at(r, 0, i), y = two && op != BlasOp::kCopy ? at(r, 1, i) : 0;
    std::vector<std::vector<double>>& e = r.test.expected;
    switch (op) {
      case BlasOp::kAxpy:
        e[1].push_back(y + 2 * x);
        break;
      case BlasOp::kScal:
        e[0].push_back(2 * x);
        break;
      case BlasOp::kCopy:
        e[1].push_back(x);
        break;
      case BlasOp::kSwap:
        e[0].push_back(y), e[1].push_back(x);
        break;
      case BlasOp::kRot:
        e[0].push_back(2 * x + 3 * y), e[1].push_back(2 * y - 3 * x);
        break;
      case BlasOp::kRotm:
        e[0].push_back(2 * x - y), e[1].push_back(3 * x + 5 * y);
        break;
      case BlasOp::kDot:
        total += x * y;
        break;
      case BlasOp::kAsum:
        total += std::fabs(x);
        break;
      default:
        ADD_FAILURE() << "no level 1 operation";
    }
  }
  if (sum) r.test.expected[static_cast<size_t>(r.problem.result)] = {total};
  return r;
}

/// symv, syr, syr2, trmv, trsv on an n by n matrix whose other triangle must not matter.
Reference triangle(BlasOp op, ElementType t, int64_t n, bool upper, bool trans, bool unit,
                   int64_t inc) {
  Reference r;
  const bool a_out = op == BlasOp::kSyr || op == BlasOp::kSyr2;
  const bool x_out = op == BlasOp::kTrmv || op == BlasOp::kTrsv;
  const auto vector = [&](const char* name, bool written) {
    return ArgSpec::window(name, t, {n}, {inc}, true, written);
  };
  r.args = {ArgSpec::window("a", t, {n, n}, {n + 2, 1}, true, a_out), vector("x", x_out),
            vector("y", op == BlasOp::kSymv)};
  r.problem.op = op;
  r.problem.type = t;
  r.problem.n = n;
  r.problem.a = 0, r.problem.x = 1, r.problem.y = 2;
  r.problem.upper = upper, r.problem.trans_a = trans, r.problem.unit_diagonal = unit;
  r.problem.alpha.value = 2, r.problem.beta.value = 3;
  r.test = make_inputs(r.args, 12);
  std::vector<double>& a = r.test.inputs[0];
  for (int64_t i = 0; i < n; ++i)
    a[static_cast<size_t>(i * n + i)] = i % 2 ? 2 : -1;  // exact quotients
  const auto in_triangle = [&](int64_t i, int64_t j) { return upper ? j >= i : j <= i; };
  const auto value = [&](int64_t i, int64_t j) -> double {  // of op(A) as the operation reads it
    if (x_out) {
      if (trans) std::swap(i, j);
      return !in_triangle(i, j) ? 0 : i == j && unit ? 1 : at(r, 0, i * n + j);
    }
    return in_triangle(i, j) ? at(r, 0, i * n + j) : at(r, 0, j * n + i);
  };
  std::vector<double> x, y;
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(at(r, 1, i));
    y.push_back(at(r, 2, i));
  }
  if (a_out) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const auto si = static_cast<size_t>(i), sj = static_cast<size_t>(j);
        const double more = op == BlasOp::kSyr ? x[si] * x[sj] : x[si] * y[sj] + y[si] * x[sj];
        r.test.expected[0].push_back(at(r, 0, i * n + j) + (in_triangle(i, j) ? 2 * more : 0));
      }
    return r;
  }
  std::vector<double> product(static_cast<size_t>(n), 0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      product[static_cast<size_t>(i)] += value(i, j) * x[static_cast<size_t>(j)];
  if (op == BlasOp::kSymv) {
    for (size_t i = 0; i < product.size(); ++i)
      r.test.expected[2].push_back(2 * product[i] + 3 * y[i]);
  } else if (op == BlasOp::kTrmv) {
    r.test.expected[1] = product;
  } else {  // what it must solve is made from the solution
    r.test.expected[1] = x;
    r.test.inputs[1] = product;
  }
  return r;
}

void expect_right(const Reference& r) {
  for (const Peer& peer : shared_peers().peers) {
    const PeerCall call{peer, r.problem};
    if (!peer.supports(r.problem)) continue;
    const TrialResult result = check_peer(call, r.args, r.test);
    EXPECT_TRUE(result.ok()) << peer.name << " " << blas_op_name(r.problem.op) << " "
                             << element_name(r.problem.type) << ": " << result.cause;
  }
}

constexpr ElementType kPrecisions[] = {ElementType::kF32, ElementType::kF64};

TEST(Peers, plain_c_is_always_there_and_every_absence_has_a_reason) {
  const PeerReport& report = shared_peers();
  EXPECT_TRUE(std::any_of(report.peers.begin(), report.peers.end(),
                          [](const Peer& p) { return p.name == "c"; }));
  for (const Peer& p : report.peers) {
    EXPECT_FALSE(p.version.empty()) << p.name;
    EXPECT_TRUE(std::filesystem::exists(p.path)) << p.name;
  }
  for (const std::string& a : report.absent) EXPECT_NE(a.find(": "), std::string::npos) << a;
}

TEST(Peers, the_environment_cannot_falsify_them) {
  for (const Peer& p : shared_peers().peers) {
    if (p.library == "openblas") {
      EXPECT_NE(p.version.find(p.core_type), std::string::npos) << p.version;
    }
  }
  const auto& cleared = shared_peers().cleared_environment;
  EXPECT_NE(std::find(cleared.begin(), cleared.end(), "OPENBLAS_CORETYPE=Prescott"), cleared.end());
}

TEST(Peers, gemm_is_right_at_odd_sizes) {
  for (ElementType t : kPrecisions)
    for (int variant = 0; variant < 4; ++variant)
      expect_right(gemm(t, 7, 13, 5, variant & 1, variant & 2, variant == 0 ? 0 : 1));
  expect_right(gemm(ElementType::kF32, 1, 1, 1, false, false, 2));
  expect_right(gemm(ElementType::kF64, 33, 65, 129, false, false, 1));
}

TEST(Peers, gemv_and_ger_are_right_at_odd_sizes) {
  for (ElementType t : kPrecisions) {
    expect_right(gemv(t, 11, 37, false));
    expect_right(gemv(t, 11, 37, true));
    expect_right(ger(t, 9, 21));
  }
}

TEST(Peers, level_one_is_right_at_odd_sizes_and_strides) {
  for (ElementType t : kPrecisions)
    for (BlasOp op : {BlasOp::kAxpy, BlasOp::kDot, BlasOp::kScal, BlasOp::kCopy, BlasOp::kSwap,
                      BlasOp::kAsum, BlasOp::kRot, BlasOp::kRotm}) {
      expect_right(level_one(op, t, 37, 1));
      expect_right(level_one(op, t, 19, 3));
    }
  expect_right(level_one(BlasOp::kRot, ElementType::kF32, 1111, 1));
}

TEST(Peers, symmetric_and_triangular_operations_are_right) {
  for (ElementType t : kPrecisions)
    for (BlasOp op : {BlasOp::kSymv, BlasOp::kSyr, BlasOp::kSyr2, BlasOp::kTrmv, BlasOp::kTrsv})
      for (bool upper : {false, true}) {
        expect_right(triangle(op, t, 11, upper, false, false, 1));
        expect_right(triangle(op, t, 5, upper, false, false, 2));
        if (op == BlasOp::kTrmv || op == BlasOp::kTrsv)
          expect_right(triangle(op, t, 7, upper, true, true, 1));
      }
}

TEST(Peers, dsdot_takes_floats_and_gives_a_double) {
  Reference r;
  r.args = {ArgSpec::tensor("x", ElementType::kF32, {29}, true, false),
            ArgSpec::tensor("y", ElementType::kF32, {29}, true, false),
            ArgSpec::scalar("result", ElementType::kF64, false, true)};
  r.problem.op = BlasOp::kDsdot;
  r.problem.type = ElementType::kF64;
  r.problem.n = 29;
  r.problem.x = 0, r.problem.y = 1, r.problem.result = 2;
  r.test = make_inputs(r.args, 2);
  double sum = 0;
  for (int64_t i = 0; i < 29; ++i) sum += at(r, 0, i) * at(r, 1, i);
  r.test.expected[2] = {sum};
  expect_right(r);
}

Reference conv2d(ElementType t, int64_t batch, int64_t height, int64_t width, int64_t in,
                 int64_t out, bool bias, bool rectify) {
  constexpr int64_t kTaps = 3;
  const int64_t rows = height + kTaps - 1, columns = width + kTaps - 1;
  Reference r;
  r.args = {ArgSpec::tensor("image", t, {batch, rows, columns, in}, true, false),
            ArgSpec::tensor("weights", t, {kTaps, kTaps, in, out}, true, false),
            ArgSpec::tensor("bias", t, {out}, true, false),
            ArgSpec::tensor("result", t, {batch, height, width, out}, false, true)};
  PeerProblem& p = r.problem;
  p.op = BlasOp::kConv2d;
  p.type = t;
  p.batch = batch, p.height = height, p.width = width, p.taps = kTaps, p.k = in, p.n = out;
  p.a = 0, p.b = 1, p.c = 3, p.rectify = rectify;
  if (bias) p.x = 2;
  r.test = make_inputs(r.args, 9);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t k = 0; k < out; ++k) {
          double sum = bias ? at(r, 2, k) : 0;
          for (int64_t tap = 0; tap < kTaps * kTaps; ++tap)
            for (int64_t c = 0; c < in; ++c)
              sum += at(r, 0, ((b * rows + y + tap / kTaps) * columns + x + tap % kTaps) * in + c) *
                     at(r, 1, (tap * in + c) * out + k);
          r.test.expected[3].push_back(rectify ? std::max(0.0, sum) : sum);
        }
  return r;
}

TEST(Peers, convolve_channels_last) {
  expect_right(conv2d(ElementType::kF32, 2, 3, 5, 7, 4, true, true));
  expect_right(conv2d(ElementType::kF32, 1, 4, 2, 16, 32, false, false));
  expect_right(conv2d(ElementType::kF64, 1, 3, 3, 2, 5, true, false));
}

TEST(Peers, every_operation_has_a_name_and_someone_who_has_it) {
  for (BlasOp op : blas_ops()) {
    EXPECT_GE(blas_level(op), 1);
    PeerProblem p;
    p.op = op;
    p.type = ElementType::kF64;
    EXPECT_TRUE(std::any_of(shared_peers().peers.begin(), shared_peers().peers.end(),
                            [&](const Peer& peer) { return peer.supports(p); }))
        << blas_op_name(op);
  }
}

TEST(Peers, a_wrong_expectation_is_a_mismatch) {
  Reference r = level_one(BlasOp::kAxpy, ElementType::kF32, 5, 1);
  r.test.expected[1][2] += 1;
  EXPECT_EQ(check_peer({shared_peers().peers.back(), r.problem}, r.args, r.test).status,
            TrialStatus::kMismatch);
}

TEST(Peers, any_library_with_the_names_can_be_one) {
  const Reference r = level_one(BlasOp::kAxpy, ElementType::kF32, 5, 1);
  const Peer c = cblas_library(shared_peers().peers.back().path);
  EXPECT_TRUE(check_peer({c, r.problem}, r.args, r.test).ok());
  EXPECT_THROW(cblas_library("/nowhere/libnothing.so"), InputError);
  // The C library has no such functions.
  Peer empty = c;
  empty.path = "libc.so.6";
  const TrialResult result = check_peer({empty, r.problem}, r.args, r.test);
  EXPECT_NE(result.cause.find("cblas_saxpy"), std::string::npos) << result.cause;
}

TEST(Peers, one_that_is_made_for_a_product_can_do_that_and_no_more) {
  const Reference product = gemm(ElementType::kF32, 5, 7, 6, false, false, 1);
  PeerOptions options;
  options.cache_directory = std::string(EXOTUNE_BINARY_DIR) + "/peers";
  options.only = {"eigen"};
  options.problem = product.problem;
  const PeerReport report = discover_peers(samples::widest_toolchain(), options);
  if (report.peers.empty()) GTEST_SKIP() << "Eigen is not installed";
  EXPECT_TRUE(check_peer({report.peers[0], product.problem}, product.args, product.test).ok());
  const Reference sum = level_one(BlasOp::kAxpy, ElementType::kF32, 5, 1);
  const TrialResult result = check_peer({report.peers[0], sum.problem}, sum.args, sum.test);
  EXPECT_NE(result.cause.find("cblas_saxpy"), std::string::npos) << result.cause;
}

TEST(Peers, a_library_that_is_not_there_is_reported) {
  PeerCall call{shared_peers().peers.back(),
                level_one(BlasOp::kAxpy, ElementType::kF32, 5, 1).problem};
  call.peer.path = "/nowhere/libnothing.so";
  const Reference r = level_one(BlasOp::kAxpy, ElementType::kF32, 5, 1);
  const TrialResult result = check_peer(call, r.args, r.test);
  EXPECT_EQ(result.status, TrialStatus::kCrash);
  EXPECT_NE(result.cause.find("/nowhere/libnothing.so"), std::string::npos) << result.cause;
}

TEST(Peers, compute_the_same_on_two_threads) {
  // Whole tiles for each thread: at 70 x 90 a BLIS of one kind of core reads behind the end of C,
  // which the guard pages rightly report.
  const Reference r = gemm(ElementType::kF32, 96, 192, 64, false, false, 1);
  int checked = 0;
  for (Peer peer : shared_peers().peers) {
    peer.threads = 2;
    if (!peer.supports(r.problem) || peer.library == "c") continue;
    const TrialResult result = check_peer({peer, r.problem}, r.args, r.test);
    EXPECT_TRUE(result.ok()) << peer.name << ": " << result.cause;
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "no library is installed";
}

}  // namespace
}  // namespace exotune
