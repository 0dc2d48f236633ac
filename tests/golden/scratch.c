/* scratch.c: generated C, do not edit.
 * Golden file of the tests.
 * Build: cc -O2 -c scratch.c */
#include "scratch.h"

#include <stdlib.h>

/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */
#ifdef EXO_CHECKED
#include <stdio.h>
#include <stdlib.h>
#define EXO_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define EXO_ASSERT(condition) ((void)(0 && (condition)))
#endif
/* Bytes that no memory has: sums and products of sizes stay there and do not wrap around. */
#define EXO_TOO_MANY (SIZE_MAX / 4)
static inline size_t exo_times(size_t a, size_t b) {
#ifdef __GNUC__
  size_t product;
  return __builtin_mul_overflow(a, b, &product) || product > EXO_TOO_MANY ? EXO_TOO_MANY : product;
#else
  return b != 0 && a > EXO_TOO_MANY / b ? EXO_TOO_MANY : a * b;
#endif
}
/* Scratch memory: blocks that are kept for later calls; taking and giving back moves a mark. */
struct exo_scratch_block {
  struct exo_scratch_block* next;
  size_t size, used;
};
struct exo_scratch_mark {
  struct exo_scratch_block* block;
  size_t used;
};
static _Thread_local struct exo_scratch_block *exo_scratch_first, *exo_scratch_current;

static struct exo_scratch_mark exo_scratch_mark(void) {
  struct exo_scratch_mark mark = { exo_scratch_current, exo_scratch_current ? exo_scratch_current->used : 0 };
  return mark;
}

static void exo_scratch_release(struct exo_scratch_mark mark) {
  exo_scratch_current = mark.block ? mark.block : exo_scratch_first;
  if (exo_scratch_current) exo_scratch_current->used = mark.used;
}

static void* exo_scratch_alloc(size_t bytes) {
  struct exo_scratch_block* block = exo_scratch_current;
  bytes = (bytes + 64 + 63) / 64 * 64;
  while (block && block->size - block->used < bytes && block->next) {
    block = block->next;
    block->used = 0;
  }
  if (!block || block->size - block->used < bytes) {
    size_t size = block ? 2 * block->size : (size_t)1 << 20;
    struct exo_scratch_block* fresh;
    if (size < bytes) size = bytes;
    fresh = (struct exo_scratch_block*)aligned_alloc(64, size + 64);
    if (!fresh) abort();
    fresh->next = NULL;
    fresh->size = size;
    fresh->used = 0;
    if (block) block->next = fresh;
    else exo_scratch_first = fresh;
    block = fresh;
  }
  exo_scratch_current = block;
  block->used += bytes;
  return (char*)block + 64 + block->used - bytes;
}

void scratch_release_scratch(void) {
  while (exo_scratch_first) {
    struct exo_scratch_block* next = exo_scratch_first->next;
    free(exo_scratch_first);
    exo_scratch_first = next;
  }
  exo_scratch_current = NULL;
}

/* def scratch(n: size, m: size, x: f32[n, m] @ DRAM): */
void scratch(int64_t n, int64_t m, float* restrict x) {
  EXO_ASSERT(n >= 1);
  EXO_ASSERT(m >= 1);
  _Alignas(64) float small[16];
  const struct exo_scratch_mark scratch_1 = exo_scratch_mark();
  double* const restrict big = (double*)exo_scratch_alloc(sizeof(double) * 20000);
  for (int64_t i = 0; i < n; i++) {
    const struct exo_scratch_mark scratch_2 = exo_scratch_mark();
    float* const restrict row = (float*)exo_scratch_alloc(exo_times(sizeof(float), (size_t)m));
    /* pack x into row */
    for (int64_t j = 0; j < m; j++) {
      row[j] = x[i * m + j];
    }
    /* copy row to x */
    for (int64_t j = 0; j < m; j++) {
      x[i * m + m - 1 - j] = row[j];
    }
    for (int64_t a = 0; a < 4; a++) {
      small[a * 4] = row[0];
      big[a * 100 + 3] = (double)row[0];
    }
    exo_scratch_release(scratch_2);
  }
  static _Thread_local _Alignas(64) float table[16];
  _Alignas(64) float local[16];
  for (int64_t a = 0; a < 4; a++) {
    table[a] = small[a * 4];
    local[a] = table[a];
    x[0] += local[a];
    x[0] = (float)big[a * 100 + 3];
  }
  exo_scratch_release(scratch_1);
}
