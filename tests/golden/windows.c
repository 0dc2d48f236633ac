/* windows.c: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c windows.c */
#include "windows.h"

#ifndef EXO_WIN_1F32
#define EXO_WIN_1F32
struct exo_win_1f32 {
  float* data;
  int64_t strides[1];
};
#endif
#ifndef EXO_WIN_1F32C
#define EXO_WIN_1F32C
struct exo_win_1f32c {
  const float* data;
  int64_t strides[1];
};
#endif
#ifndef EXO_WIN_2F32
#define EXO_WIN_2F32
struct exo_win_2f32 {
  float* data;
  int64_t strides[2];
};
#endif
#ifndef EXO_WIN_2F32C
#define EXO_WIN_2F32C
struct exo_win_2f32c {
  const float* data;
  int64_t strides[2];
};
#endif

/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */
#ifdef EXO_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define EXO_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define EXO_ASSERT(condition) ((void)(0 && (condition)))
#endif
static inline float exo_max_f32(float a, float b) { return a < b ? b : a; }

/* def axpy(n: size, alpha: f32 @ DRAM, x: [f32][n] @ DRAM, y: [f32][n] @ DRAM):
 *     assert stride(y, 0) == 1 */
void axpy(int64_t n, const float* alpha, struct exo_win_1f32c x, struct exo_win_1f32 y) {
  EXO_ASSERT(n >= 1);
  EXO_ASSERT(y.strides[0] == 1);
  for (int64_t i = 0; i < n; i++) {
    y.data[i] += *alpha * x.data[i * x.strides[0]];
  }
}

/* def largest(n: size, x: [f32][n] @ DRAM, m: f32 @ DRAM): */
void largest(int64_t n, struct exo_win_1f32c x, float* m) {
  EXO_ASSERT(n >= 1);
  for (int64_t i = 0; i < n; i++) {
    *m = exo_max_f32(*m, x.data[i * x.strides[0]]);
  }
}

/* def windows(n: size, A: f32[n, 8] @ DRAM, W: [f32][n, n] @ DRAM, out: f32[4] @ DRAM): */
void windows(int64_t n, float* restrict A, struct exo_win_2f32c W, float* restrict out) {
  EXO_ASSERT(n >= 1);
  struct exo_win_2f32 rows = { &A[2], { 8, 1 } };
  for (int64_t i = 0; i < n; i++) {
    struct exo_win_1f32 row = { &rows.data[i * 8], { 1 } };
    /* clear row */
    for (int64_t j = 0; j < 4; j++) {
      row.data[j] = 0.0f;
    }
    axpy(2, &out[1], (struct exo_win_1f32c){ &A[i * 8 + 6], { 1 } }, (struct exo_win_1f32){ row.data, { 1 } });
    largest(n, (struct exo_win_1f32c){ &W.data[i * W.strides[1]], { W.strides[0] } }, &out[2]);
  }
  float two = 2.0f;
  axpy(4, &two, (struct exo_win_1f32c){ &A[(n - 1) * 8], { 1 } }, (struct exo_win_1f32){ out, { 1 } });
}
