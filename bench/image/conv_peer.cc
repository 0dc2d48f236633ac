// The 3x3 convolution with bias and rectifier against Halide 14 and oneDNN, one thread: our
// kernels/sconv3x3_avx512.sched, Halide's schedule of its convolution layer, and oneDNN's choice,
// interleaved in one process.
//
//   bench_conv [--rounds N]      (5 images of 80x100 pixels, 128 to 128 channels)
//
// Every output is first compared with plain loops in double. Ours and oneDNN's get the weights as
// [3, 3, in, out] and bring them into their own order in each call; Halide's reads them where they
// are, once in that order and once in the order its own application uses, [in, 3, 3, out].
#include <Halide.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>

#include "bench/image/duel.h"
#include "core/base/diagnostic.h"
#include "hw/target.h"
#include "runners/peers.h"

namespace exotune {
namespace {

using Halide::Func, Halide::ImageParam, Halide::RDom, Halide::Var;

constexpr int kImages = 5, kHeight = 80, kWidth = 100, kIn = 128, kOut = 128;

/// Tiles of 4 vectors of channels x 5 pixels in registers; the sum runs over the taps outside and
/// the input channels inside, two at a time; a tap's weights and pixels are loaded where they are
/// used.
Func halide_convolution(ImageParam image, ImageParam weights, ImageParam bias, bool taps_inside) {
  Var c("c"), x("x"), y("y"), n("n"), co("co"), ci("ci"), xo("xo"), xi("xi");
  constexpr int kVector = 16, kVectors = 4, kPixels = 5;
  RDom r(0, kIn, 0, 3, 0, 3);
  Func sum("sum"), out("out");
  sum(c, x, y, n) = bias(c);
  sum(c, x, y, n) += (taps_inside ? weights(c, r.y, r.z, r.x) : weights(c, r.x, r.y, r.z)) *
                     image(r.x, x + r.y, y + r.z, n);
  out(c, x, y, n) = Halide::max(0, sum(c, x, y, n));

  out.bound(c, 0, kOut).bound(x, 0, kWidth).bound(y, 0, kHeight).bound(n, 0, kImages);
  out.split(c, co, ci, kVector * kVectors)
      .split(x, xo, xi, kPixels)
      .reorder(ci, xi, xo, y, n, co)
      .vectorize(ci, kVector)
      .unroll(ci)
      .unroll(xi);
  sum.compute_at(out, xo).vectorize(c, kVector).unroll(c).unroll(x).unroll(y);
  sum.update()
      .reorder(c, x, y, r.x, r.y, r.z, n)
      .vectorize(c, kVector)
      .unroll(c)
      .unroll(x)
      .unroll(y)
      .unroll(r.x, 2);
  weights.in().compute_at(sum, r.x).vectorize(Halide::_0, kVector).unroll(Halide::_0);
  weights.in().unroll(taps_inside ? Var(Halide::_3) : Var(Halide::_1));
  image.in().compute_at(sum, x).unroll(Halide::_0);

  const auto dense = [](ImageParam p, const std::vector<int>& extents) {
    int stride = 1;
    for (size_t d = 0; d < extents.size(); ++d) {
      p.dim(static_cast<int>(d)).set_bounds(0, extents[d]).set_stride(stride);
      stride *= extents[d];
    }
  };
  dense(image, {kIn, kWidth + 2, kHeight + 2, kImages});
  dense(weights, taps_inside ? std::vector<int>{kOut, 3, 3, kIn} : std::vector{kOut, kIn, 3, 3});
  dense(bias, {kOut});
  return out;
}

using OneDnn = void (*)(long, long, long, long, long, long, const float*, const float*,
                        const float*, float*, int);

/// Null, with the reason printed, where oneDNN is not installed.
OneDnn onednn() {
  PeerOptions only;
  only.only = {"onednn"};
  const PeerReport report =
      discover_peers(toolchain_of(*load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"})), only);
  for (const Peer& p : report.peers)
    if (void* adapter = p.adapter.empty() ? nullptr : dlopen(p.adapter.c_str(), RTLD_NOW)) {
      std::printf("# %s: %s\n", p.name.c_str(), p.version.c_str());
      return reinterpret_cast<OneDnn>(dlsym(adapter, "peer_sconv2d"));
    }
  std::printf("# oneDNN is not installed\n");
  return nullptr;
}

void convolution(int rounds) {
  constexpr int64_t B = kImages, H = kHeight, W = kWidth, IC = kIn, OC = kOut;
  const Plane<float> image = pixels<float>(B * (H + 2) * (W + 2) * IC),
                     weights = pixels<float>(9 * IC * OC), turned(9 * IC * OC),
                     bias = pixels<float>(OC), out(B * H * W * OC);
  for (int64_t k = 0; k < weights.size(); ++k) weights[k] -= 0.5f;  // half of the sums are negative
  for (int64_t tap = 0; tap < 9; ++tap)
    for (int64_t c = 0; c < IC; ++c)
      for (int64_t k = 0; k < OC; ++k)
        turned[(c * 9 + tap) * OC + k] = weights[(tap * IC + c) * OC + k];
  std::vector<double> expected(static_cast<size_t>(B * H * W * OC));
  std::vector<double> sums(static_cast<size_t>(OC));
  for (int64_t at = 0; at < B * H * W; ++at) {
    const int64_t b = at / (H * W), y = at / W % H, x = at % W;
    for (int64_t k = 0; k < OC; ++k) sums[static_cast<size_t>(k)] = bias[k];
    for (int64_t tap = 0; tap < 9; ++tap)
      for (int64_t c = 0; c < IC; ++c) {
        const double pixel = image[((b * (H + 2) + y + tap / 3) * (W + 2) + x + tap % 3) * IC + c];
        const float* row = weights.data() + (tap * IC + c) * OC;
        for (int64_t k = 0; k < OC; ++k) sums[static_cast<size_t>(k)] += pixel * double{row[k]};
      }
    for (int64_t k = 0; k < OC; ++k)
      expected[static_cast<size_t>(at * OC + k)] = std::max(0.0, sums[static_cast<size_t>(k)]);
  }

  using Kernel =
      void (*)(int64_t, int64_t, int64_t, const float*, const float*, const float*, float*);
  const auto ours = reinterpret_cast<Kernel>(scheduled("sconv3x3"));
  std::vector<Entry> field = {
      {"ours", [&] { ours(B, H, W, image.data(), weights.data(), bias.data(), out.data()); }}};
  if (const OneDnn theirs = onednn())
    field.push_back({"onednn", [&, theirs] {
                       theirs(B, H, W, IC, OC, 3, image.data(), weights.data(), bias.data(),
                              out.data(), 1);
                     }});
  Halide::Buffer<float> in(image.data(), {kIn, kWidth + 2, kHeight + 2, kImages}),
      given(weights.data(), {kOut, kIn, 3, 3}), own(turned.data(), {kOut, 3, 3, kIn}),
      offsets(bias.data(), {kOut}), result(out.data(), {kOut, kWidth, kHeight, kImages});
  for (bool taps_inside : {true, false}) {
    ImageParam image_in(Halide::Float(32), 4), weights_in(Halide::Float(32), 4),
        bias_in(Halide::Float(32), 1);
    image_in.set(in);
    weights_in.set(taps_inside ? own : given);
    bias_in.set(offsets);
    Func f = halide_convolution(image_in, weights_in, bias_in, taps_inside);
    f.compile_jit();
    field.push_back({taps_inside ? "halide" : "halide, our weights",
                     [f, &result]() mutable { f.realize(result); }});
  }
  duel("conv 3x3 " + std::to_string(B) + "x" + std::to_string(H) + "x" + std::to_string(W) + " " +
           std::to_string(IC) + " -> " + std::to_string(OC),
       field, out, expected, rounds, {1e-3, 1e-5});
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  return exotune::bench_main([&] {
    const exotune::ImageArguments args = exotune::image_arguments(argc, argv);
    if (!args.sizes.empty())
      throw exotune::InputError({}, "the convolution has one size",
                                "--rounds N is all there is to say");
    std::printf("# Halide for %s, one thread\n",
                Halide::get_jit_target_from_environment().to_string().c_str());
    exotune::convolution(args.rounds);
  });
}
