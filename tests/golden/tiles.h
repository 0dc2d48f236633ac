/* tiles.h: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c tiles.c
 * Arrays: row-major, dense; aligned as their elements are, no more.
 * Overlap: what a call writes overlaps nothing else it is given; what it only reads may.
 * Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.
 * Threads: any number may call at once. */
#ifndef EXO_GENERATED_TILES_H
#define EXO_GENERATED_TILES_H

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

/* def tiles(n: size, A: i32[2 * n, 2] @ DRAM, B: i32[2, 2] @ DRAM, C: i32[2 * n, 2] @ DRAM): */
void tiles(int64_t n, const int32_t* EXO_RESTRICT A, const int32_t* EXO_RESTRICT B,
           int32_t* EXO_RESTRICT C);

#ifdef __cplusplus
}
#endif
#endif
