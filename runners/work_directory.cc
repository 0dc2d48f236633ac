#include "runners/work_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/diagnostic.h"

namespace exotune {

WorkDirectory::WorkDirectory(const std::string& parent) {
  std::error_code ignored;
  const char* temporary = getenv("TMPDIR");
  std::string base = !parent.empty() ? parent : temporary && *temporary ? temporary : "/tmp";
  std::filesystem::create_directories(base, ignored);
  std::string name = base + "/exo-tune-XXXXXX";
  if (!mkdtemp(name.data()))
    throw Error(Diagnostic{{},
                           "cannot make a folder in '" + base + "': " + strerror(errno),
                           {},
                           "set TMPDIR to a folder that can be written"},
                ExitCode::kUnavailable);
  path_ = name;
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace exotune
