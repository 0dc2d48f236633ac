/* precisions.c: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c precisions.c */
#include "precisions.h"

#include <math.h>
#include <string.h>

/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */
#ifdef EXO_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define EXO_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define EXO_ASSERT(condition) ((void)(0 && (condition)))
#endif
/* Rounds to nearest, ties to even; a NaN stays one. */
static inline uint16_t exo_bf16_from_f32(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  if ((u & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(u >> 16 | 0x40u);
  return (uint16_t)((u + 0x7FFFu + (u >> 16 & 1u)) >> 16);
}
static inline float exo_bf16_to_f32(uint16_t h) {
  const uint32_t u = (uint32_t)h << 16;
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}
/* Rounds to nearest, ties to even; too large becomes infinity, a NaN stays one. */
static inline uint16_t exo_f16_from_f32(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  const uint16_t sign = (uint16_t)(u >> 16 & 0x8000u);
  u &= 0x7FFFFFFFu;
  if (u > 0x7F800000u) return (uint16_t)(sign | 0x7E00u);
  if (u >= 0x477FF000u) return (uint16_t)(sign | 0x7C00u);
  if (u < 0x38800000u) { /* subnormal: adding 1/2 rounds at 2^-24 */
    float g;
    memcpy(&g, &u, sizeof g);
    g += 0.5f;
    memcpy(&u, &g, sizeof u);
    return (uint16_t)(sign | (u - 0x3F000000u));
  }
  return (uint16_t)(sign | ((u - 0x38000000u + 0xFFFu + (u >> 13 & 1u)) >> 13));
}
static inline float exo_f16_to_f32(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
  const uint32_t exponent = h >> 10 & 0x1Fu, fraction = h & 0x3FFu;
  uint32_t u;
  float f;
  if (exponent == 0) { /* zero and subnormal: fraction * 2^-24 */
    f = (float)fraction * 5.9604644775390625e-8f;
    memcpy(&u, &f, sizeof u);
    u |= sign;
  } else {
    u = sign | (exponent == 31 ? 0x7F800000u : (exponent + 112u) << 23) | fraction << 13;
  }
  memcpy(&f, &u, sizeof f);
  return f;
}
static inline float exo_max_f32(float a, float b) { return a < b ? b : a; }
static inline uint16_t exo_max_ui16(uint16_t a, uint16_t b) { return a < b ? b : a; }
static inline float exo_relu_f32(float x) { return x > 0.0f ? x : 0.0f; }
static inline float exo_sigmoid_f32(float x) { return 1.0f / (1.0f + expf(-x)); }

/* def precisions(n: size, a: i8[n] @ DRAM, b: ui16[n] @ DRAM, c: i32[n] @ DRAM, h: f16[n] @ DRAM, g: bf16[n] @ DRAM, x: f32[n] @ DRAM, y: f64[n] @ DRAM, r: R @ DRAM): */
void precisions(int64_t n, int8_t* restrict a, uint16_t* restrict b, int32_t* restrict c,
                uint16_t* restrict h, uint16_t* restrict g, float* restrict x, double* restrict y,
                float* r) {
  EXO_ASSERT(n >= 1);
  for (int64_t i = 0; i < n; i++) {
    c[i] = (int32_t)((uint32_t)c[i] + ((uint32_t)c[i] * (uint32_t)c[i] - 3u));
    c[i] = (int32_t)((int64_t)c[i] / 2);
    a[i] = (int8_t)((int8_t)(a[i] * 3) + a[i]);
    b[i] = exo_max_ui16(b[i], (uint16_t)((uint32_t)b[i] * b[i]));
    h[i] = exo_f16_from_f32(exo_f16_to_f32(h[i]) + 1.0f);
    h[i] = exo_f16_from_f32(x[i]);
    g[i] = exo_bf16_from_f32(exo_bf16_to_f32(g[i]) + exo_bf16_to_f32(g[i]));
    x[i] = exo_sigmoid_f32(x[i]) + (x[i] < 0.0f ? exo_relu_f32(-x[i]) : exo_max_f32(x[i], 0.1f));
    y[i] = sin(y[i]) / 3.0;
    y[i] = (double)x[i];
    a[i] = (int8_t)(int64_t)x[i];
    *r = *r + 0.5f;
  }
}
