#include "tests/fuzz/seeds.h"

#include <filesystem>
#include <fstream>

namespace exotune::fuzz {

namespace fs = std::filesystem;

void write_seeds(const std::vector<std::string>& texts, int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    if (!fs::is_directory(argv[k])) continue;
    for (size_t n = 0; n < texts.size(); ++n)
      std::ofstream(fs::path(argv[k]) / ("seed" + std::to_string(n)), std::ios::binary) << texts[n];
    return;
  }
}

}  // namespace exotune::fuzz
