#include "runners/work_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "core/base/diagnostic.h"

namespace exotune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "exo-tune-";
constexpr const char* kLock = ".lock";
// Between making a folder and locking it a process may be slow, but not this slow.
constexpr auto kYoung = std::chrono::minutes(10);

// The system drops a lock with the last process that holds it, however that ends. A child has it
// too, and dies with its parent.
int take_lock(const std::string& folder, int flags) {
  const int fd = open((folder + "/" + kLock).c_str(), flags | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

bool young(const fs::path& folder) {
  std::error_code failed;
  const auto changed = fs::last_write_time(folder, failed);
  return failed || fs::file_time_type::clock::now() - changed < kYoung;
}

void remove_abandoned(const std::string& base) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kPrefix, 0) != 0 || !entry.is_directory(ignored) || entry.is_symlink(ignored))
      continue;
    const bool locked_once = fs::exists(entry.path() / kLock, ignored);
    if (!locked_once && young(entry.path())) continue;
    const int lock = locked_once ? take_lock(entry.path().string(), 0) : -1;
    if (locked_once && lock < 0) continue;  // alive, or another user's
    fs::remove_all(entry.path(), ignored);
    if (lock >= 0) close(lock);
  }
}

}  // namespace

WorkDirectory::WorkDirectory(const std::string& parent) {
  std::error_code ignored;
  const char* temporary = getenv("TMPDIR");
  std::string base = !parent.empty() ? parent : temporary && *temporary ? temporary : "/tmp";
  fs::create_directories(base, ignored);
  std::string name = base + "/" + kPrefix + "XXXXXX";
  if (!mkdtemp(name.data()))
    throw Error(Diagnostic{{},
                           "cannot make a folder in '" + base + "': " + strerror(errno),
                           {},
                           "set TMPDIR to a folder that can be written"},
                ExitCode::kUnavailable);
  path_ = name;
  lock_ = take_lock(path_, O_CREAT);
  remove_abandoned(base);
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace exotune
