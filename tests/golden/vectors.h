/* vectors.h: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c vectors.c
 * Arrays: row-major, dense; aligned as their elements are, no more.
 * Overlap: what a call writes overlaps nothing else it is given; what it only reads may.
 * Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.
 * Threads: any number may call at once. */
#ifndef EXO_GENERATED_VECTORS_H
#define EXO_GENERATED_VECTORS_H

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

/* def vectors(K: size, A: f32[4, K] @ DRAM, B: f32[K, 8] @ DRAM, C: f32[4, 8] @ DRAM): */
void vectors(int64_t K, const float* EXO_RESTRICT A, const float* EXO_RESTRICT B,
             float* EXO_RESTRICT C);

#ifdef __cplusplus
}
#endif
#endif
