/* config.h: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c config.c
 * Arrays: row-major, dense; aligned as their elements are, no more.
 * Overlap: what a call writes overlaps nothing else it is given; what it only reads may.
 * Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.
 * Threads: any number may call at once, each with a context of its own. */
#ifndef EXO_GENERATED_CONFIG_H
#define EXO_GENERATED_CONFIG_H

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

/* Configuration state that the program keeps; zero it before the first call. */
typedef struct config_Context {
  struct {
    float alpha;
    int64_t rows;
  } Scaling;
} config_Context;

/* def set_scaling(n: size): */
void set_scaling(config_Context* ctxt, int64_t n);

/* def config(n: size, x: f32[n] @ DRAM): */
void config(config_Context* ctxt, int64_t n, float* EXO_RESTRICT x);

#ifdef __cplusplus
}
#endif
#endif
