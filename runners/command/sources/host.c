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
