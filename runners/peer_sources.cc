#include "runners/peer_sources.h"

namespace exotune {

const char* reading_peer_source() {
  return R"reads(
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
// Reads a copy of its own on huge pages: what others read of the argument leaves nothing of it in
// the caches. Two halves side by side, which is as fast as any other way of reading memory once.
typedef long block __attribute__((vector_size(64)));
static const void* copied_from;
static const char* copy;
void peer_read(const void* from, long bytes) {
  const int small = bytes < (1 << 20);  // stays in a cache whoever reads it
  if (!small && copied_from != from) {
    const size_t page = (size_t)2 << 20, size = ((size_t)bytes + page - 1) / page * page;
    char* fresh = aligned_alloc(page, size);
    if (!fresh) abort();
    madvise(fresh, size, MADV_HUGEPAGE);
    memcpy(fresh, from, (size_t)bytes);
    copied_from = from;
    copy = fresh;
  }
  const long half = bytes / 1024 * 512;
  const char* p = small ? (const char*)from : copy;
  block a = {0}, b = {0}, c = {0}, d = {0};
  for (long i = 0; i < half; i += 256) {
    const block* x = (const block*)(p + i);
    const block* y = (const block*)(p + half + i);
    a += x[0]; b += x[1]; c += x[2]; d += x[3];
    a += y[0]; b += y[1]; c += y[2]; d += y[3];
  }
  long rest = 0;
  for (long i = 2 * half; i < bytes; ++i) rest += p[i];
  a += b + c + d;
  __asm__ volatile("" : : "m"(a), "r"(rest));
}
)reads";
}

const char* plain_c_peer_source() {
  return R"plain(
#include <math.h>
#define TRANS 112
#define UPPER 121
#define UNIT 132
#define PEER(T, P, ABS)                                                                             \
  void peer_##P##conv2d(long batch, long height, long width, long in, long out, long taps,          \
                        const T* restrict image, const T* restrict weights, const T* restrict bias, \
                        T* restrict result, int rectify) {                                          \
    const long row = (width + taps - 1) * in;                                                       \
    for (long b = 0; b < batch; ++b)                                                                \
      for (long y = 0; y < height; ++y)                                                             \
        for (long x = 0; x < width; ++x) {                                                          \
          T* restrict r = result + ((b * height + y) * width + x) * out;                            \
          const T* at = image + (b * (height + taps - 1) + y) * row + x * in;                       \
          for (long k = 0; k < out; ++k) r[k] = bias ? bias[k] : 0;                                 \
          for (long t = 0; t < taps * taps; ++t)                                                    \
            for (long c = 0; c < in; ++c) {                                                         \
              const T v = at[t / taps * row + t % taps * in + c];                                   \
              const T* restrict w = weights + (t * in + c) * out;                                   \
              for (long k = 0; k < out; ++k) r[k] += v * w[k];                                      \
            }                                                                                       \
          if (rectify)                                                                              \
            for (long k = 0; k < out; ++k) r[k] = r[k] > 0 ? r[k] : 0;                              \
        }                                                                                           \
  }                                                                                                 \
  void cblas_##P##axpy(int n, T alpha, const T* restrict x, int incx, T* restrict y, int incy) {    \
    if (incx == 1 && incy == 1)                                                                     \
      for (long i = 0; i < n; ++i) y[i] += alpha * x[i];                                            \
    else                                                                                            \
      for (long i = 0; i < n; ++i) y[i * incy] += alpha * x[i * incx];                              \
  }                                                                                                 \
  T cblas_##P##dot(int n, const T* restrict x, int incx, const T* restrict y, int incy) {           \
    T sum = 0;                                                                                      \
    if (incx == 1 && incy == 1)                                                                     \
      for (long i = 0; i < n; ++i) sum += x[i] * y[i];                                              \
    else                                                                                            \
      for (long i = 0; i < n; ++i) sum += x[i * incx] * y[i * incy];                                \
    return sum;                                                                                     \
  }                                                                                                 \
  void cblas_##P##scal(int n, T alpha, T* restrict x, int incx) {                                   \
    if (incx == 1)                                                                                  \
      for (long i = 0; i < n; ++i) x[i] *= alpha;                                                   \
    else                                                                                            \
      for (long i = 0; i < n; ++i) x[i * incx] *= alpha;                                            \
  }                                                                                                 \
  void cblas_##P##copy(int n, const T* restrict x, int incx, T* restrict y, int incy) {             \
    if (incx == 1 && incy == 1)                                                                     \
      for (long i = 0; i < n; ++i) y[i] = x[i];                                                     \
    else                                                                                            \
      for (long i = 0; i < n; ++i) y[i * incy] = x[i * incx];                                       \
  }                                                                                                 \
  void cblas_##P##swap(int n, T* restrict x, int incx, T* restrict y, int incy) {                   \
    if (incx == 1 && incy == 1)                                                                     \
      for (long i = 0; i < n; ++i) { T t = x[i]; x[i] = y[i]; y[i] = t; }                           \
    else                                                                                            \
      for (long i = 0; i < n; ++i) {                                                                \
        T t = x[i * incx]; x[i * incx] = y[i * incy]; y[i * incy] = t;                              \
      }                                                                                             \
  }                                                                                                 \
  T cblas_##P##asum(int n, const T* restrict x, int incx) {                                         \
    T sum = 0;                                                                                      \
    if (incx == 1)                                                                                  \
      for (long i = 0; i < n; ++i) sum += ABS(x[i]);                                                \
    else                                                                                            \
      for (long i = 0; i < n; ++i) sum += ABS(x[i * incx]);                                         \
    return sum;                                                                                     \
  }                                                                                                 \
  void cblas_##P##rot(int n, T* restrict x, int incx, T* restrict y, int incy, T c, T s) {          \
    if (incx == 1 && incy == 1)                                                                     \
      for (long i = 0; i < n; ++i) { T t = c * x[i] + s * y[i]; y[i] = c * y[i] - s * x[i]; x[i] = t; } \
    else                                                                                            \
      for (long i = 0; i < n; ++i) {                                                                \
        T a = x[i * incx], b = y[i * incy];                                                         \
        x[i * incx] = c * a + s * b; y[i * incy] = c * b - s * a;                                   \
      }                                                                                             \
  }                                                                                                 \
  static void scale_##P(long n, T beta, T* restrict y, long inc) {                                  \
    if (beta == 0) for (long i = 0; i < n; ++i) y[i * inc] = 0;                                     \
    else if (beta != 1) for (long i = 0; i < n; ++i) y[i * inc] *= beta;                            \
  }                                                                                                 \
  void cblas_##P##rotm(int n, T* restrict x, int incx, T* restrict y, int incy, const T* h) {       \
    T a = h[1], b = h[2], c = h[3], d = h[4];                                                       \
    if (incx == 1 && incy == 1)                                                                     \
      for (long i = 0; i < n; ++i) { T t = x[i]; x[i] = a * t + c * y[i]; y[i] = b * t + d * y[i]; }\
    else                                                                                            \
      for (long i = 0; i < n; ++i) {                                                                \
        T t = x[i * incx], u = y[i * incy];                                                         \
        x[i * incx] = a * t + c * u; y[i * incy] = b * t + d * u;                                   \
      }                                                                                             \
  }                                                                                                 \
  static inline T row_dot_##P(long n, const T* restrict a, const T* restrict x, long inc) {         \
    T sum = 0;                                                                                      \
    if (inc == 1) for (long j = 0; j < n; ++j) sum += a[j] * x[j];                                  \
    else for (long j = 0; j < n; ++j) sum += a[j] * x[j * inc];                                     \
    return sum;                                                                                     \
  }                                                                                                 \
  static inline void row_axpy_##P(long n, T f, const T* restrict a, T* restrict y, long inc) {      \
    if (inc == 1) for (long j = 0; j < n; ++j) y[j] += f * a[j];                                    \
    else for (long j = 0; j < n; ++j) y[j * inc] += f * a[j];                                       \
  }                                                                                                 \
  void cblas_##P##symv(int order, int uplo, int n, T alpha, const T* restrict a, int lda,           \
                       const T* restrict x, int incx, T beta, T* restrict y, int incy) {            \
    (void)order;                                                                                    \
    scale_##P(n, beta, y, incy);                                                                    \
    for (long i = 0; i < n; ++i) {                                                                  \
      long from = uplo == UPPER ? i + 1 : 0, to = uplo == UPPER ? n : i;                            \
      const T* row = a + i * lda;                                                                   \
      T f = alpha * x[i * incx], sum = 0;                                                           \
      if (incx == 1 && incy == 1)                                                                   \
        for (long j = from; j < to; ++j) { y[j] += f * row[j]; sum += row[j] * x[j]; }              \
      else                                                                                          \
        for (long j = from; j < to; ++j) { y[j * incy] += f * row[j]; sum += row[j] * x[j * incx]; }\
      y[i * incy] += f * row[i] + alpha * sum;                                                      \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##syr(int order, int uplo, int n, T alpha, const T* restrict x, int incx,           \
                      T* restrict a, int lda) {                                                     \
    (void)order;                                                                                    \
    for (long i = 0; i < n; ++i) {                                                                  \
      long from = uplo == UPPER ? i : 0, to = uplo == UPPER ? n : i + 1;                            \
      T f = alpha * x[i * incx];                                                                    \
      if (incx == 1) for (long j = from; j < to; ++j) a[i * lda + j] += f * x[j];                   \
      else for (long j = from; j < to; ++j) a[i * lda + j] += f * x[j * incx];                      \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##syr2(int order, int uplo, int n, T alpha, const T* restrict x, int incx,          \
                       const T* restrict y, int incy, T* restrict a, int lda) {                     \
    (void)order;                                                                                    \
    for (long i = 0; i < n; ++i) {                                                                  \
      long from = uplo == UPPER ? i : 0, to = uplo == UPPER ? n : i + 1;                            \
      T f = alpha * x[i * incx], g = alpha * y[i * incy];                                           \
      if (incx == 1 && incy == 1)                                                                   \
        for (long j = from; j < to; ++j) a[i * lda + j] += f * y[j] + g * x[j];                     \
      else                                                                                          \
        for (long j = from; j < to; ++j) a[i * lda + j] += f * y[j * incy] + g * x[j * incx];       \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##trmv(int order, int uplo, int trans, int diag, int n, const T* restrict a,        \
                       int lda, T* restrict x, int inc) {                                           \
    (void)order;                                                                                    \
    for (long k = 0; k < n; ++k) {                                                                  \
      long i = (uplo == UPPER) == (trans != TRANS) ? k : n - 1 - k;                                 \
      long from = uplo == UPPER ? i + 1 : 0, m = uplo == UPPER ? n - 1 - i : i;                     \
      const T* row = a + i * lda;                                                                   \
      T t = x[i * inc], d = diag == UNIT ? 1 : row[i];                                              \
      if (trans == TRANS) { row_axpy_##P(m, t, row + from, x + from * inc, inc); x[i * inc] = d * t; }\
      else x[i * inc] = d * t + row_dot_##P(m, row + from, x + from * inc, inc);                    \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##trsv(int order, int uplo, int trans, int diag, int n, const T* restrict a,        \
                       int lda, T* restrict x, int inc) {                                           \
    (void)order;                                                                                    \
    for (long k = 0; k < n; ++k) {                                                                  \
      long i = (uplo == UPPER) == (trans == TRANS) ? k : n - 1 - k;                                 \
      long from = uplo == UPPER ? i + 1 : 0, m = uplo == UPPER ? n - 1 - i : i;                     \
      const T* row = a + i * lda;                                                                   \
      T d = diag == UNIT ? 1 : row[i];                                                              \
      if (trans == TRANS) {                                                                         \
        x[i * inc] /= d;                                                                            \
        row_axpy_##P(m, -x[i * inc], row + from, x + from * inc, inc);                              \
      } else {                                                                                      \
        x[i * inc] = (x[i * inc] - row_dot_##P(m, row + from, x + from * inc, inc)) / d;            \
      }                                                                                             \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##gemv(int order, int trans, int m, int n, T alpha, const T* restrict a, int lda,   \
                       const T* restrict x, int incx, T beta, T* restrict y, int incy) {            \
    (void)order;                                                                                    \
    if (trans != TRANS) {                                                                           \
      for (long i = 0; i < m; ++i) {                                                                \
        T sum = 0;                                                                                  \
        if (incx == 1) for (long j = 0; j < n; ++j) sum += a[i * lda + j] * x[j];                   \
        else for (long j = 0; j < n; ++j) sum += a[i * lda + j] * x[j * incx];                      \
        y[i * incy] = (beta == 0 ? 0 : beta * y[i * incy]) + alpha * sum;                           \
      }                                                                                             \
    } else {                                                                                        \
      scale_##P(n, beta, y, incy);                                                                  \
      for (long i = 0; i < m; ++i) {                                                                \
        T f = alpha * x[i * incx];                                                                  \
        if (incy == 1) for (long j = 0; j < n; ++j) y[j] += f * a[i * lda + j];                     \
        else for (long j = 0; j < n; ++j) y[j * incy] += f * a[i * lda + j];                        \
      }                                                                                             \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##ger(int order, int m, int n, T alpha, const T* restrict x, int incx,              \
                      const T* restrict y, int incy, T* restrict a, int lda) {                      \
    (void)order;                                                                                    \
    for (long i = 0; i < m; ++i) {                                                                  \
      T f = alpha * x[i * incx];                                                                    \
      if (incy == 1) for (long j = 0; j < n; ++j) a[i * lda + j] += f * y[j];                       \
      else for (long j = 0; j < n; ++j) a[i * lda + j] += f * y[j * incy];                          \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##gemm(int order, int ta, int tb, int m, int n, int k, T alpha,                     \
                       const T* restrict a, int lda, const T* restrict b, int ldb, T beta,          \
                       T* restrict c, int ldc) {                                                    \
    (void)order;                                                                                    \
    long ai = ta == TRANS ? 1 : lda, ak = ta == TRANS ? lda : 1;                                    \
    for (long i = 0; i < m; ++i) {                                                                  \
      T* restrict row = c + i * ldc;                                                                \
      scale_##P(n, beta, row, 1);                                                                   \
      if (tb != TRANS)                                                                              \
        for (long p = 0; p < k; ++p) {                                                              \
          T f = alpha * a[i * ai + p * ak];                                                         \
          for (long j = 0; j < n; ++j) row[j] += f * b[p * ldb + j];                                \
        }                                                                                           \
      else                                                                                          \
        for (long j = 0; j < n; ++j) {                                                              \
          T sum = 0;                                                                                \
          for (long p = 0; p < k; ++p) sum += a[i * ai + p * ak] * b[j * ldb + p];                  \
          row[j] += alpha * sum;                                                                    \
        }                                                                                           \
    }                                                                                               \
  }
PEER(float, s, fabsf)
PEER(double, d, fabs)
double cblas_dsdot(int n, const float* restrict x, int incx, const float* restrict y, int incy) {
  double sum = 0;
  if (incx == 1 && incy == 1)
    for (long i = 0; i < n; ++i) sum += (double)x[i] * y[i];
  else
    for (long i = 0; i < n; ++i) sum += (double)x[i * incx] * y[i * incy];
  return sum;
}
)plain";
}

const char* eigen_peer_source() {
  return R"eigen(
#include <Eigen/Core>
#include <type_traits>
using Eigen::Dynamic;
template <class T> using Matrix = Eigen::Matrix<T, Dynamic, Dynamic, Eigen::RowMajor>;
template <class T> using Vector = Eigen::Matrix<T, Dynamic, 1>;
template <class T> using In = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
template <class T> using Out = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

template <class M, class T> void scale(M&& m, T beta) {
  if (beta == T(0)) m.setZero();
  else if (beta != T(1)) m *= beta;
}

// Calls f on the vector, as a dense one when it is dense.
template <class T, class F> void with(const T* x, int n, int inc, F f) {
  if (inc == 1) f(Eigen::Map<const Vector<T>>(x, n));
  else f(Eigen::Map<const Vector<T>, 0, Eigen::InnerStride<>>(x, n, Eigen::InnerStride<>(inc)));
}
template <class T, class F> void with(T* x, int n, int inc, F f) {
  if (inc == 1) f(Eigen::Map<Vector<T>>(x, n));
  else f(Eigen::Map<Vector<T>, 0, Eigen::InnerStride<>>(x, n, Eigen::InnerStride<>(inc)));
}
// Both as dense ones when both are: two instances of f, not four.
template <class T> using Strided = Eigen::Map<T, 0, Eigen::InnerStride<>>;
template <class X, class Y, class F> void with2(X* x, int incx, Y* y, int incy, int n, int m, F f) {
  using VX = std::conditional_t<std::is_const_v<X>, const Vector<std::remove_const_t<X>>, Vector<X>>;
  using VY = std::conditional_t<std::is_const_v<Y>, const Vector<std::remove_const_t<Y>>, Vector<Y>>;
  if (incx == 1 && incy == 1) {
    Eigen::Map<VX> vx(x, n);
    Eigen::Map<VY> vy(y, m);
    f(vx, vy);
  } else {
    Strided<VX> vx(x, n, Eigen::InnerStride<>(incx));
    Strided<VY> vy(y, m, Eigen::InnerStride<>(incy));
    f(vx, vy);
  }
}
template <class X, class Y, class F> void with2(X* x, int incx, Y* y, int incy, int n, F f) {
  with2(x, incx, y, incy, n, n, f);
}

constexpr int kTrans = 112, kUpper = 121;
#define PEER(T, P)                                                                                  \
  extern "C" void cblas_##P##axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {           \
    with2(x, incx, y, incy, n, [&](auto&& a, auto&& b) { b += alpha * a; });                        \
  }                                                                                                 \
  extern "C" T cblas_##P##dot(int n, const T* x, int incx, const T* y, int incy) {                  \
    T r = 0;                                                                                        \
    with2(x, incx, y, incy, n, [&](auto&& a, auto&& b) { r = a.dot(b); });                          \
    return r;                                                                                       \
  }                                                                                                 \
  extern "C" void cblas_##P##scal(int n, T alpha, T* x, int incx) {                                 \
    with(x, n, incx, [&](auto&& a) { a *= alpha; });                                                \
  }                                                                                                 \
  extern "C" void cblas_##P##copy(int n, const T* x, int incx, T* y, int incy) {                    \
    with2(x, incx, y, incy, n, [&](auto&& a, auto&& b) { b = a; });                                 \
  }                                                                                                 \
  extern "C" void cblas_##P##swap(int n, T* x, int incx, T* y, int incy) {                          \
    with2(x, incx, y, incy, n, [&](auto&& a, auto&& b) { a.swap(b); });                             \
  }                                                                                                 \
  extern "C" T cblas_##P##asum(int n, const T* x, int incx) {                                       \
    T r = 0;                                                                                        \
    with(x, n, incx, [&](auto&& a) { r = a.cwiseAbs().sum(); });                                    \
    return r;                                                                                       \
  }                                                                                                 \
  extern "C" void cblas_##P##rot(int n, T* x, int incx, T* y, int incy, T c, T s) {                 \
    for (int i = 0; i < n;) {                                                                       \
      constexpr int kBlock = 512;                                                                   \
      const int m = n - i < kBlock ? n - i : kBlock;                                                \
      with2(x + long(i) * incx, incx, y + long(i) * incy, incy, m, [&](auto&& a, auto&& b) {        \
        Eigen::Matrix<T, Dynamic, 1, 0, kBlock, 1> t = c * a + s * b;                               \
        b = c * b - s * a;                                                                          \
        a = t;                                                                                      \
      });                                                                                           \
      i += m;                                                                                       \
    }                                                                                               \
  }                                                                                                 \
  extern "C" void cblas_##P##rotm(int n, T* x, int incx, T* y, int incy, const T* h) {              \
    for (int i = 0; i < n;) {                                                                       \
      constexpr int kBlock = 512;                                                                   \
      const int m = n - i < kBlock ? n - i : kBlock;                                                \
      with2(x + long(i) * incx, incx, y + long(i) * incy, incy, m, [&](auto&& a, auto&& b) {        \
        Eigen::Matrix<T, Dynamic, 1, 0, kBlock, 1> t = h[1] * a + h[3] * b;                         \
        b = h[2] * a + h[4] * b;                                                                    \
        a = t;                                                                                      \
      });                                                                                           \
      i += m;                                                                                       \
    }                                                                                               \
  }                                                                                                 \
  extern "C" void cblas_##P##symv(int, int uplo, int n, T alpha, const T* a, int lda, const T* x,   \
                                  int incx, T beta, T* y, int incy) {                               \
    In<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                    \
    with2(x, incx, y, incy, n, [&](auto&& vx, auto&& vy) {                                          \
      scale(vy, beta);                                                                              \
      if (uplo == kUpper) vy.noalias() += A.template selfadjointView<Eigen::Upper>() * (alpha * vx);\
      else vy.noalias() += A.template selfadjointView<Eigen::Lower>() * (alpha * vx);               \
    });                                                                                             \
  }                                                                                                 \
  extern "C" void cblas_##P##syr(int, int uplo, int n, T alpha, const T* x, int incx, T* a, int lda) {\
    Out<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                   \
    with(x, n, incx, [&](auto&& vx) {                                                               \
      if (uplo == kUpper) A.template selfadjointView<Eigen::Upper>().rankUpdate(vx, alpha);         \
      else A.template selfadjointView<Eigen::Lower>().rankUpdate(vx, alpha);                        \
    });                                                                                             \
  }                                                                                                 \
  extern "C" void cblas_##P##syr2(int, int uplo, int n, T alpha, const T* x, int incx, const T* y,  \
                                  int incy, T* a, int lda) {                                        \
    Out<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                   \
    with2(x, incx, y, incy, n, [&](auto&& vx, auto&& vy) {                                          \
      if (uplo == kUpper) A.template selfadjointView<Eigen::Upper>().rankUpdate(vx, vy, alpha);     \
      else A.template selfadjointView<Eigen::Lower>().rankUpdate(vx, vy, alpha);                    \
    });                                                                                             \
  }                                                                                                 \
  extern "C" void cblas_##P##trmv(int, int uplo, int, int, int n, const T* a, int lda, T* x, int inc) {\
    In<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                    \
    with(x, n, inc, [&](auto&& v) {                                                                 \
      if (uplo == kUpper) v = A.template triangularView<Eigen::Upper>() * v;                        \
      else v = A.template triangularView<Eigen::Lower>() * v;                                       \
    });                                                                                             \
  }                                                                                                 \
  extern "C" void cblas_##P##trsv(int, int uplo, int, int, int n, const T* a, int lda, T* x, int inc) {\
    In<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                    \
    with(x, n, inc, [&](auto&& v) {                                                                 \
      if (uplo == kUpper) A.template triangularView<Eigen::Upper>().solveInPlace(v);                \
      else A.template triangularView<Eigen::Lower>().solveInPlace(v);                               \
    });                                                                                             \
  }                                                                                                 \
  extern "C" void cblas_##P##gemv(int, int trans, int m, int n, T alpha, const T* a, int lda,       \
                                  const T* x, int incx, T beta, T* y, int incy) {                   \
    In<T> A(a, m, n, Eigen::OuterStride<>(lda));                                                    \
    const bool t = trans == kTrans;                                                                 \
    with2(x, incx, y, incy, t ? m : n, t ? n : m, [&](auto&& vx, auto&& vy) {                       \
      scale(vy, beta);                                                                              \
      if (t) vy.noalias() += alpha * (A.transpose() * vx);                                          \
      else vy.noalias() += alpha * (A * vx);                                                        \
    });                                                                                             \
  }                                                                                                 \
  extern "C" void cblas_##P##ger(int, int m, int n, T alpha, const T* x, int incx, const T* y,      \
                                 int incy, T* a, int lda) {                                         \
    Out<T> A(a, m, n, Eigen::OuterStride<>(lda));                                                   \
    with2(x, incx, y, incy, m, n, [&](auto&& vx, auto&& vy) {                                       \
      A.noalias() += (alpha * vx) * vy.transpose();                                                 \
    });                                                                                             \
  }                                                                                                 \
  extern "C" void cblas_##P##gemm(int, int ta, int tb, int m, int n, int k, T alpha, const T* a,    \
                                  int lda, const T* b, int ldb, T beta, T* c, int ldc) {            \
    const bool at = ta == kTrans, bt = tb == kTrans;                                                \
    In<T> A(a, at ? k : m, at ? m : k, Eigen::OuterStride<>(lda));                                  \
    In<T> B(b, bt ? n : k, bt ? k : n, Eigen::OuterStride<>(ldb));                                  \
    Out<T> C(c, m, n, Eigen::OuterStride<>(ldc));                                                   \
    scale(C, beta);                                                                                 \
    if (at && bt) C.noalias() += alpha * (A.transpose() * B.transpose());                           \
    else if (at) C.noalias() += alpha * (A.transpose() * B);                                        \
    else if (bt) C.noalias() += alpha * (A * B.transpose());                                        \
    else C.noalias() += alpha * (A * B);                                                            \
  }
PEER(float, s)
PEER(double, d)
extern "C" double cblas_dsdot(int n, const float* x, int incx, const float* y, int incy) {
  double r = 0;
  with2(x, incx, y, incy, n,
        [&](auto&& a, auto&& b) { r = a.template cast<double>().dot(b.template cast<double>()); });
  return r;
}
)eigen";
}

const char* onednn_convolution_source() {
  return R"onednn(
#include <array>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
using namespace dnnl;
namespace {
struct Convolution {
  engine on{engine::kind::cpu, 0};
  stream queue{on};
  memory image, given, weights, bias, result;
  primitive reorder, run;
};
using Shape = std::array<long, 7>;
std::unique_ptr<Convolution> make(const Shape& s, bool with_bias) {
  const auto [batch, height, width, in, out, taps, rectify] = s;
  auto c = std::make_unique<Convolution>();
  const auto type = memory::data_type::f32;
  using tag = memory::format_tag;
  const memory::desc image({batch, in, height + taps - 1, width + taps - 1}, type, tag::nhwc),
      given({out, in, taps, taps}, type, tag::hwio), any({out, in, taps, taps}, type, tag::any),
      bias = with_bias ? memory::desc({out}, type, tag::x) : memory::desc(),
      result({batch, out, height, width}, type, tag::nhwc);
  primitive_attr attributes;
  if (rectify) {
    post_ops after;
#if DNNL_VERSION_MAJOR >= 3
    after.append_eltwise(algorithm::eltwise_relu, 0.f, 0.f);
#else
    after.append_eltwise(1.f, algorithm::eltwise_relu, 0.f, 0.f);
#endif
    attributes.set_post_ops(after);
  }
  const memory::dims ones{1, 1}, none{0, 0};
#if DNNL_VERSION_MAJOR >= 3
  const convolution_forward::primitive_desc how(c->on, prop_kind::forward_inference,
      algorithm::convolution_auto, image, any, bias, result, ones, none, none, attributes);
#else
  const convolution_forward::primitive_desc how({prop_kind::forward_inference,
      algorithm::convolution_auto, image, any, bias, result, ones, none, none}, attributes, c->on);
#endif
  c->image = memory(image, c->on, nullptr);
  c->given = memory(given, c->on, nullptr);
  c->weights = memory(how.weights_desc(), c->on);
  if (with_bias) c->bias = memory(bias, c->on, nullptr);
  c->result = memory(result, c->on, nullptr);
  c->reorder = dnnl::reorder(c->given, c->weights);
  c->run = convolution_forward(how);
  return c;
}
}  // namespace
extern "C" void peer_sconv2d(long batch, long height, long width, long in, long out, long taps,
                             const float* image, const float* weights, const float* bias,
                             float* result, int rectify) {
  static std::map<std::pair<Shape, bool>, std::unique_ptr<Convolution>> known;
  const Shape shape{batch, height, width, in, out, taps, rectify};
  auto& c = known[{shape, bias != nullptr}];
  if (!c) c = make(shape, bias != nullptr);
  c->image.set_data_handle(const_cast<float*>(image));
  c->given.set_data_handle(const_cast<float*>(weights));
  c->result.set_data_handle(result);
  c->reorder.execute(c->queue, {{DNNL_ARG_FROM, c->given}, {DNNL_ARG_TO, c->weights}});
  std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, c->image},
                                            {DNNL_ARG_WEIGHTS, c->weights},
                                            {DNNL_ARG_DST, c->result}};
  if (bias) {
    c->bias.set_data_handle(const_cast<float*>(bias));
    arguments[DNNL_ARG_BIAS] = c->bias;
  }
  c->run.execute(c->queue, arguments);
  c->queue.wait();
}
)onednn";
}

}  // namespace exotune
