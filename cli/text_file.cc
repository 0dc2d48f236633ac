#include "cli/text_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/base/diagnostic.h"

namespace exotune::cli {
namespace fs = std::filesystem;

std::string read_text_file(const fs::path& path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status)) {
    std::vector<std::string> beside;
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (const auto& entry : fs::directory_iterator(folder, failed))
      beside.push_back(entry.path().filename().string());
    const std::string near = nearest(path.filename().string(), beside);
    throw InputError({}, "no such file: " + path.string(),
                     near.empty() ? "paths are taken from " + fs::current_path(failed).string()
                                  : "did you mean '" + (path.parent_path() / near).string() + "'?");
  }
  if (fs::is_directory(status))
    throw InputError({}, path.string() + " is a folder", "name a file in it");
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in)
    throw InputError({}, "cannot read " + path.string() + ": " + std::strerror(errno),
                     "check its permissions");
  return text.str();
}

void write_text_file(const fs::path& path, const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw InputError({}, "cannot write " + path.string() + ": " + why,
                     "choose another folder with -o DIR");
  };
  std::error_code failed;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), failed);
    if (failed) refuse(failed.message());
  }
  const fs::path half = path.string() + ".tmp" + std::to_string(getpid());
  {
    errno = 0;
    std::ofstream out(half, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) {
      const std::string why = errno != 0 ? std::strerror(errno) : "the disk may be full";
      fs::remove(half, failed);
      refuse(why);
    }
  }
  fs::rename(half, path, failed);
  if (failed) {
    const std::string why = failed.message();
    fs::remove(half, failed);
    refuse(why);
  }
}

void require_writable_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  const std::string why = failed ? failed.message() : std::strerror(EACCES);
  if (failed || access(folder.c_str(), W_OK) != 0)
    throw InputError({}, "cannot write into " + folder.string() + ": " + why,
                     "choose another folder with -o DIR");
}

}  // namespace exotune::cli
