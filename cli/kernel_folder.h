#pragma once
// The built-in kernels: one .exo file each in kernels/, named like its proc.
#include <filesystem>
#include <string>
#include <vector>

namespace exotune::cli {

/// Names of the kernels in `folder`, sorted.
std::vector<std::string> kernel_names(const std::filesystem::path& folder);

}  // namespace exotune::cli
