// Uses the installed library through its umbrella header.
#include <exotune/exotune.h>

#include <cstdio>

int main() {
  const std::string word = exotune::nearest("gemn", {"axpy", "gemm"});
  std::puts(word.c_str());
  return word == "gemm" ? 0 : 1;
}
