#pragma once
// TargetToolchain: how a target's C becomes machine code on this machine, and what that code may be
// compared with. Start at toolchain_of for a target's, at plain_toolchain for code that any CPU
// runs.
//
// All of it is the target's text, passed on: nothing in runners/ knows an instruction set by name.
#include <map>
#include <string>
#include <vector>

#include "hw/comparison.h"

namespace exotune {

struct TargetToolchain {
  std::string cc = "gcc";             // a gcc or clang, on PATH or a full path
  std::vector<std::string> flags;     // e.g. -O3 -mfma: explicit, never -march=native
  std::vector<std::string> includes;  // lines put before every batch: "#include <immintrin.h>"
  std::string isa = "plain";          // of the target: figures of the machine are kept under it
  std::vector<std::string> further;   // flags for what this machine's CPU has beyond what is needed
  int vector_bytes = 0;               // of its vectors; 0: no more than the compiler's own
  int threads = 1;  // of the code, and of the peers it meets; more than one: threads.h
  /// Features of the CPU that the code needs and this machine's has not: it compiles, and a runner
  /// of this machine refuses it.
  std::vector<std::string> lacking;
  PeerLimits peers;                       // empty: peers are held to plain code
  std::map<std::string, RoofLoop> roofs;  // by the name of an element type

  /// "gcc 12.2.0 -O3 -mfma", and the threads when several: part of the key of every stored trial.
  /// Runs `cc --version` once per compiler and process.
  std::string describe() const;
};

struct Target;

/// The compiler found for `target` with its flags and headers, and what its text says of peers and
/// roofs. Looks at this machine's CPU, some milliseconds. Error(kUnavailable) when none of its
/// compilers is on PATH.
TargetToolchain toolchain_of(const Target& target);

/// Plain C for any CPU; `cc` "" takes gcc, else clang. Throws Error(kUnavailable) when no compiler
/// is on PATH.
TargetToolchain plain_toolchain(const std::string& cc = "");

/// Throws Error(kUnavailable), naming what is lacking, unless this machine's CPU runs the code.
void require_cpu(const TargetToolchain& toolchain);

}  // namespace exotune
