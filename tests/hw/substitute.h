#pragma once
// Instruction sets that this machine may lack, in the words of one that it has: their kernels run,
// slowly, and are right or wrong as they would be there.
#include <filesystem>
#include <string>
#include <vector>

namespace exotune {

/// What a compiler is told in place of a target's own flags.
struct Substitute {
  std::string target;
  std::vector<std::string> flags;
};

/// Of the targets of which substitutes are known; none where what they need is not installed.
/// AVX-512 and its extensions need AVX2 and SIMDe; AMX's tiles are arrays.
inline std::vector<Substitute> substitutes() {
  std::vector<Substitute> all;
  if (!std::filesystem::exists("/usr/include/simde/x86/avx512.h")) return all;
  for (const char* target : {"avx512", "avx512_bf16", "avx512_vnni", "avx512_amx"})
    all.push_back({target,
                   {"-mavx2", "-mfma", "-mbmi2", "-Wno-psabi", "-include",
                    EXOTUNE_SOURCE_DIR "/tests/hw/substitutes/avx512.h"}});
  // Of which nothing has tiles; the functions of a file that uses none stand unused.
  for (const char* flag : {"-include", EXOTUNE_SOURCE_DIR "/tests/hw/substitutes/amx.h"})
    all.back().flags.emplace_back(flag);
  return all;
}

}  // namespace exotune
