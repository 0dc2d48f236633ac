#pragma once
// A folder for files that live as long as the object.
#include <string>

namespace exotune {

class WorkDirectory {
 public:
  /// Makes a fresh folder inside `parent` ("" = TMPDIR, else /tmp) and removes it in the end.
  /// Throws Error(kUnavailable) when it cannot.
  explicit WorkDirectory(const std::string& parent = "");
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace exotune
