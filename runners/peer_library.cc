#include "runners/peer_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <set>

#include "runners/peers/libraries.h"
#include "runners/peers/operations.h"
#include "runners/threads.h"

extern char** environ;

namespace exotune {

const std::vector<std::string>& peer_environment_prefixes() {
  static const std::vector<std::string> prefixes = {"OPENBLAS_", "GOTO_",    "BLIS_", "DNNL_",
                                                    "ONEDNN_",   "LIBXSMM_", "MKL_",  "OMP_",
                                                    "GOMP_",     "KMP_"};
  return prefixes;
}

void clear_peer_environment() {
  std::vector<std::string> names;
  for (char** e = environ; *e; ++e)
    for (const std::string& prefix : peer_environment_prefixes())
      if (strncmp(*e, prefix.c_str(), prefix.size()) == 0) names.emplace_back(*e, strcspn(*e, "="));
  for (const std::string& name : names) unsetenv(name.c_str());
}

namespace {

/// A second instance of a library that is loaded already: the loader tells files apart by inode, so
/// it gets a copy in memory.
void* open_copy(const std::string& path) {
  const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int copy = memfd_create("peer", MFD_CLOEXEC);
  struct stat info {};
  void* library = nullptr;
  if (from >= 0 && copy >= 0 && fstat(from, &info) == 0) {
    off_t left = info.st_size;
    while (left > 0) {
      const ssize_t n = sendfile(copy, from, nullptr, static_cast<size_t>(left));
      if (n <= 0) break;
      left -= n;
    }
    if (left == 0)
      library = dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (from >= 0) close(from);
  return library;  // the copy stays open as long as the process lives
}

/// The handle of the peer's library, set up for its threads.
void* open_library(const Peer& peer, std::string* error) {
  static std::map<std::pair<std::string, std::string>, void*> loaded;  // path, core type
  static std::set<std::string> paths;
  void*& library = loaded[{peer.path, peer.core_type}];
  if (library) return library;
  clear_peer_environment();
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"})
    setenv(name, std::to_string(peer.threads).c_str(), 1);
  if (const PeerLibrary* row = find_peer_library(peer.library); row && !peer.core_type.empty())
    setenv(row->variable.c_str(), peer.core_type.c_str(), 1);
  library = paths.insert(peer.path).second ? dlopen(peer.path.c_str(), RTLD_NOW | RTLD_LOCAL)
                                           : open_copy(peer.path);
  if (!library) {
    const char* text = dlerror();
    *error = text ? text : "cannot be loaded";
    return nullptr;
  }
  using Init = void (*)();
  using Threads = void (*)(long);
  if (auto init = reinterpret_cast<Init>(dlsym(library, "bli_init"))) init();
  for (const char* name : {"bli_thread_set_num_threads", "openblas_set_num_threads"})
    if (auto set = reinterpret_cast<Threads>(dlsym(library, name))) set(peer.threads);
  if (peer.threads > 1) limit_threads(library, peer.threads);
  return library;
}

}  // namespace

Binder load_peer(const PeerCall& call, const std::vector<ArgSpec>& args, std::string* error) {
  if (!call.peer.supports(call.problem)) {
    *error = "has no such operation";
    return {};
  }
  void* library = open_library(call.peer, error);
  if (!library) return {};
  // oneDNN reads its variable at first use, which may come after the next library cleared it: ask
  // now.
  if (auto* effective = reinterpret_cast<int (*)()>(dlsym(library, "dnnl_get_effective_cpu_isa")))
    effective();
  const PeerFunction& operation = peer_function(call.problem.op);
  const PeerSite site{library, call.peer, call.problem, args, error};
  return call.problem.type == ElementType::kF32 ? operation.f32(site) : operation.f64(site);
}

std::string peer_version(const Peer& peer, std::string* error) {
  void* library = open_library(peer, error);
  if (!library) return "";
  const PeerLibrary* row = find_peer_library(peer.library);
  return row && row->version ? row->version(library) : peer.version;
}

}  // namespace exotune
