/* Times calls on data that were copied anew: what compare.py loads. Every argument is a pointer. */
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { kMost = 16 }; /* arguments of a call; a callee that has fewer reads no more */

typedef void (*Call)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                     void*, void*, void*, void*, void*);

/* What a kernel allocates and frees stays with the process, as in a C program that calls it again;
   Python's heap is such that each call would fault its pages in anew. */
__attribute__((constructor)) static void keep_heap(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void refill(void** live, void** from, const size_t* bytes, int args, int sets) {
  for (int s = 0; s < sets; ++s)
    for (int a = 0; a < args; ++a) memcpy(live[s * kMost + a], from[a], bytes[a]);
}

static void call_all(Call call, void** live, int sets) {
  for (int s = 0; s < sets; ++s) {
    void** p = live + s * kMost;
    call(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13],
         p[14], p[15]);
  }
}

/* Seconds of one call: of one on each of `sets` copies of the arguments, one after the other, all
   copied anew before. `warm`: of a short call; the code was called before that, too. */
double seconds_of(Call call, void** live, void** from, const size_t* bytes, int args, int sets,
                  int warm) {
  refill(live, from, bytes, args, sets);
  if (warm) {
    call_all(call, live, sets);
    refill(live, from, bytes, args, sets);
  }
  /* Of a long call what another process had of the core does not count; of a short one the least
     wall time of many is surer than CPU time, from which a hypervisor's is taken off. CPU time is
     asked of the kernel: a short call just after that finds prefetchers cold, and takes up to twice
     as long where vectors cross lines. */
  const clockid_t clock = warm ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  const double start = seconds(clock);
  call_all(call, live, sets);
  return (seconds(clock) - start) / sets;
}
