#include "runners/command/runtime.h"

namespace exotune::runtime {

const char* const kStart = R"(
  .option arch, +zicsr
  .section .text.init, "ax"
  .globl _start
_start:
  csrr t0, mhartid
  bnez t0, exo_park
  /* Not every machine can stop its counters; where it can, they shall run. */
  la t0, 1f
  csrw mtvec, t0
  csrw 0x320, zero
  .balign 4
1:
  la t0, exo_trap_entry
  csrw mtvec, t0
  /* Floats and extensions are on; bits that do not exist stay zero. */
  li t0, 0x1e000
  csrs mstatus, t0
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, exo_stack_top
  la tp, exo_thread
  call exo_main
  call exo_exit
exo_park:
  wfi
  j exo_park

  .balign 4
exo_trap_entry:
  la sp, exo_trap_stack_top
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  call exo_trap
  j exo_park

  .section .tohost, "aw", @progbits
  .balign 64
  .globl tohost
tohost: .dword 0
  .globl fromhost
fromhost: .dword 0
)";

const char* const kLink = R"(
OUTPUT_ARCH(riscv)
ENTRY(_start)
PHDRS { code PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); tls PT_TLS; }
SECTIONS {
  . = 0x80000000;
  .text : { KEEP(*(.text.init)) *(.text .text.*) } :code
  .rodata : { *(.rodata .rodata.* .srodata .srodata.*) *(.eh_frame) } :code
  . = ALIGN(4096);
  .tohost : { KEEP(*(.tohost)) } :data
  . = ALIGN(4096);
  . = . + 65536;
  exo_stack_bottom = .;
  . = . + 1048576;
  exo_stack_top = .;
  . = . + 4096;
  exo_trap_stack_top = .;
  /* What is of a thread's own: there is one thread. */
  . = ALIGN(64);
  exo_thread = .;
  .tdata : { *(.tdata .tdata.*) } :data :tls
  .tbss : { *(.tbss .tbss.*) } :data :tls
  .thread (NOLOAD) : { . = . + SIZEOF(.tbss); } :data
  .data : { *(.data .data.*) __global_pointer$ = . + 0x800; *(.sdata .sdata.*) } :data
  .bss (NOLOAD) : { *(.sbss .sbss.*) *(.bss .bss.* COMMON) } :data
  _end = .;
  /DISCARD/ : { *(.comment) *(.riscv.attributes) *(.note .note.*) }
}
)";

const char* const kHeader = R"(
#include <stddef.h>
#include <stdint.h>

enum exo_kind { EXO_VALUE, EXO_DATA, EXO_WINDOW };
enum exo_type { EXO_OTHER, EXO_F32, EXO_F64 };
struct exo_arg {
  int64_t value;                  /* EXO_VALUE */
  const unsigned char* image[2];  /* what the work area holds before the first and the second run */
  const unsigned char* want;      /* what it must hold afterwards; null: the image */
  const double* slack;            /* by how much each element may be off besides; null: by nothing */
  unsigned char* work;            /* between two areas of EXO_GUARD bytes */
  size_t bytes;
  enum exo_kind kind;
  enum exo_type type;
  int rank;
  int element;                    /* bytes of one */
  int poisoned;                   /* the images are different poison */
  const int64_t* strides;         /* EXO_WINDOW */
};
#define EXO_GUARD 64
extern const struct exo_arg exo_args[];
extern const int exo_arg_count;
extern const double exo_tolerance;
extern const char exo_kernel_id[];
void exo_kernel(void** arguments);

void exo_exit(unsigned long code) __attribute__((noreturn));
void exo_text(const char* text);
void exo_number(uint64_t n);
void exo_hex(uint64_t n);
void exo_flush(void);
int exo_main(void);
void exo_mark(int end); /* where the program counts nothing itself */
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int byte, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
)";

const char* const kHost = R"(
/* memcpy is not made of calls of memcpy. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#include "exo_tune.h"

extern volatile uint32_t tohost[2], fromhost[2];

/* The lower half last: it is what the host waits for. */
static void tell(uintptr_t value) {
#if __riscv_xlen == 64
  *(volatile uint64_t*)tohost = value;
#else
  tohost[1] = 0;
  tohost[0] = value;
#endif
}

void exo_exit(unsigned long code) {
  exo_flush();
  for (;;) tell(code << 1 | 1);
}

static char line[256];
static size_t used;

void exo_flush(void) {
  static volatile uint64_t call[8] __attribute__((aligned(64)));
  if (used == 0) return;
  call[0] = 64; /* write */
  call[1] = 1;
  call[2] = (uintptr_t)line;
  call[3] = used;
  __sync_synchronize();
  tell((uintptr_t)call);
  while (fromhost[0] == 0 && fromhost[1] == 0) {}
#if __riscv_xlen == 64
  *(volatile uint64_t*)fromhost = 0;
#else
  fromhost[0] = 0;
  fromhost[1] = 0;
#endif
  used = 0;
}

void exo_text(const char* text) {
  for (; *text; ++text) {
    if (used == sizeof line) exo_flush();
    line[used++] = *text;
  }
}

static void digits(uint64_t n, unsigned base) {
  char text[24];
  char* at = text + sizeof text;
  *--at = 0;
  do *--at = "0123456789abcdef"[n % base];
  while ((n /= base) != 0);
  exo_text(at);
}
void exo_number(uint64_t n) { digits(n, 10); }
void exo_hex(uint64_t n) { digits(n, 16); }

void exo_trap(unsigned long cause, unsigned long pc, unsigned long value) {
  static int before;
  if (before++) for (;;) tell(5 << 1 | 1);
  exo_text("\nEXO_TUNE v1 trap cause=");
  exo_number(cause);
  exo_text(" pc=");
  exo_hex(pc);
  exo_text(" value=");
  exo_hex(value);
  exo_text("\n");
  exo_exit(3);
}

/* Memory for kernels that ask for it lies behind the program, and is not taken back. */
extern char _end[];
void* aligned_alloc(size_t alignment, size_t bytes) {
  static uintptr_t next;
  if (next == 0) next = (uintptr_t)_end;
  next = (next + alignment - 1) / alignment * alignment;
  next += bytes;
  return (void*)(next - bytes);
}
void* malloc(size_t bytes) { return aligned_alloc(64, bytes); }
void free(void* memory) { (void)memory; }
void abort(void) {
  exo_text("\nEXO_TUNE v1 aborted\n");
  exo_exit(4);
}

void* memcpy(void* to, const void* from, size_t bytes) {
  unsigned char* t = to;
  const unsigned char* f = from;
  if ((((uintptr_t)t | (uintptr_t)f) & (sizeof(long) - 1)) == 0)
    for (; bytes >= sizeof(long); bytes -= sizeof(long), t += sizeof(long), f += sizeof(long)) *(long*)t = *(const long*)f;
  while (bytes--) *t++ = *f++;
  return to;
}
void* memmove(void* to, const void* from, size_t bytes) {
  unsigned char* t = to;
  const unsigned char* f = from;
  if (t <= f || t >= f + bytes) return memcpy(to, from, bytes);
  while (bytes--) t[bytes] = f[bytes];
  return to;
}
void* memset(void* to, int byte, size_t bytes) {
  unsigned char* t = to;
  while (bytes--) *t++ = (unsigned char)byte;
  return to;
}
int memcmp(const void* a, const void* b, size_t bytes) {
  const unsigned char *x = a, *y = b;
  if ((((uintptr_t)x | (uintptr_t)y) & (sizeof(long) - 1)) == 0)
    for (; bytes >= sizeof(long) && *(const long*)x == *(const long*)y; bytes -= sizeof(long)) x += sizeof(long), y += sizeof(long);
  for (; bytes--; ++x, ++y)
    if (*x != *y) return *x - *y;
  return 0;
}
)";

const char* const kMain = R"(
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
)";

const char* const kLinuxHost = R"(
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "exo_tune.h"

void exo_flush(void) { fflush(stdout); }
void exo_exit(unsigned long code) {
  exo_flush();
  _exit((int)code);
}
void exo_text(const char* text) { fputs(text, stdout); }
void exo_number(uint64_t n) { printf("%llu", (unsigned long long)n); }
void exo_hex(uint64_t n) { printf("%llx", (unsigned long long)n); }

/* A call that no system has: whoever counts sees it, anybody else refuses it. */
void exo_mark(int end) { syscall(4242, end); }

static char* stack_bottom;

static void trapped(int signal, siginfo_t* info, void* context) {
  char* at = info->si_addr;
  int cause = signal == SIGILL ? 2 : signal == SIGTRAP ? 3 : signal == SIGBUS ? 4 : 24;
  (void)context;
  if (signal == SIGSEGV && at < stack_bottom && at > stack_bottom - (64 << 20)) cause = 25;
  exo_text("\nEXO_TUNE v1 trap cause=");
  exo_number(cause);
  exo_text(" pc=");
  exo_hex(signal == SIGILL ? (uintptr_t)at : 0);
  exo_text(" value=");
  exo_hex((uintptr_t)at);
  exo_text("\n");
  exo_exit(3);
}

int main(void) {
  static char other_stack[65536];
  stack_t where = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
  struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  const int signals[] = {SIGILL, SIGTRAP, SIGBUS, SIGSEGV, SIGFPE};
  stack_bottom = (char*)&where - (4 << 20);
  sigaltstack(&where, 0);
  for (unsigned k = 0; k < sizeof signals / sizeof *signals; ++k) sigaction(signals[k], &action, 0);
  exo_exit(exo_main());
}
)";

}  // namespace exotune::runtime
