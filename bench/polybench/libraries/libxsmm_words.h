// One small product, or many of them one behind the other, by rows: a kernel is made for the shape.
#include <libxsmm.h>
#include <stdint.h>
#include <stdlib.h>

#define SMALL(T, P)                                                                              \
  static int P##products(int count, int m, int n, int k, const T* a, const T* b, T beta, T* c) { \
    static libxsmm_##P##mmfunction one;                                                          \
    if (!one) {                                                                                  \
      const T alpha = 1;                                                                         \
      const int none = LIBXSMM_GEMM_FLAG_NONE;                                                   \
      libxsmm_init();                                                                            \
      one = libxsmm_##P##mmdispatch(n, m, k, &n, &k, &n, &alpha, &beta, &none, NULL);            \
      if (!one) return 0;                                                                        \
    }                                                                                            \
    for (int g = 0; g < count; g++)                                                              \
      one(b + (size_t)g * k * n, a + (size_t)g * m * k, c + (size_t)g * m * n);                  \
    return 1;                                                                                    \
  }
SMALL(float, s)
SMALL(double, d)
