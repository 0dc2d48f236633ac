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
