#pragma once
// The object code that is shipped: targets under hw/ and kernels under kernels/.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/frontend/parser.h"

namespace exotune::shipped {

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Importer importer();

/// The .exo files of a target's folder, memories and configurations first, each seeing those before
/// it; one module per file.
inline std::vector<Module> target_files(const std::string& name) {
  std::vector<std::filesystem::path> files;
  std::filesystem::path folder = std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw" / name;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".exo") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::stable_partition(files.begin(), files.end(),
                        [](const auto& f) { return f.stem() == "memory" || f.stem() == "config"; });
  std::vector<Module> out;
  Module before;
  for (const auto& file : files) {
    out.push_back(parse_module(contents(file), file.string(), importer(), &before));
    before.import_all(out.back());
  }
  return out;
}

inline Module target(const std::string& name) {
  Module all;
  for (const Module& m : target_files(name)) all.import_all(m);
  return all;
}

inline std::vector<std::string> target_names() {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"))
    if (std::filesystem::exists(entry.path() / "target.toml"))
      out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

inline Importer importer() {
  return [cache = std::map<std::string, Module>()](const std::string& name,
                                                   const SourceLocation&) mutable -> const Module* {
    std::vector<std::string> names = target_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) return nullptr;
    auto it = cache.find(name);
    if (it == cache.end()) it = cache.emplace(name, target(name)).first;
    return &it->second;
  };
}

/// kernels/NAME.exo
inline Module kernels(const std::string& name) {
  std::filesystem::path path =
      std::filesystem::path(EXOTUNE_SOURCE_DIR) / "kernels" / (name + ".exo");
  return parse_module(contents(path), path.string(), importer());
}

}  // namespace exotune::shipped
