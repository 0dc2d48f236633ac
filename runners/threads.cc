#include "runners/threads.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"
#include "runners/batch_timer.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

// clang takes -fopenmp where its library is missing and fails only at linking: so a few lines are
// linked, once a compiler.
bool links_openmp(const std::string& cc) {
  static std::mutex mutex;
  static std::map<std::string, bool> known;
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = known.try_emplace(cc, false);
  if (fresh) {
    const WorkDirectory directory;
    const std::string source = directory.path() + "/probe.c";
    std::ofstream(source) << "void f(int* x) {\n#pragma omp parallel for\n"
                             "  for (int i = 0; i < 9; i++) x[i] = i;\n}\n";
    at->second = run_command({cc, "-fopenmp", "-shared", "-fPIC", "-Wl,-z,defs", "-o",
                              directory.path() + "/probe.so", source},
                             {"", 60, {}, directory.path()})
                     .ok();
  }
  return at->second;
}

// 'R', 'S', ...: of one thread of this process.
char state_of(const char* thread) {
  const std::string path = std::string("/proc/self/task/") + thread + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 'S';  // it has ended
  char text[256];
  const ssize_t length = ::read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(length, 0)] = 0;
  const char* name_end = strrchr(text, ')');
  return name_end && name_end[1] == ' ' ? name_end[2] : 'S';
}

// Any other thread of this process on a core; false where /proc is not mounted.
bool others_run() {
  DIR* threads = opendir("/proc/self/task");
  if (!threads) return false;
  const std::string mine = std::to_string(syscall(SYS_gettid));
  bool found = false;
  while (const dirent* entry = readdir(threads))
    if (entry->d_name[0] != '.' && mine != entry->d_name && state_of(entry->d_name) == 'R')
      found = true;
  closedir(threads);
  return found;
}

}  // namespace

TargetToolchain with_threads(TargetToolchain toolchain, int threads) {
  if (threads <= 1) return toolchain;
  if (!links_openmp(toolchain.cc))
    throw Error(Diagnostic{{},
                           "'" + toolchain.cc +
                               "' cannot make code of several threads: it has no "
                               "OpenMP library",
                           {},
                           "apt install libomp-dev (clang), or --threads 1"},
                ExitCode::kUnavailable);
  toolchain.threads = threads;
  toolchain.flags.push_back("-fopenmp");
  return toolchain;
}

// OpenMP reads these when its library is loaded, not later.
void announce_threads(int threads) {
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  setenv("OMP_DYNAMIC", "false", 1);
  setenv("KMP_BLOCKTIME", "10",
         1);  // milliseconds that idle threads spin: a fifth of a second is long
}

void limit_threads(void* library, int threads) {
  if (auto set = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads")))
    set(threads);
}

void await_idle_threads() {
  for (const double end = wall_seconds() + 0.03; others_run() && wall_seconds() < end;) usleep(200);
}

}  // namespace exotune
