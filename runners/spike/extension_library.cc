#include "runners/spike/extension_library.h"

#include <filesystem>

namespace exotune {

std::string extension_library(const std::string& name) {
  namespace fs = std::filesystem;
  if (name.empty()) return "";
  const std::string file = "lib" + name + ".so";
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  const fs::path own = self.parent_path().parent_path() / "lib" / "exo-tune" / file;
  return !failed && fs::exists(own, failed) ? own.string() : file;
}

}  // namespace exotune
