// Pipelines of Halide over plain arrays, schedules as in its applications and in bench/image: each
// is compiled at its first call, for whatever HL_JIT_TARGET says. Dimensions run from the inside
// out.
#include <Halide.h>

#include <cstdint>
#include <functional>
#include <vector>

using namespace Halide;

/// Made once, called with arrays: `Plane` is one with its extents.
template <class T>
struct Plane {
  T* at;
  std::vector<int> extents;
};
template <class T>
Plane<T> plane(const T* at, std::vector<int> extents) {
  return {const_cast<T*>(at), std::move(extents)};
}
template <class T>
class Pipe {
 public:
  using Inputs = std::vector<ImageParam>;
  Pipe(std::vector<int> dims, const std::function<Func(Inputs&)>& make) {
    for (int d : dims) in_.emplace_back(type_of<T>(), d);
    f_ = make(in_);
    f_.compile_jit();
  }
  void operator()(const Plane<T>& out, const std::vector<Plane<T>>& in) {
    for (size_t k = 0; k < in.size(); ++k) in_[k].set(Buffer<T>(in[k].at, in[k].extents));
    Buffer<T> result(out.at, out.extents);
    f_.realize(result);
  }

 private:
  Inputs in_;
  Func f_;
};

static Var X("X"), Y("Y"), Xi("Xi"), Yi("Yi"), Yo("Yo"), Z("Z");

/// Rows in vectors, `rows` of them at a time in registers.
inline Func by_rows(Func f, int lanes, int rows) {
  return rows > 1 ? f.split(Y, Yo, Yi, rows).reorder(Yi, X, Yo).vectorize(X, lanes).unroll(Yi)
                  : f.vectorize(X, lanes, TailStrategy::ShiftInwards);
}

/// Two passes of `taps` each, the first along the rows: tiles that compute the first pass anew, or
/// rows of it as they are needed.
inline Func separable(ImageParam image, ImageParam weights, int taps, bool tiles, int lanes) {
  Func across("across"), out("out");
  Expr along = weights(0) * image(X, Y);
  for (int t = 1; t < taps; ++t) along += weights(t) * image(X + t, Y);
  across(X, Y) = along;
  Expr down = weights(0) * across(X, Y);
  for (int t = 1; t < taps; ++t) down += weights(t) * across(X, Y + t);
  out(X, Y) = down;
  // Smaller images than a tile are guarded instead of shifted.
  const OutputImageParam image_out = out.output_buffer();
  const auto guarded = TailStrategy::GuardWithIf;
  if (tiles) {
    out.specialize(image_out.width() >= 256 && image_out.height() >= 32)
        .tile(X, Y, Xi, Yi, 256, 32)
        .vectorize(Xi, lanes);
    out.tile(X, Y, Xi, Yi, 256, 32, guarded).vectorize(Xi, lanes, guarded);
    across.compute_at(out, X).vectorize(X, lanes);
  } else {
    out.specialize(image_out.height() >= 32).split(Y, Y, Yi, 32).vectorize(X, lanes);
    out.split(Y, Y, Yi, 32, guarded).vectorize(X, lanes);
    across.store_at(out, Y).compute_at(out, Yi).vectorize(X, lanes);
  }
  return out;
}

inline Func unsharp_mask(std::vector<ImageParam>& in, bool ratio, bool planes_inside, int lanes) {
  ImageParam image = in[0], weights = in[1], taps = in[2];
  Func gray("gray"), down("down"), edge("edge"), out("out");
  gray(X, Y) =
      weights(0) * image(X, Y, 0) + weights(1) * image(X, Y, 1) + weights(2) * image(X, Y, 2);
  down(X, Y) = taps(0) * gray(X, Y + 3) + taps(1) * (gray(X, Y + 2) + gray(X, Y + 4)) +
               taps(2) * (gray(X, Y + 1) + gray(X, Y + 5)) +
               taps(3) * (gray(X, Y) + gray(X, Y + 6));
  const Expr smooth = taps(0) * down(X + 3, Y) + taps(1) * (down(X + 2, Y) + down(X + 4, Y)) +
                      taps(2) * (down(X + 1, Y) + down(X + 5, Y)) +
                      taps(3) * (down(X, Y) + down(X + 6, Y));
  const Expr middle = gray(X + 3, Y + 3);
  if (ratio) {
    edge(X, Y) = (2.0f * middle - smooth) / middle;
    out(X, Y, Z) = edge(X, Y) * image(X + 3, Y + 3, Z);
  } else {
    edge(X, Y) = middle - smooth;
    out(X, Y, Z) = image(X + 3, Y + 3, Z) + in[3](0) * edge(X, Y);
  }
  out.bound(Z, 0, 3).split(Y, Yo, Yi, 32).vectorize(X, lanes);
  if (planes_inside) {
    out.reorder(Z, X, Yi, Yo).unroll(Z);
    edge.compute_at(out, X).vectorize(X, lanes);
  } else {
    out.reorder(X, Z, Yi, Yo);
    edge.compute_at(out, Yi).store_at(out, Yo).vectorize(X, lanes);
  }
  gray.compute_at(out, Yi).store_at(out, Yo).vectorize(X, lanes);
  down.compute_at(out, Yi).store_at(out, Yo).vectorize(X, lanes);
  return out;
}
