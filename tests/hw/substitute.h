#pragma once
// Instruction sets that this machine may lack, in the words of one that it has: their kernels run,
// slowly, and are right or wrong as they would be there.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace exotune {

/// The flags of a compiler that stand for the target's own, and the header that they need.
struct Substitute {
  std::string target;
  std::vector<std::string> flags;
  std::filesystem::path needs;
};

/// Of the targets of which substitutes are known and installed here. AVX-512 needs AVX2 and SIMDe.
inline std::vector<Substitute> substitutes() {
  const std::string folder = EXOTUNE_SOURCE_DIR "/tests/hw/substitutes/";
  std::vector<Substitute> all = {
      {"avx512",
       {"-mavx2", "-mfma", "-mbmi2", "-Wno-psabi", "-include", folder + "avx512.h"},
       "/usr/include/simde/x86/avx512.h"}};
  std::erase_if(all, [](const Substitute& s) { return !std::filesystem::exists(s.needs); });
  return all;
}

}  // namespace exotune
