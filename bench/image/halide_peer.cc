// Blurs and unsharp masks against Halide 14, one thread: our kernels/*_avx512.sched and Halide's
// own schedules of the same algorithm, interleaved in one process.
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

// --- blur of 16-bit integers ---------------------------------------------------------------------

enum class BlurPlan { kApplication, kPaper, kRows };

Func halide_blur_ui16(ImageParam image, BlurPlan plan, int lanes) {
  Var x("x"), y("y"), xi("xi"), yi("yi");
  Func across("across"), out("out");
  across(x, y) = (image(x, y) + image(x + 1, y) + image(x + 2, y)) / 3;
  out(x, y) = (across(x, y) + across(x, y + 1) + across(x, y + 2)) / 3;
  switch (plan) {
    case BlurPlan::kApplication:
      out.split(y, y, yi, 32).vectorize(x, lanes);
      across.store_at(out, y).compute_at(out, x).vectorize(x, lanes);
      break;
    case BlurPlan::kPaper:
      out.tile(x, y, xi, yi, 256, 32).vectorize(xi, lanes);
      across.compute_at(out, x).vectorize(x, lanes);
      break;
    case BlurPlan::kRows:
      out.split(y, y, yi, 32).vectorize(x, lanes);
      across.store_at(out, y).compute_at(out, yi).vectorize(x, lanes);
  }
  return out;
}

void blur_ui16(int64_t H, int64_t W, int rounds) {
  const Plane<uint16_t> image = pixels<uint16_t>((H + 2) * (W + 2)), out(H * W);
  for (int64_t k = 0; k < image.size(); ++k) image[k] &= 0xfff;
  std::vector<int> rows(static_cast<size_t>((H + 2) * W));
  std::vector<double> expected(static_cast<size_t>(H * W));
  for (int64_t y = 0; y < H + 2; ++y)
    for (int64_t x = 0; x < W; ++x) {
      const int64_t at = y * (W + 2) + x;
      rows[static_cast<size_t>(y * W + x)] = (image[at] + image[at + 1] + image[at + 2]) / 3;
    }
  for (size_t k = 0; k < expected.size(); ++k) {
    const size_t w = static_cast<size_t>(W);
    expected[k] = (rows[k] + rows[k + w] + rows[k + 2 * w]) / 3;
  }
  using Kernel = void (*)(int64_t, int64_t, const uint16_t*, uint16_t*);
  const auto ours = reinterpret_cast<Kernel>(scheduled("blur_ui16"));
  std::vector<Entry> field = {{"ours", [&] { ours(H, W, image.data(), out.data()); }}};
  Halide::Buffer<uint16_t> in(image.data(), {static_cast<int>(W + 2), static_cast<int>(H + 2)}),
      result(out.data(), {static_cast<int>(W), static_cast<int>(H)});
  const std::pair<const char*, BlurPlan> plans[] = {{"halide-app", BlurPlan::kApplication},
                                                    {"halide-paper", BlurPlan::kPaper},
                                                    {"halide-rows", BlurPlan::kRows}};
  for (int lanes : {16, 32})
    for (const auto& [name, plan] : plans) {
      ImageParam image_in(Halide::UInt(16), 2);
      image_in.set(in);
      Func f = halide_blur_ui16(image_in, plan, lanes);
      f.compile_jit();
      field.push_back(
          {name + (" x" + std::to_string(lanes)), [f, &result]() mutable { f.realize(result); }});
    }
  duel("blur ui16 " + std::to_string(H) + "x" + std::to_string(W), field, out, expected, rounds,
       {0, 0});
}

// --- unsharp mask --------------------------------------------------------------------------------

Func halide_unsharp(ImageParam image, ImageParam weights, ImageParam taps,
                    Halide::Param<float> amount, bool ratio, bool planes_inside) {
  Var x("x"), y("y"), c("c"), yo("yo"), yi("yi");
  Func gray("gray"), down("down"), edge("edge"), out("out");
  gray(x, y) =
      weights(0) * image(x, y, 0) + weights(1) * image(x, y, 1) + weights(2) * image(x, y, 2);
  down(x, y) = taps(0) * gray(x, y + 3) + taps(1) * (gray(x, y + 2) + gray(x, y + 4)) +
               taps(2) * (gray(x, y + 1) + gray(x, y + 5)) +
               taps(3) * (gray(x, y) + gray(x, y + 6));
  const Halide::Expr smooth =
      taps(0) * down(x + 3, y) + taps(1) * (down(x + 2, y) + down(x + 4, y)) +
      taps(2) * (down(x + 1, y) + down(x + 5, y)) + taps(3) * (down(x, y) + down(x + 6, y));
  const Halide::Expr middle = gray(x + 3, y + 3);
  if (ratio) {
    edge(x, y) = (2.0f * middle - smooth) / middle;
    out(x, y, c) = edge(x, y) * image(x + 3, y + 3, c);
  } else {
    edge(x, y) = middle - smooth;
    out(x, y, c) = image(x + 3, y + 3, c) + amount * edge(x, y);
  }
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

void unsharp(int64_t H, int64_t W, bool ratio, int rounds) {
  const int64_t w = W + 6, h = H + 6;
  const Plane<float> image = pixels<float>(3 * h * w), out(3 * H * W);
  for (int64_t k = 0; k < image.size(); ++k) image[k] += 0.1f;  // brightness is divided by
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
      const double middle = gray[static_cast<size_t>((y + 3) * w + x + 3)];
      double edge = middle;
      for (int64_t t = 0; t < 7; ++t) edge -= tap(t) * down[static_cast<size_t>(y * w + x + t)];
      for (int64_t c = 0; c < 3; ++c) {
        const double pixel = image[(c * h + y + 3) * w + x + 3];
        expected[static_cast<size_t>((c * H + y) * W + x)] =
            ratio ? (middle + edge) / middle * pixel : pixel + amount * edge;
      }
    }
  using Kernel =
      void (*)(int64_t, int64_t, const float*, const float*, const float*, const float*, float*);
  using RatioKernel = void (*)(int64_t, int64_t, const float*, const float*, const float*, float*);
  void* const ours = scheduled(ratio ? "unsharp_ratio" : "unsharp");
  std::vector<Entry> field;
  if (ratio)
    field.push_back({"ours", [&, f = reinterpret_cast<RatioKernel>(ours)] {
                       f(H, W, weights, taps, image.data(), out.data());
                     }});
  else
    field.push_back({"ours", [&, f = reinterpret_cast<Kernel>(ours)] {
                       f(H, W, &amount, weights, taps, image.data(), out.data());
                     }});
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
    Func f = halide_unsharp(image_in, weights_in, taps_in, amount_in, ratio, inside);
    f.compile_jit();
    field.push_back(
        {inside ? "halide-planes" : "halide-app", [f, &result]() mutable { f.realize(result); }});
  }
  duel((ratio ? "unsharp ratio " : "unsharp ") + std::to_string(H) + "x" + std::to_string(W), field,
       out, expected, rounds);
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
      exotune::blur_ui16(h, w, args.rounds);
      for (bool ratio : {false, true}) exotune::unsharp(h, w, ratio, args.rounds);
    }
  });
}
