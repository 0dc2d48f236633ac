/* The memory that products of matrices pack their factors into: one block a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common.h"

/* What is larger than an eighth of a large page stands in whole ones where the system has them: panels and tiles that are
 * read again and again take a few entries of its address caches then. */
enum { kSmallPage = 4096, kLargePage = 2 << 20 };

static pthread_key_t exo_key;
static pthread_once_t exo_once = PTHREAD_ONCE_INIT;
static _Thread_local void* exo_block = NULL;
static _Thread_local size_t exo_size = 0;

static void exo_make_key(void) { pthread_key_create(&exo_key, free); }

void* exo_workspace(size_t bytes) {
  if (bytes <= exo_size) return exo_block;
  pthread_once(&exo_once, exo_make_key);
  free(exo_block);
  exo_block = NULL;
  exo_size = 0;
  const bool large = bytes > kLargePage / 8;
  if (large) bytes = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  if (posix_memalign(&exo_block, large ? kLargePage : kSmallPage, bytes) != 0) {
    fputs("libexo-blas: no memory for a workspace\n", stderr);
    abort();
  }
#ifdef MADV_HUGEPAGE
  if (large) (void)madvise(exo_block, bytes, MADV_HUGEPAGE); /* a wish: nothing depends on it */
#endif
  exo_size = bytes;
  pthread_setspecific(exo_key, exo_block);
  return exo_block;
}
