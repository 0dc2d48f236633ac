/* Threads: large problems are divided among those of OpenMP, where the environment asks for them.
 * Compiled without OpenMP everything runs on the caller's thread. */
#include <stdlib.h>

#include "common.h"

#ifdef _OPENMP
#include <omp.h>

static bool exo_threaded = false; /* written once, when the library is loaded */

__attribute__((constructor)) static void exo_ask_environment(void) {
  exo_threaded = getenv("OMP_NUM_THREADS") != NULL;
}

int64_t exo_team_size(int64_t work, int64_t least) {
  if (!exo_threaded || work < 2 * least || omp_in_parallel()) return 1;
  return exo_least(omp_get_max_threads(), work / least);
}

void exo_team(int64_t size, exo_share* share, const void* job) {
#pragma omp parallel num_threads((int)size)
  share(job, omp_get_thread_num(), omp_get_num_threads());
}
#else
int64_t exo_team_size(int64_t work, int64_t least) {
  (void)work, (void)least;
  return 1;
}

void exo_team(int64_t size, exo_share* share, const void* job) {
  (void)size;
  share(job, 0, 1);
}
#endif
