#pragma once
// All that is wrong with one text, found in one reading: whoever brings a program from elsewhere
// mends it in one round, not in one for each error.
#include <vector>

#include "core/base/diagnostic.h"

namespace exotune {

/// Errors in the order in which they were found. Readers add what they caught and go on behind it,
/// where what follows does not depend on it; what only repeats an error, message and hint, is left
/// out.
class Refusals {
 public:
  /// Makes the texts now: they may speak of what the reader holds.
  void add(const Diagnostic& refused);
  bool empty() const { return found_.empty(); }
  /// As an error: the first, with the others as its `more`, at most kMost; then a note with the
  /// number of those left out. For what is not empty.
  InputError all() const;

  static constexpr size_t kMost = 20;  // a screen

 private:
  std::vector<Diagnostic> found_;
};

}  // namespace exotune
