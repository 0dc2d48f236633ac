#pragma once
// The library that `exo-tune family all` writes, built once for the whole program for each target
// this CPU runs, and its functions by name. Start at blas_libraries.
#include <filesystem>
#include <string>
#include <vector>

namespace exotune::families {

class BlasLibrary {
 public:
  BlasLibrary(std::string target, std::filesystem::path folder);
  const std::string& target() const { return target_; }
  const std::filesystem::path& folder() const { return folder_; }
  /// The function of this type and name; fails the test program when there is none.
  template <class Function>
  Function* at(const std::string& name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const std::string& name) const;
  std::string target_;
  std::filesystem::path folder_;
  void* handle_ = nullptr;
};

/// Empty where no target of the command runs, or nothing compiles.
const std::vector<BlasLibrary>& blas_libraries();

/// "s" or "d".
template <class T>
std::string precision() {
  return sizeof(T) == 4 ? "s" : "d";
}

}  // namespace exotune::families
