#pragma once
// ScriptText: a schedule script as text whose holes are filled, everything else byte for byte as it
// was. Start at ScriptText.
#include <optional>
#include <string>
#include <vector>

#include "core/frontend/schedule.h"

namespace exotune {

/// One `x = search(y, ...)` line.
struct HoleText {
  size_t first_line = 0, lines = 0;  // in the file, from 0
  std::string text;                  // the statement
  std::string target, source;        // variables: x and y
};

class ScriptText {
 public:
  /// InputError when a search is anything but a statement of its own on its own lines.
  ScriptText(std::string text, const std::string& file);

  /// At the end there is always one more, for a script without holes.
  const std::vector<HoleText>& holes() const { return holes_; }
  bool has_hole() const { return !implicit_; }

  /// Fills holes [0, fills.size()), leaves the others. Found lines are marked.
  std::string filled(const std::vector<std::vector<std::string>>& fills) const;

  /// Is there any statement after this hole?
  bool is_last(size_t hole) const;
  bool mentions(const std::string& word) const { return text_.find(word) != std::string::npos; }

 private:
  std::string text_;
  std::vector<std::string> lines_;  // with their ends
  std::vector<HoleText> holes_;
  size_t last_statement_line_ = 0;
  bool implicit_ = false;
};

/// "p = f(p, 'p')" in terms of another variable: "q = f(q, 'p')".
std::string with_variable(const std::string& line, const std::string& variable);

}  // namespace exotune
