#pragma once
// What the first comment of generated files says beside their name: how to compile them, which CPU
// they need, what a caller must know.
#include <string>
#include <vector>

namespace exotune::codegen {

struct Signature;

struct FileFacts {
  std::string stem, build, cpu;
  bool parallel = false;                    // some loop is OpenMP's
  bool context = false;                     // configuration state goes along
  bool one_arena = false;                   // scratch memory is one for all threads
  std::vector<const Signature*> functions;  // the public ones
};

/// The compiler's call and the CPU, a line each; "" when there is nothing to say.
std::string build_lines(const FileFacts& facts);
/// Layout, strides, alignment, overlap, sizes, threads.
std::string call_lines(const FileFacts& facts);

}  // namespace exotune::codegen
