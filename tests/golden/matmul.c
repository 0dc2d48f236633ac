/* matmul.c: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c matmul.c (-fopenmp for parallel loops; without it they are plain loops) */
#include "matmul.h"

/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */
#ifdef EXO_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define EXO_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define EXO_ASSERT(condition) ((void)(0 && (condition)))
#endif

/* def matmul(M: size, N: size, K: size, A: f32[M, K] @ DRAM, B: f32[K, N] @ DRAM, C: f32[M, N] @ DRAM):
 *     assert M % 4 == 0 */
void matmul(int64_t M, int64_t N, int64_t K, const float* restrict A, const float* restrict B,
            float* restrict C) {
  EXO_ASSERT(M >= 1);
  EXO_ASSERT(N >= 1);
  EXO_ASSERT(K >= 1);
  EXO_ASSERT(M % 4 == 0);
  for (int64_t io = 0; io < M / 4; io++) {
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int64_t j = 0; j < N; j++) {
      _Alignas(64) float acc[4];
      /* clear acc (4) */
      for (int64_t ii = 0; ii < 4; ii++) {
        acc[ii] = 0.0f;
      }
      /* sums of A, B in acc (4) */
      for (int64_t k = 0; k < K; k++) {
        for (int64_t ii = 0; ii < 4; ii++) {
          acc[ii] += A[(4 * io + ii) * K + k] * B[k * N + j];
        }
      }
      /* copy acc to C */
      for (int64_t ii = 0; ii < 4; ii++) {
        C[(4 * io + ii) * N + j] = acc[ii];
      }
    }
  }
}
