#pragma once
// Generated C, compiled into a shared object and called with the interpreter's arguments.
#include <map>
#include <string>
#include <vector>

#include "core/codegen/codegen.h"
#include "core/interp/interp.h"

namespace exotune {

struct CompileOptions {
  std::string compiler = "gcc";
  std::vector<std::string> flags = {"-O1", "-ffp-contract=off"};
};

/// Compiles with -std=c11 -Wall -Wextra -Wpedantic -Werror and loads. `error` holds the compiler's
/// words when that fails.
class CLibrary {
 public:
  CLibrary(const CFile& file, const CompileOptions& options = {});
  ~CLibrary();
  CLibrary(const CLibrary&) = delete;
  CLibrary& operator=(const CLibrary&) = delete;

  const std::string& error() const { return error_; }
  /// Calls the function on `args`; data is converted to the element types' memory and back. Poison
  /// goes in as a NaN (floats) or 85 (integers) and comes back as what the function left there. A
  /// function that wants a workspace gets one with guard bytes behind it; false: it wrote there.
  bool call(const FunctionAbi& f, const Arguments& args, void* context = nullptr) const;

 private:
  std::string error_, directory_;
  void* handle_ = nullptr;
};

/// A new directory under the system's temporary one; the caller removes it.
std::string make_temporary_directory();

}  // namespace exotune
