/* tiles.c: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c tiles.c */
#include "tiles.h"

void tile_zero(int t); void tile_load(int t, const int32_t* p, int64_t stride); void tile_mac(int d, int a, int b); void tile_store(int32_t* p, int t); void pad_fill(int64_t at, const int32_t* p);
/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */
#ifdef EXO_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define EXO_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define EXO_ASSERT(condition) ((void)(0 && (condition)))
#endif

/* def tiles(n: size, A: i32[2 * n, 2] @ DRAM, B: i32[2, 2] @ DRAM, C: i32[2 * n, 2] @ DRAM): */
void tiles(int64_t n, const int32_t* restrict A, const int32_t* restrict B, int32_t* restrict C) {
  EXO_ASSERT(n >= 1);
  for (int64_t i = 0; i < n; i++) {
    tile_zero(2);
    tile_zero(3);
    tile_load(1, &A[2 * i * 2], 2);
    tile_mac(2, 1, 1);
    tile_load(0, &B[0], 2);
    tile_mac(3, 1, 0);
    tile_store(&C[2 * i * 2], 3);
  }
  /* pack B into rows (3 x 2) */
  for (int64_t r = 0; r < 2; r++) {
    pad_fill(8 * r, &B[r * 2]);
  }
  pad_fill(40, &B[0]);
}
