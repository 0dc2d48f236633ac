/* precisions.h: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c precisions.c
 * Arrays: row-major, dense; aligned as their elements are, no more.
 * Overlap: what a call writes overlaps nothing else it is given; what it only reads may.
 * Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.
 * Threads: any number may call at once. */
#ifndef EXO_GENERATED_PRECISIONS_H
#define EXO_GENERATED_PRECISIONS_H

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

/* def precisions(n: size, a: i8[n] @ DRAM, b: ui16[n] @ DRAM, c: i32[n] @ DRAM, h: f16[n] @ DRAM, g: bf16[n] @ DRAM, x: f32[n] @ DRAM, y: f64[n] @ DRAM, r: R @ DRAM): */
void precisions(int64_t n, int8_t* EXO_RESTRICT a, uint16_t* EXO_RESTRICT b,
                int32_t* EXO_RESTRICT c, uint16_t* EXO_RESTRICT h, uint16_t* EXO_RESTRICT g,
                float* EXO_RESTRICT x, double* EXO_RESTRICT y, float* r);

#ifdef __cplusplus
}
#endif
#endif
