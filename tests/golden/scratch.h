/* scratch.h: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c scratch.c
 * Arrays: row-major, dense; aligned as their elements are, no more.
 * Overlap: what a call writes overlaps nothing else it is given; what it only reads may.
 * Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.
 * Threads: any number may call at once. */
#ifndef EXO_GENERATED_SCRATCH_H
#define EXO_GENERATED_SCRATCH_H

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

/* Some functions below take scratch memory from an arena of the calling thread. It grows as needed,
 * is reused by later calls, and is given back to the system by this call, in each thread. */
void scratch_release_scratch(void);

/* def scratch(n: size, m: size, x: f32[n, m] @ DRAM): */
void scratch(int64_t n, int64_t m, float* EXO_RESTRICT x);

#ifdef __cplusplus
}
#endif
#endif
