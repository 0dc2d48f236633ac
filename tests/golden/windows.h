/* windows.h: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c windows.c
 * Arrays: row-major, dense; a window's strides count elements; aligned as their elements are, no more.
 * Overlap: what a call writes overlaps nothing else it is given; what it only reads may.
 * Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.
 * Threads: any number may call at once. */
#ifndef EXO_GENERATED_WINDOWS_H
#define EXO_GENERATED_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef EXO_RESTRICT
#ifdef __cplusplus
#define EXO_RESTRICT __restrict
#else
#define EXO_RESTRICT restrict
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

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

#ifndef EXO_WIN_2F32C
#define EXO_WIN_2F32C
struct exo_win_2f32c {
  const float* data;
  int64_t strides[2];
};
#endif

/* def axpy(n: size, alpha: f32 @ DRAM, x: [f32][n] @ DRAM, y: [f32][n] @ DRAM):
 *     assert stride(y, 0) == 1 */
void axpy(int64_t n, const float* alpha, struct exo_win_1f32c x, struct exo_win_1f32 y);

/* def largest(n: size, x: [f32][n] @ DRAM, m: f32 @ DRAM): */
void largest(int64_t n, struct exo_win_1f32c x, float* m);

/* def windows(n: size, A: f32[n, 8] @ DRAM, W: [f32][n, n] @ DRAM, out: f32[4] @ DRAM): */
void windows(int64_t n, float* EXO_RESTRICT A, struct exo_win_2f32c W, float* EXO_RESTRICT out);

#ifdef __cplusplus
}
#endif
#endif
