// Kernels that no library has, against their formula written independently.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/hw/kernel_call.h"

namespace exotune {
namespace {

void expect_same(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k)
    ASSERT_NEAR(got[k], want[k], 1e-4 * std::max(1.0, std::fabs(want[k]))) << k;
}

TEST(Gemm, bytes_are_summed_in_words) {
  const int M = 3, N = 4, K = 50;  // sums beyond a byte
  KernelCall call(built_in_kernels().at("i8gemm"), {{"M", M}, {"N", N}, {"K", K}}, 5);
  const auto a = call.values("A"), b = call.values("B");
  std::vector<double> want = call.values("C");
  for (int at = 0; at < M * N; ++at)
    for (int k = 0; k < K; ++k) want[at] += a[at / N * K + k] * b[k * N + at % N];
  call.run();
  expect_same(call.values("C"), want);
}

TEST(Gemm, brain_floats_are_summed_in_single_precision) {
  const int N = 5, K = 300;  // sums that bf16 could not hold
  KernelCall call(built_in_kernels().at("bf16_vecmat"), {{"N", N}, {"K", K}}, 5);
  const auto x = call.values("x"), w = call.values("W");
  std::vector<double> want = call.values("y");
  for (int j = 0; j < N; ++j)
    for (int k = 0; k < K; ++k) want[j] += x[k] * w[k * N + j];
  call.run();
  expect_same(call.values("y"), want);
}

TEST(Gemm, chains_are_products_of_products) {
  const int M = 3, N = 4, K = 5, L = 2;
  KernelCall call(built_in_kernels().at("smatmul_chain"), {{"M", M}, {"N", N}, {"K", K}, {"L", L}},
                  5);
  const auto a = call.values("A"), b = call.values("B"), c = call.values("C");
  std::vector<double> want = call.values("D");
  for (int i = 0; i < M; ++i)
    for (int l = 0; l < L; ++l)
      for (int n = 0; n < N; ++n)
        for (int k = 0; k < K; ++k) want[i * L + l] += a[i * K + k] * b[k * N + n] * c[n * L + l];
  call.run();
  expect_same(call.values("D"), want);
}

TEST(Convolution, one_dimension_is_zero_beyond_the_end) {
  KernelCall call(built_in_kernels().at("conv1d"), {{"OC", 3}, {"IC", 2}, {"N", 7}, {"W", 4}}, 1);
  const auto data = call.values("data"), kernels = call.values("kernels");
  std::vector<double> want;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 7; ++j) {
      double sum = 0;
      for (int c = 0; c < 2; ++c)
        for (int at = j; at < 7 && at < j + 4; ++at)
          sum += data[c * 7 + at] * kernels[(i * 2 + c) * 4 + at - j];
      want.push_back(sum);
    }
  call.run();
  expect_same(call.values("out"), want);
}

TEST(Softmax, shares_add_up_to_one_row_by_row) {
  const int M = 3, N = 5;
  KernelCall call(built_in_kernels().at("ssoftmax"), {{"M", M}, {"N", N}}, 4);
  const auto x = call.values("x");
  call.run();
  const auto y = call.values("y");
  for (int i = 0; i < M; ++i) {
    double total = 0;
    for (int j = 0; j < N; ++j) total += std::exp(x[i * N + j]);
    for (int j = 0; j < N; ++j)
      EXPECT_NEAR(y[i * N + j], std::exp(x[i * N + j]) / total, 1e-6) << i << " " << j;
  }
}

TEST(Convolution, two_dimensions_with_bias_and_rectifier) {
  const int B = 2, H = 3, W = 4, IC = 3, OC = 2;
  KernelCall call(built_in_kernels().at("sconv3x3"),
                  {{"B", B}, {"H", H}, {"W", W}, {"IC", IC}, {"OC", OC}}, 2);
  const auto image = call.values("image"), weights = call.values("weights"),
             bias = call.values("bias");
  std::vector<double> want;
  for (int at = 0; at < B * H * W; ++at)
    for (int k = 0; k < OC; ++k) {
      const int b = at / (H * W), y = at / W % H, x = at % W;
      double sum = bias[k];
      for (int tap = 0; tap < 9; ++tap)
        for (int c = 0; c < IC; ++c)
          sum += image[((b * (H + 2) + y + tap / 3) * (W + 2) + x + tap % 3) * IC + c] *
                 weights[(tap * IC + c) * OC + k];
      want.push_back(std::max(0.0, sum));
    }
  call.run();
  expect_same(call.values("out"), want);
}

TEST(Image, blur_is_a_product_of_two_filters) {
  const int H = 5, W = 6;
  KernelCall call(built_in_kernels().at("blur"), {{"H", H}, {"W", W}}, 3);
  const auto image = call.values("image"), taps = call.values("taps");
  std::vector<double> want;
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) {
      double sum = 0;
      for (int d = 0; d < 9; ++d)
        sum += taps[d / 3] * taps[d % 3] * image[(y + d / 3) * (W + 2) + x + d % 3];
      want.push_back(sum);
    }
  call.run();
  expect_same(call.values("out"), want);
}

TEST(Image, blur_of_integers_averages_rounded_down_row_by_row) {
  const int H = 5, W = 6;
  KernelCall call(built_in_kernels().at("blur_ui16"), {{"H", H}, {"W", W}}, 3);
  const auto image = call.values("image");
  const auto third = [](double a, double b, double c) {
    return static_cast<uint16_t>(static_cast<int>(a + b + c)) / 3;
  };
  std::vector<double> want;
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) {
      const auto across = [&](int row) {
        const size_t at = static_cast<size_t>(row * (W + 2) + x);
        return third(image[at], image[at + 1], image[at + 2]);
      };
      want.push_back(third(across(y), across(y + 1), across(y + 2)));
    }
  call.run();
  expect_same(call.values("out"), want);
}

TEST(Image, unsharp_adds_the_difference_to_the_blur) {
  const int H = 4, W = 5, stride = W + 6, plane = (H + 6) * stride;
  KernelCall call(built_in_kernels().at("unsharp"), {{"H", H}, {"W", W}}, 4);
  const auto image = call.values("image"), weights = call.values("weights"),
             half = call.values("taps");
  const double amount = call.values("amount")[0];
  const double taps[7] = {half[3], half[2], half[1], half[0], half[1], half[2], half[3]};
  const auto gray = [&](int y, int x) {
    const int at = y * stride + x;
    return weights[0] * image[at] + weights[1] * image[plane + at] +
           weights[2] * image[2 * plane + at];
  };
  std::vector<double> want;
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        double smooth = 0;
        for (int d = 0; d < 49; ++d)
          smooth += taps[d / 7] * taps[d % 7] * gray(y + d / 7, x + d % 7);
        want.push_back(image[c * plane + (y + 3) * stride + x + 3] +
                       amount * (gray(y + 3, x + 3) - smooth));
      }
  call.run();
  expect_same(call.values("out"), want);
}

TEST(Image, unsharp_by_ratio_scales_every_plane_alike) {
  const int H = 4, W = 5, stride = W + 6, plane = (H + 6) * stride;
  KernelCall call(built_in_kernels().at("unsharp_ratio"), {{"H", H}, {"W", W}}, 7);
  const auto image = call.values("image"), weights = call.values("weights"),
             half = call.values("taps");
  const double taps[7] = {half[3], half[2], half[1], half[0], half[1], half[2], half[3]};
  const auto gray = [&](int y, int x) {
    const int at = y * stride + x;
    return weights[0] * image[at] + weights[1] * image[plane + at] +
           weights[2] * image[2 * plane + at];
  };
  std::vector<double> want;
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        double smooth = 0;
        for (int d = 0; d < 49; ++d)
          smooth += taps[d / 7] * taps[d % 7] * gray(y + d / 7, x + d % 7);
        const double middle = gray(y + 3, x + 3);
        want.push_back((2 * middle - smooth) / middle *
                       image[c * plane + (y + 3) * stride + x + 3]);
      }
  call.run();
  expect_same(call.values("out"), want);
}

}  // namespace
}  // namespace exotune
