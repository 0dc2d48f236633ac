#pragma once
// One source text to one shared object, kept by the hash of what it was made from.
#include <string>
#include <vector>

namespace exotune {

struct SharedObjectRequest {
  std::string compiler;                     // on PATH
  std::vector<std::string> flags;           // -shared -fPIC are added
  std::vector<std::string> libraries = {};  // "-lz": behind the source
  std::string source;
  std::string extension = ".c";  // ".cc" for C++
  std::string name = "object";   // start of the file's name
};

/// The path of the shared object in `directory`, compiled unless it is there already (published by
/// rename, so that several processes may share the folder). "" and `*error` when it does not
/// compile.
std::string compile_shared_object(const SharedObjectRequest& request, const std::string& directory,
                                  std::string* error);

}  // namespace exotune
