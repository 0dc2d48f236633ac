/* vectors.c: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c vectors.c */
#include "vectors.h"

typedef float vec4 __attribute__((vector_size(16), aligned(4)));
static inline vec4 vec_first(vec4 v, int64_t n, const float* p, int64_t s) { for (int64_t i = 0; i < n; i++) v[i] = p[i * s]; return v; }
/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */
#ifdef EXO_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define EXO_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define EXO_ASSERT(condition) ((void)(0 && (condition)))
#endif
/* The loop indexes variables that live in registers: unrolled, its subscripts are constants. */
#if defined(__clang__)
#define EXO_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define EXO_UNROLL _Pragma("GCC unroll 32")
#else
#define EXO_UNROLL
#endif

/* def vectors(K: size, A: f32[4, K] @ DRAM, B: f32[K, 8] @ DRAM, C: f32[4, 8] @ DRAM): */
void vectors(int64_t K, const float* restrict A, const float* restrict B, float* restrict C) {
  EXO_ASSERT(K >= 1);
  vec4 c[4][2];
  /* load C into c (4 x 2 x 4) */
  EXO_UNROLL
  for (int64_t i = 0; i < 4; i++) {
    EXO_UNROLL
    for (int64_t j = 0; j < 2; j++) {
      c[i][j] = *(const vec4*)&C[i * 8 + 4 * j];
    }
  }
  /* sums of A, B in c (4 x 2 x 4) */
  for (int64_t k = 0; k < K; k++) {
    vec4 b[2];
    EXO_UNROLL
    for (int64_t j = 0; j < 2; j++) {
      b[j] = *(const vec4*)&B[k * 8 + 4 * j];
    }
    EXO_UNROLL
    for (int64_t i = 0; i < 4; i++) {
      EXO_UNROLL
      for (int64_t j = 0; j < 2; j++) {
        c[i][j] += b[j] * A[i * K + k];
      }
    }
  }
  /* store c to C */
  EXO_UNROLL
  for (int64_t i = 0; i < 4; i++) {
    EXO_UNROLL
    for (int64_t j = 0; j < 2; j++) {
      *(vec4*)&C[i * 8 + 4 * j] = c[i][j];
    }
  }
  vec4 v = { 0 };
  v = *(const vec4*)&C[8];
  v = vec_first(v, 3, &A[0], K);
  vec4 u = { 0 };
  u = vec_first(u, 4, &A[0], K);
  *(vec4*)&C[8] = u;
  _Alignas(64) float zero[1];
  zero[0] = 0.0f;
  vec4 w = *(const vec4*)&C[0];
  w += v * zero[0];
  *(vec4*)&C[0] = w;
}
