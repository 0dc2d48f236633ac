/* control.h: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c control.c
 * Arrays: row-major, dense; aligned as their elements are, no more.
 * Overlap: what a call writes overlaps nothing else it is given; what it only reads may.
 * Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.
 * Threads: any number may call at once. */
#ifndef EXO_GENERATED_CONTROL_H
#define EXO_GENERATED_CONTROL_H

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

/* def control(n: size, off: index, flag: bool, int: f32[n] @ DRAM, I: f32 @ DRAM):
 *     assert off >= -8 and off < 8 */
void control(int64_t n, int64_t off, bool flag, float* EXO_RESTRICT int_, float* I_);

#ifdef __cplusplus
}
#endif
#endif
