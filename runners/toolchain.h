#pragma once
// TargetToolchain: how a target's C becomes machine code on this machine. The loader of targets
// (hw/) has the figures; this struct is what the runners need of them.
#include <string>
#include <vector>

namespace exotune {

struct TargetToolchain {
  std::string cc = "gcc";             // a gcc or clang, on PATH or a full path
  std::vector<std::string> flags;     // e.g. -O3 -mavx512f -mfma: explicit, never -march=native
  std::vector<std::string> includes;  // lines put before every batch: "#include <immintrin.h>"
  std::string isa = "avx512";         // "avx512" | "avx2" | "scalar": limits peers to the same
  int vector_bytes = 0;               // of its vectors; 0: no more than the compiler's own
  int threads = 1;  // of the code, and of the peers it meets; more than one: threads.h

  /// "gcc 12.2.0 -O3 -mavx512f", and the threads when several: part of the key of every stored
  /// trial. Runs `cc --version` once per compiler and process.
  std::string describe() const;
};

/// The toolchain for "avx512", "avx2" or "scalar" with flags spelled out; `cc` "" takes gcc, else
/// clang. Throws Error(kUnavailable) when no compiler is on PATH, InputError for another isa.
TargetToolchain default_toolchain(const std::string& isa, const std::string& cc = "");

/// True when this machine's CPU executes `isa`.
bool cpu_supports(const std::string& isa);

/// The isa of a target as a toolchain has it: itself where it is one of the three, else "scalar":
/// code of a target with an isa of its own runs wherever the features it requires are, and meets
/// peers and peak of plain code.
std::string toolchain_isa(const std::string& target_isa);

}  // namespace exotune
