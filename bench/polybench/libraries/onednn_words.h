// oneDNN's primitives as functions over plain arrays. Each is made at its first call, for the one
// shape that it is asked for; `site` keeps two of a kind apart.
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>
#if DNNL_VERSION_MAJOR != 2
#error "written for oneDNN 2"
#endif

using namespace dnnl;
using tag = memory::format_tag;
using dt = memory::data_type;
using dims = memory::dims;

static engine on(engine::kind::cpu, 0);
static stream queue(on);

template <class T>
constexpr dt type_of() {
  using U = std::remove_cv_t<T>;
  return std::is_same_v<U, float> ? dt::f32 : std::is_same_v<U, int8_t> ? dt::s8 : dt::s32;
}
template <class T>
memory place(const memory::desc& how, const T* at) {
  return memory(how, on, const_cast<std::remove_cv_t<T>*>(at));
}
/// A primitive and what it works on.
struct Made {
  primitive run;
  std::unordered_map<int, memory> args;
  bool ready = false;
  template <class T>
  void at(int arg, const T* p) {
    args.at(arg).set_data_handle(const_cast<std::remove_cv_t<T>*>(p));
  }
  void operator()() {
    run.execute(queue, args);
    queue.wait();
  }
};

/// C = op(A) op(B) (+ bias of columns) (+ C), rectified or not; `batch` of them.
template <int site = 0, class A, class B, class C>
void product(long batch, long m, long n, long k, const A* a, bool ta, const B* b, bool tb, C* c,
             const float* bias = nullptr, bool add = false, bool rectify = false) {
  static Made p;
  if (!p.ready) {
    p.ready = true;
    memory::desc ma({batch, m, k}, type_of<A>(), ta ? dims{m * k, 1, m} : dims{m * k, k, 1});
    memory::desc mb({batch, k, n}, type_of<B>(), tb ? dims{k * n, 1, k} : dims{k * n, n, 1});
    memory::desc mc({batch, m, n}, type_of<C>(), dims{m * n, n, 1});
    if (batch == 1) {
      ma = memory::desc({m, k}, type_of<A>(), ta ? dims{1, m} : dims{k, 1});
      mb = memory::desc({k, n}, type_of<B>(), tb ? dims{1, k} : dims{n, 1});
      mc = memory::desc({m, n}, type_of<C>(), dims{n, 1});
    }
    memory::desc mbias = bias ? memory::desc({1, n}, dt::f32, dims{n, 1}) : memory::desc();
    primitive_attr attributes;
    post_ops after;
    if (add) after.append_sum(1.f);
    if (rectify) after.append_eltwise(1.f, algorithm::eltwise_relu, 0.f, 0.f);
    attributes.set_post_ops(after);
    p.run = bias ? matmul({{ma, mb, mbias, mc}, attributes, on})
                 : matmul({{ma, mb, mc}, attributes, on});
    p.args = {{DNNL_ARG_SRC, place(ma, a)},
              {DNNL_ARG_WEIGHTS, place(mb, b)},
              {DNNL_ARG_DST, place(mc, c)}};
    if (bias) p.args[DNNL_ARG_BIAS] = place(mbias, bias);
  }
  p.at(DNNL_ARG_SRC, a), p.at(DNNL_ARG_WEIGHTS, b), p.at(DNNL_ARG_DST, c);
  if (bias) p.at(DNNL_ARG_BIAS, bias);
  p();
}

/// Layouts as the caller has them; `own`: image and result are brought into the order
/// that the library likes, and back, in each call. Weights are in either case.
struct Layer {
  long in, out, height, width, taps, stride = 1, groups = 1;  // of the result; it is padded already
  bool channels_last = false, rectify = false, own = false;
  long images = 1;
};
inline void convolution(const Layer& s, const float* x, const float* w, const float* bias,
                        float* y) {
  static memory::desc image, filters, result, mbias;
  static Made p, weights_in, image_in, result_out;
  static memory own_weights, own_image, own_result;
  if (!p.ready) {
    p.ready = true;
    const tag data = s.channels_last ? tag::nhwc : tag::nchw;
    const long h = (s.height - 1) * s.stride + s.taps, v = (s.width - 1) * s.stride + s.taps;
    image = memory::desc({s.images, s.in, h, v}, dt::f32, data);
    result = memory::desc({s.images, s.out, s.height, s.width}, dt::f32, data);
    const dims shape = s.groups > 1
                           ? dims{s.groups, s.out / s.groups, s.in / s.groups, s.taps, s.taps}
                           : dims{s.out, s.in, s.taps, s.taps};
    filters = memory::desc(shape, dt::f32,
                           s.groups > 1 ? (s.channels_last ? tag::hwigo : tag::goihw)
                                        : (s.channels_last ? tag::hwio : tag::oihw));
    mbias = bias ? memory::desc({s.out}, dt::f32, tag::x) : memory::desc();
    const auto any = [](const memory::desc& d) {
      return memory::desc(d.dims(), dt::f32, tag::any);
    };
    primitive_attr attributes;
    post_ops after;
    if (s.rectify) after.append_eltwise(1.f, algorithm::eltwise_relu, 0.f, 0.f);
    attributes.set_post_ops(after);
    convolution_forward::primitive_desc how({prop_kind::forward_inference,
                                             algorithm::convolution_direct,
                                             s.own ? any(image) : image,
                                             any(filters),
                                             mbias,
                                             s.own ? any(result) : result,
                                             {s.stride, s.stride},
                                             {0, 0},
                                             {0, 0}},
                                            attributes, on);
    p.run = convolution_forward(how);
    own_weights = memory(how.weights_desc(), on);
    const memory given_weights = place(filters, w), given_image = place(image, x),
                 given_result = place(result, y);
    own_image = s.own ? memory(how.src_desc(), on) : given_image;
    own_result = s.own ? memory(how.dst_desc(), on) : given_result;
    p.args = {
        {DNNL_ARG_SRC, own_image}, {DNNL_ARG_WEIGHTS, own_weights}, {DNNL_ARG_DST, own_result}};
    if (bias) p.args[DNNL_ARG_BIAS] = place(mbias, bias);
    weights_in.run = reorder(given_weights, own_weights);
    weights_in.args = {{DNNL_ARG_FROM, given_weights}, {DNNL_ARG_TO, own_weights}};
    image_in.run = reorder(given_image, own_image);
    image_in.args = {{DNNL_ARG_FROM, given_image}, {DNNL_ARG_TO, own_image}};
    result_out.run = reorder(own_result, given_result);
    result_out.args = {{DNNL_ARG_FROM, own_result}, {DNNL_ARG_TO, given_result}};
  }
  weights_in.at(DNNL_ARG_FROM, w), weights_in();
  if (s.own)
    image_in.at(DNNL_ARG_FROM, x), image_in();
  else
    p.at(DNNL_ARG_SRC, x), p.at(DNNL_ARG_DST, y);
  if (bias) p.at(DNNL_ARG_BIAS, bias);
  p();
  if (s.own) result_out.at(DNNL_ARG_TO, y), result_out();
}

inline void softmax_rows(long m, long n, const float* x, float* y) {
  static Made p;
  if (!p.ready) {
    p.ready = true;
    const memory::desc d({m, n}, dt::f32, tag::ab);
    p.run = softmax_forward({{prop_kind::forward_inference, d, 1}, on});
    p.args = {{DNNL_ARG_SRC, place(d, x)}, {DNNL_ARG_DST, place(d, y)}};
  }
  p.at(DNNL_ARG_SRC, x), p.at(DNNL_ARG_DST, y), p();
}

inline void layernorm_rows(long m, long n, float eps, const float* x, const float* g,
                           const float* b, float* y) {
  static Made p;
  if (!p.ready) {
    p.ready = true;
    const memory::desc d({m, n}, dt::f32, tag::ab), c({n}, dt::f32, tag::a);
    p.run = layer_normalization_forward(
        {{prop_kind::forward_inference, d, eps,
          normalization_flags::use_scale | normalization_flags::use_shift},
         on});
    p.args = {{DNNL_ARG_SRC, place(d, x)},
              {DNNL_ARG_DST, place(d, y)},
              {DNNL_ARG_SCALE, place(c, g)},
              {DNNL_ARG_SHIFT, place(c, b)}};
  }
  p.at(DNNL_ARG_SRC, x), p.at(DNNL_ARG_DST, y), p.at(DNNL_ARG_SCALE, g), p.at(DNNL_ARG_SHIFT, b),
      p();
}

inline void eltwise(algorithm what, float alpha, float beta, long n, const float* x, float* y) {
  static Made p;
  if (!p.ready) {
    p.ready = true;
    const memory::desc d({1, n}, dt::f32, tag::ab);
    p.run = eltwise_forward({{prop_kind::forward_inference, what, d, alpha, beta}, on});
    p.args = {{DNNL_ARG_SRC, place(d, x)}, {DNNL_ARG_DST, place(d, y)}};
  }
  p.at(DNNL_ARG_SRC, x), p.at(DNNL_ARG_DST, y), p();
}

/// y = max(0, x * scale + shift) by columns.
inline void scale_shift(long m, long n, const float* x, const float* scale, const float* shift,
                        float* y) {
  static Made p;
  const int third = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
  if (!p.ready) {
    p.ready = true;
    const memory::desc d({m, n}, dt::f32, tag::ab), c({1, n}, dt::f32, tag::ab);
    primitive_attr attributes;
    post_ops after;
    after.append_binary(algorithm::binary_add, c);
    after.append_eltwise(1.f, algorithm::eltwise_relu, 0.f, 0.f);
    attributes.set_post_ops(after);
    p.run = binary({{algorithm::binary_mul, d, c, d}, attributes, on});
    p.args = {{DNNL_ARG_SRC_0, place(d, x)},
              {DNNL_ARG_SRC_1, place(c, scale)},
              {third, place(c, shift)},
              {DNNL_ARG_DST, place(d, y)}};
  }
  p.at(DNNL_ARG_SRC_0, x), p.at(DNNL_ARG_SRC_1, scale), p.at(third, shift), p.at(DNNL_ARG_DST, y),
      p();
}

/// The greatest or the mean of windows.
inline void pool(algorithm what, bool channels_last, long c, long h, long w, long taps, long stride,
                 const float* x, float* y) {
  static Made p;
  if (!p.ready) {
    p.ready = true;
    const tag data = channels_last ? tag::nhwc : tag::nchw;
    const memory::desc in({1, c, (h - 1) * stride + taps, (w - 1) * stride + taps}, dt::f32, data),
        out({1, c, h, w}, dt::f32, data);
    p.run = pooling_forward({{prop_kind::forward_inference,
                              what,
                              in,
                              out,
                              {stride, stride},
                              {taps, taps},
                              {0, 0},
                              {0, 0}},
                             on});
    p.args = {{DNNL_ARG_SRC, place(in, x)}, {DNNL_ARG_DST, place(out, y)}};
  }
  p.at(DNNL_ARG_SRC, x), p.at(DNNL_ARG_DST, y), p();
}

/// The sums of rows, or of columns.
inline void sums(bool of_rows, long m, long n, const float* x, float* y) {
  static Made p;
  if (!p.ready) {
    p.ready = true;
    const memory::desc in({m, n}, dt::f32, tag::ab),
        out(of_rows ? dims{m, 1} : dims{1, n}, dt::f32, tag::ab);
    p.run = reduction({{algorithm::reduction_sum, in, out, 0.f, 0.f}, on});
    p.args = {{DNNL_ARG_SRC, place(in, x)}, {DNNL_ARG_DST, place(out, y)}};
  }
  p.at(DNNL_ARG_SRC, x), p.at(DNNL_ARG_DST, y), p();
}

/// y(n, m) = x(m, n)'
inline void turn_over(long m, long n, const float* x, float* y) {
  static Made p;
  if (!p.ready) {
    p.ready = true;
    const memory::desc in({m, n}, dt::f32, dims{n, 1}), out({m, n}, dt::f32, dims{1, m});
    const memory from = place(in, x), to = place(out, y);
    p.run = reorder(from, to);
    p.args = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  }
  p.at(DNNL_ARG_FROM, x), p.at(DNNL_ARG_TO, y), p();
}
