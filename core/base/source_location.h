#pragma once
// Where a piece of user text stands: a file and a 1-based line and column.
#include <memory>
#include <string>

namespace exotune {

/// A value of three words, copied freely: all places of one text share its file's name. Lines and
/// columns count bytes, from 1, as editors and compilers print them; 0 means unknown.
struct SourceLocation {
  std::shared_ptr<const std::string> file;  // null when the text came from no file
  int line = 0;
  int column = 0;

  bool known() const { return line > 0; }
  /// "file:line:col", or "" when unknown.
  std::string str() const {
    if (!known()) return "";
    return (file ? *file : std::string("<input>")) + ":" + std::to_string(line) + ":" +
           std::to_string(column);
  }
};

}  // namespace exotune
