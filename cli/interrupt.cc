#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace exotune::cli {
namespace {

// The one process-wide state: a signal handler can reach nothing else.
volatile std::sig_atomic_t stop_requests = 0;

extern "C" void on_interrupt(int) {
  if (stop_requests > 0) _exit(130);
  stop_requests = 1;
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return stop_requests > 0; }

}  // namespace exotune::cli
