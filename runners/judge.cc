#include "runners/judge.h"

#include <alloca.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runners/batch_timer.h"

namespace exotune {

void ChildReport::set(TrialStatus new_status, const std::string& text) {
  const size_t n = std::min(text.size(), sizeof cause - 1);
  memcpy(cause, text.data(), n);
  cause[n] = 0;
  status = new_status;
}

namespace {

// A signal handler has no arguments of its own; these live in the child only.
ChildReport* fault_report = nullptr;
std::vector<const GuardedArguments*> fault_arguments;
const PreparedCase* fault_case = nullptr;

void on_fault(int number, siginfo_t* info, void*) {
  ChildReport& r = *fault_report;
  size_t arg = 0;
  const bool memory = number == SIGSEGV || number == SIGBUS;
  int side = 0;
  for (size_t k = 0; memory && side == 0 && k < fault_arguments.size(); ++k)
    side = fault_arguments[k]->guard_side(info->si_addr, &arg);
  r.signal = number;
  if (side != 0) {
    r.status = TrialStatus::kOutOfBounds;
    snprintf(r.cause, sizeof r.cause, "accessed memory %s '%s'",
             side < 0 ? "before the start of" : "past the end of",
             fault_case ? fault_case->specs[arg].name.c_str() : "?");
  } else {
    r.status = TrialStatus::kCrash;
    if (memory)
      snprintf(r.cause, sizeof r.cause, "%s at address %p",
               number == SIGSEGV ? "SIGSEGV (segmentation fault)" : "SIGBUS (bus error)",
               info->si_addr);
    else if (number == SIGILL)
      snprintf(r.cause, sizeof r.cause,
               "SIGILL (illegal instruction): this CPU lacks one of its instructions");
    else if (number == SIGFPE)
      snprintf(r.cause, sizeof r.cause,
               "SIGFPE (arithmetic exception): an integer division by zero");
    else
      snprintf(r.cause, sizeof r.cause, "SIG%s", sigabbrev_np(number));
  }
  _exit(0);
}

/// Fills the stack below this frame, so that a candidate's uninitialised locals are poison.
__attribute__((noinline)) void poison_stack(int byte) {
  // More than candidates put there: their larger buffers are on the heap.
  constexpr size_t kPoisoned = 192 << 10;
  auto* area = static_cast<volatile unsigned char*>(alloca(kPoisoned));
  for (size_t i = 0; i < kPoisoned; ++i) area[i] = static_cast<unsigned char>(byte);
}

}  // namespace

void watch_faults(ChildReport* report, std::vector<const GuardedArguments*> arguments) {
  fault_report = report;
  fault_arguments = std::move(arguments);
  static bool installed = false;
  if (installed) return;
  installed = true;
  static char handler_stack[64 << 10];
  stack_t alternative{};
  alternative.ss_sp = handler_stack;
  alternative.ss_size = sizeof handler_stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS})
    sigaction(number, &action, nullptr);
}

bool judge(const PreparedCase& prepared, const Binder& bind, ChildReport* report,
           bool once_if_long) {
  report->stage = ChildReport::kChecking;
  fault_case = &prepared;
  using Placement = GuardedArguments::Placement;
  Finding found;
  std::vector<std::vector<uint8_t>> first_outputs;  // none where they were right
  for (int run = 0; run < 2; ++run) {
    GuardedArguments arguments(prepared, run == 0 ? Placement::kFlushEnd : Placement::kFlushStart);
    arguments.fill(run);
    const BoundCall call = bind({arguments.pointers()});
    watch_faults(report, {&arguments});
    // malloc fills with the complement of the low byte: 0xFE is huge or negative, 0x55 is not.
    mallopt(M_PERTURB, run == 0 ? 0x01 : 0xAA);
    poison_stack(run == 0 ? 0xFF : 0x55);
    const double start = thread_seconds();
    call(1);
    report->call_seconds = thread_seconds() - start;
    mallopt(M_PERTURB, 0);
    watch_faults(report, {});
    Finding f = arguments.check(run);
    if (f.status == TrialStatus::kOutOfBounds) {
      found = std::move(f);
      break;
    }
    if (f.status == TrialStatus::kPoisoned || (!f.ok() && found.ok())) found = std::move(f);
    if (run == 0) {
      if (once_if_long && report->call_seconds > kLongestCall) break;
      if (!found.ok()) first_outputs = arguments.outputs();
    } else if (found.status == TrialStatus::kMismatch && first_outputs != arguments.outputs()) {
      found = {TrialStatus::kPoisoned,
               "two runs that differ in uninitialised memory only give different results: " +
                   found.cause};
    }
  }
  fault_case = nullptr;
  report->set(found.status, found.cause);
  return found.ok();
}

Judged judge_in_child(const PreparedCase& prepared, double timeout_seconds,
                      const std::function<Binder(std::string* error)>& load) {
  SharedMemory memory(sizeof(ChildReport));
  auto* report = memory.as<ChildReport>();
  const ChildOutcome outcome = run_in_child(
      [&] {
        watch_faults(report, {});
        std::string error;
        const Binder bind = load(&error);
        if (bind)
          judge(prepared, bind, report);
        else
          report->set(TrialStatus::kCrash, "cannot be loaded: " + error);
        report->stage = ChildReport::kDone;
      },
      timeout_seconds);
  return {conclude(*report, outcome, timeout_seconds),
          outcome.signal ? outcome.signal : report->signal, report->call_seconds};
}

Finding conclude(const ChildReport& report, const ChildOutcome& outcome, double timeout_seconds) {
  static constexpr const char* kStages[] = {"while loading", "while being checked",
                                            "while being timed", ""};
  const std::string stage = kStages[std::clamp<int>(report.stage, 0, 3)];
  if (outcome.timed_out) {
    char text[80];
    snprintf(text, sizeof text, "no result within %g s, ", timeout_seconds);
    return {TrialStatus::kTimeout, text + stage};
  }
  if (outcome.stopped) return {TrialStatus::kSkipped, outcome.describe()};
  if (!outcome.ok()) return {TrialStatus::kCrash, outcome.describe() + " " + stage};
  if (report.status != TrialStatus::kOk) {
    const bool crash = report.status == TrialStatus::kCrash;
    return {report.status, report.cause + (crash ? " " + stage : "")};
  }
  if (report.stage != ChildReport::kDone) return {TrialStatus::kCrash, "exited " + stage};
  return {};
}

}  // namespace exotune
