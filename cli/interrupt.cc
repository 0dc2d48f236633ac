#include "cli/interrupt.h"

#include <time.h>
#include <unistd.h>

#include <csignal>

namespace exotune::cli {
namespace {

// Process-wide, because a signal handler can reach nothing else.
volatile std::sig_atomic_t stop_requested = 0;
volatile std::sig_atomic_t first_tick = 0;  // when the first one came

// Tenths of a second of a monotonic clock, from some moment; wraps after years.
std::sig_atomic_t monotonic_tick() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::sig_atomic_t>(now.tv_sec % 100'000'000 * 10 + now.tv_nsec / 100'000'000);
}

// One key press may arrive twice (a parent passes it on to its group): only a later one is a
// second.
constexpr std::sig_atomic_t kSamePress = 3;

extern "C" void on_interrupt(int) {
  const std::sig_atomic_t now = monotonic_tick();
  if (stop_requested == 0) {
    first_tick = now;
    stop_requested = 1;
  } else if (now - first_tick > kSamePress) {
    _exit(130);
  }
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

bool interrupted() { return stop_requested != 0; }

}  // namespace exotune::cli
