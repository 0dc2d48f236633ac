// Blur and unsharp mask against Halide 14, one thread: our kernels/*_avx512.sched and Halide's own
// schedules of the same algorithm, interleaved in one process.
//
//   bench_image [--rounds N] [HEIGHTxWIDTH...]          (default 1536x2560 and 6400x4800)
//
// Every output is first compared with plain loops in double. One line per kernel and size: the
// median milliseconds of each, and Halide's time over ours with its 95 % interval.
#include <Halide.h>

#include <cmath>
#include <cstdio>

#include "bench/image/duel.h"

namespace exotune {
namespace {

using Halide::Func, Halide::ImageParam, Halide::Var;

// --- blur ----------------------------------------------------------------------------------------

Func halide_blur(ImageParam image, ImageParam taps, bool tiles) {
  Var x("x"), y("y"), xi("xi"), yi("yi");
  Func across("across"), out("out");
  across(x, y) = taps(0) * image(x, y) + taps(1) * image(x + 1, y) + taps(2) * image(x + 2, y);
  out(x, y) = taps(0) * across(x, y) + taps(1) * across(x, y + 1) + taps(2) * across(x, y + 2);
  if (tiles) {
    out.tile(x, y, xi, yi, 256, 32).vectorize(xi, 16);
    across.compute_at(out, x).vectorize(x, 16);
  } else {
    out.split(y, y, yi, 32).vectorize(x, 16);
    across.store_at(out, y).compute_at(out, yi).vectorize(x, 16);
  }
  return out;
}

void blur(int64_t H, int64_t W, int rounds) {
  const Plane<float> image = pixels<float>((H + 2) * (W + 2)), out(H * W);
  float taps[3] = {0.25f, 0.5f, 0.2f};
  std::vector<double> rows(static_cast<size_t>((H + 2) * W)), expected(static_cast<size_t>(H * W));
  for (int64_t y = 0; y < H + 2; ++y)
    for (int64_t x = 0; x < W; ++x)
      for (int64_t t = 0; t < 3; ++t)
        rows[static_cast<size_t>(y * W + x)] += double{taps[t]} * image[y * (W + 2) + x + t];
  for (int64_t k = 0; k < H * W; ++k)
    for (int64_t t = 0; t < 3; ++t)
      expected[static_cast<size_t>(k)] += taps[t] * rows[static_cast<size_t>(k + t * W)];

  using Kernel = void (*)(int64_t, int64_t, const float*, const float*, float*);
  const auto ours = reinterpret_cast<Kernel>(scheduled("blur"));
  std::vector<Entry> field = {{"ours", [&] { ours(H, W, taps, image.data(), out.data()); }}};
  Halide::Buffer<float> in(image.data(), {static_cast<int>(W + 2), static_cast<int>(H + 2)}),
      result(out.data(), {static_cast<int>(W), static_cast<int>(H)}), weights(taps, {3});
  for (bool tiles : {true, false}) {
    ImageParam image_in(Halide::Float(32), 2), taps_in(Halide::Float(32), 1);
    image_in.set(in);
    taps_in.set(weights);
    Func f = halide_blur(image_in, taps_in, tiles);
    f.compile_jit();
    field.push_back(
        {tiles ? "halide-tiles" : "halide-rows", [f, &result]() mutable { f.realize(result); }});
  }
  duel("blur " + std::to_string(H) + "x" + std::to_string(W), field, out, expected, rounds);
}

// --- unsharp mask --------------------------------------------------------------------------------

Func halide_unsharp(ImageParam image, ImageParam weights, ImageParam taps,
                    Halide::Param<float> amount, bool planes_inside) {
  Var x("x"), y("y"), c("c"), yo("yo"), yi("yi");
  Func gray("gray"), down("down"), edge("edge"), out("out");
  gray(x, y) =
      weights(0) * image(x, y, 0) + weights(1) * image(x, y, 1) + weights(2) * image(x, y, 2);
  down(x, y) = taps(0) * gray(x, y + 3) + taps(1) * (gray(x, y + 2) + gray(x, y + 4)) +
               taps(2) * (gray(x, y + 1) + gray(x, y + 5)) +
               taps(3) * (gray(x, y) + gray(x, y + 6));
  edge(x, y) =
      gray(x + 3, y + 3) -
      (taps(0) * down(x + 3, y) + taps(1) * (down(x + 2, y) + down(x + 4, y)) +
       taps(2) * (down(x + 1, y) + down(x + 5, y)) + taps(3) * (down(x, y) + down(x + 6, y)));
  out(x, y, c) = image(x + 3, y + 3, c) + amount * edge(x, y);
  out.bound(c, 0, 3).split(y, yo, yi, 32).vectorize(x, 16);
  if (planes_inside) {
    out.reorder(c, x, yi, yo).unroll(c);
    edge.compute_at(out, x).vectorize(x, 16);
  } else {
    out.reorder(x, c, yi, yo);
    edge.compute_at(out, yi).store_at(out, yo).vectorize(x, 16);
  }
  gray.compute_at(out, yi).store_at(out, yo).vectorize(x, 16);
  down.compute_at(out, yi).store_at(out, yo).vectorize(x, 16);
  return out;
}

void unsharp(int64_t H, int64_t W, int rounds) {
  const int64_t w = W + 6, h = H + 6;
  const Plane<float> image = pixels<float>(3 * h * w), out(3 * H * W);
  float amount = 0.7f, weights[3] = {0.3f, 0.59f, 0.11f}, taps[4] = {0.27f, 0.2f, 0.11f, 0.04f};
  std::vector<double> gray(static_cast<size_t>(h * w)), down(static_cast<size_t>(H * w)),
      expected(static_cast<size_t>(3 * H * W));
  const auto tap = [&](int64_t k) { return double{taps[std::abs(k - 3)]}; };
  for (int64_t k = 0; k < h * w; ++k)
    for (int64_t c = 0; c < 3; ++c)
      gray[static_cast<size_t>(k)] += double{weights[c]} * image[c * h * w + k];
  for (int64_t k = 0; k < H * w; ++k)
    for (int64_t t = 0; t < 7; ++t)
      down[static_cast<size_t>(k)] += tap(t) * gray[static_cast<size_t>(k + t * w)];
  for (int64_t y = 0; y < H; ++y)
    for (int64_t x = 0; x < W; ++x) {
      double edge = gray[static_cast<size_t>((y + 3) * w + x + 3)];
      for (int64_t t = 0; t < 7; ++t) edge -= tap(t) * down[static_cast<size_t>(y * w + x + t)];
      for (int64_t c = 0; c < 3; ++c)
        expected[static_cast<size_t>((c * H + y) * W + x)] =
            image[(c * h + y + 3) * w + x + 3] + amount * edge;
    }
  using Kernel =
      void (*)(int64_t, int64_t, const float*, const float*, const float*, const float*, float*);
  const auto ours = reinterpret_cast<Kernel>(scheduled("unsharp"));
  std::vector<Entry> field = {
      {"ours", [&] { ours(H, W, &amount, weights, taps, image.data(), out.data()); }}};
  Halide::Buffer<float> in(image.data(), {static_cast<int>(w), static_cast<int>(h), 3}),
      result(out.data(), {static_cast<int>(W), static_cast<int>(H), 3}), gray_weights(weights, {3}),
      blur_taps(taps, {4});
  for (bool inside : {false, true}) {
    ImageParam image_in(Halide::Float(32), 3), weights_in(Halide::Float(32), 1),
        taps_in(Halide::Float(32), 1);
    Halide::Param<float> amount_in;
    image_in.set(in);
    weights_in.set(gray_weights);
    taps_in.set(blur_taps);
    amount_in.set(amount);
    Func f = halide_unsharp(image_in, weights_in, taps_in, amount_in, inside);
    f.compile_jit();
    field.push_back(
        {inside ? "halide-planes" : "halide-app", [f, &result]() mutable { f.realize(result); }});
  }
  duel("unsharp " + std::to_string(H) + "x" + std::to_string(W), field, out, expected, rounds);
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  return exotune::bench_main([&] {
    exotune::ImageArguments args = exotune::image_arguments(argc, argv);
    if (args.sizes.empty()) args.sizes = {{1536, 2560}, {6400, 4800}};
    std::printf("# Halide for %s, one thread\n",
                Halide::get_jit_target_from_environment().to_string().c_str());
    for (auto [h, w] : args.sizes) {
      exotune::blur(h, w, args.rounds);
      exotune::unsharp(h, w, args.rounds);
    }
  });
}
