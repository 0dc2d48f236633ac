#include "cli/session.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/source_folder.h"

namespace exotune::cli {
namespace fs = std::filesystem;

namespace {
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool holds_data(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "hw", ignored) && fs::is_directory(folder / "kernels", ignored);
}
}  // namespace

DataFolders find_data_folders() {
  if (const std::string told = environment("EXOTUNE_DATA"); !told.empty()) {
    if (!holds_data(told))
      throw InputError({}, "EXOTUNE_DATA is '" + told + "', which has no hw/ and kernels/ folders",
                       "unset it, or point it at PREFIX/share/exotune");
    return {fs::path(told) / "hw", fs::path(told) / "kernels", fs::path(told) / "rules"};
  }
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const fs::path installed = self.parent_path().parent_path() / "share" / "exotune";
    if (holds_data(installed))
      return {installed / "hw", installed / "kernels", installed / "rules"};
  }
  const fs::path source = source_folder();
  if (holds_data(source))
    return {source / "hw", source / "kernels", source / "search" / "eqsat" / "rules"};
  throw InputError({}, "the built-in targets and kernels are not beside the command",
                   "set EXOTUNE_DATA to the folder that holds hw/ and kernels/");
}

Session make_session() {
  Session session;
  session.data = find_data_folders();
  fs::path home = environment("XDG_DATA_HOME");
  if (home.empty()) {
    const std::string user = environment("HOME");
    home = (user.empty() ? fs::path(".") : fs::path(user)) / ".local" / "share";
  }
  session.default_database = home / "exo-tune" / "tune.db";
  fs::path config = environment("XDG_CONFIG_HOME");
  if (config.empty()) config = fs::path(environment("HOME")) / ".config";
  session.config_file = config / "exo-tune" / "config.toml";
  session.terminal = isatty(STDERR_FILENO) == 1;
  return session;
}

}  // namespace exotune::cli
