#pragma once
// A folder for files that live as long as the object. What a process left that was killed is
// removed by a later one.
#include <string>

namespace exotune {

class WorkDirectory {
 public:
  /// Makes a fresh folder inside `parent` ("" = TMPDIR, else /tmp), removes it in the end, and
  /// removes those that lie there of processes that are no more. Throws Error(kUnavailable) when it
  /// cannot make one.
  explicit WorkDirectory(const std::string& parent = "");
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;  // held while we live: how others know
};

}  // namespace exotune
