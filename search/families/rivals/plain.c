/* What the peer of plain loops (runners/peers/sources) lacks of CBLAS: row-major, not transposed, as the
 * benchmark calls it. */
#include <math.h>
#include <stddef.h>
#define UPPER 121
#define RIGHT 142
#define RIVAL(T, P, ABS, SQRT)                                                                      \
  T cblas_##P##nrm2(int n, const T* restrict x, int inc) {                                          \
    (void)inc;                                                                                      \
    T sum = 0;                                                                                      \
    for (long i = 0; i < n; ++i) sum += x[i] * x[i];                                                \
    return SQRT(sum);                                                                               \
  }                                                                                                 \
  size_t cblas_i##P##amax(int n, const T* restrict x, int inc) {                                    \
    (void)inc;                                                                                      \
    size_t best = 0;                                                                                \
    T most = ABS(x[0]);                                                                             \
    for (long i = 1; i < n; ++i)                                                                    \
      if (ABS(x[i]) > most) most = ABS(x[i]), best = (size_t)i;                                     \
    return best;                                                                                    \
  }                                                                                                 \
  static void add_##P(long n, T f, const T* restrict a, T* restrict c) {                            \
    for (long j = 0; j < n; ++j) c[j] += f * a[j];                                                  \
  }                                                                                                 \
  static T dot_##P(long n, const T* restrict a, const T* restrict b) {                              \
    T sum = 0;                                                                                      \
    for (long j = 0; j < n; ++j) sum += a[j] * b[j];                                                \
    return sum;                                                                                     \
  }                                                                                                 \
  static void scale_##P(long n, T beta, T* restrict c) {                                            \
    if (beta != 1)                                                                                  \
      for (long j = 0; j < n; ++j) c[j] *= beta;                                                    \
  }                                                                                                 \
  void cblas_##P##symm(int order, int side, int uplo, int m, int n, T alpha, const T* restrict a,   \
                       int lda, const T* restrict b, int ldb, T beta, T* restrict c, int ldc) {     \
    (void)order;                                                                                    \
    const long size = side == RIGHT ? n : m;                                                        \
    for (long i = 0; i < m; ++i) {                                                                  \
      scale_##P(n, beta, c + i * ldc);                                                              \
      for (long l = 0; l < size; ++l)                                                               \
        if (side == RIGHT) {                                                                        \
          for (long j = 0; j < n; ++j)                                                              \
            c[i * ldc + j] += alpha * b[i * ldb + l] *                                              \
                              ((uplo == UPPER) == (l <= j) || l == j ? a[l * lda + j] : a[j * lda + l]); \
        } else {                                                                                    \
          add_##P(n, alpha * ((uplo == UPPER) == (i <= l) || i == l ? a[i * lda + l] : a[l * lda + i]), \
                  b + l * ldb, c + i * ldc);                                                        \
        }                                                                                           \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##syrk(int order, int uplo, int trans, int n, int k, T alpha, const T* restrict a,  \
                       int lda, T beta, T* restrict c, int ldc) {                                   \
    (void)order, (void)trans;                                                                       \
    for (long i = 0; i < n; ++i)                                                                    \
      for (long j = uplo == UPPER ? i : 0, end = uplo == UPPER ? n : i + 1; j < end; ++j)           \
        c[i * ldc + j] = beta * c[i * ldc + j] + alpha * dot_##P(k, a + i * lda, a + j * lda);      \
  }                                                                                                 \
  void cblas_##P##syr2k(int order, int uplo, int trans, int n, int k, T alpha, const T* restrict a, \
                        int lda, const T* restrict b, int ldb, T beta, T* restrict c, int ldc) {    \
    (void)order, (void)trans;                                                                       \
    for (long i = 0; i < n; ++i)                                                                    \
      for (long j = uplo == UPPER ? i : 0, end = uplo == UPPER ? n : i + 1; j < end; ++j)           \
        c[i * ldc + j] = beta * c[i * ldc + j] +                                                    \
                         alpha * (dot_##P(k, a + i * lda, b + j * ldb) + dot_##P(k, b + i * ldb, a + j * lda)); \
  }                                                                                                 \
  void cblas_##P##trmm(int order, int side, int uplo, int trans, int diag, int m, int n, T alpha,   \
                       const T* restrict a, int lda, T* restrict b, int ldb) {                      \
    (void)order, (void)trans, (void)diag;                                                           \
    if (side == RIGHT) {                                                                            \
      for (long i = 0; i < m; ++i)                                                                  \
        for (long r = 0; r < n; ++r) {                                                              \
          const long l = uplo == UPPER ? n - 1 - r : r;                                             \
          const T f = alpha * b[i * ldb + l];                                                       \
          b[i * ldb + l] = f * a[l * lda + l];                                                      \
          if (uplo == UPPER) add_##P(n - 1 - l, f, a + l * lda + l + 1, b + i * ldb + l + 1);       \
          else add_##P(l, f, a + l * lda, b + i * ldb);                                             \
        }                                                                                           \
      return;                                                                                       \
    }                                                                                               \
    for (long r = 0; r < m; ++r) {                                                                  \
      const long i = uplo == UPPER ? r : m - 1 - r;                                                 \
      scale_##P(n, alpha * a[i * lda + i], b + i * ldb);                                            \
      for (long l = uplo == UPPER ? i + 1 : 0, end = uplo == UPPER ? m : i; l < end; ++l)           \
        add_##P(n, alpha * a[i * lda + l], b + l * ldb, b + i * ldb);                               \
    }                                                                                               \
  }                                                                                                 \
  void cblas_##P##trsm(int order, int side, int uplo, int trans, int diag, int m, int n, T alpha,   \
                       const T* restrict a, int lda, T* restrict b, int ldb) {                      \
    (void)order, (void)trans, (void)diag;                                                           \
    for (long i = 0; i < m; ++i) scale_##P(n, alpha, b + i * ldb);                                  \
    if (side == RIGHT) {                                                                            \
      for (long i = 0; i < m; ++i)                                                                  \
        for (long r = 0; r < n; ++r) {                                                              \
          const long l = uplo == UPPER ? r : n - 1 - r;                                             \
          const T f = b[i * ldb + l] /= a[l * lda + l];                                             \
          if (uplo == UPPER) add_##P(n - 1 - l, -f, a + l * lda + l + 1, b + i * ldb + l + 1);      \
          else add_##P(l, -f, a + l * lda, b + i * ldb);                                            \
        }                                                                                           \
      return;                                                                                       \
    }                                                                                               \
    for (long r = 0; r < m; ++r) {                                                                  \
      const long i = uplo == UPPER ? m - 1 - r : r;                                                 \
      for (long l = uplo == UPPER ? i + 1 : 0, end = uplo == UPPER ? m : i; l < end; ++l)           \
        add_##P(n, -a[i * lda + l], b + l * ldb, b + i * ldb);                                      \
      scale_##P(n, 1 / a[i * lda + i], b + i * ldb);                                                \
    }                                                                                               \
  }
RIVAL(float, s, fabsf, sqrtf)
RIVAL(double, d, fabs, sqrt)
