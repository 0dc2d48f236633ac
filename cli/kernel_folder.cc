#include "cli/kernel_folder.h"

#include <algorithm>

namespace exotune::cli {

std::vector<std::string> kernel_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent))
    if (entry.path().extension() == ".exo") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace exotune::cli
