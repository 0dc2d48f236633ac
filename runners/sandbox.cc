#include "runners/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "core/base/deadline.h"
#include "core/base/diagnostic.h"

namespace exotune {

SharedMemory::SharedMemory(size_t bytes) : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw std::bad_alloc();
}
SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

std::string signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  const char* text = sigdescr_np(signal);
  std::string out = name ? std::string("SIG") + name : "signal " + std::to_string(signal);
  if (text) {
    std::string lower = text;
    lower[0] = static_cast<char>(tolower(lower[0]));
    out += " (" + lower + ")";
  }
  return out;
}

std::string ChildOutcome::describe() const {
  if (timed_out) return "timed out";
  if (stopped) return "stopped: the time for everything is over";
  if (signal) return "killed by " + signal_text(signal);
  return "exited with status " + std::to_string(exit_status);
}

namespace {

void enter_child(pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // the parent died before the line above
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null_fd = open("/dev/null", O_RDWR);
  for (int fd = 0; null_fd >= 0 && fd < 3; ++fd) dup2(null_fd, fd);
}

/// True when the child ended before its time and that of the thread were over. pidfd + poll: exact,
/// and no SIGCHLD handler to share with the rest of the process.
bool wait_until(pid_t pid, const Deadline& timeout, const Deadline& deadline) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  bool ended = false;
  for (;;) {
    const bool over = timeout.over() || deadline.over();
    // Whoever asks to stop cannot wake us: the deadline is asked again soon.
    const double wait = over ? 0 : std::min({timeout.left(), deadline.left(), 0.05});
    if (fd >= 0) {
      pollfd p{fd, POLLIN, 0};
      ended = poll(&p, 1, over ? 0 : static_cast<int>(wait * 1000) + 1) > 0;
    } else {  // a kernel before 5.3
      siginfo_t info{};
      ended = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
              info.si_pid == pid;
      if (!ended) usleep(500);
    }
    if (ended || over) break;
  }
  if (fd >= 0) close(fd);
  return ended;
}

}  // namespace

ChildOutcome run_in_child(const std::function<void()>& body, double timeout_seconds) {
  ChildOutcome outcome;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    throw Error(Diagnostic{{}, std::string("cannot fork: ") + strerror(errno), {}, {}},
                ExitCode::kUnavailable);
  if (pid == 0) {
    enter_child(parent);
    try {
      body();
    } catch (...) {
      _exit(125);
    }
    _exit(0);
  }
  setpgid(pid, pid);
  const Deadline timeout = Deadline::after(timeout_seconds);
  if (!wait_until(pid, timeout, DeadlineScope::current())) {
    outcome.timed_out = timeout.over();
    outcome.stopped = !outcome.timed_out;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return outcome;
}

}  // namespace exotune
