#include "core/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/base/deadline.h"

extern char** environ;

namespace exotune {

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = getenv("PATH");
  std::stringstream dirs(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string dir; std::getline(dirs, dir, ':');) {
    std::string full = (dir.empty() ? "." : dir) + "/" + program;
    if (access(full.c_str(), X_OK) == 0) return full;
  }
  return "";
}

namespace {

struct Pipe {
  int fd[2] = {-1, -1};
  bool open() { return pipe2(fd, O_CLOEXEC) == 0; }
  void close_end(int k) {
    if (fd[k] >= 0) ::close(fd[k]);
    fd[k] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
};

std::vector<std::string> environment_of(const CommandOptions& options) {
  std::vector<std::string> kept;
  for (char** e = environ; *e; ++e) {
    bool drop = false;
    for (const std::string& prefix : options.unset_environment_prefixes)
      drop |= strncmp(*e, prefix.c_str(), prefix.size()) == 0;
    if (!options.temporaries.empty()) drop |= strncmp(*e, "TMPDIR=", 7) == 0;
    if (!drop) kept.push_back(*e);
  }
  if (!options.temporaries.empty()) kept.push_back("TMPDIR=" + options.temporaries);
  return kept;
}

std::vector<char*> c_pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, const CommandOptions& options) {
  CommandResult result;
  if (argv.empty()) return result;
  const std::string program = find_program(argv[0]);
  if (program.empty()) return result;
  Pipe out, err;
  if (!out.open() || !err.open()) return result;
  // Everything that allocates happens before the fork: the child only makes system calls.
  std::vector<std::string> environment = environment_of(options);
  std::vector<char*> env_pointers = c_pointers(environment);
  std::vector<char*> arg_pointers = c_pointers(argv);

  const pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) return result;
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // the parent died before the line above
    int null_fd = ::open("/dev/null", O_RDONLY);
    if (null_fd >= 0) dup2(null_fd, 0);
    dup2(out.fd[1], 1);
    dup2(err.fd[1], 2);
    if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) _exit(127);
    execve(program.c_str(), arg_pointers.data(), env_pointers.data());
    _exit(127);
  }
  setpgid(pid, pid);
  result.started = true;
  out.close_end(1);
  err.close_end(1);

  const Deadline timeout = Deadline::after(options.timeout_seconds);
  const Deadline& deadline = DeadlineScope::current();
  char buffer[1 << 14];
  while (out.fd[0] >= 0 || err.fd[0] >= 0) {
    result.timed_out = timeout.over();
    result.stopped = !result.timed_out && deadline.over();
    if (result.timed_out || result.stopped) {
      kill(-pid, SIGKILL);
      break;
    }
    // The deadline may be over at any moment: it is asked again soon.
    const double wait = std::min({timeout.left(), deadline.left(), 0.05});
    pollfd fds[2] = {{out.fd[0], POLLIN, 0}, {err.fd[0], POLLIN, 0}};
    int ready = poll(fds, 2, static_cast<int>(wait * 1000) + 1);
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    for (int k = 0; k < 2; ++k) {
      if (!(fds[k].revents & (POLLIN | POLLHUP | POLLERR))) continue;
      Pipe& pipe = k == 0 ? out : err;
      ssize_t n = read(pipe.fd[0], buffer, sizeof buffer);
      if (n > 0)
        (k == 0 ? result.out : result.err).append(buffer, static_cast<size_t>(n));
      else if (n == 0 || errno != EINTR)
        pipe.close_end(0);
    }
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace exotune
