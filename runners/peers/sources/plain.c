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
