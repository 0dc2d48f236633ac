// libxsmm's small matrix products behind the names of CBLAS: a kernel is made for one shape and
// called as long as the shape stays. Row by row here, column by column there: C' = B' A'.
#include <libxsmm.h>
#include <stdio.h>
#include <stdlib.h>

const char* peer_version(void) {
  static char text[64];
  libxsmm_init();
  snprintf(text, sizeof text, "libxsmm %s %s", LIBXSMM_VERSION, libxsmm_get_target_arch());
  return text;
}

#define GEMM(T, P)                                                                                 \
  void cblas_##P##gemm(int order, int ta, int tb, int m, int n, int k, T alpha, const T* a,        \
                       int lda, const T* b, int ldb, T beta, T* c, int ldc) {                      \
    static libxsmm_##P##mmfunction kernel;                                                         \
    static int shape[6];                                                                           \
    static T add;                                                                                  \
    if (!kernel || shape[0] != m || shape[1] != n || shape[2] != k || shape[3] != lda ||           \
        shape[4] != ldb || shape[5] != ldc || add != beta) {                                       \
      const int none = LIBXSMM_GEMM_FLAG_NONE;                                                     \
      kernel = libxsmm_##P##mmdispatch(n, m, k, &ldb, &lda, &ldc, &alpha, &beta, &none, NULL);     \
      if (!kernel) abort();                                                                        \
      shape[0] = m, shape[1] = n, shape[2] = k, shape[3] = lda, shape[4] = ldb, shape[5] = ldc;    \
      add = beta;                                                                                  \
    }                                                                                              \
    kernel(b, a, c);                                                                               \
  }
GEMM(float, s)
GEMM(double, d)
