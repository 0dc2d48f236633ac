#include "exo_tune.h"

static void* pointers[64];
static int64_t values[64][9];

static void fill(int run) {
  for (int a = 0; a < exo_arg_count; ++a) {
    const struct exo_arg* g = &exo_args[a];
    if (g->kind == EXO_VALUE) {
      values[a][0] = g->value;
      pointers[a] = values[a];
      continue;
    }
    memset(g->work - EXO_GUARD, 0xA5, EXO_GUARD);
    memset(g->work + g->bytes, 0xA5, EXO_GUARD);
    memcpy(g->work, g->image[run], g->bytes);
    pointers[a] = g->work;
    if (g->kind == EXO_DATA) continue;
    values[a][0] = (int64_t)(uintptr_t)g->work;
    for (int d = 0; d < g->rank; ++d) values[a][d + 1] = g->strides[d];
    pointers[a] = values[a];
  }
}

static void found(int arg, const char* what, uint64_t at, uint64_t got, uint64_t want) {
  exo_text("EXO_TUNE v1 found arg=");
  exo_number(arg);
  exo_text(" what=");
  exo_text(what);
  exo_text(" at=");
  exo_number(at);
  exo_text(" got=");
  exo_hex(got);
  exo_text(" want=");
  exo_hex(want);
  exo_text("\n");
}

static int close_enough(double got, double want, double slack) {
  double distance = got > want ? got - want : want - got, size = want < 0 ? -want : want;
  if (got == want || (got != got && want != want)) return 1;
  return distance <= exo_tolerance * (size > 1 ? size : 1) + slack;
}

static int same(const struct exo_arg* g, size_t at, size_t width) {
  double slack = g->slack ? g->slack[at / g->element] : 0;
  if (slack > 1e300) return 1; /* not compared */
  if (memcmp(g->work + at, g->want + at, width) == 0) return 1;
  if (g->type == EXO_F32) return close_enough(*(const float*)(g->work + at), *(const float*)(g->want + at), slack);
  if (g->type == EXO_F64) return close_enough(*(const double*)(g->work + at), *(const double*)(g->want + at), slack);
  return 0;
}

static int check(int run) {
  for (int a = 0; a < exo_arg_count; ++a) {
    const struct exo_arg* g = &exo_args[a];
    const unsigned char* want = g->want ? g->want : g->image[run];
    if (g->kind == EXO_VALUE) continue;
    for (int k = 0; k < EXO_GUARD; ++k)
      if (g->work[k - EXO_GUARD] != 0xA5 || g->work[g->bytes + k] != 0xA5) return found(a, "guard", k, 0, 0), 0;
    if (memcmp(g->work, want, g->bytes) == 0) continue;
    size_t width = g->type == EXO_F64 ? 8 : g->type == EXO_F32 ? 4 : 1;
    for (size_t at = 0; at < g->bytes; at += width) {
      if (g->want ? same(g, at, width) : g->work[at] == want[at]) continue;
      int poison = g->poisoned && memcmp(g->work + at, g->image[run] + at, width) == 0;
      uint64_t got = 0, wanted = 0;
      memcpy(&got, g->work + at, width);
      memcpy(&wanted, want + at, width);
      return found(a, !g->want ? "input" : poison ? "poison" : "mismatch", at, got, wanted), 0;
    }
  }
  return 1;
}

static uint64_t hash(void) {
  uint64_t h = 0xcbf29ce484222325u;
  for (int a = 0; a < exo_arg_count; ++a)
    for (size_t k = 0; exo_args[a].want && k < exo_args[a].bytes; ++k) h = (h ^ exo_args[a].work[k]) * 0x100000001b3u;
  return h;
}

#ifdef EXO_LINUX
#define EXO_FENCE() __sync_synchronize()
#else
#define EXO_FENCE() __asm__ volatile("fence" ::: "memory")
#define EXO_READ(name)                                          \
  ({                                                            \
    unsigned long n;                                            \
    __asm__ volatile(                                           \
        ".option push\n .option arch, +zicsr\n csrr %0, " #name  \
        "\n .option pop"                                         \
        : "=r"(n)::"memory");                                   \
    n;                                                          \
  })
#endif

int exo_main(void) {
  void** volatile arguments = pointers;
  fill(0);
  exo_kernel(arguments);
  EXO_FENCE();
  int ok = check(0);
  fill(1);
  EXO_FENCE();
#ifdef EXO_LINUX
  unsigned long instructions = 0, cycles = 0;
  exo_mark(0);
  exo_kernel(arguments);
  exo_mark(1);
#else
  unsigned long instructions = EXO_READ(minstret), cycles = EXO_READ(mcycle);
  exo_kernel(arguments);
  EXO_FENCE();
  cycles = EXO_READ(mcycle) - cycles;
  instructions = EXO_READ(minstret) - instructions;
#endif
  ok = check(1) && ok;
  exo_text("EXO_TUNE v1 kernel=");
  exo_text(exo_kernel_id);
  exo_text(" run=0 cycles=");
  exo_number(cycles);
  exo_text(" instret=");
  exo_number(instructions);
  exo_text(ok ? " check=ok hash=" : " check=bad hash=");
  exo_hex(hash());
  exo_text("\nEXO_TUNE v1 end n=1\n");
  return ok ? 0 : 1;
}
