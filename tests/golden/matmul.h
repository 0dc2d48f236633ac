/* matmul.h: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c matmul.c (-fopenmp for parallel loops; without it they are plain loops)
 * Arrays: row-major, dense; aligned as their elements are, no more.
 * Overlap: what a call writes overlaps nothing else it is given; what it only reads may.
 * Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.
 * Threads: any number may call at once. */
#ifndef EXO_GENERATED_MATMUL_H
#define EXO_GENERATED_MATMUL_H

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

/* def matmul(M: size, N: size, K: size, A: f32[M, K] @ DRAM, B: f32[K, N] @ DRAM, C: f32[M, N] @ DRAM):
 *     assert M % 4 == 0 */
void matmul(int64_t M, int64_t N, int64_t K, const float* EXO_RESTRICT A,
            const float* EXO_RESTRICT B, float* EXO_RESTRICT C);

#ifdef __cplusplus
}
#endif
#endif
