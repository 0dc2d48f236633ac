/* control.c: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c control.c */
#include "control.h"

/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */
#ifdef EXO_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define EXO_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define EXO_ASSERT(condition) ((void)(0 && (condition)))
#endif
/* a / b rounded toward minus infinity, b > 0. */
static inline int64_t exo_floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q - (a % b < 0);
}
/* a modulo b in [0, b), b > 0. */
static inline int64_t exo_floor_mod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r < 0 ? r + b : r;
}

/* def control(n: size, off: index, flag: bool, int: f32[n] @ DRAM, I: f32 @ DRAM):
 *     assert off >= -8 and off < 8 */
void control(int64_t n, int64_t off, bool flag, float* restrict int_, float* I_) {
  EXO_ASSERT(n >= 1);
  EXO_ASSERT(off >= -8 && off < 8);
  for (int64_t i = 0; i < n; i++) {
    if (exo_floor_div(i + off, 4) == 1 || (exo_floor_mod(off - i, 3) == 2 && flag)) {
      int_[i] = 1.0f;
    } else if (i < n - 1) {
      int_[i + 1] = -int_[i];
    }
  }
  for (int64_t i = -2; i < 1; i++) {
    if (i + 2 < n) {
      *I_ += int_[i + 2];
    }
  }
  for (int64_t io = 0; io < n / 8; io++) {
    for (int64_t ii = 0; ii < 8; ii++) {
      int_[(8 * io + ii) / 2] = 2.0f;
    }
  }
}
