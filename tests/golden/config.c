/* config.c: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c config.c */
#include "config.h"

/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */
#ifdef EXO_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define EXO_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define EXO_ASSERT(condition) ((void)(0 && (condition)))
#endif

/* def set_scaling(n: size): */
void set_scaling(config_Context* ctxt, int64_t n) {
  EXO_ASSERT(n >= 1);
  ctxt->Scaling.rows = n;
  ctxt->Scaling.alpha = 0.5f;
}

/* def config(n: size, x: f32[n] @ DRAM): */
void config(config_Context* ctxt, int64_t n, float* restrict x) {
  EXO_ASSERT(n >= 1);
  set_scaling(ctxt, n);
  for (int64_t i = 0; i < n; i++) {
    if (i < ctxt->Scaling.rows) {
      x[i] = ctxt->Scaling.alpha;
    }
  }
}
