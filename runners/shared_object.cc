#include "runners/shared_object.h"

#include <filesystem>
#include <fstream>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/base/subprocess.h"
#include "runners/toolchain.h"
#include "runners/work_directory.h"

namespace exotune {

std::string compile_shared_object(const SharedObjectRequest& request, const std::string& directory,
                                  std::string* error) {
  namespace fs = std::filesystem;
  TargetToolchain described;
  described.cc = request.compiler;
  described.flags = request.flags;
  const std::string key = content_hash(described.describe() + "\n" + request.source);
  const fs::path target = fs::path(directory) / (request.name + "-" + key + ".so");
  std::error_code failed;
  if (fs::exists(target, failed)) return target.string();
  try {
    const WorkDirectory work(directory);
    const fs::path source = fs::path(work.path()) / (request.name + request.extension);
    const fs::path object = fs::path(work.path()) / (request.name + ".so");
    std::ofstream(source) << request.source;
    std::vector<std::string> argv = {request.compiler};
    argv.insert(argv.end(), request.flags.begin(), request.flags.end());
    for (const std::string& a : {std::string("-shared"), std::string("-fPIC"), std::string("-o"),
                                 object.string(), source.string()})
      argv.push_back(a);
    argv.insert(argv.end(), request.libraries.begin(), request.libraries.end());
    argv.push_back("-lm");
    const CommandResult run = run_command(argv, {"", 300, {}, work.path()});
    if (!run.ok()) {
      *error = !run.started  ? "no compiler '" + request.compiler + "'"
               : run.stopped ? "stopped before it was compiled"
                             : run.err.substr(0, 800);
      return "";
    }
    fs::rename(object, target);
  } catch (const Error& e) {
    *error = e.diagnostic().message.str();
    return "";
  } catch (const fs::filesystem_error& e) {
    *error = e.what();
    return "";
  }
  return target.string();
}

}  // namespace exotune
